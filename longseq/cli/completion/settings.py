"""Keys that `--set` takes, read from the sources of the configuration: importing them would wake torch, and Tab should
not wait for it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import longseq

ROOT = Path(longseq.__file__).parent
OF = {
    "bench": ("longseq.tasks.bench.config", "BenchConfig"),
    "check": ("longseq.tasks.check.subject", "_Settings"),
    "compare": ("longseq.tasks.compare.config", "CompareConfig"),
    "convert": ("longseq.tasks.convert.settings", "Settings"),
    "convert --open-memory": ("longseq.tasks.convert.settings", "OpeningSettings"),
    "train": ("longseq.training.config.run", "TrainConfig"),
    "train --task extract": ("longseq.tasks.extract.config", "ExtractConfig"),
}
"""Module and dataclass of the settings, by command."""


@dataclass(frozen=True)
class Setting:
    """A field that is no table."""

    help: str
    """The first sentence of its docstring."""
    choices: tuple[str, ...] = ()
    """What it may be, where that can be listed."""


@functools.cache
def fields(command: str) -> dict[str, Setting]:
    """By dotted key, in order; none of a command that has no settings."""
    return dict(_fields(*OF[command], "")) if command in OF else {}


def shipped() -> list[str]:
    """Names of the checkpoints that come with the package."""
    return sorted(file.parent.name for file in (ROOT / "model" / "pretrained").glob("*/config.json"))


def mixers() -> list[str]:
    return _keys("longseq.model.mixers", "MIXERS")


def references() -> list[str]:
    return _keys("longseq.tasks.bench.references", "REFERENCES")


def compared() -> list[str]:
    """Tasks of a comparison."""
    from longseq.results.compare import ADDITION, BASES

    return [ADDITION, BASES]


def feature_maps() -> list[str]:
    return _keys("longseq.ops.feature_maps", "FEATURE_MAPS")


@functools.cache
def _source(module: str) -> tuple[ast.Module, dict[str, tuple[str, str]]]:
    """Its tree, and the names that it imports from us: module and name there."""
    path = ROOT.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "longseq"
        for alias in node.names
    }
    return tree, imported


def _class(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """A class by its name in a module, and the module that defines it."""
    tree, imported = _source(module)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
    return _class(*imported[name]) if name in imported else None


def _fields(module: str, name: str, before: str) -> Iterator[tuple[str, Setting]]:
    found = _class(module, name)
    if found is None:
        return
    module, node = found
    for base in node.bases:
        yield from _fields(module, ast.unparse(base), before)
    for statement, behind in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        key = before + statement.target.id
        inner = dict(_fields(module, ast.unparse(statement.annotation), f"{key}."))
        if inner:
            yield from inner.items()
            continue
        said = isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant) and str(behind.value.value)
        yield key, Setting(_sentence(said or ""), tuple(_choices(module, statement)))


def _choices(module: str, field: ast.AnnAssign) -> Iterator[str]:
    hint = _assigned(module, ast.unparse(field.annotation)) or field.annotation
    if ast.unparse(hint) == "bool":
        yield from ("true", "false")
    elif ast.unparse(field.target) in ("feature_map", "map"):
        yield from feature_maps()
    for node in ast.walk(hint):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
            yield from (str(one.value) for one in ast.walk(node.slice) if isinstance(one, ast.Constant))


def _sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")


def _keys(module: str, name: str) -> list[str]:
    """Of a dictionary that a module holds by that name; those that are words."""
    value = _assigned(module, name)
    keys = value.keys if isinstance(value, ast.Dict) else []
    return [str(key.value) for key in keys if isinstance(key, ast.Constant)]


def _assigned(module: str, name: str) -> ast.expr | None:
    """What a module gives that name to."""
    for node in _source(module)[0].body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if name in map(ast.unparse, targets):
                return node.value
    return None
