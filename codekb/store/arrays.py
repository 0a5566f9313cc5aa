"""Growable storage for rows: numbers and strings, memory-mapped until changed. No search, no ids."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

GROWTH = 1.5
"""Room is made for half as many rows again: appending one by one stays linear in total."""
ENCODING_ERRORS = "surrogatepass"
"""Lone surrogates stand for bytes that were no UTF-8 in a foreign file; they must survive saving."""


def fill_holes(holes: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of the last rows move into which deleted rows, so that `n - len(holes)` dense rows remain.

    Returns (targets, sources), both of one length; `holes` must be unique rows in [0, n).

    >>> targets, sources = fill_holes(np.array([1, 4]), 6)
    >>> targets.tolist(), sources.tolist()
    ([1], [5])
    """
    keep = n - len(holes)
    tail = np.arange(keep, n, dtype=np.int64)
    return np.sort(holes[holes < keep]), tail[~np.isin(tail, holes)]


class Growing:
    """A numpy array with room at its end. `view` is the filled part; it is valid until the next change.

    The given array is used as it is: a copy-on-write memory map stays on disk until a row is changed,
    and only the touched pages are then copied.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._data = array
        self._n = len(array)

    @property
    def view(self) -> NDArray[Any]:
        """The filled rows, not a copy."""
        return self._data[: self._n]

    def append(self, block: NDArray[Any]) -> None:
        """Add rows at the end."""
        wanted = self._n + len(block)
        if wanted > len(self._data):
            room = max(wanted, int(self._n * GROWTH)) if self._n else wanted
            data = np.empty((room, *self._data.shape[1:]), dtype=self._data.dtype)
            data[: self._n] = self._data[: self._n]
            self._data = data
        self._data[self._n : wanted] = block
        self._n = wanted

    def move(self, targets: NDArray[np.int64], sources: NDArray[np.int64], n: int) -> None:
        """Copy the rows `sources` over the rows `targets`, then keep the first `n` rows."""
        self._data[targets] = self._data[sources]
        self._n = n


class Strings(Sequence[str]):
    """A list of strings; one from disk decodes an entry when it is read, all of them when one changes."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._list: list[str] | None = list(values)
        self._bytes: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._offsets: NDArray[np.int64] = np.zeros(1, dtype=np.int64)

    @classmethod
    def from_arrays(cls, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Strings:
        """What `to_arrays` gave; raises ValueError where the offsets do not fit the bytes."""
        fits = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(data)
        if not fits or bool(np.any(np.diff(offsets) < 0)):
            raise ValueError(f"offsets of {len(offsets) - 1} strings do not fit {len(data)} bytes")
        strings = cls()
        strings._list, strings._bytes, strings._offsets = None, data, offsets
        return strings

    def to_arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All strings as UTF-8 one after another, and the n + 1 offsets of their ends."""
        if self._list is None:
            return self._bytes, self._offsets
        encoded = [value.encode("utf-8", ENCODING_ERRORS) for value in self._list]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(e) for e in encoded], out=offsets[1:])
        return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets

    def contains(self, part: str) -> NDArray[np.bool_]:
        """For each string whether `part` occurs in it, case-sensitive."""
        if self._list is not None:
            return np.fromiter((part in value for value in self._list), dtype=bool, count=len(self))
        wanted, data = part.encode("utf-8", ENCODING_ERRORS), self._bytes.tobytes()
        ends = self._offsets.tolist()
        found = (data.find(wanted, a, b) >= 0 for a, b in itertools.pairwise(ends))
        return np.fromiter(found, dtype=bool, count=len(self))

    def changeable(self) -> list[str]:
        """The list itself, to be changed in place; decodes everything once."""
        if self._list is None:
            self._list = list(self)
            self._bytes, self._offsets = np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        return self._list

    def move(self, targets: NDArray[np.int64], sources: NDArray[np.int64], n: int) -> None:
        """Like `Growing.move`."""
        values = self.changeable()
        for target, source in zip(targets.tolist(), sources.tolist(), strict=True):
            values[target] = values[source]
        del values[n:]

    def __getitem__(self, row: Any) -> Any:
        if self._list is not None:
            return self._list[row]
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        start, end = int(self._offsets[row]), int(self._offsets[row + 1])
        return self._bytes[start:end].tobytes().decode("utf-8", ENCODING_ERRORS)

    def __iter__(self) -> Iterator[str]:
        if self._list is not None:
            return iter(self._list)
        data, ends = self._bytes.tobytes(), self._offsets.tolist()
        return (data[a:b].decode("utf-8", ENCODING_ERRORS) for a, b in itertools.pairwise(ends))

    def __len__(self) -> int:
        return len(self._list) if self._list is not None else len(self._offsets) - 1
