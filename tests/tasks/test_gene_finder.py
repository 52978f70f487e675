"""Laws of gene finding: planted genes come back from the probabilities that a model would give, whatever the strand,
the code, the ends and the cuts; nothing comes from a model that knows nothing."""

import numpy as np
import pytest

from longseq.errors import CheckpointError
from longseq.formats.genetic_code import genetic_code
from longseq.records import reverse_complement
from longseq.tasks.annotate.finder import GeneFinder, Weights
from longseq.tasks.annotate.frames import CLASSES, Sums, by_frame
from longseq.tokens import DnaTokenizer

LABELS = ("background", *CLASSES)
TOKENIZER = DnaTokenizer()


def codons(rng, number, stops):
    found = []
    while len(found) < number:
        codon = "".join(rng.choice(list("ACGT"), 3))
        if codon not in stops:
            found.append(codon)
    return "".join(found)


def gene(rng, number, code=11, stop="TAA"):
    return ("ATG" + codons(rng, number - 2, genetic_code(code).stops) + stop).encode()


def planted(seed, genes=12, code=11, stop="TAA"):
    """A record, and (start, end, strand) of its genes."""
    rng = np.random.default_rng(seed)
    letters, truth = b"", []
    for i in range(genes):
        letters += rng.choice(np.frombuffer(b"ACGT", np.uint8), 60).tobytes()
        one, strand = gene(rng, int(rng.integers(60, 200)), code, stop), "+-"[i % 3 == 1]
        truth.append((len(letters), len(letters) + len(one), strand))
        letters += one if strand == "+" else reverse_complement(one)
    return letters + b"TTAATTAATTAA" * 5, truth


class Told:
    """A reader that knows the genes of each text: probability `p` of the true class of each base."""

    labels = LABELS
    checkpoint = type("C", (), {"name": "told"})

    def __init__(self, truth, p=0.97, cut=100):
        self.truth, self.p, self.cut, self.texts = truth, p, cut, []

    def __call__(self, pieces):
        text = b"".join(pieces)
        self.texts.append(text)
        found = np.full((len(text), 7), (1 - self.p) / 6, np.float32)
        true = np.zeros(len(text), int)
        for start, end, strand in self.truth.get(text, []):
            at = np.arange(end - start)
            true[start:end] = 1 + at % 3 if strand == "+" else 4 + at[::-1] % 3
        found[np.arange(len(text)), true] = self.p
        ids = TOKENIZER.encode(text)[0]
        for i in range(0, len(text), self.cut):
            yield ids[i : i + self.cut], found[i : i + self.cut]


def find(reader, texts, code=11, circular=False, mixed=False, **options):
    with GeneFinder(reader, genetic_code(code), **options) as finder:
        for i, text in enumerate(texts):
            finder.add(f"r{i}", text, circular=circular)
        found = list(finder.find(mixed=mixed))
        return found, finder.learned


def places(found):
    return [(gene.start, gene.end, gene.strand) for gene in found.genes]


@pytest.mark.parametrize("cut", [7, 100, 10_000])
def test_planted_genes_come_back_from_any_cuts(cut):
    letters, truth = planted(0)
    (found,), learned = find(Told({letters: truth}, cut=cut), [letters])
    assert places(found) == truth and found.letters == letters and not learned
    assert all(0.96 < p < 0.98 for p in found.probabilities)


def test_a_record_and_its_reverse_complement_have_the_same_genes():
    letters, truth = planted(1)
    turned = [(len(letters) - b, len(letters) - a, "+-"[s == "+"]) for a, b, s in truth][::-1]
    (found,), _ = find(Told({reverse_complement(letters): turned}), [reverse_complement(letters)])
    assert places(found) == turned


def test_without_a_model_that_says_so_there_are_no_genes():
    letters, _ = planted(2)
    assert find(Told({}), [letters, b"", b"ACG", b"N" * 500])[0][0].genes == []


def test_mycoplasmas_read_tga_as_tryptophan():
    rng = np.random.default_rng(3)
    one = b"ATG" + codons(rng, 60, ("TAA", "TAG", "TGA")).encode() + b"TGA" + codons(rng, 60, ("TAA", "TAG")).encode()
    letters = b"TAACTAACTAAC" * 5 + one + b"TAA" + b"TTAATTAATTAA" * 5
    truth = [(60, 60 + len(one) + 3, "+")]
    (found,), _ = find(Told({letters: truth}), [letters], code=4)
    assert places(found) == truth
    (found,), _ = find(Told({letters: truth}), [letters], code=11)
    assert truth[0] not in places(found)


