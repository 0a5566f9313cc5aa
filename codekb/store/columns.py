"""The metadata of all rows: a column of small integers and a list of values per key. No filters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from codekb.store.arrays import Growing

MISSING = -1
"""The code of a row that lacks the key; as an index it means the last entry of a lookup table."""

Metadata = Mapping[str, str]


@dataclass(slots=True)
class Column:
    """One key: `codes` (int32, one per row) point into `values`; `lookup` is the way back."""

    codes: Growing
    values: list[str] = field(default_factory=list)
    lookup: dict[str, int] = field(default_factory=dict)

    def code(self, value: str) -> int:
        """The code of a value, made on first use."""
        found = self.lookup.get(value)
        if found is None:
            found = self.lookup[value] = len(self.values)
            self.values.append(value)
        return found


class Columns:
    """Metadata by row: a map of strings, an empty map, or none at all (chromem's files tell them apart)."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}
        self.has_map = Growing(np.zeros(0, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.has_map.view)

    def append(self, maps: Sequence[Metadata | None]) -> None:
        """Add one row per map."""
        start = len(self)
        self.has_map.append(np.fromiter((m is not None for m in maps), dtype=np.uint8, count=len(maps)))
        blank = np.full(len(maps), MISSING, dtype=np.int32)
        for column in self.columns.values():
            column.codes.append(blank)
        self._set(range(start, start + len(maps)), maps)

    def replace(self, rows: Sequence[int], maps: Sequence[Metadata | None]) -> None:
        """Give existing rows other maps."""
        self.has_map.view[rows] = [m is not None for m in maps]
        for column in self.columns.values():
            column.codes.view[rows] = MISSING
        self._set(rows, maps)

    def _set(self, rows: Iterable[int], maps: Iterable[Metadata | None]) -> None:
        found: dict[str, tuple[list[int], list[int]]] = {}
        for row, entries in zip(rows, maps, strict=True):
            for key, value in (entries or {}).items():
                if key not in self.columns:
                    self.columns[key] = Column(Growing(np.full(len(self), MISSING, dtype=np.int32)))
                into, codes = found.setdefault(key, ([], []))
                into.append(row)
                codes.append(self.columns[key].code(value))
        for key, (into, codes) in found.items():
            self.columns[key].codes.view[into] = codes

    def move(self, targets: NDArray[np.int64], sources: NDArray[np.int64], n: int) -> None:
        """Like `Growing.move`, in every column."""
        self.has_map.move(targets, sources, n)
        for column in self.columns.values():
            column.codes.move(targets, sources, n)

    def __getitem__(self, row: int) -> dict[str, str] | None:
        if not self.has_map.view[row]:
            return None
        coded = ((key, c, int(c.codes.view[row])) for key, c in self.columns.items())
        return {key: c.values[code] for key, c, code in coded if code != MISSING}

    def equal(self, key: str, wanted: Collection[str]) -> NDArray[np.bool_]:
        """For each row whether `key` has one of the wanted values; a missing key equals the empty string."""
        column = self.columns.get(key)
        if column is None:
            return np.full(len(self), "" in wanted, dtype=bool)
        codes = [column.lookup[value] for value in wanted if value in column.lookup]
        codes += [MISSING] if "" in wanted else []
        rows = column.codes.view
        return rows == codes[0] if len(codes) == 1 else np.isin(rows, codes)

    def mask(self, key: str, test: Callable[[str], bool]) -> NDArray[np.bool_]:
        """For each row whether it has the key and the value passes `test`, run once per distinct value."""
        column = self.columns.get(key)
        if column is None:
            return np.zeros(len(self), dtype=bool)
        passes = np.array([*(test(value) for value in column.values), False], dtype=bool)
        found: NDArray[np.bool_] = passes[column.codes.view]
        return found
