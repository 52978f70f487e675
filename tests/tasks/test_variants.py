"""Scores of variants: the definition, both strands, equal rows, reasons, and files that others read."""

import gzip
import json
import lzma
import math
import random
from pathlib import Path

import numpy as np
import pysam
import pytest
import torch

from longseq.cli import main
from longseq.errors import InputError, StoppedError
from longseq.formats.vcf import VcfFile
from longseq.model import LanguageModel, ModelConfig, save
from longseq.records import reverse_complement
from longseq.tasks.summarize.model import load_model
from longseq.tasks.variants import VariantRequest, VariantRun, score_variants
from longseq.tasks.variants.alleles import trimmed
from longseq.tasks.variants.kept import Kept
from longseq.tokens import DnaTokenizer

HEAD = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
CONTEXT = 30


def letters(length, seed):
    return "".join(random.Random(seed).choices("ACGT", k=length))


CHROMOSOME, PLASMID = letters(300, 0), letters(80, 1)
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}


def row(record, position, ref, alt, info="."):
    return "\t".join([record, str(position), ".", ref, alt, ".", ".", info])


def at(position, length=1, sequence=CHROMOSOME):
    return sequence[position - 1 : position - 1 + length]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    model = LanguageModel(ModelConfig(width=16, heads=2, layers=1))
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(3))
    save(folder / "m", model, DnaTokenizer())
    return folder / "m"


@pytest.fixture(scope="module")
def model(folder):
    return load_model(str(folder))


@pytest.fixture
def files(tmp_path):
    """Writes rows and the reference they speak of."""
    reference = tmp_path / "ref.fa"
    reference.write_text(f">gi|7|ref|NC_000001.1| x\n{CHROMOSOME}\n>p\n{PLASMID.lower()}\n")

    def write(*rows, head=HEAD):
        table = tmp_path / "in.vcf"
        table.write_text(head + "".join(line + "\n" for line in rows))
        return str(table), str(reference)

    return write


def answers(files, model, *rows, **options):
    return list(score_variants(*files(*rows), model=model, context=CONTEXT, **options))


def naive(model, start, ref, alt, sequence=CHROMOSOME):
    """The definition: whole windows in one forward, counted from the allele to the end, both strands."""

    def nats(window, first):
        ids = torch.from_numpy(model.surprisal.tokenizer.encode(window.encode())[0].astype(np.int64))[None]
        with torch.inference_mode():
            logits, _ = model.surprisal.checkpoint.language_model()(ids)
        log = torch.log_softmax(logits.double(), -1)[0].gather(1, ids[0, :, None])[:, 0]
        return float(log[first:].sum())

    left, right = sequence[max(start - CONTEXT, 0) : start], sequence[start + len(ref) :][:CONTEXT]
    turned = [reverse_complement(part.encode()).decode() for part in (right, ref, alt, left)]
    forward = nats(left + alt + right, len(left)) - nats(left + ref + right, len(left))
    before, old, new, after = turned
    reverse = nats(before + new + after, len(before)) - nats(before + old + after, len(before))
    return forward, reverse


@pytest.mark.parametrize(
    ("position", "ref", "alt"),
    [
        (150, at(150), OTHER[at(150)]),
        (1, at(1), OTHER[at(1)]),
        (300, at(300), OTHER[at(300)]),
        (10, at(10), OTHER[at(10)]),
        (100, at(100, 4), at(100)),
        (200, at(200), at(200) + "GATTACA"),
    ],
)
def test_definition(files, model, position, ref, alt):
    (answer,) = answers(files, model, row("NC_000001", position, ref, alt))
    (score,) = answer.alleles
    skipped, old, new = trimmed(ref, alt)
    forward, reverse = naive(model, position - 1 + skipped, old, new)
    assert abs(forward) > 1e-3
    assert [score.forward, score.reverse] == pytest.approx([forward, reverse], abs=2e-5)
    assert score.llr == pytest.approx((forward + reverse) / 2, abs=2e-5)
    assert score.reason == ("indel" if len(ref) != len(alt) else None)


