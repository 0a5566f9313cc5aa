"""What no call names by itself: methods that override, that are mixed in, or whose name is put together."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from codekb.resolve.python_core import CALL, MAX_VALUES, Site
from codekb.resolve.python_loading import Loading
from codekb.resolve.python_program import Program
from codekb.resolve.python_values import CLASS, FUNCTION, INSTANCE

MESSAGE = frozenset(("NotImplementedError", "type", "repr", "str"))
"""What a method may call that is only there to be overridden."""


class Overriding(Loading):
    """Adds calls of abstract methods to the solver."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.below: defaultdict[int, list[int]] = defaultdict(list)  # class → all its subclasses

    def find_abstract(self) -> None:
        """Methods that stand for those of subclasses: marked as such, or made only to raise NotImplementedError."""
        kind, first = self.values.kind, self.values.first
        error = self.builtin("NotImplementedError")
        for number, facts in enumerate(self.program.facts):
            base, chunk_base = self.program.bases[number], self.program.chunk_bases[number]
            for fact in facts.get("decorations", ()):
                if fact[5].rpartition(".")[2] == "abstractmethod":
                    self.abstract.update(first[v] for v in self.held(base + fact[2]) if kind[v] == FUNCTION)
            raises, calls = facts.get("raises", ()), facts.get("calls", ())
            owners = {o for var, o in zip(raises[::3], raises[1::3], strict=True) if error in self.held(base + var)}
            owners.update(call[4] for call in calls if call[6] == "NotImplementedError")
            owners -= {call[4] for call in calls if call[4] in owners and call[6] not in MESSAGE} if owners else set()
            functions = [self.program.functions.get(chunk_base + owner) for owner in owners]
            self.abstract.update(f.chunk for f in functions if f is not None and f.owner >= 0)

    def close_abstract(self) -> None:
        """A call that is only known to reach an abstract method may reach each one that overrides it."""
        targets: defaultdict[int, set[int]] = defaultdict(set)
        for number, _, target, _, _ in self.found:
            targets[number].add(target)
        for site, chunk, klass in self.declared:
            if targets[site.number] <= self.abstract:
                overriding = self._overriding(chunk, klass)
                if len(overriding) <= MAX_VALUES:
                    for one, method in overriding.items():
                        self.run(site, method, self.values.of(INSTANCE, one), "overriding method")

    def close_affixes(self) -> None:
        """`getattr(x, f"visit_{kind}")(…)` calls any method of `x` whose name starts and ends like this."""
        while self.by_affixes:
            by_affixes, self.by_affixes = self.by_affixes, {}
            for (target, start, end), receivers in by_affixes.items():
                sites = [task[1] for task in self._waiting_calls(target)]
                for value in receivers if sites else ():
                    if self.values.kind[value] in (INSTANCE, CLASS):
                        self._call_by_affixes(value, start, end, sites)
            self.drain()

    def _call_by_affixes(self, receiver: int, start: str, end: str, sites: list[Site]) -> None:
        classes, mro = self.program.classes, self.program.mro(self.values.first[receiver])
        names = dict.fromkeys(name for one in mro for name in classes[one].attrs)
        for name in names:
            if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end):
                method = self.member(receiver, name)
                for site in sites:
                    self.wait(method, (CALL, self.renamed(site, "name by its start")))

    def _waiting_calls(self, var: int) -> list[tuple[Any, ...]]:
        """The calls that wait at a variable and at those it is copied to at once."""
        places = [var, *(self.next[var] or ())]
        return [task for place in places for task in self.waiting[place] or () if task[0] == CALL]

    def close_mixins(self) -> None:
        """`self.m()` in a class that has no `m` and whose subclasses have one, as mixins are written."""
        self._find_below()
        for site in self.call_sites:
            function = None if site.hit else self.program.functions.get(site.owner)
            if function is None or function.owner not in self.below or not site.text.startswith(("self.", "cls.")):
                continue
            name = site.text.partition(".")[2]
            found = self._from_below(function.owner, name) if name.isidentifier() else {}
            if len(found) <= MAX_VALUES:
                for method, one in found.items():
                    self.run(site, method, self.values.of(INSTANCE, one), "mixed-in method")

    def _from_below(self, klass: int, name: str) -> dict[int, int]:
        """The methods that `name` means in the classes below `klass` → such a class."""
        found: dict[int, int] = {}
        for one in self.below[klass]:
            for value in self.held(self._attr(one, name)):
                held = self.values.first[value]
                if self.values.kind[value] == FUNCTION and held in self.program.functions:
                    found.setdefault(held, one)
        return found

    def _attr(self, chunk: int, name: str) -> int:
        """The variable of the attribute that a class has or inherits, -1 for none."""
        classes = self.program.classes
        return next((classes[one].attrs[name] for one in self.program.mro(chunk) if name in classes[one].attrs), -1)

    def _find_below(self) -> None:
        if not self.below:
            for one in self.program.classes:
                for above in self.program.mro(one)[1:]:
                    self.below[above].append(one)

    def _overriding(self, chunk: int, klass: int) -> dict[int, int]:
        """Of the classes below `klass`, those that define the method themselves → theirs."""
        self._find_below()
        name = self.program.ids[chunk].rpartition(".")[2].partition("#")[0]
        found = {}
        for one in self.below[klass]:
            for value in self.held(self.program.classes[one].attrs.get(name, -1)):
                held = self.values.first[value]
                own = self.values.kind[value] == FUNCTION and self.program.functions[held].owner == one
                if own and held not in self.abstract:
                    found[one] = held
        return found
