"""What a run of many files leaves for other tools: `files.tsv`, `longseq_mqc.json`, `run.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from longseq.formats.jsonfile import to_json
from longseq.report import files_table, multiqc
from longseq.results.run import RUN_SCHEMA, Run
from longseq.results.source import SourceRow

FILES = (files_table.FILE, multiqc.FILE, "run.json")
SAMPLED = "Only a sample of the records was read: columns of lengths are of all of them, other figures of the sample."
NAMED = ("file", "kind", "format", "container", "records", "length", "digest", "truncated", "failed", "errors")


def write_sheets(
    folder: Path, run: Run, sources: Sequence[SourceRow], samples: Sequence[str], request: Mapping[str, object]
) -> None:
    """Write the three into an existing folder; `request` is what was asked for, in plain types.

    `run.json` names no machine and no user: version, model, device, command, request, cost, and each input.
    """
    with _open(folder / files_table.FILE) as file:
        files_table.write_files(file, sources, samples)
    sampled = any(source.totals is not None and source.totals.sampled is not None for source in sources)
    table = multiqc.multiqc_table(sources, samples, SAMPLED if sampled else "")
    if table is not None:
        _write(folder / multiqc.FILE, table)
    files = [
        {"sample": sample} | {name: getattr(source, name) for name in NAMED}
        for source, sample in zip(sources, samples, strict=True)
    ]
    note = {"note": SAMPLED} if sampled else {}
    _write(folder / "run.json", {"schema": RUN_SCHEMA, **run.to_json(), **note, "request": request, "files": files})


def _write(path: Path, document: object) -> None:
    with _open(path) as file:
        file.write(to_json(document) + "\n")


def _open(path: Path) -> TextIO:
    """A file's name need not be Unicode: what UTF-8 cannot spell is an escape, which JSON reads back."""
    return open(path, "w", encoding="utf-8", errors="backslashreplace")
