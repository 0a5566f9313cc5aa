"""Saving, opening and updating a knowledge base: between the facade and `store.disk`. No file formats here."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from codekb.parsing.repo import Progress
from codekb.store import disk
from codekb.store.disk import Changes, IndexState
from codekb.store.errors import DamagedError, StoreError
from codekb.vectors import VectorIndex

if TYPE_CHECKING:
    import networkx as nx

    from codekb.knowledge_base import KnowledgeBase


def save(kb: KnowledgeBase, path: str | os.PathLike[str]) -> None:
    """Write what the knowledge base has built so far: corpus, vectors of every view, graphs."""
    from codekb.graph import graph_content  # here and below: the resolvers are large, not every index has a graph

    graphs = {name: json.dumps(graph_content(g), separators=(",", ":")).encode() for name, g in kb._graphs.items()}
    state = IndexState(
        corpus=kb.corpus,
        encoder=kb.encoder.name,
        dimension=kb.encoder.dimension,
        vectors={view: index.matrix for view, index in kb._vectors.items()},
        graphs={**kb._stored_graphs, **graphs},
        options=_plain_options(kb._parse_options),
        parser=kb._parser,
    )
    disk.save(state, path)
    kb._saved_at = os.path.abspath(path)


def fill(kb: KnowledgeBase, state: IndexState, path: str | os.PathLike[str]) -> None:
    """Give a knowledge base made from the state's corpus everything else that was saved."""
    encoder = kb.encoder
    if (encoder.name, encoder.dimension) != (state.encoder, state.dimension):
        raise StoreError(
            f"{os.fspath(path)} holds vectors of {state.encoder!r} ({state.dimension} dimensions), which "
            f"do not compare with those of {encoder.name!r} ({encoder.dimension}): open it with that encoder, or "
            f"build it again: KnowledgeBase.build({state.corpus.root!r}, encoder=...).save({os.fspath(path)!r})"
        )
    for view, matrix in state.vectors.items():
        kb._vectors[view] = VectorIndex(kb.corpus, encoder, kb.view(view), matrix=matrix)
    kb._stored_graphs = dict(state.graphs)
    kb._parse_options = dict(state.options)
    kb._parser = state.parser
    kb._saved_at = os.path.abspath(path)


def stored_graph(kb: KnowledgeBase, name: str) -> nx.MultiDiGraph | None:
    """A saved graph, decoded when it is first asked for; None where none was saved."""
    raw = kb._stored_graphs.get(name)
    if raw is None:
        return None
    from codekb.graph import graph_from_content

    try:
        return graph_from_content(json.loads(raw), kb.corpus, f"graph {name}")
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise DamagedError(f"the saved graph {name!r} is damaged ({error!s:.120}); build the index again") from None


def update(kb: KnowledgeBase, root: str | os.PathLike[str] | None, progress: Progress | None) -> Changes:
    """Bring the knowledge base to the repository's present state; where it was saved or opened, save it there.

    Only files whose bytes changed are parsed, only functions whose text changed are embedded; words and graphs
    are made again from the parts. Nothing of the old state is touched before the new one is complete.
    """
    corpus, changes = disk.refreshed(kb.corpus, kb._parser, root or kb.corpus.root, kb._parse_options, progress)
    fresh = type(kb)(corpus, kb.encoder)
    encoded = kept = 0
    views = {view: kb._texts(view) for view in kb._vectors}
    for view in views:
        matrix, new = disk.carried_over(
            dict(zip(views[view], kb._vectors[view].matrix, strict=True)),
            fresh._texts(view),
            kb.encoder.dimension,
            lambda texts: kb.encoder.encode(texts),
        )
        fresh._vectors[view] = VectorIndex(corpus, kb.encoder, fresh.view(view), matrix=matrix)
        encoded, kept = encoded + new, kept + len(matrix) - new
    for name in {*kb._graphs, *kb._stored_graphs}:
        fresh.graph_by(name)
    fresh._parse_options = kb._parse_options
    if kb._saved_at is not None:
        save(fresh, kb._saved_at)
    kb.__dict__.update(fresh.__dict__)
    return Changes(changes.added, changes.changed, changes.removed, encoded, kept)


def _plain_options(options: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}
