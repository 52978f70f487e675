"""Classes by the position in the codon, from phases and codon starts, over parts, strands and origins."""

import numpy as np
import pytest
import torch

from longseq.config import from_mapping
from longseq.errors import ConfigError
from longseq.formats.features import read_features
from longseq.model import load
from longseq.training import TrainConfig, train
from longseq.training.config import LabelConfig
from longseq.training.painting import NOTHING, Painting

GFF = "##gff-version 3\n"


def row(start, end, strand, phase, attributes="ID=x", kind="CDS", record="a"):
    """1-based and closed."""
    return f"{record}\tus\t{kind}\t{start}\t{end}\t.\t{strand}\t{phase}\t{attributes}\n"


def painting(tmp_path, text, length=24, name="l.gff", **options):
    (tmp_path / name).write_text(text)
    given = {"codons": ("CDS",), "classes": ("CDS",), "strands": True} | options
    return Painting(["a"], np.array([length]), LabelConfig(file=str(tmp_path / name), **given))


def read(found, length=24):
    """A letter a base: `.` background, `1`-`3` of +, `a`-`c` of -, `?` where nothing is asked."""
    letters = {"background": "."} | {
        f"CDS{i}{s}": ("123" if s == "+" else "abc")[i - 1] for i in (1, 2, 3) for s in "+-"
    }
    return "".join("?" if i == NOTHING else letters[found.names[i]] for i in found.classes(0, 0, length).tolist())


def test_names_and_mirror(tmp_path):
    found = painting(tmp_path, GFF + row(1, 6, "+", 0))
    assert found.names == ("background", "CDS1+", "CDS1-", "CDS2+", "CDS2-", "CDS3+", "CDS3-")
    assert [found.names[i] for i in found.mirror[:-1]] == [
        "background", "CDS1-", "CDS1+", "CDS2-", "CDS2+", "CDS3-", "CDS3+",
    ]  # fmt: skip
    assert found.mirror[NOTHING] == NOTHING


@pytest.mark.parametrize(("strand", "phase", "wanted"), [
    ("+", 0, "..1231231......"), ("+", 1, "..3123123......"), ("+", 2, "..2312312......"),
    ("-", 0, "..acbacba......"), ("-", 1, "..cbacbac......"), ("-", 2, "..bacbacb......"),
])  # fmt: skip
def test_phases_of_gff(tmp_path, strand, phase, wanted):
    found = painting(tmp_path, GFF + row(3, 9, strand, phase))
    assert read(found, 15) == wanted
    assert "".join(read(found, 15)[i] for i in range(5, 9)) == wanted[5:9]
    some = found.classes(0, 5, 9)
    assert np.array_equal(some, found.classes(0, 0, 15)[5:9])


GENBANK = """LOCUS       a  24 bp DNA circular
FEATURES             Location/Qualifiers
     CDS             {place}
                     /note="/pseudo is no word here"
{more}ORIGIN
        1 acgtacgtacgtacgtacgtacgt
//
"""


@pytest.mark.parametrize(("place", "more", "wanted"), [
    ("join(2..5,8..12)", "", ".1231..23123............"),
    ("complement(join(2..5,8..12))", "", ".cbac..bacba............"),
    ("join(complement(8..12),complement(2..5))", "", ".cbac..bacba............"),
    ("join(21..24,1..5)", "", "23123...............1231"),
    ("complement(join(21..24,1..5))", "", "bacba...............cbac"),
    ("<2..7", "/codon_start=2", ".312312................."),
    ("2..7", "/pseudo", ".??????................."),
    ("2..7", '/pseudogene="unknown"', ".??????................."),
    ("join(2..5,X1.1:3..4,8..10)", "", ".????..123.............."),  # how long the part elsewhere is
])  # fmt: skip
def test_parts_and_codon_starts_of_genbank(tmp_path, place, more, wanted):
    line = f"                     {more}\n" if more else ""
    text = GENBANK.format(place=place, more=line)
    if wanted.count("?") == 6:  # another gene, so that there is a class
        text = text.replace("ORIGIN", "     CDS             12..14\nORIGIN")
        wanted = wanted[:11] + "123" + wanted[14:]
    assert read(painting(tmp_path, text, name="l.gb", ignore=("pseudo",))) == wanted


