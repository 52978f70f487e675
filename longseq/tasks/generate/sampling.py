"""From scores to a token: temperature, the k likeliest, the nucleus, and a draw that depends on its number alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the next token is chosen."""

    temperature: float = 1.0
    """Scores are divided by it; 0: the likeliest token, the first of equals."""
    top_k: int = 0
    """Only so many of the likeliest tokens; 0: all."""
    top_p: float = 1.0
    """Of these, the fewest likeliest that together reach this probability (Holtzman et al. 2020, section 3.1)."""
    seed: int = 0
    """Of the draws. Draw number n is the same whatever was drawn before, so that going on needs no random state."""

    def __post_init__(self):
        require(self.temperature >= 0, "temperature", self.temperature, ">= 0")
        require(self.top_k >= 0, "top-k", self.top_k, ">= 0 tokens")
        require(0 < self.top_p <= 1, "top-p", self.top_p, "above 0, at most 1")
        require(self.seed >= 0, "seed", self.seed, ">= 0")

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """float64 (V,) of scores (V,), -inf where a token may not come."""
        scores = scores.astype(np.float64)
        if self.temperature == 0:
            return np.eye(1, len(scores), int(np.argmax(scores)))[0]
        scores = (scores - scores.max()) / self.temperature
        order = np.argsort(-scores, kind="stable")
        chances = np.exp(scores[order])
        chances /= chances.sum()
        if self.top_k:
            chances[self.top_k :] = 0
        if self.top_p < 1:
            total = np.cumsum(chances / chances.sum())
            chances[int(np.searchsorted(total, self.top_p)) + 1 :] = 0
        found = np.zeros(len(scores))
        found[order] = chances / chances.sum()
        return found

    def draw(self, chances: np.ndarray, number: int) -> int:
        """The id of draw `number` among tokens of these probabilities (V,)."""
        total = np.cumsum(chances)
        place = np.random.default_rng([self.seed, number]).random() * total[-1]
        return int(np.searchsorted(total, place, side="right"))
