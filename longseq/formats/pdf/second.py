"""PDF through pypdf: the second reader, for what the first one cannot open or finds nothing in."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, BinaryIO

from longseq.errors import InputError
from longseq.formats.pdf.order import Line
from longseq.formats.pdf.weight import Damaged, Heavy, Scale

WIDTH, STEP = 5.0, 12.0
"""Points of a letter and of a line, where the reader does not say where letters stand."""


class SecondReader:
    """The pages of a file as pypdf reads them."""

    def __init__(self, source: Path | BinaryIO, where: str):
        import pypdf

        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it finds wrong is said by us, once
        self.version = f"pypdf {pypdf.__version__}"
        self._where = where
        self._reader: Any = pypdf.PdfReader(source, strict=False)
        self._pages = [*self._reader.pages]  # asked for one by one later, each would take a walk through all of them
        self.pages = len(self._pages)
        self._scale = Scale()

    def weight(self, index: int) -> int:
        """Bytes that the page at `index` draws, unpacked; none of pages that cannot be found: it is others who say so.

        Raises:
            Damaged: it does not inflate to its end: what a reader shows of it may be half.
            Heavy: it is more than a page may have.
        """
        try:
            return self._scale(self._pages[index])
        except (MemoryError, Damaged, Heavy):
            raise
        except Exception:
            return 0
        finally:
            self._reader.resolved_objects.clear()  # or all that was read stays in memory

    def lines(self, index: int) -> list[Line]:
        """Text of the page at `index`, 0-based, line by line; empty for an empty page.

        Raises:
            InputError: the page is damaged.
        """
        try:
            page = self._pages[index]
            contents = page.get_contents()
            if contents is not None:
                contents.get_data()
            text = page.extract_text()
        except MemoryError:
            raise
        except Exception as error:  # pypdf raises whatever the damage leads to
            raise InputError(f"{type(error).__name__}: {error}".splitlines()[0], where=self._where) from None
        finally:
            self._reader.resolved_objects.clear()  # or all that was read stays in memory
        found = [line.strip() for line in text.splitlines() if line.strip()]
        right = WIDTH * max(map(len, found), default=0)
        return [
            Line(line, 0.0, -STEP * i, WIDTH * len(line), -STEP * i + STEP, 0.0, right, 1)
            for i, line in enumerate(found)
        ]
