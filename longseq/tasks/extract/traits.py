"""What an extractor is told of each sentence: the features that the default weighs by hand, its centrality, its length
and its place."""

from __future__ import annotations

import numpy as np

from longseq.tasks.document.collection import Collection
from longseq.tasks.document.lexrank import degrees, lexrank
from longseq.tasks.document.priors import FEATURES, Outline, features
from longseq.tasks.document.ranking import content
from longseq.tasks.document.vectors import Vectors

TRAITS = (*FEATURES, "alone", "length", "place", "place_squared")
"""Names, in order: `central` is the logarithm of the centrality; alone, that of the share of a sentence's similarity
which is with others; length, that of its words; place, from 0 at the document's first sentence to 1 at its last."""
FLOOR = 1e-3
"""Of what a logarithm is taken of."""


def traits(collection: Collection, keep: np.ndarray, vectors: Vectors, outline: Outline) -> np.ndarray:
    """(n, F) float32 of the rows in `keep` ((rows,) bool), whose `vectors` these are."""
    rows = collection.rows
    degree = degrees(vectors)
    found = np.zeros((len(vectors), len(TRAITS)), np.float32)
    at = {name: column for column, name in enumerate(TRAITS)}
    for name, values in features(rows, keep, outline, content(vectors)):
        found[:, at[name]] = values
    found[:, at["central"]] = np.log(np.maximum(lexrank(vectors, degree, collection.request.damping), FLOOR))
    found[:, at["alone"]] = np.log(np.maximum(1 - 1 / degree, FLOOR))
    found[:, at["length"]] = np.log(np.maximum(rows.column("words", keep), 1))
    place = _places(rows.column("document", keep))
    found[:, at["place"]], found[:, at["place_squared"]] = place, place**2
    return found


def _places(document: np.ndarray) -> np.ndarray:
    """(n,) of each row among those of its document, 0 to 1."""
    begins = np.flatnonzero(np.diff(document, prepend=-1))
    sizes = np.diff(begins, append=len(document))
    nth = np.arange(len(document)) - np.repeat(begins, sizes)
    return nth / np.maximum(np.repeat(sizes, sizes) - 1, 1)
