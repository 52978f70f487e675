"""Classes of one's own: what `longseq train --labels` and `longseq classify` make of stretches of genomes.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/sequence_classes.py --model dna

`species`: six bacteria. `replicons`: chromosome or plasmid of K. pneumoniae, the plasmids that are learned from and the
one that is tested on being others. Records are 2,000 to 5,000 bases long and never overlap. Each genome is cut into
blocks of 50,000 bases; of every five one is tested on and the others are learned from, a fifth of which the training
itself holds out, by blocks, and calibrates on. Nothing is tuned on the test part, and intervals are over its blocks.
The regression on 4-mers learns from all that is not tested on. The calibration error before is that of the logits as
they are.

Records of genomes of other families, and the fly, show what `unknown` catches; of the species in training 5 % should be
called so. Chimeras are 10,000 bases of one species followed by as many of another, both from the test part.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from probing import cells, compared, data_folder, kmers, origin, verdict
from provenance import provenance

from longseq.cli import main as longseq
from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.metrics import baselines
from longseq.metrics.calibration import calibration_error

SPECIES = {
    "E_coli": "Ecoli_K12_MG1655.fasta.gz",
    "K_pneumoniae": "Kpneumoniae_Klebs_HS11286.fna.xz",
    "V_cholerae": "Vcholerae_N16961.fasta.gz",
    "H_pylori": "Hpylori_G27.fasta.gz",
    "S_aureus": "Saureus_NCTC8325.fasta.gz",
    "M_mycoides": "Mmycoides_Afade.gbff.gz",
}
OTHERS = {"L_kirschneri": "Lkirschneri_H1.gbk.gz", "D_melanogaster": "dm3_chr2R_first16Mb.fa.gz"}
SHORTEST, LONGEST, BLOCK = 2_000, 5_000, 50_000
KNOWN, TESTED, OTHER, PLASMID = 100, 40, 40, 1 << 30
"""Records of each class to learn from and to test on, of each other genome; of plasmids all."""
CHIMERAS, PART = 12, 10_000
STEPS = {"species": 150, "replicons": 60}
FIGURES = ("accuracy", "macro_f1")
SEED = 0

Records = list[tuple[str, str, str, bytes]]
"""Id, class, block, letters."""
Pick = Callable[[int], bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="dna", help="checkpoint directory or shipped name to start from")
    parser.add_argument("--share", type=float, default=1.0, help="of records and steps, for a quick look")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    data, began, out = data_folder(__file__).resolve(), time.monotonic(), options.out.resolve()
    from longseq.model import load

    checkpoint = load(options.model)
    start = options.model if not Path(options.model).is_dir() else str(Path(options.model).resolve())
    document: dict = {"benchmark": "sequence_classes", "seed": SEED, "share": options.share, "sets": {}}
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        for name, draw in (("species", species), ("replicons", replicons)):
            known, asked, apart = draw(data, options.share)
            document["sets"][name] = measured(name, known, asked, apart, start, options.share)
    model = {"name": Path(options.model).name, "parameters": checkpoint.parameters, "sha256": checkpoint.sha256}
    document |= {"model": model, "seconds": time.monotonic() - began, "provenance": provenance()}
    write_json(out, document, force=True)
    with write_aside(out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def species(data: Path, share: float) -> tuple[Records, Records, dict[str, Records]]:
    draw = np.random.default_rng(SEED)
    known: Records = []
    asked: Records = []
    apart: dict[str, Records] = {}
    tested: dict[str, list[bytes]] = {}
    for kind, file in SPECIES.items():
        contigs = contigs_of(data / file)
        known += drawn(contigs, kind, draw, int(KNOWN * share), lambda block: block % 5 != 2)
        asked += drawn(contigs, kind, draw, int(TESTED * share), lambda block: block % 5 == 2)
        tested[kind] = [text[2 * BLOCK + PART :][:PART] for text in contigs if len(text) >= 3 * BLOCK]
    for kind, file in OTHERS.items():
        apart[kind] = drawn(contigs_of(data / file), kind, draw, int(OTHER * share), lambda block: True)
    pairs = [(a, b) for a in SPECIES for b in SPECIES if a != b]
    chimeras = []
    for i in draw.permutation(len(pairs))[: max(1, int(CHIMERAS * share))]:
        first, second = pairs[i]
        chimeras.append((f"chimera{i}", f"{first},{second}", "", tested[first][0] + tested[second][0]))
    return known, asked, apart | {"chimeras": chimeras}


def replicons(data: Path, share: float) -> tuple[Records, Records, dict[str, Records]]:
    draw = np.random.default_rng(SEED)
    chromosome, first, second, third, *_ = contigs_of(data / SPECIES["K_pneumoniae"])
    known = drawn([chromosome], "chromosome", draw, int(KNOWN * share), lambda block: block % 5 != 2)
    known += drawn([first, second], "plasmid", draw, PLASMID, lambda block: True, block=LONGEST)
    asked = drawn([chromosome], "chromosome", draw, int(TESTED * share), lambda block: block % 5 == 2)
    asked += drawn([third], "plasmid", draw, PLASMID, lambda block: True, "tested", block=LONGEST)
    return known, asked, {}


def contigs_of(file: Path) -> list[bytes]:
    """The longest first."""
    return sorted((b"".join(record.pieces).upper() for record in read(file)), key=len, reverse=True)


def drawn(
    contigs: Sequence[bytes],
    kind: str,
    draw: np.random.Generator,
    number: int,
    wanted: Pick,
    prefix: str = "",
    block: int = BLOCK,
) -> Records:
    """Up to `number` records from the wanted blocks, which are counted over the contigs."""
    places, count = [], 0
    for c, text in enumerate(contigs):
        for at in range(0, len(text) - block + 1, block):
            if wanted(count):
                places += [(c, start, count) for start in range(at, at + block - LONGEST + 1, LONGEST)]
            count += 1
    found: Records = []
    for i in draw.permutation(len(places)):
        c, at, of = places[i]
        letters = contigs[c][at : at + int(draw.integers(SHORTEST, LONGEST + 1))]
        if len(found) < number and not letters.translate(None, b"ACGT"):
            found.append((f"{prefix}{kind}_{of}_{at}", kind, f"{prefix}{kind}_{of}", letters))
    return found


def measured(name: str, known: Records, asked: Records, apart: dict[str, Records], start: str, share: float) -> dict:
    """Train, classify, and set what was said beside 4-mers."""
    write_fasta(f"{name}.fa", known)
    rows = "".join(f"{record}\t{kind}\t{block}\n" for record, kind, block, _ in known)
    Path(f"{name}.tsv").write_text("id\tlabel\tgroup\n" + rows, encoding="utf-8")
    write_fasta("tested.fa", asked)
    steps = max(2, int(STEPS[name] * share))
    commands = [
        f"longseq train {name}.fa --labels {name}.tsv --from {shlex.quote(start)} --out {name} --set steps={steps} "
        "--set evaluation.every=0 --set evaluation.tokens=500000",
        f"longseq classify tested.fa --model {name}/model --out {name}/tested",
    ]
    for kind, records in apart.items():
        write_fasta(f"{kind}.fa", records)
        commands.append(f"longseq classify {kind}.fa --model {name}/model --out {name}/{kind}")
    for command in commands:
        print(command, flush=True)
        code = longseq([*shlex.split(command)[1:], "-q"])
        if code:
            sys.exit(f"{command}: exit {code}")
    facts = json.loads(Path(name, "tested", "run.json").read_text(encoding="utf-8"))
    kinds, calibration = facts["labels"], facts["calibration"]
    answers = list(rows_of(Path(name, "tested")))
    truth = np.array([kinds.index(kind) for _, kind, _, _ in asked])
    blocks = np.array([block for _, _, block, _ in asked])
    model = np.array([[float(row[f"p_{kind}"]) for kind in kinds] for row in answers])
    raw = model ** calibration["temperature"]
    unknown = np.array([row["class"] == "unknown" for row in answers])
    classes = np.array([kinds.index(kind) for _, kind, _, _ in known])
    words, tested = (kmers([letters for *_, letters in part], 4, both=True) for part in (known, asked))
    told = {
        "4-mers": baselines.logistic(words, classes, tested, len(kinds)),
        "GC alone": baselines.logistic(baselines.gc_share(words), classes, baselines.gc_share(tested), len(kinds)),
        "longseq classify": model,
    }
    found = {
        "commands": [command.replace(start, Path(start).name) for command in commands],
        "known": len(known),
        "tested": np.bincount(truth, minlength=len(kinds)).tolist(),
        "classes": kinds,
        "rows": compared(truth, told, blocks, FIGURES),
        "calibration": calibration,
        "error_before": calibration_error(raw / raw.sum(1, keepdims=True), truth),
        "error": calibration_error(model, truth),
        "unknown": {"the classes in training": float(unknown.mean())},
        "right_of_known": float((model.argmax(1) == truth)[~unknown].mean()),
    }
    for kind, records in apart.items():
        rows_apart = list(rows_of(Path(name, kind)))
        if kind == "chimeras":
            found["chimeras"] = [changed(row, record) for row, record in zip(rows_apart, records, strict=True)]
        else:
            found["unknown"][kind] = float(np.mean([row["class"] == "unknown" for row in rows_apart]))
    print({key: value for key, value in found.items() if key not in ("rows", "commands")}, flush=True)
    return found


def changed(row: dict, record: tuple) -> dict:
    places = [int(place) for place in row["changes"].split(",") if place not in ("", "NA")]
    return {"record": record[1], "changes": places, "found": any(abs(place - PART) <= 2048 for place in places)}


def rows_of(folder: Path) -> Iterator[dict]:
    with open(folder / "records.tsv", encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t")


def write_fasta(name: str, records: Records) -> None:
    Path(name).write_bytes(b"".join(b">%s\n%s\n" % (i.encode("ascii"), text) for i, _, _, text in records))


def markdown(document: dict) -> str:
    text = ["# sequence_classes", "", *__doc__.strip().partition("--model dna\n\n")[2].splitlines(), ""]
    if document["share"] != 1:
        text += [f"A quick look: {document['share']:.0%} of records and steps (`--share`).", ""]
    for name, found in document["sets"].items():
        tested = ", ".join(f"{kind} {n}" for kind, n in zip(found["classes"], found["tested"], strict=True))
        text += [f"## {name}", "", "```sh", *found["commands"], "```", ""]
        text += [f"{found['known']:,} records to learn from; tested: {tested}.", ""]
        columns = [cell for figure in FIGURES for cell in (figure.replace("_", " "), "less 4-mers (95 %)")]
        text += [table(["", *columns], cells(found["rows"], FIGURES))]
        text += [verdict(found["rows"], "macro_f1", lambda row: row == "longseq classify"), ""]
        foreseen = found["calibration"]["error"]
        foreseen_said = "" if foreseen is None else f" (foreseen by cross-fitting: {foreseen:.3f})"
        text += [
            f"Calibration error {found['error_before']:.3f} before, {found['error']:.3f} calibrated{foreseen_said}. "
            f"Of records in range {found['right_of_known']:.3f} are right. Called unknown: "
            + ", ".join(f"{kind} {share:.0%}" for kind, share in found["unknown"].items())
            + ".",
            "",
        ]
        if found.get("chimeras"):
            right = sum(row["found"] for row in found["chimeras"])
            number = len(found["chimeras"])
            text += [f"Of {number} chimeras the change of {right} is found within a window of 2,048 bases.", ""]
    return "\n".join([*text, origin(document)])


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
