"""Laws of open reading frames: all that a plain walk finds, partial at ends, around the origin, in other codes."""

import numpy as np
import pytest

from longseq.errors import UsageError
from longseq.formats.genetic_code import genetic_code
from longseq.records import reverse_complement
from longseq.tasks.annotate.orfs import find_orfs


def letters(n, seed, alphabet=b"ACGT"):
    return np.random.default_rng(seed).choice(np.frombuffer(alphabet, np.uint8), n).tobytes()


def walked(record, code, shortest):
    """(start, end, strand, begins, open begin, open end) codon by codon."""
    found = []
    for strand, text in (("+", record), ("-", reverse_complement(record))):
        for frame in range(3):
            begins, open_begin, at = [frame], True, frame
            while at + 3 <= len(text):
                codon = text[at : at + 3].decode().upper()
                if codon in code.starts and at not in begins:
                    begins.append(at)
                at += 3
                if codon in code.stops:
                    found.append((strand, begins, at, open_begin, False))
                    begins, open_begin = [], False
            found.append((strand, begins, at, open_begin, True))
    size, rows = len(record), []
    for strand, begins, end, *flags in found:
        if not begins or end - begins[0] < max(shortest, 3):
            continue
        if strand == "-":
            begins, end = [size - b for b in begins], size - end
        rows.append((min(begins[0], end), max(begins[0], end), strand, tuple(begins), *flags))
    return sorted(rows)


@pytest.mark.parametrize("number", [11, 4, 1])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 17, 400])
def test_every_frame_of_a_plain_walk_is_found(number, length):
    code = genetic_code(number)
    for seed in range(4):
        record = letters(length, seed, b"ACGTacgtNR" if seed % 2 else b"ACGT")
        assert [tuple(orf) for orf in find_orfs(record, code, shortest=12)] == walked(record, code, 12)


def test_strands_mirror():
    record, code = letters(600, 3), genetic_code(11)
    there, back = find_orfs(record, code), find_orfs(reverse_complement(record), code)
    turned = sorted((600 - o.end, 600 - o.start, "+-"[o.strand == "+"], tuple(600 - b for b in o.begins)) for o in back)
    assert there and [orf[:4] for orf in there] == turned


def test_a_circle_has_no_ends():
    """Turned anywhere, a circle has the same frames; each begins with a start and ends with a stop."""
    code = genetic_code(11)
    for seed, size in ((0, 300), (1, 301), (2, 302)):
        record = letters(size, seed)
        sets = []
        for turn in (0, 1, 100, 299):
            turned = record[turn:] + record[:turn]
            found = find_orfs(turned, code, shortest=30, circular=True)
            for orf in found:
                assert 0 <= orf.start < size and orf.end - orf.start <= size and (orf.end - orf.start) % 3 == 0
                assert not (orf.open_begin or orf.open_end)
                for start, end in orf.spans():
                    piece = (turned * 3)[start + size * (start < 0) :][: end - start]
                    piece = piece if orf.strand == "+" else reverse_complement(piece)
                    codons = [piece[i : i + 3].decode() for i in range(0, len(piece), 3)]
                    assert codons[0] in code.starts and codons[-1] in code.stops
                    assert not set(codons[:-1]) & set(code.stops)
            sets.append({((o.start + turn) % size, o.end - o.start, o.strand, len(o.begins)) for o in found})
        assert sets[0] and all(found == sets[0] for found in sets)


def test_a_frame_across_the_origin_ends_behind_the_length():
    gene = b"ATG" + b"GCC" * 12 + b"TAA"
    record = gene[20:] + b"TAATTAATTAAT" * 3 + gene[:20]
    assert (len(record) - 20, len(record) - 20 + len(gene), "+") in {
        orf[:3] for orf in find_orfs(record, genetic_code(11), shortest=30, circular=True)
    }


def test_mycoplasmas_read_tga_as_tryptophan():
    record = b"TAAATG" + b"GCC" * 5 + b"TGA" + b"GCC" * 30 + b"TAATAA"
    ends = {number: {o.end - o.start for o in find_orfs(record, genetic_code(number), shortest=60) if o.start == 3}
            for number in (11, 4)}  # fmt: skip
    assert ends[4] == {3 + 15 + 3 + 90 + 3} and not ends[11]
    assert genetic_code(4).translate(b"ATGTGATAA", starts=True) == "MW"


def test_proteins_equal_those_of_another_library():
    from Bio.Seq import Seq

    for number in (11, 4, 1, 2):
        record = letters(300, number)
        wanted = str(Seq(record.decode()).translate(number))
        assert genetic_code(number).translate(record, starts=False) == wanted.removesuffix("*")
    assert genetic_code(11).translate(b"gtgANAUAA", starts=True) == "MX"


@pytest.mark.parametrize(("number", "said"), [(7, "expected one of 1, 2, 3"), (27, "TGA is a stop and W")])
def test_codes_that_cannot_be_used_are_named(number, said):
    with pytest.raises(UsageError, match=said):
        genetic_code(number)
