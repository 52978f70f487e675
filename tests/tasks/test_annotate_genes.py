"""Laws of the choice of genes: the best of all choices that the rules allow; and what their files say."""

import io
from itertools import combinations

import numpy as np
import pytest

from longseq.errors import ConfigError
from longseq.formats.bed import BedWriter
from longseq.formats.features import read_features
from longseq.formats.genetic_code import genetic_code
from longseq.formats.gff3 import Gff3Writer
from longseq.records import Interval
from longseq.tasks.annotate.gene_files import gene_letters, write_bed, write_gff3, write_proteins
from longseq.tasks.annotate.genes import Gene, allowed, choose
from longseq.tasks.annotate.orfs import find_orfs

SAME, OPPOSITE = 3, 8


def legal(genes, length=None):
    """The rules, pair by pair and base by base."""
    turns = [0] if length is None else [-length, 0, length]
    placed = sorted(gene._replace(start=gene.start + t, end=gene.end + t) for gene in genes for t in turns)
    if not all(allowed(a, b, SAME, OPPOSITE) for a, b in combinations(placed, 2)):
        return False
    depth = {}
    for gene in placed:
        for base in range(gene.start, gene.end):
            depth[base] = depth.get(base, 0) + 1
    return max(depth.values(), default=0) <= 2


def best(genes, length=None):
    """The largest sum of scores of any legal choice."""
    sets = (s for n in range(len(genes) + 1) for s in combinations(genes, n))
    return max(sum(g.score for g in s) for s in sets if legal(s, length))


def drawn(seed, longest, across=0):
    rng = np.random.default_rng(seed)
    genes = []
    for _ in range(8):
        size, start = int(rng.integers(across or 4, longest)), int(rng.integers(0, 60))
        genes.append(Gene(start, start + size, "+-"[int(rng.integers(2))], float(rng.integers(-1, 9))))
    return genes


@pytest.mark.parametrize("seed", range(25))
def test_no_legal_choice_is_better(seed):
    genes = drawn(seed, 25)
    found = choose(genes, same=SAME, opposite=OPPOSITE)
    assert legal(found) and set(found) <= set(genes) and found == sorted(found)
    assert sum(gene.score for gene in found) == best(genes)


@pytest.mark.parametrize("seed", range(12))
def test_no_legal_choice_of_a_circle_is_better(seed):
    """Genes longer than two overlaps, as the rule at the origin wants them."""
    genes = drawn(seed, 30, across=2 * OPPOSITE + 1)
    found = choose(genes, length=60, same=SAME, opposite=OPPOSITE)
    assert legal(found, 60) and set(found) <= set(genes)
    assert sum(gene.score for gene in found) == best(genes, 60)


def test_operons_keep_their_overlaps():
    one, two, three = Gene(0, 300, "+", 5), Gene(296, 600, "+", 5), Gene(500, 900, "-", 5)
    assert choose([three, two, one, Gene(10, 290, "-", 50)]) == [Gene(10, 290, "-", 50), two, three]
    assert choose([one, Gene(200, 500, "+", 6)]) == [Gene(200, 500, "+", 6)]
    assert choose([]) == [] and choose([one._replace(score=0)]) == []
    with pytest.raises(ConfigError, match="overlap"):
        choose([one], same=-1)


@pytest.fixture
def plasmid():
    gene = b"GTG" + b"GCCAAA" * 10 + b"TAA"
    record = gene[30:] + b"TTAATTAATTAA" * 4 + gene[:30]
    orfs = find_orfs(record, genetic_code(11), shortest=60, circular=True)
    genes = [Gene(start, end, orf.strand, 1.0 + (end - start)) for orf in orfs for start, end in orf.spans()]
    return record, gene, choose(genes, length=len(record))


def test_a_gene_across_the_origin_is_written_once(plasmid, tmp_path):
    record, gene, genes = plasmid
    (across,) = [g for g in genes if gene_letters(record, g) == gene]
    assert across.end > len(record)
    text = io.StringIO()
    writer = Gff3Writer(text)
    writer.record("p 1", len(record), circular=True)
    write_gff3(writer, "p 1", genes, genetic_code(11))
    rows = [line.split("\t") for line in text.getvalue().splitlines() if not line.startswith("#")]
    assert f"##sequence-region p%201 1 {len(record)}\n" in text.getvalue()
    assert "Is_circular=true" in rows[0][8]
    (row,) = [row for row in rows[1:] if int(row[3]) == across.start + 1]
    assert row[:5] == ["p%201", "longseq", "CDS", str(across.start + 1), str(across.end)]
    assert row[6:8] == ["+", "0"] and "transl_table=11" in row[8] and len({r[8] for r in rows}) == len(rows)
    bed, proteins = io.StringIO(), io.StringIO()
    write_bed(BedWriter(bed), "p", len(record), [across], [0.75])
    parts = [line.split("\t") for line in bed.getvalue().splitlines()]
    assert [(int(p[1]), int(p[2])) for p in parts] == [(across.start, len(record)), (0, across.end - len(record))]
    assert all(p[3].startswith("CDS") and p[4] == "750" and p[6] == "0.75" for p in parts)
    write_proteins(proteins, "p", record, [across], genetic_code(11))
    assert "".join(proteins.getvalue().splitlines()[1:]) == "M" + "AK" * 10


def test_partial_genes_say_so(tmp_path):
    record = b"GCC" * 40
    genes = [Gene(o.start, o.end, o.strand, 2.5, o.open_begin, o.open_end) for o in find_orfs(record, genetic_code(11))]
    assert len(genes) == 6 and all(g.open_begin and g.open_end for g in genes)
    text, proteins = io.StringIO(), io.StringIO()
    left = genes[0]._replace(open_begin=False)
    write_gff3(Gff3Writer(text), "c", [genes[0], left._replace(strand="-")], genetic_code(4))
    first, second = text.getvalue().splitlines()[1:]
    assert first.split("\t")[8] == "ID=c_1;transl_table=4;partial=true;start_range=.,1;end_range=120,."
    assert second.split("\t")[8] == "ID=c_2;transl_table=4;partial=true;start_range=.,1"
    write_proteins(proteins, "c", record, genes[:1], genetic_code(4))
    assert proteins.getvalue() == ">c_1 c:1-120(+) partial\n" + "A" * 40 + "\n"
    (tmp_path / "c.gff3").write_text(text.getvalue())
    read = [feature.interval for feature in read_features(tmp_path / "c.gff3")]
    assert read == [Interval(record="c", start=0, end=120, strand=s) for s in "+-"]


def test_gff3_keeps_to_its_format():
    text = io.StringIO()
    writer = Gff3Writer(text)
    odd = {"Note": "a;b=c,d&e%\t\u00e9"}
    writer.write(Interval(record="a b>c", start=0, end=1), "x", score=0.5, attributes=odd)
    assert text.getvalue() == "##gff-version 3\na%20b%3Ec\tlongseq\tx\t1\t1\t0.5\t.\t.\tNote=a%3Bb%3Dc%2Cd%26e%25%09é\n"
    with pytest.raises(ValueError, match="phase"):
        writer.write(Interval(record="a", start=0, end=3), "CDS")
    with pytest.raises(ValueError, match="empty"):
        writer.write(Interval(record="a", start=3, end=3), "x")
