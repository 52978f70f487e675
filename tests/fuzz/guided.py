"""Fuzz one reader, guided by coverage: `python tests/fuzz/guided.py fasta --seconds 60`.

What breaks it is written to `--found`, the folder of inputs that stay as tests; `--corpus` keeps what reached new code.
Needs atheris, of the extra `fuzz`. Besides what `Target.trial` asks, a file that takes a minute counts as broken, and
so does a process that grows past 2 GiB.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
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
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--found", type=Path, help="default: found/TARGET beside this file")
    parser.add_argument("--corpus", type=Path, help="default: a folder that goes away")
    given = parser.parse_args()
    target = TARGETS[given.target]
    found = given.found or HERE / "found" / target.name
    with tempfile.TemporaryDirectory() as scratch:
        child = os.fork()
        if not child:
            _fuzz(target, Path(scratch), found, given.corpus, given.seconds)  # which leaves by the shortest way
        _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _fuzz(target: Target, place: Path, found: Path, corpus: Path | None, seconds: int) -> None:
    corpus, laid = corpus or place / "corpus", place / "input"
    for folder in (found, corpus, laid):
        folder.mkdir(parents=True, exist_ok=True)
    _dictionary(target, place / "words")
    with atheris.instrument_imports(include=["longseq"]):
        for seed in target.seeds():  # what is imported when it is wanted is wanted now
            target.read(target.laid(laid, seed))
    flags = [
        f"-max_total_time={seconds}",
        "-timeout=60",
        "-rss_limit_mb=2048",
        f"-max_len={MOST}",
        "-len_control=0",
        f"-artifact_prefix={found}/",
        f"-dict={place / 'words'}",
        str(corpus),
        str(HERE / "seeds" / target.name),
    ]
    atheris.Setup([sys.argv[0], *flags], lambda data: target.trial(laid, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
