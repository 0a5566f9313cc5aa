"""The facade: one repository indexed once, searched with every technique as a switch. The techniques live elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, cast

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from codekb import saving
from codekb.chunks import Chunk, Corpus
from codekb.collector import paused
from codekb.encoders.base import Encoder, Vectors
from codekb.expansion import ONE_HOP, TYPED, edge_weights, expand, reserve
from codekb.expansion import related as related_hits
from codekb.graph_text import structure
from codekb.hybrid import FUSIONS, Options, Scored, scored
from codekb.lexical import SCORERS, KeywordIndex, Scorer
from codekb.lexical import inside as inside_namespace
from codekb.limits import Limits
from codekb.parsing.repo import Progress, parse_repo
from codekb.priors import CodeFacts
from codekb.propagation import Spread
from codekb.ranking import Hit, Ranking, wanted
from codekb.store import disk
from codekb.store.disk import Changes
from codekb.text import body, enrich
from codekb.vectors import VectorIndex, steer

METHODS = ("dense", "keyword", "hybrid")
VIEWS = ("body", "enriched", "structure")
GRAPHS = ("one_hop", "typed", "propagate")

SEEDS = 3
"""How many of the best hits a walk starts from, as in the tutorial."""

GRAPH_DEPTH = 200
"""How deep the ranking goes whose scores a walk reuses."""


class KnowledgeBase:
    """A repository, its functions as vectors and words, its call graph: each part built on first use and kept."""

    def __init__(self, corpus: Corpus, encoder: Encoder | None = None) -> None:
        self.corpus = corpus
        self.encoder = encoder or _default_encoder()
        self._vectors: dict[str, VectorIndex] = {}
        self._keyword: dict[tuple[str, str], KeywordIndex] = {}
        self._graphs: dict[str, nx.MultiDiGraph] = {}
        self._masks: dict[tuple[str, bool], NDArray[np.bool_] | None] = {}
        self._facts: CodeFacts | None = None
        self._spread: Spread | None = None
        self._parse_options: dict[str, Any] = {}
        self._parser = disk.parser_fingerprint()
        self._stored_graphs: dict[str, bytes] = {}
        self._saved_at: str | None = None

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
        kb._parse_options = parse_options
        kb._build_default_view(progress)
        return kb

    def _build_default_view(self, progress: Progress | None) -> None:
        with paused():
            self._vectors["enriched"] = VectorIndex(self.corpus, self.encoder, enrich, progress=progress)
            self.keyword()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything built so far in one folder: all or nothing, under a lock, readers go on."""
        saving.save(self, path)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], encoder: Encoder | None = None, *, verify: bool = True
    ) -> KnowledgeBase:
        """A saved knowledge base; needs the encoder it was made with. Reads nothing outside the folder, runs nothing.

        Raises `StoreError` (a ValueError) where the folder holds no such index, a damaged one (checksums; sizes
        alone with `verify=False`), or vectors of another model.
        """
        state = disk.open(path, verify=verify)
        kb = cls(state.corpus, encoder)
        saving.fill(kb, state, path)
        return kb

    def update(self, root: str | os.PathLike[str] | None = None, *, progress: Progress | None = None) -> Changes:
        """Take in what changed in the repository since (`root`: where it is now); equal to a fresh build.

        Parses changed files and embeds changed functions only, forgets removed ones, and saves the result where
        this one was opened or saved. The answer lists the paths and counts the vectors.
        """
        return saving.update(self, root, progress)

    def with_encoder(self, encoder: Encoder) -> KnowledgeBase:
        """The same corpus, words and graph with another encoder's vectors."""
        other = KnowledgeBase(self.corpus, encoder)
        other._keyword, other._graphs, other._facts = self._keyword, self._graphs, self._facts
        return other

    @property
    def graph(self) -> nx.MultiDiGraph:
        """The call graph by the default resolver; nodes are chunk ids with the chunk as attribute."""
        return self.graph_by("flow")

    def graph_by(self, resolve: str) -> nx.MultiDiGraph:
        """The call graph by `name`, `import`, `type` or `flow`."""
        if resolve not in self._graphs and (stored := saving.stored_graph(self, resolve)) is not None:
            self._graphs[resolve] = stored
        if resolve not in self._graphs:
            from codekb.graph import build_graph  # the resolvers are large, and not every search needs a graph

            self._graphs[resolve] = build_graph(self.corpus, resolve=resolve)
        return self._graphs[resolve]

    def view(self, text: str) -> Callable[[Chunk], str]:
        """The function that gives a chunk's text: `body`, `enriched` or `structure`."""
        if text == "body":
            return body
        if text == "enriched":
            return enrich
        if text == "structure":
            return lambda chunk: structure(chunk, self.graph)
        raise ValueError(f"no view {text!r} of a chunk's text; there are {', '.join(VIEWS)}")

    def _texts(self, text: str) -> list[str]:
        """The texts of all functions in one view, in function order."""
        view = self.view(text)
        return [view(chunk) for chunk in self.corpus.functions]

    def vectors(self, text: str = "enriched") -> VectorIndex:
        """The dense index over one view of the text."""
        if text not in self._vectors:
            with paused():
                self._vectors[text] = VectorIndex(self.corpus, self.encoder, self.view(text))
        return self._vectors[text]

    def keyword(self, text: str = "enriched", scorer: str = "bm25") -> KeywordIndex:
        """The keyword index over one view of the text."""
        if (text, scorer) not in self._keyword:
            _choice("scorer", scorer, SCORERS)
            with paused():
                self._keyword[text, scorer] = KeywordIndex(self.corpus, cast(Scorer, scorer), self.view(text))
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
        priors: bool | Collection[str] | None = None,
        graph: str | Limits | None = None,
        boost: Sequence[str] = (),
        suppress: Sequence[str] = (),
        strength: float = 0.3,
        include_tests: bool = True,
        related: int = 0,
    ) -> Ranking:
        """The `k` best functions for a question. Every argument switches one technique; the defaults did best.

        `method` is `dense`, `keyword` or `hybrid` (None: `hybrid`, or `dense` where `hybrid` is False). `text` is the
        view that is searched (`body`, `enriched`, `structure`), `scorer` the keyword score (`bm25`, `overlap`),
        `fusion` how lists are joined (`scores`, `rrf`), `namespace` a hard filter on whole path segments.
        `priors` are the code-aware ones: all, none, or by name; None means all for `hybrid` and none for a method
        alone. `graph` walks on from the result (`one_hop`, `typed`, `propagate`, or Limits) over the default graph.
        `boost` and `suppress` steer the dense query with `strength`. `related` asks for that many graph neighbours
        beside the ranking, in its `.related`. Every hit's `parts` sum to its score. Ties go by id.
        Raises ValueError for an unknown choice, with the real ones, and for k < 1; TypeError for a k that is
        no whole number.
        """
        method = _choice("method", method or ("hybrid" if hybrid else "dense"), METHODS)
        if not isinstance(query, str):
            raise TypeError(f"the question is text, got {type(query).__name__}: {query!r}")
        k = wanted(k)
        mask = self._mask(namespace, include_tests)
        priors = (method == "hybrid") if priors is None else priors

        def steered(asked: str) -> Vectors:
            return steer(self.encoder, asked, boost, suppress, strength)

        depth = k if graph is None else max(k, GRAPH_DEPTH)
        if method == "dense" and not priors:
            answer: Ranking | Scored = self.vectors(text).search(steered(query), depth, mask=mask)
        elif method == "keyword" and not priors:
            answer = self.keyword(text, scorer).search(query, depth, mask=mask)
        else:
            answer = scored(
                query,
                self.facts,
                dense=(lambda asked: self.vectors(text).scores(steered(asked))) if method != "keyword" else None,
                keyword=self.keyword(text, scorer).scores if method != "dense" else None,
                mask=mask,
                options=self._options(fusion, priors),
            )

        def inside(hit: Hit) -> bool:
            at = self.facts.position.get(hit.chunk.id)
            return mask is None or (at is not None and bool(mask[at]))

        found = _first(answer, k) if graph is None else self._expanded(answer, graph, k, inside)
        found = Ranking(found.hits, query=query, title=method if graph is None else "expanded")
        return Ranking(found.hits, query=query, title=found.title, related=self._related(found, answer, related))

    @staticmethod
    def _options(fusion: str | None, priors: bool | Collection[str]) -> Options:
        if fusion is None:
            return Options(priors=priors)
        _choice("fusion", fusion, FUSIONS)
        return Options(fusion=cast(Literal["scores", "rrf"], fusion), priors=priors)

    def _mask(self, namespace: str | None, include_tests: bool) -> NDArray[np.bool_] | None:
        """Which functions may be returned, kept for the next question; None where all may."""
        key = ((namespace or "").strip("/"), include_tests)
        if key not in self._masks:
            mask = inside_namespace(self.corpus, namespace)
            if not include_tests:
                code = ~self.facts.side["tests"]
                mask = code if mask is None else mask & code
            self._masks[key] = mask
        return self._masks[key]

    @property
    def facts(self) -> CodeFacts:
        """What the priors know of the corpus."""
        if self._facts is None:
            with paused():
                self._facts = CodeFacts(self.corpus)
        return self._facts

    def _expanded(
        self, answer: Ranking | Scored, graph: str | Limits, k: int, inside: Callable[[Hit], bool]
    ) -> Ranking:
        """At most `k` hits after a walk from the first ones; `inside` says which may be returned."""
        ranking = _first(answer, SEEDS)
        if isinstance(graph, Limits):
            found = expand(self.graph, ranking, graph, scores=answer)
        elif graph == "one_hop":
            found = expand(self.graph, ranking, ONE_HOP, scores=answer)
        elif graph == "typed":
            walked = expand(self.graph, ranking, TYPED, weights=edge_weights(ranking.query))
            found = reserve(_first(answer, GRAPH_DEPTH), Ranking(filter(inside, walked)), k)
        elif graph == "propagate":
            if self._spread is None:
                self._spread = Spread(self.graph)
            found = self._spread.rank(_first(answer, GRAPH_DEPTH))
        else:
            raise ValueError(f"no graph walk {graph!r}; there are {', '.join(GRAPHS)}, or give Limits(...)")
        return Ranking([hit for hit in found if inside(hit)][:k])

    def _related(self, ranking: Ranking, answer: Ranking | Scored, count: int) -> Ranking | None:
        return related_hits(self.graph, ranking, count, scores=answer) if count else None

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.corpus!r}, encoder={self.encoder.name!r})"


def _default_encoder() -> Encoder:
    from codekb.encoders.static import StaticEncoder

    return StaticEncoder()


def _first(answer: Ranking | Scored, k: int) -> Ranking:
    return answer.ranking(k) if isinstance(answer, Scored) else answer[:k]


def _choice(name: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        raise ValueError(f"no {name} {given!r}; there are {', '.join(known)}")
    return given
