"""Scoring strands one after another, with snapshots from which a later run goes on as if nothing had happened."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from longseq.errors import InputError, StateError, StoppedError
from longseq.log import Progress, Spot, count
from longseq.metrics.nulls import COLUMNS, Nulls
from longseq.streaming import Scored, Snapshot, Surprisal, Track
from longseq.tasks.score.request import Request
from longseq.tasks.score.walk import Fingerprint, Strand, Walk
from longseq.tasks.score.work import Work
from longseq.tasks.summarize.estimate import estimate_all
from longseq.training.signals import StopRequest

Walked = tuple[Strand, Iterator[bytes]]


@dataclass
class Sums:
    """What was added up of a strand."""

    offset: int
    """Its first value in the track."""
    bits: float = 0.0
    length: int = 0
    tokens: int = 0
    """Of its letters, those that are scored."""

    def add(self, bits: np.ndarray) -> None:
        known = ~np.isnan(bits)
        self.bits += float(np.sum(bits, dtype=np.float64, where=known))
        self.length += len(bits)
        self.tokens += int(np.count_nonzero(known))

    def tensors(self) -> dict[str, torch.Tensor]:
        counts = torch.tensor([self.offset, self.length, self.tokens], dtype=torch.int64)
        return {"bits": torch.tensor([self.bits], dtype=torch.float64), "counts": counts}

    @classmethod
    def of(cls, snapshot: Snapshot) -> Sums:
        offset, length, tokens = snapshot.accumulators["counts"].tolist()
        return cls(offset, snapshot.accumulators["bits"].item(), length, tokens)


class Scorer:
    """One run over all strands."""

    def __init__(
        self,
        surprisal: Surprisal,
        request: Request,
        work: Work,
        walk: Walk,
        start: Snapshot | None,
        stop: StopRequest | None,
        progress: Progress,
    ):
        """`start` is a finished state that the first record goes on from; without `stop` there are no snapshots."""
        self._surprisal, self._request, self._work, self._walk = surprisal, request, work, walk
        self._start, self._stop, self._progress = start, stop, progress
        self._print, self._nulls = Fingerprint(), Nulls()
        self._done = 0
        """Strands that are over, well or not."""
        self._since = self._tokens = 0
        """Tokens since the last snapshot, and in all."""

    def run(self, snapshot: Snapshot | None) -> Snapshot | None:
        """Score what a run that stopped at `snapshot` has left; the state after the last strand."""
        walked: Iterator[Walked] = self._walk.strands()
        start, sums, last = self._start, None, None
        if snapshot is not None:
            sums, walked = self._again(snapshot, walked)
            start = snapshot if sums else None if self._done else self._start
            self._work.open(dict(snapshot.spools))
        total = estimate_all(self._request.inputs, self._request)
        passes = 2 if self._request.strands == "both" else 1
        self._progress.start("score", None if total is None else max(total * passes - self._tokens, 0), "base")
        try:
            for strand, track in self._surprisal.many(walked, start):
                if sums is None:
                    self._print.begin(strand)
                    sums, self._nulls = Sums(self._work.tracked), Nulls()
                try:
                    self._strand(strand, track, sums)
                except InputError as error:
                    strand.source.fail(error)
                sums = None
                self._done += 1
                last = track.snapshot() if self._request.save_state else None
                self._pause(None, None)
        finally:
            self._progress.finish()
        return last

    def _strand(self, strand: Strand, track: Track, sums: Sums) -> None:
        spot = Spot(strand.record.id, strand.record.length).on(sums.length)
        for scored in track:
            self._take(scored, sums)
            self._progress.advance(len(scored.bits), record=spot.on(len(scored.bits)))
            self._pause(track, sums)
        self._print.end()
        self._finish(strand, sums)

    def _take(self, scored: Scored, sums: Sums) -> None:
        size = len(scored.bits)
        sums.add(scored.bits)
        self._print.add(scored.ids)
        self._nulls.push(scored.ids)
        if self._request.track:
            self._work.track(scored.bits)
        self._since += size
        self._tokens += size

    def _finish(self, strand: Strand, sums: Sums) -> None:
        record = strand.record
        self._work.row(
            {
                "file": record.source,
                "record": record.id,
                "strand": strand.sign,
                "length": sums.length,
                "tokens": sums.tokens,
                "bits": sums.bits,
                "bits_per_token": sums.bits / sums.tokens if sums.tokens else None,
                **(dict.fromkeys(COLUMNS) | ({} if self._start else self._nulls.finish())),
                "truncated": record.truncated,
                "offset": sums.offset,
                "start": record.notes.get("offset", 0),
                "stretch": "offset" in record.notes,
            }
        )
        self._count(strand, sums.length)

    def _count(self, strand: Strand, length: int) -> None:
        if strand.last:
            strand.source.records += 1
            strand.source.length += length
            strand.source.truncated |= strand.record.truncated

    # Snapshots: between strands, or on the chunk grid of a long one.

    def _pause(self, track: Track | None, sums: Sums | None) -> None:
        """A snapshot if one is due; where a signal came, that is the end."""
        if self._stop is None or (self._stop.name is None and self._since < self._request.every):
            return
        place: dict[str, str | int] = {"done": self._done, "digest": self._print.digest()}
        if track is None or sums is None:
            if self._request.save_state and self._stop.name is None:
                return  # the one record is over, and its state is still needed
            snapshot = Snapshot(
                state=None,
                model_sha256=self._surprisal.checkpoint.sha256,
                position=0,
                place=place,
                chunk=self._surprisal.chunk,
                precision=self._surprisal.precision,
            )
        else:
            now = track.snapshot()
            if now.position == 0 or now.given != now.position:
                return  # beside the grid: the strand ends here, and then it is time
            snapshot = replace(now, carry=b"", accumulators=sums.tensors(), place=place)
        self._work.save(snapshot)
        self._since = 0
        if self._stop.name is not None:
            self._give_way(f"after {count(self._tokens, 'token')}; what was done is saved")

    def _give_way(self, when: str) -> None:
        assert self._stop is not None
        where = str(self._work.folder)
        if self._stop.name == "SIGINT":
            raise KeyboardInterrupt(f"{where}: interrupted {when}; --resume goes on")
        raise StoppedError(f"stopped by {self._stop.name} {when}", where=where, remedy="--resume goes on")

    def _again(self, snapshot: Snapshot, walked: Iterator[Walked]) -> tuple[Sums | None, Iterator[Walked]]:
        """Walk what a stopped run has read, and leave the walk where that run stood.

        Raises:
            StateError: it read something else.
        """
        place = snapshot.place
        for _ in range(int(place["done"])):
            strand, pieces = self._next(walked)
            self._print.begin(strand)
            length = 0
            try:
                for piece in pieces:
                    length += len(self._skip(piece, length))
            except InputError as error:
                strand.source.fail(error)
            else:
                self._print.end()
                self._count(strand, length)
            self._done += 1
        sums = None
        if snapshot.position:
            sums = Sums.of(snapshot)
            strand, pieces = self._next(walked)
            self._print.begin(strand)
            left, rest = sums.length, b""
            while left:
                piece = next(pieces, b"")
                if not piece:
                    raise self._other_inputs()
                self._nulls.push(self._skip(piece[:left], sums.length - left))
                left, rest = max(left - len(piece), 0), piece[left:]
            walked = itertools.chain([(strand, itertools.chain([rest], pieces))], walked)
        if self._print.digest() != place["digest"]:
            raise self._other_inputs()
        return sums, walked

    def _skip(self, piece: bytes, at: int) -> np.ndarray:
        """Letters from `at` on that were read before; their ids (T,)."""
        if self._stop is not None and self._stop.name is not None:
            self._give_way("before it went on; the last snapshot is kept")
        ids = self._surprisal.tokenizer.encode(piece, at)[0]
        self._print.add(ids)
        self._tokens += len(ids)
        return ids

    def _next(self, walked: Iterator[Walked]) -> Walked:
        found = next(walked, None)
        if found is None:
            raise self._other_inputs()
        return found

    def _other_inputs(self) -> StateError:
        return StateError(
            where=str(self._work.folder),
            expected="inputs that begin as those that the run had read",
            found="others",
            remedy="give it those, or start anew with --force",
        )
