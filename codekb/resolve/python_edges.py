"""From a solved Python program to edges with confidence and reason, and what leads outside or nowhere."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from codekb.chunks import Corpus
from codekb.resolve.edges import Edge, Resolution
from codekb.resolve.python_program import Program
from codekb.resolve.python_solve import Solver
from codekb.resolve.python_values import BOUND, CLASS, FUNCTION, INSTANCE, LIBRARY, MODULE

CONFIDENCE = {
    "local name": 0.99, "imported name": 0.98, "module attribute": 0.98, "constructor": 0.98, "self method": 0.97,
    "inherited method": 0.96, "super method": 0.96, "class method": 0.97, "instance method": 0.95, "value": 0.93,
    "decorator": 0.97, "callback": 0.93, "partial": 0.93, "property": 0.94, "operator": 0.93, "iteration": 0.93,
    "context manager": 0.95, "call of an instance": 0.94, "raised class": 0.96, "function": 0.93,
    "overriding method": 0.85, "mixed-in method": 0.88, "name by its start": 0.8, "class definition": 0.95,
}  # fmt: skip
"""How sure a single target is, by the way it was found."""
BY_NUMBER = ((1, 1.0), (2, 0.95), (4, 0.85), (8, 0.7))
"""Of n possible targets at one place, each is as sure as the single one times this; beyond the last, `MANY`."""
MANY = 0.5
MAX_USES = 3
"""A name that may mean more definitions than this is a variable, not a reference to one of them."""


def resolve_python(corpus: Corpus, level: str) -> Resolution:
    """Everything the solver finds out at `level` (`import`, `type` or `flow`)."""
    program = Program(corpus)
    solver = Solver(program, level)
    solver.solve()
    resolution = Writer(solver, corpus).write()
    solver.handlers, solver.models = [], {}  # the cycles by which the solver would outlive its use
    return resolution


@cache
def _sure(reason: str, count: int, crowded: bool) -> float:
    """The confidence in one of `count` targets; `crowded`: the call's variable had no room for all its values."""
    factor = next((f for n, f in BY_NUMBER if count <= n), MANY)
    return CONFIDENCE[reason] * (min(factor, MANY) if crowded else factor)


class Writer:
    """Turns numbers back into chunk ids; references of chunks that are not in the corpus are left out."""

    def __init__(self, solver: Solver, corpus: Corpus) -> None:
        self.solver = solver
        self.program = solver.program
        self.inside = [corpus.get(chunk_id) is not None for chunk_id in self.program.ids]
        self.result = Resolution()

    def write(self) -> Resolution:
        self._calls()
        self._outside()
        self._uses()
        self._classes()
        self._imports()
        for chunk, parent in enumerate(self.program.parents):
            if parent >= 0:
                self._edge(parent, chunk, "contains", 0, 1.0, "defined inside")
        return self.result

    def _edge(self, source: int, target: int, relation: str, line: int, confidence: float, reason: str) -> None:
        if self.inside[source] and self.inside[target]:
            ids = self.program.ids
            self.result.edges.append(Edge(ids[source], ids[target], relation, line, round(confidence, 3), reason))

    def _calls(self) -> None:
        found = self.solver.found
        targets = Counter([site for site, _ in {(site, target) for site, _, target, _, _ in found}])
        syntax = {site.number: site for site in self.solver.call_sites}
        full = self.solver.full
        for number, owner, target, line, reason in found:
            site = syntax.get(number)
            if reason == "function":
                reason = self._reason(site, target)
            crowded = site is not None and site.func in full
            self._edge(owner, target, "calls", line, _sure(reason, targets[number], crowded), reason)

    def _reason(self, site: Any, target: int) -> str:
        """How a plain function came to be called, by how the call is written."""
        if site is None:
            return "value"
        if "." in site.text:
            name = site.text.rpartition(".")[2]
            return "module attribute" if self._named(target) == name and site.text.count("(") == 0 else "value"
        if self._named(target) != site.text:
            return "imported name" if self._is_alias(site) else "value"
        same = self.program.file_of[target] == self.program.file_of[site.owner]
        return "local name" if same else "imported name"

    def _is_alias(self, site: Any) -> bool:
        return site.text in self.program.facts[self.program.file_of[site.owner]]["bound"]

    def _named(self, chunk: int) -> str:
        return self.program.ids[chunk].rpartition("::")[2].rpartition(".")[2].partition("#")[0]

    def _outside(self) -> None:
        ids, result = self.program.ids, self.result
        result.external += [(ids[o], name, line) for o, name, line in self.solver.outside if self.inside[o]]
        for number, facts in enumerate(self.program.facts):
            base = self.program.chunk_bases[number]
            result.external += [
                (ids[base + o], n, line) for o, n, line in facts.get("plain", ()) if self.inside[base + o]
            ]
            result.unresolved += [
                (ids[base + o], n, line) for o, n, line in facts.get("lost", ()) if self.inside[base + o]
            ]
        known = {(owner, line, name.rpartition(".")[2]) for owner, name, line in self.solver.outside}
        for site in self.solver.call_sites:
            if site.decorated >= 0 and (site.owner, site.line, site.text.rpartition(".")[2]) in known:
                continue  # what `@lru_cache(9)` calls is as external as what makes it
            if not site.hit and self.inside[site.owner]:
                result.unresolved.append((ids[site.owner], site.text, site.line))

    def _uses(self) -> None:
        kind, first = self.solver.values.kind, self.solver.values.first
        for number, facts in enumerate(self.program.facts):
            base, chunk_base = self.program.bases[number], self.program.chunk_bases[number]
            uses = facts.get("uses", ())
            for var, owner, line in zip(uses[::3], uses[1::3], uses[2::3], strict=True):
                held = self.solver.points[base + var]
                if not held or len(held) > MAX_USES:
                    continue
                targets = [first[v] for v in sorted(held) if kind[v] in (FUNCTION, CLASS)]
                for target in targets:
                    self._edge(chunk_base + owner, target, "uses", line, 0.97 / len(targets), "reference")

    def _classes(self) -> None:
        for one in self.program.classes.values():
            for var, _, line in one.bases:
                for value in self.solver.held(var):
                    if self.solver.values.kind[value] == CLASS and self.solver.values.first[value] in one.parents:
                        self._edge(one.chunk, self.solver.values.first[value], "inherits", line, 0.99, "base class")
            self._overrides(one.chunk)

    def _overrides(self, chunk: int) -> None:
        program = self.program
        for name in program.classes[chunk].attrs:
            own = self._method(chunk, name)
            if own < 0:
                continue
            for other in program.mro(chunk)[1:]:
                base = self._method(other, name)
                if base >= 0:
                    self._edge(own, base, "overrides", 0, 0.98, "same method of a base class")
                    break

    def _method(self, chunk: int, name: str) -> int:
        """The function that a class itself defines under this name, -1 for none."""
        var = self.program.classes[chunk].attrs.get(name, -1)
        for value in self.solver.held(var):
            if self.solver.values.kind[value] == FUNCTION:
                function = self.program.functions.get(self.solver.values.first[value])
                if function is not None and function.owner == chunk:
                    return int(function.chunk)
        return -1

    def _imports(self) -> None:
        for owner, module, line in self.solver.imported:
            if module < len(self.program.facts):
                number = self.program.file_of[owner]
                if module != number:
                    source, target = self.program.chunk_bases[number], self.program.chunk_bases[module]
                    self._edge(source, target, "imports", line, 0.99, "import statement")


__all__ = ["BOUND", "INSTANCE", "LIBRARY", "MODULE", "resolve_python"]
