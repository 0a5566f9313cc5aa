"""The held-out report: docstring → function on packages that nothing was chosen on, with intervals.

    python report.py --work DIR [--language python|go] [--packages held|development] [--without minilm,wordllama]
                     [--weights FILE]

Package files must lie in DIR/excl and DIR/exclgo (collect.py puts them there). Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from evaluate import DEVELOPMENT, Task, bm25, docstring_task, find, mrr, package_functions, ranks, recall, rrf
from scipy import sparse
from scipy.sparse.linalg import svds

from codekb.encoders.static import StaticEncoder
from codekb.words import terms

HELD_OUT = [
    "requests",
    "click",
    "flask",
    "jinja2",
    "werkzeug",
    "httpx",
    "rich",
    "fastapi",
    "networkx",
    "django",
    "golang-github-spf13-cobra-dev",
    "golang-github-spf13-pflag-dev",
    "golang-github-spf13-viper-dev",
    "golang-github-go-chi-chi-dev",
    "golang-github-gin-gonic-gin-dev",
    "golang-github-labstack-echo-dev",
    "golang-github-gorilla-mux-dev",
    "golang-github-spf13-afero-dev",
    "golang-github-stretchr-testify-dev",
    "golang-go.uber-zap-dev",
    "golang-github-sirupsen-logrus-dev",
]
MAX_QUESTIONS = 500
"""Per package, a seeded sample: the interval is narrow enough, and MiniLM takes its time."""
SLOW = ("MiniLM",)
"""Encodes documented functions only, and is left out of the table among all functions: it takes minutes."""
DRAWS = 2_000
SEED = 5
Encode = Callable[[Sequence[str]], np.ndarray]


def svd(task: Task, dimension: int = 256) -> np.ndarray:
    """TF-IDF with log counts, reduced to 256 dimensions on the package itself: the classic dense baseline."""
    documents = [Counter(terms(text)) for text in task.texts]
    vocabulary = {t: i for i, t in enumerate(sorted({t for d in documents for t in d}))}
    matrix = _tf(documents, vocabulary)
    idf = np.log(len(documents) / np.maximum(np.bincount(matrix.indices, minlength=len(vocabulary)), 1))
    weighted = sparse.csr_matrix(matrix.multiply(idf[None, :]))
    size = min(dimension, min(weighted.shape) - 1)
    _, _, basis = svds(weighted, k=size, v0=np.ones(min(weighted.shape)))
    asked = sparse.csr_matrix(_tf([Counter(terms(q)) for q in task.queries], vocabulary).multiply(idf[None, :]))
    return _unit(asked @ basis.T) @ _unit(weighted @ basis.T).T


def _tf(documents: Sequence[Counter[str]], vocabulary: dict[str, int]) -> Any:
    entries = [
        (i, vocabulary[t], np.log1p(c)) for i, d in enumerate(documents) for t, c in d.items() if t in vocabulary
    ]
    rows, columns, values = zip(*entries, strict=True)
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(documents), len(vocabulary)))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def kept(encode: Encode, name: str, folder: Path) -> Encode:
    """The same encoder, its vectors kept in a folder by the hash of all texts: a slow one runs once."""

    def cached(texts: Sequence[str]) -> np.ndarray:
        digest = hashlib.sha256("\0".join([name, *texts]).encode("utf-8", "replace")).hexdigest()[:16]
        path = folder / f"{name}-{digest}.npy"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            np.save(path, encode(texts))
        return np.asarray(np.load(path))

    return cached


def encoders(without: Sequence[str], cache: Path, static: StaticEncoder) -> dict[str, tuple[Encode, Encode]]:
    """Name → (documents, questions) of every encoder that is installed and not left out."""
    found: dict[str, tuple[Encode, Encode]] = {
        "static": (static.encode, lambda qs: np.stack([static.encode_query(q) for q in qs]))
    }
    if "minilm" not in without:
        from codekb.encoders.minilm import MiniLMEncoder

        both = kept(MiniLMEncoder().encode, "minilm", cache)
        found["MiniLM"] = (both, both)
    if "wordllama" not in without:
        import wordllama
        from wordllama import WordLlama

        lama = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        both = kept(lambda texts: _unit(lama.embed(list(texts))), "wordllama", cache)
        found["wordllama"] = (both, both)
    return found


def all_scores(task: Task, models: dict[str, tuple[Encode, Encode]]) -> dict[str, np.ndarray]:
    """Method → score matrix, alone and fused."""
    result = {"BM25": bm25(task), "TF-IDF + SVD": svd(task)}
    for name, (documents, questions) in models.items():
        rows = np.flatnonzero(task.documented) if name in SLOW else np.arange(len(task.texts))
        scores = np.zeros((len(task.queries), len(task.texts)))
        scores[:, rows] = questions(task.queries) @ documents([task.texts[row] for row in rows]).T
        result[name] = scores
    result["BM25 + static, RRF"] = rrf((result["BM25"], 1), (result["static"], 1))
    result["BM25 + static, RRF 1:2"] = rrf((result["BM25"], 1), (result["static"], 2))
    if "MiniLM" in result:
        result["MiniLM + static, cosines"] = result["MiniLM"] + result["static"]
        result["BM25 + MiniLM, RRF"] = rrf((result["BM25"], 1), (result["MiniLM"], 1))
        result["BM25 + (MiniLM + static), RRF 1:2"] = rrf((result["BM25"], 1), (result["MiniLM + static, cosines"], 2))
    return result


def interval(values: Sequence[np.ndarray]) -> float:
    """Half the width of the 95 % bootstrap interval of the mean over packages, questions redrawn within each."""
    rng = np.random.default_rng(SEED)
    means = [[v[rng.integers(0, len(v), len(v))].mean() for v in values] for _ in range(DRAWS)]
    low, high = np.percentile(np.mean(means, axis=1), [2.5, 97.5])
    return float(high - low) / 2


def reciprocal(r: np.ndarray) -> np.ndarray:
    return np.where(r <= 10, 1 / r, 0)


def table(results: dict[str, dict[str, np.ndarray]], names: Sequence[str]) -> str:
    """Markdown: one row a method, MRR@10 a package, mean with interval, mean Recall@10."""
    short = [n.removeprefix("golang-").removeprefix("github-").removesuffix("-dev") for n in names]
    lines = ["| method | " + " | ".join(short) + " | mean MRR@10 | mean Recall@10 |", "|---" * (len(names) + 3) + "|"]
    for method in results[names[0]]:
        rank = [results[n][method] for n in names]
        mean = np.mean([mrr(r) for r in rank])
        cells = [f"{mrr(r):.3f}" for r in rank]
        half = interval([reciprocal(r) for r in rank])
        lines.append(
            f"| {method} | "
            + " | ".join(cells)
            + f" | {mean:.3f} ± {half:.3f} | {np.mean([recall(r) for r in rank]):.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--packages", choices=("held", "development"), default="held")
    parser.add_argument("--language", choices=("python", "go"), default="python")
    parser.add_argument("--without", default="", help="of minilm, wordllama, joined by commas")
    parser.add_argument("--weights", type=Path, help="another weight file than the package's")
    options = parser.parse_args()
    static = StaticEncoder(options.weights)
    models = encoders(options.without.split(","), options.work / "vectors", static)
    ranked: dict[bool, dict[str, dict[str, np.ndarray]]] = {True: {}, False: {}}
    listed = HELD_OUT if options.packages == "held" else DEVELOPMENT
    names = [name for name in listed if name.startswith("golang") == (options.language == "go")]
    for name in names:
        functions = list(package_functions(find([options.work / "excl", options.work / "exclgo"], name)))
        task = docstring_task(name, functions, limit=MAX_QUESTIONS)
        scores = all_scores(task, models)
        for documented in (True, False):
            ranked[documented][name] = {
                method: ranks(s, task, documented=documented)
                for method, s in scores.items()
                if documented or not any(slow in method for slow in SLOW)
            }
        print(f"{name}: {len(task.texts)} functions, {len(task.queries)} questions", file=sys.stderr, flush=True)
    print(f"Model: {static.name}\n")
    for documented, pool in ((True, "documented functions"), (False, "all functions")):
        print(f"\n{options.language.title()}, among {pool}\n\n{table(ranked[documented], names)}")


if __name__ == "__main__":
    main()
