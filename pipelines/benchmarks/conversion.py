"""What is kept of all-MiniLM-L6-v2 when its attention becomes linear, step by step, on texts nobody learned from."""

from __future__ import annotations

import numpy as np
from conversion_texts import held_out

from longseq.metrics.agreement import cosines, neighbours_kept, spearman_of_pairs

__all__ = ["figures", "held_out"]


def figures(teacher: np.ndarray, student: np.ndarray) -> dict[str, float]:
    """Of the vectors (N, D) of both: mean cosine, Spearman of all pairwise cosines, share of nearest neighbours."""
    return {
        "cosine": float(cosines(student, teacher).mean()),
        "spearman": spearman_of_pairs(student, teacher),
        "neighbour": float(neighbours_kept(student, teacher).mean()),
    }
