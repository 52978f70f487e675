"""Where linear attention overtakes softmax: between the lengths at which it does, and not at all where it does not."""

import pytest

from longseq.report.bench_curves import Curve, crossings
from longseq.report.log_ticks import decades

LENGTHS = [100, 1000, 10_000]


def crossing(linear, softmax, lengths=LENGTHS):
    curves = [("none", [9e9] * 3), ("gru", [1.0] * 3), ("linear", linear), ("softmax", softmax)]
    made = [Curve(mixer=name, lengths=lengths[: len(v)], speeds=v, peaks=v) for name, v in curves]
    (found,) = crossings(made)
    return found


def test_straight_lines_on_logarithmic_axes_meet_where_their_formulas_do():
    # 1000 tokens a second, and 4e5 / length
    found = crossing([1000.0] * 3, [4e5 / n for n in LENGTHS])
    assert found.length == pytest.approx(400) and (found.mixer, found.other) == ("linear", "softmax")
    assert found.said == "linear is faster than softmax from about 400 tokens on"


@pytest.mark.parametrize(
    ("linear", "softmax", "said"),
    [
        ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0], "faster than softmax at every length measured"),
        ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], "slower than softmax at every length measured"),
        (  # ahead in the middle alone
            [1.0, 3.0, 1.0],
            [2.0, 2.0, 2.0],
            "slower than softmax at the longest length measured, though not at every one",
        ),
        ([2.0, 2.0, 2.0], [1.0], "faster than softmax at every length measured"),
    ],
)
def test_without_a_crossing(linear, softmax, said):
    found = crossing(linear, softmax)
    assert found.length is None and found.said == f"linear is {said}"


def test_ticks_are_round_and_hold_all_values():
    assert decades([3e-7, 1.4e-6, float("nan"), 0]) == [2e-7, 5e-7, 1e-6, 2e-6]
    assert decades([0.5, 7e7]) == [0.1, 1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8][::2]
    assert decades([]) == []
