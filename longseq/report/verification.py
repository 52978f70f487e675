"""What `verify` found, for a terminal: a line a document, and one for each sentence that does not stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from longseq.log import count
from longseq.report.lines import screen
from longseq.results.verification import DocumentCheck, Place, SentenceCheck, outcome

SHOWN = 60
"""Letters shown of a sentence."""
_SAYS = {
    "stands": "every sentence stands where the summary says",
    "fails": "not every sentence stands where the summary says",
    "unchecked": "not everything could be checked",
}


def verification_text(checks: Sequence[DocumentCheck]) -> str:
    """Plain text, ended by a line feed."""
    return screen(_lines(checks))


def _lines(checks: Sequence[DocumentCheck]) -> Iterator[str]:
    documents = Counter(check.file for check in checks)
    for check in checks:
        name = "standard input" if check.file == "-" else check.file
        name += f" ({check.id})" if documents[check.file] > 1 else ""
        read = "" if check.source in (None, check.file) else f", read from {check.source}"
        yield f"{name}{read}: {check.verdict}; {_count(check)}" if check.sentences else f"{name}{read}: {check.verdict}"
        yield from (f"  {remark}" for remark in check.remarks)
        for row in check.sentences:
            if row.state not in (None, "stands"):
                yield from _sentence(row, check)
    if len(checks) > 1:
        found = Counter(check.verdict for check in checks)
        each = ", ".join(f"{number:,} {verdict}" for verdict, number in found.most_common())
        yield f"{len(checks):,} documents: {each}; {_SAYS[outcome(checks)]}"


def _count(check: DocumentCheck) -> str:
    number = len(check.sentences)
    if all(row.state is None for row in check.sentences):
        if all(row.kept is None for row in check.sentences):
            return f"{count(number, 'sentence')} not checked"
        kept = sum(row.kept is True for row in check.sentences)
        return f"{kept} of {number} sentences stand in the text that was kept"
    return f"{check.standing} of {number} sentences stand where the summary says"


def _sentence(row: SentenceCheck, check: DocumentCheck) -> Iterator[str]:
    if row.now is None:
        yield f"  sentence {row.rank} is gone: “{_short(row.text)}”"
        return
    said, now = _place(row.said), _place(row.now)
    line = "" if row.now.line is None else f"{check.source}:{row.now.line}: "
    where = {
        "moved": f"moved from {said} to {now}" if said != now else f"stands at {now}, but at other bytes",
        "respaced": f"stands with other white space, moved from {said} to {now}",
        "altered": f"is altered; it stood at {said}, now at {now}",
        "gone": f"is gone from {said}",
    }[str(row.state)]
    yield f"  {line}sentence {row.rank} {where}: “{_short(row.text)}”"
    if row.found is not None and row.state != "respaced":
        about = _first_difference(row.text, row.found) if row.state == "altered" else 0
        yield f"    there stands: “{_short(row.found, about)}”"


def _place(place: Place) -> str:
    parts = [] if place.page is None else [f"page {place.page}"]
    if place.page_label not in (None, str(place.page)):
        parts[-1] += f" ({place.page_label})"
    return ", ".join([*parts, f"{place.start}-{place.end}"])


def _first_difference(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _short(text: str, about: int = 0) -> str:
    """A line of it, around this letter."""
    start = max(about - SHOWN // 2, 0) if about > SHOWN // 2 else 0
    shown = " ".join(text[start : start + SHOWN].split())
    return ("…" if start else "") + shown + ("…" if start + SHOWN < len(text) else "")
