"""What to say, before a run begins, of records held out that are learned from as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longseq.log import count
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.training.config import DataConfig
from longseq.training.leakage.shingles import Kmers, Runs
from longseq.training.leakage.sketch import Overlap, overlap
from longseq.training.split import Split

if TYPE_CHECKING:
    from longseq.training.documents import AnyTokenizer, Documents
    from longseq.training.store import Store

ENOUGH = 64
"""Hashes from which a record is judged alone, where only a part of all is looked at: 0.5 is then told to 0.06."""
SHOWN = 3
"""Records named."""


def warnings(store: Store | Documents, parts: Split, config: DataConfig, tokenizer: AnyTokenizer) -> tuple[str, ...]:
    """A line on the records of which a share of `data.leakage` or more is learned from, and one on those that are too
    short to be judged alone; nothing where all is well, or nothing is held out."""
    if config.leakage >= 1 or not parts.held_out.bases:
        return ()
    shingles = Kmers() if isinstance(tokenizer, DnaTokenizer) else Runs()
    found = overlap(store, parts.train, parts.held_out, shingles)
    noun = "record" if isinstance(tokenizer, DnaTokenizer | DnaSubwords) else "document"
    alone = (found.hashes >= ENOUGH) | found.exact
    share = found.shared / found.hashes
    copies = np.flatnonzero(alone & (share >= config.leakage))
    lines = []
    if len(copies):
        copies = copies[np.argsort(-share[copies], kind="stable")]
        named = "; ".join(_named(store, parts, found, i) for i in copies[:SHOWN].tolist())
        lines.append(
            f"{config.leakage:.0%} or more of the {shingles} are in what is learned from, in {len(copies):,} of "
            f"{count(int(alone.sum()), noun)} held out: {named}{' …' if len(copies) > SHOWN else ''}"
        )
    hashes, shared = int(found.hashes[~alone].sum()), int(found.shared[~alone].sum())
    if hashes >= ENOUGH and shared >= config.leakage * hashes:
        lines.append(
            f"of {count(int((~alone).sum()), f'short {noun}')} held out, taken together, {shared / hashes:.0%} of the "
            f"{shingles} are in what is learned from"
        )
    remedy = "their figures flatter; keep relatives together (data.groups, or a column `group` of labels)"
    return tuple(f"warning: {line}; {remedy}, or leave copies out" for line in lines)


def _named(store: Store | Documents, parts: Split, found: Overlap, i: int) -> str:
    record, source = int(found.records[i]), int(found.source[i])
    text = store.ids[record]
    if len(parts.groups.names) < len(parts.groups.of):
        text += f" of {parts.groups.names[int(parts.groups.of[record])]}"
    where = "most in its own beginning" if source == record else f"most in {store.ids[source]}"
    return f"{text}, {found.shared[i] / found.hashes[i]:.0%}, {where}"
