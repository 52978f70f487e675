"""Figures of a page: what is packed is what was given, no text ends its data, and only our scripts may run."""

import base64
import hashlib
import json
import math
import re

import numpy as np
import pytest

from longseq.errors import LongseqError
from longseq.report.figures import library
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Boxes, Grid, Line, Panel, Points, Rule, Shade, Track, View
from longseq.report.figures.pack import GAP, SHORT, STEPS, pack, plain_mark, plain_view
from longseq.report.page import page


def unpacked(given):
    codes = np.frombuffer(base64.b64decode(given["codes"]), "<u2")
    return np.where(codes == GAP, np.nan, given["low"] + given["step"] * codes)


@pytest.mark.parametrize("count", [SHORT + 1, 1000])
def test_packed_numbers_are_a_step_off_at_most(count):
    values = np.random.default_rng(0).normal(0, 100, count)
    values[3] = math.nan
    found = unpacked(pack(values))
    known = ~np.isnan(values)
    assert np.isnan(found[3])
    assert np.abs(found - values)[known].max() <= np.ptp(values[known]) / STEPS
    assert unpacked(pack(np.full(count, 7.5))).tolist() == [7.5] * count
    assert np.isnan(unpacked(pack(np.full(count, math.nan)))).all()


def test_few_numbers_are_written_out():
    assert pack([1.0, 0.1234567, math.nan, 2**40]) == [1, 0.123457, None, 2**40]


def test_axes_hold_all_that_is_shown():
    marks = [Line(name="a", x=[1, 100], y=[-2, math.nan]), Points(name="b", x=[50], y=[8])]
    marks += [Boxes(name="c", x0=[0], x1=[10], y0=[0], y1=[4]), Rule(at=1000, label="far")]
    view = plain_view(View(x=Axis(label="x"), panels=[Panel(y=Axis(label="y", low=-3), marks=marks)]))
    (panel,) = view["panels"]
    assert view["x"]["low"] < 0 and 100 < view["x"]["high"] < 110
    assert panel["y"]["low"] == -3 and 8 < panel["y"]["high"] < 9
    logarithmic = plain_view(View(x=Axis(label="x", logarithmic=True), panels=[Panel(y=Axis(label="y"), marks=marks)]))
    assert 0 < logarithmic["x"]["low"] < 1


def test_what_is_drawn_is_what_was_given():
    grid = plain_mark(Grid(name="g", x=(0, 2), y=(0, 3), values=np.arange(6.0).reshape(3, 2), low=0, high=5))
    assert grid["kind"] == "grid" and grid["values"] == {"rows": 3, "columns": 2, "values": [0, 1, 2, 3, 4, 5]}
    track = plain_mark(Track(name="t", start=0, step=10, stop=25, mean=np.array([1, math.nan, 3])))
    assert track["mean"] == [1, None, 3] and "low" not in track
    shade = plain_mark(Points(name="p", x=[1], y=[2], colour=Shade(values=[5], label="GC", low=0, high=9)))
    assert shade["colour"] == {"values": [5], "label": "GC", "low": 0, "high": 9}
    assert plain_mark(Points(name="p", x=[1, 2], y=[2, 3], colour=[3, 4], labels=["a", "b"]))["colour"] == [3, 4]


def test_no_name_ends_the_data():
    hostile = "</script><!--<script>alert(1)\ud800&amp;"
    view = View(x=Axis(label=hostile), panels=[Panel(y=Axis(label="y"), marks=[Line(name=hostile, x=[1], y=[1])])])
    text = figure("f", [view], hostile)
    inside = re.search(r'<script type="application/json">(.*?)</script>', text, re.S).group(1)
    assert not re.search("[<>&]", inside)
    assert json.loads(inside)["views"][0]["x"]["label"] == hostile.replace("\ud800", "\ufffd")


def test_only_our_scripts_run():
    text = "".join(page("t", ["<p>a</p>"], library.STYLE, scripts=library.scripts()))
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text).group(1).replace("&#x27;", "'")
    assert "unsafe" not in policy.split("script-src")[1] and policy.startswith("default-src 'none'")
    ran = re.findall(r"<script>(.*?)</script>", text, re.S)
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in ran]
    assert len(ran) == 4 and re.findall(r"'sha256-(.*?)'", policy) == digests


def test_without_the_library_it_is_said(monkeypatch):
    monkeypatch.setattr(library, "LIBRARY", "gone.js")
    library.scripts.cache_clear()
    with pytest.raises(LongseqError, match="pip install bokeh"):
        library.scripts()
    library.scripts.cache_clear()
