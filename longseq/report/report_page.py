"""`report.html`: the page of a run of `summarize`, made of a part for DNA and one for documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, TextIO

from longseq.log import count
from longseq.report.figures.library import STYLE, scripts
from longseq.report.lines import ending
from longseq.report.page import Markup, element, page
from longseq.report.provenance import provenance
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.results.run import Run
from longseq.results.source import SourceRow

FILE = "report.html"
PROBLEMS = 50
"""Lines of what was not read."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known when all was told. Of the run a page says only what a merge of shards has in common with it: no
    cost, no command."""

    run: Run
    sources: Sequence[SourceRow]
    samples: Sequence[str]
    """Names of the inputs."""
    request: Mapping[str, object]
    """What was asked for, in plain types."""


class Part(Protocol):
    """What the page says of one kind of input. It is told of every summary, and keeps few of them in memory."""

    style: str
    """CSS, besides that of figures."""
    count: int
    """Records or documents so far; without any it has no place on the page."""

    def __enter__(self) -> Part: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def dna(self, summary: RecordSummary) -> None: ...

    def document(self, summary: DocumentSummary) -> None: ...

    def title(self) -> str:
        """Of a page that has no other part and is of one input."""

    def contents(self, facts: Facts) -> Iterable[tuple[str, str]]:
        """Places on the page, by id, and what they are called; asked for before the sections."""

    def sections(self, facts: Facts) -> Iterator[Markup]:
        """Sections, whose headings are h2."""


class ReportPage:
    """Takes summaries as they come, and writes the page at the end; use it as a context manager."""

    def __init__(self, parts: Sequence[Part]):
        self._parts = parts
        self._stack = ExitStack()

    def __enter__(self) -> ReportPage:
        for part in self._parts:
            self._stack.enter_context(part)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def dna(self, summary: RecordSummary) -> None:
        for part in self._parts:
            part.dna(summary)

    def document(self, summary: DocumentSummary) -> None:
        for part in self._parts:
            part.document(summary)

    def write(self, file: TextIO, facts: Facts) -> None:
        """The whole page."""
        parts = [part for part in self._parts if part.count]
        contents = [line for part in parts for line in part.contents(facts)]
        inputs = count(len(facts.sources), "input")
        alone = len(parts) == 1 and len(facts.sources) == 1
        title = parts[0].title() if alone else f"Report on {inputs}"
        made = f"longseq {facts.run.version}" + (f", {facts.run.model}" if facts.run.model else "")
        pieces = page(
            title,
            self._body(parts, facts),
            STYLE + "".join(part.style for part in parts),
            facts=[f"{made}: {ending(facts.sources[0].file) if len(facts.sources) == 1 else inputs}."],
            contents=[*contents, ("provenance", "Where this comes from")],
            scripts=scripts(),
        )
        file.writelines(pieces)

    def _body(self, parts: Sequence[Part], facts: Facts) -> Iterator[str]:
        problems = [line for source in facts.sources for line in source.problems]
        if problems:
            more = [f"… and {len(problems) - PROBLEMS:,} more, in summary.json"] if len(problems) > PROBLEMS else []
            lines = (element("li", line) for line in [*problems[:PROBLEMS], *more])
            yield element("ul", *lines, class_="warn", aria_label="What was not read") + "\n"
        for part in parts:
            yield from part.sections(facts)
        yield provenance(facts.run, facts.sources, facts.samples, facts.request)
