"""What of a record is taken already: against a set of its bases."""

import random
from itertools import pairwise

import pytest

from longseq.formats.bigwig import Covered


@pytest.mark.parametrize("seed", range(50))
def test_takes_what_was_free(seed):
    draw, covered, taken = random.Random(seed), Covered(), set()
    for _ in range(60):
        start = draw.randrange(60)
        bases = range(start, start + draw.randrange(12))
        free = covered.take(bases.start, bases.stop)
        assert free == sorted(free) and all(end < begin for (_, end), (begin, _) in pairwise(free))
        assert [base for begin, end in free for base in range(begin, end)] == [b for b in bases if b not in taken]
        taken |= {*bases}
