"""Variants: a real table answered row by row, what it costs, and whether scores know what a change does to a gene.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/variants.py --model dna

`table`: S. aureus NCTC 8325 against RN4220, 109 rows. Scoring is timed beside one forward of the model over the
distinct windows, in batches of 32 of one length (nothing is padded; faster than all at once), by turns, threads alike;
medians.

`genes`: simulated single substitutions in complete, non-pseudo CDS of Leptospira contigs that are held out (every fifth
by length, from the second). Nothing here is learned from those; whether the model was is a matter of its card. A triple
is a synonymous, a missense and a nonsense change of one gene and one codon position, first or third; in the second
design of one change of base too, since stops are rich in A and T and so is the genome. A third of the genes (seeded)
choose the order of the Markov ratio and the context of the model; on the others all is scored once. The Markov ratio is
by counts of the other contigs, both strands. Intervals: 95 %, 2,000 resamples of genes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from provenance import provenance
from substitutions import (
    DESIGNS,
    KINDS,
    Genome,
    figures,
    genome,
    markov_ratios,
    resampled,
    separation,
    triples,
    write_vcf,
)

from longseq.formats.atomic import write_aside
from longseq.formats.genetic_code import genetic_code
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.log import LineProgress
from longseq.records import reverse_complement
from longseq.tasks.summarize.model import LoadedModel, load_model
from longseq.tasks.variants import VariantRequest, VariantRun
from longseq.tasks.variants.alleles import alleles
from longseq.tasks.variants.kept import Kept

VCF, FASTA = "Saureus_NCTC8325_vs_RN4220.vcf.gz", "Saureus_NCTC8325.fasta.gz"
GENOME = "Lkirschneri_H1.gbk.gz"
SEED = 0
YARDSTICKS = ("model", "Markov")
BATCH = 32
"""Windows of one call that scoring is timed against."""
CHOOSING = 3
"""One gene in so many chooses settings."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="dna", help="checkpoint directory or shipped name")
    parser.add_argument(
        "--contexts", type=int, nargs="+", default=[100, 500], help="bases on either side, to choose of"
    )
    parser.add_argument("--triples", type=int, default=600, help="scored; a quarter as many choose")
    parser.add_argument("--repeats", type=int, default=5, help="of timing")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--part", choices=["all", "table", "genes"], default="all")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("variants.py: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    data = Path(os.environ["LONGSEQ_DATA"]) / "dna"
    model = load_model(options.model, threads=options.threads)
    found: dict = {"benchmark": "variants", "model": Path(options.model).name, "sha256": model.sha256}
    found["threads"] = options.threads
    if options.part != "genes":
        found["table"] = of_table(data, model, options.repeats)
    if options.part != "table":
        known = genome(data / GENOME, genetic_code(11))
        found["genes"] = {
            design: of_genes(data, known, model, options.contexts, options.triples, same_base=same_base)
            for design, same_base in DESIGNS.items()
        }
    found["provenance"] = provenance()
    write_json(options.out, found, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(found), encoding="utf-8")


