"""A user's program, typed: mypy checks it as strictly as it can, and never runs it."""

from pathlib import Path

import longseq


def gc(genome: Path) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for one in longseq.summarize(genome, model=None, region=["chr1:1-5000", "chr2"]):
        if isinstance(one, longseq.RecordSummary):
            found[one.row.id] = one.row.gc
    return found


def quoted(paper: str) -> list[str]:
    (one,) = longseq.summarize(paper, words=200, query="Who paid?")[:1]
    return [row.text for row in one.sentences] if isinstance(one, longseq.DocumentSummary) else []


def vectors(genome: str, model: longseq.Checkpoint) -> tuple[int, ...]:
    return longseq.embed(genome, model=model, window=5000).vectors.shape


def ends(genome: str) -> list[float]:
    checkpoint: longseq.Checkpoint = longseq.load("dna")
    last = []
    for record in longseq.read(genome):
        stream: longseq.Stream = longseq.stream(checkpoint, record)
        for passage in stream:
            last.append(float(passage.hidden[-1, 0]))
        stream.save(Path("record.state"), force=True)
    return last


def genes(genome: str) -> list[tuple[str, int, str]]:
    found = longseq.annotate(genome, genes=True)
    return [(one.record, at.end - at.start, at.strand) for one in found for at in one.features]


def bits(genome: str) -> float:
    return sum(one.bits for one in longseq.score(genome, strands="both"))


def labels(inbox: str, model: str) -> dict[str, str | None]:
    return {one.record: one.label for one in longseq.classify(inbox, model=model)}


def ratios(table: str, genome: str) -> list[float | None]:
    return [allele.llr for one in longseq.score_variants(table, genome) for allele in one.alleles]


def failed(results: longseq.Results[longseq.RecordScore]) -> list[str]:
    return [line for source in results.sources for line in source.problems]
