"""Files that survive a crash: written aside, synced, renamed; read without following links. No formats."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import stat
from pathlib import Path

from codekb.store.errors import DamagedError

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HERE = -100
_EXCHANGE = 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux's renameat2."""
WRITE_BLOCK = 1 << 24
"""Bytes written at a time."""


def open_regular(path: Path) -> int:
    """A read-only descriptor of a regular file; a link, a device or a pipe is refused. The caller closes it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_FOLLOW)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DamagedError(f"couldn't open file: {path}: {error.strerror} (links are not followed)") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DamagedError(f"couldn't open file: {path} is no regular file")
    return descriptor


def read_regular(path: Path, limit: int | None = None) -> bytes:
    """The bytes of a regular file; more than `limit` of them are an error."""
    with open(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if limit is not None and size > limit:
            raise DamagedError(f"{path} has {size} bytes; at most {limit} belong there")
        return file.read()


def write_new(path: Path, *pieces: bytes | memoryview) -> None:
    """Write a file that must not exist yet, piece after piece, down to the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666)
    with open(descriptor, "wb") as file:
        for piece in pieces:
            for start in range(0, len(piece), WRITE_BLOCK):
                file.write(piece[start : start + WRITE_BLOCK])
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last; a no-op where folders cannot be opened (Windows)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_aside(target: Path, data: bytes) -> None:
    """Replace a file at once: a reader or a crash sees the old bytes or the new ones."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.parent / f".{target.name}.{secrets.token_hex(4)}.tmp"
    try:
        write_new(aside, data)
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(target.parent)


def replace_folder(aside: Path, target: Path) -> None:
    """Put a finished folder in another's place, or where none was; the old one is removed.

    On Linux the two change places in one step. Elsewhere the old one is renamed away first, and comes back
    if the second rename fails; a crash between the two leaves it beside the target, as `.NAME.….old`.
    """
    if not target.exists():
        os.rename(aside, target)
    elif _exchanged(aside, target):
        shutil.rmtree(aside)
    else:
        old = target.parent / f".{target.name}.{secrets.token_hex(4)}.old"
        os.rename(target, old)
        try:
            os.rename(aside, target)
        except OSError:
            os.rename(old, target)
            raise
        shutil.rmtree(old)
    sync_folder(target.parent)


def _exchanged(first: Path, second: Path) -> bool:
    """Whether the kernel and the file system could swap two names in one step."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return int(rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE)) == 0
