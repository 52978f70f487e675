"""How a text is read before it is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.tokens.train.config import Learning

if TYPE_CHECKING:
    from tokenizers.normalizers import Normalizer


def normalizer(config: Learning) -> Normalizer | None:
    """Unicode form and case, as the configuration has them; None: every letter as it is."""
    from tokenizers import normalizers

    steps: list[Normalizer] = []
    if config.normalize != "none":
        steps.append({"nfc": normalizers.NFC, "nfkc": normalizers.NFKC}[config.normalize]())
    if config.lowercase:
        steps.append(normalizers.Lowercase())
    return normalizers.Sequence(steps) if steps else None
