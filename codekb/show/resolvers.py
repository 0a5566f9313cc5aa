"""One function under several resolvers side by side: a static figure, and live graphs that move together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from codekb.markup import short_name, short_names
from codekb.ranking import Hit
from codekb.show import graph as live
from codekb.show.neighbourhood import around
from codekb.show.picture import ACCENT, FAINT, HARM, INK, Picture, canvas, label, said
from codekb.show.source import source_html

if TYPE_CHECKING:
    import networkx as nx

    from codekb.knowledge_base import KnowledgeBase

LEVELS = ("name", "import", "type", "flow")
RIGHT = "#3f9b6c"
PANEL_WIDTH, ROW_HEIGHT = 3.1, 0.3
"""Inches of a panel, and of one callee in it."""
LIVE_HEIGHT, LIVE_SIDE = 210, 6
"""Pixels of a live graph, and neighbours a side in it."""


def callees(graph: nx.MultiDiGraph, chunk_id: str) -> list[str]:
    """What a chunk calls in this graph, sorted. Raises KeyError for an id that the graph does not hold."""
    if chunk_id not in graph:
        raise KeyError(f"{chunk_id!r} is no node of this graph of {len(graph)}")
    return sorted(t for _, t, relation in graph.out_edges(chunk_id, keys=True) if relation == "calls")


def resolver_panels(
    graphs: Mapping[str, nx.MultiDiGraph], chunk_id: str, *, expected: Collection[str] | None = None
) -> Picture:
    """What one chunk calls under each resolver, a panel each, every callee in the same row of all panels.

    `graphs`: name → graph. With `expected` (the ids that it really calls) right edges are green, wrong ones red and
    dashed, missing ones dotted.
    """
    found = {name: callees(graph, chunk_id) for name, graph in graphs.items()}
    rows = sorted({*(t for ids in found.values() for t in ids), *(expected or ())})
    names = short_names(rows)
    columns = max(len(graphs), 1)
    figure, axes = canvas(PANEL_WIDTH * columns, ROW_HEIGHT * max(len(rows), 3) + 0.8, columns=columns)
    for ax, (name, ids) in zip(axes, found.items(), strict=False):
        _panel(ax, names, ids, expected)
        counted = f"{len(ids)} of {len(rows)}" if expected is None else _verdict(ids, expected)
        ax.set_title(f"{name}\n{counted}", fontsize=9, loc="left")
    told = (f"{name} {len(ids)}: {said((names[i] for i in ids), 8)}" for name, ids in found.items())
    return Picture(figure, f"{short_name(chunk_id)} calls, by resolver · " + " · ".join(told))


def _verdict(ids: Sequence[str], expected: Collection[str]) -> str:
    wrong, missing = len(set(ids) - set(expected)), len(set(expected) - set(ids))
    return f"{len(ids) - wrong} right, {wrong} wrong, {missing} missing"


def _panel(ax: Any, names: Mapping[str, str], ids: list[str], expected: Collection[str] | None) -> None:
    middle = (len(names) - 1) / 2
    for row, (target, name) in enumerate(names.items()):
        y, drawn = middle - row, target in ids
        right = expected is None or target in expected
        colour = (ACCENT if expected is None else RIGHT) if right else HARM
        style = ("-" if right else "--") if drawn else ":"
        if drawn or right:
            ax.plot([0, 1], [0, y], style, color=colour if drawn else FAINT, lw=1.4 if drawn else 1.0)
        ax.scatter([1], [y], s=26, color=colour if drawn else "white", edgecolor=colour if drawn else FAINT, zorder=3)
        ax.text(1.07, y, label(name, 26), va="center", fontsize=8, color=INK if drawn else FAINT)
    ax.scatter([0], [0], s=70, color=INK, zorder=4)
    ax.set(xlim=(-0.1, 3.2), ylim=(-middle - 0.6, middle + 0.6))
    ax.set_axis_off()


class Resolvers(widgets.VBox):  # type: ignore[misc]
    """Live graphs of one chunk, one a resolver; a click on a neighbour moves all of them there.

    `chunk_id` is the chunk in the middle; set it, choose it, or click. Confidence and reason stand on the edges.
    """

    def __init__(self, kb: KnowledgeBase, chunk_id: str, levels: Sequence[str] = LEVELS) -> None:
        self.kb = kb
        self.chunk_id = ""
        ids = [chunk.id for chunk in kb.corpus if chunk.kind in ("function", "lambda", "module")]
        self.choice = widgets.Combobox(options=ids, ensure_option=True, continuous_update=False,
                                       description="function", layout={"width": "auto"})  # fmt: skip
        self.views = {level: live.GraphView(height=LIVE_HEIGHT) for level in levels}
        self.source = widgets.HTML(layout=widgets.Layout(max_height="260px", overflow="auto"))
        panels = [widgets.VBox([widgets.HTML(f"<b>{level}</b>"), view]) for level, view in self.views.items()]
        grid = widgets.GridBox(panels, layout=widgets.Layout(grid_template_columns="1fr 1fr", grid_gap="8px"))
        super().__init__([self.choice, grid, self.source])
        self.choice.observe(lambda change: self.show(change["new"]), "value")
        for view in self.views.values():
            view.observe(lambda change: self.show(change["new"][0]), "clicked")
        self.show(chunk_id)

    def show(self, chunk_id: str) -> None:
        """Put a chunk in the middle of every graph. Raises KeyError for an unknown id; an empty one changes nothing."""
        if not chunk_id or chunk_id == self.chunk_id:
            return
        chunk = self.kb.corpus[chunk_id]
        self.chunk_id = chunk_id
        for level, view in self.views.items():
            near = around(self.kb.graph_by(level), [Hit(chunk, 0.0)], max_side=LIVE_SIDE, ranks={})
            view.selected = chunk_id
            view.payload = live.payload(near, edge_labels=True)
        self.source.value = source_html(chunk.code, chunk.language, first_line=chunk.start_line)
        if chunk_id in self.choice.options:
            self.choice.value = chunk_id

    def __repr__(self) -> str:
        return f"Resolvers({self.chunk_id}: {', '.join(self.views)}): run the cell to use it"
