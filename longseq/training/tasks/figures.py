"""What an evaluation of labelled data reports, beside what is reached by knowing nothing."""

from __future__ import annotations

import math

import numpy as np

from longseq.metrics import calibration, classes, numbers

MAIN = {"classify": "macro_f1", "multilabel": "macro_f1", "regress": "r2", "annotate": "macro_f1"}
"""The figure by which two evaluations are compared; the larger the better."""


def of_records(
    task: str, scores: np.ndarray, truth: np.ndarray, null: np.ndarray, groups: np.ndarray
) -> dict[str, float]:
    """Figures of N records.

    Args:
        task: classify, multilabel or regress.
        scores: (N, C) logits, or numbers in units of the targets.
        truth: (N,) classes, (N, C) 0 and 1, or (N, 1) numbers.
        null: what is said without reading: (C,) 1 at the most frequent class, the most frequent set, or the mean.
        groups: (N,) of the records: the calibration of each is judged by a fit to other groups.
    """
    scores = scores.astype(float)
    if task == "classify":
        found = _classes(scores, truth) | _calibrated(scores, truth, groups)
        table = classes.confusion(truth, np.full_like(truth, null.argmax()), len(null))
        found |= {"null_accuracy": classes.accuracy(table), "null_macro_f1": classes.macro_f1(table)}
    elif task == "multilabel":
        found = _labels(scores, truth.astype(bool), null.astype(bool)) | _calibrated(scores, truth, groups)
    else:
        found = {
            "r2": numbers.r2(truth[:, 0], scores[:, 0]),
            "rmse": numbers.rmse(truth, scores),
            "pearson": numbers.pearson(truth[:, 0], scores[:, 0]),
            "null_rmse": numbers.rmse(truth, np.broadcast_to(null, truth.shape)),
        }
    return found | {"records": len(truth)}


def _classes(scores: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    count = scores.shape[1]
    table = classes.confusion(truth, scores.argmax(1), count)
    logs = scores - calibration.log_sum_exp(scores)[:, None]
    there = np.eye(count, dtype=bool)[truth]
    return {
        "accuracy": classes.accuracy(table),
        "macro_f1": classes.macro_f1(table),
        "mcc": classes.matthews(table),
        "auroc": classes.one_against_rest(classes.auroc, there, np.exp(logs)),
        "auprc": classes.one_against_rest(classes.auprc, there, np.exp(logs)),
        "nats": float(-logs[there].mean()),
        "calibration_error": calibration.calibration_error(np.exp(logs), truth),
        "in_range_above": calibration.threshold(scores),
    }


def _calibrated(scores: np.ndarray, truth: np.ndarray, groups: np.ndarray) -> dict[str, float]:
    """The temperature, and what it and the threshold come to in groups that a fit has not seen, where there are two."""
    found = calibration.judged(scores, truth, groups)._asdict()
    known = {f"calibrated_{name}": value for name, value in found.items() if not math.isnan(value)}
    return {"temperature": calibration.fit_temperature(scores, truth)} | known


def _labels(scores: np.ndarray, truth: np.ndarray, null: np.ndarray) -> dict[str, float]:
    found, nothing_read = scores > 0, np.broadcast_to(null, truth.shape)
    return {
        "exact_match": classes.exact_match(truth, found),
        "macro_f1": _macro_f1(truth, found),
        "auroc": classes.one_against_rest(classes.auroc, truth, scores),
        "auprc": classes.one_against_rest(classes.auprc, truth, scores),
        "null_exact_match": classes.exact_match(truth, nothing_read),
        "null_macro_f1": _macro_f1(truth, nothing_read),
        "null_auprc": float(truth.mean(0)[truth.any(0)].mean()) if truth.any() else math.nan,
    }


def _macro_f1(truth: np.ndarray, found: np.ndarray) -> float:
    """Mean F1 of the labels (N, C) that are there or were found; NaN of none."""
    tables = [classes.confusion(truth[:, c], found[:, c], 2) for c in range(truth.shape[1])]
    each = [value for value in (classes.f1(table)[1] for table in tables) if not math.isnan(value)]
    return float(np.mean(each)) if each else math.nan


def of_bases(table: np.ndarray, names: tuple[str, ...], null: int, nats: float) -> dict[str, float]:
    """Figures of a table (C, C) of true and found classes of bases; `null` is the class that is always said without
    reading, `nats` the summed cost."""
    total, always = int(table.sum()), np.zeros_like(table)
    always[:, null] = table.sum(1)
    found = {
        "accuracy": classes.accuracy(table),
        "macro_f1": classes.macro_f1(table),
        "mcc": classes.matthews(table),
        "null_accuracy": classes.accuracy(always),
        "null_macro_f1": classes.macro_f1(always),
        "nats": nats / total if total else math.nan,
        "bases": total,
    }
    return found | {f"f1_{name}": float(value) for name, value in zip(names, classes.f1(table), strict=True)}


def said(task: str, figures: dict[str, float] | None) -> str:
    """The figures in a few words."""
    if not figures:
        return ""
    if task == "regress":
        return (
            f"R2 {figures['r2']:.4f}, error {figures['rmse']:.4g} held out (the mean alone {figures['null_rmse']:.4g})"
        )
    if task == "multilabel":
        return (
            f"macro F1 {figures['macro_f1']:.4f} held out "
            f"(the most frequent set alone {figures['null_macro_f1']:.4f}), "
            f"AUPRC {figures['auprc']:.4f} (by chance {figures['null_auprc']:.4f})"
        )
    beside = ""
    if "kmer_macro_f1" in figures:
        beside = (
            f"4-mers {figures['kmer_macro_f1']:.4f} and {figures['kmer_accuracy']:.4f}, "
            f"GC alone {figures['gc_macro_f1']:.4f} and {figures['gc_accuracy']:.4f}, "
        )
    if "tfidf_macro_f1" in figures:
        beside = f"TF-IDF {figures['tfidf_macro_f1']:.4f} and {figures['tfidf_accuracy']:.4f}, "
    found = (
        f"macro F1 {figures['macro_f1']:.4f}, accuracy {figures['accuracy']:.4f} held out "
        f"({beside}the most frequent class alone {figures['null_macro_f1']:.4f} and {figures['null_accuracy']:.4f})"
    )
    return found + ("; TF-IDF does better" if figures.get("tfidf_macro_f1", 0.0) > figures["macro_f1"] else "")
