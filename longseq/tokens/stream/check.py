"""A check at load: streamed and whole encodings of a nasty text."""

from __future__ import annotations

from time import thread_time

import numpy as np

from longseq.errors import CheckpointError
from longseq.tokens.stream.engine import Engine
from longseq.tokens.stream.fold import Fold, Sizes

NASTY = (
    "It's  the   caf\u00e9's 'stop'  sign; cafe\u0301 na\u0131\u0307ve \u1e9b\u0323 \ufb01ne \u212b\u0327 "
    "o\u0302\u0308k.\n\n\n\t x  we'll'd  1234567890 3.14 \u00bd \u2167 a\u00a0b\u3000c d\u200de  \r\n \r\n\r end  "
    "\u4e2d\u6587\u6ca1\u6709\u7a7a\u683c\uff0c\u5168\u89d2\uff01\u3042\u304c\u304b\u3099\u30c6\u30b9\u30c8"
    "\ud55c\uad6d\u1112\u1161\u11ab \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 "
    "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd!? "
    "\u0623\u064e\u0628\u0652 \u0915\u094d\u0937\u093f \u0e19\u0e49\u0e33 \u0130STANBUL \u03a3\u03a3 stra\u00dfe "
    "<s>[MASK] <|endoftext|> </s>\u2581\u2581x \u2581 _ __init__ a.b@c.de ``q'' -- --- ---- ..... ?! "
)
"""Quotes, runs of spaces, marks, ligatures, scripts without spaces, emoji, text that spells control tokens."""
RUNS = (
    *(("A", 700), ("ac", 300), (" ", 200), ("GATTACA", 70), ("\u4e2d", 150), ("\u0301", 40)),
    *(("=", 300), ("7", 90), ("\n", 60)),
)
"""Long pre-tokens, and seams between them."""
TIMES = 3
"""Of the nasty text alone."""
SLOW = 0.25
"""Seconds of a processor that a few thousand letters may take, a hundred times those of published tokenizers."""
SIZES = (Sizes(64, 16, 4096), Sizes(96, 32, 256))


def require_soon(engine: Engine, where: str) -> None:
    """Raise CheckpointError where a pattern takes time by a power of the letters it looks at: a book would never end.

    Runs grow step by step, lest this one does not end either.
    """
    length = 4
    while length < 1000:
        text = NASTY[:length] + "".join((part * count)[:length] for part, count in RUNS)
        started = thread_time()
        engine.encode(text)
        if (took := thread_time() - started) > SLOW:
            raise CheckpointError(
                where=where,
                expected="a tokenizer that ends soon",
                found=f"{took:.1f} s for {len(text):,} letters",
                remedy="a pattern in it repeats what it repeats",
            )
        length += length // 2


def agrees(engine: Engine) -> bool:
    """Whether streams over small windows that say they are exact are."""
    runs = "".join(part * count for part, count in RUNS)
    for text in (NASTY * TIMES, runs, NASTY + runs + NASTY):
        encoding = engine.encode(text)
        whole = engine.tokens(encoding, 0, len(encoding), 0, opens=True)
        for sizes in SIZES:
            fold = Fold(engine, sizes, provable=True)
            parts = list(fold.tokens(iter([text])))
            ids = np.concatenate([part.ids for part in parts])
            offsets = np.concatenate([part.offsets for part in parts])
            if fold.exact and not (np.array_equal(ids, whole.ids) and np.array_equal(offsets, whole.offsets)):
                return False
    return True
