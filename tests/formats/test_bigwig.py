"""Laws of bigWig: values read back equal in float32, gaps stay gaps, however the values come."""

from itertools import pairwise

import numpy as np
import pybigtools
import pytest

from longseq.errors import InputError, LongseqError, UsageError
from longseq.formats.bigwig import Runs, write_bigwig, write_runs


def read_back(path):
    reader = pybigtools.open(str(path))
    return {name: np.asarray(reader.values(name, fillna=np.nan), np.float32) for name in reader.chroms()}


def stretches(tracks, cut):
    return ((name, i, tracks[name][i : i + cut]) for name in sorted(tracks) for i in range(0, len(tracks[name]), cut))


@pytest.fixture(scope="module")
def tracks():
    """Random values, runs of equal ones, gaps at the ends and inside, a record of gaps alone, names out of order."""
    rng = np.random.default_rng(0)
    found = {"chr10": rng.random(900), "chr2": np.repeat(rng.random(30), 40), "a|b.1": rng.normal(size=5) * 1e-20}
    found = {name: values.astype(np.float32) for name, values in found.items()}
    found["chr10"][:7] = found["chr10"][100:300] = found["chr2"][-1] = np.nan
    return found


def test_values_read_back_equal(tracks, tmp_path):
    lengths = {name: len(values) for name, values in tracks.items()} | {"empty": 50}
    nothing = {"empty": np.full(50, np.nan, np.float32)}
    for cut in (1000, 13):
        assert write_bigwig(tmp_path / f"{cut}.bw", lengths, stretches(tracks | nothing, cut))
        found = read_back(tmp_path / f"{cut}.bw")
        assert found.keys() == tracks.keys()  # the format has no records without values
        for name, values in tracks.items():
            assert np.array_equal(found[name], values, equal_nan=True)
        assert pybigtools.open(str(tmp_path / f"{cut}.bw")).chroms() == {n: lengths[n] for n in tracks}
    assert (tmp_path / "13.bw").read_bytes() == (tmp_path / "1000.bw").read_bytes()


def test_without_any_value_there_is_no_file(tmp_path, capfd):
    assert not write_bigwig(tmp_path / "x.bw", {"a": 9}, [("a", 0, np.full(9, np.nan)), ("a", 9, np.ones(0))])
    assert not (tmp_path / "x.bw").exists() and capfd.readouterr() == ("", "")


def test_what_cannot_be_written_is_said(tmp_path):
    with pytest.raises(UsageError, match="a name of each record"):
        write_bigwig(tmp_path / "x.bw", {"": 9}, [])
    with pytest.raises(UsageError, match=r"expected at most 4,294,967,295 bases, found 4,294,967,296"):
        write_bigwig(tmp_path / "x.bw", {"a": 2**32}, [])
    with pytest.raises(LongseqError, match="cannot be written"):
        write_bigwig(tmp_path / "gone" / "x.bw", {"a": 9}, [("a", 0, np.ones(9))])


def test_an_error_among_the_values_comes_out(tmp_path):
    def values():
        yield "a", 0, np.ones(3)
        raise InputError("broken")

    with pytest.raises(InputError, match="broken"):
        write_bigwig(tmp_path / "x.bw", {"a": 9}, values())
    assert not any(tmp_path.iterdir())


def test_more_records_than_a_node_of_the_format_can_count(tmp_path):
    """2^16 children are one too many; here the trees of names and of values are three levels high."""
    number = 2**16 + 3
    names = sorted(f"contig{i}" for i in range(number))
    lengths = dict.fromkeys(names, 150)
    start, end, place = np.full(number, 2), np.full(number, 148), np.arange(number)
    cuts = (0, 1, 40_000, number)
    parts = (Runs(place[a:b], start[a:b], end[a:b], place[a:b].astype(np.float32)) for a, b in pairwise(cuts))
    assert write_runs(tmp_path / "x.bw", names, [*lengths.values()], parts)
    reader = pybigtools.open(str(tmp_path / "x.bw"))
    assert reader.chroms() == lengths
    for i in (0, 255, 256, 40_000, 2**16 - 1, 2**16, number - 1):
        assert list(reader.records(names[i])) == [(2, 148, float(i))]
    assert reader.info()["summary"]["basesCovered"] == 146 * number and reader.zooms() == []


def test_summaries_are_those_of_the_bins(tmp_path):
    """At every scale, of bins cut at multiples of their width, though runs cross them and batches end within them."""
    rng = np.random.default_rng(1)
    tracks = {
        "a": np.repeat(rng.normal(size=40_000), rng.integers(1, 9, 40_000)),
        "b": np.repeat(rng.random(40), 2_000),
    }
    tracks = {name: values.astype(np.float32) for name, values in tracks.items()}
    tracks["a"][50:400] = tracks["b"][-1] = np.nan
    write_bigwig(tmp_path / "x.bw", {name: len(values) for name, values in tracks.items()}, stretches(tracks, 1000))
    reader = pybigtools.open(str(tmp_path / "x.bw"))
    assert reader.zooms()[:4] == [64, 256, 1024, 4096]
    for width in reader.zooms():
        for name, values in tracks.items():
            bins = {i: values[i : i + width].astype(float) for i in range(0, len(values), width)}
            bins = {i: bin_ for i, bin_ in bins.items() if not np.isnan(bin_).all()}
            found = list(reader.zoom_records(width, name))
            assert [start // width * width for start, _, _ in found] == list(bins)
            for (_, _, row), (i, bin_) in zip(found, bins.items(), strict=True):
                assert row["bases_covered"] == np.isfinite(bin_).sum()
                assert (row["min_val"], row["max_val"]) == (np.nanmin(bin_), np.nanmax(bin_))
                assert row["sum"] == pytest.approx(np.nansum(bin_), rel=1e-4, abs=1e-2), (width, i)
                assert row["sum_squares"] == pytest.approx(np.nansum(bin_**2), rel=1e-4)
