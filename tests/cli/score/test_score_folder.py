"""The working folder of `longseq score`: one run at a time, and nothing of anybody else is touched."""

import errno
import json
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from longseq.cli import main
from longseq.errors import OutputExistsError
from longseq.model import LanguageModel, ModelConfig, save
from longseq.tasks import working as lock_folder
from longseq.tasks.score.scorer import Scorer
from longseq.tasks.working import LOCK, RUN_SCHEMA, Folder
from longseq.tokens import DnaTokenizer

HOLD = """
import sys, pathlib
from longseq.tasks.working import Folder
Folder(pathlib.Path(sys.argv[1])).take()
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(folder, LanguageModel(ModelConfig(width=8, heads=2, layers=1)), DnaTokenizer())
    return folder


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.fa"
    path.write_text(">a\n" + "ACGTTGCA" * 1500 + "\n>b\nGATTACA\n")
    return path


@pytest.fixture
def score(model, source, tmp_path, capsys):
    def call(*options, track=True):
        given = ["score", source, "--out", tmp_path / "out", "--model", model, "--chunk", 512, "-q"]
        code = main([*map(str, given), *(["--track"] if track else []), *map(str, options)])
        return code, capsys.readouterr().err

    return call


@pytest.fixture
def partial(tmp_path):
    return tmp_path / ".out.partial"


@pytest.fixture
def during(monkeypatch):
    """`during(act)` calls `act(scorer)` once, in the middle of a run."""

    def plan(act):
        take, left = Scorer._take, [3]

        def planted(self, scored, sums):
            take(self, scored, sums)
            left[0] -= 1
            if left[0] == 0:
                act(self)

        monkeypatch.setattr(Scorer, "_take", planted)

    return plan


def interrupted(scorer):
    scorer._stop.name = "SIGTERM"


# One run at a time.


@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]])
@pytest.mark.parametrize("snapshots", [[], ["--snapshot-every", 500]])
def test_a_second_run_is_refused_and_the_first_one_ends_well(score, during, tmp_path, options, snapshots):
    assert score("--out", tmp_path / "alone")[0] == 0
    found = []
    during(lambda _: found.append(score(*options)))
    assert score(*snapshots)[0] == 0
    ((code, err),) = found
    assert code == 2 and err.count("\n") == 1
    assert f"another run (process {os.getpid()} on " in err and "is writing here; wait for it" in err
    for name in ("bits.npy", "scores.tsv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["alone", "in.fa", "out"]


def test_the_lock_of_a_killed_run_is_gone_with_it(score, partial):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(partial)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "taken\n"
        code, err = score()
        assert code == 2 and f"another run (process {other.pid} on " in err
        other.kill()
    assert (partial / LOCK).exists()
    assert score()[0] == 0


def test_a_folder_that_was_removed_as_its_lock_was_awaited(partial, monkeypatch):
    """The run before ends between the opening of the lock and its taking: the new run has a folder of its own."""
    first, second = Folder(partial), Folder(partial)
    first.take()
    hold, calls = lock_folder.hold, []

    def held(lock, path):
        if not calls:
            first.remove()
        calls.append(lock)
        hold(lock, path)

    monkeypatch.setattr(lock_folder, "hold", held)
    second.take()
    assert len(calls) == 2 and partial.is_dir()
    with pytest.raises(OutputExistsError, match="another run"):
        Folder(partial).take()
    first.remove()  # it is gone already, and what stands there is the second one's
    assert (partial / LOCK).exists()
    second.remove()
    assert not partial.exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_no_lock_is_a_warning(score, partial, monkeypatch, caplog, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    with caplog.at_level("WARNING", "longseq"):
        folder = Folder(partial)
        folder.take()
    assert "no lock can be had here" in caplog.text and os.strerror(number) in caplog.text
    folder.remove()
    assert not partial.exists()
    assert score()[0] == 0 and not partial.exists()


@pytest.mark.parametrize("change", ["longer", "shorter"])
def test_a_spool_that_something_else_wrote_to_is_no_track(score, during, partial, tmp_path, change):
    def disturb(scorer):
        for file in scorer._work._files.values():
            file.flush()
        with open(partial / "bits.f32", "r+b") as spool:
            spool.seek(0, os.SEEK_END)
            spool.write(b"four") if change == "longer" else spool.truncate(spool.tell() - 4)

    during(disturb)
    code, err = score()
    assert code == 1 and err.count("\n") == 1 and not (tmp_path / "out").exists()
    assert "bits.f32: expected the 48028 bytes that were written, found 480" in err and "--force" in err


def test_rows_that_do_not_fit_the_spool_are_no_track(score, monkeypatch, tmp_path):
    finish = Scorer._finish

    def planted(self, strand, sums):
        sums.length += 1
        finish(self, strand, sums)

    monkeypatch.setattr(Scorer, "_finish", planted)
    code, err = score()
    assert code == 1 and "bits.f32: expected values of b from 12001 on" in err


# Whose folder it is.


@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]])
@pytest.mark.parametrize("names", [["mine.txt"], ["run.json"], ["run.json", "rows.jsonl", "notes"], ["rows.jsonl"]])
def test_a_folder_of_somebody_else_is_left_alone(score, partial, tmp_path, options, names):
    partial.mkdir()
    for name in names:
        (partial / name).write_text("{}")
    code, err = score(*options)
    assert code == 2 and err.count("\n") == 1 and f"{partial}: " in err and "move it away" in err
    assert sorted(os.listdir(partial)) == sorted(names)


@pytest.mark.parametrize("beside", [{"run.json": json.dumps({"schema": RUN_SCHEMA})}, {LOCK: ""}])
def test_a_file_of_the_user_beside_ours_keeps_all_of_it(score, partial, beside):
    partial.mkdir()
    for name, text in {**beside, "thesis.tex": "years of work"}.items():
        (partial / name).write_text(text)
    code, err = score("--force")
    assert code == 2 and "holds 'thesis.tex', which no run of score wrote there" in err
    assert sorted(os.listdir(partial)) == sorted([*beside, "thesis.tex"])


@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]])
@pytest.mark.parametrize("kind", ["link", "dangling", "file"])
def test_a_link_or_a_file_in_its_place_is_refused(score, partial, tmp_path, options, kind):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_text("mine")
    if kind == "file":
        partial.write_text("mine")
    else:
        partial.symlink_to(tmp_path / ("elsewhere" if kind == "link" else "nowhere"))
    code, err = score(*options)
    assert code == 2 and err.count("\n") == 1 and "move it away" in err
    assert f"found {'a file' if kind == 'file' else 'a symbolic link'}" in err
    assert partial.is_symlink() == (kind != "file") and os.listdir(tmp_path / "elsewhere") == ["mine"]


def test_an_empty_folder_and_what_a_killed_run_left_are_taken_over(score, partial, tmp_path):
    partial.mkdir()
    assert score()[0] == 0
    partial.mkdir()
    (partial / LOCK).write_text("process 1 on a\n")
    (partial / ".run.0123abcd.json").write_text("{")
    assert score("--out", tmp_path / "out", "--force")[0] == 0 and not partial.exists()


# What cannot be gone on from.


def spoil(partial, what):
    settings, state = partial / "run.json", partial / "run.state"
    if what == "missing":
        settings.unlink()
    elif what == "state":
        state.write_bytes(b"no state at all")
    else:
        settings.write_text(what)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("[]", "run.json: expected the settings of the run, found JSON of another shape (list)"),
        ("{", "run.json: expected the settings of the run, found "),
        ("missing", "run.json: expected the settings of the run, found no file"),
        ("state", "run.state: expected a saved state, found "),
    ],
)
def test_a_resumed_run_names_the_file_it_cannot_read(score, during, partial, what, said):
    during(interrupted)
    assert score()[0] == 85
    spoil(partial, what)
    code, err = score("--resume")
    assert code == 1 and err.count("\n") == 1
    assert f"{partial}/{said}" in err and "; --force starts anew" in err
    assert score("--force")[0] == 0 and not partial.exists()


def test_a_state_of_a_record_is_no_snapshot_of_a_run(score, during, model, source, partial, tmp_path):
    during(interrupted)
    assert score()[0] == 85
    one, state = tmp_path / "one.fa", tmp_path / "s"
    one.write_text(">a\nACGT\n")
    assert main(["score", "-q", str(one), "--model", str(model), "--save-state", str(state)]) == 0
    state.replace(partial / "run.state")
    code, err = score("--resume")
    assert code == 1 and "run.state: expected the snapshot of a run, found the state of a record alone; --force" in err


# Files that take no more.


@pytest.fixture
def limit():
    """`limit(bytes)` a file, until the test is over."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_spool_that_takes_no_more_is_named(score, partial, tmp_path, limit):
    limit(20_000)
    code, err = score("--snapshot-every", 2000)
    assert code == 1 and err.count("\n") == 1
    assert f"{partial / 'bits.f32'}: cannot be written: File too large; make room" in err and "--resume goes on" in err
    limit(resource.RLIM_INFINITY)
    assert score("--resume")[0] == 0 and len(np.load(tmp_path / "out" / "bits.npy")) == 12_007


def test_a_spool_of_letters_that_takes_no_more_is_named(score, tmp_path, monkeypatch, limit):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "in.fa").write_text(">a\n" + "ACGT" * 30_000 + "\n")
    limit(100_000)
    code, err = score("--strands", "both", track=False)
    assert code == 1 and err.count("\n") == 1
    assert f"{tmp_path}: the spool cannot be written (File too large); set TMPDIR" in err


def test_an_output_that_takes_no_more_is_named(score, tmp_path, limit):
    limit(48_028 + 64)  # the spool fits, the track with its header does not
    code, err = score()
    assert code == 1 and f"{tmp_path / 'out'}: cannot be written: File too large" in err
    assert os.listdir(tmp_path) == ["in.fa"]
