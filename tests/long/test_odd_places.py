"""Streams that are closed, full or of another locale; a home that cannot be written; few open files."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from longseq.cli import main
from longseq.formats.atomic import write_aside

LONGSEQ = [sys.executable, "-c", "import sys; from longseq.cli import main; sys.exit(main())"]
ROOT = Path(__file__).parents[2]
TEXT = "# Überschrift 漢字\n\nThe tide was out — “so”. A lamp burned all night. İstanbul ıssız.\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">r1 Förster 漢字\n" + "ACGTTGCAAC" * 3000 + "\n", encoding="utf-8")
    return path


def start(*words, env=None, **options):
    """`longseq …`, with what it printed as bytes."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    known |= {"PYTHONPATH": str(ROOT)} | (env or {})
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([*LONGSEQ, *map(str, words)], env=known, check=False, **given)


def test_results_are_the_same_bytes_in_any_locale(tmp_path):
    """PYTHONIOENCODING and the locale say what a terminal takes; a file or a program gets UTF-8."""
    (tmp_path / "t.md").write_text(TEXT, encoding="utf-8")
    found = {}
    for name, env in {
        "utf-8": {"LC_ALL": "C.UTF-8"},
        "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        "latin": {"PYTHONIOENCODING": "latin-1", "TERM": "dumb", "NO_COLOR": "1"},
    }.items():
        done = start("summarize", "t.md", "--format", "jsonl", "-q", env=env, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        found[name] = done.stdout
    assert len(set(found.values())) == 1
    assert "Überschrift 漢字" in json.dumps(json.loads(found["ascii"]), ensure_ascii=False)


def closed():
    os.closerange(0, 3)


def test_closed_streams_are_no_places_for_data(source, tmp_path):
    done = start("summarize", source, "--no-model", "--out", tmp_path / "o", preexec_fn=closed)
    assert done.returncode == 0
    assert json.loads((tmp_path / "o" / "run.json").read_text())["files"][0]["records"] == 1
    code = (
        "import os, sys; from longseq.cli import main; main(['--version']); "
        f"open({str(tmp_path / 'said')!r}, 'w').write(' '.join(os.readlink(f'/proc/self/fd/{{i}}') for i in range(3)))"
    )
    subprocess.run([sys.executable, "-c", code], preexec_fn=closed, check=True)
    assert (tmp_path / "said").read_text() == " ".join(["/dev/null"] * 3)


def test_a_full_device_is_one_line_and_a_code(source):
    with open("/dev/full", "wb") as full:
        done = start("summarize", source, "--no-model", "--json", stdout=full)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr


def test_a_working_folder_that_is_gone_is_named(source, tmp_path, monkeypatch, capsys):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["summarize", "x.fa", "--no-model"]) == 1
    assert "the working folder is not there any more" in capsys.readouterr().err


def test_what_stands_for_a_stream_is_written_as_it_is(tmp_path):
    end, start = os.pipe()
    try:
        for name in (f"/dev/fd/{start}", "/dev/null"):
            with write_aside(name) as path:
                assert str(path) == name
                path.write_text("x")
        assert os.read(end, 9) == b"x"
    finally:
        os.close(end)
        os.close(start)
    with open(tmp_path / "f", "w") as file, write_aside(f"/dev/fd/{file.fileno()}") as path:
        path.write_text("y")
    assert (tmp_path / "f").read_text() == "y" and list(tmp_path.iterdir()) == [tmp_path / "f"]


def test_nothing_is_written_to_the_home(source, tmp_path):
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    home.mkdir(mode=0o500)
    scratch.mkdir()
    env = {"HOME": str(home), "TMPDIR": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"}
    unset = dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HF_HOME", "MPLCONFIGDIR"), "")
    env |= {name: str(home / name) for name in unset if name.startswith("XDG")}
    done = start("summarize", source, "--no-model", "--out", tmp_path / "o", "--plots", "svg", "-q", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [*home.rglob("*")] == [] and [*scratch.iterdir()] == []
    assert (tmp_path / "o" / "plots").is_dir()


@pytest.mark.parametrize("words", [["--no-model"], []], ids=["DNA", "documents"])
def test_many_files_need_few_handles(words, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for i in range(60):
        text = f">r{i}\n{'ACGTTGCAAC' * 12}\n" if words else f"# Part {i}\n\nThe tide was out. A lamp burned.\n"
        (tmp_path / "in" / f"{i:02}.txt").write_text(text)
    line = ["summarize", *words, str(tmp_path / "in"), "--out", str(tmp_path / "out"), "-q"]
    assert main([*line, "--force"]) == 0  # what is opened once is open
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = max(map(int, os.listdir("/proc/self/fd"))) + 25
    resource.setrlimit(resource.RLIMIT_NOFILE, (room, most[1]))
    try:
        code = main([*line, "--force"])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    assert code == 0, capsys.readouterr().err