def of_table(data: Path, model: LoadedModel, repeats: int) -> dict:
    """All rows, and seconds of scoring them beside those of one forward."""
    import torch

    request = VariantRequest(variants=str(data / VCF), reference=str(data / FASTA))
    with VariantRun(request, model) as run:
        windows = distinct(run)
        tokens = [torch.from_numpy(model.surprisal.tokenizer.encode(window)[0].astype(np.int64)) for window in windows]
        by_length: dict[int, list[torch.Tensor]] = {}
        for ids in tokens:
            by_length.setdefault(len(ids), []).append(ids)
        batches = [torch.stack(of[i : i + BATCH]) for of in by_length.values() for i in range(0, len(of), BATCH)]
        reads = model.surprisal.checkpoint.language_model()

        def forward() -> None:
            with torch.inference_mode():
                for ids in batches:
                    reads(ids)

        def score() -> None:
            run.scores = Kept()
            run.score()

        measured: dict[str, list[tuple[float, float]]] = {"score": [], "forward": []}
        for i in range(repeats):
            for name, work in [("forward", forward), ("score", score)][:: 1 - 2 * (i % 2)]:
                measured[name].append(seconds(work))
                print(name, *(f"{value:.1f} s" for value in measured[name][-1]), flush=True)
        answers = list(run.answers())
        found = [allele for answer in answers for allele in answer.alleles]
        long = [len(answer.row.variant.ref) for answer in answers if answer.alleles[0].reason == "too_long"]
        median = {name: list(map(statistics.median, zip(*runs, strict=True))) for name, runs in measured.items()}
        return {
            "rows": run.rows,
            "answered": len(answers),
            "names": run.names,
            "scored": sum(allele.llr is not None for allele in found),
            "reasons": dict(Counter(allele.reason or "single change" for allele in found)),
            "bases of REF too long": sorted(long),
            "REF differs": sum(source.failed for source in run.sources),
            "context": request.context,
            "windows": len(windows),
            "bases": sum(map(len, windows)),
            "seconds": {name: {"wall": wall, "processor": cpu} for name, (wall, cpu) in median.items()},
            "ratio": {what: median["score"][i] / median["forward"][i] for i, what in enumerate(("wall", "processor"))},
            "repeats": measured,
        }


def distinct(run: VariantRun) -> list[bytes]:
    """Each window of the table once, on both strands."""
    found: dict[bytes, None] = {}
    for row in run.table.rows():
        record = run.names.get(row.variant.record)
        for allele in alleles(row.variant, run.reference, record, run.request.context, run.request.longest):
            for window in allele.windows or ():
                found |= {window: None, reverse_complement(window): None}
    return list(found)


