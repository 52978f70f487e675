"""`longseq score --resume`: the same bytes, whether a run was stopped, killed or neither."""

import random
import signal
import subprocess
import sys
import time

import pytest
from scoring import CHUNK, contents, letters

from longseq.cli import main
from longseq.tasks.score.scorer import Scorer

LONGSEQ = [sys.executable, "-c", "import sys; from longseq.cli import main; sys.exit(main())"]


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("stop", "code"), [(signal.SIGUSR1, 85), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)]
)
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
