"""The learning curve: what it shows is what the journal says, in the same bytes each time."""

import sys

import numpy as np
import pytest

from longseq.report.plots.curve import curve, figure, smoothed


def journal(steps, figures=None):
    lines = []
    for step in range(1, steps + 1):
        lines.append({"step": step, "tokens": 64 * step, "loss": 1 / step, "learning_rate": 1e-3 / step})
        if figures and step % 4 == 0:
            lines.append({"step": step, **{f"held_out_{name}": value for name, value in figures.items()}})
    return lines


def shown(panel):
    """What the lines of a panel are called, and where they are."""
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in panel.get_lines()}


def test_the_same_figure_stands_beside_the_loss_with_its_null():
    figures = {"loss": 0.5, "null_loss": 0.8, "tokens": 9}
    drawn = figure(journal(8, figures), title="next: a.fa", learned="loss", held_out=["loss"], unit="nats")
    top, bottom = drawn.axes
    lines = shown(top)
    assert lines["each step"] == ([64 * s for s in range(1, 9)], [1 / s for s in range(1, 9)])
    assert lines["held out"] == ([256, 512], [0.5, 0.5])
    assert lines["held out, without a model"][1] == [0.8, 0.8]
    assert (top.get_title(), top.get_ylabel()) == ("next: a.fa", "loss (nats)")
    assert bottom.get_ylabel() == "learning rate"
    assert bottom.get_xlabel() == "tokens learned from, in 8 steps"
    assert bottom.get_lines()[0].get_ydata()[1] == 5e-4


def test_other_figures_have_a_panel_of_their_own():
    figures = {"macro_f1": 0.7, "accuracy": 0.75, "null_accuracy": 0.5}
    drawn = figure(journal(4, figures), title="", learned="loss", held_out=["macro_f1", "accuracy"])
    assert len(drawn.axes) == 3
    lines = shown(drawn.axes[1])
    assert [lines[name][1][0] for name in ("macro F1", "accuracy", "accuracy, without a model")] == [0.7, 0.75, 0.5]


def test_what_is_no_number_is_left_out():
    lines = journal(5)
    lines[2]["loss"] = None
    drawn = shown(figure(lines, title="", learned="loss", held_out=["loss"]).axes[0])
    assert np.isnan(drawn["each step"][1][2]) and np.isfinite(drawn["smoothed"][1]).all()


@pytest.mark.parametrize(("steps", "least", "most"), [(20, 1.0, 1.1), (100, 1 / 6, 0.3)])
def test_the_fall_at_the_start_of_a_long_run_does_not_flatten_the_rest(steps, least, most):
    low, top = figure(journal(steps), title="", learned="loss", held_out=["loss"]).axes[0].get_ylim()
    assert low < 1 / steps and least < top < most
    null = {"loss": 0.3, "null_loss": 0.9}
    assert 0.9 < figure(journal(100, null), title="", learned="loss", held_out=["loss"]).axes[0].get_ylim()[1] < 1


@pytest.mark.parametrize("memory", [0.5, 3.0])
def test_smoothed_is_the_mean_of_both_sides(memory):
    values = np.random.default_rng(0).normal(size=20)
    values[[0, 7]] = np.nan
    for i, found in enumerate(smoothed(values, memory)):
        near = {j: np.exp(-abs(i - j) / memory) for j in range(20) if np.isfinite(values[j])}
        assert found == pytest.approx(sum(values[j] * w for j, w in near.items()) / sum(near.values()))


@pytest.mark.parametrize("steps", [0, 1, 40])
def test_the_same_bytes_whatever_is_set_outside(steps):
    import matplotlib

    lines, before = journal(steps, {"macro_f1": 0.5}), "matplotlib.pyplot" in sys.modules
    words = {"title": "$a_b 基因", "learned": "loss", "held_out": ["macro_f1"]}
    first = curve(lines, **words)
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        assert curve(lines, **words) == first
        assert matplotlib.rcParams["font.size"] == 30
    assert first.startswith(b"\x89PNG") and b"Software" not in first and b"tIME" not in first
    assert ("matplotlib.pyplot" in sys.modules) == before
