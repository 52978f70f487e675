"""Models as a caller names them, and inputs as one lists them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from longseq.errors import UsageError
from longseq.formats.aliases import read_aliases
from longseq.formats.folders import files
from longseq.records import Interval

if TYPE_CHECKING:
    from longseq.model import Checkpoint

Path = str | os.PathLike[str]
Named = Union[str, os.PathLike[str], "Checkpoint"]
"""A shipped name, a checkpoint directory, or what `longseq.load` gave."""
Several = str | Iterable[str]
"""One text, or many."""


def inputs_of(inputs: Iterable[Path]) -> tuple[str, ...]:
    """Files, of folders and patterns those in them.

    Raises:
        UsageError: no input; InputError: a folder or pattern without a file.
    """
    found = files(os.fspath(one) for one in inputs)
    if not found:
        raise UsageError("there is no input", remedy="name a file, a folder or a pattern")
    return found


def several(texts: Several) -> tuple[str, ...]:
    """One text is one of many."""
    return (texts,) if isinstance(texts, str) else tuple(texts)


def asked(region: Several, alias: Path | None, **plain: Any) -> dict[str, Any]:
    """Which records, by the names that requests have for it."""
    names = () if alias is None else read_aliases(os.fspath(alias))
    return {"regions": tuple(map(Interval.parse, several(region))), "alias": names, **plain}


def opened(model: Named) -> Checkpoint:
    """The checkpoint, on the processor where it has to be loaded first.

    Raises:
        CheckpointError, AlphabetError: not one.
    """
    from longseq.model import load
    from longseq.ops.machine import prepare

    prepare()
    return load(model) if isinstance(model, str | os.PathLike) else model  # type: ignore[arg-type]
