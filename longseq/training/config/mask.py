"""Which tokens are hidden."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class MaskConfig:
    """Which tokens are hidden (task masked): spans of DNA, whole words of documents."""

    share: float = 0.15
    """Share of the tokens, on average; of documents each word is hidden with this probability."""
    span: int | None = None
    """Tokens of DNA that are hidden together: a base alone is told by its neighbours. Spans may touch and overlap.
    None: 6 bases, or 1 word of DNA. Documents have none: a word is hidden whole, if it has no more than 16 tokens."""
    random: float | None = None
    """Share of the hidden spans or words in whose place tokens drawn at random stand; None: 0.1 of documents (Devlin et
    al. 2019, section 3.1), 0 of DNA."""
    keep: float | None = None
    """Share of them that stay to be read, and are asked for all the same; None: as `random`."""

    def __post_init__(self):
        require(0 < self.share < 1, "mask.share", self.share, "a share, above 0 to below 1")
        require(self.span is None or self.span >= 1, "mask.span", self.span, ">= 1 base")
        self.shown(0.0)

    def shown(self, usual: float) -> tuple[float, float]:
        """Shares of the hidden spans that are read as others, and as they are; `usual` where they are not given.

        Raises:
            ConfigError: no shares, or more than all in all.
        """
        random, keep = (usual if value is None else value for value in (self.random, self.keep))
        require(0 <= random <= 1, "mask.random", random, "a share, 0 to 1")
        require(0 <= keep <= 1 - random, "mask.keep", keep, f"a share, 0 to {1 - random:g} beside mask.random")
        return random, keep
