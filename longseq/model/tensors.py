"""Tensors of safetensors files, taken by name and looked at as they are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from longseq.errors import CheckpointError
from longseq.formats.paths import unicode_path

PICKLES = (b"PK\x03\x04", b"\x80")
"""What a file of `torch.save` begins with, new and old."""


class Tensors:
    """Tensors by name, of one file or of several that share them."""

    def __init__(self, where: str, files: dict[str, Any]):
        """`files`: of each name, the open file that holds it."""
        self._where, self._files = where, files
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
            CheckpointError: there is none, or one of another shape or with numbers that are not finite.
        """
        found, where = self.shape(name), f"{self._where} ({name})"
        if len(found) != len(shape) or any(b is not None and a != b for a, b in zip(found, shape, strict=True)):
            wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," * (len(shape) == 1)) + ")"
            raise CheckpointError(where=where, expected=f"shape {wanted}", found=str(found))
        tensor = self._files[name].get_tensor(name)
        if not torch.isfinite(tensor).all():
            raise CheckpointError(where=where, expected="finite numbers", found="NaN or infinity")
        self._taken.add(name)
        return tensor

    def _require(self, name: str) -> None:
        if name not in self._files:
            raise CheckpointError(where=self._where, expected=f"tensor {name}", found="none")


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
                opened = stack.enter_context(safe_open(stack.enter_context(unicode_path(file)), "pt"))
            except (OSError, SafetensorError) as error:
                raise CheckpointError(where=str(file), expected="a safetensors file", found=str(error)) from None
            found |= dict.fromkeys(opened.keys(), opened)
        yield Tensors(str(files[0] if len(files) == 1 else files[0].parent), found)


def fill(model: nn.Module, file: Path) -> None:
    """The weights of `model` from a file that holds them and no others.

    Raises:
        CheckpointError: it does not.
    """
    with open_tensors(file) as found:
        for name, target in model.state_dict().items():
            target.copy_(found.take(name, target.shape))
        if found.left:
            raise CheckpointError(where=str(file), expected="no other tensors", found=", ".join(found.left[:3]))
