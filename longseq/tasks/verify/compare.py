"""A claim beside the text as it is read now, and what that says of the source and of its reader."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from longseq.records import Record
from longseq.results.verification import DocumentCheck, Outcome, Place, SentenceCheck, Verdict
from longseq.tasks.document.collection import first_byte
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.verify.claims import Claim, Quote
from longseq.tasks.verify.search import BLOCK, Wanted, find

SHOWN = 400
"""Code points shown of what stands where a sentence stood."""
LINED = ("text", "markdown", "rst")
"""Formats whose text has the lines of the file."""
ROWS = ("jsonl", "csv", "tsv")
"""Formats that hold a document a line."""


class Source(NamedTuple):
    """A document as it is read now, to its end."""

    record: Record
    format: str
    text: Manuscript

    def place(self, start: int, end: int) -> Place:
        """Where a stretch of the text stands."""
        layout, base = self.record.layout, first_byte(self.record.notes)
        page = None if layout is None else layout.page_at(start)
        passage = self.text.read(start, end)
        return Place(
            start=start,
            end=end,
            byte_start=None if base is None else base + passage.byte_start,
            byte_end=None if base is None else base + passage.byte_end,
            page=None if page is None else page.number,
            page_label=None if page is None else page.label,
        )

    @property
    def extractor(self) -> str | None:
        return None if self.record.layout is None else self.record.layout.extractor


def judged(claim: Claim, source: str, digest: str | None, now: Source, kept: Manuscript | None) -> DocumentCheck:
    """What became of a document that can be read.

    Args:
        claim: What the summary says of it.
        source: What was read.
        digest: sha256 of the file; None of a pipe.
        now: The document as it is read now.
        kept: Its text as it was when the summary was made, if somebody kept it.
    """
    if kept is not None and kept.sha256() != claim.sha256:
        kept, spoiled = None, ["the text that was kept is another one now"]
    else:
        spoiled = []
    rows = _rows(claim, now, kept)
    same_text = now.text.sha256() == claim.sha256
    same_reader = now.extractor == claim.extractor
    if digest is not None and claim.file_sha256 is not None:
        same_file: bool | None = digest == claim.file_sha256
    else:
        same_file = True if same_text else None  # of a pipe the text tells, as far as it can
    stand = all(row.state == "stands" for row in rows)
    verdict = _verdict(same_file, same_text, same_reader, stand)
    outcome: Outcome = "stands" if stand else "fails"
    if any(row.kept is False for row in rows):
        verdict, outcome = "summary altered", "fails"
    elif not stand and verdict in ("extractor changed", "source or extractor changed"):
        outcome = "unchecked" if kept is None else "stands"
    remarks = [*_remarks(same_file, same_text, claim, now), *spoiled]
    if kept is not None and verdict != "verbatim":
        remarks.append("every sentence stands in the text that was kept" if rows else "the text was kept")
    if verdict == "extractor changed" and outcome == "unchecked":
        remarks.append("the text as it was is not at hand: --texts names the folder of summarize --save-text")
    return DocumentCheck(
        file=claim.file,
        source=source,
        id=claim.id,
        verdict=verdict,
        outcome=outcome,
        remarks=tuple(remarks),
        sentences=rows,
    )


def unread(claim: Claim, source: str | None, verdict: Verdict, remark: str, kept: Manuscript | None) -> DocumentCheck:
    """What can be said of a document that cannot be read."""
    if kept is not None and kept.sha256() != claim.sha256:
        kept = None
    rows = tuple(_kept_row(quote, kept) for quote in claim.quotes)
    if verdict == "source changed":  # the document is gone from it
        rows = tuple(replace(row, state="gone") for row in rows)
    fails = verdict == "source changed" or any(row.kept is False for row in rows)
    return DocumentCheck(
        file=claim.file,
        source=source,
        id=claim.id,
        verdict=verdict,
        outcome="fails" if fails else "unchecked",
        remarks=(remark,),
        sentences=rows,
    )


def _verdict(same_file: bool | None, same_text: bool, same_reader: bool, stand: bool) -> Verdict:
    if same_file is None:
        return "source changed" if same_reader else "source or extractor changed"
    if not same_file:
        return "source changed"
    if not (same_text and same_reader):
        return "extractor changed"
    return "verbatim" if stand else "summary altered"


def _remarks(same_file: bool | None, same_text: bool, claim: Claim, now: Source) -> Iterator[str]:
    if same_file is False:
        yield "the file is another one now (sha256)" + (", its text is the same" if same_text else "")
    if now.extractor != claim.extractor:
        yield f"the extractor was {claim.extractor}, it is {now.extractor}" + (
            "; the text is the same" if same_text and same_file is not False else ""
        )
    elif same_file and not same_text:
        yield "the same file gives another text now"
    if now.record.truncated:
        yield "the file ends before the document does"


def _rows(claim: Claim, now: Source, kept: Manuscript | None) -> tuple[SentenceCheck, ...]:
    lost = [quote for quote in claim.quotes if not _stands(quote, now)]
    became = dict(zip(map(id, lost), find(now.text, [Wanted(q.text, q.place.start) for q in lost]), strict=True))
    rows, shift = [], 0
    for quote in claim.quotes:
        row = _kept_row(quote, kept)
        if id(quote) not in became:
            rows.append(replace(row, state="stands"))
            shift = 0
            continue
        state, start, end = became[id(quote)]
        if state == "gone":  # where it would stand, had it moved as the sentence before it did
            start = min(max(quote.place.start + shift, 0), len(now.text))
            end = min(max(quote.place.end + shift, start), len(now.text))
        shift = end - quote.place.end
        found = None if state == "moved" or start == end else now.text.read(start, min(end, start + SHOWN)).text
        rows.append(replace(row, state=state, now=now.place(start, end), found=found))
    return tuple(_lined(rows, now))


def _stands(quote: Quote, now: Source) -> bool:
    """The letters are there, and so are the bytes and the page, where the summary names them."""
    said = quote.place
    if said.end - said.start != len(quote.text) or said.end > len(now.text):
        return False
    if now.text.read(said.start, said.end).text != quote.text:
        return False
    there = now.place(said.start, said.end)
    pairs = ((said.byte_start, there.byte_start), (said.byte_end, there.byte_end), (said.page, there.page))
    return all(old is None or old == new for old, new in pairs)


def _kept_row(quote: Quote, kept: Manuscript | None) -> SentenceCheck:
    said, stands = quote.place, None
    if kept is not None:
        stands = said.start <= said.end <= len(kept) and kept.read(said.start, said.end).text == quote.text
    return SentenceCheck(rank=quote.rank, state=None, said=said, text=quote.text, kept=stands)


def _lined(rows: Sequence[SentenceCheck], now: Source) -> Iterator[SentenceCheck]:
    """The rows with the lines of the file where sentences stand that are not at their places."""
    if now.format in LINED and "offset" not in now.record.notes:
        lines = _lines(now.text, [row.now.start for row in rows if row.now is not None])
    else:  # of JSON lines and tables, the one that holds the document
        line = now.record.line if now.format in ROWS else None
        lines = defaultdict(lambda: line)
    for row in rows:
        yield row if row.now is None else replace(row, now=replace(row.now, line=lines[row.now.start]))


def _lines(text: Manuscript, offsets: Iterable[int]) -> dict[int, int | None]:
    """Lines, 1-based, on which these code points stand."""
    wanted = sorted(set(offsets))
    found: dict[int, int | None] = {}
    line, done = 1, 0
    for at in range(0, (wanted[-1] if wanted else -1) + 1, BLOCK):
        block = text.read(at, min(at + BLOCK, len(text))).text
        inside = bisect_right(wanted, at + BLOCK - 1)
        last = 0
        for offset in wanted[done:inside]:
            line += block.count("\n", last, offset - at)
            last = offset - at
            found[offset] = line
        line, done = line + block.count("\n", last), inside
    return found
