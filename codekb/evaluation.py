"""How good a search is: metrics per question, intervals, tests, and the table that compares searches. No
questions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codekb.questions import Question
from codekb.ranking import Ranking, wanted
from codekb.table import TRUST, Table
from codekb.text import count_tokens

Search = Callable[..., Ranking]
"""`search(text) -> Ranking`, or `search(text, namespace=…)` for the rows named in `namespaced`."""

Array = NDArray[np.float64]
METRICS = ("hit_at_1", "recall", "mrr", "ndcg")
COLUMNS = (*METRICS, "chunks", "tokens")
RESAMPLES = 5_000
"""Draws of the bootstrap and of the permutation test: the second decimal of p is then sure."""

BLOCK_DRAWS = 1 << 17
"""Draws of the bootstrap made at once: one megabyte."""

KEPT_DRAWS = 2_000_000
"""Draws kept for the next interval over as many questions, up to 400 of them: eight megabytes."""

EXACT_UP_TO = 12
"""So many differing questions or fewer: all 2ⁿ sign patterns are tried instead of drawn."""

LEVEL = 0.05


def hit_at_1(ids: Sequence[str], answers: Collection[str]) -> float:
    """1 where the first result is a right answer, else 0."""
    return float(bool(ids) and ids[0] in answers)


def recall(ids: Sequence[str], answers: Collection[str], k: int) -> float:
    """The share of the right answers among the first `k` results.

    >>> recall(["b", "a", "c"], {"a", "z"}, k=2)
    0.5
    """
    return len(set(ids[:k]) & set(answers)) / len(answers)


def reciprocal_rank(ids: Sequence[str], answers: Collection[str], k: int) -> float:
    """1 / rank of the first right answer among the first `k` results, 0 without one.

    >>> reciprocal_rank(["b", "a"], {"a"}, k=10)
    0.5
    """
    return next((1.0 / rank for rank, i in enumerate(ids[:k], 1) if i in answers), 0.0)


def ndcg(ids: Sequence[str], answers: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain at `k` with binary relevance (Järvelin and Kekäläinen, 2002).

    >>> round(ndcg(["b", "a"], {"a"}, k=10), 3)
    0.631
    """
    gain = sum(1.0 / math.log2(rank + 1) for rank, i in enumerate(ids[:k], 1) if i in answers)
    ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(len(answers), k) + 1))
    return gain / ideal


@dataclass(frozen=True, slots=True)
class Measured:
    """One search on a set of questions: a value per question, in the order of `ids`. Metrics are cut at
    `k`.

    `chunks` and `tokens` are what the whole ranking hands on (tokens by `count_tokens`), however long it
    is.
    """

    ids: tuple[str, ...]
    hit_at_1: Array
    recall: Array
    mrr: Array
    ndcg: Array
    chunks: Array
    tokens: Array
    k: int

    def __len__(self) -> int:
        return len(self.ids)

    def mean(self, metric: str) -> float:
        """The mean of a metric over all questions."""
        values: Array = getattr(self, metric)
        return float(values.mean()) if len(values) else 0.0


def measure(search: Search, questions: Sequence[Question], k: int = 10, *, namespaced: bool = False) -> Measured:
    """Run one search on every question. `namespaced` passes each question's own namespace on."""
    k = wanted(k)
    rows = [_one(search, question, k, namespaced) for question in questions]
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS)).T
    return Measured(tuple(q.id for q in questions), **dict(zip(COLUMNS, columns, strict=True)), k=k)


def _one(search: Search, question: Question, k: int, namespaced: bool) -> list[float]:
    ranking = search(question.text, namespace=question.namespace) if namespaced else search(question.text)
    if not isinstance(ranking, Ranking):
        raise TypeError(f"a search returned {type(ranking).__name__}; compare needs a Ranking")
    ids, answers = ranking.ids, set(question.answers)
    return [
        hit_at_1(ids, answers),
        recall(ids, answers, k),
        reciprocal_rank(ids, answers, k),
        ndcg(ids, answers, k),
        len(ids),
        sum(kept_tokens(hit.chunk.code) for hit in ranking),
    ]


@lru_cache(maxsize=100_000)
def kept_tokens(code: str) -> int:
    """`count_tokens`, kept: the same functions come up in search after search."""
    return count_tokens(code)


def join(parts: Iterable[Measured]) -> Measured:
    """Results on several corpora as one, questions one after another: for questions that each have their
    own tree."""
    parts = list(parts)
    if not parts:
        raise ValueError("nothing to join: measure at least one set of questions")
    if len({part.k for part in parts}) > 1:
        raise ValueError(f"results were cut at different k: {sorted({part.k for part in parts})}")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Measured(tuple(itertools.chain.from_iterable(p.ids for p in parts)), **columns, k=parts[0].k)


