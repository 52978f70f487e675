"""What a run says of its inputs when it is over."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from longseq.tasks.score.walk import Source

log = logging.getLogger("longseq")


def require_some(sources: Sequence[Source]) -> None:
    """Raise the first error where no record could be read because of it; the others are logged."""
    errors = [error for source in sources for error in [*source.errors, source.fault] if error is not None]
    if errors and not any(source.records for source in sources):
        for other in errors[1:]:
            log.error("%s", other)
        raise errors[0]
