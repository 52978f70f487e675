"""`longseq bench`: options, output, and what is refused before anything is measured."""

import json

import pytest

from longseq.cli import main
from longseq.cli.leaving import leaving

SMALL = ["--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2", "--set", "shortest=0"]


def test_a_command_line_that_is_no_text_is_written_nevertheless(tmp_path):
    with leaving("bench", str(tmp_path / "o"), (), force=False) as folder:
        folder.write({"command": "longseq \udcff"}, ["longseq \udcff"])
    assert json.loads((tmp_path / "o" / "bench.json").read_text()) == {"command": "longseq \udcff"}
    assert (tmp_path / "o" / "bench.html").read_text() == "longseq \\udcff"


def test_json_alone_on_stdout_and_the_same_in_a_file(capsys, tmp_path):
    out = tmp_path / "bench"
    argv = ["bench", "--mixer", "linear", "--mixer", "gru", "--length", "40", "--chunk", "16", "--threads", "best"]
    assert main([*argv, "--repeats", "1", "--json", "--out", str(out), "--plots", "svg", *SMALL]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document == json.loads((out / "bench.json").read_text())
    assert sorted(path.name for path in out.iterdir()) == ["bench.html", "bench.json", "plots"]
    assert "linear" in (out / "bench.html").read_text() and b"tokens a second" in (out / "plots/speed.svg").read_bytes()
    assert document["schema"] == "longseq.bench/1" and document["run"]["command"].startswith("longseq bench --mixer")
    rows = document["rows"]
    assert [(row["mixer"], row["length"], row["chunk"]) for row in rows] == [
        ("none", 40, 16),
        ("linear", 40, 16),
        ("gru", 40, 16),
    ]
    assert all(row["tokens_per_s"] > 0 and row["precision"] == "fp32" for row in rows)
    assert 1 in document["machine"]["threads"] and document["machine"]["matmul_gflops_fp32"] > 0
    assert said.err.startswith("longseq: about 2 min 0 s at most")


def test_a_table(capsys):
    argv = ["bench", "-q", "--mixer", "linear", "--length", "40", "--length", "20", "--repeats", "1"]
    assert main([*argv, *SMALL]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert said.err == "" and "1 layer × 16 channels, 2 attention heads" in said.out
    assert [line for line in lines if line.startswith("inference")] == ["inference, 40 tokens", "inference, 20 tokens"]
    assert [line.split()[0] for line in lines if line.startswith("  ")] == ["mixer", "none", "linear"] * 2


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--mixer", "lineal"], "mixers: expected one of linear, "),
        (["--length", "0"], "0 is not in the range x>=1"),
        (["--threads", "many"], "'many' is neither 'best' nor a number of threads"),
        (["--threads", "0"], "'0' is neither 'best' nor a number of threads"),
        (["--budget", "0"], "budget: expected > 0 seconds"),
        (["--budget", "nan"], "'nan' is no finite number"),
        (["--budget", "long"], "'long' is no finite number"),
        (["--budget", "inf"], "'inf' is no finite number"),
        (["--set", "budget=inf"], "budget: expected a finite number, found inf"),
        (["--set", "shortest=inf"], "shortest: expected a finite number, found inf"),
        (["--precision", "fp8"], "'fp32', 'bf16'"),
        (["--set", "model.widht=4"], "did you mean model.width?"),
        (["--set", "mixers=linear"], "mixers: expected a list"),
        (["--device", "nowhere", "--length", "20", *SMALL], "--device: expected a usable device 'nowhere'"),
    ],
)
def test_what_is_refused(argv, said, capsys):
    assert main(["bench", "-q", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1


def test_nothing_measured_is_no_success(capsys, tmp_path):
    out = tmp_path / "bench"
    argv = ["bench", "-q", "--mixer", "linear", "--length", "40", "--length", "20", "--budget", "0.001"]
    assert main([*argv, "--json", "--out", str(out), *SMALL]) == 1
    said = capsys.readouterr()
    assert said.err == "longseq: nothing was measured: none, linear: no time is left\n"
    document = json.loads(said.out)
    assert (
        document["rows"] == []
        and len(document["skipped"]) == 4
        and document == json.loads((out / "bench.json").read_text())
    )


def test_an_output_that_stands_is_refused_before_measuring(capsys, tmp_path, monkeypatch):
    def measured(*_, **__):
        raise AssertionError("measured")

    monkeypatch.setattr("longseq.tasks.bench.measure.bench", measured)
    out = tmp_path / "bench"
    out.mkdir()
    (out / "mine").write_text("mine")
    assert main(["bench", "-q", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err and (out / "mine").read_text() == "mine"
    assert main(["bench", "-q", "--plots", "png"]) == 2 and "--plots needs --out DIR" in capsys.readouterr().err
