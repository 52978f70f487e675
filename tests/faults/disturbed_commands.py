"""Commands on inputs as small as they can be, and what they leave."""

import json
import random
from dataclasses import dataclass

import torch

from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, TokenModel, save
from longseq.tasks.annotate.frames import CLASSES
from longseq.tokens import DnaTokenizer

TRAINING = (
    "batch=128", "steps=12", "checkpoint.every=4", "evaluation.every=5", "evaluation.tokens=100", "data.window=32",
    "model.width=16", "model.layers=1", "model.heads=2",
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """Written into the folder where it runs."""

    name: str
    arguments: tuple[str, ...]
    out: str = "out"
    resume: bool = False
    """Whether it goes on where it was stopped."""
    final: str = ""
    """What of `out` appears whole or not at all; all of it, if not said."""

    def line(self, *options):
        return [*self.arguments, "--out", self.out, "-q", *options]


def words(*parts):
    return tuple(map(str, parts))


def commands(folder):
    """All of them by name, with their models and inputs in `folder`."""
    models, inputs = folder / "models", folder / "inputs"
    models.mkdir()
    inputs.mkdir()
    write_models(models)
    write_inputs(inputs)
    dna, chunk = inputs / "x.fa", ("--chunk", "128")
    genes = ("--genes", "--min-gene", 30, "--model", models / "genes")
    cpu = ("--device", "cpu", "--threads", "1")
    settings = [word for setting in TRAINING for word in ("--set", setting)]
    many = (
        Command("summarize DNA", words("summarize", dna, "--model", models / "tiny", *chunk)),
        Command("summarize document", words("summarize", inputs / "tale.md")),
        Command("annotate", words("annotate", dna, "--model", models / "places", *chunk), resume=True),
        Command("annotate genes", words("annotate", dna, *genes, *chunk), resume=True),
        Command("embed", words("embed", dna, "--model", models / "tiny", "--window", 100, *chunk)),
        Command("score", words("score", dna, "--model", models / "tiny", "--track", *chunk, *SNAPSHOTS), resume=True),
        Command("classify", words("classify", dna, "--model", models / "classes", *chunk)),
        Command("train", words("train", dna, *cpu, *settings), resume=True, final="model"),
        Command(
            "variants",
            words("score", inputs / "v.vcf", "--reference", dna, "--model", models / "tiny"),
            out="out.vcf.gz",
            resume=True,
        ),
    )
    return {one.name: one for one in many}


SNAPSHOTS = ("--snapshot-every", 500)


def write_models(folder):
    torch.manual_seed(1)
    config = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2)
    save(folder / "tiny", LanguageModel(config), DnaTokenizer())
    labels = ("poor", "rich")
    model = RecordModel(config, HeadConfig(task="classify", outputs=2), labels)
    save(folder / "classes", model, DnaTokenizer(), labels=labels)
    for name, labels in (("places", ("none", "x+", "x-")), ("genes", ("background", *CLASSES))):
        model = TokenModel(config, HeadConfig(task="annotate", outputs=len(labels)), labels)
        with torch.no_grad():
            model.head.weight.mul_(10)
        save(folder / name, model, DnaTokenizer(), labels=labels)


def letters(number, seed):
    return "".join(random.Random(seed).choices("ACGTACGTACGTacgtN", k=number))


def write_inputs(folder):
    records = enumerate((90, 2500, 12, 0, 1800, 700))
    (folder / "x.fa").write_text("".join(f">r{i}\n{letters(n, i)}\n" for i, n in records))
    draw, parts = random.Random(0), []
    for chapter in range(4):
        spelled = ["".join(draw.choices("abdeiklmnorstu", k=draw.randint(2, 8))) for _ in range(225)]
        said = (" ".join(spelled[n : n + 9]).capitalize() for n in range(0, 225, 9))
        parts.append(f"# Part {chapter}\n\n" + " ".join(f"{text}." for text in said))
    (folder / "tale.md").write_text("\n\n".join(parts) + "\n")
    text = (folder / "x.fa").read_text().split("\n")[3].upper()  # of r1
    rows = [(n, text[n - 1]) for n in range(100, 2000, 100) if text[n - 1] != "N"]
    lines = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    lines += [f"r1\t{n}\t.\t{ref}\t{'ACGT'['CGTA'.index(ref)]}\t.\t.\t." for n, ref in rows]
    (folder / "v.vcf").write_text("\n".join(lines) + "\n")


SPENT = ("run", "command", "seconds", "tokens_per_s", "peak_rss_mb")
"""What a JSON document says of the run that wrote it."""
CLOCKED = ("tokens_per_s", "memory_mib", "seconds")


def contents(path):
    """What a command left, by name: bytes, but of JSON what it says of the run itself, and of training times and what
    holds them."""
    if not path.exists():
        return {}
    beside = path.parent.glob(f"{path.name}.*")  # an index
    files = [path, *beside] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path.parent)): _said(file) for file in files}


def _said(file):
    if file.name == "metrics.jsonl":
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        return [{name: value for name, value in line.items() if name not in CLOCKED} for line in lines]
    if file.suffix == ".json":
        found = json.loads(file.read_text())
        if isinstance(found, list):
            return found
        return {name: value for name, value in found.items() if name not in SPENT}
    return None if file.name in ("state.pt", "state.sha256", "curve.png") else file.read_bytes()
