"""Facts of the program to tasks of the solver, and the order in which they are settled. One call: `solve`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from codekb.resolve.python_core import (
    ATTR,
    MAX_VALUES,
    PASS_CLASS,
    Site,
)  # fmt: skip
from codekb.resolve.python_creation import Creation
from codekb.resolve.python_program import Program
from codekb.resolve.python_values import (
    BOUND,
    CLASS,
    CONSTANT,
    FUNCTION,
    INSTANCE,
    LIBRARY,
    PARTIAL,
)  # fmt: skip

_EARLY = frozenset({ATTR, PASS_CLASS})
"""Tasks that run before the order of classes is known: those by which base classes are found."""


class Solver(Creation):
    """A program at one level: `import`, `type` or `flow`."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.handlers = [
            self.on_attr, self.on_set_attr, self.on_call, self.on_item, self.on_set_item, self.on_iterate,
            self.on_unpack, self.on_operate, self.on_protocol, self.on_enter, self.on_raise, self.on_annotate,
            self.on_narrow, self.on_super_of, self.on_collect, self.on_pass_class, self.on_bind, self.on_spread,
            self.on_slice, self.on_get, self.on_new, self.on_super, self.on_type_of, self.on_return_class,
            self.on_decorated, self.on_set_described,
        ]  # fmt: skip

    def solve(self) -> None:
        self._find_computed()
        for number, facts in enumerate(self.program.facts):
            if "count" in facts:
                self.load_names(number, facts)
        handlers, self.handlers = self.handlers, [self._postpone] * len(self.handlers)
        for task in _EARLY:
            self.handlers[task] = handlers[task]
        self.drain()
        self._settle_classes()
        self.handlers = handlers
        postponed, self.postponed = self.postponed, []
        for entry, values in postponed:
            self.handlers[entry[0]](entry, values)
        self.drain()
        if self.flow:
            self.find_abstract()
        for number, facts in enumerate(self.program.facts):
            if "count" in facts:
                self.load_flows(number, facts)
        self.drain()
        self._close()

    def _find_computed(self) -> None:
        """Names of attributes that may run code when read: properties, and class attributes made by a call."""
        functions, classes = self.program.functions, self.program.classes
        for function in functions.values():
            if "property" in function.flags:
                self.computed.add(self.program.ids[function.chunk].rpartition(".")[2].partition("#")[0])
        descriptors = any("__get__" in one.attrs or "__set__" in one.attrs for one in classes.values())
        for number, facts in enumerate(self.program.facts):
            base = self.program.bases[number]
            made = {base + c[0] for c in facts.get("calls", ()) if descriptors or c[6] == "property"}
            if made or (facts.get("decorations") and descriptors):
                made |= {base + d[0] for d in facts["decorations"]}
                first, end = self.program.chunk_bases[number], self.program.chunk_bases[number] + len(facts["ids"])
                for chunk in range(first, end):
                    if chunk in classes:
                        self.computed.update(n for n, var in classes[chunk].attrs.items() if var in made)

    def _postpone(self, task: tuple[Any, ...], values: list[int]) -> None:
        self.postponed.append((task, values))

    def _close(self) -> None:
        """What stays open when all is settled: keys of unknown value, decorators that could not be followed."""
        self.close_items()
        self.close_given_back()
        if self.flow:
            self.drain()
            self._close_decorations()
            self.drain()
            self.close_abstract()
            self.drain()
            self.close_mixins()
            self.close_affixes()
            self.close_definitions()
        self.drain()
        self.close_items()

    def _settle_classes(self) -> None:
        kind, first = self.values.kind, self.values.first
        for one in self.program.classes.values():
            for var, text, _ in one.bases:
                held = self.held(var)
                parents = [first[v] for v in held if kind[v] == CLASS and first[v] in self.program.classes]
                one.parents += [p for p in parents if p not in one.parents and p != one.chunk]
                outside = [first[v] for v in held if kind[v] == LIBRARY]
                one.library += outside
                if not parents and not outside and text != "object":
                    one.unknown = True
        for chunk in self.program.classes:
            self.program.mro(chunk)
        self.settled = True

    def _close_decorations(self) -> None:
        """A decorated name also means the function itself where what its decorator returns cannot be told apart."""
        kind, first = self.values.kind, self.values.first
        used: Counter[int] = Counter()
        for site, _ in self.decorated:
            used.update(self._decorator_chunks(site))
        for site, target in self.decorated:
            crowded = any(used[c] > MAX_VALUES for c in self._decorator_chunks(site))
            held = self.held(target)
            callable_ones = [v for v in held if kind[v] in (FUNCTION, BOUND, CLASS, PARTIAL)]
            called = [v for v in held if kind[v] == INSTANCE and self.defines(first[v], "__call__")]
            if crowded or not (callable_ones or called):
                self.copy(site.decorated, target)

    def _decorator_chunks(self, site: Site) -> set[int]:
        kind, first, second = self.values.kind, self.values.first, self.values.second
        chunks = set()
        for value in self.held(site.func):
            if kind[value] in (FUNCTION, CLASS, INSTANCE):
                chunks.add(first[value])
            elif kind[value] == BOUND:
                chunks.add(first[first[value]] if kind[second[value]] != CONSTANT else -1)
        return chunks
