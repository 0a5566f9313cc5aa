"""Scores that spread over the code graph: personalised PageRank, and vectors blended with their neighbours' ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from codekb.encoders.base import Vectors
from codekb.expansion import WEIGHTS
from codekb.limits import REVERSED, check_weights
from codekb.ranking import Hit, Ranking
from codekb.resolve.edges import RELATIONS

DAMPING = 0.5
"""Share of the mass that walks on; half returns to the seeds, which keeps most of it within two hops."""

ITERATIONS = 12
"""DAMPING ** 12 < 0.0003: what is still missing then cannot change a printed decimal."""

SEEDS = 20
SHARE = 0.15
"""Seeds and share were chosen on development packages: more of either raises recall and lowers the first rank."""

SPREAD_WEIGHTS: Mapping[str, float] = {
    name: 0.0 if name in ("contains", "contained in", "imports", "imported by") else weight
    for name, weight in WEIGHTS.items()
}
"""Without the almost universal relations, over which mass would run through every module and class."""

JOINING = 100
"""How many chunks may join a ranking through the graph alone: as many as a walk returns by default."""


class Spread:
    """Personalised PageRank over one graph with fixed edge weights; build it once, ask it many times.

    Mass leaves a node along its edges in proportion to relation weight × confidence; the rest, and all of it where no
    edge leaves, returns to the seeds (Page et al. 1999; Haveliwala 2002).
    """

    def __init__(
        self, graph: nx.MultiDiGraph, *, weights: Mapping[str, float] = SPREAD_WEIGHTS, damping: float = DAMPING
    ) -> None:
        if not 0 <= damping < 1:
            raise ValueError(f"damping must lie in [0, 1), got {damping}")
        self.damping = damping
        self.ids: list[str] = sorted(graph)
        self.row = {node: i for i, node in enumerate(self.ids)}
        self.graph = graph
        self.matrix = self._transitions(graph, check_weights(weights))

    def _transitions(self, graph: nx.MultiDiGraph, weight: dict[str, float]) -> sparse.csr_matrix:
        rows, columns, values = [], [], []
        for source, target, relation, data in graph.edges(keys=True, data=True):
            if source == target or relation not in RELATIONS:
                continue
            a, b = self.row[source], self.row[target]
            for start, end, name in ((a, b, relation), (b, a, REVERSED[relation])):
                value = weight.get(name, 0.0) * data["confidence"]
                if value > 0:
                    rows.append(end)
                    columns.append(start)
                    values.append(value)
        n = len(self.ids)
        matrix = sparse.csr_matrix((values, (rows, columns)), shape=(n, n))
        total = np.asarray(matrix.sum(axis=0)).ravel()
        return sparse.csr_matrix(matrix @ sparse.diags(np.divide(1.0, total, out=np.zeros(n), where=total > 0)))

    def scores(self, seeds: Mapping[str, float]) -> NDArray[np.float64]:
        """The mass at each of `ids`, summing to 1; `seeds` maps ids to their non-negative share of the restarts."""
        start = np.zeros(len(self.ids))
        for node, share in seeds.items():
            if node not in self.row:
                raise KeyError(f"seed {node!r} is no node of this graph of {len(self.ids)}")
            start[self.row[node]] = max(share, 0.0)
        if start.sum() == 0:
            return start
        start /= start.sum()
        mass = start.copy()
        for _ in range(ITERATIONS):
            moved = self.damping * (self.matrix @ mass)
            mass = moved + (1.0 - moved.sum()) * start
        return mass

    def rank(
        self, ranking: Ranking, *, seeds: int = SEEDS, share: float = SHARE, kinds: Sequence[str] = ("function",)
    ) -> Ranking:
        """The ranking with each score moved by `share` towards the mass that its first `seeds` hits spread.

        Both are divided by their maximum first; the parts of the search shrink by 1 − share and `graph` is added.
        The `JOINING` chunks with most mass join the ranking where only the graph reached them.
        """
        first = [hit for hit in ranking[:seeds] if hit.chunk.id in self.row]
        if not first or first[0].score <= 0:
            return ranking
        mass = self.scores({hit.chunk.id: hit.score for hit in first})
        mass /= mass.max()
        top = max(hit.score for hit in ranking)
        hits = {hit.chunk.id: self._mixed(_scaled(hit, (1 - share) / top), mass, share) for hit in ranking}
        for i in np.argsort(-mass, kind="stable")[:JOINING].tolist():
            chunk = self.graph.nodes[self.ids[i]]["chunk"]
            if mass[i] > 0 and chunk.kind in kinds and chunk.id not in hits:
                hits[chunk.id] = self._mixed(Hit(chunk, 0.0), mass, share)
        ordered = sorted(hits.values(), key=lambda hit: (-hit.score, hit.chunk.id))
        return Ranking(ordered, query=ranking.query, title="propagated")

    def _mixed(self, hit: Hit, mass: NDArray[np.float64], share: float) -> Hit:
        extra = share * float(mass[self.row[hit.chunk.id]]) if hit.chunk.id in self.row else 0.0
        return replace(hit, score=hit.score + extra, parts={**hit.parts, "graph": extra}) if extra else hit


def _scaled(hit: Hit, factor: float) -> Hit:
    return replace(hit, score=hit.score * factor, parts={name: value * factor for name, value in hit.parts.items()})


def blend_vectors(
    vectors: Vectors,
    ids: Sequence[str],
    graph: nx.MultiDiGraph,
    *,
    share: float = 0.2,
    weights: Mapping[str, float] | None = None,
) -> Vectors:
    """Each row moved by `share` towards the weighted mean of its neighbours' rows, then set to length one.

    `vectors` has shape (len(ids), dimension), rows of length one; neighbours outside of `ids` do not count, a row
    without neighbours stays as it is. `weights` default to calls alone, both ways.
    """
    if len(ids) != len(vectors):
        raise ValueError(f"{len(ids)} ids for {len(vectors)} vectors")
    weight = check_weights({"calls": 1.0} if weights is None else weights)
    row = {node: i for i, node in enumerate(ids)}
    entries = []
    for source, target, relation, data in graph.edges(keys=True, data=True):
        if source != target and source in row and target in row:
            a, b, confidence = row[source], row[target], data["confidence"]
            entries.append((a, b, weight.get(relation, 0.0) * confidence))
            entries.append((b, a, weight.get(REVERSED.get(relation, ""), 0.0) * confidence))
    rows, columns, values = (np.array(list(c)) for c in zip(*entries, strict=True)) if entries else ([], [], [])
    matrix = sparse.csr_matrix((values, (rows, columns)), shape=(len(ids), len(ids)), dtype=np.float64)
    total = np.asarray(matrix.sum(axis=1)).ravel()
    mean = np.divide(matrix @ vectors, total[:, None], out=np.zeros(vectors.shape), where=total[:, None] > 0)
    mixed = np.where(total[:, None] > 0, (1 - share) * vectors + share * mean, vectors)
    length = np.linalg.norm(mixed, axis=1, keepdims=True)
    return np.asarray(np.divide(mixed, length, out=np.zeros(vectors.shape), where=length > 0), dtype=np.float32)