def bootstrap(values: Array, *, seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The 95 % percentile interval of the mean, by resampling questions with replacement.

    For two searches give the differences per question: the interval is then paired.
    """
    if not len(values):
        return 0.0, 0.0
    small = len(values) * resamples <= KEPT_DRAWS
    draws = (_kept_draws if small else _draws)(len(values), seed, resamples)
    means = np.concatenate([values[block].mean(axis=1) for block in draws])
    low, high = np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def _draws(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.int32]]:
    """Which of `n` questions each resample holds, a row a resample, in blocks that stay in a processor's cache."""
    rng = np.random.default_rng(seed)
    for block in _blocks(resamples, max(1, BLOCK_DRAWS // n)):
        yield rng.integers(0, n, (block, n)).astype(np.int32)


@lru_cache(maxsize=4)
def _kept_draws(n: int, seed: int, resamples: int) -> list[NDArray[np.int32]]:
    """The same for every row of a table: drawing takes longer than the means."""
    return list(_draws(n, seed, resamples))


def permutation_test(differences: Array, *, seed: int = 0, resamples: int = RESAMPLES) -> float:
    """Two-sided p of a paired sign-flip test: how often chance alone gives so large a mean difference.

    Exact for few differing questions, else the share of drawn sign patterns, counting the observed one as
    drawn.
    """
    values = differences[differences != 0]
    if not len(values):
        return 1.0
    observed = abs(values.sum()) - 1e-12
    if len(values) <= EXACT_UP_TO:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(values))))
        return float((np.abs(signs @ values) >= observed).mean())
    rng = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs(rng.choice((-1.0, 1.0), (block, len(values))) @ values) >= observed).sum())
        for block in _blocks(resamples)
    )
    return (extreme + 1) / (resamples + 1)


def _blocks(total: int, size: int = 500) -> list[int]:
    """Blocks that bound the memory of the sign patterns."""
    return [size] * (total // size) + ([total % size] if total % size else [])


def compare(
    searches: Mapping[str, Search],
    questions: Sequence[Question],
    k: int = 10,
    *,
    namespaced: Collection[str] = (),
    metric: str = "mrr",
    caption: str = "",
) -> Table:
    """One row per search on the same questions; every further row is tested against the first.

    `namespaced` names the rows whose search is given each question's namespace. See `tabulate` for the
    columns.
    """
    if unknown := set(namespaced) - set(searches):
        raise ValueError(f"no row {sorted(unknown)} to give a namespace; there are {list(searches)}")
    measured = {n: measure(s, questions, k, namespaced=n in namespaced) for n, s in searches.items()}
    return tabulate(measured, metric=metric, caption=caption)


def tabulate(measured: Mapping[str, Measured], *, metric: str = "mrr", caption: str = "") -> Table:
    """Measured searches side by side.

    ± is half of the 95 % bootstrap interval of `metric`, beside which it stands; Δ its difference to the
    first row with its paired interval; ▲ or ▼ where the permutation test, Holm-corrected over the rows, finds p < .05.
    """
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}; there are {', '.join(METRICS)}")
    names = list(measured)
    if not names:
        raise ValueError("no searches to compare: give {'name': search}")
    first = measured[names[0]]
    if any(m.ids != first.ids for m in measured.values()):
        raise ValueError("the searches were measured on different questions; compare them on the same ones")
    marks = _marks([getattr(measured[n], metric) - getattr(first, metric) for n in names[1:]])
    k, rows, beside = first.k, [], METRICS.index(metric) + 1
    for name, mark in zip(names, ["", *marks], strict=True):
        m = measured[name]
        values = getattr(m, metric)
        low, high = bootstrap(values)
        difference = "" if name == names[0] else _difference(values - getattr(first, metric))
        scores: list[float | str] = [m.mean(column) for column in METRICS]
        cost = [f"{m.mean('chunks'):.1f}", f"{m.mean('tokens'):.0f}"]
        scores.insert(beside, f"{(high - low) / 2:.3f}")
        rows.append([name, *scores, difference, mark, *cost])
    label = {"hit_at_1": "hit@1", "recall": f"R@{k}", "mrr": f"MRR@{k}", "ndcg": f"NDCG@{k}"}
    levels = list(label.values())
    levels.insert(beside, "±")
    columns = ["search", *levels, f"Δ {label[metric]}", "sig.", "chunks", "tokens"]
    return Table(columns, rows, caption=caption, notes=_notes(len(first), label[metric], names[0]))


def _difference(values: Array) -> str:
    low, high = bootstrap(values)
    mean = float(values.mean()) if len(values) else 0.0
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def _marks(differences: Sequence[Array]) -> list[str]:
    """▲ for a significant win, ▼ for a loss: Holm's step-down over all rows."""
    p = [permutation_test(d) for d in differences]
    marks = [""] * len(p)
    for step, at in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[at] >= LEVEL / (len(p) - step):
            break
        marks[at] = "▲" if differences[at].mean() > 0 else "▼"
    return marks


def _notes(n: int, metric: str, first: str) -> list[str]:
    return [
        f"n = {n} questions; ± is half the 95 % bootstrap interval of {metric}; Δ is paired, to {first!r}.",
        f"▲ ▼: permutation test, p < {LEVEL} after Holm. chunks, tokens: mean per question.",
        f"{TRUST} Whether it is real, the mark decides: it allows for several rows.",
    ]