def test_genes_at_the_ends_of_a_contig_are_partial():
    rng = np.random.default_rng(4)
    one, two = gene(rng, 120), gene(rng, 120)
    letters = one[31:] + b"TTAATTAATTAA" * 8 + two[:-20]
    truth = [(2, len(one) - 31, "+"), (len(letters) - len(two) + 20, len(letters), "+")]
    (found,), _ = find(Told({letters: truth}), [letters])
    first, last = found.genes
    assert (first.start, first.end) == truth[0][:2] and first.open_begin and not first.open_end
    assert last.start == truth[1][0] and last.end > len(letters) - 3 and last.open_end and not last.open_begin


@pytest.mark.parametrize("strand", "+-")
@pytest.mark.parametrize("spare", [60, 61, 62])
def test_a_gene_across_the_origin_of_a_circle(strand, spare):
    """Whatever the length modulo three, and with what is around the origin on either side of it."""
    rng = np.random.default_rng(5)
    one = gene(rng, 130)
    one = one if strand == "+" else reverse_complement(one)
    spacer = (b"TTAATTAATTAA" * 10)[:spare]
    letters = one[100:] + spacer + one[:100]
    text = letters * 3  # what the reader sees: a turn around it on either side
    reader = Told(
        {text: [(n * len(letters) + len(letters) - 100, (n + 1) * len(letters) + 290, strand) for n in (0, 1)]}
    )
    (found,), _ = find(reader, [letters], circular=True)
    assert reader.texts == [text]
    assert places(found) == [(len(letters) - 100, len(letters) + 290, strand)]
    (found,), _ = find(Told({}), [letters])
    assert found.genes == []


def biased(seed, genes):
    """Genes that prefer some codons, the start after a binding site and before a false start; a record of them."""
    rng = np.random.default_rng(seed)
    liked = ["GCC", "AAA", "CTG", "GAA", "GAT", "ATT", "CGT", "GGC", "ACC", "TCC"]
    letters, truth = b"", []
    for _ in range(genes):
        letters += rng.choice(np.frombuffer(b"ACGT", np.uint8), 90).tobytes()
        body = ["ATG", *rng.choice(liked, 4), "ATG", *rng.choice(liked, 110), "TAA"]
        letters += b"TAAGGAGGTTTTTT"
        truth.append((len(letters), len(letters) + 3 * len(body), "+"))
        letters += "".join(body).encode()
    return letters, truth


def test_a_genome_teaches_its_own_codons_and_starts():
    """A gene of which the model says nothing is found by the codons of the others, and begins where they do."""
    letters, truth = biased(6, 120)
    hidden = truth[50:60]
    reader = Told({letters: truth[:50] + truth[60:]})
    (found,), learned = find(reader, [letters], weights=Weights(alone=0.05))
    assert learned > 30_000 and set(truth[:50]) <= set(places(found))
    assert len(set(hidden) & set(places(found))) >= 8
    (alone,), learned = find(reader, [letters], mixed=True, weights=Weights(alone=0.05))
    assert not learned and not set(hidden) & set(places(alone))


def test_sums_over_frames_are_those_of_a_plain_walk():
    rng = np.random.default_rng(7)
    of_codon = rng.normal(size=(200, 6))
    with Sums() as sums:
        for start in range(0, 200, 70):
            sums.add(by_frame(of_codon[start : start + 70], start))
        for start, end in ((0, 30), (17, 149), (68, 200)):
            forwards = sum(of_codon[i, (i - start) % 3] for i in range(start, end))
            backwards = sum(of_codon[i, 3 + (end - 1 - i) % 3] for i in range(start, end))
            asked = (np.array([start] * 2), np.array([end] * 2), np.array([start % 3, 3 + end % 3]))
            assert np.allclose(sums.between(*asked), [forwards, backwards])


def test_a_model_of_other_classes_is_refused():
    reader = Told({})
    reader.labels = ("none", "CDS+", "CDS-")
    with pytest.raises(CheckpointError, match=r"told: expected a model of the position in the codon \(CDS1\+.*--model"):
        GeneFinder(reader, genetic_code(11))
