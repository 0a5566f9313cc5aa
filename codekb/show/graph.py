"""The live graph: a neighbourhood as a pyvis Network, and the widget that draws it. Static ones: `graph_figures`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from codekb.chunks import Chunk
from codekb.markup import tell_apart
from codekb.show.neighbourhood import Line, Neighbourhood, Spot
from codekb.table import counted

if TYPE_CHECKING:
    from pyvis.network import Network

ROLES = {
    "match": ("found by the search", "#fbd9a5", "#b8701a", 0),
    "reached": ("result reached over the graph", "#fff3df", "#b8701a", 0),
    "caller": ("leads to a result (calls it)", "#e3d9f2", "#8b6bb8", 14),
    "callee": ("a result leads to it (is called)", "#d3ebdd", "#3f9b6c", 14),
    "both": ("both: calls a result and is called by one", "#d6e4f5", "#3a7ebf", 14),
}
"""Role → legend, fill, border, corner radius. Fills are light, so dark names read well in both themes."""

RELATION_COLOURS = {
    "calls": "#6b7785",
    "uses": "#5aa9b8",
    "inherits": "#c0504d",
    "overrides": "#d98c3f",
    "imports": "#a3b18a",
    "contains": "#b9c0c9",
}
SURE = 0.75
"""Edges of less confidence are dashed: they may be wrong."""

NAME_LENGTH, TOOLTIP_LENGTH = 23, 70
OPTIONS = {
    "physics": {"enabled": False},
    "interaction": {
        "hover": True,
        "tooltipDelay": 120,
        "zoomView": False,
        "dragNodes": True,
        "selectConnectedEdges": True,
    },
    "nodes": {"font": {"size": 14, "color": "#1f2933", "face": "sans-serif"}, "margin": 6, "borderWidthSelected": 3},
    "edges": {"smooth": {"enabled": True, "type": "cubicBezier", "forceDirection": "horizontal", "roundness": 0.85}},
}


def network(view: Neighbourhood, *, edge_labels: bool = False) -> Network:
    """The neighbourhood as a pyvis Network with fixed places; names and tooltips are plain text, never HTML."""
    from pyvis.network import Network

    net = Network(directed=True, cdn_resources="in_line")
    column = {spot.chunk.id: spot.x for spot in view.spots}
    labels = _labels([spot.chunk for spot in view.spots])
    at = {spot.chunk.id: spot.chunk for spot in view.spots}
    for spot in view.spots:
        net.add_node(spot.chunk.id, **_node(spot, labels[spot.chunk.id]))
    for line in view.lines:
        names = (at[line.source].qualname, at[line.target].qualname)
        net.add_edge(line.source, line.target, **_edge(line, edge_labels, names), **_bend(line, column))
    return net


def _node(spot: Spot, label: str) -> dict[str, Any]:
    _, fill, border, radius = ROLES[spot.role]
    number = f"{spot.rank}  " if spot.rank else ""
    style = {"background": fill, "border": border, "highlight": {"background": fill, "border": "#1f2933"}}
    style["hover"] = {"background": "#ffffff", "border": border}
    about = [
        spot.chunk.qualname,
        spot.chunk.location,
        _shortened(spot.chunk.signature.splitlines()[0]) if spot.chunk.signature else "",
    ]
    return {
        "label": number + label,
        "title": "\n".join(part for part in [*about, ROLES[spot.role][0]] if part),
        "shape": "box",
        "color": style,
        "borderWidth": 2 if spot.rank else 1,
        "shapeProperties": {"borderRadius": radius, "borderDashes": [5, 3] if spot.role == "reached" else False},
        "x": spot.x,
        "y": spot.y,
        "physics": False,
    }


def _shortened(text: str) -> str:
    return text if len(text) <= TOOLTIP_LENGTH else text[: TOOLTIP_LENGTH - 1] + "…"


def _labels(chunks: Sequence[Chunk]) -> dict[str, str]:
    """A label for each chunk: the dotted name where it fits, else its last part; alike ones with class, file or folder.

    What is longer is cut in the middle, later where two would be cut to the same.
    """
    names = {c.id: _short(c) for c in chunks}
    count = Counter(names.values())
    names |= {c.id: c.qualname for c in chunks if count[names[c.id]] > 1 and c.kind != "module"}
    told = tell_apart(names)
    seen = Counter(_cut(name) for name in told.values())
    return {i: _cut(name, NAME_LENGTH if seen[_cut(name)] == 1 else 2 * NAME_LENGTH) for i, name in told.items()}


def _short(chunk: Chunk) -> str:
    if chunk.kind == "module":
        return chunk.path.rsplit("/", 1)[-1]
    return chunk.qualname if len(chunk.qualname) <= NAME_LENGTH else chunk.name


def _cut(name: str, limit: int = NAME_LENGTH) -> str:
    half = limit // 2
    return name if len(name) <= limit else f"{name[:half]}…{name[-half:]}"


def _edge(line: Line, labels: bool, names: tuple[str, str]) -> dict[str, Any]:
    colour = RELATION_COLOURS.get(line.relation, "#888888")
    look = {
        "title": f"{names[0]} {line.relation} {names[1]}, line {line.line}\n"
        f"confidence {line.confidence:.2f}: {line.reason}",
        "color": {"color": colour, "highlight": "#1f2933", "hover": "#1f2933"},
        "width": 1 + line.confidence,
        "dashes": line.confidence < SURE,
        "arrows": {"to": {"enabled": True, "scaleFactor": 0.6}},
    }
    if labels:
        look["label"] = f"{line.confidence:.2f}"
        look["font"] = {
            "size": 12,
            "color": "#6b7785",
            "strokeWidth": 3,
            "strokeColor": "#ffffff",
            "align": "horizontal",
        }
    return look


def _bend(line: Line, column: Mapping[str, float]) -> dict[str, Any]:
    """An edge within a column goes round the boxes between its ends: `graph.js` moves its middle past the widest."""
    if column[line.source] != column[line.target] or line.source == line.target:
        return {}
    return {"smooth": {"enabled": True, "type": "dynamic"}}


def payload(view: Neighbourhood, *, edge_labels: bool = False) -> dict[str, Any]:
    """What the widget draws: nodes and edges of the pyvis Network, options, legend, a note on what is left out."""
    net = network(view, edge_labels=edge_labels)
    options = json.loads(net.options.to_json()) | OPTIONS
    return {
        "nodes": net.nodes,
        "edges": net.edges,
        "options": options,
        "legend": _legend(view, edge_labels),
        "note": _note(view),
    }


def _legend(view: Neighbourhood, numbers: bool) -> list[dict[str, Any]]:
    present = {spot.role for spot in view.spots}
    entries: list[dict[str, Any]] = [
        {"text": text, "colour": fill, "edge": edge, "radius": min(radius, 6), "border": 2 if not radius else 1,
         "dashed": role == "reached"}
        for role, (text, fill, edge, radius) in ROLES.items()
        if role in present
    ]  # fmt: skip
    for relation, colour in RELATION_COLOURS.items():
        if any(line.relation == relation for line in view.lines):
            entries.append({"text": f"{relation} →", "colour": colour, "line": True})
    if any(line.confidence < SURE for line in view.lines):
        entries.append({"text": f"confidence below {SURE}", "colour": "#6b7785", "line": True, "dashed": True})
    if numbers and view.lines:
        entries.append({"text": "on an arrow: confidence that it is right, at most 1", "number": "0.90"})
    return entries


def _note(view: Neighbourhood) -> str:
    hidden = []
    if view.hidden_callers:
        hidden.append(f"{view.hidden_callers} more on the left")
    if view.hidden_callees:
        hidden.append(f"{view.hidden_callees} more on the right")
    left_out = f"Not drawn: {', '.join(hidden)}. " if hidden else ""
    return f"{left_out}Click a box for its source; rest on a box or an arrow for details."


@lru_cache(maxsize=1)
def _script() -> str:
    """The vis-network that pyvis ships, made a module of its own, and our few lines."""
    library = (files("pyvis") / "lib" / "vis-9.1.2" / "vis-network.min.js").read_text(encoding="utf-8")
    isolated = "const define=undefined, exports=undefined, module=undefined;\n"
    own = (files("codekb.show") / "static" / "graph.js").read_text(encoding="utf-8")
    return (
        isolated
        + library.replace("(this,(function", "(globalThis,(function", 1)
        + "\nconst vis = globalThis.vis;\n"
        + own
    )


class GraphView(anywidget.AnyWidget):
    """Draws a payload; `selected` is the id to highlight, `clicked` the last id clicked with a running number.

    `busy` says over the picture what is being waited for.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    payload = traitlets.Dict().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    clicked = traitlets.List(default_value=["", 0]).tag(sync=True)
    busy = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(430).tag(sync=True)

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return _script()

    def __repr__(self) -> str:
        nodes, edges = (len(self.payload.get(part, ())) for part in ("nodes", "edges"))
        return f"GraphView({counted(nodes, 'chunk')}, {counted(edges, 'edge')})"
