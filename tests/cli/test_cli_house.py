"""The command line's manners: cheap help, exit codes, one line an error, nothing left behind."""

import io
import logging
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import click
import pytest
import torch

import longseq.cli
from longseq.cli import COMMANDS, EXAMPLES, group, main
from longseq.cli.talk import Announced, Talk
from longseq.errors import CheckpointError, StoppedError
from longseq.log import BarProgress, LineProgress, NullProgress, log

LONGSEQ = [sys.executable, "-c", "import sys; from longseq.cli import main; sys.exit(main())"]


def test_help_wakes_nothing_heavy():
    code = (
        "import sys; from longseq.cli import main; code = main(['--help']); "
        "heavy = {'torch', 'numpy', 'pyarrow', 'Bio', 'rich', 'tokenizers'} & set(sys.modules); "
        "sys.exit(code or ', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: longseq {name}") and "--debug" in shown
    command = group.get_command(click.Context(group), name)
    for one in getattr(command, "commands", {"": command}).values():
        assert [p.name for p in one.params if isinstance(p, click.Option) and not p.help] == []


def test_memory_that_torch_cannot_have_is_said_plainly(monkeypatch, capsys):
    monkeypatch.setattr("longseq.tasks.info.describe", lambda *_, **__: torch.empty(1 << 60, dtype=torch.uint8))
    assert main(["info", "x"]) == 1
    assert capsys.readouterr().err == "longseq: out of memory\n"


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"longseq {longseq.__version__}\n"


