"""From a ranking to a larger one over the code graph: one hop, N hops, typed walks, and the ways to merge them.

The walks themselves are in `walk`, spreading by personalised PageRank in `propagation`, budgets in `pack`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import networkx as nx

from codekb.chunks import Chunk
from codekb.limits import Limits
from codekb.ranking import Hit, Ranking, Step
from codekb.resolve.edges import RELATIONS
from codekb.walk import DECAY, Visit, best_first, breadth_first

ONE_HOP = Limits(hops=1, relations=("calls",), direction="both", max_chunks=None, kinds=("function",))
"""The tutorial's expansion: callees and callers of each seed."""

TYPED = Limits(hops=2, relations=RELATIONS, direction="both", max_in_degree=30, free_members=True)
"""Two hops over every relation; the callers of a chunk with more than thirty of them say nothing about it."""

ONE_HOP_SEEDS = 3
RELATED_SEEDS = 10
RELATED_SHARE = 0.5
"""What the strength of a walk counts beside a search score in the list of related code."""

WEIGHTS: Mapping[str, float] = {
    "inherits": 1.0,
    "overrides": 1.0,
    "calls": 0.8,
    "uses": 0.6,
    "imports": 0.2,
    "contains": 0.3,
    "inherited by": 0.6,
    "overridden by": 0.8,
    "called by": 0.4,
    "used by": 0.2,
    "imported by": 0.1,
    "contained in": 0.6,
}
"""Default weight of a step: high where a relation is structural with a small fan-out, low where it is universal."""


class HitSource(Protocol):
    """What knows the hit that a search gave a chunk: a full ranking, or the scores it was made of."""

    def get(self, chunk_id: str) -> Hit | None: ...


@dataclass(frozen=True, slots=True)
class Cue:
    """Words of a question (a regular expression on its lower-case text) that raise relations to full weight."""

    pattern: str
    relations: tuple[str, ...]


CUES: tuple[Cue, ...] = (
    Cue(r"\b(flows?|handle[ds]?|handling|happens?|work(s|ed)?|process(es|ed)?|steps?)\b", ("calls", "called by")),
    Cue(r"\b(types?|kinds?|subclass(es)?|variants?|implement(s|ed|ations?)?)\b", ("inherited by", "overridden by")),
    Cue(r"\b(base|inherit(s|ed|ance)?|abstract|superclass(es)?|interfaces?)\b", ("inherits", "overrides")),
    Cue(r"\b(who|where|usages?|callers?|used|called)\b", ("called by", "used by")),
)
"""Cue words of `edge_weights`; pass your own as `cues`."""


def matching_cues(query: str, cues: Iterable[Cue] = CUES) -> list[tuple[str, Cue]]:
    """The words of a question that are cues, each with its cue, in the order of the cues.

    >>> [(word, cue.relations) for word, cue in matching_cues("How does a request get handled?")]
    [('handled', ('calls', 'called by'))]
    """
    found = []
    for cue in cues:
        match = re.search(cue.pattern, query.lower())
        if match:
            found.append((match.group(0), cue))
    return found


def edge_weights(
    query: str = "", *, base: Mapping[str, float] = WEIGHTS, cues: Iterable[Cue] = CUES
) -> dict[str, float]:
    """The weight in [0, 1] of a step over each relation, raised to 1 where the question holds a cue for it.

    >>> edge_weights()["called by"], edge_weights("what kinds of stores are there")["inherited by"]
    (0.4, 1.0)
    """
    weights = dict(base)
    for _, cue in matching_cues(query, cues):
        weights.update(dict.fromkeys(cue.relations, 1.0))
    return weights


def expand(
    graph: nx.MultiDiGraph,
    seeds: Ranking | Sequence[Hit],
    limits: Limits | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    scores: HitSource | Mapping[str, float] | None = None,
    decay: float = DECAY,
) -> Ranking:
    """The seeds and what a walk from them reaches, best first, ties by id.

    Without `weights` the walk is breadth first, with them best first (see `edge_weights`). Every reached hit carries
    its way in `via`. Its score is its seed's score, times `decay` a hop, times weights and confidences in a
    best-first walk: the part `graph`. With `scores`, those of the search that gave the seeds (a full ranking, or ids to
    numbers, higher is better), everything is ranked by them instead; an id without a score counts 0.
    Raises KeyError for a seed that is no node of the graph.
    """
    limits = limits or Limits()
    start = {hit.chunk.id: hit.score for hit in seeds}
    own = {hit.chunk.id: hit for hit in seeds}
    if weights is None:
        visits = breadth_first(graph, start, limits, decay=decay)
    else:
        visits = best_first(graph, start, limits, weights, decay=decay)
    hits = [_hit(visit, own.get(visit.id), scores) for visit in visits]
    return _ranked(hits, seeds, "expanded")


