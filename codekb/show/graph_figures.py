"""Static pictures of call graphs and of walks over them, in fixed layouts. The live graph is in `graph`."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from codekb.markup import method_colours, short_names
from codekb.ranking import Step
from codekb.show.picture import ACCENT, FAINT, INK, Picture, canvas, label, said
from codekb.table import counted

if TYPE_CHECKING:
    import networkx as nx

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
MAX_COLUMN = 14
"""Names that fit above each other in a column of the ego picture; the rest are counted."""

EGO_NAME = 46
"""Letters of a name that fit beside a column of the ego picture."""

ROLE_COLOURS = {"centre": "#e0932f", "caller": "#8b6bb8", "callee": "#3f9b6c", "other": "#9aa5b1"}
"""What a chunk is to the one in the middle; the live graph uses the same colours."""

Point = tuple[float, float]


def spiral(nodes: Sequence[str]) -> dict[str, Point]:
    """Positions on a disc, neighbours in the list close together: fixed, linear in the number of nodes."""
    radius = [math.sqrt((i + 0.5) / max(len(nodes), 1)) for i in range(len(nodes))]
    return {
        n: (r * math.cos(i * GOLDEN_ANGLE), r * math.sin(i * GOLDEN_ANGLE))
        for i, (n, r) in enumerate(zip(nodes, radius, strict=True))
    }


def _edges(graph: nx.MultiDiGraph, relations: Collection[str]) -> list[tuple[str, str]]:
    return sorted({(a, b) for a, b, key in graph.edges(keys=True) if key in relations and a != b})


def hairball_and_ego(graph: nx.MultiDiGraph, chunk_id: str, *, relations: Collection[str] = ("calls",)) -> Picture:
    """The whole graph beside one chunk of it: callers to the left, callees to the right.

    Raises KeyError for an id that the graph does not hold.
    """
    if chunk_id not in graph:
        raise KeyError(f"{chunk_id!r} is no node of this graph of {len(graph)}")
    edges = _edges(graph, relations)
    figure, (whole, ego) = canvas(12.0, 4.5, columns=2)
    if grid := whole.get_gridspec():
        grid.set_width_ratios([1.0, 1.7])
    _hairball(whole, edges, chunk_id)
    callers = sorted({a for a, b in edges if b == chunk_id})
    callees = sorted({b for a, b in edges if a == chunk_id})
    names = short_names([chunk_id, *callers, *callees])
    _ego(ego, chunk_id, callers, callees, names)
    sides = (
        f"{counted(len(ids), noun)}{_listed(ids, names)}" for noun, ids in (("caller", callers), ("callee", callees))
    )
    return Picture(
        figure, f"{counted(len(edges), 'edge')} ({', '.join(relations)}); around {names[chunk_id]}: {', '.join(sides)}"
    )


def _listed(ids: Sequence[str], names: Mapping[str, str]) -> str:
    return f" ({said((names[i] for i in ids), 3)})" if ids else ""


def _hairball(ax: Any, edges: list[tuple[str, str]], chunk_id: str) -> None:
    from matplotlib.collections import LineCollection

    nodes = sorted({n for edge in edges for n in edge} | {chunk_id})
    at = spiral(nodes)
    near = [e for e in edges if chunk_id in e]
    lines = LineCollection([(at[a], at[b]) for a, b in edges], colors=FAINT, lw=0.25, alpha=0.35)
    lines.set_in_layout(False)  # tens of thousands of lines need not be measured: the axes have fixed limits
    ax.add_collection(lines, autolim=False)
    ax.scatter([at[n][0] for n in nodes], [at[n][1] for n in nodes], s=2, color=INK, lw=0)
    ax.add_collection(LineCollection([(at[a], at[b]) for a, b in near], colors=ACCENT, lw=1.0))
    ax.scatter([at[chunk_id][0]], [at[chunk_id][1]], s=40, color=ROLE_COLOURS["centre"], zorder=4)
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
    ax.set_axis_off()
    ax.set_title(f"everything: {counted(len(edges), 'edge')} of {len(nodes)} chunks\nblue: the edges drawn at right")


def _ego(ax: Any, centre: str, callers: list[str], callees: list[str], names: Mapping[str, str]) -> None:
    columns = ((-1.0, callers, "caller", "right"), (1.0, callees, "callee", "left"))
    for x, ids, role, side in columns:
        shown = ids[:MAX_COLUMN]
        for i, node in enumerate(shown):
            y = (len(shown) - 1) / 2 - i
            start, end = ((x, y), (0.0, 0.0)) if role == "caller" else ((0.0, 0.0), (x, y))
            ax.annotate("", end, start, arrowprops=_arrow(ROLE_COLOURS[role]))
            ax.scatter([x], [y], s=34, color=ROLE_COLOURS[role], zorder=3)
            ax.text(x * 1.08, y, label(names[node], EGO_NAME), ha=side, va="center", fontsize=8, color=INK)
        more = f" ({len(ids) - len(shown)} not drawn)" if len(ids) > len(shown) else ""
        ax.set_title(ax.get_title() + f"{counted(len(ids), role)}{more}" + (" → chunk → " if role == "caller" else ""))
    ax.scatter([0], [0], s=90, color=ROLE_COLOURS["centre"], zorder=4)
    tall = max(len(callers[:MAX_COLUMN]), len(callees[:MAX_COLUMN]), 3)
    name = label(names[centre], 40)
    ax.text(0, tall / 2 + 0.1, name, ha="center", fontsize=9, weight="bold", color=INK)  # above all rows
    ax.set(xlim=(-3.1, 3.1), ylim=(-tall / 2 - 0.2, tall / 2 + 0.7))
    ax.set_axis_off()


def _arrow(colour: str) -> dict[str, Any]:
    return {"arrowstyle": "-|>", "color": colour, "lw": 1.0, "shrinkA": 4, "shrinkB": 5, "alpha": 0.8}


def candidates_per_hop(counts: Mapping[str, Sequence[int]]) -> Picture:
    """How many chunks a walk has reached after each hop, one line a setting, logarithmic.

    `counts`: setting → number of candidates at hop 0 (the seeds), 1, 2, ….
    """
    figure, (ax,) = canvas(6.8, 3.6)
    colours = method_colours(counts)
    for name, values in counts.items():
        ax.plot(range(len(values)), values, marker="o", ms=5, lw=1.8, color=colours[name], label=label(name, 40))
        if values:
            ax.annotate(str(values[-1]), (len(values) - 1, values[-1]), xytext=(7, 0), textcoords="offset points",
                        va="center", fontsize=8.5, color=INK)  # fmt: skip
    deepest = max((len(v) for v in counts.values()), default=1)
    ax.set(xticks=range(deepest), xlabel="hops from the seeds", ylabel="candidates (log)")
    if any(v for v in counts.values()):
        ax.set_yscale("log")
        least, most = ax.get_ylim()
        ticks = [t for power in range(7) for t in (10**power, 2 * 10**power, 5 * 10**power) if least <= t <= most]
        ax.set_yticks(ticks, map(str, ticks))
        ax.minorticks_off()
        ax.legend(fontsize=8, frameon=False, loc="upper left")
    told = (f"{name} {' → '.join(map(str, values))}" for name, values in counts.items())
    return Picture(figure, f"Candidates per hop: {said(told)}")


def visit_order(seeds: Sequence[str], steps: Sequence[Step], *, upto: int | None = None) -> Picture:
    """A walk as a tree: seeds to the left, each step drawn to the right of where it started, numbered as visited.

    `steps` in the order of the visit, each from a seed or an earlier target; only the first `upto` are drawn
    strong (None: all), so that a slider over `upto` plays the walk.
    """
    parent = {step.target: step for step in reversed(steps) if step.target not in seeds}
    order = [*seeds, *dict.fromkeys(s.target for s in steps if s.target in parent)]
    known = set(seeds)
    for step in (parent[n] for n in order if n in parent):
        if step.source not in known:
            raise ValueError(f"the walk reaches {step.target!r} from {step.source!r}, which it has not visited before")
        known.add(step.target)
    at, names = _tree(list(seeds), order, parent), short_names(order)
    shown = len(steps) if upto is None else upto
    figure, (ax,) = canvas(9.2, max(2.2, 0.3 * len(order) + 0.6))
    for number, node in enumerate(order[len(seeds) :], 1):
        step, strong = parent[node], number <= shown
        colour = method_colours([step.relation])[step.relation] if strong else "#e4e7eb"
        ax.annotate("", at[node], at[step.source], arrowprops=_arrow(colour))
        name = f"{number} {label(names[node], 30)}  ({step.relation})"
        ax.text(at[node][0] + 0.05, at[node][1], name, va="center", fontsize=8, color=INK if strong else "#cbd2d9")
    for seed in seeds:
        ax.text(
            at[seed][0] + 0.05,
            at[seed][1],
            label(names[seed], 30),
            va="center",
            fontsize=8.5,
            weight="bold",
        )
    colours = [ROLE_COLOURS["centre" if n in seeds else "callee"] for n in order]
    ax.scatter([at[n][0] for n in order], [at[n][1] for n in order], s=22, zorder=3, color=colours)
    ax.set(xlim=(-0.1, max((x for x, _ in at.values()), default=0.0) + 1.3), ylim=(len(order) - 0.4, -0.6))
    ax.set_axis_off()
    told = (f"{i} {names[n]}" for i, n in enumerate(order[len(seeds) :][:shown], 1))
    return Picture(figure, f"Visit order from {said(names[s] for s in seeds)}: {said(told, 12)}")


def _tree(seeds: list[str], order: list[str], parent: Mapping[str, Step]) -> dict[str, Point]:
    """Depth to the right, depth-first order downwards, so that no two names share a line."""
    children: dict[str, list[str]] = {}
    for node in order:
        if node in parent:
            children.setdefault(parent[node].source, []).append(node)
    at: dict[str, Point] = {}
    waiting = [(seed, 0.0) for seed in reversed(seeds)]
    while waiting:
        node, depth = waiting.pop()
        at[node] = (depth, float(len(at)))
        waiting.extend((child, depth + 1.0) for child in reversed(children.get(node, [])))
    return at
