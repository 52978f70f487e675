"""Output that appears whole or not at all: written aside, flushed to disk, renamed.

Nothing is left behind by an exception or an interruption. While it grows, output is readable by its owner only.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shlex
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from longseq.errors import LongseqError, OutputExistsError, UsageError
from longseq.formats.exchange import exchange
from longseq.formats.paths import hidden, hidden_alike

_FORCE = "give another name, or --force to replace it"
_ASIDE = re.compile(r"\..+\.[0-9a-f]{8}(\.[^.]*)?")
"""Names under which outputs are written until they are whole."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where there is no room."""


@contextmanager
def write_aside(path: str | Path, *, force: bool = False, given: bool = True) -> Iterator[Path]:
    """Path of an empty file beside `path`, with its suffix; it takes the name `path` when the block ends well.

    A symbolic link keeps pointing: its target is replaced. A device or a pipe (`/dev/null`) is handed out as it is. Not
    so where a name is not `given` by the user but ours, in a folder that others may have filled: a link in that place
    is replaced itself, and what it points at stays as it is.

    Raises:
        OutputExistsError: `path` stands already and `force` is not set; also when it appears while the block runs.
        UsageError: `path` is a directory, or its directory is missing or cannot be written.
    """
    target = free_file(path, force=force, given=given)
    if given and _stands_for_more(target):
        yield target
        return
    aside = hidden_alike(target, f".{secrets.token_hex(4)}")
    try:
        with _said(path):
            os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with _named(aside, path):
            yield aside
        with _said(path):
            os.chmod(aside, 0o666 & ~umask())
            flush(aside)
            if force:
                os.replace(aside, target)
            else:
                _name_new(aside, target, path)
            flush(target.parent)
    finally:
        _remove(aside)


