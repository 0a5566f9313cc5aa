"""The facade: one repository indexed once, searched with every technique as a switch. The techniques live elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from codekb.chunks import Chunk, Corpus
from codekb.encoders.base import Encoder
from codekb.lexical import KeywordIndex
from codekb.parsing.repo import Progress, parse_repo
from codekb.ranking import Ranking
from codekb.text import body, enrich
from codekb.vectors import VectorIndex, steer

if TYPE_CHECKING:
    import networkx as nx

    from codekb.expansion import Limits

METHODS = ("dense", "keyword", "hybrid")
VIEWS = ("body", "enriched", "structure")


class KnowledgeBase:
    """A repository, its functions as vectors and words, its call graph: each part built on first use and kept."""

    def __init__(self, corpus: Corpus, encoder: Encoder | None = None) -> None:
        self.corpus = corpus
        self.encoder = encoder or _default_encoder()
        self._vectors: dict[str, VectorIndex] = {}
        self._keyword: dict[tuple[str, str], KeywordIndex] = {}
        self._graphs: dict[str, nx.MultiDiGraph] = {}

    @classmethod
    def build(
        cls,
        path: str | os.PathLike[str],
        *,
        encoder: Encoder | None = None,
        progress: Progress | None = None,
        **parse_options: Any,
    ) -> KnowledgeBase:
        """Index the Python and Go files below `path`; no network, no files written, no code run.

        `progress(stage, done, total)` is called along the way; `parse_options` go to `parse_repo`.
        """
        kb = cls(parse_repo(path, progress=progress, **parse_options), encoder)
        kb._build_default_view(progress)
        return kb

    def _build_default_view(self, progress: Progress | None) -> None:
        self._vectors["enriched"] = VectorIndex(self.corpus, self.encoder, enrich, progress=progress)
        self.keyword()

    def with_encoder(self, encoder: Encoder) -> KnowledgeBase:
        """The same corpus, words and graph with another encoder's vectors."""
        other = KnowledgeBase(self.corpus, encoder)
        other._keyword, other._graphs = self._keyword, self._graphs
        return other

    @property
    def graph(self) -> nx.MultiDiGraph:
        """The call graph by the default resolver; nodes are chunk ids with the chunk as attribute."""
        return self.graph_by("flow")

    def graph_by(self, resolve: str) -> nx.MultiDiGraph:
        """The call graph by `name`, `import`, `type` or `flow`."""
        if resolve not in self._graphs:
            from codekb.graph import build_graph

            self._graphs[resolve] = build_graph(self.corpus, resolve=resolve)
        return self._graphs[resolve]

    def view(self, text: str) -> Callable[[Chunk], str]:
        """The function that gives a chunk's text: `body`, `enriched` or `structure`."""
        if text == "body":
            return body
        if text == "enriched":
            return enrich
        if text == "structure":
            from codekb.graph_text import structure

            return lambda chunk: structure(chunk, self.graph)
        raise ValueError(f"no view {text!r} of a chunk's text; there are {', '.join(VIEWS)}")

    def vectors(self, text: str = "enriched") -> VectorIndex:
        """The dense index over one view of the text."""
        if text not in self._vectors:
            self._vectors[text] = VectorIndex(self.corpus, self.encoder, self.view(text))
        return self._vectors[text]

    def keyword(self, text: str = "enriched", scorer: str = "bm25") -> KeywordIndex:
        """The keyword index over one view of the text."""
        if (text, scorer) not in self._keyword:
            self._keyword[text, scorer] = KeywordIndex(self.corpus, scorer=scorer, text=self.view(text))  # type: ignore[arg-type]
        return self._keyword[text, scorer]

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        hybrid: bool = True,
        method: str | None = None,
        text: str = "enriched",
        scorer: str = "bm25",
        fusion: str | None = None,
        namespace: str | None = None,
        priors: bool | Collection[str] = True,
        graph: str | Limits | None = None,
        boost: Sequence[str] = (),
        suppress: Sequence[str] = (),
        strength: float = 0.3,
        include_tests: bool = True,
        related: int = 0,
    ) -> Ranking:
        """The `k` best functions for a question; every argument switches one technique.

        `method` is `dense`, `keyword` or `hybrid` (None: by `hybrid`); `text` the view that is searched; `scorer` and
        `fusion` the keyword score and how the lists are joined; `namespace` a hard filter on whole path segments; `priors` all
        code-aware priors, none, or the named ones; `graph` expands the result (`one_hop`, `typed`, `propagate`, or
        Limits); `boost`, `suppress` and `strength` steer the dense query; `related` asks for that many
        graph neighbours beside the ranking, in `.related`.
        """
        method = method or ("hybrid" if hybrid else "dense")
        if method not in METHODS:
            raise ValueError(f"no method {method!r}; there are {', '.join(METHODS)}")
        vector = steer(self.encoder, query, boost, suppress, strength)
        deep = max(k, 100)
        lists = []
        if method != "keyword":
            lists.append(self.vectors(text).search(vector, deep, namespace))
        if method != "dense":
            lists.append(self.keyword(text, scorer).search(query, deep, namespace=namespace))
        from codekb.fusion import rrf

        ranking = lists[0] if len(lists) == 1 else rrf(*lists)
        found = Ranking(ranking.hits, query=query, title=method)
        if graph == "one_hop":
            from codekb.expansion import one_hop

            return one_hop(self.graph, found, limit=k)
        return found[:k]

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.corpus!r}, encoder={self.encoder.name!r})"


def _default_encoder() -> Encoder:
    from codekb.encoders.static import StaticEncoder

    return StaticEncoder()
