"""What the code may not do at all: unpickle, run text as code, start a shell, talk to a network.

Read from its syntax, so that a line which no test reaches is found too.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "longseq"

SERIALISERS = ("cloudpickle", "dbm", "dill", "joblib", "jsonpickle", "marshal", "pickle", "shelve", "yaml")
NETWORKS = (
    *("aiohttp", "asyncio", "ftplib", "http", "httpx", "huggingface_hub", "imaplib", "poplib", "requests", "smtplib"),
    *("socketserver", "ssl", "telnetlib", "urllib3", "webbrowser", "websockets", "xmlrpc"),
    *("urllib.error", "urllib.request", "urllib.robotparser"),
)
RUNNERS = ("code", "codeop", "pty", "runpy", "torch.hub", "torch.package")
FORBIDDEN = (*SERIALISERS, *NETWORKS, *RUNNERS)

ONLY_IN = {
    "socket": {
        "formats/lock.py": {"gethostname"},  # who holds a lock, for people
        "tasks/shards/attempt.py": {"gethostname"},  # which machine a shard was made on
    },
    "multiprocessing": {  # a child of this very program, through a pipe that nothing else can write to
        "tasks/bench/worker.py": {"get_all_start_methods", "get_context"},
        "tasks/compare/run.py": set(),
    },
    "subprocess": {"tasks/shards/jobs.py": {"PIPE", "Popen", "STDOUT", "TimeoutExpired"}},  # --jobs: this program again
    "ctypes": {
        "formats/exchange.py": {"CDLL", "get_errno"},  # renameat2 of the C library that runs already
        "formats/pdf/pdfium.py": {"c_double", "byref"},  # numbers that PDFium fills in
        "ops/machine.py": {"CDLL"},  # mallopt of the C library that runs already
        "tasks/bench/memory.py": {"CDLL", "Structure", "c_int", "c_size_t"},  # mallinfo2 of the same
    },
}
"""Modules that could do harm: where they are imported, and what of them is used there."""
IMPORTERS = ("cli/__init__.py", "cli/merge.py", "formats/reading.py", "lazy.py")
"""Where modules are imported by a name, which a table beside it holds."""

BUILTINS = ("__import__", "breakpoint", "compile", "eval", "exec")
CALLS = (
    *("os.system", "os.popen", "os.startfile", "os.fork", "tempfile.mktemp", "torch.jit.load", "torch.export.load"),
    *("load_from_disk", "load_dataset", "load_dataset_builder", "load_state", "from_pretrained", "snapshot_download"),
    *(
        "hf_hub_download",
        "gather_object",
        "broadcast_object_list",
        "all_gather_object",
        "read_pickle",
        "load_library",
        "load_extension",
    ),
)
"""Calls by their name, or by the end of it."""


def faults(tree: ast.AST, here: str) -> Iterator[str]:
    """What of a file, by its name in the package, is refused."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            names = []
        for name in names:
            if any(name == one or name.startswith(f"{one}.") for one in FORBIDDEN):
                yield f"{node.lineno}: imports {name}"
            for module, places in ONLY_IN.items():
                if name.split(".")[0] == module and here not in places:
                    yield f"{node.lineno}: imports {name}"
            by_name = name.startswith("importlib") and name.split(".")[-1] not in ("util", "find_spec", "metadata")
            if by_name and here not in IMPORTERS:
                yield f"{node.lineno}: imports {name}"
        used = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and ONLY_IN.get(node.value.id)
        if used and node.attr not in used.get(here, ()):
            yield f"{node.lineno}: uses {ast.unparse(node)}"
        if isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {said}" for said in _of_call(node, here))


def _of_call(node: ast.Call, here: str) -> Iterator[str]:
    called = ast.unparse(node.func)
    given = {word.arg: ast.unparse(word.value) for word in node.keywords if word.arg}
    if called in BUILTINS:
        yield f"calls {called}"
    if called.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
        yield f"calls {called}"
    if any(called == name or ("." not in name and called.endswith(f".{name}")) for name in CALLS):
        yield f"calls {called}"
    if "shell" in given:
        yield f"calls {called} with shell="
    if called == "torch.load" and not (here.startswith("training/") and given.get("weights_only") == "True"):
        yield "calls torch.load, not in training/ or not with weights_only=True"
    if called in ("np.load", "numpy.load") and given.get("allow_pickle", "False") != "False":
        yield f"calls {called} with pickles"
    if called in ("subprocess.Popen", "subprocess.run") and not (node.args and isinstance(node.args[0], ast.Name)):
        yield f"calls {called} with something else than a list of words"


def test_nothing_that_input_could_run():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        here = str(path.relative_to(PACKAGE))
        found += [f"{here}:{fault}" for fault in faults(ast.parse(path.read_text(encoding="utf-8")), here)]
    assert found == []


@pytest.mark.parametrize(
    ("line", "here"),
    [
        ("import pickle", "training/a.py"),
        ("from marshal import loads", "a.py"),
        ("import torch.hub", "a.py"),
        ("from torch import hub", "a.py"),
        ("import urllib.request", "a.py"),
        ("from urllib import request", "a.py"),
        ("import socket", "formats/other.py"),
        ("import socket\nsocket.create_connection(a)", "formats/lock.py"),
        ("import subprocess", "cli/a.py"),
        ("from importlib import import_module", "cli/a.py"),
        ("import multiprocessing", "training/a.py"),
        ("eval(text)", "a.py"),
        ("os.system(name)", "a.py"),
        ("os.execv(name, [])", "a.py"),
        ("subprocess.run('a', shell=True)", "tasks/shards/jobs.py"),
        ("subprocess.Popen(f'ls {name}')", "tasks/shards/jobs.py"),
        ("torch.load(file)", "training/a.py"),
        ("torch.load(file, weights_only=False)", "training/a.py"),
        ("torch.load(file, weights_only=True)", "model/a.py"),
        ("np.load(file, allow_pickle=True)", "a.py"),
        ("tempfile.mktemp()", "a.py"),
        ("datasets.load_from_disk(a)", "training/a.py"),
        ("accelerator.load_state(a)", "training/a.py"),
        ("AutoModel.from_pretrained(a)", "model/a.py"),
        ("pandas.read_pickle(a)", "a.py"),
    ],
)
def test_each_of_them_is_found(line, here):
    assert [*faults(ast.parse(line), here)]


@pytest.mark.parametrize(
    "line",
    ["from urllib.parse import unquote", "import re\nre.compile('a')", "model.eval()", "model.load_state_dict(a)"],
)
def test_what_looks_like_it_is_not(line):
    assert not [*faults(ast.parse(line), "a.py")]
