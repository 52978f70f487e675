"""Check a summary against its sources: each is read again, once, by the reader that read it then."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from longseq.errors import InputError
from longseq.formats import Reading, read
from longseq.formats.digest import file_digest
from longseq.formats.encoding import BAD
from longseq.formats.region import cut
from longseq.log import NullProgress, Progress
from longseq.records import Interval, Record
from longseq.results.verification import DocumentCheck, Verdict
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.verify.claims import Claim, read_claims
from longseq.tasks.verify.compare import Source, judged, unread
from longseq.tasks.verify.sources import sources_of

PIECE = 1 << 20
"""Code points of a kept text read at a time."""


def verify_summary(
    summary: str,
    sources: Sequence[str] = (),
    *,
    texts: str | None = None,
    progress: Progress | None = None,
) -> list[DocumentCheck]:
    """Whether each sentence of a summary stands in its source where the summary says, and if not, why.

    A source of any length is read once, in constant memory beside the summary itself. Where the file is the same but
    its reader makes another text of it now, the text that `summarize --save-text` kept is the witness.

    Args:
        summary: JSON or JSON lines of `summarize`, `-` for standard input, or a folder that it wrote.
        sources: Files, where they do not lie where the summary says; standard input is named by `-`.
        texts: Folder that `--save-text` wrote; None: where it was written, or beside the summary.
        progress: Told of code points read, per source.

    Returns:
        A check a document, in the order of the summary.

    Raises:
        InputError: the summary is none.
        UsageError: a source that belongs to no document of the summary.
    """
    claims = read_claims(summary)
    places = sources_of(claims, summary, sources)
    by_file: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_file[claim.file].append(claim)
    checks: dict[int, DocumentCheck] = {}
    for name, some in by_file.items():
        walk = _Walk(name, places[name], summary, texts, progress or NullProgress())
        checks |= {id(claim): check for claim, check in walk.checks(some)}
    return [checks[id(claim)] for claim in claims]


class _Walk:
    """One source, and what is claimed of it."""

    def __init__(self, name: str, source: str | None, summary: str, texts: str | None, progress: Progress):
        self._name, self._source, self._progress = name, source, progress
        self._texts = texts
        self._beside = Path(summary) if Path(summary).is_dir() else Path(summary).parent

    def checks(self, claims: Sequence[Claim]) -> Iterator[tuple[Claim, DocumentCheck]]:
        """A check of each claim, in any order."""
        quoting = [claim for claim in claims if claim.verbatim]
        for claim in claims:
            if not claim.verbatim:
                remark = "its sentences were written by a model, not taken from the source"
                yield claim, self._unread(claim, "not verbatim", remark)
        if self._source is None:
            where = "it was standard input: name the source" if self._name == "-" else f"{self._name}: no such file"
            yield from ((claim, self._unread(claim, "missing source", where)) for claim in quoting)
            return
        digest = file_digest(self._source) if quoting else None
        for some in _rounds(quoting):
            yield from self._round(some, digest)

    def _round(self, claims: Sequence[Claim], digest: str | None) -> Iterator[tuple[Claim, DocumentCheck]]:
        found: dict[int, DocumentCheck] = {}
        fault: InputError | None = None
        try:
            with read(str(self._source), kind="document", text=claims[0].notes.get("column")) as reading:
                for claim, record in _matched(reading, claims):
                    found[id(claim)] = self._check(claim, record, digest, reading.format.name)
        except InputError as error:
            fault = error
        for claim in claims:
            if id(claim) in found:
                yield claim, found[id(claim)]
            elif fault is None:
                yield claim, self._unread(claim, "source changed", "the document is not in it any more")
            else:
                yield claim, self._unread(claim, "unreadable source", str(fault))

    def _check(self, claim: Claim, record: Record, digest: str | None, format: str) -> DocumentCheck:
        self._progress.start(str(self._source), claim.length, "letter")
        try:
            with Manuscript() as text, self._kept(claim) as kept:
                record = _part(record, claim)
                for piece in record.pieces:
                    text.append(piece)  # type: ignore[arg-type]
                    self._progress.advance(len(piece))
                return judged(claim, str(self._source), digest, Source(record, format, text), kept)
        except InputError as error:
            return self._unread(claim, "unreadable source", str(error))
        finally:
            self._progress.finish()

    def _unread(self, claim: Claim, verdict: Verdict, remark: str) -> DocumentCheck:
        with self._kept(claim) as kept:
            return unread(claim, self._source, verdict, remark, kept)

    @contextmanager
    def _kept(self, claim: Claim) -> Iterator[Manuscript | None]:
        """The text as it was, if somebody kept it."""
        folders = [Path(claim.text_folder or "."), self._beside] if self._texts is None else [Path(self._texts)]
        places = [folder / str(claim.text_file) for folder in folders]
        path = next((place for place in places if os.path.isfile(place)), None)  # a name may be no name at all
        if claim.text_file is None or path is None:
            yield None
            return
        with Manuscript() as text:
            try:
                with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
                    while piece := file.read(PIECE):
                        text.append(piece)
            except (OSError, UnicodeDecodeError):
                text.append(BAD)  # so that its digest is not the summary's
            yield text


def _part(record: Record, claim: Claim) -> Record:
    """The stretch of a document that a summary with `--region` is of."""
    if (start := claim.notes.get("offset")) is None:
        return record
    return cut(record, Interval(record=record.id, start=start, end=start + claim.length))


def _rounds(claims: Sequence[Claim]) -> Iterator[list[Claim]]:
    """Claims that one walk of the source can check: each region, and each document named twice, takes its own."""
    rounds: list[dict[tuple, Claim]] = [{}]
    for claim in claims:
        key = (claim.index, claim.id)
        if "offset" in claim.notes:
            rounds.append({key: claim})
            continue
        free = next((one for one in rounds if key not in one), None)
        if free is None:
            rounds.append(free := {})
        free[key] = claim
    return (list(one.values()) for one in rounds if one)


def _matched(reading: Reading, claims: Sequence[Claim]) -> Iterator[tuple[Claim, Record]]:
    """Claims and their records: of that id and place, else of that id, else of that place in the file.

    A file of another name names its records anew; rows that were put in before others move them. The record of a
    claim's id, where it comes after another at its place, is a later answer, which counts; behind the record of its id
    and place there is none.
    """
    by_id: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_id[claim.id].append(claim)
    by_index = {claim.index: claim for claim in claims}
    settled: set[int] = set()
    for record in reading:
        named = by_id.get(record.id, [])
        exact = next((claim for claim in named if claim.index == record.index), None)
        only = named[0] if len(named) == 1 else None
        meant = exact or only or by_index.get(record.index)
        if exact is not None:
            settled.add(id(exact))
        if meant is not None and (exact is not None or id(meant) not in settled):
            yield meant, record
