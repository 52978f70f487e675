"""How a tokenizer is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require, require_one
from longseq.records import Alphabet

SAMPLE = {"dna": 4_000_000, "document": 100_000_000}
"""Letters to learn from at most, by kind: bases cost some hundred bytes each while merges are counted, words of a text
are counted once each."""


@dataclass(frozen=True, kw_only=True)
class Learning:
    """Pieces by byte-pair encoding (Sennrich et al. 2016), single letters, or words."""

    unit: Literal["pieces", "characters", "words"] = "pieces"
    """What an id stands for: letters joined by how often they are seen together; of a text one character (Unicode code
    point); or what stands between white space, whose own form is lost. What was not learned is one unknown id: pieces
    have none, as they begin with bytes."""

    vocabulary: int = 4096
    """Number of ids, at most."""
    min_frequency: int = 2
    """Times that a pair has to be seen to be joined, a character or a word to be learned."""
    normalize: Literal["none", "nfc", "nfkc"] = "none"
    """Unicode normal form in which a text is read; "none" keeps every letter as it is."""
    lowercase: bool = False
    """Read a text in lower case."""
    ambiguity: Literal["keep", "N"] = "keep"
    """IUPAC codes of DNA other than ACGTN keep ids of their own, or are read as N."""
    sample: int | None = None
    """Letters to learn from at most, drawn evenly from all; None: 4 million bases, 100 million code points."""
    seed: int = 0
    """Of the sample, and of where DNA is cut."""

    def __post_init__(self):
        require(self.vocabulary >= 2, "vocabulary", self.vocabulary, ">= 2 ids")
        require(self.min_frequency >= 1, "min-frequency", self.min_frequency, ">= 1")
        require_one("unit", self.unit, ("pieces", "characters", "words"))
        require_one("normalize", self.normalize, ("none", "nfc", "nfkc"))
        require(self.ambiguity in ("keep", "N"), "ambiguity", self.ambiguity, "'keep' or 'N'")
        require(self.sample is None or self.sample >= 1, "sample", self.sample, ">= 1 letter")
        require(self.seed >= 0, "seed", self.seed, ">= 0")

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet(ambiguity=self.ambiguity)
