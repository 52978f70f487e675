"""Names of a package that are fetched when they are first used, so that importing it costs nothing (PEP 562)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping


def fetching(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: a name from the module below it that `homes` has for it.

    Raises:
        AttributeError: from what is given, for a name that is not among them.
    """

    def fetch(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(homes)}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return fetch
