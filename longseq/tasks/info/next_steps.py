"""What can be done with a path next, as a line for a shell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

Facts = dict[str, Any]


def what_next(facts: Facts) -> str | None:
    """A command that takes what the facts are of; names in capitals are to be filled in. None where there is none."""
    step = _STEPS.get(facts["what"])
    if step is None or facts.get("path") == "-":
        return None
    return step if isinstance(step, str) else step(facts, shlex.quote(str(facts.get("path"))))


def _summarize(facts: Facts, path: str) -> str:
    return f"longseq summarize {path}"


def _checkpoint(facts: Facts, path: str) -> str:
    task = (facts["head"] or {}).get("task")
    name = facts["path"] if Path(facts["path"]).parent.name != "pretrained" else Path(facts["path"]).name
    model = shlex.quote(str(name))
    if task in ("classify", "multilabel", "regress"):
        return f"longseq classify INPUT --model {model}"
    if task == "annotate":
        genes = " --genes" if any(label.startswith("CDS") for label in facts["labels"] or ()) else ""
        return f"longseq annotate INPUT{genes} --model {model} --out DIR"
    if task == "embed":
        return f"longseq embed INPUT --model {model} --out vectors.parquet"
    return f"longseq check {model}"


def _run(facts: Facts, path: str) -> str:
    return f"longseq info {shlex.quote(facts['model'])}" if facts["model"] else f"longseq train --resume --out {path}"


def _state(facts: Facts, path: str) -> str:
    return f"longseq generate --model MODEL --state {path}"


def _batch(facts: Facts, path: str) -> str:
    again = facts["run_again"]
    if again is None:
        return f"longseq merge {path} --out WHOLE" if not facts["running"] else f"longseq info {path}"
    first = again.replace("-", ",").split(",")[0]
    return f"longseq {facts['command'] or 'summarize'} INPUT... --shard {first}/{facts['shards']} --out {path}"


def _shard(facts: Facts, path: str) -> str | None:
    if "problem" in facts:
        return None
    return f"longseq merge {shlex.quote(str(Path(facts['path']).parent))} --out WHOLE"


def _page(facts: Facts, path: str) -> str | None:
    """The page beside a document, or in its folder."""
    folder = Path(facts["path"])
    folder = folder if folder.is_dir() else folder.parent
    pages = (folder / f"{name}.html" for name in ("report", facts["what"]))
    found = next((page for page in pages if page.is_file()), None)
    return None if found is None else f"python -m webbrowser {shlex.quote(str(found))}"


def _summary(facts: Facts, path: str) -> str | None:
    if (page := _page(facts, path)) is not None:
        return page
    folder = Path(facts["path"])
    folder = folder if folder.is_dir() else folder.parent
    if facts.get("kinds") == ["dna"]:
        return f"less -S {shlex.quote(str(folder / 'sequences.tsv'))}"
    return f"longseq verify {path} SOURCE"


def _plan(facts: Facts, path: str) -> str:
    folder = shlex.quote(str(Path(facts["path"]).parent))
    return f"longseq summarize INPUT... --shard 1/{facts.get('shards', 'N')} --out {folder}"


def _settings(facts: Facts, path: str) -> str | None:
    takes = "for" in facts and "problem" not in facts
    return f"longseq train --config {path} --out RUN --dry-run" if takes else None


def _table(facts: Facts, path: str) -> str:
    how = {"tsv": "table"}.get(facts["format"], facts["format"])
    return "python -c " + shlex.quote(f"import pandas; print(pandas.read_{how}({_literal(facts)}))")


def _array(facts: Facts, path: str) -> str:
    return "python -c " + shlex.quote(f"import numpy; print(numpy.load({_literal(facts)}))")


def _literal(facts: Facts) -> str:
    """The path in a line of Python: a JSON string is one, with the quotes that shells leave alone."""
    return json.dumps(facts["path"], ensure_ascii=False)


def _intervals(facts: Facts, path: str) -> str:
    return f"longseq train GENOME --labels {path} --out RUN"


def _variants(facts: Facts, path: str) -> str:
    return f"longseq score {path} --reference GENOME --out SCORED.vcf.gz"


def _tokenizer(facts: Facts, path: str) -> str:
    return f"longseq tokenizer show {path} TEXT"


def _folder(facts: Facts, path: str) -> str | None:
    return f"longseq summarize {path} --out DIR" if facts["kinds"] else None


def _conversion(facts: Facts, path: str) -> str | None:
    return facts["go_on"] if "go_on" in facts else _page(facts, path)


_STEPS: dict[str, str | Callable[[Facts, str], str | None]] = {
    "array": _array,
    "attention": _page,
    "batch": _batch,
    "bench": _page,
    "check": _page,
    "checkpoint": _checkpoint,
    "compare": _page,
    "conversion": _conversion,
    "dna": _summarize,
    "document": _summarize,
    "folder": _folder,
    "intervals": _intervals,
    "origin": _page,
    "plan": _plan,
    "run": _run,
    "settings": _settings,
    "shard": _shard,
    "state": _state,
    "summary": _summary,
    "table": _table,
    "tokenizer": _tokenizer,
    "track": "open it beside its sequences in a genome browser, such as IGV",
    "variants": _variants,
}
