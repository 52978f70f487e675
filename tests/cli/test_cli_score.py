"""`longseq score`: bits of records, the same whether a run was stopped, killed or neither."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.streaming import Surprisal
from longseq.tasks.score.scorer import Scorer
from longseq.tokens import DnaTokenizer

LONGSEQ = [sys.executable, "-c", "import sys; from longseq.cli import main; sys.exit(main())"]
CHUNK = 512


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for seed in (0, 1):
        model = LanguageModel(ModelConfig(width=16, heads=2, layers=1, seed=seed))
        save(folder / f"m{seed}", model, DnaTokenizer())
    return folder


def letters(length, seed=0):
    return "".join(random.Random(seed).choices("ACGTACGTACGTacgtNR", k=length))


LENGTHS = [100, 12_000, 0, 30, 9_000, 300, 300]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.fa"
    path.write_text("".join(f">r{i}\n{letters(n, i)}\n" for i, n in enumerate(LENGTHS)))
    return path


@pytest.fixture
def run(models, capsys):
    def call(*arguments, model="m0"):
        code = main(["score", "--chunk", str(CHUNK), *map(str, arguments), "--model", str(models / model)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def table(text):
    header, *lines = text.splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def contents(folder):
    """Bytes of each file; of run.json what it says, but for the command line."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    settings = json.loads(found["run.json"])
    return found | {"run.json": {name: value for name, value in settings.items() if name != "command"}}


def test_the_table_is_the_sum_of_the_bits(run, source, models):
    code, out, err = run(source)
    assert (code, err) == (0, "")
    rows = table(out)
    assert [row["record"] for row in rows] == [f"r{i}" for i in range(len(LENGTHS))]
    surprisal = Surprisal(load(models / "m0"), chunk=CHUNK)
    for i, (row, length) in enumerate(zip(rows, LENGTHS, strict=True)):
        reader = surprisal()
        bits = np.concatenate([reader.push(letters(length, i).encode()), reader.finish()])
        known = bits[~np.isnan(bits)].astype(float)
        assert (row["file"], row["strand"], row["truncated"]) == (str(source), "+", "false")
        assert (int(row["length"]), int(row["tokens"])) == (length, len(known))
        if length:
            assert float(row["bits"]) == pytest.approx(known.sum(), rel=1e-12)
            assert float(row["bits_per_token"]) == float(row["bits"]) / len(known)
        else:
            assert (row["bits"], row["bits_per_token"]) == ("0.0", "NA")


def test_json_is_one_document(run, source):
    code, out, _ = run(source, "--json")
    found = json.loads(out)
    assert code == 0 and found["schema"] == "longseq.score/1"
    assert found["run"]["tokens"] == sum(LENGTHS) and len(found["run"]["model_sha256"]) == 64
    assert found["files"][0]["records"] == len(LENGTHS) == len(found["records"])
    rows = table(run(source)[1])
    assert [record["bits"] for record in found["records"]] == [float(row["bits"]) for row in rows]
    assert found["records"][2]["bits_per_token"] is None


@pytest.mark.parametrize("strands", ["forward", "both"])
def test_the_track_stands_at_its_bases(run, source, tmp_path, models, strands):
    code, out, _ = run(source, "--out", tmp_path / "out", "--track", "--strands", strands)
    assert code == 0 and "bits per token" in out
    assert sorted(os.listdir(tmp_path)) == ["in.fa", "out"]
    track = np.load(tmp_path / "out" / "bits.npy")
    rows = table((tmp_path / "out" / "scores.tsv").read_text())
    assert track.dtype == np.float32 and len(track) == sum(int(row["length"]) for row in rows)
    assert len(rows) == len(LENGTHS) * (2 if strands == "both" else 1)
    surprisal, at = Surprisal(load(models / "m0"), chunk=CHUNK), 0
    for row in rows:
        number = int(row["record"][1:])
        text = letters(LENGTHS[number], number).encode()
        backwards = row["strand"] == "-"
        if backwards:
            text = text[::-1].translate(bytes.maketrans(b"ACGTRacgt", b"TGCAYtgca"))
        reader = surprisal()
        bits = np.concatenate([reader.push(text), reader.finish()])
        assert track[at : at + len(bits)].tobytes() == (bits[::-1] if backwards else bits).tobytes()
        at += len(bits)


class StoppedHereError(BaseException):
    """In the place of a SIGKILL: nothing is written after it."""


