"""Fuzz one reader, guided by coverage: `python tests/fuzz/guided.py fasta --seconds 60`.

What breaks it is written to `--found`, the folder of inputs that stay as tests; `--corpus` keeps what reached new code.
Needs atheris, of the extra `fuzz`. Memory past 1 GiB or a file that takes 10 seconds count as broken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["longseq"]):
    from fuzzing import HERE, MOST, SECONDS, Target
    from targets import TARGETS

MIB = 1024


def _dictionary(target: Target, path: Path) -> None:
    lines = ('"' + "".join(f"\\x{byte:02X}" for byte in word) + '"\n' for word in target.words)
    path.write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--found", type=Path, help="default: found/TARGET beside this file")
    parser.add_argument("--corpus", type=Path, help="default: a folder that goes away")
    given = parser.parse_args()
    target = TARGETS[given.target]
    found = given.found or HERE / "found" / target.name
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        corpus = given.corpus or place / "corpus"
        for folder in (corpus, place / "input"):
            folder.mkdir(parents=True, exist_ok=True)
        _dictionary(target, place / "words")
        flags = [
            f"-max_total_time={given.seconds}",
            f"-timeout={SECONDS:.0f}",
            f"-rss_limit_mb={MIB}",
            f"-max_len={MOST}",
            f"-artifact_prefix={found}/",
            f"-dict={place / 'words'}",
            str(corpus),
            str(HERE / "seeds" / target.name),
        ]
        atheris.Setup([sys.argv[0], *flags], lambda data: target.trial(place / "input", data) and None)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
