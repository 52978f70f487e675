"""Found by a child of the tests as it starts: see `offline_guard.py`. Then the one that it hides has its turn."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def _load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.modules["offline_guard"] = _load("offline_guard", HERE.with_name("offline_guard.py"))  # the one that tests import
sys.modules["offline_guard"].refuse()
_others = [path for path in sys.path if Path(path or ".").resolve() != HERE]
_next = importlib.machinery.PathFinder.find_spec("sitecustomize", _others)
if _next is not None and _next.origin:
    _load("sitecustomize", _next.origin)
