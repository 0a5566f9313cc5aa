"""Walks over the code graph from seeds, breadth first and best first. Limits are in `limits`, scores in `expansion`."""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from codekb.chunks import Chunk
from codekb.limits import MEMBERS, MEMBERSHIP, REVERSED, Limits, check_weights, module_of
from codekb.ranking import Step
from codekb.text import count_tokens

DECAY = 0.5
"""Factor a hop: what is two calls away counts a quarter."""


Edge = tuple[str, float, str, int]
"""Relation as it was followed, confidence, reason, line."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One node a walk came to: `strength` falls along the path, `hops` counts its paid steps, `back` is the way."""

    id: str
    chunk: Chunk
    strength: float
    hops: int
    back: Visit | None = None
    edge: Edge = ("", 1.0, "", 0)

    @property
    def via(self) -> tuple[Step, ...]:
        """The steps from a seed to here, in order; () for a seed."""
        steps: list[Step] = []
        at = self
        while at.back is not None:
            relation, confidence, reason, line = at.edge
            steps.append(Step(at.back.id, relation, at.id, line, confidence, reason))
            at = at.back
        return tuple(reversed(steps))


ROUNDING = 1 - 1e-9
"""Keeps what ties with the last place from being lost to a rounded division."""

Weight = Callable[[str], float]


class _Moves:
    """The steps that limits and weights allow from a node: by relation in the order of the limits, then by id."""

    def __init__(self, graph: nx.MultiDiGraph, limits: Limits, weight: Weight) -> None:
        self.limits = limits
        out = {r: r for r in limits.relations if weight(r) > 0}
        back = {r: REVERSED[r] for r in limits.relations if weight(REVERSED[r]) > 0}
        # The plain dicts below the views, as networkx's own algorithms read them: a view costs calls an edge.
        self.nodes = graph._node
        self.ways: list[tuple[Any, _Sorted, dict[str, str], int | None]] = []
        if limits.direction != "in" and out:
            self.ways.append((graph._succ, _kept(graph, "out"), out, limits.max_out_degree))
        if limits.direction != "out" and back:
            self.ways.append((graph._pred, _kept(graph, "in"), back, limits.max_in_degree))

    def __call__(
        self,
        visit: Visit,
        settled: set[str],
        floor: Mapping[str, float] | None = None,
        *,
        only_free: bool = False,
    ) -> Iterator[tuple[str, Chunk, int, Edge]]:
        """Node, chunk, hops after the step and edge, for every allowed step to a node that is not settled.

        `floor` is the least confidence that still matters, by relation; `only_free` leaves out what costs a hop.
        """
        limits, floor = self.limits, floor or {}
        last = only_free or visit.hops == limits.hops
        if last and not (limits.free_members and visit.chunk.kind in MEMBERS):
            return
        module = module_of(visit.chunk) if limits.same_module else None
        for name, edges in self._relations(visit.id, floor, last):
            least = max(floor.get(name, 0.0), limits.min_confidence)
            member = limits.free_members and name in MEMBERSHIP
            for other, data in edges:
                if other in settled or data["confidence"] < least:
                    continue
                chunk = self.nodes[other].get("chunk")
                if chunk is None or (module is not None and module_of(chunk) != module):
                    continue
                paid = not (member and _members(visit.chunk, chunk))
                if not (last and paid):
                    yield other, chunk, visit.hops + paid, (name, data["confidence"], data["reason"], data["line"])

    def _relations(self, node: str, floor: Mapping[str, float], last: bool) -> Iterator[tuple[str, list[_Towards]]]:
        """For each relation with an allowed degree: its name as followed and its edges, by the id they lead to."""
        for adjacent, kept, names, cap in self.ways:
            sorted_edges = kept.get(node)
            if sorted_edges is None:
                kept[node] = sorted_edges = _by_relation(adjacent[node])
            for relation, name in names.items():
                edges = sorted_edges.get(relation)
                if edges is None or (last and relation != "contains") or (cap is not None and len(edges) > cap):
                    continue
                if floor.get(name, 0.0) <= 1.0:
                    yield name, edges


_Towards = tuple[str, dict[str, Any]]
_Sorted = dict[str, dict[str, list[_Towards]]]


def _kept(graph: nx.MultiDiGraph, direction: str) -> _Sorted:
    """Where the sorted edges of the nodes met so far stay: in the graph's own cache, which every change of it empties.

    A view (a reversed graph) does not hear of changes to what it shows: nothing is kept for it.
    """
    cache = {} if hasattr(graph, "_graph") else graph.__networkx_cache__
    kept: _Sorted = cache.setdefault(("codekb", direction), {})
    return kept


def _by_relation(around: Mapping[str, Mapping[str, dict[str, Any]]]) -> dict[str, list[_Towards]]:
    found: dict[str, list[_Towards]] = {}
    for other in sorted(around):
        for relation, data in around[other].items():
            found.setdefault(relation, []).append((other, data))
    return found


def _members(here: Chunk, there: Chunk) -> bool:
    """Whether the two are a class and a function, between which `contains` is membership."""
    return here.kind != there.kind and here.kind in MEMBERS and there.kind in MEMBERS


class _Caps:
    """Counts what is returned; a chunk that no longer fits is passed over, a smaller one may still fit."""

    def __init__(self, limits: Limits) -> None:
        self.kinds = frozenset(limits.kinds)
        self.chunks = limits.max_chunks
        self.tokens = limits.max_tokens

    @property
    def room(self) -> int | None:
        """How many more chunks can be returned at most, where that is known before their size is."""
        return self.chunks if self.tokens is None else None

    @property
    def full(self) -> bool:
        return self.chunks == 0 or (self.tokens is not None and self.tokens <= 0)

    def take(self, chunk: Chunk) -> bool:
        """Whether the chunk is returned; counts it where it is."""
        if chunk.kind not in self.kinds or self.full:
            return False
        if self.tokens is not None:
            cost = count_tokens(chunk.code)
            if cost > self.tokens:
                return False
            self.tokens -= cost
        if self.chunks is not None:
            self.chunks -= 1
        return True


