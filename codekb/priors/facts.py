"""What ranking must know of a corpus beyond its words: names, files, tests and the like, as arrays. No
weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from codekb.chunks import Chunk, Corpus
from codekb.priors.neighbours import Neighbours
from codekb.priors.query import Frame
from codekb.termcounts import Read, TermCounts
from codekb.words import terms

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

_SIDE = {
    "tests": re.compile(
        r"(^|/)(tests?|testing|testdata|__tests__|e2e)(/|$)|(^|/)(test_[^/]*|[^/]*_test|conftest)\.\w+$"
    ),
    "examples": re.compile(
        r"(^|/)(_?examples?|demos?|samples?|tutorials?|docs?|docs_src|benchmarks?|benches|tools|scripts|ci|hack)(/|$)"
        r"|(^|/)(setup|example[^/]*|bench[^/]*|noxfile|fabfile)\.\w+$"
    ),
    "compat": re.compile(r"(^|/)(_?compat\w*|_?vendor\w*|third_party|extern\w*|legacy|_?deprecat\w*|six)(/|\.|$)"),
    "generated": re.compile(
        r"(_pb2(_grpc)?\.py|\.pb(\.gw)?\.go|_generated\.\w+|\.gen\.go|zz_generated[^/]*|_string\.go)$"
    ),
}
_MARKS = {"tests": "test", "generated": "generated"}


class CodeFacts:
    """Facts about the functions of a corpus, each array in `corpus.functions` order. Built once, shared by
    queries."""

    def __init__(self, corpus: Corpus) -> None:
        functions = corpus.functions
        self.functions: Sequence[Chunk] = functions
        self.position = {chunk.id: at for at, chunk in enumerate(functions)}
        by_id = sorted(range(len(functions)), key=lambda at: functions[at].id)
        self.order: Array = np.empty(len(functions))
        self.order[by_id] = np.arange(len(functions))
        self.names = _positions((c.name.lower().strip("_"), at) for at, c in enumerate(functions))
        self.scopes = _positions((part.lower(), at) for at, c in enumerate(functions) for part in _scope(c))
        self.files = _positions((c.path, at) for at, c in enumerate(functions))
        self.basenames: dict[str, list[str]] = {}
        for path in self.files:
            self.basenames.setdefault(path.rpartition("/")[2], []).append(path)
        numbers = {path: number for number, path in enumerate(self.files)}
        self.file: Positions = np.array([numbers[c.path] for c in functions], dtype=np.int64)
        self.side = {name: _side(functions, name) for name in _SIDE}
        self.side["stubs"] = np.array([bool({"overload"} & set(c.marks)) for c in functions], dtype=bool)
        self.present = {name: bool(mask.any()) for name, mask in self.side.items()}
        self.name_share = Coverage(functions, lambda c: c.name)
        self.path_share = Coverage(functions, lambda c: c.path.rpartition(".")[0] + " " + " ".join(_scope(c)))
        self.neighbours = Neighbours(functions)

    def named(self, symbol: str) -> tuple[Positions, Positions]:
        """Functions that a dotted name defines: (with a container that agrees, by the last name alone).

        `Store.Set` and `store.Set` find `Set` in a class `Store` or a file or folder `store` first.
        """
        *containers, last = [part.strip("_").lower() for part in symbol.split(".")]
        found = self.names.get(last, _NONE)
        if not containers:
            return found, _NONE
        agrees = np.array([self._inside(int(at), containers[-1]) for at in found], dtype=bool)
        return found[agrees], found[~agrees]

    def _inside(self, at: int, container: str) -> bool:
        chunk = self.functions[at]
        places = [*_scope(chunk), *chunk.path.rpartition(".")[0].split("/")]
        return container in (place.strip("_").lower() for place in places)

    def located(self, frame: Frame) -> Positions:
        """The functions a stack frame stands for: same file, same function; where several, the one at that
        line."""
        paths = [p for p in self.basenames.get(frame.path.rpartition("/")[2], ()) if _same_file(p, frame.path)]
        inside = [int(at) for path in paths for at in self.files[path]]
        last = frame.function.rpartition(".")[2]
        named = [at for at in inside if self.functions[at].name == last] if last else []
        at_line = [a for a in named or inside if _holds(self.functions[a], frame.line)]
        if named:
            return np.array(at_line if len(named) > 1 and at_line else named, dtype=np.int64)
        return np.array(at_line[-1:] if not last else [], dtype=np.int64)

    def in_file(self, written: str) -> Positions:
        """The functions of the files that a path in a question can mean."""
        paths = [p for p in self.basenames.get(written.rpartition("/")[2], ()) if _same_file(p, written)]
        return np.concatenate([self.files[p] for p in paths]) if paths else _NONE


class Coverage:
    """How much of a short text of each function (its name, its path) a set of weighted terms covers, 0 to
    1."""

    def __init__(self, functions: Sequence[Chunk], read: Read) -> None:
        counts = TermCounts(functions, read, terms)
        matrix = counts.matrix.tocsc()
        matrix.data = np.ones_like(matrix.data)
        held = np.bincount(matrix.indices, minlength=matrix.shape[0])
        self.idf: Array = np.log((len(functions) + 1) / np.maximum(held, 1))
        matrix.data = self.idf[matrix.indices]
        total = np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()
        matrix.data = matrix.data / np.repeat(np.maximum(total, np.finfo(np.float64).tiny), np.diff(matrix.indptr))
        self.matrix = matrix.tocsr()
        self.terms = counts.terms

    def __call__(self, weights: dict[str, float]) -> Array:
        """Σ of the shares of the terms that stand in each text, each times its weight (at most 1)."""
        rows = [(self.terms[t], min(1.0, w)) for t, w in weights.items() if t in self.terms]
        size = self.matrix.shape[1]
        if not rows:
            return np.zeros(size)
        spans = [(slice(*self.matrix.indptr[row : row + 2]), weight) for row, weight in rows]
        at = np.concatenate([self.matrix.indices[span] for span, _ in spans])
        shares = np.concatenate([self.matrix.data[span] * weight for span, weight in spans])
        return np.bincount(at, shares, minlength=size).astype(np.float64, copy=False)


_NONE: Positions = np.empty(0, dtype=np.int64)


def _positions(pairs: Iterable[tuple[str, int]]) -> dict[str, Positions]:
    found: dict[str, list[int]] = {}
    for key, at in pairs:
        found.setdefault(key, []).append(at)
    return {key: np.array(at, dtype=np.int64) for key, at in found.items()}


def _scope(chunk: Chunk) -> list[str]:
    return chunk.qualname.split("#")[0].split(".")[:-1]


def _side(functions: Sequence[Chunk], name: str) -> NDArray[np.bool_]:
    mark, pattern = _MARKS.get(name), _SIDE[name]
    known: dict[str, bool] = {}
    return np.array(
        [(mark in c.marks) or known.setdefault(c.path, bool(pattern.search(c.path.lower()))) for c in functions],
        dtype=bool,
    )


def _holds(chunk: Chunk, line: int) -> bool:
    return chunk.start_line <= line <= chunk.end_line


def _same_file(path: str, written: str) -> bool:
    """Whether a path as written (absolute, installed elsewhere) can be this file: the last two segments
    agree.

    A file at the corpus root has but one segment; then, and for a bare file name, one is enough.
    """
    ours, theirs = path.split("/"), written.split("/")
    depth = min(2, len(ours), len(theirs))
    return ours[-depth:] == theirs[-depth:]