def test_strands_mirror(files, model, tmp_path):
    """A variant, and the same one told of the reverse complement of its record."""
    ref, alt = at(120), OTHER[at(120)]
    (one,) = answers(files, model, row("NC_000001", 120, ref, alt))
    turned = tmp_path / "turned.fa"
    turned.write_text(">NC_000001\n" + reverse_complement(CHROMOSOME.encode()).decode() + "\n")
    there = [reverse_complement(x.encode()).decode() for x in (ref, alt)]
    table, _ = files(row("NC_000001", 301 - 120, *there))
    (two,) = score_variants(table, str(turned), model=model, context=CONTEXT)
    assert one.alleles[0].llr == two.alleles[0].llr
    assert one.alleles[0].forward == two.alleles[0].reverse != two.alleles[0].forward


def test_equal_changes_have_equal_scores_and_are_read_once(files, model):
    ref, alt = at(150), OTHER[at(150)]
    pair, long = at(150, 2), alt + at(151)
    table, reference = files(
        row("NC_000001", 150, ref, alt),
        row("NC_000001", 150, ref, alt),
        row("NC_000001", 150, pair, f"{long},{ref},*"),
        row("NC_000001", 150, ref.lower(), alt.lower()),
        row("NC_000001", 150, ref, ref),
    )
    with VariantRun(VariantRequest(variants=table, reference=reference, context=CONTEXT), model) as run:
        run.score()
        found = list(run.answers())
        assert run.windows == 4 + 4 + 2  # a change, a deletion, an allele that changes nothing; both strands
    first = found[0].alleles[0].llr
    assert [answer.alleles[0].llr for answer in found] == [first, first, first, first, 0.0]
    assert [allele.reason for allele in found[2].alleles] == [None, "indel", "star"]


REASONED = [
    (row("NC_000001", 5, at(5), "."), "no_alt"),
    (row("NC_000001", 5, at(5), "*"), "star"),
    (row("NC_000001", 5, at(5), "<DEL>"), "symbolic"),
    (row("NC_000001", 5, at(5), "<*>"), "symbolic"),
    (row("NC_000001", 5, at(5), f"{at(5)}[p:3["), "breakend"),
    (row("NC_000001", 5, at(5), "N"), "ambiguous"),
    (row("NC_000001", 5, at(5), "A" * 51), "too_long"),
    (row("NC_000001", 5, at(5, 51), at(5)), "too_long"),
]
FAULTY = [
    (row("NC_000001", 5, OTHER[at(5)], at(5)), "ref_mismatch"),
    (row("p", 80, at(80, 1, PLASMID) + "A", "A"), "outside"),
    (row("p", 0, "N", "A"), "outside"),
    (row("elsewhere", 5, "A", "C"), "no_record"),
]


def test_what_has_no_number_has_a_reason(files, model):
    table = [*REASONED, *FAULTY]
    found = answers(files, model, *(line for line, _ in table), longest=50)
    assert [answer.alleles[0].reason for answer in found] == [reason for _, reason in table]
    assert all(allele.llr is None for answer in found for allele in answer.alleles)


def test_at_the_limit_an_allele_is_scored(files, model):
    (answer,) = answers(files, model, row("NC_000001", 5, at(5, 50), at(5)), longest=50)
    assert answer.alleles[0].reason == "indel" and answer.alleles[0].llr is not None
    assert answer.alleles[0].changed == 49


def test_a_code_in_the_reference_is_not_counted(files, model, tmp_path):
    alt = OTHER[at(150)]
    table, _ = files(*(row("c", 150, ref, alt) for ref in ("N", at(150))))
    reference = tmp_path / "n.fa"
    reference.write_text(f">c\n{CHROMOSOME[:149]}N{CHROMOSOME[150:]}\n")
    found = [answer.alleles[0] for answer in score_variants(table, str(reference), model=model, context=CONTEXT)]
    assert [score.reason for score in found] == ["code_in_ref", None]
    assert all(math.isfinite(score.llr) and score.llr != 0 for score in found)


