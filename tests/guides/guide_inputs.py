"""What a guide's reader brings along, by name, as small as it can be; what comes with the project, cut short."""

import gzip
import json
import random
import string
import textwrap
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import torch
from Bio import SeqIO
from reportlab.pdfgen.canvas import Canvas
from teachers import WIDTH, bert_tensors, write_bert

ROOT = Path(__file__).parents[2]
LETTERS = string.ascii_lowercase
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
SAID = "the a lamp tower keeper water night sea light old grey stone counts climbs watches finds every"
TOPICS = {
    "ship": "The ship left the harbour at dawn with a cargo of timber and three passengers on board.",
    "bank": "The bank raised its interest rate and the price of shares fell before the market closed.",
    "payment": "Mrs Brandt approved the payment of invoice 4711 on the third of May, as the rules demand.",
}


def dna(length, seed=0):
    return "".join(random.Random(seed).choices("ACGT", k=length))


def prose(sentences, topic="ship", seed=0):
    """Sentences that all differ, the last one of the topic."""
    draw = random.Random(f"{topic} {seed}")
    said = (
        " ".join(draw.choices(SAID.split(), k=draw.randint(6, 14))).capitalize() + "." for _ in range(sentences - 1)
    )
    return " ".join([*said, TOPICS[topic]])


def fasta(names, length=1500):
    """A maker of records by these names, packed where the file's name ends with .gz."""

    def make(path):
        text = "".join(f">{name}\n{dna(length, seed)}\n" for seed, name in enumerate(names))
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())

    return make


def fastq(path):
    path.write_bytes(gzip.compress("".join(f"@r{n}\n{dna(80, n)}\n+\n{'I' * 80}\n" for n in range(300)).encode()))


def variants(path):
    """A row for each of two records of `genome.fa.gz`."""
    rows = [
        f"{name}\t100\t.\t{dna(100, n)[99]}\t{'AG'[dna(100, n)[99] == 'A']}\t.\t.\t."
        for n, name in enumerate(("chr1", "chr2"))
    ]
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    path.write_bytes(gzip.compress((head + "\n".join(rows) + "\n").encode()))


def pdf(topic, pages=3, first=0, blank=0):
    """A maker of a PDF of the project's own document, with pages that are pictures alone at its end."""
    parts = (ROOT / "data" / "lighthouse.md").read_text().split("\n\n")
    prose = [part for part in parts if len(part) > 300 and part.isascii() and part[0].isalpha()]

    def make(path):
        canvas = Canvas(str(path), invariant=1)
        for page, words in enumerate(prose[first : first + pages], start=1):
            said = f"{words} {TOPICS[topic]}" if page == pages else words
            line = canvas.beginText(72, 740)
            line.textLines(textwrap.fill(said, 80))
            canvas.drawText(line)
            canvas.showPage()
        for _ in range(blank):
            canvas.rect(72, 72, 400, 600, fill=1)
            canvas.showPage()
        canvas.save()

    return make


def epub(path):
    chapters = {f"c{n}": f"<h1>Chapter {n}</h1><p>{prose(8, seed=n)}</p>" for n in (1, 2)}
    items = "".join(f'<item id="{c}" href="{c}.xhtml" media-type="application/xhtml+xml"/>' for c in chapters)
    refs = "".join(f'<itemref idref="{c}"/>' for c in chapters)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="b.opf"/></rootfiles></container>',
        "b.opf": f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest>'
        f"<spine>{refs}</spine></package>",
    }
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    with zipfile.ZipFile(path, "w") as book:
        for name, part in (parts | {f"{c}.xhtml": page.format(body) for c, body in chapters.items()}).items():
            book.writestr(name, part)


def text(sentences, topic="ship"):
    return lambda path: path.write_text(f"# Notes\n\n{prose(sentences, topic)}\n")


def log(path):
    path.write_bytes(gzip.compress(prose(30).encode()))


def rows(count, **columns):
    """A maker of JSON lines; each column is a function of the row's number."""

    def make(path):
        path.write_text("".join(json.dumps({k: f(n) for k, f in columns.items()}) + "\n" for n in range(count)))

    return make


def topic(number):
    return ("ship", "bank")[number % 2]


def reviews(path):
    table = {"text": [prose(3, topic(n), n) for n in range(20)], "label": [topic(n) for n in range(20)]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)


def of_lines(*lines):
    return lambda path: path.write_text("\n".join(lines) + "\n")