def remove_asides(folder: Path) -> None:
    """What killed runs left of their outputs in this folder; for who holds a lock there, so that no other run has
    any."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        if is_aside(entry.name):
            _remove(entry)


def is_aside(name: str) -> bool:
    """Whether an output may have been written under this name, until it was whole."""
    return _ASIDE.fullmatch(name) is not None


def no_directory(path: str | Path) -> UsageError:
    """Nothing can be made at `path`."""
    remedy = f"make it first: mkdir -p {shlex.quote(str(Path(path).parent))}"
    return UsageError("its directory does not exist", where=str(path), remedy=remedy)


def free_file(path: str | Path, *, force: bool = False, given: bool = True) -> Path:
    """The real path of a file that `write_aside` may make, looked at before the work that fills it.

    Raises:
        OutputExistsError, UsageError: as `write_aside` does.
    """
    if given and _stands_for_more(Path(path)):
        return Path(path)
    target = Path(os.path.realpath(path) if given else path)
    mode = _mode(target, follow=given)
    if mode is None and not target.parent.is_dir():
        raise no_directory(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise UsageError("is a directory", where=str(path), remedy="name a file in it")
    if mode is not None and (stat.S_ISREG(mode) or not given) and not force:
        raise OutputExistsError("exists already", where=str(path), remedy=_FORCE)
    return target


def free_directory(path: str | Path, *, force: bool = False, given: bool = True) -> Path:
    """The real path of a directory that `output_directory` may make, looked at before the work that fills it.

    Raises:
        OutputExistsError, UsageError: as `output_directory` does.
    """
    if not given and Path(path).is_symlink():
        raise UsageError("is a symbolic link, which is not followed here", where=str(path), remedy="remove it")
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    if mode is not None and not stat.S_ISDIR(mode):
        raise UsageError("is not a directory", where=str(path), remedy="give another name")
    if target == Path.cwd() or target in Path.cwd().parents:
        raise UsageError("is the working directory or holds it", where=str(path), remedy="name a directory of its own")
    if mode is not None and not force and any(target.iterdir()):
        raise OutputExistsError("exists already", where=str(path), remedy=_FORCE)
    return target


@contextmanager
def output_directory(
    path: str | Path, *, force: bool = False, replaces: Collection[str] = (), given: bool = True
) -> Iterator[Path]:
    """Path of an empty directory beside `path`; it takes the name `path` when the block ends well.

    With `force` an existing directory is swapped for the new one. Entries of the old one that the new one lacks are
    kept, since they may be the user's, except those named in `replaces`: what an earlier run of the caller may have
    left. An empty directory counts as absent. A symbolic link is followed where the name was `given` by the user.

    Raises:
        OutputExistsError: `path` stands already, is not empty, and `force` is not set.
        UsageError: `path` is not a directory, is or holds the working directory, cannot be written, or is a link and
            not `given`.
    """
    target = free_directory(path, force=force, given=given)
    aside = hidden(target, f".{secrets.token_hex(4)}")
    try:
        with _said(path):
            aside.mkdir(mode=0o700)
        with _named(aside, path):
            yield aside
        with _said(path):
            for directory, _, names in os.walk(aside):
                for name in names:
                    flush(Path(directory, name))
                flush(Path(directory))
            os.chmod(aside, 0o777 & ~umask())
            if force and target.exists():
                _keep(target, aside, replaces)
                exchange(aside, target)
                _keep(aside, target, replaces)  # what came meanwhile
            else:
                try:
                    os.rename(aside, target)
                except OSError as error:
                    if target.exists():
                        raise OutputExistsError("exists already", where=str(path), remedy=_FORCE) from None
                    raise error
            flush(target.parent)
    finally:
        _remove(aside)


def _keep(old: Path, new: Path, replaces: Collection[str]) -> None:
    """Have in the directory `new` what is in `old` and may be the user's: the same files by a second name, where the
    file system has hard links."""
    for entry in old.iterdir():
        place = new / entry.name
        if entry.name in replaces or os.path.lexists(place):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, place, symlinks=True, copy_function=_link)
        else:
            _link(entry, place)


def _link(old: str | Path, new: str | Path) -> None:
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        shutil.copy2(old, new, follow_symlinks=False)


def _remove(aside: Path) -> None:
    """A file, or a directory with all in it; also where a signal comes meanwhile."""
    try:
        _unlink(aside)
    finally:
        _unlink(aside)


def _unlink(aside: Path) -> None:
    if aside.is_dir():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        with suppress(OSError):  # it is gone, or nothing can be changed here any more, which was said
            aside.unlink()


def _name_new(aside: Path, target: Path, path: str | Path) -> None:
    """Rename, but never over a file that appeared meanwhile: a hard link refuses where a rename would not."""
    try:
        os.link(aside, target)
    except FileExistsError:
        raise OutputExistsError("exists already", where=str(path), remedy=_FORCE) from None
    except OSError:  # a file system without hard links
        if target.exists():
            raise OutputExistsError("exists already", where=str(path), remedy=_FORCE) from None
        os.rename(aside, target)


@contextmanager
def _said(path: str | Path) -> Iterator[None]:
    """What the system says, in our words."""
    try:
        yield
    except FileNotFoundError:
        raise no_directory(path) from None
    except OSError as error:
        problem, where = f"cannot be written: {error.strerror or error}", str(path)
        if error.errno in FULL:
            raise LongseqError(problem, where=where, remedy="make room, or give another name") from None
        raise UsageError(problem, where=where, remedy="give another name") from None


@contextmanager
def _named(aside: Path, path: str | Path) -> Iterator[None]:
    """An error of a file that is written aside speaks of the name that it was to have."""
    try:
        yield
    except OSError as error:
        if isinstance(error.filename, str | os.PathLike) and Path(error.filename).is_relative_to(aside):
            error.filename = str(Path(path) / Path(error.filename).relative_to(aside))
        raise


def _stands_for_more(path: Path) -> bool:
    """Whether it is a device or a pipe, or names a file that is open, as /dev/stdout does: written to as it is. The
    real path of a pipe names nothing."""
    mode = _mode(path)
    if mode is None or stat.S_ISDIR(mode):
        return False
    return not stat.S_ISREG(mode) or path.parent in (Path("/dev"), Path("/dev/fd"))


def _mode(path: Path, *, follow: bool = True) -> int | None:
    try:
        return path.stat(follow_symlinks=follow).st_mode
    except OSError:
        return None


def flush(path: Path) -> None:
    """Have what a file, or the list of a folder, holds on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def umask() -> int:
    """Permissions that this process takes from what it makes."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
