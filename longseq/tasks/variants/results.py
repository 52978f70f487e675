"""Answers as a VCF, a table, or JSON."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from longseq.errors import InputError, OutputExistsError, StateError, UsageError, printable
from longseq.formats.atomic import free_file, write_aside
from longseq.formats.jsonfile import to_json
from longseq.formats.paths import hidden, spelled
from longseq.formats.tsv import TsvWriter
from longseq.formats.vcf import VcfFile
from longseq.formats.vcf_writer import LineWriter, complete, indexes, is_packed, vcf_output
from longseq.results.run import Run
from longseq.tasks.variants.alleles import REASONS
from longseq.tasks.variants.answers import AlleleScore, Answer, VariantAnswers

SCHEMA = "longseq.variants/1"
COLUMNS = ("record", "position", "id", "ref", "alt", "llr", "llr_forward", "llr_reverse", "changed", "reason")
RATIO, CHANGED, REASON = FIELDS = ("LONGSEQ_LLR", "LONGSEQ_CHANGED", "LONGSEQ_REASON")
_CONTIG = re.compile(r"##contig=<(?:.*?,)?ID=([^,>]+)")
SETTINGS, COMMAND = "##longseq_score=", "##longseq_command="


def free_output(out: str, *, force: bool) -> None:
    """Look whether a result can be written to `out`, before the work.

    Raises:
        UsageError, OutputExistsError: it cannot.
    """
    if not (is_packed(out) or out.endswith((".vcf", ".tsv"))):
        raise UsageError(
            where=out,
            expected="a name that ends in .vcf, .vcf.gz or .tsv",
            found=repr(Path(out).suffix or Path(out).name),
            remedy="the ending says what is written",
        )
    free_file(out, force=force)
    for file in indexes(out):
        free_file(file, force=force, given=False)


def finished(run: VariantAnswers, out: str) -> bool:
    """Whether `out` is the whole result of this very request, as a run finds it that is resumed once too often.

    Raises:
        OutputExistsError: it is something else.
    """
    if not os.path.exists(out):
        return False
    try:
        with VcfFile(out) as table:
            settings = [line for line in table.header if line.startswith(SETTINGS)]
    except InputError:
        settings = []
    if settings[-1:] == [_settings_line(run)]:
        return True
    raise OutputExistsError(
        "exists already, and is not known to be the result of this request",
        where=out,
        remedy="give another name, or --force to replace it",
    )


def settle(run: VariantAnswers, out: str) -> None:
    """What a run that was killed behind its last row did not come to: the index, and to take its working file away."""
    complete(out)
    place = Path(out).resolve()
    if hidden(place, ".partial").exists():
        with suppress(OutputExistsError, StateError):  # another run's
            run.scores.open(place, run.settings(), resume=True, force=False)
            run.scores.close(keep=False)


def write(run: VariantAnswers, out: str, *, command: str, force: bool) -> None:
    """The result at `out`, by its ending: .vcf, .vcf.gz with an index beside it, or .tsv."""
    if out.endswith(".tsv"):
        with write_aside(out, force=force) as aside:
            with open(aside, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                write_table(run, file)
        return
    with vcf_output(out, force=force) as writer:
        _vcf(run, writer, command)


def write_vcf(run: VariantAnswers, file: BinaryIO, *, command: str) -> None:
    """The rows as they were read, with three fields more in INFO, and the header lines that these need."""
    _vcf(run, LineWriter(file.write), command)


def write_table(run: VariantAnswers, file: TextIO) -> None:
    """A line an allele."""
    writer = TsvWriter(file, COLUMNS)
    for answer in run.answers():
        for allele in answer.alleles:
            writer.write(allele_row(answer, allele))


def write_json(run: VariantAnswers, file: TextIO, provenance: Run) -> None:
    """One document: `schema`, `run`, `settings`, `names`, `variants`; an allele a line, and last the `files`."""
    facts = {"run": provenance.to_json(), "settings": run.settings(), "names": run.names}
    file.write(f'{{\n"schema": "{SCHEMA}",\n')
    for name, value in facts.items():
        file.write(f'"{name}": {to_json(value, indent=None)},\n')
    file.write('"variants": [')
    first = True
    for answer in run.answers():
        for allele in answer.alleles:
            file.write(("\n" if first else ",\n") + to_json(allele_row(answer, allele), indent=None))
            first = False
    sources = [source.to_json() for source in run.sources]
    file.write(f'\n],\n"files": {to_json(sources, indent=None)}\n}}\n')


def allele_row(answer: Answer, allele: AlleleScore) -> dict[str, Any]:
    variant = answer.row.variant
    return {
        "record": variant.record,
        "position": variant.start + 1,
        "id": None if variant.id == "." else variant.id,
        "ref": variant.ref,
        "alt": allele.alt,
        "llr": allele.llr,
        "llr_forward": allele.forward,
        "llr_reverse": allele.reverse,
        "changed": allele.changed if allele.llr is not None else None,
        "reason": allele.reason,
    }


def _vcf(run: VariantAnswers, writer: LineWriter, command: str) -> None:
    writer.header(_header(run, command))
    for answer in run.answers():
        cells = list(answer.row.cells)
        cells[7] = _info(cells[7], answer.alleles)
        writer.row(cells)


def _header(run: VariantAnswers, command: str) -> Iterator[str]:
    """The table's own lines, those of contigs it does not declare, of our fields, and where they come from."""
    ours = (*(f"##INFO=<ID={name}," for name in FIELDS), SETTINGS, COMMAND)
    kept = [line for line in run.table.header if not line.startswith(ours)]
    if not any(line.startswith("##fileformat=") for line in kept):
        kept.insert(0, "##fileformat=VCFv4.2")
    yield from kept
    declared = {found[1] for line in kept if (found := _CONTIG.match(line))}
    for name in run.records:
        if name not in declared:
            known = run.names.get(name)
            length = "" if known is None else f",length={run.reference.length(known)}"
            yield f"##contig=<ID={name}{length}>"
    context = f"{run.request.context} bases of the reference on either side"
    yield _field(
        RATIO,
        "A",
        "Float",
        "log-likelihood ratio, alternative minus reference, in nats, mean of both strands; "
        f"each allele with {context}, counted from the allele to the end of the window",
    )
    yield _field(
        CHANGED,
        "A",
        "Integer",
        "bases of the longer of REF and the allele without those that both share at their ends; "
        "divide by it to compare changes of several bases with one another",
    )
    reasons = "; ".join(f"{name}: {text}" for name, text in REASONS.items())
    yield _field(REASON, ".", "String", f"an allele each, . where there is nothing to say; {reasons}")
    yield _settings_line(run)
    yield COMMAND + spelled(printable(command).replace("\n", " "))
    yield run.table.columns


def _field(name: str, number: str, kind: str, text: str) -> str:
    return f'##INFO=<ID={name},Number={number},Type={kind},Description="{text}">'


def _settings_line(run: VariantAnswers) -> str:
    return SETTINGS + json.dumps(run.settings())


def _info(info: str, alleles: tuple[AlleleScore, ...]) -> str:
    """The field INFO with ours behind what was there."""
    kept = [item for item in info.split(";") if item not in ("", ".") and item.partition("=")[0] not in FIELDS]
    if any(allele.llr is not None for allele in alleles):
        kept.append(f"{RATIO}=" + ",".join(_number(allele.llr) for allele in alleles))
        kept.append(f"{CHANGED}=" + ",".join("." if a.llr is None else str(a.changed) for a in alleles))
    if any(allele.reason for allele in alleles):
        kept.append(f"{REASON}=" + ",".join(allele.reason or "." for allele in alleles))
    return ";".join(kept) or "."


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "."
    return f"{value:.6g}"
