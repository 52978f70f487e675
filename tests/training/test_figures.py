"""What labels come to without reading, by hand."""

import numpy as np
import pytest

from longseq.training.tasks import figures


def test_classes_beside_the_most_frequent_one():
    """Always the first of three: F1 2 · 2 / (4 + 2) of it and 0 of the other two."""
    truth = np.array([0, 0, 1, 2])
    found = figures.of_records("classify", np.eye(3)[truth], truth, np.array([5.0, 2.0, 1.0]), np.arange(4))
    assert (found["macro_f1"], found["null_accuracy"]) == (1, 0.5)
    assert found["null_macro_f1"] == pytest.approx(2 / 9)
    assert figures.said("classify", found).endswith("(the most frequent class alone 0.2222 and 0.5000)")


def test_classes_beside_words():
    truth = np.array([0, 0, 1, 1])
    found = figures.of_records("classify", np.eye(2)[[0, 0, 1, 0]], truth, np.ones(2), np.arange(4))
    for told, better in ((0.9, True), (0.5, False)):
        said = figures.said("classify", found | {"tfidf_macro_f1": told, "tfidf_accuracy": told})
        assert f"(TF-IDF {told:.4f} and {told:.4f}, the most" in said
        assert said.endswith("; TF-IDF does better") == better


def test_labels_beside_the_most_frequent_set():
    """Always the first alone: F1 2 · 3 / (4 + 3) of it, 0 of the second, and the third is nowhere."""
    truth = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    found = figures.of_records("multilabel", truth - 0.5, truth, np.array([1, 0, 0]), np.zeros(4))
    assert (found["macro_f1"], found["null_exact_match"], found["null_auprc"]) == (1, 0.5, 0.625)
    assert found["null_macro_f1"] == pytest.approx(3 / 7)
    assert "calibrated_nats" not in found  # of one group only
    said = figures.said("multilabel", found)
    assert said.startswith("macro F1 1.0000 held out (the most frequent set alone 0.4286), AUPRC 1.0000")


def test_bases_beside_the_most_frequent_class():
    """8 of 10 are background: F1 16 / 18 of it, 0 of the other, however the model did."""
    found = figures.of_bases(np.array([[5, 3], [1, 1]]), ("background", "CDS"), 0, 10.0)
    assert (found["accuracy"], found["null_accuracy"], found["nats"]) == (0.6, 0.8, 1.0)
    assert found["null_macro_f1"] == pytest.approx(4 / 9)
    assert "(the most frequent class alone 0.4444 and 0.8000)" in figures.said("annotate", found)
