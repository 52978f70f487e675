"""What `info` says of anything, and words of JSON."""

from __future__ import annotations

from pathlib import Path

from longseq.tasks.info import describe

JSON = (
    b"null",
    b"NaN",
    b"Infinity",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"1099511627776",
    b"[]",
    b"{}",
    b'""',
    b"true",
    b'"\\ud800"',
    b"[[[[[[",
    b'{"a":',
    b"9" * 64,
    b"0.5",
    b",",
    b":",
    b"[",
    b"]",
    b"{",
    b"}",
)


def described(path: Path) -> None:
    """What `info` says of it, as a line of a terminal or of JSON."""
    from longseq.formats.jsonfile import to_json
    from longseq.report.facts import facts_text

    facts = describe(str(path))
    to_json(facts).encode()
    facts_text(facts)
