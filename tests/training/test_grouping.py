"""Laws of groups: none is divided, the draw is the plain one, and a wrong name is said with those that are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import ConfigError, InputError
from longseq.tokens import DnaTokenizer
from longseq.training.config import DataConfig
from longseq.training.grouping import digest_of, groups_of
from longseq.training.holding_out import draw, near
from longseq.training.split import split
from longseq.training.store import prepare


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.1, 0.3, 0.7]),
    st.integers(0, 50),
    st.booleans(),
)
def test_groups_are_drawn_one_after_the_other_while_they_fit(records, share, seed, at_least_one):
    """Those of a single stratum, as a plain loop does it."""
    group = np.array([g for g, _ in records])
    size = np.array([s for _, s in records], float)
    found = draw(group, 10, size, 0 * group, share=share, seed=seed, at_least_one=at_least_one)
    amounts = [float(size[group == g].sum()) for g in range(10)]
    room = share * sum(amounts)
    some = [a for a in amounts if a]
    if at_least_one and share and len(some) > 1:
        room = max(room, min(some))
    chosen = set()
    for g in np.random.default_rng([seed, 1]).permutation(10).tolist():
        if 0 < amounts[g] <= room + 1e-9:
            chosen.add(g)
            room -= amounts[g]
    assert set(np.flatnonzero(found).tolist()) == chosen


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=40), st.integers(0, 50))
def test_no_stratum_gives_more_than_its_share_or_its_smallest_group(records, seed):
    group, stratum = (np.array(column) for column in zip(*records, strict=True))
    found = draw(group, 7, np.ones(len(group)), stratum, share=0.3, seed=seed)[group]
    for s in range(4):
        sizes = np.bincount(group[stratum == s], minlength=7)
        several = (sizes > 0).sum() > 1
        most = max(0.3 * sizes.sum(), sizes[sizes > 0].min() if several else 0.0)
        assert (found & (stratum == s)).sum() <= most


@pytest.fixture
def folder(tmp_path):
    """Two files with contigs of the same names, and a table of genera."""
    rng = np.random.default_rng(0)
    for file in ("one", "two"):
        text = "".join(f">c{i}.1 x\n{''.join(rng.choice(list('ACGT'), 50))}\n" for i in range(4))
        (tmp_path / f"{file}.fa").write_text(text)
    (tmp_path / "g.tsv").write_text("id\tgenus\tlength\nc0.1\tA\t50\nc1.1\tB\t50\nc2.1\tA\t50\nc3.1\tC\t50\nzz\tC\t1\n")
    return tmp_path


@pytest.fixture
def store(folder):
    return prepare([str(folder / "one.fa"), str(folder / "two.fa")], folder / "data", DnaTokenizer())


def genera(folder, **settings):
    return DataConfig(groups=str(folder / "g.tsv"), groups_column="genus", **settings)


def test_records_of_an_id_a_file_or_a_genus_stay_together(store, folder):
    by_id = groups_of(store, DataConfig())
    assert by_id.of.tolist() == [0, 1, 2, 3] * 2 and list(by_id.names) == ["c0.1", "c1.1", "c2.1", "c3.1"]
    assert by_id.names[2] == "c2.1" and by_id.names[1:3] == ["c1.1", "c2.1"] and len(by_id.names) == 4
    by_file = groups_of(store, DataConfig(groups="file"))
    assert by_file.of.tolist() == [0] * 4 + [1] * 4 and [name[-6:] for name in by_file.names] == ["one.fa", "two.fa"]
    by_genus = groups_of(store, genera(folder))
    assert by_genus.of.tolist() == [0, 1, 0, 2] * 2 and list(by_genus.names) == ["A", "B", "C"]


@pytest.mark.parametrize("seed", range(4))
def test_a_split_divides_no_group(store, folder, seed):
    for config in (
        DataConfig(groups="file", seed=seed), genera(folder, seed=seed), DataConfig(held_out=0.3, seed=seed)
    ):  # fmt: skip
        parts = split(store, config)
        learned, held = (set(parts.groups.of[side.record].tolist()) for side in (parts.train, parts.held_out))
        assert learned and held and not learned & held
        assert parts.train.bases + parts.held_out.bases == 400
        assert parts.rule.startswith(f"{len(set(parts.held_out.record.tolist()))} of 8 records, in 1 of ")


def test_named_groups(store, folder):
    parts = split(store, genera(folder, held_out_groups=("B", "C")))
    assert sorted(parts.held_out.record.tolist()) == [1, 3, 5, 7]
    assert parts.rule == "4 of 8 records, in 2 of 3 groups, 200 bases: B, C"
    file = str(folder / "two.fa")
    assert split(store, DataConfig(groups="file", held_out_groups=(file,))).train.record.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("table", "settings", "error", "said"), [
    (None, {"held_out_groups": ("D",)}, ConfigError, r"data\.held_out_groups: expected groups \(A, B, C\), found 'D'"),
    (None, {"held_out_groups": ("A", "B", "C")}, InputError, r"data\.held_out_groups: expected some records left"),
    (None, {"groups_column": "clade"}, ConfigError, r"data\.groups_column: expected a column of genus, length, found"),
    (None, {"groups_column": None}, ConfigError, r"expected the column of .*g\.tsv with groups, found genus, length"),
    ("id\tgenus\nc0.1\tA\nc0.1\tB\n", {}, InputError, r"tsv:3: expected one genus of c0\.1, 'A' as before, found 'B'"),
    ("id\tgenus\nc0\tA\nc1\tA\n", {}, InputError, r"genus of every record, found none of 'c0\.1'; did you mean 'c0'\?"),
    ("id\tgenus\nxx\tA\n", {}, InputError, r"a genus of every record, found none of 'c0\.1'; add a line"),
    ("id\tgenus\n" + "".join(f"c{i}.1\tA\n" for i in range(4)), {}, InputError,
     r"data\.groups: expected two groups or more, one of them to hold out, found 'A'; data\.groups=record"),
])  # fmt: skip
def test_groups_that_cannot_be(store, folder, table, settings, error, said):
    if table:
        (folder / "g.tsv").write_text(table)
    with pytest.raises(error, match=said):
        split(store, DataConfig(**{"groups": str(folder / "g.tsv"), "groups_column": "genus", **settings}))


def test_a_table_of_groups_belongs_to_the_data(store, folder):
    before = digest_of(store.digest, genera(folder))
    assert digest_of(store.digest, DataConfig(groups="file")) == store.digest != before
    (folder / "g.tsv").write_text((folder / "g.tsv").read_text().replace("c3.1\tC", "c3.1\tB"))
    assert digest_of(store.digest, genera(folder)) != before


@pytest.mark.parametrize(("name", "meant"), [
    ("NC_000913", "NC_000913.3"), ("NC_000913.2", "NC_000913.3"), ("gb|NC_000913.3|", "NC_000913.3"),
    ("AE003852", "gi|12057212|gb|AE003852.1|"), ("chrom2", "chrom12"), ("plasmid", None),
])  # fmt: skip
def test_a_name_that_was_meant(name, meant):
    known = ["chrom12", "NC_000913.3", "gi|12057212|gb|AE003852.1|"]
    assert near(name, known) == (meant and f"did you mean {meant!r}?")
