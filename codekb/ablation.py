"""The arms of the ablation, where their answers stand, and the kept results. Running it is in `benchmarks`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codekb.evaluation import bootstrap, kept_tokens
from codekb.expansion import TYPED, add_evidence, edge_weights, expand, one_hop, related, reserve
from codekb.hybrid import Options, rank
from codekb.knowledge_base import KnowledgeBase
from codekb.limits import Limits
from codekb.priors import NAMES
from codekb.propagation import Spread, blend_vectors
from codekb.questions import Question
from codekb.ranking import Ranking
from codekb.table import TRUST, Table
from codekb.vectors import VectorIndex

Array = NDArray[np.float64]
Arm = Callable[[str], Ranking]
Place = tuple[int | None, int]
"""Rank of an answer (1-based, None beyond the depth) and the tokens of everything up to it."""

DEPTH = 50
"""How deep each arm's ranking goes: five screens of results."""

BESIDE = 10
"""After so many hits of the search the arm `related beside` goes on with graph neighbours."""

SCORED = 200
"""Hits whose search scores the related code is ordered by, as deep as `KnowledgeBase.search` keeps them."""

CALLS_ONLY = Limits(hops=2, relations=("calls",), direction="both", kinds=("function",))
FUNCTIONS = replace(TYPED, kinds=("function",))
"""The typed walk, returning functions only: what questions ask for, so that every arm hands over the same kind."""

ADD_ONE = ("dense", "+ header", "+ keyword", "+ priors", "+ graph", "+ edge weights", "+ cue words")
"""Each arm is the one before with one component more; the last is called full."""

FULL = ADD_ONE[-1]
LEAVE_OUT = ("− dense", "− header", "− keyword", "− priors", "− edge weights", "− graph")
"""Each arm is the full one without one component."""

DEFAULT = "neighbours"
"""The default of `KnowledgeBase.search`: the search with every prior, also the one that reads structure."""

OTHER_WAYS = (
    DEFAULT, "one hop, re-ranked", "reserved slots", "propagation", "lines in vectors", "lines in words",
    "blended vectors", "related beside",
)  # fmt: skip
"""Other ways of using structure, each on the search with priors (`+ priors`)."""

BASE = "+ priors"
PLAIN = tuple(name for name in NAMES if name != "neighbours")
"""The priors of every arm but `DEFAULT`: those that know nothing of calls and classes."""


def arms(kb: KnowledgeBase) -> dict[str, Arm]:
    """Every arm by name, each `question -> Ranking` of at most `DEPTH` functions; indexes are shared and kept."""
    graph = kb.graph
    plain, spread = edge_weights(), Spread(graph)
    blended = VectorIndex(
        kb.corpus,
        kb.encoder,
        matrix=blend_vectors(kb.vectors().matrix, [c.id for c in kb.corpus.functions], graph),
    )

    def base(query: str, **switches: object) -> Ranking:
        return kb.search(query, DEPTH, graph=None, **{"priors": PLAIN, **switches})  # type: ignore[arg-type]

    def walked(query: str, *, weights: Mapping[str, float] | None, **switches: object) -> Ranking:
        found = base(query, **switches)
        limits = CALLS_ONLY if weights is None else FUNCTIONS
        return add_evidence(found, expand(graph, found[:BESIDE], limits, weights=weights))

    def full(query: str, **switches: object) -> Ranking:
        return walked(query, weights=edge_weights(query), **switches)

    def slots(query: str) -> Ranking:
        found = base(query)
        return reserve(found, expand(graph, found[:BESIDE], FUNCTIONS, weights=plain))

    def beside(query: str) -> Ranking:
        deep = kb.search(query, SCORED, graph=None, priors=PLAIN)
        first = deep[:BESIDE]
        return Ranking([*first, *related(graph, first, DEPTH, limits=FUNCTIONS, scores=deep)], query=query)

    def mixed(query: str, text: str, words: str) -> Ranking:
        dense, keyword = (kb.vectors(text) if text else blended).scores, kb.keyword(words).scores
        return rank(query, kb.facts, dense=dense, keyword=keyword, k=DEPTH, options=Options(priors=PLAIN))

    made: dict[str, Arm] = {
        "dense": lambda q: base(q, method="dense", text="body", priors=False),
        "+ header": lambda q: base(q, method="dense", priors=False),
        "+ keyword": lambda q: base(q, priors=False),
        "+ priors": base,
        "+ graph": lambda q: walked(q, weights=None),
        "+ edge weights": lambda q: walked(q, weights=plain),
        "+ cue words": full,
        "− dense": lambda q: full(q, method="keyword"),
        "− header": lambda q: full(q, text="body"),
        "− keyword": lambda q: full(q, method="dense"),
        "− priors": lambda q: full(q, priors=False),
        "− edge weights": lambda q: walked(q, weights=None),
        "− graph": base,
        "one hop, re-ranked": lambda q: one_hop(graph, base(q), limit=DEPTH),
        "reserved slots": slots,
        "propagation": lambda q: spread.rank(base(q)),
        "lines in vectors": lambda q: mixed(q, "structure", "enriched"),
        "lines in words": lambda q: mixed(q, "enriched", "structure"),
        "blended vectors": lambda q: mixed(q, "", "enriched"),
        DEFAULT: arms_without_graph(kb)[DEFAULT],
        "related beside": beside,
    }
    return {name: _cut(arm) for name, arm in made.items()}


