import gzip
from pathlib import Path

import pytest
import torch
from Bio import SeqIO

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="session")
def bases():
    """Real bases: phage T4 as ids (1, 168,903)."""
    with gzip.open(DATA / "T4.gbff.gz", "rt") as file:
        sequence = str(next(SeqIO.parse(file, "genbank")).seq)
    return torch.tensor([["ACGTRYSWKMBDHVN".index(c) for c in sequence.upper()]])
