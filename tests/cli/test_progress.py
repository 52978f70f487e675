"""What a terminal is told while a command reads: how much of it all, and where in which record."""

import pytest

from longseq.cli import main
from longseq.cli.talk import Talk

LETTERS = {"one": 3000, "two": 1200}


class Told:
    """Tasks by name: total, units, what was done, and the last place in each record."""

    def __init__(self):
        self.tasks, self.spots, self.open = [], {}, 0

    def start(self, what, total=None, unit=""):
        self.open += 1
        self.tasks.append([what, total, unit, 0])

    def advance(self, amount, *, total=None, record=None, **facts):
        self.tasks[-1][3] += amount
        if record is not None:
            name, _, place = str(record).partition(" at ")
            self.spots[name] = place

    def finish(self):
        self.open -= 1


@pytest.fixture
def told(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.fa").write_text("".join(f">{name}\n{'ACGT' * (n // 4)}\n" for name, n in LETTERS.items()))
    found = Told()
    monkeypatch.setattr(Talk, "progress", lambda _: found)
    return found


@pytest.mark.parametrize(
    ("arguments", "task", "unit", "passes"),
    [
        (["summarize", "a.fa", "--no-model"], "a.fa", "base", 1),
        (["summarize", "a.fa", "--out", "out", "--model"], "a.fa, both strands", "base", 2),
        (["embed", "a.fa", "--out", "v.parquet", "--model"], "embed", "token", 2),
        (["score", "a.fa", "--model"], "score", "base", 1),
    ],
)
def test_records_are_told_from_end_to_end(arguments, task, unit, passes, told, tiny_model, capsys):
    assert main([*arguments, str(tiny_model)] if arguments[-1] == "--model" else arguments) == 0
    [(what, total, of, done)] = told.tasks
    assert (what, of, done) == (task, unit, passes * sum(LETTERS.values()))
    assert total in ((done,) if passes > 1 or task == "score" else (None,))
    assert set(told.spots) == set(LETTERS) and told.open == 0
    assert told.spots["one"].startswith("3 k") and told.spots["two"].startswith("1.2 k")


def test_plans_merges_and_prompts_are_told(told, tiny_model, capsys):
    for number in ("1/2", "2/2"):
        assert main(["summarize", "a.fa", "--no-model", "--shard", number, "--out", "batch"]) == 0
    assert told.tasks[0] == ["plan", None, "letter", 4200]
    told.tasks.clear()
    assert main(["merge", "batch", "--out", "whole"]) == 0
    [(what, total, unit, done)] = told.tasks
    assert (what, unit) == ("merge", "part") and total == done > 0
    told.tasks.clear()
    assert main(["generate", "--model", str(tiny_model), "--prompt", "ACGT", "--length", "5"]) == 0
    assert told.tasks == [["prompt", None, "letter", 4], ["generate", 5, "token", 5]] and told.open == 0
