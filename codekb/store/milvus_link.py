"""Calls to a Milvus server that may be away: repeated with pauses, told apart from refusals. And its rows."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from codekb.store.documents import Document
from codekb.store.errors import StoreError

if TYPE_CHECKING:
    from codekb.store.rows import Batch

RETRIES = 5
FIRST_PAUSE = 0.5
"""Seconds before the first repetition; each next pause is twice as long."""
TIMEOUT = 30.0
MAX_TEXT = 65_535
"""Bytes of a VARCHAR in Milvus; longer ids and contents are refused, since they would be cut or fail halfway."""
_AWAY = ("unavailable", "connect", "timeout", "timed out", "deadline", "not ready", "closed")
_CODES_AWAY = (2, 14)
"""pymilvus codes: connection failed; gRPC's UNAVAILABLE."""


class UnavailableError(StoreError):
    """Milvus did not answer. Every write here may be repeated, so calling again is safe."""


class Link:
    """A pymilvus client whose calls are repeated where the server is away; `client` None connects to `uri`."""

    def __init__(self, uri: str, token: str, client: Any, pause: float) -> None:
        self.uri, self.pause = uri, pause
        self.client = client or self._repeated(lambda: pymilvus().MilvusClient(uri, token=token, timeout=TIMEOUT))

    def call(self, method: str, *args: Any, **options: Any) -> Any:
        """A method of the client. UnavailableError after the last try; StoreError where Milvus refuses."""
        return self._repeated(lambda: getattr(self.client, method)(*args, timeout=TIMEOUT, **options))

    def _repeated(self, work: Any) -> Any:
        pause = self.pause
        for left in range(RETRIES, -1, -1):
            try:
                return work()
            except StoreError:
                raise
            except Exception as error:
                if not _is_away(error):
                    raise StoreError(f"Milvus at {self.uri} refused: {_short(error)}") from error
                if not left:
                    raise UnavailableError(
                        f"Milvus at {self.uri} did not answer in {RETRIES + 1} tries ({_short(error)}): "
                        "is the server running, the address right?"
                    ) from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the loop returns or raises")


def pymilvus() -> Any:
    """The client library, imported on first use."""
    try:
        return importlib.import_module("pymilvus")
    except ImportError:
        raise StoreError("Milvus needs its client: pip install 'codekb[milvus]'") from None


def to_rows(batch: Batch) -> list[dict[str, Any]]:
    """Rows for an upsert; of equal ids the last counts. Numbers are stored beside strings, to be compared as such."""
    rows: dict[str, dict[str, Any]] = {}
    for key, vector, metadata, content in zip(batch.ids, batch.vectors, batch.metadatas, batch.contents, strict=True):
        for what, text in (("id", key), ("content", content)):
            if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
                raise StoreError(f"the {what} of {key!r:.60} has more than {MAX_TEXT} bytes, all that Milvus keeps")
        rows[key] = {
            "id": key,
            "vector": np.asarray(vector, dtype=np.float32).tolist(),
            "metadata": dict(metadata or {}),
            "numbers": _numbers(metadata or {}),
            "has_map": metadata is not None,
            "content": content,
        }
    return list(rows.values())


def _numbers(metadata: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for key, value in metadata.items():
        try:
            number = float(value)
        except ValueError:
            continue
        if np.isfinite(number):
            found[key] = number
    return found


def to_document(row: Mapping[str, Any]) -> Document:
    """A row as it came back."""
    metadata = dict(row["metadata"]) if row["has_map"] else None
    return Document(row["id"], metadata, np.array(row["vector"], dtype=np.float32), row["content"])


def _is_away(error: Exception) -> bool:
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    text = str(error).lower()
    return getattr(error, "code", None) in _CODES_AWAY or any(word in text for word in _AWAY)


def _short(error: Exception) -> str:
    return " ".join(str(getattr(error, "message", "") or error).split())[:160]
