"""An assembly in very many pieces: every one is answered, little is kept of each, and a terminal shows 25 lines."""

import gc
import random
import tracemalloc

import pytest

from longseq.report.terminal import LINES, Overview
from longseq.tasks.summarize.files import summarize_files
from longseq.tasks.summarize.request import Request


class Weighed:
    """Counts records, and weighs what is held after some of them."""

    def __init__(self, *after: int):
        self.after, self.held, self.count, self.bases = after, {}, 0, 0

    def dna(self, summary):
        assert summary.row.index == self.count
        self.count, self.bases = self.count + 1, self.bases + summary.row.length
        if self.count in self.after:
            gc.collect()
            self.held[self.count] = tracemalloc.get_traced_memory()[0]


def contigs(path, number: int, size: int = 200) -> str:
    letters = "".join(random.Random(0).choices("ACGT", k=300 + number))
    path.write_text("".join(f">contig_{i} len={size}\n{letters[i : i + size]}\n" for i in range(number)))
    return str(path)


@pytest.mark.parametrize("size", [200, 0])
def test_a_contig_more_is_a_few_bytes_more(tmp_path, size):
    path, seen = contigs(tmp_path / "x.fa", 3_500, size), Weighed(1_000, 3_000)
    tracemalloc.start()
    summarize_files([path], Request(), sinks=[Overview(10_000), seen])
    tracemalloc.stop()
    assert (seen.count, seen.bases) == (3_500, 3_500 * size)
    assert (seen.held[3_000] - seen.held[1_000]) / 2_000 < 100, "bytes a contig"


@pytest.mark.parametrize("arguments", [{}, {"sample_fraction": 0.5, "min_contig": 150}])
def test_a_terminal_shows_25_lines(tmp_path, arguments):
    path, overview = contigs(tmp_path / "x.fa", 400), Overview(10_000)
    with open(path, "a") as file:
        file.write(">short\nACGT\n")
    shown = overview.text(summarize_files([path], Request(**arguments), sinks=[overview]))
    assert shown.count("\n") <= LINES and ("more" in shown) and (("left out" in shown) == bool(arguments))
