"""What `summarize` says of a document: sentences of it, each with the place where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from longseq.log import count
from longseq.results.salience import Hit, Salience, SectionShare

GENERATED = "generate"
"""Method of a summary whose sentences are a model's own."""
ONE_PASS = "one pass"
"""Method of a summary of a stream of which nothing else was kept."""


@dataclass(frozen=True, kw_only=True)
class SentenceRow:
    """A sentence of the summary, letter by letter as in the document: `text == document[start:end]`; or a model's own,
    which stands nowhere in it."""

    rank: int
    """1 was chosen first."""
    start: int | None
    """First code point of the document's text, 0-based; None of a sentence that is a model's own."""
    end: int | None
    """One past the last code point."""
    byte_start: int | None = None
    """First byte of the file (unpacked where it is compressed); None where the text is not the file's bytes."""
    byte_end: int | None = None
    """One past the last byte."""
    page: int | None = None
    """Physical page on which it begins, 1-based; None where the format has no pages."""
    page_label: str | None = None
    """That page as the document numbers it: `xii`, `A-3`."""
    section: str
    """Titles of the sections it stands in, outermost first, joined by ` > `; may be empty."""
    score: float | None
    """Centrality; 1.0 is the average of the document's candidates. None of a sentence that is a model's own."""
    wrapped: bool = False
    """Whether it is a piece of something too long for a sentence."""
    dangling: bool = False
    """Whether it begins with a reference to the sentence before it, which the summary does not hold."""
    file: str | None = None
    """Document in which it stands, where the summary is of many."""
    id: str | None = None
    """Its record there."""
    index: int | None = None
    """Place of that record in its file, 0-based."""
    text: str

    @property
    def span(self) -> str:
        """`start-end` as it is shown."""
        return "not verbatim" if self.start is None else f"{self.start}-{self.end}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Context:
    """A stretch of the text in which sentences of the summary stand."""

    start: int
    """First code point of the document's text."""
    text: str
    cut_before: bool
    """Whether it begins inside a paragraph."""
    cut_after: bool
    """Whether it ends inside one."""
    sentences: tuple[int, ...]
    """Places in `sentences` of those that stand in it."""


@dataclass(frozen=True, kw_only=True)
class UnreadPage:
    """A page whose text could not be had."""

    page: int
    """Physical place, 1-based."""
    label: str
    """As the document numbers it."""
    why: str
    """"image" (no text layer), "garbled" (a text layer of wrong letters), "damaged", or "large" (it unpacks to more
    than any page of text)."""


@dataclass(frozen=True, kw_only=True)
class DocumentFacts:
    """What a document is, as it was read."""

    file: str
    """As the user named it; `-` is standard input; empty of many documents together."""
    index: int
    """Position in the file, 0-based."""
    id: str
    description: str = ""
    kind: str = "document"
    length: int
    """Code points of the text."""
    unit: str = "code points"
    words: int
    """Words of the text; a CJK letter is one."""
    reading_minutes: float = 0.0
    """To read the text once, at the pace of `longseq.tokens.reading`."""
    sha256: str
    """Of the text in UTF-8; of a plain UTF-8 file without a byte order mark, that is the file's own. Of many documents,
    of their digests, a line each."""
    file_sha256: str | None = None
    """Of the file as it lay there, packed or not; None of a pipe, and of many documents."""
    truncated: bool
    """The file ended before the document did."""
    coverage: float
    """Share of the document's text, or of its pages, that was read: 1.0, or less where the file has more."""
    extractor: str | None = None
    """Who made the text, with version; None where it is the file's own letters."""
    pages: int | None = None
    """Pages of the document; None where the format has none."""
    text_file: str | None = None
    """Name of the file that holds the text, where it was asked for: its sha256 is `sha256`."""
    text_folder: str | None = None
    """Where that file lies, as the user named it."""
    unread: tuple[UnreadPage, ...] = ()
    """Pages that are not in the text."""
    notes: Mapping[str, str | int] = field(default_factory=dict)
    """What the file's reader found besides."""