def _hit(visit: Visit, seed: Hit | None, scores: HitSource | Mapping[str, float] | None) -> Hit:
    if scores is not None:
        return rescored(visit.chunk, scores, visit.via)
    if seed is not None:
        return seed
    return Hit(visit.chunk, visit.strength, {"graph": visit.strength}, visit.via)


def rescored(chunk: Chunk, scores: HitSource | Mapping[str, float], via: tuple[Step, ...] = ()) -> Hit:
    """The chunk as a hit with the score it has in `scores`: parts and remarks too where that is a ranking."""
    if not isinstance(scores, Mapping):
        known = scores.get(chunk.id)
        return replace(known, via=via) if known is not None else Hit(chunk, 0.0, {}, via)
    score = float(scores.get(chunk.id, 0.0))
    return Hit(chunk, score, {"similarity": score}, via)


def _ranked(hits: Iterable[Hit], like: Ranking | Sequence[Hit], title: str) -> Ranking:
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.chunk.id))
    return Ranking(ordered, query=like.query if isinstance(like, Ranking) else "", title=title)


def one_hop(
    graph: nx.MultiDiGraph,
    ranking: Ranking,
    *,
    seeds: int = ONE_HOP_SEEDS,
    limit: int = 5,
    scores: HitSource | None = None,
) -> Ranking:
    """The tutorial's expansion: the first hits, their callees and callers, ranked by the same scores, cut at `limit`.

    `ranking` is the full result of the search, so no score is computed again; where it is only its beginning, `scores`
    knows the rest.
    """
    found: Ranking = expand(graph, ranking[:seeds], ONE_HOP, scores=scores or ranking)[:limit]
    return found


def reserve(ranking: Ranking, expanded: Ranking, k: int = 10, *, slots: int = 2) -> Ranking:
    """The first `k - slots` hits of the search, then the best `slots` reached by the walk, then the rest of the search.

    Nothing is crowded out beyond the slots, and the last places need no score that can be compared.
    """
    if not 0 <= slots <= k:
        raise ValueError(f"slots must lie between 0 and k = {k}, got {slots}")
    kept = list(ranking[: k - slots])
    there = {hit.chunk.id for hit in kept}
    new = [hit for hit in expanded if hit.chunk.id not in there and hit.via][:slots]
    there |= {hit.chunk.id for hit in new}
    rest = [hit for hit in ranking if hit.chunk.id not in there]
    return Ranking([*kept, *new, *rest], query=ranking.query, title="reserved slots")


def add_evidence(ranking: Ranking, expanded: Ranking, *, share: float = 0.2) -> Ranking:
    """Search and walk together: score = search score + `share` × walk strength where the walk came; nothing is dropped.

    `expanded` comes from `expand` without `scores`. Seeds keep their score; the dense tail stays.
    """
    evidence = {hit.chunk.id: hit for hit in expanded if hit.via}
    hits = []
    for hit in ranking:
        more = evidence.pop(hit.chunk.id, None)
        hits.append(hit if more is None else _with_evidence(hit, more, share))
    hits.extend(_with_evidence(Hit(more.chunk, 0.0), more, share) for more in evidence.values())
    return _ranked(hits, ranking, "with graph evidence")


def _with_evidence(hit: Hit, more: Hit, share: float) -> Hit:
    extra = share * more.score
    return replace(hit, score=hit.score + extra, parts={**hit.parts, "graph": extra}, via=more.via)


def keep_tail(expanded: Ranking, ranking: Ranking, depth: int = 10) -> Ranking:
    """`expanded` joined with the first `depth` hits of the search, ranked by score: no answer among them is lost."""
    there = {hit.chunk.id for hit in expanded}
    return _ranked([*expanded, *(h for h in ranking[:depth] if h.chunk.id not in there)], ranking, "kept tail")


def related(
    graph: nx.MultiDiGraph,
    ranking: Ranking,
    k: int = 10,
    *,
    limits: Limits = TYPED,
    weights: Mapping[str, float] | None = None,
    seeds: int = RELATED_SEEDS,
    scores: HitSource | Mapping[str, float] | None = None,
) -> Ranking:
    """Graph neighbours beside a ranking: what the typed walk from its first hits reaches and the ranking does not hold.

    At most `k` hits, each with its way in `via`; the ranking itself is left as it is. They stand by strength of the
    walk, or, with the `scores` of the search, by search score + `RELATED_SHARE` × strength.
    """
    there = {hit.chunk.id for hit in ranking}
    known = [hit for hit in ranking[:seeds] if hit.chunk.id in graph]
    weights = edge_weights(ranking.query) if weights is None else weights
    found = [h for h in expand(graph, known, limits, weights=weights) if h.via and h.chunk.id not in there]
    if scores is not None:
        found = [_with_evidence(rescored(h.chunk, scores), h, RELATED_SHARE) for h in found]
    return Ranking(_ranked(found, ranking, "related").hits[:k], query=ranking.query, title="related")
