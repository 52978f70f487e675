"""Tables as they are met: no row is lost, none moves, each allele has a number or a reason, and htslib reads it all."""

import json
import math
import random

import pysam
import pytest
import torch

from longseq.cli import main
from longseq.errors import InputError
from longseq.model import LanguageModel, ModelConfig, save
from longseq.records import reverse_complement
from longseq.tasks.summarize.model import load_model
from longseq.tasks.variants import score_variants
from longseq.tokens import DnaTokenizer

CONTEXT = 20
LETTERS = "".join(random.Random(7).choices("ACGT", k=59)) + "R"
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\thaploid\tmissing\n"


def at(position, length=1):
    return LETTERS[position - 1 : position - 1 + length]


def other(position):
    return OTHER[at(position)]


ROWS = [
    (1, at(1), other(1), [None]),
    (1, at(1, 3), at(1), ["indel"]),
    (1, at(1), at(1) + "GG", ["indel"]),
    (2, at(2), f"{other(2)},*,<NON_REF>", [None, "star", "symbolic"]),
    (3, at(3), "<NON_REF>", ["symbolic"]),
    (3, at(3), "<*>", ["symbolic"]),
    (3, at(3), "<DUP:TANDEM>", ["symbolic"]),
    (4, at(4), f"{at(4)}[1:9[", ["breakend"]),
    (4, at(4), f"]9:3]{at(4)}", ["breakend"]),
    (4, at(4), f"{at(4)}.", ["breakend"]),
    (5, at(5), ".", ["no_alt"]),
    (6, at(6), other(6), [None]),
    (6, at(6), other(6), [None]),
    (6, at(6).lower(), other(6).lower(), [None]),
    (7, at(7), at(7), ["same"]),
    (8, at(8, 2), other(8) + other(9), ["block"]),
    (9, other(9), at(9), ["ref_mismatch"]),
    (9, other(9), "<DEL>", ["ref_mismatch"]),
    (10, at(10), "M", ["ambiguous"]),
    (11, at(11), "A" * 12, ["too_long"]),
    (11, at(11, 12), f"{at(11)},<DEL>", ["too_long", "symbolic"]),
    (58, at(58), other(58), [None]),
    (58, at(58, 3), at(58), ["indel&code_in_ref"]),
    (60, "R", "A", ["code_in_ref"]),
    (60, "A", "C", [None]),
    (60, "N", "A", ["code_in_ref"]),
    (60, "C", "A", ["ref_mismatch"]),
    (60, "RA", "R", ["outside"]),
    (61, "N", "A", ["outside"]),
]
"""Position, REF, ALT, and the reason of each allele, None where its number compares."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    model = LanguageModel(ModelConfig(width=16, heads=2, layers=1))
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(3))
    save(folder, model, DnaTokenizer())
    return folder


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "ref.fa"
    path.write_text(f">1 a chromosome\n{LETTERS.lower()}\n>gi|7|ref|NC_000007.2| another\n{LETTERS}\n")
    return path


def table(path, rows, record="chr1"):
    """Fields are not declared, contigs are not either, and samples have one allele or none."""
    lines = [
        f"{record}\t{position}\tv{i}\t{ref}\t{alts}\t.\t.\tDP={i};NOTE=x\tGT:XX\t0|1\t.:.\n"
        for i, (position, ref, alts, *_) in enumerate(rows)
    ]
    path.write_text(COLUMNS + "".join(lines).replace("0|1", "1"))
    return path


def run(folder, *arguments):
    options = ["--model", folder, "--context", CONTEXT, "--longest-allele", 10]
    return main(["score", *map(str, arguments), *map(str, options)])


def test_every_allele_has_a_number_or_a_reason_and_every_row_its_place(folder, reference, tmp_path, capsys):
    source = table(tmp_path / "in.vcf", ROWS)
    out = tmp_path / "out.vcf.gz"
    assert run(folder, source, "--reference", reference, "--out", out) == 3  # some REF differ
    said, err = capsys.readouterr()
    assert "note: names matched: chr1 is 1" in err and f"{len(ROWS)} rows" in said
    spoken = pysam.set_verbosity(0)
    with pysam.VariantFile(str(out)) as file:
        found = list(file.fetch("chr1"))  # through the index
    pysam.set_verbosity(spoken)
    header, lines = COLUMNS.rstrip("\n").split("\t"), source.read_text().splitlines()[1:]
    written = [line for line in pysam.BGZFile(str(out)).read().decode().splitlines() if not line.startswith("##")]
    assert written[0].split("\t") == header
    for line, cells in zip(lines, written[1:], strict=True):
        before, after = line.split("\t"), cells.split("\t")
        assert after[:7] + after[8:] == before[:7] + before[8:] and after[7].startswith(before[7])
    for (position, ref, alts, reasons), record in zip(ROWS, found, strict=True):
        assert (record.pos, record.ref) == (position, ref)
        assert record.alts == (None if alts == "." else tuple(alts.split(",")))
        ratios = record.info.get("LONGSEQ_LLR", (None,) * len(reasons))
        named = record.info.get("LONGSEQ_REASON", (None,) * len(reasons))
        assert [None if name == "." else name for name in named] == reasons
        scored = [reason is None or {"indel", "block", "code_in_ref"} & set(reason.split("&")) for reason in reasons]
        assert [ratio is not None and math.isfinite(ratio) for ratio in ratios] == [bool(here) for here in scored]
    equal = [record.info["LONGSEQ_LLR"] for record in found if record.pos == 6]
    assert [found[-3].samples[name]["GT"] for name in ("haploid", "missing")] == [(1,), (None,)]
    assert len(equal) == 3 and len(set(equal)) == 1
    assert [record.info["LONGSEQ_REASON"] for record in found if record.pos == 7] == [("same",)]


def test_bcf_gives_the_same_rows(folder, reference, tmp_path, capsys):
    """What htslib can put into BCF: one that declares everything."""
    declared = {"DP": "INFO", "NOTE": "INFO", "END": "INFO", "GT": "FORMAT", "XX": "FORMAT"}
    kinds = {"DP": "Integer", "END": "Integer"}
    head = "##fileformat=VCFv4.2\n##contig=<ID=chr1>\n##ALT=<ID=NON_REF,Description=x>\n" + "".join(
        f"##{where}=<ID={name},Number=1,Type={kinds.get(name, 'String')},Description=x>\n"
        for name, where in declared.items()
    )
    source = table(tmp_path / "in.vcf", [row for row in ROWS if row[0] > 3])
    source.write_text(head + source.read_text())
    spoken = pysam.set_verbosity(0)
    with (
        pysam.VariantFile(str(source)) as file,
        pysam.VariantFile(str(tmp_path / "in.bcf"), "wb", header=file.header) as out,
    ):
        for record in file:
            out.write(record)
    pysam.set_verbosity(spoken)
    documents = []
    for name in ("in.vcf", "in.bcf"):
        assert run(folder, tmp_path / name, "--reference", reference, "--json") == 3
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0]["variants"] == documents[1]["variants"] and len(documents[0]["variants"]) > 20


def test_a_row_at_zero_is_kept_and_the_index_stands(folder, reference, tmp_path, capfd):
    """Position 0 speaks of what lies before the first base (VCF 4.5, section 1.6.1)."""
    source = table(tmp_path / "in.vcf", [(0, "N", "A"), (6, at(6), other(6))])
    assert run(folder, source, "--reference", reference, "--out", tmp_path / "out.vcf.gz") == 3
    assert "[W::" not in capfd.readouterr().err
    with pysam.VariantFile(str(tmp_path / "out.vcf.gz")) as file:
        assert [record.pos for record in file] == [0, 6]
        assert [record.pos for record in file.fetch("chr1", 5, 6)] == [6]


@pytest.mark.parametrize("name", ["NC_000007.2", "NC_000007", "ref|NC_000007.2|", "gi|7|ref|NC_000007.2|"])
def test_names_are_matched_and_what_was_matched_is_printed(folder, reference, tmp_path, capsys, name):
    source = table(tmp_path / "in.vcf", [(6, at(6), other(6))], name)
    assert run(folder, source, "--reference", reference, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["names"] == {name: "gi|7|ref|NC_000007.2|"}
    assert (f"{name} is gi|7|ref|NC_000007.2|" in err) == (name[:2] != "gi")


def test_an_alias_says_what_names_do_not(folder, reference, tmp_path, capsys):
    source = table(tmp_path / "in.vcf", [(6, at(6), other(6))], "phage")
    assert run(folder, source, "--reference", reference) == 1
    err = capsys.readouterr().err
    assert all(name in err for name in ("'phage'", "'1'", "'gi|7|ref|NC_000007.2|'", "--alias"))
    (tmp_path / "alias.tsv").write_text("phage\t1\n")
    assert run(folder, source, "--reference", reference, "--alias", tmp_path / "alias.tsv", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["names"] == {"phage": "1"} and "phage is 1" in err


def test_another_version_is_another_sequence(folder, reference, tmp_path):
    source = table(tmp_path / "in.vcf", [(6, at(6), other(6))], "NC_000007.1")
    with pytest.raises(InputError, match=r"NC_000007\.1"):
        list(score_variants(str(source), str(reference), model=load_model(str(folder))))


def test_sums_over_indels_are_told_apart_by_the_bases_that_changed(folder, reference, tmp_path, capsys):
    source = table(tmp_path / "in.vcf", [(6, at(6), at(6) + other(6) * n) for n in (1, 4, 9)])
    assert run(folder, source, "--reference", reference, "--json") == 0
    found = json.loads(capsys.readouterr().out)["variants"]
    assert [(row["changed"], row["reason"]) for row in found] == [(1, "indel"), (4, "indel"), (9, "indel")]


def test_a_table_alone_asks_for_its_reference(folder, tmp_path, capsys):
    source = table(tmp_path / "in.vcf", ROWS)
    assert main(["score", str(source), "--model", str(folder)]) == 1
    assert "--reference" in capsys.readouterr().err


def test_both_strands_count_alike(folder, reference, tmp_path):
    """The same table told of the reverse complement."""
    turned = tmp_path / "turned.fa"
    turned.write_text(f">1\n{reverse_complement(LETTERS.encode()).decode()}\n")
    places = range(10, 50, 7)
    there = [tuple(reverse_complement(base.encode()).decode() for base in (at(n), other(n))) for n in places]
    one = table(tmp_path / "one.vcf", [(n, at(n), other(n)) for n in places])
    two = table(tmp_path / "two.vcf", [(61 - n, *pair) for n, pair in zip(places, there, strict=True)])
    model = load_model(str(folder))
    scores = [
        [answer.alleles[0].llr for answer in score_variants(str(of), str(fasta), model=model, context=CONTEXT)]
        for of, fasta in ((one, reference), (two, turned))
    ]
    assert scores[0] == scores[1] and len(set(scores[0])) == len(places)
