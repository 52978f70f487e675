"""Options of `summarize` that speak of documents."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from longseq.tasks.document.request import DocumentRequest

F = TypeVar("F", bound=Callable[..., Any])
UNITS = ("sentences", "words", "characters", "ratio")

_OPTIONS = (
    click.option("--sentences", type=int, help="Sentences of a document's summary at most.  [default: 10]"),
    click.option("--words", type=int, help="Words of the summary at most; a CJK letter is one."),
    click.option("--characters", type=int, help="Characters of the summary's sentences at most."),
    click.option("--ratio", type=float, help="Share of the document's words at most, above 0, at most 1."),
    click.option(
        "--by",
        type=click.Choice(["section", "chapter", "page", "outline"]),
        help="A summary of each of these parts of a document, each as long as is allowed.",
    ),
    click.option("--query", "queries", metavar="TEXT", multiple=True, help="Prefer what answers this; repeatable."),
    click.option(
        "--must-include",
        metavar="REGEX",
        multiple=True,
        help="Quote sentences in which this is found first, as far as they fit; repeatable. Repeats within repeats, as "
        "in (a+)+, may take for ever.",
    ),
    click.option("--exclude", metavar="REGEX", multiple=True, help="Quote no sentence that holds this; repeatable."),
    click.option("--extractor", metavar="DIR", help="Model of your own that judges sentences; see `longseq oracle`."),
    click.option("--together", is_flag=True, help="One summary of all documents, with a source for each sentence."),
    click.option(
        "--one-pass",
        is_flag=True,
        help="Keep nothing but the best sentences so far: for endless pipes.",
    ),
)


def document_options(function: F) -> F:
    """All of them; the function gets `documents`, which gives what they ask for."""

    @functools.wraps(function)
    def wrapped(*args: Any, queries: tuple[str, ...], by: Any, **options: Any) -> Any:
        amounts = {unit: options.pop(unit) for unit in UNITS}
        plain = {name: options.pop(name) for name in ("must_include", "exclude", "together", "one_pass", "extractor")}
        return function(*args, documents=lambda: _asked(amounts, by=by, queries=queries, **plain), **options)

    found: Any = wrapped
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


def _asked(amounts: dict[str, Any], extractor: str | None, **plain: Any) -> DocumentRequest:
    from longseq.tasks.document.request import DocumentRequest
    from longseq.tasks.document.select import Budget

    plain["budget"] = Budget.of(amounts)
    if extractor is not None:
        from longseq.tasks.extract.judge import TrainedJudge

        plain["extractor"] = TrainedJudge.load(extractor)
    return DocumentRequest(**plain)
