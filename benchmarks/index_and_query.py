"""Index and query: seconds and memory on networkx and on the largest installed package, as ratios in one run.

python benchmarks/index_and_query.py [PACKAGE ...]

Beside each: Python's own `ast` over the same files, plain rank_bm25 (index from given tokens; query) and a
brute-force numpy dot product. A machine is noisy: trust the ratios. Each package runs in a process of its own, so that
memory is its own.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import json
import resource
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import codekb

QUERIES = (
    "shortest path between two nodes",
    "read a file and close it afterwards",
    "raise an error when the argument has the wrong type",
    "convert a string to a date",
    "get_config",
    "how are results cached between calls",
)
REPEATS = 15


def seconds(call: Callable[[], Any], repeats: int = 1) -> float:
    """Median wall time of a call, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def per_query(search: Callable[[str], Any]) -> float:
    """Median milliseconds of one question, after one warm-up."""
    search(QUERIES[0])
    return 1000 * statistics.median(seconds(lambda q=q: search(q), REPEATS) for q in QUERIES)  # type: ignore[misc]


def measure(package: str) -> dict[str, float]:
    """Everything that is reported of one package."""
    from rank_bm25 import BM25Okapi

    root = codekb.locate(package)
    codekb.KnowledgeBase.build(Path(__file__).parent)  # what is imported and loaded once is not counted
    figures: dict[str, float] = {}
    start = time.perf_counter()
    kb = codekb.KnowledgeBase.build(root)
    figures["build"] = time.perf_counter() - start
    figures["graph import"] = seconds(lambda: kb.graph_by("import"))
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["graph flow"] = seconds(lambda: kb.graph)
    sources = [
        m.code for m in kb.corpus.where(kind="module") if m.language == "python" and m.path not in kb.corpus.notes
    ]
    figures["ast"] = seconds(lambda: deque(map(ast.parse, sources), maxlen=0))  # each tree is dropped at once
    figures["functions"] = len(kb.corpus.functions)
    figures["lines"] = sum(text.count("\n") for text in sources)
    tokens = [codekb.tokenize(codekb.enrich(c)) for c in kb.corpus.functions]
    plain: list[Any] = []
    figures["rank_bm25 index"] = seconds(lambda: plain.append(BM25Okapi(tokens)))
    figures["keyword index"] = seconds(lambda: codekb.KeywordIndex(kb.corpus))
    keyword, vectors = kb.keyword(), kb.vectors()
    vector = kb.encoder.encode_query(QUERIES[0])
    figures["query rank_bm25"] = per_query(lambda q: plain[0].get_scores(codekb.tokenize(q)))
    figures["query keyword"] = per_query(keyword.scores)
    figures["query numpy"] = per_query(lambda q: vectors.matrix @ vector)
    figures["query dense"] = per_query(lambda q: kb.search(q, hybrid=False))
    figures["query hybrid"] = per_query(kb.search)
    figures["query one hop"] = per_query(lambda q: kb.search(q, graph="one_hop"))
    figures["query related"] = per_query(lambda q: kb.search(q, related=10))
    return figures


def largest_package() -> str:
    """The import name of the installed package with most bytes of Python source, networkx aside."""
    sizes: dict[str, int] = {}
    for distribution in importlib.metadata.distributions():
        for file in distribution.files or ():
            if file.suffix == ".py" and len(file.parts) > 1 and file.parts[0].isidentifier() and file.size:
                sizes[file.parts[0]] = sizes.get(file.parts[0], 0) + file.size
    return max((name for name in sizes if name not in ("networkx", "codekb")), key=lambda name: sizes[name])


def table(package: str, f: dict[str, float]) -> codekb.Table:
    """The figures of one package, each beside what it is measured against."""
    graph = f["build"] + f["graph import"]
    against_bm25 = {
        name: f[f"query {name}"] / f["query rank_bm25"] for name in ("keyword", "hybrid", "one hop", "related")
    }
    rows = [
        ["build: parse, vectors, keyword index", f"{f['build']:.2f} s", f"{f['build'] / f['ast']:.2f} × ast.parse"],
        ["build and graph by import", f"{graph:.2f} s", f"{graph / f['ast']:.2f} × ast.parse"],
        ["graph by flow", f"{f['graph flow']:.2f} s", f"{f['graph flow'] / f['ast']:.2f} × ast.parse"],
        ["peak memory, graph by import included", f"{f['memory']:.0f} MB", ""],
        [
            "keyword index",
            f"{f['keyword index']:.2f} s",
            f"{f['keyword index'] / f['rank_bm25 index']:.2f} × rank_bm25",
        ],
        [
            "dense search",
            f"{f['query dense']:.2f} ms",
            f"{f['query dense'] / f['query numpy']:.2f} × numpy dot product",
        ],
        *([f"query: {n}", f"{f[f'query {n}']:.2f} ms", f"{r:.3f} × rank_bm25"] for n, r in against_bm25.items()),
    ]
    size = f"{f['functions']:,.0f} functions, {f['lines']:,.0f} lines; ast.parse of the same files {f['ast']:.2f} s"
    return codekb.Table(["what", "here", "ratio in the same run"], rows, caption=f"{package}: {size}")


def main() -> None:
    """Print one table a package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help="import names (default: networkx and the largest installed)")
    parser.add_argument("--json", action="store_true", help="measure one package and print its figures as JSON")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(measure(options.packages[0])))
        return
    for package in options.packages or ["networkx", largest_package()]:
        done = subprocess.run(
            [sys.executable, __file__, "--json", package], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{package} could not be measured:\n{done.stderr}")
        print(table(package, json.loads(done.stdout)), end="\n\n")


if __name__ == "__main__":
    main()