def arms_without_graph(kb: KnowledgeBase) -> dict[str, Arm]:
    """The arms that tell what the default is worth: hybrid alone, with the priors but `neighbours`, with all."""
    return {
        "+ keyword": lambda query: kb.search(query, DEPTH, priors=False),
        BASE: lambda query: kb.search(query, DEPTH, priors=PLAIN),
        DEFAULT: lambda query: kb.search(query, DEPTH),
    }


def _cut(arm: Arm) -> Arm:
    return lambda query: Ranking(arm(query).hits[:DEPTH], query=query)


def places(ranking: Ranking, answers: Iterable[str]) -> list[Place]:
    """Where each answer stands: its rank, and the tokens of everything up to and including it."""
    spent, tokens = [], 0
    for hit in ranking:
        tokens += kept_tokens(hit.chunk.code)
        spent.append(tokens)
    ranks = [ranking.rank(answer) for answer in answers]
    return [(rank, spent[rank - 1] if rank else tokens) for rank in ranks]


def _share(found: list[bool]) -> float:
    """The mean of a few truth values; numpy would take longer to look at the list."""
    return sum(found) / len(found) if found else float("nan")


@dataclass(frozen=True, slots=True)
class Traced:
    """One arm on a set of questions: a list of answer places per question, and the tokens of its first ten hits."""

    places: list[list[Place]]
    tokens: list[int]

    def recall(self, k: int = 10) -> Array:
        """Per question, the share of answers among the first `k` hits."""
        return np.array([_share([rank is not None and rank <= k for rank, _ in p]) for p in self.places])

    def recall_within(self, budget: int) -> Array:
        """Per question, the share of answers among the first hits that fit into `budget` tokens together."""
        return np.array([_share([rank is not None and cost <= budget for rank, cost in p]) for p in self.places])

    def ndcg(self, k: int = 10) -> Array:
        """Per question, the gain 1 / log₂(1 + rank) of its answers within `k`, over the best that can be had."""
        best = 1.0 / np.log2(1.0 + np.arange(1, k + 1))
        gains = [sum(best[rank - 1] for rank, _ in p if rank and rank <= k) for p in self.places]
        return np.array([gain / best[: len(p)].sum() if p else 0.0 for gain, p in zip(gains, self.places, strict=True)])

    def mrr(self, k: int = 10) -> Array:
        """Per question, 1 / rank of its first answer within `k`, else 0."""
        first = [min((rank for rank, _ in p if rank and rank <= k), default=0) for p in self.places]
        return np.array([1.0 / rank if rank else 0.0 for rank in first])


@dataclass(frozen=True, slots=True)
class Kept:
    """The results of one corpus: `arms` by name, questions in the order of `ids`; `about` says how they were made."""

    corpus: str
    about: Mapping[str, object]
    ids: list[str]
    arms: dict[str, Traced]

    def __len__(self) -> int:
        return len(self.ids)


def trace(search: Arm, questions: Sequence[Question]) -> Traced:
    """Run one arm on every question."""
    rankings = [search(question.text) for question in questions]
    return Traced(
        [places(r, q.answers) for r, q in zip(rankings, questions, strict=True)],
        [sum(kept_tokens(hit.chunk.code) for hit in r[:10]) for r in rankings],
    )


def joined(parts: Sequence[Mapping[str, Traced]]) -> dict[str, Traced]:
    """Arms measured on several trees of one repository as one, questions one after another."""
    return {
        name: Traced([p for part in parts for p in part[name].places], [t for part in parts for t in part[name].tokens])
        for name in parts[0]
    }


def save_results(path: str | os.PathLike[str], kept: Kept) -> None:
    """Write results as JSON: question ids, and for each arm [rank, tokens] per answer. No code, no question text."""
    arms = {name: {"places": t.places, "tokens": t.tokens} for name, t in kept.arms.items()}
    lines = [f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(arm)}" for name, arm in arms.items()]
    head = {"corpus": kept.corpus, **kept.about, "ids": kept.ids}
    text = json.dumps(head, ensure_ascii=False)[:-1] + ', "arms": {\n' + ",\n".join(lines) + "\n}}\n"
    Path(path).write_text(text, encoding="utf-8")


def load_results(path: str | os.PathLike[str]) -> Kept:
    """Read what `save_results` wrote."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    arms = {
        name: Traced([[(rank, cost) for rank, cost in p] for p in arm["places"]], list(arm["tokens"]))
        for name, arm in data.pop("arms").items()
    }
    return Kept(data.pop("corpus"), {k: v for k, v in data.items() if k != "ids"}, data["ids"], arms)


def difference(values: Array, base: Array) -> tuple[float, float, float]:
    """Mean paired difference and its 95 % bootstrap interval."""
    low, high = bootstrap(values - base)
    return float((values - base).mean()), low, high


def ablation_table(kept: Kept, names: Collection[str], base: str, *, budget: int = 4000, caption: str = "") -> Table:
    """One row an arm: R@10, MRR@10, recall within a token budget, its paired difference to `base`, and the cost."""
    first = kept.arms[base].recall_within(budget)
    rows = []
    for name in names:
        arm = kept.arms[name]
        within = arm.recall_within(budget)
        delta = "" if name == base else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*difference(within, first))
        scores = [float(arm.recall().mean()), float(arm.mrr().mean()), float(within.mean())]
        rows.append([name, *scores, delta, f"{np.mean(arm.tokens):.0f}"])
    columns = ["arm", "R@10", "MRR@10", f"R in {budget} tokens", f"Δ R in {budget} tokens, to {base}", "tokens of 10"]
    note = f"n = {len(kept)} questions; [ ] is the paired 95 % bootstrap interval."
    return Table(columns, rows, caption=caption or kept.corpus, notes=[note, TRUST])
