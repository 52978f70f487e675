"""The end of a page: inputs with their digests, version, model and settings, as every machine and a merge has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longseq.report.page import Markup, element, named_facts, table
from longseq.results.run import Run
from longseq.results.source import SourceRow

INPUTS = 200
"""Named on the page; `files.tsv` has all."""
DIGEST = 16
"""Digits of a digest that are shown in tables; the whole stands where a reader points."""


def provenance(run: Run, sources: Sequence[SourceRow], samples: Sequence[str], request: Mapping[str, object]) -> Markup:
    """A section."""
    head = ("input", "sample", "format", "records", "letters", "digest of its records")
    rows = [
        (
            "standard input" if one.file == "-" else one.file,
            sample,
            " ".join(filter(None, (one.format, one.container if one.container != "plain" else None))) or "unreadable",
            f"{one.records:,}",
            f"{one.length:,}",
            element("span", (one.digest or "")[:DIGEST], title=one.digest),
        )
        for one, sample in zip(sources[:INPUTS], samples, strict=False)
    ]
    more = len(sources) - len(rows)
    facts = [("version", f"longseq {run.version}")]
    if run.model is not None:
        facts += [("model", run.model), ("sha256 of the model", run.model_sha256 or "")]
        facts += [("device", run.device), ("precision", run.precision)]
    settings = element(
        "details",
        element("summary", "Settings"),
        named_facts(_flat(request), "Settings of the run"),
    )
    parts = [
        element("h2", "Where this comes from"),
        table(head, rows, "Inputs"),
        *([element("p", f"… and {more:,} more, in files.tsv.", class_="facts")] if more > 0 else []),
        named_facts(facts, "What read them"),
        settings,
        element("p", "Command, time and memory of the run are in run.json.", class_="facts"),
    ]
    return Markup(element("section", *(Markup(f"{part}\n") for part in parts), id="provenance") + "\n")


def _flat(values: Mapping[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    """Settings by dotted name; what is empty is left out."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif value is not None and value != () and value != []:
            yield f"{before}{name}", _said(value)


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_said, value))
    return str(value)