def seconds(work: Callable[[], None]) -> tuple[float, float]:
    """Of the clock, and of the processor, which others' work does not lengthen as much."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def of_genes(
    data: Path, known: Genome, model: LoadedModel, contexts: list[int], number: int, *, same_base: bool
) -> dict:
    draw = np.random.default_rng(SEED)
    genes = [known.genes[i] for i in draw.permutation(len(known.genes))]
    third = len(genes) // CHOOSING
    scores: dict[str, dict[str, np.ndarray]] = {}
    costs: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory() as scratch:

        def scored(part: str, of: list, count: int, contexts: list[int]) -> list:
            vcf = Path(scratch) / f"{part}.vcf"
            changes = write_vcf(
                list(triples(of, genetic_code(11), SEED, same_base=same_base))[: count * len(KINDS)], vcf
            )
            found = markov_ratios(changes, known)
            scores[part] = {f"Markov ratio, order {order}": ratios for order, ratios in found.items()}
            for context in contexts:
                ratios, tokens, took = of_model(vcf, data / GENOME, model, context)
                scores[part][f"model, context {context}"] = ratios
                costs.append((tokens, took))
            return changes

        choosing = scored("choosing", genes[:third], number // 4, contexts)
        kinds = np.array([KINDS.index(change.kind) for change in choosing])
        chosen = {name: separation(ratios, kinds) for name, ratios in scores["choosing"].items()}
        best = [max((name for name in chosen if name.startswith(kind)), key=chosen.__getitem__) for kind in YARDSTICKS]
        changes = scored("scored", genes[third:], number, [int(best[0].split()[-1])])
    ours, markov = (scores["scored"][name] for name in best)
    return {
        "held out": {"contigs": len(known.held_out), "bases": sum(len(known.contigs[n]) for n in known.held_out)},
        "genes": {
            "fit": len(genes),
            **{p: len({c.gene for c in of}) for p, of in (("choosing", choosing), ("scored", changes))},
        },
        "changes": Counter(change.kind for change in changes),
        "AUROC on the genes that choose": chosen,
        "rows": [{"name": name} | figures(scores["scored"][name], changes) for name in best],
        "difference": resampled(lambda a, b, kinds: separation(a, kinds) - separation(b, kinds), changes, ours, markov),
        "bases": sum(tokens for tokens, _ in costs),
        "minutes": sum(took for _, took in costs) / 60,
    }


def of_model(vcf: Path, reference: Path, model: LoadedModel, context: int) -> tuple[np.ndarray, int, float]:
    """(N,) ratios of the rows, the bases that were read, and seconds."""
    request = VariantRequest(variants=str(vcf), reference=str(reference), context=context)
    began = time.perf_counter()
    with VariantRun(request, model) as run:
        run.score(progress=LineProgress(period=30))
        found = np.array([answer.alleles[0].llr for answer in run.answers()], float)
        return found, run.tokens, time.perf_counter() - began


def markdown(found: dict) -> str:
    lines = ["# variants", "", *__doc__.split("\n\n", 2)[2].strip().splitlines(), ""]
    if "table" in found:
        lines += [*of_table_in_words(found["table"]), ""]
    if "genes" in found:
        for design, figures_of in found["genes"].items():
            lines += [f"## Substitutions in genes of {GENOME}: triples of one {design}", ""]
            lines += [*of_genes_in_words(figures_of), ""]
    origin = found["provenance"]
    lines.append(f"Model {found['model']} ({found['sha256'][:12]}), {found['threads']} thread(s). Commit ")
    lines[-1] += f"{origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, load {origin['load']:.1f}, "
    lines[-1] += f"{origin['time']}."
    return "\n".join(lines) + "\n"


def of_table_in_words(found: dict) -> list[str]:
    reasons = ", ".join(f"{number} {reason}" for reason, number in found["reasons"].items())
    long = ", ".join(f"{bases:,}" for bases in found["bases of REF too long"])
    rows = [
        [what, f"{found['seconds']['score'][what]:.1f}", f"{found['seconds']['forward'][what]:.1f}", f"{ratio:.2f}"]
        for what, ratio in found["ratio"].items()
    ]
    return [
        f"## {VCF}",
        "",
        f"{found['answered']} of {found['rows']} rows answered, {found['scored']} alleles scored ({reasons}); REF "
        f"differs in {found['REF differs']}; bases of REF that is too long: {long}. "
        f"{found['windows']} distinct windows, "
        f"{found['bases']:,} bases, context {found['context']}.",
        "",
        table(["seconds", "scoring", "one forward", "ratio"], rows).rstrip("\n"),
    ]


def of_genes_in_words(found: dict) -> list[str]:
    def interval(values: list[float]) -> str:
        value, low, high = values
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"

    rows = [
        [
            row["name"],
            *(interval(row["medians"][kind]) for kind in KINDS),
            interval(row["AUROC"]),
            ", ".join(f"{value:.3f}" for value in row["AUROC by codon position"].values()),
        ]
        for row in found["rows"]
    ]
    counts = ", ".join(f"{number} {kind}" for kind, number in found["changes"].items())
    chosen = ", ".join(f"{name} {value:.3f}" for name, value in found["AUROC on the genes that choose"].items())
    return [
        f"{found['held out']['contigs']} contigs held out, {found['held out']['bases']:,} bases; "
        f"{found['genes']['fit']} genes fit. Scored: {counts}, in {found['genes']['scored']} genes. Medians in nats.",
        "",
        table(["ratio", *KINDS, "AUROC synonymous against nonsense", "at codon base 1, 3"], rows).rstrip("\n"),
        "",
        f"Difference of AUROC, model less Markov: {interval([value for (value,) in found['difference']])}.",
        f"On {found['genes']['choosing']} other genes, AUROC: {chosen}.",
        f"{found['bases']:,} bases read in {found['minutes']:.1f} minutes.",
    ]


if __name__ == "__main__":
    main()