def bert(path):
    """A small BERT of words, with places for two segments of 256 tokens."""
    drawn, found = torch.Generator().manual_seed(0), bert_tensors()
    sizes = {"vocab_size": len(WORDS), "max_position_embeddings": 512}
    for name, rows in zip(("word", "position"), sizes.values(), strict=True):
        found[f"embeddings.{name}_embeddings.weight"] = torch.randn(rows, WIDTH, generator=drawn)
    write_bert(path, found, **sizes)
    (path / "vocab.txt").write_text("\n".join(WORDS) + "\n")


SMALL = ("[model]", "width = 16", "layers = 1", "heads = 2", "[data]", "window = 64", "[evaluation]", "tokens = 512")
ARTICLE = {"id": lambda n: f"a{n}", "text": lambda n: prose(12, topic(n), n), "abstract": lambda n: TOPICS[topic(n)]}
INPUTS = {
    "asm1/contigs.fasta": fasta(["c1", "c2"]),
    "asm2/contigs.fasta": fasta(["c1"]),
    "reads.fq.gz": fastq,
    "genome.fa": fasta(["chr1", "chr2"], 6_000),
    "genome.fa.gz": fasta(["chr1", "chr2"]),
    "assembly.fa.gz": fasta(["contig1"], 3000),
    "new.fa": fasta(["n1", "n2"], 500),
    "genomes/1.fa": fasta(["a", "b"]),
    "genomes/2.fa": fasta(["c", "d"]),
    "variants.vcf.gz": variants,
    "shelf/report.pdf": pdf("payment", 4),
    "shelf/minutes.pdf": pdf("bank", first=4),
    "shelf/scanned.pdf": pdf("ship", 1, first=7, blank=1),
    "bundle.pdf": pdf("payment"),
    "papers/ship.pdf": pdf("ship"),
    "papers/bank.pdf": pdf("bank"),
    "book.epub": epub,
    "notes.md": text(20),
    "log.txt.gz": log,
    "articles.jsonl": rows(12, **ARTICLE),
    "references.jsonl": rows(12, **{name: ARTICLE[name] for name in ("id", "abstract")}),
    "reviews.jsonl": rows(20, text=lambda n: prose(3, topic(n), n), label=topic),
    "reviews.parquet": reviews,
    "inbox/letter.txt": text(5, "bank"),
    "all-MiniLM-L6-v2": bert,
    "corpus.jsonl": rows(40, text=lambda n: prose(6, topic(n), n)),
    "held.jsonl": rows(8, text=lambda n: prose(6, topic(n), 100 + n)),
    "others/more.jsonl": rows(8, text=lambda n: prose(6, topic(n), 200 + n)),
    "classes.tsv": of_lines("text\tlabel", *(f"{prose(2, topic(n), n)}\t{topic(n)}" for n in range(24))),
    "books/long.txt": text(150),
    "reads.fa": fasta([f"r{n}" for n in range(20)], 200),
    "labels.tsv": of_lines("id\tgenus", *(f"r{n}\t{topic(n)}" for n in range(20))),
    "contigs.fa": fasta(["c1", "c2", "c3"]),
    "repeats.bed": of_lines(*(f"c{n}\t{at}\t{at + 200}\trepeat" for n in (1, 2, 3) for at in (100, 1000))),
    "pairs.tsv": of_lines("source\ttarget", *(f"{a}+{b}\t{a + b}" for a in range(10, 16) for b in range(10, 16))),
    "taxa.tsv": of_lines("id\tgenus", *(f"{name}\t{name}" for name in "abcd")),
    "run.toml": of_lines('inputs = ["genomes/1.fa"]', "steps = 2", "batch = 256", *SMALL),
}
"""Where a guide names one, it is there; of `folder/file` the folder."""

CUT = {"T4.gbff.gz": 12_000, "chloroplast.gb.gz": 6_000, "ecoli.fa.gz": 9_000, "hpylori.fa.gz": 9_000}
"""Bases of what comes with the project, where a guide reads it with a model many times."""


def cut(source, path, length):
    """The first bases of a record, with their features."""
    style = "fasta" if ".fa" in path.name else "genbank"
    with gzip.open(source, "rt") as file, gzip.open(path, "wt") as out:
        record = next(SeqIO.parse(file, style))
        SeqIO.write(record[:length] if style == "fasta" else _annotated(record, length), out, style)


def _annotated(record, length):
    part = record[:length]
    part.annotations = record.annotations
    return part
