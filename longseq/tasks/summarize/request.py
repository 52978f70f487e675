"""What is wanted of the inputs of `summarize`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from longseq.config import require, to_mapping
from longseq.formats.letters import OnUnknown
from longseq.records import Interval, Kind
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.summarize.dna import WINDOW, Strands


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is wanted of each input."""

    kind: Kind | None = None
    """Overrides what the content says."""
    column: str | None = None
    """Column of tables that holds the texts."""
    on_unknown: OnUnknown = "error"
    """A letter that is no DNA letter raises, or is read as N."""
    regions: tuple[Interval, ...] = ()
    """Only these stretches, each of the first record of that name in each input, in the order given."""
    alias: tuple[tuple[str, str], ...] = ()
    """Pairs of names of one record, of which a region may have the other one."""
    strict: bool = False
    """A region that ends past the end of its record is an error, not cut there."""
    min_contig: int = 0
    """Records of DNA with fewer letters are left out, and counted."""
    sample_fraction: float = 1.0
    """Share of the records of DNA whose letters are read; of the others only the length is found."""
    seed: int = 0
    """Of the sample."""
    window: int = WINDOW
    """Bases a window; 0 for none."""
    strands: Strands = "both"
    """With a model."""
    top: int = 5
    """Most surprising windows kept a record."""
    documents: DocumentRequest = field(default_factory=DocumentRequest)
    """What is wanted of documents."""

    def __post_init__(self):
        whole = not self.regions or self.sample_fraction == 1
        require(whole, "sample_fraction", self.sample_fraction, "1 with regions, which are read in any case")


def options_of(request: Request) -> dict[str, Any]:
    """How inputs are opened: for `formats.read`."""
    return {"kind": request.kind, "text": request.column, "on_unknown": request.on_unknown}


def plain_request(request: Request) -> dict[str, Any]:
    """All of it in plain types; a trained extractor is what it calls itself."""
    judge = request.documents.extractor
    plain = to_mapping(replace(request, documents=replace(request.documents, extractor=None)))
    plain["documents"]["extractor"] = None if judge is None else judge.described
    return plain
