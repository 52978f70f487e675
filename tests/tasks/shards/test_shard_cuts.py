"""Cuts: between records only, all records once, the dearest part as cheap as any cut allows; parts say nothing but
what is theirs."""

import json
import random
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from longseq.errors import InputError
from longseq.formats import read
from longseq.tasks.shards.cut import bounds, spans
from longseq.tasks.shards.part import Span, opened

SAM = "@HD\tVN:1.6\n" + "".join(f"s{i}\t4\t*\t0\t0\t*\t*\t0\t0\t{'ACGT' * (i + 2)}\t*\n" for i in range(6))
GENBANK = "".join(
    f"LOCUS       L{i}  12 bp  DNA  linear\nDEFINITION  d.\nACCESSION   L{i}\nORIGIN\n        1 acgtacgt{end}\n//\n"
    for i, end in enumerate(("acgt", "ac!t", "aaaa", "tttt"))
)


@pytest.mark.parametrize("seed", range(20))
def test_the_dearest_part_is_as_cheap_as_can_be(seed):
    generator = random.Random(seed)
    costs = np.array([generator.choice((1, 5, 40, 300)) for _ in range(generator.randrange(9))], np.int64)
    parts = generator.randrange(1, 5)
    found = bounds(costs, parts)
    assert (found[0], found[-1], sorted(found)) == (0, len(costs), found)

    def dearest(cuts):
        return max(int(costs[a:b].sum()) for a, b in pairwise((0, *cuts, len(costs))))

    best = min(dearest(cuts) for cuts in combinations_with_replacement(range(len(costs) + 1), parts - 1))
    assert dearest(found[1:-1]) == best


def test_equal_records_are_spread():
    assert np.ptp(np.diff(bounds(np.ones(100, np.int64), 8))) <= 1
    assert (np.diff(bounds(np.ones(5, np.int64), 8)) <= 1).all()


def test_spans_hold_every_record_once():
    records, cuts = [3, 0, 4, 0], [0, 2, 2, 6, 7]
    found = spans(records, cuts)
    assert found == [
        {0: Span(0, 2, False)},
        {},
        {0: Span(2, 3, True), 1: Span(0, 0, True), 2: Span(0, 3, False)},
        {2: Span(3, 4, True), 3: Span(0, 0, True)},
    ]


def walked(reading):
    """What a run sees of a reading."""
    seen = []
    try:
        with reading:
            for record in reading:
                try:
                    text = list(record.pieces)
                    joined = (b"" if record.kind == "dna" else "").join(text)
                    seen.append((record.index, record.id, joined, record.quality, record.truncated))
                except InputError as error:
                    seen.append((record.index, str(error)))
    except InputError as error:
        seen.append(str(error))
    return seen, reading.truncated


@pytest.mark.parametrize(
    "name", ["plain.fa", "packed.fa.gz", "reads.fastq", "broken.fastq", "bad.fa", "cut.fa.gz", "rows.jsonl", "notes.md"]
)
def test_parts_are_the_whole(name, inputs):
    _parts_are_the_whole(inputs[name])


@pytest.mark.parametrize(("name", "text"), [("a.gb", GENBANK), ("a.sam", SAM), ("a.csv", "id,text\na,One.\nb,Two.\n")])
def test_parts_of_other_formats_are_the_whole(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    _parts_are_the_whole(str(tmp_path / name))


def _parts_are_the_whole(path):
    seen, truncated = walked(read(path))
    records = sum(isinstance(one, tuple) for one in seen)
    assert records
    for cut in range(records + 1):
        first, second = (walked(opened(path, span)) for span in (Span(0, cut, False), Span(cut, records, True)))
        assert first[0] + second[0] == seen
        assert (first[1], second[1]) == (False, truncated)


def test_a_plan_says_what_is_where(inputs, tmp_path, longseq):
    files = [inputs[name] for name in ("plain.fa", "tale.txt", "missing.fa")]
    code, out, _ = longseq("plan", *files, "--shards", "2", "--out", tmp_path / "batch", "--rate", "100")
    assert code == 0
    plan = json.loads((tmp_path / "batch" / "plan.json").read_text())
    first, second, third = plan["inputs"]
    assert (first["records"], first["letters"], first["kind"]) == (8, 22_700, "dna")
    assert (second["records"], second["letters"]) == (1, 344)
    assert (third["records"], third["sha256"]) == (0, None)
    assert [shard["spans"] for shard in plan["shards"]] == [[[0, 0, 5]], [[0, 5, 8], [1, 0, 1], [2, 0, 0]]]
    longest = max(shard["letters"] for shard in plan["shards"])
    said = f"about 3 min {round(longest / 100) - 180} s"
    assert out.splitlines()[-1].endswith(f"the longest job has {longest:,}: {said}")
    assert longseq("plan", *files, "--shards", "2", "--out", tmp_path / "other", "--json")[0] == 0
    assert json.loads((tmp_path / "other" / "plan.json").read_text())["digest"] == plan["digest"]
    assert longseq("plan", *files, "--shards", "0", "--out", tmp_path / "none")[0] == 2
    assert longseq("plan", *files, "--shards", "2", "--out", tmp_path / "none", "--rate", "0")[0] == 2
