"""The Markdown of a document's summary, as text."""

from longseq.report.document import document_markdown
from longseq.results.document import DocumentSummary, SentenceRow

ROWS = (
    SentenceRow(rank=2, start=5, end=21, section="", score=1.0, text="It *began*\n  well."),
    SentenceRow(rank=1, start=100, end=112, section="Part I > A_b", score=1.5, text="It went on."),
    SentenceRow(rank=3, start=200, end=210, page=4, section="Part I > A_b", score=0.5, text="It ended."),
)

EXPECTED = r"""# A title

3 sentences of 1,200, 7 words of 12,000; allowed: 10 sentences.

It \*began\* well. \[5-21\]

## Part I › A\_b

It went on. \[100-112\]

It ended. \[page 4, 200-210\]

* something to know
* the file ended before the document did

---

Source: a.txt (a), 70,000 code points, 50 % read, sha256 of the text `abc`.
Numbers in brackets are code points of that text, first and one past the last; quotations are verbatim.
"""


def test_markdown():
    summary = DocumentSummary(
        file="a.txt",
        index=0,
        id="a",
        description="A title",
        length=70_000,
        words=12_000,
        sentences_total=1200,
        candidates=1000,
        wrapped=0,
        sha256="abc",
        truncated=True,
        coverage=0.5,
        budget="10 sentences",
        summary_words=7,
        sentences=ROWS,
        remarks=("something to know",),
    )
    assert document_markdown(summary) == EXPECTED
