"""The house: imports go strictly down, each dependency has its door, and some rooms never wake torch."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "longseq"
FLOORS = {
    **dict.fromkeys(("errors", "config", "lazy", "log", "records", "results"), 0),
    **dict.fromkeys(("formats", "tokens", "ops", "metrics", "report"), 1),
    "model": 2,
    "streaming": 3,
    "training": 4,
    "tasks": 5,
    "api": 6,
    "cli": 6,
}
DOORS = {
    "accelerate": "training",
    "Bio": "formats",
    "bokeh": "report",
    "click": "cli",
    "datasets": "training",
    "lxml": "formats",
    "matplotlib": "report",
    "pandas": "results",  # data frames, where a user has either
    "polars": "results",
    "fla": "ops",  # kernels of flash-linear-attention
    "pyarrow": "formats",
    "pypdf": "formats",
    "pypdfium2": "formats",
    "pyrodigal": "tasks",  # genes, where a user has it
    "pysam": "formats",
    "rich": None,  # the ground and whoever shows something
    "rouge_score": "metrics",
    "safetensors": None,  # weights (model) and snapshots (streaming)
    "sentencex": "tokens",
    "sklearn": "metrics",  # scikit-learn
    "tokenizers": "tokens",
    "zstandard": "formats",
}
EVERYWHERE = {"numpy", "longseq"} | set(sys.stdlib_module_names)
WITHOUT_TORCH = (
    "errors",
    "config",
    "lazy",
    "log",
    "records",
    "results",
    "formats",
    "tokens",
    "metrics",
    "report",
    "cli",
)


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def room(path):
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@functools.cache
def imports(path):
    """Every module that a file imports, wherever in the file, but for type checking."""
    return tuple(_imports(path))


def _imports(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "longseq")


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_floors_and_doors(path):
    here = room(path)
    if here == "__init__":
        return
    for name in imports(path):
        top, *rest = name.split(".")
        if top == "longseq":
            if not rest or rest[0] in ("__version__", here):
                continue
            assert FLOORS[rest[0]] <= FLOORS[here], f"{here} (floor {FLOORS[here]}) imports {name}"
            assert not any(part.startswith("_") for part in rest), f"{here} imports private {name}"
        elif top == "torch":
            assert here not in WITHOUT_TORCH or here == "cli", f"{here} imports torch"
        elif top not in EVERYWHERE:
            assert top in DOORS, f"{name} has no door"
            assert DOORS[top] in (None, here), f"{name} belongs to {DOORS[top]}"


def test_each_dependency_is_imported_in_one_module():
    for dependency in (
        "accelerate",
        "datasets",
        "fla",
        "lxml",
        "matplotlib",
        "pandas",
        "polars",
        "pyarrow",
        "pypdf",
        "pypdfium2",
        "rouge_score",
        "sentencex",
        "zstandard",
    ):
        users = [p for p in modules() if any(n.split(".")[0] == dependency for n in imports(p))]
        assert len(users) <= 1, f"{dependency}: {[str(p) for p in users]}"


@pytest.mark.parametrize("name", ["formats", "tokens", "metrics", "report", "results", "cli"])
def test_no_torch_until_it_is_needed(name):
    code = f"import sys, longseq.{name}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_are_short():
    long = {str(p.relative_to(ROOT)): n for p in modules() if (n := len(p.read_text().splitlines())) > 300}
    assert not long


def test_top_level_holds_what_was_agreed():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    agreed = {"pyproject.toml", "longseq", "pipelines", "tests", "data", "README.md", "LICENSE"}
    assert {t for p in tracked if not (t := p.split("/")[0]).startswith(".")} <= agreed


def test_no_two_test_files_share_a_name():
    """pytest imports them by name: of two it would read one."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