@pytest.mark.parametrize("strands", ["forward", "both"])
def test_a_run_killed_at_any_moment_and_resumed_gives_the_same_bytes(run, source, tmp_path, monkeypatch, strands):
    options = ("--track", "--strands", strands, "--snapshot-every", 2000)
    assert run(source, "--out", tmp_path / "whole", *options)[0] == 0
    wanted = contents(tmp_path / "whole")
    take, draw = Scorer._take, random.Random(0)
    for trial in range(6):
        out, left, kills = tmp_path / f"out{trial}", draw.randrange(1, 30), 0

        def fails(self, scored, sums):
            nonlocal left
            left -= 1
            take(self, scored, sums)
            if left == 0:
                raise StoppedHereError

        monkeypatch.setattr(Scorer, "_take", fails)
        while not out.exists():
            try:
                assert run(source, "--out", out, *options, "--resume")[0] == 0
            except StoppedHereError:
                kills += 1
                left = draw.randrange(10, 60)  # more than lie between two snapshots: it gets on
                if (tmp_path / f".out{trial}.partial").exists() and draw.random() < 0.5:
                    with open(tmp_path / f".out{trial}.partial" / "rows.jsonl", "ab") as rows:
                        rows.write(b'{"half a l')  # what a killed run may leave
        assert kills >= 1 and contents(out) == wanted
    assert not list(tmp_path.glob(".out*"))


@pytest.fixture
def stopped(run, source, tmp_path, monkeypatch):
    """`stopped(option, …)` leaves a run that was stopped after the second record began."""

    def stop(*options):
        take = Scorer._take

        def interrupt(self, scored, sums):
            take(self, scored, sums)
            if self._tokens > 5000:
                self._stop.name = "SIGTERM"

        with monkeypatch.context() as patch:
            patch.setattr(Scorer, "_take", interrupt)
            return run(source, "--out", tmp_path / "out", *options)

    return stop


def test_a_signal_saves_and_says_how_to_go_on(run, source, stopped, tmp_path):
    code, out, err = stopped()
    assert (code, out) == (85, "") and err.count("\n") == 1
    assert "stopped by SIGTERM after 5,220 tokens" in err and "--resume goes on" in err
    assert not (tmp_path / "out").exists()
    code, _, err = run(source, "--out", tmp_path / "out")
    assert code == 2 and "holds a run that was stopped; --resume goes on with it, --force starts it anew" in err
    assert run(source, "--out", tmp_path / "out", "--resume")[0] == 0
    assert run(source, "--out", tmp_path / "whole")[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_run_that_is_done_says_so(run, source, tmp_path):
    out = tmp_path / "out"
    assert run(source, "--out", out)[0] == 0
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert run(source, "--out", out, "--resume") == (0, f"{out}: is done already\n", "")
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before
    code, stdout, err = run(source, "--out", out, "--resume", "--precision", "bf16")
    assert (code, stdout) == (2, "") and "exists already, made with precision 'fp32' instead of 'bf16'" in err
    code, _, err = run(source, "--out", out, "--resume", "--save-state", tmp_path / "s")
    assert code == 2 and "exists already, but not the state" in err
    (out / "run.json").write_text("[]")
    code, _, err = run(source, "--out", out, "--resume")
    assert code == 2 and "exists already; give another name, or --force" in err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(source, "--out", empty, "--resume")[0] == 0 and (empty / "scores.tsv").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--strands", "both"], "expected strands 'forward', with which the run began, found 'both'"),
        (["--precision", "bf16"], "expected precision 'fp32'"),
        (["--track"], "expected track False"),
        (["--on-unknown", "N"], "expected on_unknown 'error'"),
    ],
)
def test_other_settings_are_refused(run, source, stopped, tmp_path, options, said):
    stopped()
    code, _, err = run(source, "--out", tmp_path / "out", "--resume", *options)
    assert code == 1 and said in err and err.count("\n") == 1
    assert run(source, "--out", tmp_path / "out", "--resume")[0] == 0  # it was left as it was


