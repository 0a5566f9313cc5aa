"""The documents of a collection as dense rows: vectors, ids, texts, metadata. No checks, no ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codekb.store import exact
from codekb.store.approximate import Approximate
from codekb.store.arrays import Growing, Strings, fill_holes
from codekb.store.columns import Columns
from codekb.store.documents import Document
from codekb.store.filters import Selection

Floats = NDArray[np.float32]
Positions = NDArray[np.int64]

FLAT = "Flat"
"""The factory string of exact search, which needs no index beside the vectors."""
FEW_FOR_GRAPH = 0.05
"""Below this share of selected rows an approximate index misses too much, and scoring them all is cheap."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents to put, column by column; `vectors` is (n, d), or a list where the dimensions differ."""

    ids: Sequence[str]
    vectors: Floats | Sequence[Floats]
    metadatas: Sequence[dict[str, str] | None]
    contents: Sequence[str]


class Rows:
    """Dense rows in no particular order. A vector that does not fit the others (another dimension, not
    finite) is kept in `odd` by row, as chromem-go keeps it, with zeros in its place."""

    def __init__(self, factory: str = FLAT, tune: str = "") -> None:
        self.factory, self.tune = factory, tune
        self.ids, self.contents, self.columns = Strings(), Strings(), Columns()
        self.vectors: Growing | None = None
        self.odd: dict[int, Floats] = {}
        self.index: Approximate | None = None
        self._row_of: dict[str, int] | None = None
        self._regular: Selection | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def row_of(self) -> dict[str, int]:
        """Id → row; made when first asked for."""
        if self._row_of is None:
            self._row_of = {key: row for row, key in enumerate(self.ids)}
        return self._row_of

    @property
    def dimension(self) -> int | None:
        """The dimension of the regular rows, None where there are none."""
        return None if self.vectors is None else int(self.vectors.view.shape[1])

    def vector(self, row: int) -> Floats:
        """A copy of a row's vector."""
        found = self.odd.get(row)
        if found is None:
            assert self.vectors is not None, "a row outside `odd` has its vector in the matrix"
            found = self.vectors.view[row]
        return np.array(found, dtype=np.float32)

    def document(self, row: int) -> Document:
        """One row as a document of its own."""
        return Document(self.ids[row], self.columns[row], self.vector(row), self.contents[row])

    def put(self, batch: Batch) -> None:
        """Add documents; one whose id is there already is replaced, the last of equal ids counts."""
        last = {key: i for i, key in enumerate(batch.ids)}
        known = self.row_of
        fresh = [i for key, i in last.items() if key not in known]
        again = [(known[key], i) for key, i in last.items() if key in known]
        if again:
            self._replace([row for row, _ in again], [i for _, i in again], batch)
        if fresh:
            self._append(fresh, batch)
        self._regular = None

    def _replace(self, rows: list[int], picks: list[int], batch: Batch) -> None:
        matrix, odd = self._matrix(batch.vectors, picks)
        assert self.vectors is not None, "_matrix made it"
        self.vectors.view[rows] = matrix
        for row in rows:
            self.odd.pop(row, None)
        self.odd.update({rows[i]: vector for i, vector in odd.items()})
        contents = self.contents.changeable()
        for row, i in zip(rows, picks, strict=True):
            contents[row] = batch.contents[i]
        self.columns.replace(rows, [batch.metadatas[i] for i in picks])
        if self.index is not None:
            self.index.replace(np.array(rows, dtype=np.int64), matrix)

    def _append(self, picks: list[int], batch: Batch) -> None:
        matrix, odd = self._matrix(batch.vectors, picks)
        assert self.vectors is not None, "_matrix made it"
        start = len(self)
        self.vectors.append(matrix)
        self.odd.update({start + i: vector for i, vector in odd.items()})
        ids = [batch.ids[i] for i in picks]
        self.ids.changeable().extend(ids)
        self.row_of.update(zip(ids, range(start, start + len(ids)), strict=True))
        self.contents.changeable().extend(batch.contents[i] for i in picks)
        self.columns.append([batch.metadatas[i] for i in picks])
        if self.index is not None:
            self.index.append(matrix)

    def _matrix(self, vectors: Floats | Sequence[Floats], picks: list[int]) -> tuple[Floats, dict[int, Floats]]:
        """The picked vectors as one matrix, and those that do not fit it by their place in `picks`."""
        if self.vectors is None:
            sizes = (len(vectors[i]) for i in picks if len(vectors[i]))
            self.vectors = Growing(np.zeros((len(self), next(sizes, 1)), dtype=np.float32))
        dimension = self.vectors.view.shape[1]
        if isinstance(vectors, np.ndarray) and vectors.shape[1] == dimension:
            whole = len(picks) == len(vectors) and picks[0] == 0 and picks[-1] == len(picks) - 1
            matrix = vectors if whole else vectors[picks]
        else:
            blank = np.full(dimension, np.nan, dtype=np.float32)
            matrix = np.stack([vectors[i] if len(vectors[i]) == dimension else blank for i in picks])
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(bad):
            matrix = matrix.copy()
            matrix[bad] = 0.0
        return matrix, {int(i): np.array(vectors[picks[i]], dtype=np.float32) for i in bad}

    def remove(self, rows: Positions) -> None:
        """Forget rows; the last ones move into their places."""
        n = len(self)
        targets, sources = fill_holes(rows, n)
        keep = n - len(rows)
        known = self.row_of
        for row in rows.tolist():
            known.pop(self.ids[row])
            self.odd.pop(row, None)
        for target, source in zip(targets.tolist(), sources.tolist(), strict=True):
            known[self.ids[source]] = target
            if source in self.odd:
                self.odd[target] = self.odd.pop(source)
        if self.index is not None:
            self.index.move(rows, targets, sources, keep)
        if self.vectors is not None:
            self.vectors.move(targets, sources, keep)
        for part in (self.ids, self.contents, self.columns):
            part.move(targets, sources, keep)
        self._regular = None
        if len(self.odd) == keep:
            self.vectors, self.index = None, None
            self._restack()

    def _restack(self) -> None:
        """Only odd rows are left: let one of their dimensions become the regular one."""
        if self.odd:
            rows = sorted(self.odd)
            vectors = [self.odd[row] for row in rows]
            self.odd = {}
            matrix, odd = self._matrix(vectors, list(range(len(rows))))
            self.vectors = Growing(matrix)
            self.odd = {rows[i]: vector for i, vector in odd.items()}

    def candidates(self, query: Floats, k: int, selection: Selection | None) -> Positions:
        """Regular rows among which the k best are (all of them with Flat, most with other factories)."""
        if self.vectors is None or not len(self):
            return np.zeros(0, dtype=np.int64)
        if self.odd:
            selection = self._without_odd(selection)
        if self.factory == FLAT or self._few(selection, k):
            return exact.candidates(self.vectors.view, query, k, selection)
        return self.built_index().candidates(query, k, selection)

    def built_index(self) -> Approximate:
        """The approximate index, built or built anew where needed."""
        assert self.vectors is not None, "only asked for where there are vectors"
        if self.index is None or self.index.stale:
            self.index = Approximate(self.factory, self.tune, self.vectors.view)
        return self.index

    def _few(self, selection: Selection | None, k: int) -> bool:
        return selection is not None and len(selection.rows) <= max(k, FEW_FOR_GRAPH * len(self))

    def _without_odd(self, selection: Selection | None) -> Selection:
        if self._regular is None:
            mask = np.ones(len(self), dtype=bool)
            mask[list(self.odd)] = False
            self._regular = Selection.of(mask)
        if selection is None:
            return self._regular
        if "regular" not in selection.cache:
            selection.cache["regular"] = Selection.of(selection.mask & self._regular.mask)
        found: Selection = selection.cache["regular"]
        return found
