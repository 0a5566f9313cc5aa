"""Vectors kept in one SQLite file, keyed by model, dimensions and text hash. Whoever computes them is elsewhere.

No pickle: a vector is its float32 bytes, so a cache file from anywhere can do no more than hold wrong numbers.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codekb.encoders.base import Vectors

KEYS_A_QUERY = 500
"""SQLite allows 999 parameters a statement in its older builds."""

LOCK_SECONDS = 30.0
"""How long to wait for another process that writes to the same cache."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT, dimensions INTEGER, digest TEXT, vector BLOB, "
    "PRIMARY KEY (model, dimensions, digest)) WITHOUT ROWID"
)


def default_path() -> Path:
    """`vectors.sqlite` in the user's cache folder (XDG_CACHE_HOME, LOCALAPPDATA or the system's own place)."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "codekb" / "vectors.sqlite"


class VectorCache:
    """Texts and their vectors for any number of models, in one file; `path` None keeps them in memory only.

    `dimensions` is what was asked of the model, 0 for its own default. Raises ValueError for a file that is no cache.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path).expanduser() if path is not None else None
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(self.path or ":memory:", timeout=LOCK_SECONDS, check_same_thread=False)
        self._lock = threading.Lock()
        try:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)
            self._connection.execute("SELECT model, dimensions, digest, vector FROM vectors LIMIT 1")
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise ValueError(
                f"{str(self.path)!r} is no vector cache ({error}); give another path, or delete the file"
            ) from None

    def get(self, model: str, dimensions: int, texts: Sequence[str]) -> dict[str, Vectors]:
        """Text → vector for those of `texts` that are there."""
        digests = {digest(text): text for text in texts}
        keys = list(digests)
        found: dict[str, Vectors] = {}
        for start in range(0, len(keys), KEYS_A_QUERY):
            part = keys[start : start + KEYS_A_QUERY]
            marks = ",".join("?" * len(part))
            rows = self._rows(
                f"SELECT digest, vector FROM vectors WHERE model=? AND dimensions=? AND digest IN ({marks})",
                (model, dimensions, *part),
            )
            found.update({digests[key]: np.frombuffer(blob, dtype="<f4") for key, blob in rows if len(blob) % 4 == 0})
        return found

    def put(self, model: str, dimensions: int, vectors: Mapping[str, Vectors]) -> None:
        """Keep these vectors, in one transaction: after it they survive a crash."""
        rows: Iterable[tuple[str, int, str, bytes]] = (
            (model, dimensions, digest(text), np.asarray(v, dtype="<f4").tobytes()) for text, v in vectors.items()
        )
        with self._lock, self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def __len__(self) -> int:
        return int(self._rows("SELECT COUNT(*) FROM vectors", ())[0][0])

    def _rows(self, statement: str, parameters: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, parameters).fetchall()

    def close(self) -> None:
        """Close the file; the cache cannot be used afterwards."""
        self._connection.close()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()

    def __repr__(self) -> str:
        return f"VectorCache({str(self.path) if self.path else 'memory'}, {len(self)} vectors)"


def digest(text: str) -> str:
    """SHA-256 of the text in hex; unpaired surrogates are allowed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
