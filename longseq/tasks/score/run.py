"""A run of `score`: from its inputs, or from its last snapshot, to rows and a track."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from longseq import __version__
from longseq.errors import OutputExistsError, StateError, UsageError
from longseq.formats.atomic import free_directory, free_file, no_directory
from longseq.formats.digest import same_digest
from longseq.log import Progress
from longseq.streaming import Snapshot, load_snapshot, save_snapshot
from longseq.streaming.snapshot import require_same
from longseq.tasks.score.request import Request
from longseq.tasks.score.scorer import Scorer
from longseq.tasks.score.walk import Walk
from longseq.tasks.score.work import Work
from longseq.tasks.score.write import Result, write
from longseq.tasks.sources import require_some
from longseq.tasks.summarize.model import LoadedModel
from longseq.tasks.working import ANEW, RUN_SCHEMA, SETTINGS, finished_as
from longseq.training.signals import StopRequest


@contextmanager
def scored(
    request: Request,
    model: LoadedModel,
    *,
    out: str | None = None,
    command: str = "",
    resume: bool = False,
    force: bool = False,
    progress: Progress,
) -> Iterator[Result]:
    """Score all records; the result can be read inside the block, and stands in `out` when the block begins.

    Args:
        out: Output directory: scores.tsv, run.json, and what a track was asked for as. Work lies in a hidden folder
            beside it until then, with a snapshot each so many tokens, and is kept where a signal stops the run.
        command: The command line, for run.json.
        resume: Go on from the last snapshot, or begin where there is none.
        force: Replace an output, or a run that was stopped.

    Raises:
        InputError: the first one, when no record of any input could be scored because of it.
        StateError: `resume`, and the run was begun with other inputs, another model or other settings, or what it left
            cannot be read; a state of another model, chunk or precision; a spool that something else wrote to.
        LongseqError: a file takes no more.
        StoppedError: SIGTERM or SIGUSR1 came, with `out`; KeyboardInterrupt: SIGINT.
        UsageError, OutputExistsError: the request itself is wrong, or another run is writing to `out`.
    """
    if request.save_state is not None:
        free_file(request.save_state, force=force or resume)
    if out is None and (request.track or resume):
        raise UsageError(f"{'--track' if request.track else '--resume'} needs --out DIR")
    start = None if request.state is None else load_snapshot(request.state, model.surprisal.checkpoint)
    if start is not None:
        require_same(start, model.surprisal.chunk, model.precision, request.state)
    work = Work.temporary() if out is None else Work.beside(free_directory(out, force=force))
    settings = {"command": command, **settings_of(request, model)}
    done = False
    try:
        if out is not None and not work.folder.parent.is_dir():
            raise no_directory(out)
        found = work.begin(settings, resume=resume, force=force or out is None)
        snapshot = _last(work, model) if found else None
        walk = Walk(request, digests=settings["digests of the inputs"])
        with StopRequest() if out is not None else nullcontext() as stop:
            scorer = Scorer(model.surprisal, request, work, walk, start, stop, progress)
            state = scorer.run(snapshot)
        result = Result([source.row() for source in walk.sources], work)
        require_some(walk.sources, model.surprisal.checkpoint)
        if request.save_state is not None and state is not None:
            save_snapshot(request.save_state, state, force=force or resume)
        if out is not None:
            write(result, out, request.track_format if request.track else None, force=force)
        done = True
        yield result
    finally:
        work.close()
        if done or out is None or not work.state.exists():
            work.remove()
        work.release()


def finished(request: Request, model: LoadedModel, out: str) -> bool:
    """Whether `out` holds the result of this very request, as a run finds it that is resumed once too often.

    Raises:
        OutputExistsError: it holds that of another request, or something else.
    """
    if not finished_as(out, SETTINGS, settings_of(request, model)):
        return False
    if request.save_state is not None and not os.path.exists(request.save_state):
        problem = f"exists already, but not the state {request.save_state}"
        raise OutputExistsError(problem, where=out, remedy="give another name, or --force to replace it")
    return True


def _last(work: Work, model: LoadedModel) -> Snapshot:
    """The snapshot that a run goes on from."""
    try:
        snapshot = load_snapshot(work.state, model.surprisal.checkpoint)
    except StateError as error:
        raise StateError(where=error.where, expected=error.expected, found=error.found, remedy=ANEW) from None
    if not ({"done", "digest"} <= snapshot.place.keys() and work.spools.keys() <= snapshot.spools.keys()):
        found = "the state of a record alone"
        raise StateError(where=str(work.state), expected="the snapshot of a run", found=found, remedy=ANEW)
    return snapshot


def settings_of(request: Request, model: LoadedModel) -> dict[str, Any]:
    """All that a result depends on; what came through a pipe is known by the walk's fingerprint alone."""
    state = None if request.state is None else hashlib.sha256(Path(request.state).read_bytes()).hexdigest()
    return {
        "schema": RUN_SCHEMA,
        "version": __version__,
        "inputs": list(request.inputs),
        "digests of the inputs": [same_digest(file) for file in request.inputs],
        "model": model.sha256,
        "device": model.device,
        "precision": model.precision,
        "threads": model.threads,
        "chunk": model.surprisal.chunk,
        "strands": request.strands,
        "track": request.track,
        "track_format": request.track_format,
        "on_unknown": request.on_unknown,
        "regions": request.places(),
        "alias": list(map(list, request.alias)),
        "strict": request.strict,
        "state": state,
    }
