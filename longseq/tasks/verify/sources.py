"""Which file is which: the sources of a summary, as it names them or as the user gives them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from longseq.errors import UsageError
from longseq.formats.digest import file_digest
from longseq.tasks.verify.claims import Claim


def sources_of(claims: Sequence[Claim], summary: str, given: Sequence[str] = ()) -> dict[str, str | None]:
    """By the name that the summary has for a source, where it lies; None where it is missing.

    A source that the user gives is the one of that path, else of that digest, else of that name; of a single one that
    is left on either side it is that. Others are looked for where the summary says, then beside the summary.

    Raises:
        UsageError: a source that is given belongs to no document of the summary.
    """
    names = list(dict.fromkeys(claim.file for claim in claims))
    found = _given(names, claims, given)
    beside = Path(summary) if os.path.isdir(summary) else Path(summary).parent
    for name in names:
        if name not in found:
            places = [] if name == "-" else [name, str(beside / name)]
            found[name] = next((place for place in places if os.path.exists(place)), None)
    return found


def _given(names: list[str], claims: Sequence[Claim], given: Sequence[str]) -> dict[str, str | None]:
    digests = {claim.file: claim.file_sha256 for claim in claims if claim.file_sha256 is not None}
    found: dict[str, str | None] = {}
    left: list[str] = []
    for source in given:
        if source in names and source not in found:
            found[source] = source
        else:
            left.append(source)
    for one in ("digest", "name"):
        for source in tuple(left):
            mark = file_digest(source) if one == "digest" else os.path.basename(source)
            known = digests.get if one == "digest" else os.path.basename
            like = [name for name in names if name not in found and mark is not None and known(name) == mark]
            if like and (len(like) == 1 or one == "digest"):
                found[like[0]] = source
                left.remove(source)
    open_ = [name for name in names if name not in found]
    if len(left) == len(open_) == 1:
        found[open_[0]] = left.pop()
    if left:
        raise UsageError(
            where=left[0],
            expected=f"a source of the summary: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}",
            found="neither its path, nor its digest, nor its name",
            remedy="leave it out, or give it alone where the summary has one source",
        )
    return found
