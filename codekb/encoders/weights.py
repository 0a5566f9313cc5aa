"""The weight file: named arrays behind a JSON header, mapped into memory, checked by its hash. No model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MAGIC = b"codekb-weights-1"
_ALIGN = 64


LEVELS = 7
"""Four bits hold a whole number from -7 to 7, kept with LEVELS + 1 added."""


class WeightsError(ValueError):
    """The weight file is missing, cut short or changed."""


def write(path: Path, arrays: Mapping[str, Array], facts: Mapping[str, Any]) -> str:
    """Writes arrays and JSON-able facts to one file and returns its hash (16 hex digits, over header and data)."""
    entries: dict[str, Any] = {}
    payload = bytearray()
    for name, value in arrays.items():
        payload += b"\0" * (-len(payload) % _ALIGN)
        entries[name] = {"dtype": value.dtype.str, "shape": list(value.shape), "offset": len(payload)}
        payload += np.ascontiguousarray(value).tobytes()
    header = json.dumps({"arrays": entries, "facts": dict(facts)}, sort_keys=True).encode()
    header += b" " * (-(len(MAGIC) + 20 + len(header)) % _ALIGN)
    content = len(header).to_bytes(4, "little") + header + bytes(payload)
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    path.write_bytes(MAGIC + digest.encode() + content)
    return digest


def read(path: Path) -> tuple[dict[str, Array], dict[str, Any], str]:
    """Arrays (read-only views of the mapped file), facts and hash; raises WeightsError with what is wrong."""
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise WeightsError(f"cannot read the weight file {path}: {error}; reinstall codekb") from error
    start = len(MAGIC) + 16
    if bytes(data[: len(MAGIC)]) != MAGIC or len(data) < start + 4:
        raise WeightsError(f"{path} is no codekb weight file (it starts with {bytes(data[:16])!r}); reinstall codekb")
    stated = bytes(data[len(MAGIC) : start]).decode("ascii", "replace")
    found = hashlib.blake2b(data[start:].data, digest_size=8).hexdigest()
    if found != stated:
        raise WeightsError(
            f"{path} is damaged: its content has hash {found}, expected {stated} ({len(data)} bytes); reinstall codekb"
        )
    size = int.from_bytes(bytes(data[start : start + 4]), "little")
    header = json.loads(bytes(data[start + 4 : start + 4 + size]))
    base = start + 4 + size
    arrays = {}
    for name, entry in header["arrays"].items():
        dtype, shape, offset = np.dtype(entry["dtype"]), tuple(entry["shape"]), base + entry["offset"]
        count = int(np.prod(shape)) * dtype.itemsize
        arrays[name] = data[offset : offset + count].view(dtype).reshape(shape)
    return arrays, header["facts"], stated


def packed(levels: Array) -> Array:
    """Whole numbers from -7 to 7, shape (rows, n) with n even → uint8 (rows, n / 2): the first half in the low bits."""
    half = levels.shape[1] // 2
    shifted = (levels + LEVELS + 1).astype(np.uint8)
    result: Array = shifted[:, :half] | (shifted[:, half:] << 4)
    return result


def unpacked(table: Array) -> NDArray[np.float64]:
    """The numbers that `packed` put away, as float64 (rows, n).

    >>> unpacked(packed(np.array([[-7, 0, 3, 7]])))
    array([[-7.,  0.,  3.,  7.]])
    """
    both = np.concatenate([table & 15, table >> 4], axis=1)
    return both.astype(np.float64) - (LEVELS + 1)
