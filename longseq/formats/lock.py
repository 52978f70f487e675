"""A lock of the operating system's on an open file: gone with the process that holds it, however that ends."""

from __future__ import annotations

import errno
import logging
import os
import socket
from pathlib import Path

from longseq.errors import OutputExistsError

log = logging.getLogger("longseq")

_WITHOUT = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)
"""What a file system says that has no such locks."""


def hold(lock: int, path: Path) -> None:
    """Lock an open file for this process, as long as it is open; `path` is what is written to, for people.

    Raises:
        OutputExistsError: another process holds it.
    """
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = os.pread(lock, 300, 0).decode(errors="replace").strip() or "just begun"
        known = f" ({who})" if who.startswith(("process ", "just ")) else ""
        raise OutputExistsError(
            f"another run{known} is writing here",
            where=str(path),
            remedy="wait for it, or give --out another name",
        ) from None
    except (ImportError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _WITHOUT:
            raise
        log.warning("%s: no lock can be had here (%s); let no other run write to the same --out", path, error)


def sign(lock: int) -> None:
    """Write into a lock who holds it."""
    os.ftruncate(lock, 0)
    os.write(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
