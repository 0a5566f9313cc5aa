"""Keyword search: BM25 in sparse form, and the share of matched words. Terms come from `words`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from codekb.chunks import Chunk, Corpus, in_namespace
from codekb.ranking import Hit, Ranking, wanted
from codekb.termcounts import TermCounts
from codekb.text import enrich, tokenize
from codekb.words import Tokenizer, spellings, terms

Scorer = Literal["bm25", "overlap"]
Scores = NDArray[np.float64]
SCORERS = ("bm25", "overlap")


@dataclass(frozen=True, slots=True)
class BM25:
    """The parameters of BM25; the defaults were chosen on the development packages (`benchmarks/tuning`).

    score(q, d) = Σ over terms t of q:  w(t) · idf(t) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
    where f is how often t stands in d, fields weighted, and |d| the sum of all f in d.

    `idf="plus"` is ln((N + 1) / n), always positive: with `query_weight="count"` the scores are those of
    rank-bm25's `BM25Plus(delta=0)`. (Its delta is added to every document alike, matching or not, so it
    moves no rank.) `idf="okapi"` is ln((N − n + ½) / (n + ½)) with the negative ones raised to `epsilon`
    times the mean idf, as in rank-bm25's `BM25Okapi`: that floor can rank a word of most functions above a
    rarer one, and on a corpus of a few functions it makes most words worthless, so it is not the default.
    `idf="lucene"` is ln(1 + (N − n + ½) / (n + ½)).

    `query_weight` is w(t) for a term that stands c times in the question: `count` c, `log` 1 + ln c, `once`
    1.
    """

    k1: float = 1.2
    b: float = 0.6
    idf: Literal["plus", "okapi", "lucene"] = "plus"
    epsilon: float = 0.25
    query_weight: Literal["count", "log", "once"] = "log"


@dataclass(frozen=True, slots=True)
class Fields:
    """How many extra times the terms of each field count, on top of the text. All zero: the text alone.

    `scope` is the class or the enclosing functions; `path` has no suffix; `doc` is the docstring or doc
    comment.
    """

    name: float = 2.0
    scope: float = 1.0
    path: float = 2.0
    doc: float = 0.5
    signature: float = 1.0


PLAIN = Fields(name=0, scope=0, path=0, doc=0, signature=0)
"""No field counts extra: the textbook form."""

FIELD_TEXT: dict[str, Callable[[Chunk], str]] = {
    "name": lambda c: c.name,
    "scope": lambda c: c.qualname[: -len(c.name)],
    "path": lambda c: c.path.rpartition(".")[0],
    "doc": lambda c: c.doc,
    "signature": lambda c: c.signature,
}


class KeywordIndex:
    """Keyword search over the functions of a corpus. `scores` are aligned with `corpus.functions`.

    `scorer="overlap"` is matched question tokens / question tokens, a repeated token counting each time.
    `text` gives what is read of a chunk, `tokenizer` its tokens; `overlap` takes plain word parts, `bm25`
    stemmed terms. `reuse` is an index of an earlier state of the corpus with the same settings: unchanged
    chunks are not read again.
    """

    def __init__(
        self,
        corpus: Corpus,
        scorer: Scorer = "bm25",
        text: Callable[[Chunk], str] = enrich,
        *,
        tokenizer: Tokenizer | None = None,
        fields: Fields | None = None,
        bm25: BM25 | None = None,
        reuse: KeywordIndex | None = None,
    ) -> None:
        if scorer not in SCORERS:
            raise ValueError(f"unknown scorer {scorer!r}; there are {', '.join(SCORERS)}")
        self.corpus = corpus
        self.scorer = scorer
        self.text = text
        self.tokenizer = tokenizer or (terms if scorer == "bm25" else tokenize)
        self.fields = fields or (Fields() if scorer == "bm25" else PLAIN)
        self.bm25 = bm25 or BM25()
        self._counts: TermCounts = TermCounts(
            corpus.functions,
            lambda chunk: _whole(chunk, text),
            self.tokenizer,
            [(read, weight) for name, read in FIELD_TEXT.items() if (weight := getattr(self.fields, name))],
            reuse._counts if reuse and self._same_settings(reuse) else None,
        )
        self._terms = self._counts.terms
        self._weights = self._weigh().tocsr()

    def _same_settings(self, other: KeywordIndex) -> bool:
        return (self.text, self.tokenizer, self.fields) == (other.text, other.tokenizer, other.fields)

    def _weigh(self) -> sparse.csc_array:
        """Term × function: what one occurrence of the term in the question adds to the function's score."""
        counts = self._counts.matrix.copy()
        if self.scorer == "overlap":
            counts.data = np.ones_like(counts.data)
            return counts
        length = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
        mean = float(length.mean()) if length.size else 0.0
        norm = self.bm25.k1 * (1 - self.bm25.b + self.bm25.b * length / (mean or 1.0))
        per_entry = np.repeat(norm, np.diff(counts.indptr))
        held = np.bincount(counts.indices, minlength=counts.shape[0])
        idf = inverse_frequency(held, len(length), self.bm25)
        divisor = np.maximum(counts.data + per_entry, np.finfo(np.float64).tiny)
        counts.data = idf[counts.indices] * counts.data * (self.bm25.k1 + 1) / divisor
        return counts

    def query_terms(self, query: str) -> dict[str, float]:
        """The question's terms that some function holds → their weight, in order of appearance."""
        count = Counter(self.tokenizer(query))
        weigh = "count" if self.scorer == "overlap" else self.bm25.query_weight
        return {term: _query_weight(n, weigh) for term, n in count.items() if term in self._terms}

    def scores(self, query: str, extra: dict[str, float] | None = None) -> Scores:
        """One score per function, shape (len(corpus.functions),), higher is better, 0 where no term matches.

        `extra` maps further terms to weights that are added to the question's own.
        """
        weights = self.query_terms(query)
        for term, weight in (extra or {}).items():
            if term in self._terms:
                weights[term] = weights.get(term, 0.0) + weight
        total = self.weighted(weights)
        if self.scorer == "overlap":
            total /= max(1, len(self.tokenizer(query)))
        return total

    def weighted(self, weights: dict[str, float]) -> Scores:
        """The scores of a question given as terms with weights (what `query_terms` returns)."""
        rows = [self._terms[term] for term in weights]
        if not rows:
            return np.zeros(len(self.corpus.functions))
        start, end = self._weights.indptr, self._weights.indptr[1:]
        spans = [slice(start[r], end[r]) for r in rows]
        functions = np.concatenate([self._weights.indices[s] for s in spans])
        shares = [self._weights.data[s] * w for s, w in zip(spans, weights.values(), strict=True)]
        total = np.bincount(functions, np.concatenate(shares), minlength=len(self.corpus.functions))
        return total.astype(np.float64, copy=False)

    def search(
        self, query: str, k: int = 10, *, namespace: str | None = None, mask: NDArray[np.bool_] | None = None
    ) -> Ranking:
        """The best `k` functions that share a term with the question; ties by id ascending.

        `namespace`, or else `mask` in function order, says which functions may be returned.
        """
        k = wanted(k)
        scores = self.scores(query)
        written = spellings(query)
        hits = []
        allowed = inside(self.corpus, namespace) if mask is None else mask
        for position in top(scores, k, allowed, self.corpus.functions):
            chunk, score = self.corpus.functions[position], float(scores[position])
            matched = ", ".join(written.get(term, term) for term, _ in self.matching(query, chunk.id)[:SHOWN_TERMS])
            hits.append(Hit(chunk, score, {self.scorer: score}, why=(f"matches {matched}",)))
        return Ranking(hits, query=query, title=f"keyword ({self.scorer})")

    def matching(self, query: str, chunk_id: str) -> list[tuple[str, float]]:
        """The question's terms in this function with what each adds to its score, largest first."""
        column = self._counts.position.get(chunk_id)
        if column is None:
            raise KeyError(f"no function {chunk_id!r}; nearest: {self.corpus.nearest(chunk_id) or 'none'}")
        scale = 1.0 if self.scorer == "bm25" else 1.0 / max(1, len(self.tokenizer(query)))
        found = []
        for term, weight in self.query_terms(query).items():
            start, end = self._weights.indptr[self._terms[term] : self._terms[term] + 2]
            at = start + int(np.searchsorted(self._weights.indices[start:end], column))
            if at < end and self._weights.indices[at] == column:
                found.append((term, float(self._weights.data[at]) * weight * scale))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _whole(chunk: Chunk, text: Callable[[Chunk], str]) -> str:
    """The text, and the comment above a Go function, which stands outside its lines."""
    read = text(chunk)
    return f"{chunk.doc}\n{read}" if chunk.language == "go" and chunk.doc and chunk.doc not in read else read


