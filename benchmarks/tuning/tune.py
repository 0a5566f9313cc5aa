"""Chooses the defaults of keyword search, fusion and priors on the development sets, one parameter at a time.

    python benchmarks/tuning/tune.py CACHE [RESULTS] [--sweep] [--small]

CACHE is what `development.py` filled. Prints and keeps (RESULTS, default `results.json` beside this file) the figures
of the defaults as they stand: keyword, dense and hybrid alone and with priors, each prior alone and left out, RRF
beside score fusion. With --sweep every parameter is also tried at other values; a line says how far each moves the
objective, the mean of MRR@10 and NDCG@10 over the groups (docstring and git, Python and Go; each set in a group
counts alike). Nothing is changed by itself: a default is edited by hand where a gain is larger than the noise.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from codekb.encoders.static import StaticEncoder
from codekb.evaluation import ndcg, recall, reciprocal_rank
from codekb.hybrid import BY_KIND, Options, Weights, score
from codekb.lexical import BM25, FIELD_TEXT, Fields, KeywordIndex, top
from codekb.priors import NAMES, PRIORS, CodeFacts, analyse
from codekb.questions import Question
from codekb.termcounts import TermCounts
from codekb.text import enrich
from codekb.vectors import VectorIndex
from codekb.words import terms

GO = ("bbolt", "go-git", "websocket", "client_golang")
LARGE = 8000
"""Sets of more functions are left out with --small."""

PER_SET = 30
SYMBOLS = 10


class Set:
    """One corpus with its questions, vectors, facts, and term counts kept apart by field."""

    def __init__(self, path: Path, encoder: StaticEncoder) -> None:
        self.name, self.kind, self.corpus, questions = pickle.loads(path.read_bytes())
        self.questions = [q for q in questions if not self._only_tests(q)][:PER_SET]
        language = "go" if self.name.endswith(GO) else "py"
        self.group = f"{'doc' if self.kind == 'docstring' else 'git'}-{language}"
        self.facts = CodeFacts(self.corpus)
        self.vectors = _vectors(path, self.corpus, encoder)
        self.counts = {"text": TermCounts(self.corpus.functions, enrich, terms)}
        for name, read in FIELD_TEXT.items():
            self.counts[name] = TermCounts(self.corpus.functions, read, terms)
        self.index = KeywordIndex(self.corpus)
        self.profiles = {q.id: analyse(q.text) for q in self.questions}
        self.kept: dict[Any, np.ndarray] = {}

    def _only_tests(self, question: Question) -> bool:
        return all("test" in self.corpus[a].marks for a in question.answers)

    def with_symbols(self) -> None:
        """Adds questions that are a function's name, answered by every function of that name."""
        names = self.facts.names
        plain = [c for c in self.corpus.functions if "test" not in c.marks and len(c.name) > 3 and c.name[0] != "_"]
        for chunk in plain[:: max(1, len(plain) // SYMBOLS)][:SYMBOLS]:
            same = [self.corpus.functions[at].id for at in names[chunk.name.lower()]]
            if len(same) <= 2:
                question = Question(f"s{chunk.id}", chunk.name, tuple(same), kind="symbol")
                self.questions.append(question)
                self.profiles[question.id] = analyse(chunk.name)

    def weigh(self, bm25: BM25, extra: Fields) -> None:
        """Puts other parameters into the keyword index, from the counts that are there."""
        key = (bm25, extra)
        if self.kept.get("weights") == key:
            return
        index, all_terms = self.index, self.counts["text"].terms | {}
        for counts in self.counts.values():
            for term in counts.terms:
                all_terms.setdefault(term, len(all_terms))
        total = None
        for name, counts in self.counts.items():
            weight = 1.0 if name == "text" else getattr(extra, name)
            coo = counts.matrix.tocoo()
            rows = np.array([all_terms[t] for t in counts.terms])[coo.row] if coo.nnz else coo.row
            part = type(coo)((coo.data * weight, (rows, coo.col)), shape=(len(all_terms), coo.shape[1])).tocsc()
            total = part if total is None else total + part
        total.eliminate_zeros()
        total.sort_indices()
        index.bm25, index._terms, index._counts.matrix = bm25, all_terms, total
        index._weights = index._weigh().tocsr()
        self.kept = {"weights": key}

    def dense(self, text: str) -> np.ndarray:
        return self._keep("dense", text, lambda: self.vectors.scores(text))

    def keyword(self, text: str) -> np.ndarray:
        return self._keep("keyword", text, lambda: self.index.scores(text).astype(np.float32))

    def _keep(self, kind: str, text: str, make: Any) -> np.ndarray:
        if (kind, text) not in self.kept:
            self.kept[kind, text] = make()
        return self.kept[kind, text]


def _vectors(path: Path, corpus: Any, encoder: StaticEncoder) -> VectorIndex:
    kept = path.with_suffix(f".{encoder.name}.npy")
    matrix = np.load(kept) if kept.exists() else None
    index = VectorIndex(corpus, encoder, matrix=matrix)
    if matrix is None:
        np.save(kept, index.matrix)
    return index


@dataclass(frozen=True)
class Setting:
    """Everything that is tuned."""

    bm25: BM25 = field(default_factory=BM25)
    fields: Fields = field(default_factory=Fields)
    kinds: Mapping[str, Weights] = field(default_factory=lambda: dict(BY_KIND))
    priors: Mapping[str, float] = field(default_factory=dict)
    use: Any = True
    fusion: str = "scores"
    first_line: bool = True
    dense: bool = True
    keyword: bool = True

    def options(self) -> Options:
        return Options(
            fusion=self.fusion,  # type: ignore[arg-type]
            first_line=self.first_line,
            priors=self.use,
            by_kind=self.kinds,
            prior_weights=self.priors,
        )


def evaluate(sets: list[Set], setting: Setting) -> dict[str, list[float]]:
    """Group → mean MRR@10, Recall@10, NDCG@10; `report` and `symbol` are the questions of that kind over all sets."""
    groups: dict[str, list[np.ndarray]] = defaultdict(list)
    options = setting.options()
    for one in sets:
        one.weigh(setting.bm25, setting.fields)
        rows: dict[str, list[list[float]]] = defaultdict(list)
        for question in one.questions:
            profile = one.profiles[question.id]
            total, _ = score(
                profile,
                one.facts,
                dense=one.dense if setting.dense else None,
                keyword=one.keyword if setting.keyword else None,
                options=options,
            )
            functions = one.corpus.functions
            ids = [functions[at].id for at in top(total, 10, None, functions)]
            row = [f(ids, set(question.answers), 10) for f in (reciprocal_rank, recall, ndcg)]
            rows["symbol" if question.kind == "symbol" else one.group].append(row)
            if profile.kind == "report":
                groups["report"].append(np.array(row))
        for group, values in rows.items():
            groups[group].append(np.mean(values, axis=0))
    return {group: np.mean(values, axis=0).tolist() for group, values in sorted(groups.items())}


def objective(result: Mapping[str, list[float]]) -> float:
    """Mean of MRR@10 and NDCG@10 over the four groups."""
    return float(np.mean([(v[0] + v[2]) / 2 for g, v in result.items() if "-" in g]))


def line(name: str, result: Mapping[str, list[float]]) -> str:
    return f"{name:34s} {objective(result):.4f}  " + "  ".join(
        f"{g} {v[0]:.3f}/{v[1]:.3f}/{v[2]:.3f}" for g, v in result.items()
    )


def overview(base: Setting) -> dict[str, Setting]:
    """What the results keep: parts alone, priors alone and left out, the two fusions."""
    bare = replace(base, use=False, first_line=False)
    table = {
        "keyword": replace(bare, dense=False),
        "dense": replace(bare, keyword=False),
        "hybrid, no priors": bare,
        "keyword + priors": replace(base, dense=False),
        "dense + priors": replace(base, keyword=False),
        "hybrid + priors (default)": base,
        "RRF, no priors": replace(bare, fusion="rrf"),
        "RRF + priors": replace(base, fusion="rrf"),
        "one weight for all kinds": replace(base, kinds=dict.fromkeys(BY_KIND, BY_KIND["sentence"])),
        "without first line": replace(base, first_line=False),
    }
    for name in NAMES:
        table[f"without {name}"] = replace(base, use=[n for n in NAMES if n != name])
    for name in NAMES:
        table[f"only {name}"] = replace(base, use=[name])
    return table


def variants(base: Setting) -> dict[str, Setting]:
    """Each parameter at other values."""
    table: dict[str, Setting] = {}
    for kind, tried in {"sentence": (0.4, 0.6, 0.7), "report": (0.1, 0.3), "symbol": (0.0, 0.5)}.items():
        for dense in tried:
            kinds = {**base.kinds, kind: replace(base.kinds[kind], dense=dense)}
            table[f"{kind}: dense {dense}"] = replace(base, kinds=kinds)
    for first in (0.0, 0.5, 1.0):
        kinds = {**base.kinds, "report": replace(base.kinds["report"], first_line=first)}
        table[f"first line {first}"] = replace(base, kinds=kinds)
    for prior in PRIORS:
        for factor in FACTORS.get(prior.name, (0.0, 2.0)):
            table[f"{prior.name} {prior.weight * factor:g}"] = replace(base, priors={prior.name: prior.weight * factor})
    return table


FACTORS = {"tests": (0.7, 1.2), "names": (0.0, 0.5, 1.5, 2.0), "files": (0.0, 2.0, 4.0), "definition": (0.5, 2.0)}
"""How many times its weight a prior is tried at, where nothing and twice say too little."""


def keyword_variants(base: Setting) -> dict[str, Setting]:
    table = {}
    for k1 in (0.8, 1.0, 1.2, 1.5, 2.0):
        table[f"k1 {k1}"] = replace(base, bm25=replace(base.bm25, k1=k1))
    for b in (0.2, 0.3, 0.4, 0.5, 0.75):
        table[f"b {b}"] = replace(base, bm25=replace(base.bm25, b=b))
    for form in ("once", "log", "count"):
        table[f"query weight {form}"] = replace(base, bm25=replace(base.bm25, query_weight=form))
    for idf in ("plus", "okapi", "lucene"):
        table[f"idf {idf}"] = replace(base, bm25=replace(base.bm25, idf=idf))
    for one in fields(Fields):
        for weight in (0.0, 0.5, 1.0, 2.0, 4.0):
            table[f"field {one.name} {weight:g}"] = replace(base, fields=replace(base.fields, **{one.name: weight}))
    return table


def load(cache: Path, *, small: bool) -> list[Set]:
    encoder = StaticEncoder()
    sets = []
    for path in sorted(cache.glob("*.pickle")):
        if small and len(pickle.loads(path.read_bytes())[2].functions) > LARGE:
            continue
        one = Set(path, encoder)
        if len(one.questions) >= 3:
            if one.kind == "docstring":
                one.with_symbols()
            sets.append(one)
    return sets


def main(arguments: list[str]) -> None:
    plain = [a for a in arguments if not a.startswith("--")]
    sets = load(Path(plain[0]), small="--small" in arguments)
    counted = sum(len(s.questions) for s in sets)
    print(f"{len(sets)} sets, {counted} questions, {sum(len(s.corpus.functions) for s in sets)} functions", flush=True)
    base = Setting()
    results = {}
    chosen = overview(base)
    if "--sweep" in arguments:
        chosen = {"default": base} | variants(base)
    if "--keyword" in arguments:
        chosen = {"default": base} | keyword_variants(base)
    target = Path(plain[1]) if len(plain) > 1 else Path(__file__).with_name("results.json")
    for name, setting in chosen.items():
        results[name] = evaluate(sets, setting)
        print(line(name, results[name]), flush=True)
        if chosen.keys() == overview(base).keys():
            keep(target, sets, results)


def keep(target: Path, sets: list[Set], results: Mapping[str, Mapping[str, list[float]]]) -> None:
    """Writes the figures so far, so that a run that is cut short leaves what it measured."""
    data = {
        "encoder": sets[0].vectors.encoder.name,
        "sets": len(sets),
        "questions": sum(len(s.questions) for s in sets),
        "columns": ["MRR@10", "Recall@10", "NDCG@10"],
        "results": {n: {g: [round(x, 4) for x in v] for g, v in r.items()} for n, r in results.items()},
    }
    target.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