def test_another_model_and_other_inputs_are_refused(run, source, stopped, tmp_path):
    stopped()
    out = ("--out", tmp_path / "out", "--resume")
    code, _, err = run(source, *out, model="m1")
    assert code == 1 and "expected model '" in err
    code, _, err = run(source, source, *out)
    assert code == 1 and "expected inputs [" in err
    text = source.read_text()
    source.write_text(text + "A\n")
    code, _, err = run(source, *out)
    assert code == 1 and "expected digests of the inputs" in err
    at = text.index(">r1") + 50
    source.write_text(
        text[:at] + "ACGT"["CGTA".index(text[at].upper().replace("N", "A").replace("R", "A"))] + text[at + 1 :]
    )
    code, _, err = run(source, *out)
    assert code == 1 and "expected digests of the inputs" in err
    source.write_text(text)
    assert run(source, *out)[0] == 0
    assert run(source, "--out", tmp_path / "out", "--force")[0] == 0


def test_a_damaged_snapshot_is_refused(run, source, stopped, tmp_path):
    stopped()
    state = tmp_path / ".out.partial" / "run.state"
    state.write_bytes(state.read_bytes()[:-4] + b"bits")
    code, _, err = run(source, "--out", tmp_path / "out", "--resume")
    assert code == 1 and "run.state" in err and "expected" in err


def arguments(models, source, out, *options):
    given = ["score", source, "--out", out, "--model", models / "m0", "--chunk", CHUNK, "--track", "-q"]
    return [*map(str, [*given, "--snapshot-every", 3000, *options])]


@pytest.fixture
def long_source(tmp_path):
    path = tmp_path / "long.fa"
    path.write_text("".join(f">r{i}\n{letters(n, i)}\n" for i, n in enumerate([200, 150_000, 300, 90_000])))
    return path


def kill_and_resume(models, source, folder, moments):
    """Kill a run once for each moment (seconds after its first snapshot), then let it end."""
    out, kills = folder / "killed", 0
    for moment in moments:
        with subprocess.Popen([*LONGSEQ, *arguments(models, source, out, "--resume")]) as running:
            state = folder / ".killed.partial" / "run.state"
            before = state.stat().st_mtime_ns if state.exists() else 0
            deadline = time.monotonic() + 60
            while running.poll() is None and time.monotonic() < deadline:
                if state.exists() and state.stat().st_mtime_ns != before:
                    break
                time.sleep(0.002)
            time.sleep(moment)
            running.kill()
        kills += running.returncode == -signal.SIGKILL
        assert running.returncode in (0, -signal.SIGKILL)
        if out.exists():
            break
    if not out.exists():
        assert main(arguments(models, source, out, "--resume")) == 0
    return out, kills


def test_killed_for_good_and_resumed_gives_the_same_bytes(models, long_source, tmp_path):
    assert main(arguments(models, long_source, tmp_path / "whole")) == 0
    out, kills = kill_and_resume(models, long_source, tmp_path, [0.02])
    assert kills and contents(out) == contents(tmp_path / "whole")


@pytest.mark.slow
def test_killed_at_twenty_random_moments(models, tmp_path):
    source = tmp_path / "long.fa"
    source.write_text("".join(f">r{i}\n{letters(n, i)}\n" for i, n in enumerate([200, 1_500_000, 300, 900_000])))
    assert main(arguments(models, source, tmp_path / "whole")) == 0
    out, kills = kill_and_resume(models, source, tmp_path, [random.Random(i).uniform(0, 0.2) for i in range(20)])
    assert kills >= 15 and contents(out) == contents(tmp_path / "whole")


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGUSR1, 85), (signal.SIGINT, 130)])
def test_real_signals(models, long_source, tmp_path, stop, code):
    line = [*LONGSEQ, *arguments(models, long_source, tmp_path / "out")]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as running:
        while not (tmp_path / ".out.partial" / "run.state").exists():
            assert running.poll() is None
            time.sleep(0.002)
        running.send_signal(stop)
        _, err = running.communicate(timeout=60)
    assert running.returncode == code and "--resume goes on" in err and err.count("\n") == 1
    assert main(arguments(models, long_source, tmp_path / "out", "--resume")) == 0
    assert (tmp_path / "out" / "bits.npy").exists() and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(("first", "second"), [(CHUNK * 20, 3000), (9001, 700), (100, 40), (5000, 6000)])
def test_an_appended_record_equals_the_joined_one(run, tmp_path, first, second):
    text = letters(first + second)
    for name, part in {"a": text[:first], "b": text[first:], "ab": text}.items():
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{part}\n")
    state = tmp_path / "a.state"
    assert run(tmp_path / "a.fa", "--save-state", state)[0] == 0
    for name, options in {"ab": (), "b": ("--state", state)}.items():
        assert run(tmp_path / f"{name}.fa", "--out", tmp_path / name, "--track", *options)[0] == 0
    joined, appended = (np.load(tmp_path / name / "bits.npy") for name in ("ab", "b"))
    assert appended.tobytes() == joined[first:].tobytes()
    assert main(["info", str(state)]) == 0


