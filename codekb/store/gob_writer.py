"""chromem-go's values as gob bytes, byte for byte as Go writes them (maps in key order). Reading is in `gob`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from codekb.store.gob import FLOAT, STRING, SURROGATES

META, STRING_MAP, DOCUMENT, FLOAT_SLICE, DATABASE, COLLECTION, DOCUMENT_MAP, COLLECTION_MAP = range(64, 72)
"""The type ids a chromem-go process gives when it writes a folder first; readers do not rely on them."""
_ARRAY_T, _SLICE_T, _STRUCT_T, _MAP_T = range(1, 5)


def uint(value: int) -> bytes:
    """An unsigned integer: itself below 128, else the negated byte count and its bytes, big-endian.

    >>> uint(7).hex(), uint(256).hex()
    ('07', 'fe0100')
    """
    if value < 128:
        return bytes([value])
    size = (value.bit_length() + 7) // 8
    return bytes([256 - size]) + value.to_bytes(size, "big")


def sint(value: int) -> bytes:
    """A signed integer: its sign moves to bit 0.

    >>> sint(-65).hex()
    'ff81'
    """
    return uint(~value << 1 | 1 if value < 0 else value << 1)


def text(value: str) -> bytes:
    """A string: its length in bytes, its bytes."""
    raw = value.encode("utf-8", SURROGATES)
    return uint(len(raw)) + raw


def floats(vector: NDArray[np.float32]) -> bytes:
    """A slice of float32: the count, then each as float64 with its bytes reversed, leading zeros left out."""
    raw = vector.astype("<f8").view(np.uint8).reshape(-1, 8)
    filled = raw != 0
    sizes = np.where(filled.any(axis=1), 8 - filled.argmax(axis=1), 0)
    small = (sizes <= 1) & (raw[:, 7] < 128)
    rows = np.concatenate([np.zeros((len(raw), 1), dtype=np.uint8), raw], axis=1)
    rows[:, 0] = np.where(small, 0, 256 - sizes)
    keep = np.arange(9) >= (9 - np.where(small, 1, sizes))[:, None]
    keep[:, 0] = ~small
    return uint(len(vector)) + rows[keep].tobytes()


def fields(values: Iterable[tuple[int, bytes | None]]) -> bytes:
    """A struct from (field number, encoded value); None leaves a field out, as Go does with zero values."""
    parts, last = [], -1
    for number, value in values:
        if value is not None:
            parts += [uint(number - last), value]
            last = number
    return b"".join(parts) + b"\0"


def mapping(entries: Mapping[str, bytes]) -> bytes:
    """A map with string keys, in key order."""
    pairs = (text(key) + entries[key] for key in sorted(entries))
    return uint(len(entries)) + b"".join(pairs)


def string_map(entries: Mapping[str, str] | None) -> bytes | None:
    """A map of strings; None (Go's nil) is left out, an empty one is not."""
    return None if entries is None else mapping({k: text(v) for k, v in entries.items()})


def message(body: bytes) -> bytes:
    """A message with its length before it."""
    return uint(len(body)) + body


def value(kind: int, body: bytes) -> bytes:
    """The message of a value of a described type."""
    return message(sint(kind) + body)


def _common(name: str, kind: int) -> bytes:
    return fields([(0, text(name) if name else None), (1, sint(kind))])


def _described(kind: int, what: int, body: bytes) -> bytes:
    return message(sint(-kind) + fields([(what - 1, body)]))


def _struct(kind: int, name: str, members: list[tuple[str, int]]) -> bytes:
    told = [fields([(0, text(n)), (1, sint(t))]) for n, t in members]
    body = uint(len(told)) + b"".join(told)
    return _described(kind, _STRUCT_T, fields([(0, _common(name, kind)), (1, body)]))


def _map(kind: int, name: str, element: int) -> bytes:
    parts = [(0, _common(name, kind)), (1, sint(STRING)), (2, sint(element))]
    return _described(kind, _MAP_T, fields(parts))


def _slice(kind: int, name: str, element: int) -> bytes:
    return _described(kind, _SLICE_T, fields([(0, _common(name, kind)), (1, sint(element))]))


_STRING_MAP = _map(STRING_MAP, "map[string]string", STRING)
_DOCUMENT = _struct(
    DOCUMENT,
    "Document",
    [("ID", STRING), ("Metadata", STRING_MAP), ("Embedding", FLOAT_SLICE), ("Content", STRING)],
)
_FLOAT_SLICE = _slice(FLOAT_SLICE, "[]float32", FLOAT)
META_TYPES = _struct(META, "", [("Name", STRING), ("Metadata", STRING_MAP)]) + _STRING_MAP
"""The descriptions before a collection's `00000000.gob`."""
DOCUMENT_TYPES = _DOCUMENT + _STRING_MAP + _FLOAT_SLICE
"""The descriptions before a document's file."""
DATABASE_TYPES = b"".join(
    [
        _struct(DATABASE, "", [("Collections", COLLECTION_MAP)]),
        _map(COLLECTION_MAP, "map[string]*chromem.persistenceCollection", COLLECTION),
        _struct(COLLECTION, "", [("Name", STRING), ("Metadata", STRING_MAP), ("Documents", DOCUMENT_MAP)]),
        _STRING_MAP,
        _map(DOCUMENT_MAP, "map[string]*chromem.Document", DOCUMENT),
        _DOCUMENT,
        _FLOAT_SLICE,
    ]
)
"""The descriptions before an export."""
