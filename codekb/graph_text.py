"""The graph as text: lines naming a chunk's module, callers and callees before its code. No walk, no vectors."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from codekb.chunks import Chunk
from codekb.limits import module_of
from codekb.text import enrich
from codekb.walk import neighbours

COMMENT = {"go": "//"}
NONE = "(none)"


@dataclass(frozen=True, slots=True)
class Lines:
    """Which lines are put before the code, and how many names each may hold; 0 leaves a line out.

    The caps keep a hub's hundreds of callers from drowning its own words. Names beyond a cap are left out
    (callees: later in the code; callers: later by id), not counted.
    """

    module: bool = True
    called_by: int = 6
    calls: int = 10


def structure_lines(chunk: Chunk, graph: nx.MultiDiGraph, lines: Lines | None = None) -> list[str]:
    """`# module: …`, `# called_by: …`, `# calls: …` as a list; `(none)` where there is nobody. In Go with `//`.

    A chunk that the graph does not hold has neither callers nor callees.
    """
    lines = lines or Lines()
    mark = COMMENT.get(chunk.language, "#")
    known = chunk.id in graph
    out = [f"{mark} module: {_module_name(chunk)}"] if lines.module else []
    if lines.called_by:
        callers = sorted(neighbours(graph, chunk.id, reverse=True)) if known else []
        out.append(f"{mark} called_by: {_names(callers, lines.called_by)}")
    if lines.calls:
        callees = list(neighbours(graph, chunk.id)) if known else []
        out.append(f"{mark} calls: {_names(callees, lines.calls)}")
    return out


def structure(chunk: Chunk, graph: nx.MultiDiGraph, lines: Lines | None = None) -> str:
    """The enriched text of a chunk with its structure lines between the header and the code."""
    header, _, code = enrich(chunk).partition("\n\n")
    return "\n".join([header, *structure_lines(chunk, graph, lines), "", code])


def _module_name(chunk: Chunk) -> str:
    name = module_of(chunk)
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") or "."


def _names(ids: list[str], cap: int) -> str:
    names = dict.fromkeys(node.rsplit("::", 1)[-1] for node in ids)
    return ", ".join(list(names)[:cap]) or NONE
