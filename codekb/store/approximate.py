"""Approximate indexes by FAISS factory string (`HNSW32`, `IVF1024,PQ32`): tombstones, filters, rebuilding."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.store.arrays import Growing
from codekb.store.errors import StoreError
from codekb.store.exact import Floats, Rows, bitmap_selector, load_faiss, one_thread
from codekb.store.filters import Selection

REFINE = 4
"""Candidates fetched per wanted result; their exact similarities then decide (the vectors are kept)."""
LEAST_FETCH = 40
"""Candidates fetched at least: recall of small k suffers most from too few."""
ALONE = 20_000
"""Vectors up to which one thread trains: the clusterings are then so short that threads mostly wait for each other."""
DEAD_SHARE = 0.25
"""With more tombstones than this share of all entries the index is built anew at the next search."""


class Approximate:
    """A FAISS index over serial numbers, which never change, and the rows they now stand for.

    No factory but Flat forgets cheaply: a deleted or replaced row leaves a tombstone (its serial is passed
    over by every search) until `stale` says that building anew pays. Built on one thread: FAISS adds to an
    HNSW graph in an order that depends on the threads, and two builds shall be equal.
    """

    def __init__(self, factory: str, tune: str, vectors: Floats) -> None:
        self.factory, self.tune = factory, tune
        self.index = _new_index(factory, tune, vectors)
        with one_thread():
            self.index.add(vectors)
            _check_selectable(self.index, factory, vectors)
        self._number(len(vectors))

    def _number(self, n: int) -> None:
        self.row_of = Growing(np.arange(n, dtype=np.int64))
        self.serial_of = Growing(np.arange(n, dtype=np.int64))
        self.dead = 0
        self._live: Selection | None = None

    @classmethod
    def restored(cls, factory: str, tune: str, data: bytes, n: int) -> Approximate:
        """From the bytes of a trusted FAISS file over exactly `n` vectors in row order."""
        faiss = load_faiss()
        self = cls.__new__(cls)
        self.factory, self.tune = factory, tune
        self.index = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
        if self.index.ntotal != n:
            raise StoreError(f"the stored index holds {self.index.ntotal} vectors, the collection {n}")
        self._number(n)
        return self

    def to_bytes(self) -> bytes | None:
        """The FAISS file, or None where serials and rows differ (build anew before saving)."""
        faiss = load_faiss()
        n = len(self.serial_of.view)
        if self.dead or not np.array_equal(self.serial_of.view, np.arange(n)):
            return None
        return bytes(faiss.serialize_index(self.index))

    @property
    def stale(self) -> bool:
        """Whether tombstones or growth since training make building anew worth it."""
        return self.dead > DEAD_SHARE * max(1, len(self.row_of.view))

    def append(self, vectors: Floats) -> None:
        """New rows at the end."""
        rows = np.arange(len(vectors), dtype=np.int64) + len(self.serial_of.view)
        self.serial_of.append(self._enter(vectors, rows))

    def replace(self, rows: Rows, vectors: Floats) -> None:
        """Other vectors for existing rows."""
        self._bury(rows)
        self.serial_of.view[rows] = self._enter(vectors, rows)

    def move(self, holes: Rows, targets: Rows, sources: Rows, n: int) -> None:
        """Forget the rows `holes`; rows move as in `Growing.move`."""
        self._bury(holes)
        self.row_of.view[self.serial_of.view[sources]] = targets
        self.serial_of.move(targets, sources, n)

    def _enter(self, vectors: Floats, rows: Rows) -> Rows:
        serials = np.arange(len(rows), dtype=np.int64) + len(self.row_of.view)
        with one_thread():
            self.index.add(vectors)
        self.row_of.append(rows)
        self._live = None
        return serials

    def _bury(self, rows: Rows) -> None:
        self.row_of.view[self.serial_of.view[rows]] = -1
        self.dead += len(rows)
        self._live = None

    def candidates(self, query: Floats, k: int, selection: Selection | None) -> Rows:
        """Rows near the query, more than `k` where there are; some of the true best may be missing."""
        fetch = min(max(k * REFINE, LEAST_FETCH), len(self.row_of.view))
        parameters = self._parameters(self._allowed(selection))
        with one_thread():
            _, serials = self.index.search(query[None], fetch, params=parameters)
        found = serials[0]
        rows: NDArray[np.int64] = self.row_of.view[found[found >= 0]]
        return rows[rows >= 0]

    def _allowed(self, selection: Selection | None) -> Any:
        row_of = self.row_of.view
        if selection is None:
            if not self.dead:
                return None
            self._live = self._live or Selection.of(row_of >= 0)
            return bitmap_selector(self._live)
        if "by serial" not in selection.cache:
            selection.cache["by serial"] = Selection.of((row_of >= 0) & selection.mask[np.maximum(row_of, 0)])
        return bitmap_selector(selection.cache["by serial"])

    def _parameters(self, selector: Any) -> Any:
        return None if selector is None else _search_parameters(self.index, selector)


def _search_parameters(index: Any, selector: Any) -> Any:
    """Search options that carry the selector and keep what was tuned on the index."""
    faiss = load_faiss()
    index = faiss.downcast_index(index)
    if isinstance(index, faiss.IndexPreTransform):
        return faiss.SearchParametersPreTransform(index_params=_search_parameters(index.index, selector))
    if isinstance(index, faiss.IndexIVF):
        return faiss.SearchParametersIVF(sel=selector, nprobe=index.nprobe)
    if isinstance(index, faiss.IndexHNSW):
        return faiss.SearchParametersHNSW(sel=selector, efSearch=index.hnsw.efSearch)
    return faiss.SearchParameters(sel=selector)


def _new_index(factory: str, tune: str, vectors: Floats) -> Any:
    """An empty trained index; errors say what the factory needs."""
    faiss = load_faiss()
    n, dimension = vectors.shape
    try:
        index = faiss.index_factory(dimension, factory, faiss.METRIC_INNER_PRODUCT)
        if tune:
            faiss.ParameterSpace().set_index_parameters(index, tune)
    except RuntimeError as error:
        raise StoreError(
            f"factory {factory!r} with {tune!r} for {dimension} dimensions: {_first_line(error)}; "
            "use 'Flat', 'HNSW32', 'IVF256,Flat', 'IVF256,PQ32' and the like, "
            "tuned by 'nprobe=16' or 'efSearch=64'"
        ) from None
    if not index.is_trained:
        try:
            with one_thread() if n <= ALONE else nullcontext():
                index.train(vectors)
        except RuntimeError as error:
            raise StoreError(
                f"factory {factory!r} cannot be trained on {n} vectors: {_first_line(error)}; "
                "use a smaller one, or 'Flat', which is exact and needs no training"
            ) from None
    return index


def _check_selectable(index: Any, factory: str, vectors: Floats) -> None:
    """Some FAISS indexes cannot pass over single entries, so neither filter nor forget."""
    some = Selection.of(np.ones(index.ntotal, dtype=bool))
    try:
        index.search(vectors[:1], 1, params=_search_parameters(index, bitmap_selector(some)))
    except RuntimeError as error:
        raise StoreError(
            f"factory {factory!r} can neither filter nor delete ({_first_line(error)}); "
            "put an inverted file before it ('IVF256,PQ32'), or use HNSW or Flat"
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rsplit(": ", 1)[-1]