def test_an_origin_in_gff_is_that_of_genbank(tmp_path):
    circle = row(1, 24, "+", ".", "ID=a;Is_circular=true", "region")
    for strand, place in (("+", "join(21..24,1..5)"), ("-", "complement(join(21..24,1..5))")):
        one = read(painting(tmp_path, GFF + circle + row(21, 29, strand, 0)))
        assert one == read(painting(tmp_path, GENBANK.format(place=place, more=""), name="l.gb"))


def test_what_is_ignored_is_neither_class_nor_background(tmp_path):
    text = GFF + row(1, 6, "+", 0) + row(4, 9, "+", 1) + row(4, 12, "+", 0) + row(13, 18, "-", 0, "ID=p;pseudo=true")
    text += row(19, 24, "+", 0, "ID=q;partial=true")
    assert read(painting(tmp_path, text)) == "123123123123cbacba123123"
    every = painting(tmp_path, text, ignore=("pseudo", "partial", "overlaps"))
    assert read(every) == "123??????123????????????"
    assert every.counts([(0, 0, 24)]).sum() == 6
    assert read(painting(tmp_path, text, ignore=("pseudo",))) == "123123123123??????123123"


def test_intervals_without_a_phase_begin_with_a_codon_if_they_are_whole(tmp_path):
    bed = "a\t0\t6\tCDS\t0\t-\na\t8\t12\tCDS\t0\t+\n"
    assert read(painting(tmp_path, bed, name="l.bed")) == "cbacba..????............"
    assert next(read_features(tmp_path / "l.bed")).codon is None


def test_other_names_stay_whole_and_unknown_ones_are_refused(tmp_path):
    text = GFF + row(1, 6, "+", 0) + row(9, 10, "-", ".", kind="tRNA")
    found = painting(tmp_path, text, classes=())
    assert "tRNA-" in found.names and "CDS3-" in found.names and "tRNA1-" not in found.names
    with pytest.raises(ConfigError, match=r"labels\.codons: expected names of intervals .*found 'gene'"):
        painting(tmp_path, text, classes=(), codons=("gene",))
    with pytest.raises(ConfigError, match=r"labels\.codons: expected names among labels\.classes"):
        LabelConfig(file="x", classes=("CDS",), codons=("gene",))


def test_a_causal_model_without_a_period_goes_on_as_one_of_codons(tmp_path):
    """Its encoder is taken over; the places of the period and the second reading are new."""
    fasta, labels = tmp_path / "x.fa", tmp_path / "l.gff"
    fasta.write_text(">a\n" + "ACGTTGCAAGTCCATG" * 8 + "\n>b\n" + "TTGACCATGGCA" * 8 + "\n")
    labels.write_text(GFF + row(7, 66, "+", 0) + row(70, 90, "-", 0, "ID=y", record="b"))
    given = {"inputs": [str(fasta)], "steps": 1, "batch": 64, "device": "cpu", "threads": 1, "data": {"window": 32}}
    shape = {"width": 16, "layers": 1, "heads": 2}
    train(from_mapping(TrainConfig, {**given, "model": {**shape, "seed": 5}}), tmp_path / "first")
    config = {
        **given, "task": "annotate", "start": str(tmp_path / "first" / "model"), "optimiser": {"rate": 1e-9},
        "model": {"visibility": "both", "period": 3}, "evaluation": {"every": 0},
        "labels": {"file": str(labels), "classes": ["CDS"], "codons": ["CDS"], "strands": True, "held_out": 0},
    }  # fmt: skip
    train(from_mapping(TrainConfig, config), tmp_path / "second")
    first, second = (load(tmp_path / name / "model") for name in ("first", "second"))
    assert second.config.period == 3 and second.config.visibility == "both" and len(second.labels) == 7
    weights = second.model.encoder.state_dict()
    assert weights["places.weight"].shape == (3, 16) and weights["places.weight"].abs().mean() > 0.1
    for name, tensor in first.model.encoder.state_dict().items():
        assert torch.allclose(tensor, weights[name], atol=1e-6)
