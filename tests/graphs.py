"""Small graphs for the tests of the walks: built by hand, without a parser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx

from codekb.chunks import Chunk
from codekb.ranking import Hit, Ranking


def chunk(chunk_id: str, *, kind: str | None = None, code: str = "pass", line: int = 1, doc: str = "") -> Chunk:
    path, _, qualname = chunk_id.partition("::")
    kind = kind or ("function" if qualname else "module")
    name = qualname.rsplit(".", 1)[-1] or path
    language = "go" if path.endswith(".go") else "python"
    return Chunk(
        id=chunk_id,
        kind=kind,
        name=name,
        qualname=qualname or path,
        namespace=path.rpartition("/")[0],
        path=path,
        start_line=line,
        end_line=line + code.count("\n"),
        language=language,
        signature=f"def {name}()",
        doc=doc,
        code=code,
    )


def graph_of(
    edges: Iterable[Sequence[object]], *, chunks: Iterable[Chunk] = (), confidence: float = 1.0
) -> nx.MultiDiGraph:
    """Edges are (source, target), (source, target, relation) or (source, target, relation, confidence)."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((c.id, {"chunk": c}) for c in chunks)
    for number, edge in enumerate(edges, start=1):
        source, target = str(edge[0]), str(edge[1])
        relation = str(edge[2]) if len(edge) > 2 else "calls"
        sure = float(str(edge[3])) if len(edge) > 3 else confidence
        for node in (source, target):
            if node not in graph:
                graph.add_node(node, chunk=chunk(node))
        data = {"relation": relation, "confidence": sure, "reason": "by hand", "line": number, "lines": [number]}
        graph.add_edge(source, target, key=relation, **data)
    return graph


def ranking_of(graph: nx.MultiDiGraph, scores: dict[str, float], *, query: str = "") -> Ranking:
    hits = [Hit(graph.nodes[i]["chunk"], s, {"dense": s}) for i, s in scores.items()]
    return Ranking(sorted(hits, key=lambda h: (-h.score, h.chunk.id)), query=query)
