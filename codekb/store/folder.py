"""A folder that holds named arrays and texts, replaced as a whole: crash-safe, locked, checked, no pickle.

    index/
      manifest.json                    what belongs to the index now; renaming it into place is the commit
      vectors.1f0c….npy, chunks.….json  data files, each written once under a new name and never changed
      lock                             held by the one process that writes; readers need no lock

A save writes new data files, syncs them, renames a new manifest over the old one, then removes what the old
one alone used. A file whose content is unchanged is kept. A reader that meets a removed file starts again
with the manifest that is there by then.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.store import manifest
from codekb.store.errors import ChangedError, DamagedError, LockedError, StoreError
from codekb.store.files import open_regular, sync_folder, write_aside, write_new
from codekb.store.manifest import Entry, Manifest, read_manifest

LOCK = "lock"
LOCK_WAIT = 10.0
"""Seconds a writer waits for another one by default."""
LOCK_STEP = 0.05
READ_TRIES = 50
"""How often a reader starts again when a writer overtakes it: each time a whole save came in between."""
MMAP_LEAST = 1 << 20
"""Arrays below 1 MiB are read, larger ones mapped."""
_TEMPORARY = f".{manifest.NAME}."

Array = NDArray[Any]
Part = Array | bytes


@dataclass(frozen=True, slots=True)
class Opened:
    """A saved index as it was at one moment: `arrays` may be copy-on-write memory maps of its files."""

    kind: str
    generation: str
    about: Mapping[str, Any]
    arrays: Mapping[str, Array]
    blobs: Mapping[str, bytes]

    def array(self, name: str) -> Array:
        """The array of that name; DamagedError where the index has none."""
        if name not in self.arrays:
            raise DamagedError(f"the index holds no array {name!r}; save it again")
        return self.arrays[name]

    def json(self, name: str) -> Any:
        """The JSON part of that name, decoded; DamagedError where there is none."""
        if name not in self.blobs:
            raise DamagedError(f"the index holds no part {name!r}; save it again")
        try:
            return json.loads(self.blobs[name])
        except (ValueError, RecursionError) as error:
            raise DamagedError(f"part {name!r} of the index is no JSON ({error!s:.80}); save it again") from None


def to_json(value: Any) -> bytes:
    """JSON in the least space; any lone surrogate survives."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def save(
    path: str | os.PathLike[str],
    kind: str,
    about: Mapping[str, Any],
    parts: Mapping[str, Part],
    *,
    expected: str | None = None,
    wait: float = LOCK_WAIT,
) -> str:
    """Replace the index in a folder, or make it; the new generation. Raises

    LockedError if another process writes for longer than `wait` seconds; ChangedError if `expected` is given
    and another generation is there; StoreError if the folder holds anything else than such an index.
    """
    folder = Path(path)
    with writing(folder, wait):
        old = _current(folder, kind)
        if expected is not None and old is not None and old.generation != expected:
            raise ChangedError(
                f"{folder} was saved by someone else since it was opened; open it again and repeat the change"
            )
        new = Manifest(kind, secrets.token_hex(8), about, _write_parts(folder, parts, old))
        sync_folder(folder)
        write_aside(folder / manifest.NAME, new.to_bytes())
        _remove_leftovers(folder, new)
        return new.generation


def open_folder(path: str | os.PathLike[str], kind: str, *, verify: bool = True) -> Opened:
    """The index in a folder. Nothing is executed, no link followed, no file outside the folder opened.

    `verify=False` skips the checksums, so that a mapped array is not read at all; sizes are always checked.
    Raises StoreError where there is no index of that kind, DamagedError where it is not whole.
    """
    folder = Path(path)
    for _ in range(READ_TRIES):
        try:
            told = read_manifest(folder)
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(f"no saved index in {folder}: there is no finished {manifest.NAME}") from None
        _check_kind(folder, told, kind)
        try:
            return _read_parts(folder, told, verify)
        except FileNotFoundError as error:
            missing = error.filename
            if read_manifest(folder).generation == told.generation:
                raise DamagedError(f"{missing} is missing; save the index again") from None
    raise DamagedError(f"{folder} changes faster than it can be read")


