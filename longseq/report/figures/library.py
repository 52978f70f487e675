"""The door to Bokeh: its JavaScript as the installed package carries it, and ours, which draws figures with it.

Nothing of it is imported: a page needs the text of one file, and a browser does the rest.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from longseq.errors import LongseqError
from longseq.report.page import Markup

LIBRARY = "server/static/js/bokeh.min.js"
OURS = ("bokeh.js", "figures.js")
"""What turns marks into models of the library, and what puts them into the page."""
STYLE = Markup((Path(__file__).parent / "figures.css").read_text(encoding="utf-8"))
"""Of a page with figures."""


@cache
def scripts() -> tuple[str, ...]:
    """What a page with figures runs, in this order.

    Raises:
        LongseqError: Bokeh is not installed, or has no such file.
    """
    found = find_spec("bokeh")
    path = None if found is None or found.origin is None else Path(found.origin).parent / LIBRARY
    if path is None or not path.is_file():
        raise LongseqError(
            "figures cannot be drawn", expected=f"Bokeh with {LIBRARY}", found="none", remedy="pip install bokeh"
        )
    here = Path(__file__).parent
    return tuple(one.read_text(encoding="utf-8") for one in (path, *(here / name for name in OURS)))
