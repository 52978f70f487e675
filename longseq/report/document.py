"""`summary.md` of documents: the sentences under the titles of their sections, and where each one stands."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.formats.markdown import escape
from longseq.log import count
from longseq.results.document import DocumentSummary, SentenceRow


def document_markdown(summary: DocumentSummary) -> str:
    """One document as a section of Markdown, ended by a line feed.

    Line ends inside a sentence become blanks here; its letters as they are stand in the JSON.
    """
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: DocumentSummary) -> Iterator[str]:
    yield f"# {escape(summary.description or summary.id or summary.file)}"
    yield ""
    yield (
        f"{count(len(summary.sentences), 'sentence')} of {summary.sentences_total:,}, "
        f"{count(summary.summary_words, 'word')} of {summary.words:,}; allowed: {summary.budget}."
    )
    section = None
    for row in summary.sentences:
        if row.section != section:
            section = row.section
            if section:
                yield from ("", "## " + " › ".join(map(escape, section.split(" > "))))
        yield from ("", f"{escape(' '.join(row.text.split()))} {_place(row)}")
    if summary.remarks or summary.truncated:
        yield ""
        yield from (f"* {escape(remark)}" for remark in summary.remarks)
        if summary.truncated:
            yield "* the file ended before the document did"
    yield from ("", "---", "")
    yield (
        f"Source: {escape(summary.file)} ({escape(summary.id)}), {count(summary.length, 'code point')}, "
        f"{100 * summary.coverage:.4g} % read, sha256 of the text `{summary.sha256}`."
    )
    yield "Numbers in brackets are code points of that text, first and one past the last; quotations are verbatim."


def _place(row: SentenceRow) -> str:
    page = "" if row.page is None else f"page {row.page}, "
    if row.page_label not in (None, str(row.page)):
        page = f"page {row.page} ({escape(str(row.page_label))}), "
    return f"\\[{page}{row.start}-{row.end}\\]"
