"""`longseq.score`, of records, and `longseq.score_variants`."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from longseq.api.models import Named, Path, Several, asked, inputs_of, opened
from longseq.api.results import Results, Walk
from longseq.log import NullProgress, Progress, count
from longseq.report.frame import Table
from longseq.tasks.variants.answers import Answer

if TYPE_CHECKING:
    from longseq.tasks.score.request import Request
    from longseq.tasks.summarize.model import LoadedModel


class RecordScore(NamedTuple):
    """What one strand of a record costs under a model."""

    file: str
    record: str
    strand: str
    """`+`, or `-` for the reverse complement."""
    start: int
    """First base, 0-based."""
    end: int
    length: int
    """Bases read."""
    tokens: int
    """Of these, A, C, G and T: those that are scored."""
    bits: float
    """Of all of them together."""
    bits_per_token: float | None
    """None where there is none."""
    order2: float | None
    """Bits a base of an adaptive Markov model that knows nothing but the record, with two bases of context."""
    order6: float | None
    """The same with six."""
    truncated: bool
    """The file ended inside the record."""


class Scores(Results[RecordScore]):
    """Bits of records under a model, a row a strand, in input order. All are read before the first is given; they wait
    on disk."""

    @property
    def table(self) -> Table:
        """By the fields of `RecordScore`, which are the columns of `scores.tsv`."""
        kinds = {"file": "string", "record": "string", "strand": "string", "truncated": "bool"}
        kinds |= dict.fromkeys(("start", "end", "length", "tokens"), "int64")
        types = {name: kinds.get(name, "float64") for name in RecordScore._fields}
        return Table.of_rows(count(len(self), "strand"), types, (one._asdict() for one in self))


def score(
    *inputs: Path,
    model: Named = "dna",
    strands: Literal["forward", "both"] = "forward",
    region: Several = (),
    alias: Path | None = None,
    strict: bool = False,
    on_unknown: Literal["error", "N"] = "error",
    precision: Literal["fp32", "bf16"] = "fp32",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """How well a model foresees each record, in bits, beside Markov models, as `longseq score` says it.

        longseq.score("genomes/", model="run/model").to_pandas()

    Args:
        inputs: Files of sequences, folders, patterns, or "-" for standard input.
        model: That reads DNA: a name, a directory or a `Checkpoint`, which says the device.
        strands: Score the reverse complement as well, in a row of its own.
        region, alias, strict, on_unknown, precision, chunk, progress: As in `longseq.summarize`.

    Returns:
        The scores, not read yet: see `Results` for when they are.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint of a language model of DNA. UsageError, ConfigError: an
            argument that cannot be. InputError: no such folder or pattern.
    """
    from longseq.tasks.score.request import Request
    from longseq.tasks.summarize.model import ready

    plain = asked(region, alias, strict=strict, on_unknown=on_unknown)
    request = Request(inputs=inputs_of(inputs), strands=strands, **plain)
    loaded = ready(opened(model), precision=precision, chunk=chunk)
    return Scores(partial(_walk, request, loaded, progress or NullProgress()))


def _walk(request: Request, model: LoadedModel, progress: Progress) -> Walk[RecordScore]:
    from longseq.tasks.score.run import scored

    with scored(request, model, progress=progress) as result:
        for row in result.rows():
            yield RecordScore(**row)
        return result.sources


class VariantScores(Results[Answer]):
    """Rows of a table of variants, each with its alleles, in its order."""

    @property
    def table(self) -> Table:
        """A row an allele: record, position (1-based, as in VCF), id, ref, alt, llr in nats (mean of both strands, then
        of each), bases changed, and the reason why there is no number."""
        from longseq.tasks.variants.results import COLUMNS, allele_row

        kinds = {
            "position": "int64",
            "changed": "int64",
            **dict.fromkeys(("llr", "llr_forward", "llr_reverse"), "float64"),
        }
        rows = [allele_row(answer, allele) for answer in self for allele in answer.alleles]
        return Table.of_rows(count(len(rows), "allele"), {name: kinds.get(name, "string") for name in COLUMNS}, rows)


def score_variants(
    variants: Path,
    reference: Path,
    *,
    model: Named = "dna",
    alias: Path | None = None,
    context: int = 500,
    longest_allele: int = 1000,
    on_unknown: Literal["error", "N"] = "error",
    precision: Literal["fp32", "bf16"] = "fp32",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> VariantScores:
    """How much less likely a sequence is with each alternative allele in the place of the reference, as
    `longseq score --reference` says it: log-likelihood ratios in nats, mean of both strands.

        longseq.score_variants("variants.vcf.gz", "genome.fa.gz").to_pandas()

    Each allele is read with `context` bases of the reference on either side. The ratio counts the allele and all that
    follows it in the window, since what follows is read in the light of the allele.

    Args:
        variants: VCF or BCF, or "-" for standard input.
        reference: A file of sequences.
        model: That reads DNA: a name, a directory or a `Checkpoint`, which says the device.
        alias: A file of two names of one record a line.
        context: Bases on either side of an allele.
        longest_allele: Bases up to which one is scored.
        on_unknown, precision, chunk, progress: As in `longseq.summarize`.

    Returns:
        The rows, not read yet: see `Results` for when they are. Windows that several alleles share are read once.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint of a language model of DNA. UsageError, ConfigError: an
            argument that cannot be. From what reads, InputError: a file that cannot be read, or names that do not
            belong together.
    """
    from longseq.tasks.summarize.model import ready
    from longseq.tasks.variants.request import VariantRequest
    from longseq.tasks.variants.run import score_variants

    given: dict[str, Any] = {
        "variants": os.fspath(variants),
        "reference": os.fspath(reference),
        "alias": asked((), alias)["alias"],
        "context": context,
        "longest": longest_allele,
        "on_unknown": on_unknown,
    }
    VariantRequest(**given)  # what cannot be is said now, not when it is read
    loaded = ready(opened(model), precision=precision, chunk=chunk)
    return VariantScores(partial(score_variants, **given, model=loaded, progress=progress))
