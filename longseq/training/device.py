"""Device and processes of a run: the door to accelerate."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import safetensors.torch
import torch
from torch import Tensor

from longseq import errors
from longseq.errors import ConfigError, LongseqError, UsageError
from longseq.ops.machine import prepare
from longseq.results.run import peak_rss_mb
from longseq.training.config import TrainConfig

if TYPE_CHECKING:
    from accelerate import Accelerator

T = TypeVar("T")
ERROR_FIELDS = ("problem", "where", "expected", "found", "remedy")


def accelerator(config: TrainConfig, logs: Path | None = None) -> Accelerator:
    """The processes that a launcher (srun, torchrun) started, or this one alone, on the device asked for; trackers that
    keep files do so under `logs`.

    Raises:
        UsageError: there is no such device.
        ConfigError: there is no such tracker.
    """
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    kind, _, number = config.device.partition(":")
    present = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    if kind != "auto" and not any(name.startswith(config.device) for name in present):
        raise UsageError(
            where="device",
            expected=config.device,
            found=", ".join(present) + " only",
            remedy="auto takes what there is",
        )
    if number:
        torch.cuda.set_device(int(number))
    _require_trackers(config.trackers)
    prepare(config.threads)
    # accelerate keeps the first run's device for the whole program; a second run may differ.
    AcceleratorState._reset_state(reset_partial_state=True)
    # Precision is ours: accelerate has no fp16 on a CPU, where it can be tested.
    cpu = kind == "cpu" or len(present) == 1
    processes = Accelerator(cpu=cpu, mixed_precision="no", log_with=list(config.trackers) or None, project_dir=logs)
    atexit.register(_part)
    return processes


def _part() -> None:
    """Leave the other processes before the program ends: threads that wait for them abort it now and then."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _require_trackers(names: Sequence[str]) -> None:
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers
    from accelerate.utils import LoggerType

    for name in names:
        if name not in LOGGER_TYPE_TO_CLASS:
            known = ", ".join(sorted(LOGGER_TYPE_TO_CLASS))
            raise ConfigError(where="trackers", expected=f"some of {known}", found=repr(name))
        if name in LoggerType.list() and LoggerType(name) not in get_available_trackers():
            package = {"tensorboard": "'longseq[tracking]'"}.get(name, name)
            raise ConfigError(
                where="trackers", expected=f"the package of {name}", found="none", remedy=f"pip install {package}"
            )


def sum_over(processes: Accelerator, *values: float) -> list[float]:
    """Each value summed over all processes, in float64."""
    if processes.num_processes == 1:
        return list(values)
    total = processes.reduce(torch.tensor(values, dtype=torch.float64, device=processes.device), "sum")
    assert isinstance(total, Tensor)
    return total.tolist()


def together(processes: Accelerator, act: Callable[[], T]) -> T:
    """Done by every process. What one of them raises is raised in all, so that none waits for another for ever."""
    result, failed = None, None
    try:
        result = act()
    except Exception as error:
        failed = error
    raise_in_all(processes, failed)
    return cast(T, result)


def raise_in_all(processes: Accelerator, failed: Exception | None) -> None:
    """Raise what failed here, or else what failed in another process, if anything did."""
    if processes.num_processes > 1:
        everyone = map(_heard, _gather_bytes(processes, _told(failed)))
        failed = failed or next((error for error in everyone if error is not None), None)
    if failed is not None:
        raise failed


def _told(failed: Exception | None) -> bytes:
    """An error as another process may hear it; empty where there is none."""
    if failed is None:
        return b""
    ours = isinstance(failed, LongseqError)
    fields = failed.__dict__ if ours else {"problem": f"{type(failed).__name__}: {failed}"}
    kind = type(failed).__name__ if ours else LongseqError.__name__
    return json.dumps({"kind": kind, **{name: fields.get(name) for name in ERROR_FIELDS}}).encode()


def _heard(told: bytes) -> LongseqError | None:
    if not told:
        return None
    said = json.loads(told)
    kind = getattr(errors, said.pop("kind"))
    assert issubclass(kind, LongseqError)
    return kind(**said | {"problem": said["problem"] or ""})


def alone(processes: Accelerator, act: Callable[[], object]) -> None:
    """Done by the first process, while the others wait. What it raises is raised in all."""
    together(processes, act if processes.is_main_process else _nothing)


def in_turn(processes: Accelerator, act: Callable[[], T]) -> T:
    """Done by the first process, then by the others at once. What one of them raises is raised in all."""
    first = processes.is_main_process
    mine = together(processes, act if first else _nothing)
    others = together(processes, _nothing if first else act)
    return cast(T, mine if first else others)


def _nothing() -> None:
    pass


def gather(processes: Accelerator, mine: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """The tensors of all processes, in rank order, those of each in the order in which it has them."""
    if processes.num_processes == 1:
        return [mine]
    tensors = [tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for tensor in mine.values()]
    told = {f"{at:06d} {name}": tensor for at, (name, tensor) in enumerate(zip(mine, tensors, strict=True))}
    parts = map(safetensors.torch.load, _gather_bytes(processes, safetensors.torch.save(told)))  # by type and name
    return [{name.partition(" ")[2]: part[name] for name in sorted(part)} for part in parts]


def _gather_bytes(processes: Accelerator, mine: bytes) -> list[bytes]:
    """Those of all processes, in rank order. What accelerate gathers of objects is pickled: who can reach the port of a
    run could make its processes run anything."""
    sizes = processes.gather(torch.tensor([len(mine)], device=processes.device)).tolist()
    padded = torch.zeros(1, max(1, *sizes), dtype=torch.uint8, device=processes.device)
    padded[0, : len(mine)] = torch.frombuffer(bytearray(mine or b"\0"), dtype=torch.uint8)[: len(mine)]
    whole = processes.gather(padded).cpu().numpy()
    return [whole[rank, :size].tobytes() for rank, size in enumerate(sizes)]


def peak_memory(device: torch.device) -> float:
    """MiB: most memory held so far, of the accelerator where there is one, else resident in this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return peak_rss_mb()
