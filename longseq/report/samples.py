"""Names of samples: what a row of a table of many files is known by."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from longseq.errors import UsageError

SEPARATOR = " | "
"""Between folder and file, as MultiQC writes it."""

_ENDING = re.compile(
    r"(\.(fasta|fa|fna|ffn|fas|fsa|fastq|fq|gb|gbk|gbff|genbank|embl|2bit|bam|cram|sam|gff|gff3|txt|md|jsonl|csv|tsv"
    r"|parquet|arrow))?(\.(gz|bgz|bgzf|bz2|xz|zst))*$",
    re.IGNORECASE,
)


class _Name(NamedTuple):
    path: tuple[str, ...]
    folders: int = 1
    """How many the name takes in."""
    whole: bool = False
    """Its ending is kept."""

    def __str__(self) -> str:
        *folders, file = self.path[-1 - self.folders :]
        stem = file if self.whole else _ENDING.sub("", file) or file
        return SEPARATOR.join([*folders, stem]).replace(".", "_")


def sample_names(files: Sequence[str], given: Sequence[str] = ()) -> list[str]:
    """A name for each file, no two alike: the one given, else its folder and its own name, `asm01 | contigs`.

    MultiQC cuts the names that tools give at the last slash and at a list of endings, so that a hundred files called
    contigs.fasta would be one sample; therefore no slash, no ending, and points become underscores. A name does not
    depend on the other files of a run, but where two come out alike: these take in more folders, or their endings.
    Standard input is `stdin`.

    Raises:
        UsageError: names are given, but not one a file, or one twice.
    """
    if given:
        return _given(files, given)
    names = [
        _Name(("stdin",), 0) if file == "-" else _Name(PurePath(os.path.abspath(file)).parts[1:]) for file in files
    ]
    while True:
        alike: dict[str, set[_Name]] = {}
        for name in names:
            alike.setdefault(str(name), set()).add(name)
        following = {name: longer for same in alike.values() for name, longer in _longer(same)}
        longer = [following[name] for name in names]
        if longer == names:
            return _numbered(list(map(str, names)))
        names = longer


def _longer(alike: set[_Name]) -> Iterator[tuple[_Name, _Name]]:
    """Of names that come out alike, each with the next one to try; of one alone, itself."""
    whole = len({name.path[:-1] for name in alike}) < len(alike)  # some lie in one folder
    for name in alike:
        if len(alike) == 1:
            yield name, name
        elif whole:
            yield name, name._replace(whole=True)
        else:
            yield name, name._replace(folders=min(name.folders + 1, len(name.path) - 1))


def _given(files: Sequence[str], given: Sequence[str]) -> list[str]:
    if len(given) != len(files):
        raise UsageError(
            where="--sample", expected=f"one for each of {len(files)} inputs, in their order", found=f"{len(given)}"
        )
    twice = [name for name, times in Counter(given).items() if times > 1]
    if twice or "" in given:
        raise UsageError(where="--sample", expected="a name of its own for each input", found=repr((twice or [""])[0]))
    return list(given)


def _numbered(names: list[str]) -> list[str]:
    """A file that is named twice in one run has two rows."""
    taken: set[str] = set()
    reached: dict[str, int] = {}
    for i, name in enumerate(names):
        number = reached.get(name, 1)
        while names[i] in taken:
            number += 1
            names[i] = f"{name} ({number})"
        reached[name] = number
        taken.add(names[i])
    return names
