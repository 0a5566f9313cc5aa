"""Docstring → function retrieval on named packages: MRR@10 and Recall@10 of encoders, BM25 and fusions of them."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from collect import unpack
from functions import Function, go_functions, python_functions
from scipy import sparse

from codekb.words import terms

DEVELOPMENT = [
    "attrs",
    "boltons",
    "celery",
    "dask",
    "jsonschema",
    "marshmallow",
    "prompt_toolkit",
    "sqlalchemy",
    "tornado",
    "trio",
    "urllib3",
    "black",
    "golang-github-coreos-bbolt-dev",
    "golang-github-fsnotify-fsnotify-dev",
    "golang-github-go-git-go-git-dev",
    "golang-github-gorilla-websocket-dev",
    "golang-github-prometheus-client-golang-dev",
]
TESTS = re.compile(r"(^|/)(tests?|testing|conftest)(/|\.py$)|(^|/)test_|_test\.(py|go)$|(^|/)_?examples?/")
MIN_WORDS = 3
Scores = np.ndarray
"""(queries, functions), higher is better."""


@dataclass(slots=True)
class Task:
    """One package: texts without documentation, questions, and for each question the right rows."""

    name: str
    texts: list[str]
    documented: np.ndarray
    queries: list[str]
    answers: list[set[int]]
    cache: dict[str, Scores] = field(default_factory=dict)


def sentence(doc: str, name: str) -> str:
    """The first sentence of a documentation text; Go's leading function name is dropped."""
    first = re.split(r"\n\s*\n|(?<=[.!?])\s", doc.strip(), maxsplit=1)[0]
    first = re.sub(r"\s+", " ", first).strip()
    head, _, rest = first.partition(" ")
    return rest if head.lower() == name.lower() else first


def without_doc(function: Function) -> str:
    """The function's source with its docstring's lines cut out."""
    start, end = function.doc_lines
    if start == end:
        return function.code
    lines = function.code.split("\n")
    return "\n".join([*lines[:start], *lines[end:]])


def enriched(function: Function, code: str) -> str:
    """The text that `codekb.text.enrich` gives for this function."""
    folder = function.path.rpartition("/")[0] or "."
    return f"File: {function.path} | Package: {folder} | Function: {function.qualname}\n\n{code}"


def package_functions(path: Path) -> Iterator[Function]:
    """All functions of a wheel or a Debian package, tests and examples left out."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.endswith(".py") and not TESTS.search(info.filename):
                    source = archive.read(info).decode("utf-8", "replace")
                    yield from python_functions(path.name, info.filename, source)
    else:
        top = unpack(path) / "usr/share/gocode/src"
        for file in sorted(top.rglob("*.go")):
            relative = file.relative_to(top).as_posix().split("/", 3)[-1]
            if not TESTS.search(relative) and file.is_file() and not file.is_symlink():
                yield from go_functions(path.name, relative, file.read_bytes())


def docstring_task(name: str, functions: Sequence[Function], limit: int | None = None) -> Task:
    """Questions are first sentences of at least three words; functions that share one all count."""
    functions = list(functions)
    texts = [enriched(f, without_doc(f)) for f in functions]
    asked: dict[str, set[int]] = {}
    documented = np.zeros(len(functions), dtype=bool)
    for row, function in enumerate(functions):
        query = sentence(function.doc, function.qualname.rpartition(".")[2])
        if len(query.split()) >= MIN_WORDS:
            documented[row] = True
            asked.setdefault(query, set()).add(row)
    queries = list(asked)
    if limit is not None and len(queries) > limit:
        queries = [queries[i] for i in np.random.default_rng(0).choice(len(queries), limit, replace=False)]
    return Task(name, texts, documented, queries, [asked[q] for q in queries])


def find(folders: Sequence[Path], name: str) -> Path:
    """The wheel or Debian package of this name."""
    for folder in folders:
        for path in [*folder.glob(f"{name}-*.whl"), *folder.glob(f"{name}_*.deb")]:
            return path
    raise FileNotFoundError(f"no package file of {name!r} in {[str(f) for f in folders]}: run collect.py first")


def ranks(scores: Scores, task: Task, *, documented: bool) -> np.ndarray:
    """1-based rank of the best right answer per question; ties count as half lost."""
    if documented:
        scores = np.where(task.documented, scores, -np.inf)
    result = np.empty(len(task.queries))
    for i, right in enumerate(task.answers):
        best = scores[i, sorted(right)].max()
        tied = int((scores[i] == best).sum()) - 1
        result[i] = 1 + (scores[i] > best).sum() + tied / 2
    return result


def mrr(r: np.ndarray, k: int = 10) -> float:
    """Mean reciprocal rank, ranks beyond k counting zero."""
    return float(np.where(r <= k, 1 / r, 0).mean())


def recall(r: np.ndarray, k: int = 10) -> float:
    """Share of questions with a right answer among the first k."""
    return float((r <= k).mean())


def bm25(task: Task, *, k1: float = 2.0, b: float = 0.6, name_weight: int = 2) -> Scores:
    """The good BM25: split, stemmed, stop words dropped, names repeated (`name_weight` times more)."""
    documents = []
    for text in task.texts:
        head, _, _ = text.partition("\n")
        names = head.rsplit(": ", 1)[-1]
        documents.append(Counter(terms(text) + terms(names) * name_weight))
    vocabulary = {t: i for i, t in enumerate(sorted({t for d in documents for t in d}))}
    rows = [i for i, d in enumerate(documents) for _ in d]
    columns = [vocabulary[t] for d in documents for t in d]
    tf = np.array([c for d in documents for c in d.values()], dtype=float)
    length = np.array([sum(d.values()) for d in documents], dtype=float)
    df = np.bincount(columns, minlength=len(vocabulary))
    idf = np.log1p((len(documents) - df + 0.5) / (df + 0.5))
    norm = k1 * (1 - b + b * length / length.mean())
    value = idf[columns] * tf * (k1 + 1) / (tf + norm[rows])
    matrix = sparse.csr_matrix((value, (rows, columns)), shape=(len(documents), len(vocabulary)))
    questions = sparse.lil_matrix((len(task.queries), len(vocabulary)))
    for i, query in enumerate(task.queries):
        for term, count in Counter(terms(query)).items():
            if term in vocabulary:
                questions[i, vocabulary[term]] = count
    return np.asarray((questions.tocsr() @ matrix.T).todense())


def cosine(
    encode: Callable[[Sequence[str]], np.ndarray], encode_query: Callable[[str], np.ndarray], task: Task
) -> Scores:
    """Similarities of all questions to all functions."""
    return np.stack([encode_query(q) for q in task.queries]) @ encode(task.texts).T


def rrf(*lists: tuple[Scores, float], k: int = 60) -> Scores:
    """Weighted reciprocal rank fusion of score matrices; a list holds no document of score zero."""
    total = np.zeros_like(lists[0][0], dtype=float)
    for scores, weight in lists:
        order = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        total += np.where(scores > 0, weight / (k + 1 + order), 0)
    return total