def run(folder, *arguments):
    return main(["score", "--model", str(folder), "--context", str(CONTEXT), *map(str, arguments)])


def test_written_rows_are_the_rows_that_were_read(files, folder, model, tmp_path, capsys):
    """What htslib reads of our file: the same rows, our numbers, an index."""
    lines = [
        row("NC_000001", 150, at(150), OTHER[at(150)] + ",*", "DP=3;UNDECLARED=a,b"),
        row("NC_000001", 151, at(151), ".") + "\tGT:XX\t1:.\t./.:4",
        row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)]),
    ]
    table, reference = files(*lines, head=HEAD.replace("INFO\n", "INFO\tFORMAT\ts1\ts 2\n"))
    out = tmp_path / "out.vcf.gz"
    assert run(folder, table, "--reference", reference, "--out", out) == 0
    assert "NC_000001 is gi|7|ref|NC_000001.1|" in capsys.readouterr().err
    expected = list(score_variants(table, reference, model=model, context=CONTEXT))
    with pysam.VariantFile(str(out)) as file:
        assert file.header.info["LONGSEQ_LLR"].number == "A"
        assert file.header.contigs["NC_000001"].length == len(CHROMOSOME)
        (there,) = file.fetch("p", 0, 80)
        assert there.info["LONGSEQ_LLR"] == pytest.approx((expected[2].alleles[0].llr,), rel=1e-5)
        found = list(file.fetch("NC_000001"))
    assert found[0].info["LONGSEQ_LLR"][0] == pytest.approx(expected[0].alleles[0].llr, rel=1e-5)
    assert found[0].info["LONGSEQ_LLR"][1] is None
    assert found[0].info["LONGSEQ_REASON"] == (".", "star") or found[0].info["LONGSEQ_REASON"] == (None, "star")
    assert "LONGSEQ_LLR" not in found[1].info
    with VcfFile(out) as ours:
        for cells, line in zip((row.cells for row in ours.rows()), lines, strict=True):
            before = line.split("\t")
            assert cells[:7] + cells[8:] == before[:7] + before[8:]
            assert before[7] == "." or cells[7].startswith(before[7] + ";LONGSEQ")


def test_a_scored_table_scored_again_is_the_same(files, folder, tmp_path):
    table, reference = files(row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)], "DP=3"))
    once, twice = tmp_path / "1.vcf", tmp_path / "2.vcf"
    assert run(folder, table, "--reference", reference, "--out", once) == 0
    assert run(folder, once, "--reference", reference, "--out", twice) == 0
    one, two = (
        [line for line in path.read_text().splitlines() if not line.startswith("##longseq_")] for path in (once, twice)
    )
    assert one == two


def test_every_container_and_bcf_say_the_same(files, model, tmp_path):
    table, reference = files(row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)], "DP=3"))
    declared = "##contig=<ID=p>\n##INFO=<ID=DP,Number=1,Type=Integer,Description=x>\n#CHROM"
    text = Path(table).read_text().replace("#CHROM", declared)
    sources = {name: tmp_path / f"x.{name}" for name in ("vcf", "gz", "xz", "bcf")}
    sources["vcf"].write_text(text)
    sources["gz"].write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    sources["xz"].write_bytes(lzma.compress(text.encode()))
    with pysam.VariantFile(str(sources["vcf"])) as file:
        with pysam.VariantFile(str(sources["bcf"]), "wb", header=file.header) as out:
            for record in file:
                out.write(record)
    found = {
        tuple((a.row.variant, tuple(a.row.cells), a.alleles) for a in score_variants(s, reference, model=model))
        for s in map(str, sources.values())
    }
    assert len(found) == 1


