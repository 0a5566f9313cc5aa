"""Which functions stand together: callees and callers guessed by name alone, and methods of one class. No resolver.

The call graph is surer and takes seconds; for a nudge to a ranking names do as well (`benchmarks/tuning`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from codekb.chunks import Chunk

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

AMBIGUOUS = 8
"""A call that more functions than this could answer tells nothing; of fewer, each gets its share."""

CLASS = 0.5
"""What a method of the same class counts beside a callee or caller."""

OWN = ("self", "cls")


class Neighbours:
    """For each function, by position: what it calls, what calls it, and the other functions of its class or scope.

    A callee counts 1 / √(number of callees), a caller 1 / √(number of callers), another method
    `CLASS` / √(number of them): one neighbour among many says little. Ambiguous calls are divided by their targets.
    """

    def __init__(self, functions: Sequence[Chunk]) -> None:
        n = len(functions)
        callers, callees, shares = _calls(functions)
        calls = sparse.csr_array((shares, (callers, callees)), shape=(n, n), dtype=np.float64)
        self._lists = (_discounted(calls), _discounted(calls.T.tocsr()))  # callees, callers
        scopes: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, chunk in enumerate(functions):
            if scope := _scope(chunk):
                scopes[chunk.path, scope].append(at)
        self._members: list[Positions | None] = [None] * n
        for members in scopes.values():
            together = np.array(members, dtype=np.int64)
            for at in members:
                self._members[at] = together

    def evidence(self, at: int) -> Array:
        """What the function at this position says for every other: shape (functions,), 0 for most and for itself."""
        size = len(self._members)
        found = np.zeros(size)
        for matrix in self._lists:
            span = slice(*matrix.indptr[at : at + 2])
            found[matrix.indices[span]] += matrix.data[span]
        members = self._members[at]
        if members is not None and len(members) > 1:
            found[members] += CLASS / np.sqrt(len(members) - 1)
        found[at] = 0.0
        return found


def _discounted(matrix: sparse.csr_array) -> sparse.csr_array:
    """Each row divided by the square root of its number of entries."""
    lengths = np.diff(matrix.indptr)
    shares = matrix.data / np.repeat(np.sqrt(np.maximum(lengths, 1)), lengths)
    return sparse.csr_array((shares, matrix.indices, matrix.indptr), shape=matrix.shape)


def _scope(chunk: Chunk) -> str:
    return chunk.qualname.split("#")[0].rpartition(".")[0]


def _calls(functions: Sequence[Chunk]) -> tuple[list[int], list[int], list[float]]:
    """Callers, callees and shares, one entry per function that a called name can mean."""
    named: dict[str, list[int]] = defaultdict(list)
    places = [(_scope(chunk), chunk.path, chunk.namespace) for chunk in functions]
    for at, chunk in enumerate(functions):
        named[chunk.name].append(at)
    callers: list[int] = []
    callees: list[int] = []
    shares: list[float] = []
    for at, chunk in enumerate(functions):
        for written in {name: None for name, _, kind in chunk.references if kind == "call"}:
            head, _, last = written.rpartition(".")
            targets: Sequence[int] = named.get(last, ())
            if len(targets) > 1:
                targets = _likely(head, targets, places[at], places)
            if len(targets) > AMBIGUOUS:
                continue
            for to in targets:
                if to != at:
                    callers.append(at)
                    callees.append(to)
                    shares.append(1.0 / len(targets))
    return callers, callees, shares


def _likely(
    head: str, targets: Sequence[int], here: tuple[str, str, str], places: Sequence[tuple[str, str, str]]
) -> Sequence[int]:
    """Of several functions of a name, those a call written here can mean: own methods, plain functions, nearest."""
    if head and head not in OWN:
        return targets
    scope, path, folder = here
    if head:
        targets = [to for to in targets if places[to][:2] == (scope, path)] or targets
    else:
        targets = [to for to in targets if not places[to][0]]
    near = [to for to in targets if places[to][1] == path] or [to for to in targets if places[to][2] == folder]
    return near or targets
