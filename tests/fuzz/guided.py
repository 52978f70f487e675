"""Fuzz readers, guided by coverage: `python tests/fuzz/guided.py fasta bed --seconds 60`.

What breaks one is written to its folder in `--found`, of inputs that stay as tests; `--corpus` keeps what reached new
code. A line of JSON tells what became of each.
Needs atheris, of the extra `fuzz`. Besides what `Target.trial` asks, a file that takes a minute counts as broken, and
so does a process that grows past 2 GiB.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["longseq"]):
    from fuzzing import HERE, MOST, NUMBERS, Target
    from targets import TARGETS


def _dictionary(target: Target, path: Path) -> None:
    words = (word[:64] for word in (*target.words, *NUMBERS))  # longer ones are refused
    path.write_text("".join('"' + "".join(f"\\x{byte:02X}" for byte in word) + '"\n' for word in words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: all of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--side-by-side", type=int, default=1)
    parser.add_argument("--found", type=Path, default=HERE / "found", help="a folder in which each target has its own")
    parser.add_argument("--corpus", type=Path, help="default: folders that go away")
    parser.add_argument("--logs", type=Path, help="a folder for what each target says; default: standard error")
    given = parser.parse_args()
    if unknown := set(given.targets) - set(TARGETS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    wanted, failed, running = list(given.targets or TARGETS), False, {}
    while wanted or running:
        while wanted and len(running) < given.side_by_side:
            name = wanted.pop(0)
            running[_started(TARGETS[name], given)] = name, time.monotonic()
        child, status, used = os.wait3(0)
        name, began = running.pop(child)
        code = os.waitstatus_to_exitcode(status)
        failed |= bool(code)
        done = {
            "target": name,
            "exit": code,
            "seconds": time.monotonic() - began,
            "processor_seconds": used.ru_utime + used.ru_stime,
            "peak_rss_mb": used.ru_maxrss / 1024,  # KiB on Linux
        }
        print(json.dumps(done), flush=True)
    sys.exit(failed)


def _started(target: Target, given: argparse.Namespace) -> int:
    """A process that fuzzes this target; readers are instrumented once for all of them."""
    found, corpus = given.found / target.name, given.corpus and given.corpus / target.name
    if child := os.fork():
        return child
    if given.logs:
        given.logs.mkdir(parents=True, exist_ok=True)
        log = os.open(given.logs / f"{target.name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
    with tempfile.TemporaryDirectory() as scratch:
        if child := os.fork():
            _, status, _ = os.wait4(child, 0)
        else:
            _fuzz(target, Path(scratch), found, corpus, given.seconds)  # which leaves by the shortest way
    os._exit(os.waitstatus_to_exitcode(status) & 255)


def _fuzz(target: Target, place: Path, found: Path, corpus: Path | None, seconds: int) -> None:
    corpus, laid, seeds = corpus or place / "corpus", place / "input", place / "seeds"
    for folder in (found, corpus, laid, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    _dictionary(target, place / "words")
    with atheris.instrument_imports(include=["longseq"]):
        for number, seed in enumerate(target.seeds()):
            (seeds / str(number)).write_bytes(seed)
            target.read(target.laid(laid, seed))  # what is imported when it is wanted is wanted now
    flags = [
        f"-max_total_time={seconds}",
        "-timeout=60",
        "-report_slow_units=60",  # of a clock: a trial counts its own seconds
        "-rss_limit_mb=2048",
        f"-max_len={MOST}",
        "-len_control=0",
        f"-artifact_prefix={found}/",
        f"-dict={place / 'words'}",
        str(corpus),
        str(seeds),
    ]
    atheris.Setup([sys.argv[0], *flags], lambda data: target.trial(laid, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
