"""`summary.json`: one document, or a line a record, written as they come, so that a million records are never held."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import TextIO

from longseq.formats.jsonfile import shown, to_json
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.results.run import SUMMARY_SCHEMA, Run
from longseq.results.source import SourceRow

_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


class JsonLines:
    """Each record on a line of its own, with `schema`, as soon as it is there."""

    def __init__(self, file: TextIO):
        self._file = file

    def dna(self, summary: RecordSummary) -> None:
        self._add(_dna(summary))

    def document(self, summary: DocumentSummary) -> None:
        self._add(to_json(summary.to_json(), indent=None))

    def _add(self, line: str) -> None:
        self._file.write(f'{{"schema": "{SUMMARY_SCHEMA}", {line[1:]}\n')
        self._file.flush()


class JsonRecords:
    """Records wait on disk, a line each, until the facts of the run are known; use it as a context manager.

    A file's name need not be Unicode: what UTF-8 cannot spell is written as an escape, which JSON reads back.
    """

    def __init__(self):
        self._lines = tempfile.TemporaryFile(  # noqa: SIM115 - closed by __exit__
            "w+", encoding="utf-8", errors="backslashreplace", newline="\n"
        )
        self._empty = True

    def __enter__(self) -> JsonRecords:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lines.close()

    def dna(self, summary: RecordSummary) -> None:
        self._add(_dna(summary))

    def document(self, summary: DocumentSummary) -> None:
        self._add(to_json(summary.to_json(), indent=None))

    def _add(self, line: str) -> None:
        self._lines.write(line if self._empty else ",\n" + line)
        self._empty = False

    def write(self, file: TextIO, run: Run, sources: Sequence[SourceRow]) -> None:
        """The whole document: `schema`, `run`, `files` and `records`, a line for each of the last two's items."""
        file.write(f'{{\n"schema": "{SUMMARY_SCHEMA}",\n"run": {to_json(run.to_json(), indent=None)},\n"files": [')
        lines = ",\n".join(to_json(source.to_json(), indent=None) for source in sources)
        file.write(f"\n{lines}\n" if sources else "")
        file.write('],\n"records": [' + ("" if self._empty else "\n"))
        self._lines.seek(0)
        shutil.copyfileobj(self._lines, file, 1 << 20)
        file.write("]\n}\n" if self._empty else "\n]\n}\n")


def _dna(summary: RecordSummary) -> str:
    regions = [region.to_json() for region in summary.regions]
    # plain already: the walk that `to_json` takes would be most of the work for a file of short reads
    return shown(_PLAIN({**summary.row.to_json(), "regions": regions}))
