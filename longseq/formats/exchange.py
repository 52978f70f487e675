"""Two names of the file system change places, in one step where the system can: nobody ever finds either missing."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
from pathlib import Path

_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""
_WITHOUT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
"""What a system or a file system says that cannot."""


def exchange(one: Path, two: Path) -> None:
    """What was called `one` is called `two`, and the other way round; both are there, on one file system.

    Raises:
        OSError: it cannot be done; both are as they were.
    """
    if _at_once(one, two):
        return
    meanwhile = two.with_name(f".{two.name}.{secrets.token_hex(4)}.old")
    os.rename(two, meanwhile)
    try:
        os.rename(one, two)
    except BaseException:
        os.rename(meanwhile, two)
        raise
    os.rename(meanwhile, one)


def _at_once(one: Path, two: Path) -> bool:
    """By renameat2(2), where there is one."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if call(_HERE, os.fsencode(one), _HERE, os.fsencode(two), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _WITHOUT:
        return False
    raise OSError(number, os.strerror(number), str(two))
