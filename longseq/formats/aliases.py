"""Two names of one record a line, as `--alias` takes them: separated by a tab or blanks, `#` begins a comment."""

from __future__ import annotations

from pathlib import Path

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import open_bytes
from longseq.formats.header import decode


def read_aliases(source: str | Path) -> tuple[tuple[str, str], ...]:
    """The pairs of a file, plain or packed, in its order.

    Raises:
        InputError: a line that is no pair, a file without any, or one that ends early.
    """
    name = str(source)
    pairs: list[tuple[str, str]] = []
    with open_bytes(source) as stream:
        text = Blocks(stream, READ_BLOCK)
        text.skip_mark()
        while (data := text.readline()) is not None:
            if not data.strip() or data.startswith(b"#"):
                continue
            cells = [decode(cell).strip() for cell in (data.split(b"\t") if b"\t" in data else data.split())]
            if len(cells) != 2 or not all(cells):
                line = text.line - (1 if text.whole_line else 0)
                remedy = "keep two columns: cut -f 1,2" if len(cells) > 2 else None
                found = f"{len(cells)} columns" if all(cells) else "an empty one"
                raise InputError(
                    where=place(name, line), expected="two names of one record", found=found, remedy=remedy
                )
            pairs.append((cells[0], cells[1]))
        if stream.truncated:
            raise InputError("ends early", where=place(name), remedy="copy or download the file again")
    if not pairs:
        raise InputError(where=place(name), expected="two names of one record a line", found="none")
    return tuple(pairs)