SHOWN_TERMS = 6
"""As many matching terms stand in a hit's remark; `matching` has them all."""


def _query_weight(count: int, form: str) -> float:
    if form == "log":
        return 1.0 + float(np.log(count))
    return float(count) if form == "count" else 1.0


def inverse_frequency(documents: NDArray[np.int64], total: int, bm25: BM25) -> Scores:
    """The idf of terms that stand in `documents` of `total` functions; the three forms are in `BM25`."""
    n = documents.astype(np.float64)
    if bm25.idf == "plus":
        return np.log((total + 1) / np.maximum(n, 1))
    if bm25.idf == "lucene":
        return np.log1p((total - n + 0.5) / (n + 0.5))
    idf = np.log(total - n + 0.5) - np.log(n + 0.5)
    return np.where(idf < 0, bm25.epsilon * (idf.mean() if idf.size else 0.0), idf)


def inside(corpus: Corpus, namespace: str | None) -> NDArray[np.bool_] | None:
    """Which functions lie in a namespace, or None without one; an unknown namespace is an error."""
    if namespace is None or not namespace.strip("/"):
        return None
    mask = np.array([in_namespace(c.path, namespace) for c in corpus.functions], dtype=bool)
    if not mask.any() and not any(in_namespace(n, namespace) for n in corpus.namespaces):
        raise ValueError(f"no namespace {namespace!r}; there are {corpus.namespaces[:20]}")
    return mask


def top(scores: Scores, k: int, mask: NDArray[np.bool_] | None, functions: Sequence[Chunk]) -> list[int]:
    """Positions of the `k` best positive scores within the mask, best first, ties by id ascending."""
    usable = scores > 0 if mask is None else (scores > 0) & mask
    positions = np.flatnonzero(usable)
    if len(positions) > k:
        bound = np.partition(scores[positions], len(positions) - k)[len(positions) - k]
        positions = positions[scores[positions] >= bound]
    return sorted(positions.tolist(), key=lambda p: (-scores[p], functions[p].id))[:k]