def test_many_options_are_parted_and_values_have_short_names(capsys):
    assert main(["summarize", "--help"]) == 0
    shown = capsys.readouterr().out
    titles = [line for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles[0] == "Options:" and {"Options for DNA:", "Options for documents:", "Messages:"} <= set(titles)
    command = group.get_command(click.Context(group), "summarize")
    for param in command.params:
        name = param.opts[-1]
        assert not isinstance(param, click.Option) or len(re.findall(rf"^  (-\w, )?{name}\b(?!-)", shown, re.M)) == 1
    assert "INTEGER" not in shown and "x>=" not in shown and "[1 to 1048576]" in shown


def test_more_is_said_to_who_asks_and_less_to_who_does_not(tmp_path, capsys):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    line = ["summarize", str(tmp_path / "a.fa"), "--no-model"]
    said = {}
    for flag in ("-q", "-v"):
        assert main([*line, flag]) == 0
        said[flag] = capsys.readouterr()
    assert said["-q"].out == said["-v"].out and said["-q"].err == ""
    assert "a.fa: fasta, plain\n" in said["-v"].err and "of memory at most\n" in said["-v"].err
    assert main([*line, "-q", "-v"]) == 2


@pytest.mark.parametrize(("terminal", "kind"), [("xterm", BarProgress), ("dumb", LineProgress), (None, LineProgress)])
def test_a_bar_needs_a_terminal_that_can_move(terminal, kind, monkeypatch):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal is not None

    monkeypatch.setattr(sys, "stderr", Stream())
    monkeypatch.setenv("TERM", terminal or "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours of what is piped are no bar
    assert type(Talk([]).progress()._inner) is kind


def test_nothing_asked_is_help_on_stderr(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "summarize" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["sumarize"], "no such command 'sumarize'; did you mean summarize?"),
        ([__file__], f"did you mean longseq summarize {__file__}?"),
        (["dance"], "no such command 'dance'; commands: "),
        (["summarize"], "missing argument 'INPUT...'"),
        (["summarize", "x", "--frce"], "--force"),
        (["summarize", "x", "--strands", "backward"], "'both', 'forward'"),
        (["summarize", "x", "--strands", "forwards"], "'forward'; did you mean forward?"),
        (["tokenizer", "shwo"], "no such command 'shwo'"),
        (["info"], "missing argument 'PATH'"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(argv, said, capsys):
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("longseq: ") and said in err


def test_a_missing_file_may_be_one_that_is_there(tmp_path, capsys):
    (tmp_path / "genome.fa").write_text(">a\nACGT\n")
    for name, said in (("genom.fa", "did you mean genome.fa?"), ("zzz", "check the path")):
        assert main(["summarize", str(tmp_path / name), "--no-model"]) == 1
        assert capsys.readouterr().err == f"longseq: {tmp_path / name}: no such file; {said}\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (StoppedError("stopped", remedy="go on with --resume"), 85, "stopped; go on with --resume"),
        (CheckpointError("is no checkpoint", where="m"), 1, "m: is no checkpoint"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (MemoryError(), 1, "longseq: out of memory\n"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), 1, "longseq: out of memory\n"),
        (RuntimeError("alloc_cpu.cpp: can't allocate memory: you\nasked"), 1, "longseq: out of memory\n"),
        (ImportError("libz.so: failed to map segment from shared object"), 1, "longseq: out of memory\n"),
        (RuntimeError("a shape is wrong"), 1, "internal error: RuntimeError: a shape is wrong"),
        (KeyError("shape"), 1, "internal error: KeyError: 'shape'; --debug shows where"),
    ],
)
def test_each_error_has_its_code_and_its_line(error, code, said, monkeypatch, capsys):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("longseq.tasks.info.describe", fail)
    assert main(["info", "x"]) == code
    err = capsys.readouterr().err
    assert err.startswith("longseq: ") and said in err and err.count("\n") == 1
    assert main(["info", "x", "--debug"]) == code
    assert "Traceback" in capsys.readouterr().err


def heard() -> None:
    """Signals that whoever runs the tests ignores (nohup, a job in the background) are not ignored in the child."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def endless(tmp_path, stop: int) -> subprocess.CompletedProcess:
    """A run whose input never ends, stopped by a signal once its output folder has begun."""
    reader, writer = os.pipe()
    run = subprocess.Popen(
        [*LONGSEQ, "summarize", "-", "--no-model", "--out", str(tmp_path / "out")],
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heard,
    )
    os.close(reader)
    os.write(writer, b">endless\n" + b"ACGT" * 5000 + b"\n")
    deadline = time.monotonic() + 60
    while not any(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert any(tmp_path.iterdir())
    run.send_signal(stop)
    out, err = run.communicate(timeout=60)
    os.close(writer)
    return subprocess.CompletedProcess([], run.returncode, out, err)


@pytest.mark.parametrize(
    ("stop", "code", "said"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "terminated")],
)
def test_a_signal_leaves_nothing_behind(stop, code, said, tmp_path):
    done = endless(tmp_path, stop)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"longseq: {said}\n")
    assert list(tmp_path.iterdir()) == []


def shell(line: str, *arguments: str) -> subprocess.CompletedProcess:
    script = f'exec "$@" {line}'
    command = ["sh", "-c", script, "sh", *LONGSEQ, *arguments]
    # Buffered, as everywhere but where somebody asked otherwise: what is left in a buffer is written at the end.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_one_line(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    done = shell(">/dev/full", "info", str(tmp_path / "a.fa"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("longseq: No space left on device; make room")


def test_closed_streams_are_no_fault_of_ours(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    assert shell(">&-", "info", str(tmp_path / "a.fa")).stderr == ""
    done = shell("2>&-", "info", str(tmp_path / "missing"))
    assert (done.returncode, done.stdout) == (1, "")


def test_a_reader_that_leaves_is_no_error(tmp_path):
    many = tmp_path / "many.fa"
    many.write_text("".join(f">s{i}\nACGT\n" for i in range(3000)))
    command = [*LONGSEQ, "summarize", str(many), "--no-model", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "{\n"
        run.stdout.close()
        assert run.stderr.read() == ""
    assert run.returncode == 0


class Said(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def announced(monkeypatch, total: int | None, amount: int = 1_000) -> list[str]:
    """What is said of ten seconds of work, so many bases each."""
    clock, said = iter(range(1_000)), Said()
    monkeypatch.setattr("longseq.cli.talk.time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(log, "handlers", [said])
    monkeypatch.setattr(log, "level", logging.INFO)
    progress = Announced(NullProgress())
    progress.start("a.fa", total, "base")
    for _ in range(10):
        progress.advance(amount)
    progress.finish()
    return said.lines


def test_a_long_run_is_announced_once(monkeypatch):
    assert announced(monkeypatch, 1_000_000) == ["a.fa: about 16 min 40 s for 1 M bases at 1 k bases/s"]
    assert announced(monkeypatch, 1_000_000, amount=0) == []


def test_a_quiet_run_leaves_the_next_program_its_voice(tmp_path, capsys):
    (tmp_path / "x.fa").write_text(">a\nACGT\n")
    assert main(["summarize", str(tmp_path / "x.fa"), "--no-model", "-q"]) == 0
    assert (log.level, log.handlers, log.propagate) == (logging.NOTSET, [], True)


@pytest.mark.parametrize("total", [10_000, None])
def test_a_short_run_and_one_of_unknown_length_are_not(total, monkeypatch):
    assert announced(monkeypatch, total) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_ends_with_an_example_that_the_command_takes(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.rstrip().endswith(f"Example:\n    {EXAMPLES[name]}")
    assert max(map(len, shown.splitlines())) <= 80
    program, command, *words = shlex.split(EXAMPLES[name])
    found = group.get_command(click.Context(group), command)
    while isinstance(found, click.Group):  # a command of its own commands
        found = found.get_command(click.Context(found), words.pop(0))
    assert program == "longseq" and found.make_context(command, words).params