def test_an_appended_record_that_was_stopped(run, tmp_path, monkeypatch):
    text = letters(30_000)
    (tmp_path / "a.fa").write_text(f">a\n{text[:9001]}\n")
    (tmp_path / "in.fa").write_text(f">b\n{text[9001:]}\n")
    state, last = tmp_path / "a.state", tmp_path / "b.state"
    assert run(tmp_path / "a.fa", "--save-state", state)[0] == 0
    options = (tmp_path / "in.fa", "--state", state, "--save-state", last, "--track")
    assert run(*options, "--out", tmp_path / "whole")[0] == 0
    wanted = last.read_bytes()
    last.unlink()
    take = Scorer._take

    def interrupt(self, scored, sums):
        take(self, scored, sums)
        if self._tokens > 5000:
            self._stop.name = "SIGTERM"

    with monkeypatch.context() as patch:
        patch.setattr(Scorer, "_take", interrupt)
        assert run(*options, "--out", tmp_path / "out")[0] == 85
    assert run(*options, "--out", tmp_path / "out", "--resume")[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert last.read_bytes() == wanted


def test_a_state_is_of_one_record(run, source, tmp_path, models):
    code, _, err = run(source, "--save-state", tmp_path / "s")
    assert code == 2 and "is a second record; a state belongs to one record" in err
    (tmp_path / "one.fa").write_text(">a\nACGT\n")
    assert run(tmp_path / "one.fa", "--save-state", tmp_path / "s")[0] == 0
    assert run(tmp_path / "one.fa", "--save-state", tmp_path / "s")[0] == 2
    code, _, err = run(tmp_path / "one.fa", "--state", tmp_path / "s", model="m1")
    assert code == 1 and "found one of another model" in err
    assert run(tmp_path / "one.fa", "--state", tmp_path / "s", "--strands", "both")[0] == 2
    for options, said in ((["--chunk", 256], "chunk 512"), (["--precision", "bf16"], "precision fp32")):
        code, out, err = run(tmp_path / "one.fa", "--state", tmp_path / "s", *options)
        assert (code, out) == (
            1,
            "",
        ) and f"s: expected {said}, with which the state was made, found {options[1]}" in err
    assert run(tmp_path / "one.fa", "--state", tmp_path / "s")[0] == 0


def test_bad_records_do_not_stop_the_others(run, tmp_path):
    bad, good = tmp_path / "bad.fa", tmp_path / "good.fa"
    bad.write_text(">a\nACGT\n>b\nAC!T\n>c\nGATTACA\n")
    good.write_text(">d\nACGTA\n")
    code, out, err = run(bad, tmp_path / "none.fa", good)
    assert code == 3 and "found '!'" in err and "none.fa: no such file" in err
    assert [row["record"] for row in table(out)] == ["a", "c", "d"]
    code, out, err = run(tmp_path / "none.fa")
    assert (code, out) == (1, "") and "no such file" in err
    (tmp_path / "t.txt").write_text("A sentence is here.\n")
    code, out, err = run(tmp_path / "t.txt")
    assert code == 1 and "expected sequences of DNA, found a document" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--track"], "--track needs --out DIR"),
        (["--resume"], "--resume needs --out DIR"),
        (["--resume", "--force"], "--resume and --force exclude each other"),
        (["--out", "missing/folder"], "its directory does not exist"),
        (["--snapshot-every", "0"], "--snapshot-every"),
        (["--chunk", "1048577"], "--chunk"),
        (["--region", "r0", "--region", "r1"], "is given twice; one run reads one region"),
        (["--save-state", "."], ".: is a directory; name a file in it"),
        (["--save-state", ".", "--force"], ".: is a directory; name a file in it"),
    ],
)
def test_wrong_requests_exit_2(run, source, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(source, *options)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
    assert os.listdir(tmp_path) == ["in.fa"]


def test_a_region_and_standard_input(run, source, monkeypatch):
    (row,) = table(run(source, "--region", "r1:101-400")[1])
    assert row["length"] == "300"
    wanted = run(source)[1].replace(str(source), "-")
    with open(source, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert run("-") == (0, wanted, "")
