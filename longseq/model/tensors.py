"""Tensors of safetensors files, taken by name and looked at as they are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from longseq.errors import CheckpointError
from longseq.formats.paths import unicode_path
from longseq.formats.tensors import head_size

M = TypeVar("M", bound=nn.Module)
PICKLES = (b"PK\x03\x04", b"\x80")
"""What a file of `torch.save` begins with, new and old."""
TYPES = ("F64", "F32", "F16", "BF16")
"""Of weights."""


class Tensors:
    """Tensors by name, of one file or of several that share them."""

    def __init__(self, where: str, files: dict[str, Any]):
        """`files`: of each name, the open file that holds it."""
        self.where, self._files = where, files
        self._taken: set[str] = set()

    @property
    def names(self) -> list[str]:
        """All names."""
        return sorted(self._files)

    @property
    def left(self) -> list[str]:
        """Names that nobody took."""
        return sorted(self._files.keys() - self._taken)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a tensor that is there.

        Raises:
            CheckpointError: it is not.
        """
        self._require(name)
        return tuple(self._files[name].get_slice(name).get_shape())

    def take(self, name: str, shape: Sequence[int | None]) -> Tensor:
        """The tensor of that name; None in `shape` is any length.

        Raises:
            CheckpointError: there is none, or one of another shape or type or with numbers that are not finite.
        """
        where = self.require(name, shape)
        kind = self._files[name].get_slice(name).get_dtype()
        if kind not in TYPES:
            raise CheckpointError(where=where, expected=f"numbers of type {', '.join(TYPES)}", found=str(kind))
        tensor = self._files[name].get_tensor(name)
        if kind == "F64":
            tensor = tensor.float()  # as the model holds it: what is too large for that is infinite
        if not torch.isfinite(tensor).all():
            raise CheckpointError(where=where, expected="finite numbers", found="NaN or infinity")
        self._taken.add(name)
        return tensor

    def require(self, name: str, shape: Sequence[int | None]) -> str:
        """Where the tensor of that name is, which has that shape.

        Raises:
            CheckpointError: there is none, or one of another shape.
        """
        found, where = self.shape(name), f"{self.where} ({name})"
        if len(found) != len(shape) or any(b is not None and a != b for a, b in zip(found, shape, strict=True)):
            wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," * (len(shape) == 1)) + ")"
            raise CheckpointError(where=where, expected=f"shape {wanted}", found=str(found)[:200])
        return where

    def _require(self, name: str) -> None:
        if name not in self._files:
            raise CheckpointError(where=self.where, expected=f"tensor {name}", found="none")


@contextmanager
def open_tensors(*files: Path) -> Iterator[Tensors]:
    """The tensors of these files.

    Raises:
        CheckpointError: a file that is no safetensors file; a pickle is refused, not read.
    """
    with ExitStack() as stack:
        found: dict[str, Any] = {}
        for file in files:
            try:
                with open(file, "rb") as stream:
                    head = stream.read(9)
                    # A safetensors file begins with the length of its JSON, in 8 bytes of any value.
                    if head.startswith(PICKLES) and head[8:] != b"{":
                        raise CheckpointError(
                            where=str(file),
                            expected="a safetensors file",
                            found="a pickle, which is never read, for it can run any code",
                            remedy="write its tensors with safetensors.torch.save_file",
                        )
                opened = stack.enter_context(opened_file(file))
            except (OSError, ValueError, SafetensorError) as error:
                raise CheckpointError(where=str(file), expected="a safetensors file", found=str(error)) from None
            found |= dict.fromkeys(opened.keys(), opened)
        yield Tensors(str(files[0] if len(files) == 1 else files[0].parent), found)


def opened_file(file: str | Path) -> Any:
    """A safetensors file, as the library opens it.

    Raises:
        OSError, ValueError, SafetensorError: it is none.
    """
    head_size(file)
    with unicode_path(file) as known:
        return safe_open(known, "pt")


def filled(make: Callable[[], M], file: Path, layers: int) -> M:
    """The module that `make` makes, with the weights of a file that holds them and no others.

    It is made without memory first: settings that ask for more than the file has are refused before they take any.

    Raises:
        CheckpointError: it does not hold them, or has fewer tensors than there are `layers`.
    """
    with open_tensors(file) as found:
        if len(found.names) < layers:
            tensors = f"tensors of {layers:,} layers"
            raise CheckpointError(where=str(file), expected=tensors, found=f"{len(found.names):,} tensors")
        with torch.device("meta"):
            shapes = {name: target.shape for name, target in make().state_dict().items()}
        for name, shape in shapes.items():
            found.require(name, shape)
        model = make()
        for name, target in model.state_dict().items():
            target.copy_(found.take(name, target.shape))
        if found.left:
            raise CheckpointError(where=str(file), expected="no other tensors", found=", ".join(found.left[:3])[:200])
    return model
