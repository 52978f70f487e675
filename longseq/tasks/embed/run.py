"""From inputs to vectors, and on to a table that is written as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from longseq import __version__
from longseq.config import require
from longseq.errors import InputError, UsageError
from longseq.log import NullProgress, Progress, Spot
from longseq.model import Checkpoint
from longseq.records import Record
from longseq.results.source import SourceRow
from longseq.streaming.hidden import HiddenReader, Job
from longseq.tasks.embed.pool import Pooled
from longseq.tasks.embed.request import PARTS, Request, Strands
from longseq.tasks.embed.table import Embedded, EmbeddedTable, Heading, free_files, too_many
from longseq.tasks.places import Every, Places, Sections, id_pieces, known_ids, reads_dna, walk
from longseq.tasks.sentence_places import Sentences
from longseq.tasks.sources import Source, require_some
from longseq.tasks.summarize.estimate import estimate_all
from longseq.tokens import DnaTokenizer
from longseq.tokens.spool import LetterSpool

AT_ONCE = 1 << 20
"""Numbers of vectors handed on at once."""
PIECE = 1 << 16
"""Letters of the other strand read at once."""


class _Entry:
    """A record on its way."""

    def __init__(self, source: Source, record: Record, places: Places, strands: int):
        self.source, self.record, self.places = source, record, places
        self.pooled: list[Pooled] = []
        self.left = strands
        self.error: InputError | None = None


class _Pass(Job):
    """One strand of a record."""

    def __init__(self, entry: _Entry, pieces: Iterable[np.ndarray], pooled: Pooled):
        super().__init__(pieces, pooled.take)
        self.entry, self.pooled = entry, pooled


def embeddings(
    request: Request, reader: HiddenReader, sources: Sequence[Source], progress: Progress | None = None
) -> Iterator[Embedded]:
    """Vectors of all records of `sources` (made of `request.inputs`, and told what went wrong), in order.

    The vectors of a record depend on its letters and on the request alone: not on its neighbours, nor, but for
    rounding, on the reader's chunk. A record that cannot be read to its end has none.

    Raises:
        UsageError: strands, sections, sentences or bases that cannot be had of this model, or are more than asked for.
    """
    strands = strands_of(request, reader.checkpoint)
    return _embeddings(request, reader, sources, strands, progress or NullProgress())


def _embeddings(
    request: Request, reader: HiddenReader, sources: Sequence[Source], strands: Strands, progress: Progress
) -> Iterator[Embedded]:
    strand = "both" if strands == "both" else "+" if reads_dna(reader.checkpoint) else "."
    for job in reader.passed(_jobs(request, reader.checkpoint, sources, strands, progress)):
        assert isinstance(job, _Pass)
        entry = job.entry
        entry.error = entry.error or job.error
        job.pooled.finish()
        entry.pooled.append(job.pooled)
        if len(entry.pooled) < entry.left and entry.error is None:
            continue
        try:
            if entry.error is not None:
                entry.source.fail(entry.error)
                continue
            spans = entry.places.spans() + entry.record.notes.get("offset", 0)
            entry.source.records += 1
            entry.source.length += entry.record.length or 0
            entry.source.truncated |= entry.record.truncated
            yield from _batches(entry, spans, strand, reader.encoder.config.width, request.normalize)
        finally:
            for pooled in entry.pooled:
                pooled.close()


def _jobs(
    request: Request, checkpoint: Checkpoint, sources: Sequence[Source], strands: Strands, progress: Progress
) -> Iterator[_Pass]:
    known, width, few = known_ids(checkpoint), checkpoint.config.width, _Few(request, checkpoint)
    passes, total = 2 if strands == "both" else 1, None
    if reads_dna(checkpoint) and all(source.span is None for source in sources):
        total = estimate_all([source.file for source in sources], request)
    progress.start("embed", None if total is None else total * passes, "token")
    try:
        for source, record in walk(sources, checkpoint, request, column=request.column):
            places = _places(request)
            entry = _Entry(source, record, places, passes)
            forward, spot = Pooled(places, request.pool, width, known), Spot(record.id, record.length)
            with LetterSpool() as spool:
                if strands == "both":
                    record.pieces = _kept(record.pieces, spool)  # type: ignore[arg-type]
                job = _Pass(entry, few.of(_told(id_pieces(record, checkpoint, [places]), progress, spot)), forward)
                yield job
                if strands == "both" and job.error is None:
                    back = Pooled(places, request.pool, width, known, reverse=True)
                    back.total = len(spool)
                    yield _Pass(entry, _told(_reverse(spool, checkpoint), progress, Spot(record.id, len(spool))), back)
    finally:
        progress.finish()


def _places(request: Request) -> Places:
    if request.per == "section":
        return Sections()
    if request.per == "sentence":
        return Sentences()
    return Every({"window": request.window, "base": 1}.get(request.per))


def _kept(pieces: Iterator[bytes], spool: LetterSpool) -> Iterator[bytes]:
    for piece in pieces:
        spool.append(piece)
        yield piece


def _reverse(spool: LetterSpool, checkpoint: Checkpoint) -> Iterator[np.ndarray]:
    assert isinstance(checkpoint.tokenizer, DnaTokenizer)
    for piece in spool.reversed_complement_pieces(PIECE):
        yield checkpoint.tokenizer.encode(piece)[0].astype(np.int64)


def _told(pieces: Iterator[np.ndarray], progress: Progress, spot: Spot) -> Iterator[np.ndarray]:
    for ids in pieces:
        progress.advance(len(ids), record=spot.on(len(ids)))
        yield ids


def _batches(entry: _Entry, spans: np.ndarray, strand: str, width: int, normalize: bool) -> Iterator[Embedded]:
    titles = entry.places.titles if isinstance(entry.places, Sections | Sentences) else None
    size = max(AT_ONCE // width, 1)
    for first in range(0, len(spans), size):
        last = min(first + size, len(spans))
        rows = [pooled.rows(first, last) for pooled in entry.pooled]
        vectors = rows[0][:, :-1] if len(rows) == 1 else (rows[0][:, :-1] + rows[1][:, :-1]) / 2
        if normalize:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        vectors = np.where(rows[0][:, -1:] > 0, vectors, np.float32(np.nan))
        yield Embedded(
            file=entry.source.file,
            record=entry.record.id,
            start=spans[first:last, 0],
            end=spans[first:last, 1],
            strand=strand,
            sections=None if titles is None else (tuple(titles[first:last]) or ("",)),
            vectors=vectors,
        )


def strands_of(request: Request, checkpoint: Checkpoint) -> Strands:
    """The strands that are read.

    Raises:
        UsageError: both of what has one, or sections or sentences of DNA.
    """
    by_letter = isinstance(checkpoint.tokenizer, DnaTokenizer)
    if request.strands == "both" and not by_letter:
        found = "DNA in words, whose other strand has other words" if reads_dna(checkpoint) else "a model of text"
        raise UsageError(where="--strands both", expected="a model of letters of DNA", found=found)
    if request.per in PARTS and reads_dna(checkpoint):
        raise UsageError(
            where=f"--per {request.per}", expected="a model of text", found="one of DNA", remedy="--window N"
        )
    require(not request.regions or reads_dna(checkpoint), "region", request.places(), "none of documents")
    return request.strands or ("both" if by_letter else "forward")


class _Few:
    """Refuses more vectors of bases than were asked for, as soon as they are too many."""

    def __init__(self, request: Request, checkpoint: Checkpoint):
        self._most = request.most if request.per == "base" else None
        self._width = checkpoint.config.width
        self._total = 0

    def of(self, pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for ids in pieces:
            self._total += len(ids)
            if self._most is not None and self._total > self._most:
                raise too_many(self._most, self._width, self._total)
            yield ids


def embed(
    request: Request,
    checkpoint: Checkpoint,
    out: str | Path,
    *,
    npy: str | Path | None = None,
    chunk: int | None = None,
    precision: str = "fp32",
    command: str = "",
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[list[SourceRow], int]:
    """Write the vectors of all records to the Parquet file `out`, whole or not at all; the sources and the rows.

    Columns: file, record, start, end, strand, section (of sections and sentences), layer, model (sha256), vector: a
    list of fixed size of float32, null where nothing was said. The schema's metadata hold the request. `npy` takes the
    same vectors, (rows, D) float32, NaN for null. Memory: a row group of 16 MiB, whatever the records.

    Raises:
        InputError: the first one, when no record of any input could be read because of it.
        UsageError, OutputExistsError: the request itself is wrong; a file stands already and `force` is not set.
    """
    free_files(out, npy, force=force)
    reader = HiddenReader(checkpoint, layer=request.layer, chunk=chunk, precision=precision)
    sources = [Source(file) for file in request.inputs]
    with EmbeddedTable(heading_of(request, reader, command), out, npy=npy, force=force) as table:
        for part in embeddings(request, reader, sources, progress):
            table.take(part)
        require_some(sources, checkpoint)
    return [source.row() for source in sources], table.rows


def heading_of(request: Request, reader: HiddenReader, command: str) -> Heading:
    """Of the table of what a reader was asked for."""
    checkpoint = reader.checkpoint
    facts = {
        "version": __version__,
        "command": command,
        "model": checkpoint.name,
        "per": request.per,
        "window": request.window,
        "pool": request.pool,
        "normalize": request.normalize,
        "strands": strands_of(request, checkpoint),
        "layer": reader.layer,
        "chunk": reader.chunk,
        "precision": reader.precision,
        "device": str(reader.device),
    }
    return Heading(
        width=checkpoint.config.width,
        sections=request.per in PARTS,
        layer=reader.layer,
        model=checkpoint.sha256,
        facts=facts,
    )