@pytest.mark.parametrize(("line", "reason"), FAULTY, ids=[reason for _, reason in FAULTY])
def test_data_that_do_not_belong_together_exit_3_and_are_named(files, folder, tmp_path, capsys, line, reason):
    good = row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)])
    table, reference = files(good, line)
    assert run(folder, table, "--reference", reference, "--json") == 3
    out, err = capsys.readouterr()
    assert f"{table}:4" in err
    document = json.loads(out)
    assert [variant["reason"] for variant in document["variants"]] == [None, reason]
    assert math.isfinite(document["variants"][0]["llr"])


def test_names_that_match_nothing_are_listed_from_both_sides(files, model):
    with pytest.raises(InputError, match=r"gi\|7\|.*elsewhere.*--alias"):
        answers(files, model, row("elsewhere", 5, "A", "C"))
    (answer,) = answers(
        files, model, row("elsewhere", 5, at(5), OTHER[at(5)]), alias=(("gi|7|ref|NC_000001.1|", "elsewhere"),)
    )
    assert answer.alleles[0].reason is None


def test_a_stopped_run_goes_on_to_the_same_bytes(files, folder, tmp_path, monkeypatch, capsys):
    table, reference = files(*(row("NC_000001", n, at(n), OTHER[at(n)]) for n in range(50, 250, 20)))
    whole, part = tmp_path / "whole.tsv", tmp_path / "part.tsv"
    assert run(folder, table, "--reference", reference, "--out", whole) == 0

    def stops(self, key, bits, keep=Kept.__setitem__):
        keep(self, key, bits)
        if len(self) == 7:
            raise StoppedError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(Kept, "__setitem__", stops)
        assert run(folder, table, "--reference", reference, "--out", part) == 85
    assert not part.exists() and (tmp_path / ".part.tsv.partial").exists()
    assert run(folder, table, "--reference", reference, "--out", part) == 2
    assert run(folder, table, "--reference", reference, "--out", part, "--context", 31, "--resume") == 1
    capsys.readouterr()
    reads = []
    step = VariantRun._unread

    def counted(self):
        for item in step(self):
            reads.append(item)
            yield item

    monkeypatch.setattr(VariantRun, "_unread", counted)
    assert run(folder, table, "--reference", reference, "--out", part, "--resume") == 0
    assert len(reads) == 40 - 7
    assert part.read_bytes() == whole.read_bytes()
    assert not (tmp_path / ".part.tsv.partial").exists()


def test_a_finished_table_is_known_by_what_it_was_made_of(files, folder, tmp_path, capsys):
    table, reference = files(*(row("NC_000001", n, at(n), OTHER[at(n)]) for n in (50, 70)))
    arguments = (folder, table, "--reference", reference, "--out", tmp_path / "out.vcf")
    assert run(*arguments) == 0
    written = (tmp_path / "out.vcf").read_bytes()
    assert run(*arguments, "--resume") == 0 and (tmp_path / "out.vcf").read_bytes() == written
    Path(table).write_text(Path(table).read_text().replace("\t70\t", "\t71\t"))  # as long as before
    assert run(*arguments, "--resume") == 2
    assert "not known to be the result of this request" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--reference", "ref.fa", "--track"], "--track cannot be combined with --reference"),
        (["--reference", "ref.fa", "--strands", "both"], "both strands are always read"),
        (["--context", "5"], "--context needs --reference"),
        (["--reference", "ref.fa", "--out", "x.txt"], ".vcf"),
        (["--reference", "ref.fa", "--resume"], "--resume needs --out"),
    ],
)
def test_wrong_requests_exit_2(files, folder, tmp_path, monkeypatch, capsys, options, said):
    files(row("p", 7, at(7, 1, PLASMID), "A"))
    monkeypatch.chdir(tmp_path)
    assert main(["score", "in.vcf", "--model", str(folder), *options]) == 2
    assert said in capsys.readouterr().err
