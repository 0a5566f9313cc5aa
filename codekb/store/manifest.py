"""The manifest of a saved index: which files belong to it, their sizes and checksums. No reading of those files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from codekb.store.errors import DamagedError
from codekb.store.files import read_regular

NAME = "manifest.json"
FORMAT = "codekb-index"
VERSION = 1
MAX_BYTES = 1 << 20
"""A manifest has a few kB; a larger file is none."""
FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\.[0-9a-f]{16}\.(npy|json|bin)")
"""Names of data files: part, generation, kind. Nothing else is opened, so no path can lead outside."""
_GENERATION = re.compile(r"[0-9a-f]{16}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the index: its name, its size in bytes, its SHA-256 in hex."""

    file: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `manifest.json` says. `kind` tells a knowledge base from a collection; `about` is theirs."""

    kind: str
    generation: str
    about: Mapping[str, Any]
    files: Mapping[str, Entry] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Indented JSON that ends with a checksum of itself."""
        body = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "generation": self.generation,
            "about": dict(self.about),
            "files": {n: {"file": e.file, "bytes": e.bytes, "sha256": e.sha256} for n, e in self.files.items()},
        }
        return (json.dumps({**body, "checksum": _checksum(body)}, indent=1) + "\n").encode()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder. FileNotFoundError where there is none, DamagedError for anything but a whole one."""
    path = folder / NAME
    data = read_regular(path, MAX_BYTES)
    try:
        return _parsed(json.loads(data.decode("utf-8")), path)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, DamagedError):
            raise
        why = f"{type(error).__name__}: {error}"
        raise DamagedError(f"{path} is damaged ({why:.120}); save the index again") from None


def _parsed(told: Any, path: Path) -> Manifest:
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise DamagedError(f"{path} is no manifest of a saved index (format {FORMAT!r})")
    if told["version"] != VERSION:
        raise DamagedError(
            f"{path} has format version {told['version']!r:.40}, this codekb reads {VERSION}: "
            "open it with the codekb that saved it, or build the index again"
        )
    checksum = told.pop("checksum", None)
    if checksum != _checksum(told):
        raise DamagedError(f"{path} does not match its own checksum: it is damaged or was edited; save the index again")
    entries = {name: _entry(name, entry) for name, entry in told["files"].items()}
    if not _GENERATION.fullmatch(told["generation"]) or not isinstance(told["about"], dict):
        raise DamagedError(f"{path} is damaged; save the index again")
    return Manifest(str(told["kind"]), told["generation"], told["about"], entries)


def _entry(name: str, told: Any) -> Entry:
    entry = Entry(told["file"], told["bytes"], told["sha256"])
    sized = isinstance(entry.bytes, int) and entry.bytes >= 0
    if not sized or not FILE_NAME.fullmatch(entry.file) or not _DIGEST.fullmatch(entry.sha256):
        raise DamagedError(f"the manifest's entry {name!r:.80} names no data file of an index")
    return entry


def _checksum(body: Mapping[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
