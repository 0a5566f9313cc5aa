"""From a query vector to ranked rows: negatives, dimension checks, ties. Filters come prepared."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from codekb.store import exact
from codekb.store.documents import Negative
from codekb.store.errors import StoreError
from codekb.store.filters import Selection
from codekb.store.rows import Rows

Floats = NDArray[np.float32]

SUBTRACT, FILTER = "subtract", "filter"
DEFAULT_THRESHOLD = 0.5
"""chromem-go's: in filter mode a threshold of 0 means this."""


def steered(query: Floats, unwanted: Floats, negative: Negative) -> tuple[Floats, Floats, float]:
    """The query, the negative vector and its threshold after the negative mode took effect."""
    if not len(unwanted):
        return query, unwanted, negative.threshold
    unwanted = exact.unit(unwanted)
    if negative.mode == FILTER:
        return query, unwanted, negative.threshold or DEFAULT_THRESHOLD
    if negative.mode != SUBTRACT:
        raise StoreError(f"unsupported negative mode: {json.dumps(negative.mode, ensure_ascii=False)}")
    if len(unwanted) < len(query):
        raise StoreError(f"the negative has {len(unwanted)} dimensions, the query {len(query)}: give as many")
    return exact.unit(query - unwanted[: len(query)], always=True), unwanted, negative.threshold


def check_query(query: Floats, n: int, *, strict: bool) -> None:
    """Raises StoreError for an empty query vector or n < 1; where `strict`, for one without a direction."""
    if not len(query):
        raise StoreError("queryEmbedding is empty")
    if strict and not (np.isfinite(query).all() and query.any()):
        raise StoreError("the query vector is zero or not finite: it has no direction to compare")
    if n <= 0:
        raise StoreError("nResults must be > 0")


def check_lengths(rows: Rows, wanted: int, selection: Selection | None, what: str) -> None:
    """Every selected vector must have the wanted dimension; the error names the first that has not, by id."""
    fits = rows.dimension == wanted
    if fits and not rows.odd:
        return
    selected: Iterable[int] = range(len(rows)) if selection is None else selection.rows.tolist()
    wrong = [r for r in selected if (len(rows.odd[r]) != wanted if r in rows.odd else not fits)]
    if wrong:
        raise StoreError(
            f"couldn't get most similar docs: couldn't calculate {what} for document "
            f"'{min(rows.ids[r] for r in wrong)}': vectors must have the same length"
        )


def unlike(rows: Rows, unwanted: Floats, threshold: float, selection: Selection | None) -> Selection:
    """The selected rows that are not closer to the unwanted vector than the threshold."""
    keep = np.ones(len(rows), dtype=bool) if selection is None else selection.mask.copy()
    if rows.vectors is not None and rows.dimension == len(unwanted):
        keep &= ~exact.above(rows.vectors.view, unwanted, threshold)
    for row, vector in rows.odd.items():
        keep[row] &= not exact.similarities(vector[None], unwanted)[0] > threshold
    return Selection.of(keep)


def ranked(rows: Rows, query: Floats, n: int, selection: Selection | None) -> list[tuple[int, float]]:
    """The n best (row, similarity) by (-similarity, id); what cannot be compared (NaN) comes last."""
    if not np.isfinite(query).all():
        every = range(len(rows)) if selection is None else selection.rows.tolist()
        return [(row, float("nan")) for row in heapq.nsmallest(n, every, key=rows.ids.__getitem__)]
    regular = rows.candidates(query, n, selection)
    scored: list[tuple[int, float]] = []
    if len(regular):
        assert rows.vectors is not None, "candidates come from it"
        values = exact.all_similarities(rows.vectors.view[regular], query)
        regular, values = _cut(regular, values, n)
        scored += zip(regular.tolist(), values.tolist(), strict=True)
    for row, vector in rows.odd.items():
        if selection is None or selection.mask[row]:
            scored.append((row, float(exact.similarities(vector[None], query)[0])))
    return sorted(scored, key=lambda found: (found[1] != found[1], -found[1], rows.ids[found[0]]))[:n]


def _cut(found: NDArray[np.int64], values: Floats, n: int) -> tuple[NDArray[np.int64], Floats]:
    """Drop what cannot be among the n best, ties of the last one kept."""
    if len(found) <= n:
        return found, values
    keep = values >= np.partition(values, len(values) - n)[len(values) - n]
    return found[keep], values[keep]
