"""The call graph as a networkx MultiDiGraph: build it from a corpus, save it, load it, turn it round. No resolving."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import networkx as nx

from codekb.chunks import Corpus
from codekb.collector import paused
from codekb.resolve import by_flow, by_import, by_name, by_type
from codekb.resolve.edges import Edge, Resolution

LEVELS = ("name", "import", "type", "flow")
"""Resolvers in rising strength; each finds what the one before finds, and is wrong less often than `name`."""
FORMAT = "codekb-graph-1"
_PYTHON: dict[str, Callable[[Corpus], Resolution]] = {
    "name": by_name.resolve, "import": by_import.resolve, "type": by_type.resolve, "flow": by_flow.resolve,
}  # fmt: skip


def build_graph(corpus: Corpus, resolve: str = "flow") -> nx.MultiDiGraph:
    """Nodes are chunk ids with the attribute `chunk`; one edge per (source, target, relation), its key the relation.

    Edges carry `relation`, `confidence` in (0, 1] (the surest of its places), `reason` (of that place), `line` (the
    first place) and `lines` (all, ascending, each once). `graph.graph["external"]` and `["unresolved"]` list (source
    id, dotted name, line) of what leads into libraries and of what no rule resolved: an empty list of callers with
    unresolved references of that name means "unknown", not "none". Raises ValueError for an unknown resolver.
    """
    if resolve not in LEVELS:
        raise ValueError(f"resolve={resolve!r} is no resolver; give one of {', '.join(map(repr, LEVELS))}")
    with paused():
        return _assemble(corpus, _resolve(corpus, resolve), resolve)


def _resolve(corpus: Corpus, level: str) -> list[Resolution]:
    languages = sorted({chunk.language for chunk in corpus})
    done = []
    for language in languages:
        part = corpus if len(languages) == 1 else corpus.where(language=language)
        if language == "python":
            done.append(_PYTHON[level](part))
        elif language == "go":
            from codekb.resolve import go  # here, since a Python repository needs none of it

            done.append(go.resolve(part, level))
    return done


def _assemble(corpus: Corpus, resolutions: Iterable[Resolution], level: str) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph(resolve=level, external=[], unresolved=[])
    graph.add_nodes_from((chunk.id, {"chunk": chunk}) for chunk in corpus)
    merged: dict[tuple[str, str, str], dict[str, Any]] = {}
    for resolution in resolutions:
        for edge in resolution.edges:
            _merge(merged, edge)
        graph.graph["external"] += sorted(set(resolution.external))
        graph.graph["unresolved"] += sorted(set(resolution.unresolved))
    nodes = set(graph)
    for key in sorted(merged):
        source, target, relation = key
        if source not in nodes or target not in nodes:
            raise ValueError(
                f"edge {source!r} -> {target!r} ({relation}) leaves the corpus; resolvers return chunk ids"
            )
        data = merged[key]
        lines = data["lines"]
        if len(lines) > 1:
            data["lines"] = lines = sorted(set(lines))
        data["line"] = lines[0]
        graph.add_edge(source, target, key=relation, **data)
    return graph


def _merge(merged: dict[tuple[str, str, str], dict[str, Any]], edge: Edge) -> None:
    source, target, relation, line, confidence, reason = edge
    key = (source, target, relation)
    data = merged.get(key)
    if data is None:
        merged[key] = {"relation": relation, "confidence": confidence, "reason": reason, "lines": [line]}
        return
    data["lines"].append(line)
    if (confidence, data["reason"]) > (data["confidence"], reason):
        data["confidence"], data["reason"] = confidence, reason


def reverse(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """The same graph with every edge turned round, so that successors are callers: a view, nothing is copied."""
    return graph.reverse(copy=False)


def count_relations(graph: nx.MultiDiGraph) -> dict[str, int]:
    """Edges of each relation, in the order of the contract's list; then `external` and `unresolved` references."""
    counts = Counter(relation for _, _, relation in graph.edges(keys=True))
    return {
        **{name: counts[name] for name in ("calls", "uses", "inherits", "overrides", "imports", "contains")},
        "external": len(graph.graph["external"]),
        "unresolved": len(graph.graph["unresolved"]),
    }


def graph_content(graph: nx.MultiDiGraph) -> dict[str, Any]:
    """The graph as plain data for JSON: ids once, edges by their position. The chunks themselves are not in it."""
    nodes = list(graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    edges = [
        [position[s], position[t], d["relation"], d["confidence"], d["reason"], d["lines"]]
        for s, t, d in graph.edges(data=True)
    ]
    return {"format": FORMAT, **graph.graph, "nodes": nodes, "edges": edges}


def save_graph(graph: nx.MultiDiGraph, path: str | os.PathLike[str]) -> None:
    """Write `graph_content` as JSON."""
    target = Path(path)
    scratch = target.with_name(target.name + ".tmp")
    scratch.write_text(json.dumps(graph_content(graph), ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    os.replace(scratch, target)


def load_graph(path: str | os.PathLike[str], corpus: Corpus | None = None) -> nx.MultiDiGraph:
    """Read what `save_graph` wrote; with the corpus, nodes carry their chunks again.

    Raises ValueError for another file, and for a graph whose ids are not those of the corpus.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{str(path)!r} is no JSON: {error}; build the graph again and save it") from error
    return graph_from_content(content, corpus, str(path))


def graph_from_content(content: Any, corpus: Corpus | None = None, name: str = "the content") -> nx.MultiDiGraph:
    """The graph that `graph_content` gave; `name` stands in errors. See `load_graph`."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{name!r} is no saved graph of format {FORMAT!r}: build the graph again and save it")
    nodes = content["nodes"]
    if corpus is not None and (unknown := [n for n in nodes if n not in corpus]):
        raise ValueError(
            f"{name!r} holds {len(unknown)} ids that the corpus does not have, the first {unknown[0]!r}: "
            "it belongs to another state of the repository; build the graph again"
        )
    lists = {name: [tuple(entry) for entry in content[name]] for name in ("external", "unresolved")}
    graph = nx.MultiDiGraph(resolve=content["resolve"], **lists)
    graph.add_nodes_from((n, {"chunk": corpus[n]} if corpus is not None else {}) for n in nodes)
    for source, target, relation, confidence, reason, lines in content["edges"]:
        graph.add_edge(
            nodes[source], nodes[target], key=relation,
            relation=relation, confidence=confidence, reason=reason, lines=lines, line=lines[0],
        )  # fmt: skip
    return graph
