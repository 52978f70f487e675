"""`summary.md` of documents: the sentences under the titles of their sections, and where each one stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longseq.formats.markdown import escape
from longseq.log import count
from longseq.results.document import DocumentSummary, SentenceRow


def document_markdown(summary: DocumentSummary) -> str:
    """One document as a section of Markdown, ended by a line feed.

    Line ends inside a sentence become blanks here; its letters as they are stand in the JSON.
    """
    return "\n".join(_lines(summary)) + "\n"


def summary_lines(title: str, summary: DocumentSummary) -> Iterator[str]:
    """One summary as a terminal shows it, a line for each sentence, below a line that says how much there is."""
    total = f"{count(summary.words, 'word')}, {count(summary.sentences_total, 'sentence')}"
    yield f"{title}: {total}; the summary has {count(summary.summary_words, 'word')}, allowed {_allowed(summary)}"
    if summary.by is None:
        yield from (f"  {_quoted(row)}" for row in summary.sentences)
    for part in summary.parts:
        yield f"  {'page ' if summary.by == 'page' else ''}{part.title or '(no title)'}"
        yield from (f"    {_quoted(summary.sentences[at])}" for at in part.sentences)
    yield from (f"  note: {remark}" for remark in summary.remarks)


def _quoted(row: SentenceRow) -> str:
    file = "" if row.file is None else f"{row.file}, "
    page = "" if row.page is None else f"p. {row.page}, "
    return f"[{file}{page}{row.span}] {' '.join(row.text.split())}"


def _allowed(summary: DocumentSummary) -> str:
    part = {"outline": "entry of the outline"}.get(summary.by or "", summary.by)
    return summary.budget if part is None else f"{summary.budget} for each {part}"


def _lines(summary: DocumentSummary) -> Iterator[str]:
    yield f"# {escape(summary.description or summary.id or summary.file)}"
    yield ""
    yield (
        f"{count(len(summary.sentences), 'sentence')} of {summary.sentences_total:,}, "
        f"{count(summary.summary_words, 'word')} of {summary.words:,}; allowed: {_allowed(summary)}."
    )
    if summary.queries:
        yield from ("", f"Asked: {escape('; '.join(summary.queries))}.")
    yield from _parts(summary) if summary.by else _sections(summary.sentences)
    if summary.remarks or summary.truncated:
        yield ""
        yield from (f"* {escape(remark)}" for remark in summary.remarks)
        if summary.truncated:
            yield "* the file ended before the document did"
    yield from ("", "---", "")
    for facts in summary.documents or (summary,):
        yield (
            f"Source: {escape(facts.file)} ({escape(facts.id)}), {count(facts.length, 'code point')}, "
            f"{100 * facts.coverage:.4g} % read, sha256 of the text `{facts.sha256}`."
        )
        if summary.documents:
            yield ""
    yield "Numbers in brackets are code points of that text, first and one past the last; quotations are verbatim."


def _sections(rows: Sequence[SentenceRow]) -> Iterator[str]:
    """Sentences under the titles of their sections, and of their documents where they have many."""
    above: tuple[str | None, str | None, str] = (None, None, "")
    for row in rows:
        here = (row.file, row.id, row.section)
        if here[:2] != above[:2]:
            yield from ("", f"## {escape(row.file or row.id or '')}")
        if here != above and row.section:
            mark = "##" if row.file is None else "###"
            yield from ("", f"{mark} " + " › ".join(map(escape, row.section.split(" > "))))
        above = here
        yield from ("", f"{escape(' '.join(row.text.split()))} {_place(row)}")


def _parts(summary: DocumentSummary) -> Iterator[str]:
    """The parts under their titles, each with its summary."""
    for part in summary.parts:
        title = " › ".join(map(escape, part.title.split(" > "))) if part.title else "(no title)"
        yield from ("", f"## {'Page ' if summary.by == 'page' else ''}{title}")
        for at in part.sentences:
            row = summary.sentences[at]
            yield from ("", f"{escape(' '.join(row.text.split()))} {_place(row)}")


def _place(row: SentenceRow) -> str:
    page = "" if row.page is None else f"page {row.page}, "
    if row.page_label not in (None, str(row.page)):
        page = f"page {row.page} ({escape(str(row.page_label))}), "
    return f"\\[{page}{row.span}\\]"
