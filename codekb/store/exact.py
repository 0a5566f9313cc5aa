"""Exact search over rows of float32: lengths as chromem-go measures them, and the candidates of a top k."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.store.filters import Selection

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

UNIT_TOLERANCE = 1e-6
"""A vector whose length differs from one by less is kept as it is (chromem-go's constant)."""
BLOCK = 8192
"""Rows worked on at a time where a temporary copy is needed: a few MB, inside the cache."""
SLACK = 16
"""Rows fetched beyond k, so that ties at the end of the list are seen without a second scan."""
MARGIN = 2.5e-7
"""Per square root of the dimension: how far two orders of summing float32 products may differ."""
FEW = 0.02
"""Below this share of selected rows, gathering them is faster than scanning past the others."""


def load_faiss() -> Any:
    """The FAISS module, imported on first use (it brings a second OpenMP runtime into some processes)."""
    return importlib.import_module("faiss")


def unit_rows(block: Floats) -> Floats:
    """Rows scaled to length one exactly as chromem-go does it (float32 sums from left to right).

    Rows already within `UNIT_TOLERANCE` are kept bit by bit; a zero row becomes NaN, as there.
    """
    result = np.array(block, dtype=np.float32, copy=True)
    for start in range(0, len(result), BLOCK):
        part = result[start : start + BLOCK]
        wide = part.astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        off = ~(np.abs(lengths - 1.0) < UNIT_TOLERANCE)
        if off.any():
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                part[off] /= _lengths(part[off])[:, None]
    return result


def unit(vector: Floats, *, always: bool = False) -> Floats:
    """One vector, scaled like `unit_rows`; `always` divides even where its length is one already."""
    if not len(vector):
        return vector
    if not always:
        kept: Floats = unit_rows(vector[None])[0]
        return kept
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled: Floats = vector / _lengths(vector[None])
    return scaled


def _lengths(block: Floats) -> Floats:
    squares = np.ascontiguousarray((block * block).T)
    total = np.zeros(len(block), dtype=np.float32)
    for column in squares:
        total += column
    return np.sqrt(total.astype(np.float64)).astype(np.float32)


def similarities(rows: Floats, query: Floats) -> Floats:
    """Dot products summed in float32 from left to right: the same bits as chromem-go's, on every machine."""
    with np.errstate(invalid="ignore", over="ignore"):
        products = np.ascontiguousarray((rows * query).T)
        total = np.zeros(len(rows), dtype=np.float32)
        for column in products:
            total += column
    return total


def all_similarities(rows: Floats, query: Floats) -> Floats:
    """`similarities`, block by block."""
    blocks = [similarities(rows[i : i + BLOCK], query) for i in range(0, len(rows), BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.float32)


def above(vectors: Floats, query: Floats, threshold: float) -> NDArray[np.bool_]:
    """For each row whether its similarity exceeds the threshold; only close cases are summed exactly."""
    scores = np.concatenate([vectors[i : i + BLOCK] @ query for i in range(0, len(vectors), BLOCK)])
    limit = np.float32(threshold)
    close = np.flatnonzero(np.abs(scores - limit) <= _margin(limit, vectors.shape[1]))
    result: NDArray[np.bool_] = scores > limit
    result[close] = all_similarities(vectors[close], query) > limit
    return result


@contextmanager
def one_thread() -> Iterator[None]:
    """FAISS on one thread for the duration: a single query gains nothing from waking others."""
    faiss = load_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def candidates(vectors: Floats, query: Floats, k: int, selection: Selection | None = None) -> Rows:
    """A superset of the k best rows by dot product, all ties of the last one included, in no order.

    `vectors` (n, d) may be a memory map and must be finite. With a selection only its rows are scored.
    """
    n = len(vectors) if selection is None else len(selection.rows)
    if n <= k:
        return np.arange(n) if selection is None else selection.rows
    if selection is not None and n < FEW * len(vectors):
        return _above(vectors, query, k, selection.rows)
    fetch = min(n, k + SLACK)
    scores, rows = flat_scan(vectors, query, fetch, selection)
    least = scores[k - 1] - _margin(scores[k - 1], vectors.shape[1])
    if rows[-1] >= 0 and (fetch == n or scores[-1] < least):
        near: Rows = rows[scores >= least]
        return near
    return _above(vectors, query, k, None if selection is None else selection.rows)


def flat_scan(vectors: Floats, query: Floats, k: int, selection: Selection | None = None) -> tuple[Floats, Rows]:
    """FAISS's scan of an inner-product Flat index, on the array itself: (scores, rows), best first."""
    faiss = load_faiss()
    scores, rows = np.empty(k, dtype=np.float32), np.empty(k, dtype=np.int64)
    data, asked = np.ascontiguousarray(vectors), np.ascontiguousarray(query, dtype=np.float32)
    pointers = [faiss.swig_ptr(a) for a in (asked, data)]
    selector = None if selection is None else bitmap_selector(selection)
    with one_thread():
        faiss.knn_inner_product(
            *pointers, data.shape[1], 1, len(data), k, faiss.swig_ptr(scores), faiss.swig_ptr(rows), selector
        )
    return scores, rows


def bitmap_selector(selection: Selection) -> Any:
    """The selection as a FAISS selector, made once and kept with it."""
    faiss = load_faiss()
    if "selector" not in selection.cache:
        bits = np.packbits(selection.mask, bitorder="little")
        selection.cache["bits"] = bits  # the selector holds a bare pointer
        selection.cache["selector"] = faiss.IDSelectorBitmap(len(selection.mask), faiss.swig_ptr(bits))
    return selection.cache["selector"]


def _margin(score: np.float32, dimension: int) -> float:
    return MARGIN * math.sqrt(dimension) * max(1.0, abs(float(score)))


def _above(vectors: Floats, query: Floats, k: int, rows: Rows | None) -> Rows:
    """The superset by plain arithmetic: for few rows, and where more rows tie than were fetched."""
    wanted = np.arange(len(vectors), dtype=np.int64) if rows is None else rows
    parts = [vectors[wanted[i : i + BLOCK]] @ query for i in range(0, len(wanted), BLOCK)]
    scores = np.concatenate(parts)
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    near: Rows = wanted[scores >= least - _margin(least, vectors.shape[1])]
    return near
