"""Joining several rankings of the same chunks: by rank (RRF) or by normalised score. No retrieval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from codekb.ranking import Hit, Ranking

RRF_K = 60
"""The constant of Cormack, Clarke and Büttcher (2009): how little a difference at the top of a list
counts."""

Scaling = Literal["minmax", "zscore"]
Array = NDArray[np.float64]


def rrf(*rankings: Ranking, weights: Sequence[float] | None = None, k: int = RRF_K) -> Ranking:
    """Reciprocal rank fusion: score(d) = Σ over rankings of weight / (k + rank), rank 1-based, ties by id
    ascending.

    Only ranks count, the scores are discarded. Each list is taken as deep as it is given; a chunk that a
    list does not hold gets nothing from it, so a keyword list must hold no chunk of score zero. `parts` has
    a share per list. Source: Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet",
    SIGIR 2009.
    """
    if k <= -1:
        raise ValueError(f"k is {k}; k + rank must be positive, so take k = 0 or more (60 is usual)")

    def shares(ranking: Ranking) -> list[float]:
        return [1.0 / (k + rank) for rank in range(1, len(ranking) + 1)]

    return _merge(rankings, weights, shares, f"RRF (k = {k})")


def fuse_scores(*rankings: Ranking, weights: Sequence[float] | None = None, scaling: Scaling = "minmax") -> Ranking:
    """Weighted sum of each list's scores, scaled within the list; ties by id ascending.

    `minmax` maps the list's scores onto 0 … 1; `zscore` subtracts the mean and divides by the standard
    deviation, then shifts the list's lowest to zero so that a chunk absent from a list gets nothing from it
    in either form.
    """

    def shares(ranking: Ranking) -> list[float]:
        scaled = scale(np.array([hit.score for hit in ranking], dtype=np.float64), scaling)
        lowest = float(scaled.min()) if scaling == "zscore" and scaled.size else 0.0
        return [float(s) for s in scaled - lowest]

    return _merge(rankings, weights, shares, f"score fusion ({scaling})")


def _merge(
    rankings: Sequence[Ranking],
    weights: Sequence[float] | None,
    shares: Callable[[Ranking], list[float]],
    title: str,
) -> Ranking:
    weights = [1.0] * len(rankings) if weights is None else list(weights)
    if len(weights) != len(rankings):
        raise ValueError(f"{len(weights)} weights for {len(rankings)} rankings; give one weight per ranking")
    if any(w < 0 for w in weights):
        raise ValueError(f"weights are {weights}; none may be negative")
    parts: dict[str, dict[str, float]] = {}
    first: dict[str, Hit] = {}
    why: dict[str, list[str]] = {}
    for ranking, weight, label in zip(rankings, weights, _labels(rankings), strict=True):
        for rank, (hit, share) in enumerate(zip(ranking, shares(ranking), strict=True), 1):
            key = hit.chunk.id
            first.setdefault(key, hit)
            parts.setdefault(key, {})[label] = weight * share
            why.setdefault(key, []).append(f"rank {rank} in {label}")
    hits = [Hit(h.chunk, sum(parts[i].values()), parts[i], h.via, tuple(why[i])) for i, h in first.items()]
    hits.sort(key=lambda hit: (-hit.score, hit.chunk.id))
    query = next((r.query for r in rankings if r.query), "")
    return Ranking(hits, query=query, title=title)


def _labels(rankings: Sequence[Ranking]) -> list[str]:
    """A name per list: its only part (`bm25`), else its title, numbered where two would be the same."""
    labels: list[str] = []
    for at, ranking in enumerate(rankings, 1):
        names = {name for hit in ranking for name in hit.parts}
        label = names.pop() if len(names) == 1 else ranking.title or f"list {at}"
        labels.append(label if label not in labels else f"{label} #{at}")
    return labels


def scale(scores: Array, scaling: Scaling = "minmax") -> Array:
    """Scores brought to a common range; equal scores all become 0 (z-score) or, if positive, 1 (min-max).

    >>> scale(np.array([2.0, 4.0, 3.0])).tolist()
    [0.0, 1.0, 0.5]
    """
    if scaling not in ("minmax", "zscore"):
        raise ValueError(f"unknown scaling {scaling!r}; there are minmax, zscore")
    if not scores.size:
        return scores
    if scaling == "zscore":
        deviation = float(scores.std())
        return (scores - scores.mean()) / deviation if deviation > 0 else np.zeros_like(scores)
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else (scores > 0).astype(np.float64)


def reciprocal_ranks(scores: Array, ids: Array, *, depth: int, k: int = RRF_K) -> Array:
    """1 / (k + rank) for the `depth` best positive scores, 0 for the rest: RRF of a score array.

    `ids` holds each position's place in id order, which breaks ties.
    """
    result = np.zeros(len(scores))
    positions = np.flatnonzero(scores > 0)
    if len(positions) > depth:
        bound = np.partition(scores[positions], len(positions) - depth)[len(positions) - depth]
        positions = positions[scores[positions] >= bound]
    best = positions[np.lexsort((ids[positions], -scores[positions]))][:depth]
    result[best] = 1.0 / (k + np.arange(1, len(best) + 1))
    return result