def _start(graph: nx.MultiDiGraph, seeds: Mapping[str, float]) -> list[Visit]:
    missing = [s for s in seeds if s not in graph]
    if missing:
        raise KeyError(f"seed {missing[0]!r} is no node of this graph of {len(graph)}: was it built from this corpus?")
    return [Visit(s, graph.nodes[s]["chunk"], max(float(score), 0.0), 0) for s, score in seeds.items()]


def breadth_first(
    graph: nx.MultiDiGraph, seeds: Mapping[str, float], limits: Limits, *, decay: float = DECAY
) -> list[Visit]:
    """What the walk returns, nearest first: seeds in their order, then hop by hop; ties by relation, then id.

    `seeds` maps chunk ids to scores; a visit's strength is its seed's score times `decay` a hop.
    """
    moves, caps = _Moves(graph, limits, lambda _: 1.0), _Caps(limits)
    queue = deque(_start(graph, seeds))
    room = caps.room
    best = {visit.id: 0 for visit in queue}
    waiting = sum(visit.chunk.kind in caps.kinds for visit in queue)
    settled: set[str] = set()
    taken: list[Visit] = []
    while queue and not caps.full:
        visit = queue.popleft()
        if visit.id in settled:
            continue
        settled.add(visit.id)
        if caps.take(visit.chunk):
            taken.append(visit)
        free: list[Visit] = []
        for only_free in (False, True):  # a paid step's target would stand behind more than fits: then free ones only
            if not only_free and room is not None and waiting >= room:
                continue
            for other, chunk, hops, edge in moves(visit, settled, only_free=only_free):
                paid = hops > visit.hops
                if hops + paid > best.get(other, limits.hops + 1):
                    continue
                if paid and room is not None and waiting >= room:
                    break
                waiting += other not in best and chunk.kind in caps.kinds
                best[other] = hops
                step = Visit(other, chunk, visit.strength * decay ** (hops - visit.hops), hops, visit, edge)
                (queue if paid else free).append(step)
            else:
                break
        queue.extendleft(reversed(free))
    return taken


def best_first(
    graph: nx.MultiDiGraph,
    seeds: Mapping[str, float],
    limits: Limits,
    weights: Mapping[str, float],
    *,
    decay: float = DECAY,
) -> list[Visit]:
    """What the walk returns, strongest first, by a priority queue; ties by fewer hops, then id.

    A step multiplies the strength by its relation's weight, the edge's confidence and `decay` a hop. `weights` maps
    relations to numbers in [0, 1], also the reversed ones (`called by`); a reversed one that is left out
    has its relation's weight, a relation that is left out is not walked.
    """
    weight = check_weights(weights)
    moves, caps = _Moves(graph, limits, lambda relation: weight.get(relation, 0.0)), _Caps(limits)
    bar = _Bar(caps)
    kept = dict.fromkeys(MEMBERSHIP, 1.0) if limits.free_members else {}
    heap: list[tuple[_Key, Visit]] = []
    best: dict[str, float] = {}
    settled: set[str] = set()
    taken: list[Visit] = []

    for visit in _start(graph, seeds):
        key = (-visit.strength, 0, visit.id)
        best[visit.id] = visit.strength
        bar.admits(key, visit.chunk, True)
        heapq.heappush(heap, (key, visit))
    while heap and not caps.full:
        visit = heapq.heappop(heap)[-1]
        if visit.id in settled:
            continue
        settled.add(visit.id)
        if caps.take(visit.chunk):
            taken.append(visit)
        most = {name: visit.strength * value for name, value in weight.items()}
        least = bar.least * ROUNDING
        floor = {n: least / (strength * kept.get(n, decay) or 1.0) for n, strength in most.items()} if least else {}
        for other, chunk, hops, edge in moves(visit, settled, floor):
            strength = most[edge[0]] * edge[1] * decay ** (hops - visit.hops)
            key = (-strength, hops, other)
            if strength > best.get(other, -1.0) and bar.admits(key, chunk, other not in best):
                best[other] = strength
                heapq.heappush(heap, (key, Visit(other, chunk, strength, hops, visit, edge)))
    return taken


_Key = tuple[float, int, str]


class _Bar:
    """The best keys seen, as many as can be returned: whatever is worse than all of them need not be kept."""

    def __init__(self, caps: _Caps) -> None:
        self.kinds = caps.kinds
        self.room = caps.room
        self.keys: list[_Key] = []

    @property
    def least(self) -> float:
        """The strength below which nothing can be returned any more."""
        return -self.keys[-1][0] if self.keys and len(self.keys) == self.room else 0.0

    def admits(self, key: _Key, chunk: Chunk, new: bool) -> bool:
        """Whether a node with this key may still matter; remembers it where it is new and can be returned."""
        if self.room is None:
            return True
        if len(self.keys) == self.room and (not self.keys or key > self.keys[-1]):
            return False
        if new and chunk.kind in self.kinds:
            bisect.insort(self.keys, key)
            del self.keys[self.room :]
        return True


def neighbours(graph: nx.MultiDiGraph, node: str, relation: str = "calls", *, reverse: bool = False) -> Iterable[str]:
    """Ids that an edge of `relation` leads to (or comes from), without the node itself, in order of line, then id."""
    there = graph.pred[node] if reverse else graph.succ[node]
    found = [(keyed[relation]["line"], other) for other, keyed in there.items() if relation in keyed and other != node]
    return [other for _, other in sorted(found)]
