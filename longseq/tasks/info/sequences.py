"""Sequences and documents: their records, and what their format says of them."""

from __future__ import annotations

import os
from typing import Any

from longseq.errors import InputError
from longseq.formats import read
from longseq.records import Kind, Record

LOOKED_AT, RECORDS, PAGES = 1 << 26, 500_000, 5_000
"""Letters, records, and pages of a document that are read; a larger file is described by its beginning."""
LISTED = 10
"""Records that are listed."""
_SPELLED = {
    "fasta": "FASTA", "fastq": "FASTQ", "genbank": "GenBank", "embl": "EMBL", "bam": "BAM", "cram": "CRAM",
    "sam": "SAM", "gff3": "GFF3 with its sequences", "text": "plain text", "markdown": "Markdown",
    "rst": "reStructuredText", "html": "HTML", "pdf": "PDF", "docx": "DOCX", "epub": "EPUB", "jats": "JATS",
    "jsonl": "JSON lines", "csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "arrow": "Arrow",
}  # fmt: skip


def facts(path: str, kind: Kind | None, column: str | None) -> dict[str, Any]:
    """Of anything that `longseq.read` opens.

    Raises:
        InputError: it cannot be opened.
    """
    with read(path, kind=kind, text=column) as reading:
        listed: list[dict[str, Any]] = []
        records = letters = 0
        whole, problem = True, None
        paged: dict[str, Any] = {}
        for record in reading:
            records += 1
            length = 0
            try:
                for piece in record.pieces:
                    length += len(piece)
                    if letters + length >= LOOKED_AT or _turned(record) > PAGES:
                        whole = False
                        break
            except InputError as error:
                problem = problem or str(error)
            letters += length
            paged = _pages(record) or paged
            if len(listed) < LISTED:
                told = {"id": record.id, "description": record.description, "length": length if whole else None}
                listed.append({**told, "topology": record.topology, "notes": dict(record.notes)})
            whole = whole and records < RECORDS
            if not whole:
                break
        said = "sequences of DNA" if reading.kind == "dna" else "a document" if records == 1 else "documents"
        name = _SPELLED.get(reading.format.name, reading.format.name)
        return {
            "what": reading.kind,
            "is": f"{said} ({name})",
            "path": path,
            "format": reading.format.name,
            "container": reading.container,
            "bytes": reading.size,
            "whole": whole,
            "records": records,
            "letters": letters,
            **paged,
            "truncated": reading.truncated,
            "problem": problem,
            "indexed": os.path.exists(f"{path}.fai") if reading.format.name == "fasta" else None,
            "first": listed,
        }


def _turned(record: Record) -> int:
    """Pages read so far."""
    return 0 if record.layout is None else len(record.layout.pages) + len(record.layout.unread)


def _pages(record: Record) -> dict[str, Any]:
    """Of a document that has pages: how many, and of which there is no text."""
    layout = record.layout
    if layout is None or not layout.pages_total:
        return {}
    without = [page.number for page in layout.unread]
    return {"pages": layout.pages_total, "pages_with_text": layout.pages_total - len(without), "without_text": without}
