"""Rows and what they add up to."""

import math

import pytest
from dna_oracles import record

from longseq.errors import AlphabetError, ConfigError, InputError, UsageError
from longseq.records import Record
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.totals import TotalsCounter


def totals(records, **options):
    counter = TotalsCounter()
    for summary in summarize_records(records, **options):
        counter.add(summary.row)
    return counter.finish()


def test_totals_of_a_small_file():
    letters = [b"ACGTNNacgtR", b"", b"ACGTNNACGTR", b"GGCC", b"NNNN"]
    names = ["a", "b", "c", "a", "d"]
    found = totals(record(x, id=name, index=i) for i, (x, name) in enumerate(zip(letters, names, strict=True)))
    assert (found.num_seqs, found.sum_len, found.min_len, found.max_len) == (5, 30, 0, 11)
    assert found.gc == pytest.approx(100 * 12 / 20) and found.gc_of_length == pytest.approx(100 * 12 / 30)
    assert found.letters == {"A": 4, "C": 6, "G": 6, "T": 4, "R": 2, "N": 8}
    assert (found.sum_n, found.iupac, found.gaps, found.longest_gap) == (8, 2, 3, 4)
    assert found.n_per_100kbp == pytest.approx(100_000 * 8 / 30)
    assert found.softmask == pytest.approx(100 * 4 / 30)
    assert (found.empty, found.truncated) == (1, 0)
    assert (found.duplicate_ids, found.duplicate_sequences, found.duplicate_rows) == (1, 1, (2, 3))
    assert found.q20 is None and found.bits_per_base is None


def test_repeated_rows_are_told_by_their_places_in_the_file():
    parts = [(b"AC", "a", 1), (b"ACGT", "b", 4), (b"ACGA", "b", 6), (b"ACGT", "c", 7), (b"CG", "a", 1), (b"AC", "a", 1)]
    found = totals(record(letters, id=name, index=at) for letters, name, at in parts)
    # Several regions of one record do not repeat it.
    assert (found.duplicate_ids, found.duplicate_sequences, found.duplicate_rows) == (1, 1, (6, 7))


def test_case_counts_only_where_it_is_a_mask():
    found = totals([record(b"acgt"), record(b"ac" * 50, case_is_mask=False)])
    assert found.softmask == 100.0


def test_nothing_has_no_figures():
    found = totals([])
    assert found.num_seqs == found.sum_len == found.gaps == 0
    assert found.gc is found.n50 is found.n_per_100kbp is found.softmask is None


def test_qualities_are_means_of_probabilities():
    reads = [record(b"ACGT", quality=b"5555"), record(b"AC", quality=b"??"), record(b"", quality=b"")]
    rows = [summary.row for summary in summarize_records(reads)]
    assert (rows[0].q20, rows[0].q30, rows[1].q30) == (100.0, 0.0, 100.0)
    assert rows[0].average_quality == pytest.approx(20.0)
    assert rows[2].average_quality is None and rows[2].q20 is None
    counter = TotalsCounter()
    for row in rows:
        counter.add(row)
    found = counter.finish()
    assert found.average_quality == pytest.approx(-10 * math.log10((4 * 0.01 + 2 * 0.001) / 6))
    assert (found.q20, found.q30) == (100.0, pytest.approx(100 / 3))


def test_topology_is_declared_or_unknown():
    rows = [s.row for s in summarize_records([record(b"A"), record(b"A", topology="circular")])]
    assert [row.topology for row in rows] == ["unknown", "declared circular"]


def broken(letters: bytes, error: Exception) -> Record:
    def pieces():
        yield letters
        raise error

    return Record(id="bad", kind="dna", source="x.fa", index=1, pieces=pieces())


def test_a_failed_record_is_told_and_the_rest_goes_on():
    failed = []
    records = [record(b"AC"), broken(b"AC", InputError("cut")), record(b"GT")]
    found = list(summarize_records(records, on_failure=lambda r, e: failed.append((r.id, str(e)))))
    assert [s.row.letters for s in found] == [{"A": 1, "C": 1}, {"G": 1, "T": 1}]
    assert failed == [("bad", "cut")]


def test_a_failed_record_raises_without_a_listener():
    with pytest.raises(InputError, match="cut"):
        list(summarize_records([broken(b"AC", InputError("cut"))]))
    with pytest.raises(AlphabetError):
        list(summarize_records([record(b"AC!")]))


@pytest.mark.parametrize("options", [{"window": 99}, {"window": 2_000_000}, {"strands": "reverse"}, {"top": -1}])
def test_options_out_of_range_are_refused_before_anything_is_read(options):
    with pytest.raises(ConfigError):
        summarize_records([record(b"ACGT")], **options)


def test_a_document_is_refused():
    text = Record(id="t", kind="document", source="t.txt", index=0, pieces=iter(["hello"]))
    with pytest.raises(UsageError, match="DNA"):
        list(summarize_records([text]))


def test_rows_as_json():
    (summary,) = summarize_records([record(b"NNNN", truncated=True, notes={"read_as_N": 4})])
    row = summary.row.to_json()
    assert (row["kind"], row["length"], row["unit"], row["n"]) == ("dna", 4, "bp", 4)
    assert row["gc"] is row["bits_per_base"] is row["skew"] is None
    assert row["truncated"] is True and row["notes"] == {"read_as_N": 4}
    assert [name for name in ("file", "id", "digest", "softmask", "topology", "gaps") if name not in row] == []
