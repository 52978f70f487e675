"""Figures of progress, and names that a bar must not read as markup."""

import io
import re

import pytest

from longseq.log import BarProgress, LineProgress, Spot, count, describe, duration, memory, short


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (12.34, "12.3"),
        (999.4, "999"),
        (999.7, "1 k"),
        (41_200, "41.2 k"),
        (999_400, "999 k"),
        (999_700, "1 M"),
        (168_903_000, "169 M"),
        (999_900_000, "1 G"),
        (3.2e12, "3200 G"),
        (-4_100, "-4.1 k"),
    ],
)
def test_three_figures_and_no_exponent(number, text):
    assert short(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(59.4, "59 s"), (59.6, "1 min 0 s"), (12_000, "3 h 20 min")])
def test_a_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("mib", "text"), [(417.3, "417 MiB"), (1023.6, "1 GiB"), (1434, "1.4 GiB"), (98_304, "96 GiB")]
)
def test_an_amount_of_memory(mib, text):
    assert memory(mib) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 steps"), (1, "1 step"), (1_200, "1,200 steps")])
def test_a_count(number, text):
    assert count(number, "step") == text


def test_a_line():
    facts = {"memory": "312 MiB"}
    assert describe("a.fa", 500, 2_000, "base", 10, facts) == (
        "a.fa: 500 of 2 k bases (25 %), 50 bases/s, 30 s left, memory 312 MiB"
    )
    assert describe("a.fa", 500, None, "base", 10, {}) == "a.fa: 500 bases, 50 bases/s"
    assert describe("check", 10, None, "law", 50, {"last": "size"}) == "check: 10 laws, last size"
    assert describe("check", 1, None, "law", 50, {}) == "check: 1 law"


def test_a_bar_takes_any_name():
    bar = BarProgress(io.StringIO())
    bar.start("x[/foo].fa", 10, "base")
    bar.advance(3, loss="[/b]")
    bar.finish()


FACTS = {"bits": "1.9312", "rate": "3.00e-03", "memory": "412 MiB"}


def test_a_line_a_minute():
    """By a clock that is told the time; the estimate of the whole may change on the way."""
    now, said = [0.0], io.StringIO()
    progress = LineProgress(said, clock=lambda: now[0])
    progress.start("train", 4_000, "token")
    for second in range(1, 131):
        now[0] = second
        progress.advance(10, total=2_600 if second > 100 else None, **FACTS)
    assert said.getvalue().splitlines() == [
        "train: 600 of 4 k tokens (15 %), 10 tokens/s, 5 min 40 s left, bits 1.9312, rate 3.00e-03, memory 412 MiB",
        "train: 1.2 k of 2.6 k tokens (46 %), 10 tokens/s, 2 min 20 s left, bits 1.9312, rate 3.00e-03, memory 412 MiB",
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_shows_rate_time_left_and_facts(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("longseq.log.SETTLED", 0.0)
    said = Terminal()
    bar = BarProgress(said)
    bar.start("train", 400, "token")
    for _ in range(4):
        bar.advance(50, total=200, **FACTS)
    bar.finish()
    shown = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", said.getvalue())
    assert re.search(r"train ━+ 0:00:00 .* tokens/s  bits 1.9312  rate 3.00e-03  memory 412 MiB", shown)


def test_where_in_a_record_it_is():
    spot = Spot("chr2", 3_400_000)
    assert str(spot.on(200_000).on(1_000_000)) == "chr2 at 1.2 M of 3.4 M"
    assert str(Spot("notes", None, "letters").on(5)) == "notes at 5 letters"
    assert str(Spot("a\x1b[31mb" + "c" * 99).on(1)) == f"a?[31mb{'c' * 24}… at 1"  # nothing that a terminal obeys
    assert describe("a.fa", 500, 2_000, "base", 10, {"record": spot}).endswith(", record chr2 at 1.2 M of 3.4 M")