@contextmanager
def writing(folder: Path, wait: float = LOCK_WAIT) -> Iterator[None]:
    """Hold the folder's lock; it is released when the process ends, however it ends."""
    _prepare(folder)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        deadline = time.monotonic() + wait
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise LockedError(f"{folder} is being written by another process; try again, or wait longer")
            time.sleep(LOCK_STEP)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _prepare(folder: Path) -> None:
    """Make the folder where it is missing; refuse one that holds the user's files."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file; give the path of a folder for the index")
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        sync_folder(folder.parent)
    if not (folder / manifest.NAME).exists():
        foreign = sorted(entry.name for entry in folder.iterdir() if not _is_ours(entry.name))
        if foreign:
            raise StoreError(
                f"{folder} is no index and holds other files ({foreign[0]!r}); give an empty or a new folder"
            )


def _is_ours(name: str) -> bool:
    return name in (LOCK, manifest.NAME) or name.startswith(_TEMPORARY) or bool(manifest.FILE_NAME.fullmatch(name))


def _current(folder: Path, kind: str) -> Manifest | None:
    """The manifest to be replaced; None where there is none or a damaged one, which saving repairs."""
    try:
        old = read_manifest(folder)
    except FileNotFoundError:
        return None
    except DamagedError as error:
        if "format version" in str(error) or "no manifest" in str(error):
            raise
        return None
    _check_kind(folder, old, kind)
    return old


def _check_kind(folder: Path, told: Manifest, kind: str) -> None:
    if told.kind != kind:
        raise StoreError(f"{folder} holds a saved {told.kind}, not a {kind}")


def _write_parts(folder: Path, parts: Mapping[str, Part], old: Manifest | None) -> dict[str, Entry]:
    generation = secrets.token_hex(8)
    return {name: _write_part(folder, name, part, generation, old) for name, part in parts.items()}


def _write_part(folder: Path, name: str, part: Part, generation: str, old: Manifest | None) -> Entry:
    pieces = _pieces(part)
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    size, found = sum(len(piece) for piece in pieces), digest.hexdigest()
    kept = old.files.get(name) if old is not None else None
    if kept is not None and (kept.bytes, kept.sha256) == (size, found) and _has_size(folder / kept.file, size):
        return kept
    ending = "json" if isinstance(part, bytes) else "npy"
    file = f"{name}.{generation}.{ending}"
    if not manifest.FILE_NAME.fullmatch(file):
        raise StoreError(f"a part of an index cannot be named {name!r}: use a-z, 0-9, _ and -")
    write_new(folder / file, *pieces)
    return Entry(file, size, found)


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _pieces(part: Part) -> list[bytes | memoryview]:
    """The bytes of a file without copying a large array: a .npy header and the array's own memory."""
    if isinstance(part, bytes):
        return [part]
    array = np.ascontiguousarray(part)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    return [head.getvalue(), array.reshape(-1).view(np.uint8).data if array.size else b""]


def _remove_leftovers(folder: Path, current: Manifest) -> None:
    """Files of older states and of saves that crashed; one that cannot go now goes with the next save."""
    wanted = {LOCK, manifest.NAME, *(entry.file for entry in current.files.values())}
    for entry in folder.iterdir():
        if _is_ours(entry.name) and entry.name not in wanted:
            try:
                entry.unlink()
            except OSError:
                continue


def _read_parts(folder: Path, told: Manifest, verify: bool) -> Opened:
    arrays: dict[str, Array] = {}
    blobs: dict[str, bytes] = {}
    for name, entry in told.files.items():
        with open(open_regular(folder / entry.file), "rb") as file:
            if os.fstat(file.fileno()).st_size != entry.bytes:
                raise DamagedError(f"{folder / entry.file} has not the size in the manifest; save the index again")
            if verify and file_digest(file, "sha256").hexdigest() != entry.sha256:
                raise DamagedError(f"{folder / entry.file} does not match its checksum; save the index again")
            file.seek(0)
            if entry.file.endswith(".npy"):
                arrays[name] = _array(file, entry, folder / entry.file)
            else:
                blobs[name] = file.read(entry.bytes)
    return Opened(told.kind, told.generation, told.about, arrays, blobs)


def _array(file: Any, entry: Entry, path: Path) -> Array:
    """An array of numbers whose header fits the file; objects are refused before anything is made of them."""
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("another .npy version")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or dtype.kind not in "fiub" or fortran or file.tell() + size != entry.bytes:
            raise ValueError(f"dtype {dtype}, shape {shape}")
    except (ValueError, TypeError, EOFError, OverflowError, SyntaxError, RecursionError) as error:
        raise DamagedError(f"{path} is no array of numbers of its size ({error!s:.80}); save the index again") from None
    if size < MMAP_LEAST:
        return np.frombuffer(bytearray(file.read(size)), dtype=dtype).reshape(shape)
    return np.memmap(file, dtype=dtype, mode="c", offset=file.tell(), shape=shape)
