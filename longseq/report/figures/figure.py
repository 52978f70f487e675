"""A figure in a page: a caption, the drawing, and a table of it for who cannot see it."""

from __future__ import annotations

from collections.abc import Sequence

from longseq.report.figures.marks import View
from longseq.report.figures.pack import plain_view
from longseq.report.page import Markup, data, element


def figure(
    name: str,
    views: Sequence[View],
    caption: str,
    table: Markup | None = None,
    *,
    choose: str = "Record",
    zoom: bool = False,
) -> Markup:
    """One of `views` at a time.

    Args:
        name: Its id on the page.
        views: Pictures to choose from; one alone has no choice.
        caption: What is seen, and what to look for.
        table: The same as figures (`longseq.report.page.table`), folded away; of tracks the page makes one of what is
            in view.
        choose: What a reader chooses by the views' names.
        zoom: Buttons and the pointer zoom and move along x.
    """
    spec = {"choose": choose, "zoom": zoom, "views": [plain_view(view) for view in views]}
    folded = (
        [] if table is None else [element("details", element("summary", "The figure as a table"), Markup(f"\n{table}"))]
    )
    return element(
        "figure",
        Markup("\n"),
        element("figcaption", caption),
        Markup("\n"),
        data(spec),
        Markup("\n"),
        element("noscript", element("p", "This figure is drawn by JavaScript, which is off.")),
        Markup("\n"),
        *folded,
        Markup("\n"),
        id=name,
        class_="drawn",
    )
