"""What is drawn around a ranking: which chunks, in which role and place, and which edges. No widgets, no pyvis."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codekb.chunks import Chunk
from codekb.ranking import Hit

if TYPE_CHECKING:
    import networkx as nx

MAX_SIDE = 14
"""Neighbours drawn in one column: more would make the names too small to read."""

PER_HIT = 2
"""In a graph around many hits each gets this many neighbours a side before any gets more."""

COLUMN_GAP, ROW_GAP = 225, 46
"""Distances in the units of vis-network, pixels at scale one."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A chunk to draw: its role (`match`, `reached`, `caller`, `callee`, `both`), place, rank in the results or 0."""

    chunk: Chunk
    role: str
    x: float
    y: float
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """An edge to draw, with what the resolver said of it."""

    source: str
    target: str
    relation: str
    confidence: float
    reason: str
    line: int


@dataclass(slots=True)
class Neighbourhood:
    """Everything to draw, and how many neighbours were left out on each side."""

    spots: list[Spot] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    hidden_callers: int = 0
    hidden_callees: int = 0


def around(
    graph: nx.MultiDiGraph,
    hits: Sequence[Hit],
    *,
    relations: Collection[str] = ("calls",),
    max_side: int = MAX_SIDE,
    ranks: Mapping[str, int] | None = None,
) -> Neighbourhood:
    """Hits in the middle column by rank, what leads to them on the left, what they lead to on the right.

    A hit that the graph brought in stands on the side it was reached over, and brings no neighbours of its own. Hits
    that the graph does not know are drawn without edges. Only edges of matches, and between hits, are drawn. Side
    columns are ordered so that edges cross little; ties by id. `ranks` gives the numbers to show
    (None: the order of `hits`).
    """
    ids = {hit.chunk.id for hit in hits}
    left, hidden_left = _neighbours(graph, hits, ids, relations, incoming=True, limit=max_side)
    right, hidden_right = _neighbours(graph, hits, ids | set(left), relations, incoming=False, limit=max_side)
    sides = {hit.chunk.id: _side(hit) for hit in hits}
    middle = [h.chunk.id for h in hits if sides[h.chunk.id] == 0]
    height = _column({}, middle, 0, hits, graph)
    columns = (
        (-1, [i for i in sides if sides[i] < 0] + left),
        (1, [i for i in sides if sides[i] > 0] + right),
    )
    places = dict(height)
    for side, members in columns:
        places.update(_column(height, members, side, hits, graph))
    if ranks is None:
        ranks = {hit.chunk.id: n for n, hit in enumerate(hits, 1)}
    chunks = {hit.chunk.id: hit.chunk for hit in hits}
    roles = {hit.chunk.id: "reached" if hit.via else "match" for hit in hits}
    roles.update(dict.fromkeys(left, "caller"))
    roles.update(dict.fromkeys(right, "callee"))
    roles.update((i, "both") for i in left if _is_led_to(graph, i, roles, relations))
    spots = [
        Spot(chunks.get(i) or graph.nodes[i]["chunk"], roles[i], *places[i], ranks.get(i, 0))
        for i in sorted(places, key=lambda i: (places[i], i))
    ]
    return Neighbourhood(spots, _lines(graph, places, roles, relations), hidden_left, hidden_right)


def _side(hit: Hit) -> int:
    """Where a hit stands: 0 found by the search, -1 reached against an edge's direction, 1 along it."""
    if not hit.via:
        return 0
    return -1 if hit.via[-1].relation.endswith((" by", " in")) else 1


def _neighbours(
    graph: nx.MultiDiGraph,
    hits: Sequence[Hit],
    taken: Collection[str],
    relations: Collection[str],
    *,
    incoming: bool,
    limit: int,
) -> tuple[list[str], int]:
    """Up to `limit` neighbours of the matches on one side, shared fairly between them, and the number of the others."""
    matches = [hit.chunk.id for hit in hits if hit.chunk.id in graph and not hit.via]
    lists = [_of(graph, node, relations, incoming) for node in matches]
    chosen = dict.fromkeys(i for found in lists for i in found[:PER_HIT] if i not in taken)
    chosen.update(dict.fromkeys(i for found in lists for i in found if i not in taken))
    picked = sorted(chosen, key=lambda i: _is_test(graph, i))[:limit]  # stable: tests go last
    return picked, len(chosen) - len(picked)


def _of(graph: nx.MultiDiGraph, node: str, relations: Collection[str], incoming: bool) -> list[str]:
    """Neighbours of a node over these relations: surest first, tests last, ties by id."""
    edges: Iterable[Any] = graph.in_edges(node, data=True) if incoming else graph.out_edges(node, data=True)
    best: dict[str, float] = {}
    for source, target, data in edges:
        other = source if incoming else target
        if other != node and data["relation"] in relations:
            best[other] = max(best.get(other, 0.0), data["confidence"])
    return sorted(best, key=lambda i: (_is_test(graph, i), -best[i], i))


def _is_led_to(graph: nx.MultiDiGraph, node: str, roles: Mapping[str, str], relations: Collection[str]) -> bool:
    """Whether a match leads to this node."""
    edges = graph.in_edges(node, data=True)
    return any(roles.get(source) == "match" and data["relation"] in relations for source, _, data in edges)


def _is_test(graph: nx.MultiDiGraph, node: str) -> bool:
    return "test" in graph.nodes[node]["chunk"].marks


def _column(
    middle: dict[str, tuple[float, float]],
    members: Sequence[str],
    side: int,
    hits: Sequence[Hit],
    graph: nx.MultiDiGraph,
) -> dict[str, tuple[float, float]]:
    """Places of one column, its members at the mean height of what they touch in the middle, evenly spread."""
    if side:
        members = sorted(members, key=lambda i: (_mean_height(i, middle, graph), i))
    top = -(len(members) - 1) / 2 * ROW_GAP
    return {i: (float(side * COLUMN_GAP), top + n * ROW_GAP) for n, i in enumerate(members)}


def _mean_height(node: str, middle: dict[str, tuple[float, float]], graph: nx.MultiDiGraph) -> float:
    if node not in graph:
        return 0.0
    touched = [middle[n][1] for n in {*graph.predecessors(node), *graph.successors(node)} if n in middle]
    return sum(sorted(touched)) / len(touched) if touched else 0.0


def _lines(
    graph: nx.MultiDiGraph, places: Collection[str], roles: Mapping[str, str], relations: Collection[str]
) -> list[Line]:
    """The edges of matches, and between hits, self-loops included, in a fixed order."""
    inside = [i for i in places if i in graph]
    found = [
        Line(a, b, d["relation"], float(d["confidence"]), d["reason"], int(d["line"]))
        for a, b, d in graph.subgraph(inside).edges(data=True)
        if d["relation"] in relations and ("match" in (roles[a], roles[b]) or roles[a] == roles[b] == "reached")
    ]
    return sorted(found, key=lambda e: (e.source, e.target, e.relation))
