"""What all pictures share: sizes, letters, colours, and how they are written. The door to matplotlib.

Each picture is drawn on a canvas of its own: nothing is shown, and no setting outlives the call.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg")
SINGLE, DOUBLE = 3.35, 6.85
"""Inches: one column of a journal (85 mm), and two (174 mm)."""
_UNDRAWN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What no XML may hold, or no font can draw."""
DPI = 300
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5c5c5c")
"""Told apart by colour-blind readers as well (Okabe and Ito 2008), the darker ones first, and a grey."""
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (1, 1)))
"""Beside colours, for print in black and white."""
MARKS = ("o", "s", "^", "D", "v", "P", "X")
INK, SOFT, GRID = "#1b1b1b", "#5c5c5c", "#d8d8d8"
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.4,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.fontsize": 6.5,
    "legend.frameon": True,
    "legend.facecolor": "white",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.8,
    "lines.linewidth": 1.1,
    "lines.markersize": 3,
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "image.cmap": "cividis",
    "text.parse_math": False,  # a name from a file is text, whatever it holds
    "svg.fonttype": "none",  # letters stay letters: they can be searched, read aloud and edited
    "svg.hashsalt": "longseq",  # else ids are random
}


@contextmanager
def styled(**settings: Any) -> Iterator[None]:
    """Within, matplotlib knows nothing but this house's style and `settings`, whatever was set outside."""
    _wake()
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")  # a letter that the font lacks
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE | settings)
        yield


def _wake() -> None:
    """Import matplotlib, which keeps settings and a list of fonts in the user's home: here in a folder that is gone
    afterwards, unless MPLCONFIGDIR names one or it is awake already."""
    if "matplotlib.font_manager" in sys.modules or "MPLCONFIGDIR" in os.environ:
        return
    log = logging.getLogger("matplotlib")
    level = log.level
    with tempfile.TemporaryDirectory(prefix="longseq-") as folder:
        os.environ["MPLCONFIGDIR"] = folder
        log.setLevel(logging.ERROR)  # looking for fonts is said after some seconds
        try:
            import matplotlib.font_manager  # noqa: F401
        finally:
            del os.environ["MPLCONFIGDIR"]
            log.setLevel(level)


def sheet(width: float, height: float, **settings: Any) -> Figure:
    """An empty picture of so many inches; `settings` are those of a matplotlib figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(width, height), **settings)
    FigureCanvasAgg(drawn)
    return drawn


def rendered(drawn: Figure, kind: str) -> bytes:
    """A picture as bytes, `png` or `svg`, without dates, versions or random names."""
    from matplotlib.text import Text

    for text in drawn.findobj(Text):
        text.set_text(drawable(text.get_text()))
    buffer = io.BytesIO()
    unsaid = ("Software",) if kind == "png" else ("Date", "Creator")
    drawn.savefig(buffer, format=kind, metadata=dict.fromkeys(unsaid))
    return buffer.getvalue()


def save(folder: Path, name: str, kinds: Sequence[str], draw: Callable[[], Figure]) -> None:
    """Write `name.png`, `name.svg` or both into a folder, which is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    with styled():
        drawn = draw()
        for kind in kinds:
            (folder / f"{name}.{kind}").write_bytes(rendered(drawn, kind))


def engineering(axis: Any, unit: str = "") -> None:
    """Numbers along an axis as 10 k, 2 M; with `unit` 10 kb, 2 Mb."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    axis.set_major_formatter(EngFormatter(unit=unit, sep=" " if unit else ""))
    axis.set_minor_formatter(NullFormatter())


def counting(axis: Any) -> None:
    """Whole numbers along an axis, as 10 k, 2 M."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    engineering(axis)


def logarithmic(axis: Any, unit: str = "", *, low: float, high: float) -> None:
    """A logarithmic axis from at most `low` to at least `high`, both above 0, with whole decades where there are two or
    more, else 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import LogLocator

    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    few = high / low < 100
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
    engineering(axis, unit)
    axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})


def note(panel: Axes, text: str) -> None:
    """What a reader must know of a panel, small above it."""
    panel.set_title(text, loc="left", fontsize=6.5, color=SOFT)


def drawable(text: str) -> str:
    """With U+FFFD for control characters and for what is no text, as in the name of a file. Whatever stands in a
    picture is made so, but for names along an axis, which are set when they are drawn."""
    return _UNDRAWN.sub("\ufffd", text)


def shortened(text: str, most: int) -> str:
    """At most so many letters, the middle left out."""
    half = most // 2 - 1
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


def weighing(scale: float, signed: bool) -> dict[str, Any]:
    """How weights up to `scale` are shaded: dark is more, and the small ones are told apart as well; signed ones in two
    colours around white."""
    from matplotlib.colors import PowerNorm, TwoSlopeNorm

    if signed:
        return {"norm": TwoSlopeNorm(0, -scale, scale), "cmap": "PuOr"}
    return {"norm": PowerNorm(0.5, 0, scale), "cmap": "Blues"}
