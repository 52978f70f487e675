"""Ends of records: repeats of the beginning at the end, and telomeres, found where planted and nowhere else."""

import random

import pytest
from dna_oracles import record

from longseq.records import reverse_complement
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.ends import KEPT
from longseq.tasks.summarize.telomeres import UNITS


def drawn(length: int, seed: int = 0) -> bytes:
    return "".join(random.Random(seed).choices("ACGT", k=length)).encode()


def changed(letters: bytes, share: float) -> bytes:
    chance, out = random.Random(1), bytearray(letters)
    for i in chance.sample(range(len(out)), round(share * len(out))):
        out[i] = chance.choice([b for b in b"ACGT" if b != out[i]])
    return bytes(out)


def row_of(letters: bytes, cuts: list[int] | None = None, **facts):
    (summary,) = summarize_records([record(letters, cuts, **facts)], window=0)
    return summary.row


@pytest.mark.parametrize("length", [20, 127, 3_162, 40_000, KEPT])
def test_a_beginning_that_stands_at_the_end_again_is_found(length):
    letters = drawn(150_000)
    row = row_of(letters + letters[:length].lower(), [1_000, 70_001])
    assert (row.findings.terminal_repeat.length, row.findings.terminal_repeat.identity) == (length, 1.0)
    assert row.topology == "terminal repeat found"


def test_a_near_repeat_says_how_near_and_a_far_one_is_none():
    letters = drawn(30_000)
    near = row_of(letters + changed(letters[:2_000], 0.03)).findings.terminal_repeat
    assert near.length == 2_000 and near.identity == pytest.approx(0.97)
    assert row_of(letters + changed(letters[:2_000], 0.1)).findings.terminal_repeat is None
    assert row_of(letters + changed(letters[:60], 0.04)).findings.terminal_repeat is None


@pytest.mark.parametrize(
    "letters",
    [
        b"",
        b"ACGT",
        drawn(50_000),
        drawn(50_000) + drawn(50_000)[:19],
        b"A" * 200 + drawn(5_000) + b"A" * 200,
        b"CAG" * 100 + drawn(5_000) + b"CAG" * 100,
        b"N" * 500 + drawn(5_000) + b"N" * 500,
        reverse_complement(drawn(500)) + drawn(5_000, 1) + drawn(500),
    ],
)
def test_no_repeat_without_one(letters):
    row = row_of(letters)
    assert row.findings.terminal_repeat is None and row.topology == "unknown"


def test_topology_is_what_is_declared_and_never_a_guess_from_a_part():
    letters = drawn(5_000) + drawn(5_000)[:300]
    declared = row_of(letters, topology="circular")
    assert declared.topology == "declared circular" and declared.findings.terminal_repeat.length == 300
    for part in (row_of(letters, notes={"offset": 0}), row_of(letters, truncated=True)):
        assert part.topology == "unknown" and part.findings.terminal_repeat is None


@pytest.mark.parametrize("unit", UNITS)
def test_telomeres_at_both_ends_are_told_by_unit_end_strand_and_length(unit):
    word, inside = unit.encode(), b"ACGT" + drawn(20_000) + b"CGTA"
    chromosome = reverse_complement(word) * 60 + inside + word[2:] + word * 90
    start, end = row_of(chromosome, [500, 9_000]).findings.telomeres
    assert (start.end, start.unit, start.strand) == ("start", unit, "-")
    assert (end.end, end.unit, end.strand) == ("end", unit, "+")
    assert 0 <= start.length - 60 * len(unit) < 2 * len(unit) and 0 <= end.length - 90 * len(unit) < 3 * len(unit)
    back = row_of(reverse_complement(chromosome)).findings.telomeres
    assert [(one.length, one.strand) for one in back] == [(end.length, "-"), (start.length, "+")]


def test_a_telomere_may_have_errors_and_stand_behind_a_little_else():
    letters = drawn(20_000) + changed(b"TTAGGG" * 300, 0.01) + drawn(80, 3)
    (found,) = row_of(letters).findings.telomeres
    assert found.unit == "TTAGGG" and found.end == "end" and abs(found.length - 1_800) < 40
    assert found.repeated < found.length


@pytest.mark.parametrize(
    "letters",
    [
        drawn(200_000),
        b"TTAGGG" * 9 + drawn(2_000),
        drawn(2_000) + b"TTAGGG" * 500 + drawn(2_000, 1),
        drawn(2_000) + b"TTAGGG" * 500 + drawn(150, 1),
        b"TG" * 300 + drawn(2_000) + b"TGTGGG" * 60,
        b"AT" * 5_000,
        b"N" * 2_000,
    ],
)
def test_no_telomere_without_a_long_run_at_an_end(letters):
    assert row_of(letters).findings.telomeres == ()


def test_reads_and_parts_have_no_ends():
    letters = b"CCCTAA" * 100 + drawn(1_000) + b"TTAGGG" * 100
    assert row_of(letters, quality=b"I" * len(letters)).findings.telomeres == ()
    assert row_of(letters, notes={"offset": 10}).findings.telomeres == ()
    assert [one.end for one in row_of(letters, truncated=True).findings.telomeres] == ["start"]


def test_cuts_change_nothing():
    letters = b"CCCTAA" * 40 + drawn(139_000) + b"CCCTAA" * 40 + drawn(1_000)[:50]
    whole, chance = row_of(letters), random.Random(2)
    assert whole.findings.terminal_repeat is None and len(whole.findings.telomeres) == 2
    for count in (1, 5, 300):
        assert row_of(letters, chance.choices(range(140_000), k=count)) == whole
