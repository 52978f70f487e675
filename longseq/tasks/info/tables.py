"""Tables: variants, intervals, columns."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from longseq.formats.containers import Container
from longseq.formats.detect import INTERVALS
from longseq.formats.known import CSV, TSV, Format, by_suffix, document_name
from longseq.formats.tabular import open_rows

T = TypeVar("T")

ROWS = 1_000_000
"""Rows that are read; a longer table is described by its beginning."""
LISTED = 10
"""Names that are listed."""
_INTERVALS = (".bed", ".gff", ".gff3", ".gtf", ".bedgraph")


def facts(path: str, sample: bytes, container: Container) -> dict[str, Any] | None:
    """Of a file that begins with `sample`; None where it is none of these."""
    text = sample.removeprefix(b"\xef\xbb\xbf")
    base = {"path": path, "container": container, "bytes": Path(path).stat().st_size}
    if sample.startswith(b"BCF\2") or text.startswith((b"##fileformat=VCF", b"#CHROM\tPOS\t")):
        return {"what": "variants", **_variants(path), **base, "indexed": _indexed(path)}
    if sample.startswith((b"PAR1", b"ARROW1\0\0")):
        return _columns(path, base)
    if (format := by_suffix(path)) in (CSV, TSV):
        return _cells(path, base, format)
    if _is_intervals(path, text):
        return {"what": "intervals", **_intervals(path), **base, "indexed": _indexed(path)}
    return None


def _indexed(path: str) -> bool:
    return any(os.path.exists(path + suffix) for suffix in (".tbi", ".csi"))


def _is_intervals(path: str, text: bytes) -> bool:
    if b"\n##FASTA" in text or text.startswith(b">"):
        return False  # sequences
    if Path(document_name(path)).suffix.lower() in _INTERVALS:
        return True
    lines = [line for line in text.splitlines()[:50] if line.strip() and not line.startswith((b"#", b"track"))]
    return text.startswith(b"##gff-version") or any(
        bool(lines) and all(pattern.fullmatch(line) for line in lines[:10]) for pattern in INTERVALS.values()
    )


def _variants(path: str) -> dict[str, Any]:
    from longseq.formats.vcf import VcfFile

    with VcfFile(path) as file:
        records: Counter[str] = Counter()
        alleles = 0
        whole = True
        for row in _some(file.rows()):
            if row is None:
                whole = False
                break
            records[row.variant.record] += 1
            alleles += len(row.variant.alts)
        said = next((line for line in file.header if line.startswith("##fileformat=")), "##fileformat=VCF")
        samples = max(len(file.columns.split("\t")) - 9, 0)
        return {
            "is": f"variants ({'BCF, ' if file.binary else ''}{said.partition('=')[2]})",
            "rows": sum(records.values()),
            "alleles": alleles,
            "whole": whole,
            "truncated": file.truncated,
            "samples": samples,
            "records": _named(records),
            "scored": any("ID=LONGSEQ_LLR," in line for line in file.header),
        }


def _intervals(path: str) -> dict[str, Any]:
    from longseq.formats.features import read_features

    records: Counter[str] = Counter()
    names: Counter[str] = Counter()
    bases, whole = 0, True
    for feature in _some(read_features(path)):
        if feature is None:
            whole = False
            break
        records[feature.interval.record] += 1
        names[feature.name] += 1
        bases += len(feature.interval)
    suffix = Path(document_name(path)).suffix.lower()
    said = {".bed": "BED", ".gff": "GFF", ".gff3": "GFF3", ".gtf": "GTF"}.get(suffix)
    return {
        "is": f"intervals ({said})" if said else "intervals",
        "rows": sum(records.values()),
        "bases": bases,
        "whole": whole,
        "records": _named(records),
        "names": _named(names) if len(names) < sum(records.values()) else None,
    }


def _columns(path: str, base: dict[str, Any]) -> dict[str, Any] | None:
    """Of Parquet and Arrow whose rows hold no text; those that do are sequences or documents."""
    rows = open_rows(path)
    if "vector" not in rows.columns and rows.text() is not None:
        return None
    from longseq.formats.parquet import columns_of

    number, columns = columns_of(path)
    said = "vectors" if "vector" in columns else "a table of columns"
    known = {"what": "table", "is": f"{said} (Parquet or Arrow)", "format": "parquet"}
    return known | base | {"rows": number, "columns": columns}


def _cells(path: str, base: dict[str, Any], format: Format) -> dict[str, Any] | None:
    """Of CSV and TSV whose rows hold no text."""
    rows = open_rows(path)
    try:
        if rows.text() is not None:
            return None
        seen = [row is not None for row in _some(rows.walk(()))]
    finally:
        rows.stream.close()
    known = {"what": "table", "is": f"a table ({format.name.upper()})", "format": format.name, **base}
    return known | {"rows": sum(seen), "whole": all(seen), "columns": list(rows.columns)}


def _some(rows: Iterable[T]) -> Iterator[T | None]:
    """The first `ROWS`, and None where there are more."""
    for number, row in enumerate(rows):
        if number == ROWS:
            yield None
            return
        yield row


def _named(counts: Counter[str]) -> dict[str, int]:
    """The most frequent ones, and how many others there are."""
    found = {_printable(name): number for name, number in counts.most_common(LISTED)}
    if len(counts) > LISTED:
        found[f"and {len(counts) - LISTED:,} others"] = sum(counts.values()) - sum(found.values())
    return found


def _printable(name: str) -> str:
    return re.sub(r"[\ud800-\udfff]", "?", name)
