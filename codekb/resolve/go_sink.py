"""Collects what the evaluation of Go functions finds: edges, external and unresolved names, each once."""

from __future__ import annotations

from typing import Any

from codekb.resolve.edges import Edge, Resolution
from codekb.resolve.go_declared import Func
from codekb.resolve.go_types import Meaning, parts

LEVELS = ("name", "import", "type", "flow")
DIRECT = 1.0
"""Confidence of a call whose target the language itself fixes: a declared function, a method of a known type."""

BUILD_VARIANT = 0.5
"""A declaration for another platform than the plain Linux build: it runs there, not here."""

DISPATCH = ((1, 0.8), (3, 0.6), (10, 0.4))
FUNCTION_VALUE = ((1, 0.9), (10, 0.8), (30, 0.5))
"""Confidence by the number of possible targets, the first bound that holds; more than the last bound: `MANY`.

About the share that variable type analysis (golang.org/x/tools) confirms on five Go projects, rounded down.
"""

MANY = 0.2
TEST_DOUBLE = 0.3
"""A test's implementation, reached from code that is no test."""

_LEVEL_OF = {"same package": 1, "imported name": 1, "dot import": 1}


def by_number(steps: tuple[tuple[int, float], ...], count: int) -> float:
    """The confidence for `count` possible targets.

    >>> by_number(DISPATCH, 2), by_number(DISPATCH, 50)
    (0.6, 0.2)
    """
    return next((confidence for bound, confidence in steps if count <= bound), MANY)


class Sink:
    """What was found so far. A silent one keeps nothing: types are often asked for before their code is read."""

    def __init__(self, level: str, silent: bool = False) -> None:
        self.level = LEVELS.index(level)
        self.flowing = level == "flow" and not silent
        self.silent = silent
        self.edges: dict[tuple[str, str, str, int], tuple[float, str]] = {}
        self.external: dict[tuple[str, str, int], None] = {}
        self.unresolved: dict[tuple[str, str, int], None] = {}

    def edge(self, source: str, target: str, relation: str, line: int, confidence: float, reason: str) -> None:
        """One edge; of several at one place the surest stays."""
        if self.silent or not target:
            return
        key = (source, target, relation, line)
        if key not in self.edges or self.edges[key][0] < confidence:
            self.edges[key] = (confidence, reason)

    def call(self, caller: Func, targets: list[Func], line: int, name: str, reason: str) -> None:
        """A call of a declared function; further targets are its variants for other platforms."""
        if _LEVEL_OF.get(reason, 2) > self.level:
            self.unknown(caller, name, line)
            return
        for i, target in enumerate(targets):
            confidence = DIRECT if i == 0 else BUILD_VARIANT
            self.edge(caller.id, target.id, "calls", line, confidence, reason if i == 0 else "build variant")

    def possible(self, caller: Func, targets: dict[Func, float], line: int, reason: str) -> None:
        """A call that may reach each of several functions, with the confidence of each; a library's is external."""
        own_test = caller.file.path.endswith("_test.go")
        for target, confidence in targets.items():
            if target.file.library:
                self.outside(caller, target.id.replace(f"{target.file.path}::", f"{target.file.package.folder}."), line)
                continue
            if not own_test and target.file.path.endswith("_test.go"):
                confidence = min(confidence, TEST_DOUBLE)
            if caller.file.built & 1 and not target.file.built & 1:
                confidence = min(confidence, BUILD_VARIANT)
            self.edge(caller.id, target.id, "calls", line, confidence, reason)

    def outside(self, caller: Func, dotted: str, line: int) -> None:
        """A call that leaves the corpus."""
        if not self.silent:
            self.external[(caller.id, dotted, line)] = None

    def unknown(self, caller: Func, dotted: str, line: int) -> None:
        """A call that leads nowhere known."""
        if not self.silent:
            self.unresolved[(caller.id, dotted, line)] = None

    def used(self, source: Func, targets: list[Func], line: int, reason: str) -> None:
        """Functions that are mentioned, not called."""
        if _LEVEL_OF.get(reason, 2) <= self.level:
            for i, target in enumerate(targets):
                confidence = DIRECT if i == 0 else BUILD_VARIANT
                self.edge(source.id, target.id if not target.file.library else "", "uses", line, confidence, reason)

    def type_used(self, source: str, t: Meaning, line: int) -> None:
        """Every named type of the corpus in a type that the chunk with id `source` mentions."""
        stack: list[Any] = [t]
        while stack and not self.silent:
            inner = stack.pop()
            if inner is None:
                continue
            if inner[0] == "N" and inner[1].id and inner[1].id != source:
                self.edge(source, inner[1].id, "uses", line, DIRECT, "named type")
            stack.extend(parts(inner))

    def resolution(self) -> Resolution:
        """Everything, in a fixed order."""
        edges = [Edge(*key[:4], *found) for key, found in sorted(self.edges.items())]
        return Resolution(edges, sorted(self.external), sorted(self.unresolved))
