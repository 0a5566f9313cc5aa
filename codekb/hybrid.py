"""The default search in arrays: keyword and dense scores joined, priors applied, the best made into
hits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from codekb.fusion import RRF_K, reciprocal_ranks
from codekb.lexical import Scores, top
from codekb.priors import PRIORS, CodeFacts, QueryProfile, analyse, apply_priors
from codekb.ranking import Hit, Ranking, wanted

Scorer = Callable[[str], NDArray[Any]]
"""A text → one score per function, in `corpus.functions` order: `KeywordIndex.scores`,
`VectorIndex.scores`."""

FUSIONS = ("scores", "rrf")
DEPTH = 200
"""How deep each list goes in RRF."""


TAIL = 1e-3
"""The breadth on which functions below the middle keep their order."""

MIDDLE_AT_MOST = 0.9
"""Where most functions score like the best one the middle is no baseline; it is held below this share of
the range."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much dense and keyword scores count, and how much the first line counts again. Dense + keyword
    is 1."""

    dense: float
    first_line: float = 0.0

    @property
    def keyword(self) -> float:
        return 1.0 - self.dense


BY_KIND: Mapping[str, Weights] = {
    "symbol": Weights(dense=0.3),
    "sentence": Weights(dense=0.6),
    "report": Weights(dense=0.2, first_line=0.5),
}
"""Chosen on the development packages (`benchmarks/tuning`)."""


@dataclass(frozen=True, slots=True)
class Options:
    """The switches of the hybrid search.

    `fusion`: `scores` (each list's scores scaled to a best of 1) or `rrf`. `kinds` weighs by the kind of
    question, `first_line` lets a report's first line count again; `priors` is True, False or names.
    `by_kind` and `prior_weights` override the default weights.
    """

    fusion: Literal["scores", "rrf"] = "scores"
    kinds: bool = True
    first_line: bool = True
    priors: bool | Collection[str] = True
    by_kind: Mapping[str, Weights] | None = None
    prior_weights: Mapping[str, float] | None = None

    def weights(self, profile: QueryProfile) -> Weights:
        """The weights for this question."""
        table = self.by_kind or BY_KIND
        return table[profile.kind if self.kinds else "sentence"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A question scored against every function, before hits are made of it: arrays in `corpus.functions` order.

    `shares` holds what each method and prior adds, in the order applied; `mask` says which functions may be returned.
    """

    query: str
    facts: CodeFacts
    scores: Scores
    shares: Mapping[str, Scores]
    mask: NDArray[np.bool_] | None = None
    title: str = "hybrid"

    def ranking(self, k: int) -> Ranking:
        """The best `k` functions; ties by id ascending."""
        k = wanted(k)
        hits = [self.hit(at) for at in top(self.scores, k, self.mask, self.facts.functions)]
        return Ranking(hits, query=self.query, title=self.title)

    def hit(self, at: int) -> Hit:
        """The function at this position as a hit, whatever its rank; its parts sum to its score."""
        parts = {name: float(share[at]) for name, share in self.shares.items() if share[at] != 0}
        return Hit(self.facts.functions[at], float(sum(parts.values())), parts, why=_why(parts))

    def get(self, chunk_id: str) -> Hit | None:
        """The hit of a chunk id; None for what is no function or lies outside the mask."""
        at = self.facts.position.get(chunk_id)
        return None if at is None or (self.mask is not None and not self.mask[at]) else self.hit(at)


def rank(query: str, facts: CodeFacts, *, k: int = 10, **how: Any) -> Ranking:
    """The best `k` functions for a question: `scored` with the same arguments, as a ranking."""
    return scored(query, facts, **how).ranking(k)


def scored(
    query: str,
    facts: CodeFacts,
    *,
    dense: Scorer | None = None,
    keyword: Scorer | None = None,
    mask: NDArray[np.bool_] | None = None,
    options: Options | None = None,
) -> Scored:
    """Dense and keyword scores (either may be left out) joined, and the priors applied.

    `mask` says which functions may be returned (a namespace). Shares stand in order of origin: dense, keyword, first
    line, then each prior. Raises ValueError without any scorer.
    """
    if dense is None and keyword is None:
        raise ValueError("give a dense or a keyword scorer, or both: without one there is nothing to rank")
    scores, shares = score(analyse(query), facts, dense=dense, keyword=keyword, mask=mask, options=options)
    title = "hybrid" if dense and keyword else "dense" if dense else "keyword"
    return Scored(query, facts, scores, shares, mask, title)


def score(
    profile: QueryProfile,
    facts: CodeFacts,
    *,
    dense: Scorer | None = None,
    keyword: Scorer | None = None,
    mask: NDArray[np.bool_] | None = None,
    options: Options | None = None,
) -> tuple[Scores, dict[str, Scores]]:
    """One score per function and the shares it is made of, in the order applied; functions outside the
    mask get 0."""
    options = options or Options()
    weights = options.weights(profile)
    shares: dict[str, Scores] = {}
    only = dense is None or keyword is None
    for name, scorer, weight in (("dense", dense, weights.dense), ("keyword", keyword, weights.keyword)):
        if scorer is not None:
            shares[name] = (1.0 if only else weight) * _scaled(scorer(profile.text), facts, mask, options)
    if options.first_line and weights.first_line and profile.first_line != profile.text:
        again = [
            (1.0 if only else weight) * _scaled(scorer(profile.first_line), facts, mask, options)
            for scorer, weight in ((dense, weights.dense), (keyword, weights.keyword))
            if scorer is not None
        ]
        shares["first line"] = weights.first_line * np.sum(again, axis=0)
    total = np.sum(list(shares.values()), axis=0)
    total, prior_shares = apply_priors(profile, facts, total, options.priors, weights=options.prior_weights)
    return total, shares | prior_shares


def _scaled(raw: NDArray[Any], facts: CodeFacts, mask: NDArray[np.bool_] | None, options: Options) -> Scores:
    """A scorer's scores with a best of 1 and the corpus's middle function near 0; nothing outside the mask.

    Below the middle the order is kept on a hair's breadth, so that a small corpus or namespace still fills
    `k`.
    """
    scores = np.asarray(raw, dtype=np.float64)
    middle = float(np.median(scores)) if scores.size else 0.0
    low = float(scores.min(initial=0.0))
    if mask is not None:
        scores = np.where(mask, scores, low)
    if options.fusion == "rrf":
        return reciprocal_ranks(scores, facts.order, depth=DEPTH) * (RRF_K + 1)
    high = float(scores.max(initial=0.0))
    if high <= low:
        return np.zeros(len(scores))
    middle = min(middle, low + MIDDLE_AT_MOST * (high - low))
    tail = TAIL * (scores - low) / (high - low)
    return (1 - TAIL) * np.maximum(scores - middle, 0.0) / (high - middle) + tail


def _why(parts: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(prior.says for prior in PRIORS if prior.name in parts)
