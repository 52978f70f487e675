"""An assembly in very many pieces: every one is answered, little is kept of each, and a terminal shows 25 lines."""

import random
import tracemalloc

import pytest

from longseq.report.terminal import LINES, Overview
from longseq.tasks.summarize.files import Request, summarize_files


class Ids:
    def __init__(self):
        self.count = self.bases = 0

    def dna(self, summary):
        assert summary.row.index == self.count
        self.count, self.bases = self.count + 1, self.bases + summary.row.length


def contigs(path, number: int) -> str:
    letters = "".join(random.Random(0).choices("ACGT", k=300 + number))
    path.write_text("".join(f">contig_{i} len=200\n{letters[i : i + 200]}\n" for i in range(number)))
    return str(path)


def held(path: str, seen: Ids, overview: Overview) -> int:
    """Bytes held at most."""
    tracemalloc.start()
    summarize_files([path], Request(), sinks=[seen, overview])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_contig_more_is_a_few_bytes_more(tmp_path):
    few, many = contigs(tmp_path / "few.fa", 2_500), contigs(tmp_path / "many.fa", 5_000)
    held(few, Ids(), Overview())  # what is kept for good is not counted
    seen, overview = Ids(), Overview()
    more = held(many, seen, overview) - held(few, Ids(), Overview())
    assert (seen.count, seen.bases) == (5_000, 5_000 * 200)
    assert more / 2_500 < 100, "bytes a contig"


@pytest.mark.parametrize("arguments", [{}, {"sample_fraction": 0.5, "min_contig": 150}])
def test_a_terminal_shows_25_lines(tmp_path, arguments):
    path, overview = contigs(tmp_path / "x.fa", 400), Overview()
    with open(path, "a") as file:
        file.write(">short\nACGT\n")
    shown = overview.text(summarize_files([path], Request(**arguments), sinks=[overview]))
    assert shown.count("\n") <= LINES and ("more" in shown) and (("left out" in shown) == bool(arguments))
