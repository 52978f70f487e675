"""A loss or a gradient that is no number: where its batch came from, and the way out."""

from __future__ import annotations

import math

from longseq.errors import LongseqError
from longseq.formats.jsonfile import write_json
from longseq.log import count
from longseq.training.rundir import RunDirectory
from longseq.training.steps import Steps


def write(folder: RunDirectory, steps: Steps, step: int, loss: float, norm: float) -> None:
    """List the windows of the step, after `step` others, in `nonfinite.json`."""
    document = {"step": step + 1, "loss": str(loss), "gradient_norm": str(norm), "windows": steps.places(step)}
    write_json(folder.nonfinite, document, force=True, given=False)


def error(
    folder: RunDirectory, steps: Steps, step: int, loss: float, norm: float, *, saved: bool, resumed: bool
) -> LongseqError:
    """What to say of that step.

    `saved`: there is a checkpoint from before it; `resumed`: the run went on from that one with this very step, so that
    its parameters may be ruined already, finite though they are.
    """
    if resumed:
        state = "the first after a resume, so what was saved may be ruined already"
    else:
        state = "checkpoints/latest is from before it" if saved else "no checkpoint is from before it"
    go_on = "--resume" if saved and not resumed else "start anew with --force"
    return LongseqError(
        f"{_found(steps, step, loss, norm)}; {state}; {folder.nonfinite.name} lists the windows",
        where=str(folder.path),
        remedy=f"lower optimiser.rate, then {go_on}",
    )


def error_of_trial(folder: RunDirectory, steps: Steps, step: int, loss: float, norm: float) -> LongseqError:
    """What to say of that step in a dry run, which writes nothing."""
    return LongseqError(_found(steps, step, loss, norm), where=str(folder.path), remedy="lower optimiser.rate")


def _found(steps: Steps, step: int, loss: float, norm: float) -> str:
    """What is no number, at which step, and where its first window stands."""
    what, value = ("loss", loss) if not math.isfinite(loss) else ("norm of the gradient", norm)
    windows = steps.places(step)
    first = next(iter(windows[0]), None)
    place = f", first {first['record']}:{first['start']}-{first['end']} ({first['strand']})" if first else ""
    return f"the {what} is {value} at step {step + 1:,}, in a batch of {count(len(windows), 'window')}{place}"