@dataclass(frozen=True, kw_only=True)
class PartSummary:
    """A summary of a section, a chapter, a page or an entry of the outline."""

    title: str
    """Titles of the sections, outermost first, joined by ` > `; of a page, how the document numbers it."""
    start: int
    """First code point of its first sentence."""
    end: int
    """One past the last one of its last sentence."""
    words: int
    """Of its sentences."""
    summary_words: int
    """Of those chosen."""
    sentences: tuple[int, ...]
    """Places of those chosen in `sentences` of the whole, in document order."""


@dataclass(frozen=True, kw_only=True)
class DocumentSummary(DocumentFacts):
    """An extractive summary of one document, or of many together."""

    method: str = "extract"
    """How it was made: "extract" from the whole, "one pass" over a stream of which nothing was kept, or "generate":
    written by a model, not verbatim."""
    model: str | None = None
    """Who wrote it; None where its sentences are the document's."""
    model_sha256: str | None = None
    """Digest of that checkpoint."""
    sentences_total: int
    """Sentences of prose, lists and quotations; headings, code and tables are not counted."""
    candidates: int
    """Different sentences the summary could choose from."""
    wrapped: int
    """How many of `sentences_total` are pieces of something too long for a sentence."""
    budget: str
    """What was allowed: `10 sentences`, `200 words`, `0.1 of the words`; for each part where it is made by parts."""
    summary_words: int
    """Words of the sentences chosen."""
    summary_reading_minutes: float = 0.0
    """To read these once."""
    dangling: int = 0
    """Sentences chosen that begin with a reference to one before them that was not chosen."""
    queries: tuple[str, ...] = ()
    """What was asked."""
    by: str | None = None
    """What its parts are; None where it has none."""
    parts: tuple[PartSummary, ...] = ()
    """A summary of each part, in document order."""
    documents: tuple[DocumentFacts, ...] = ()
    """What it is of, where it is of many."""
    sentences: tuple[SentenceRow, ...]
    """The summary, in document order."""
    contexts: tuple[Context, ...] = ()
    """What stands around the sentences, in their order; for pages, not in the JSON."""
    salience: Salience | None = None
    """What sentences are worth along the text, for pages, not in the JSON; None where it was not kept: of one pass, or
    of a model's own words."""
    outline: tuple[SectionShare, ...] = ()
    """The sections, outer ones before inner ones; for pages, not in the JSON; empty where there are none."""
    outline_cut: int = 0
    """How many sections that is short of, the innermost or the last."""
    hits: tuple[Hit, ...] = ()
    """The best answers to the questions, best first; for pages, not in the JSON."""
    remarks: tuple[str, ...] = ()
    """What a reader of the summary should know."""

    def __repr__(self) -> str:
        said = f"{count(len(self.sentences), 'sentence')} of {self.sentences_total:,}"
        begins = " ".join(self.sentences[0].text.split())[:60] if self.sentences else ""
        return f"<{self.id or self.description}: {count(self.words, 'word')}, a summary of {said}: {begins!r}…>"

    def to_json(self) -> dict[str, Any]:
        found = {**asdict(replace(self, **_OF_PAGES)), "remarks": list(self.remarks)}
        for name in _OF_PAGES:
            del found[name]
        return found | {"sentences": [row.to_json() for row in self.sentences]}


_OF_PAGES: dict[str, Any] = {"contexts": (), "salience": None, "outline": (), "outline_cut": 0, "hits": ()}


def unread_pages(pages: Sequence[UnreadPage]) -> str:
    """`3-5 (image), 8 (damaged)`."""
    runs: list[list[UnreadPage]] = []
    for page in pages:
        if runs and runs[-1][-1].page + 1 == page.page and runs[-1][-1].why == page.why:
            runs[-1].append(page)
        else:
            runs.append([page])
    spans = (f"{run[0].page}-{run[-1].page}" if len(run) > 1 else str(run[0].page) for run in runs)
    return ", ".join(f"{span} ({run[0].why})" for span, run in zip(spans, runs, strict=True))
