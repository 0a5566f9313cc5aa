"""Library functions that wrap what they are given: `property`, `staticmethod`, `type`, `object.__new__`, methods."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_calls import Calls
from codekb.resolve.python_core import RETURN_CLASS, TYPE_OF, Site
from codekb.resolve.python_program import Program
from codekb.resolve.python_values import BOUND, CLASS, CLASS_METHOD, FUNCTION, INSTANCE, PROPERTY, STATIC


class Wrapping(Calls):
    """Adds descriptors and class makers to the solver."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.reads: dict[tuple[int, int, int], int] = {}  # place of a read → its number, one for all its getters

    def on_get(self, task: tuple[Any, ...], values: list[int]) -> None:
        """An attribute that was read: a property runs its getter, everything else is the value itself."""
        _, target, places, seen = task
        kind, first, second = self.values.kind, self.values.first, self.values.second
        for value in values:
            if kind[value] != PROPERTY:
                self.add(target, value)
                continue
            function = self.program.functions[first[value]]
            self.receive(function, second[value])
            if second[value] >= 0 and function.returns_first():
                self.add(target, second[value])
            if function.chunk in seen:
                continue
            seen.add(function.chunk)
            self.copy(function.ret, target)
            for owner, line in zip(places[::2], places[1::2], strict=True):
                place = (target, owner, line)
                if place not in self.reads:
                    self.sites += 1
                    self.reads[place] = self.sites
                self.found.append((self.reads[place], owner, first[value], line, "property"))

    def shared_site(self, key: tuple[Any, ...], owner: int, line: int, args: list[int], reason: str) -> Site:
        """The call that syntax makes at a place: one for all that it may reach, so that these are counted together."""
        site = self.implied.get(key)
        if site is None:
            site = self.implied[key] = self.site(owner, line, "", args, reason, -1)
        return site

    def call_setter(self, chunk: int, receiver: int, name: str, source: int, owner: int, line: int) -> None:
        site = self.shared_site((name, source, owner, line, "set"), owner, line, [source], "property")
        self.run(site, chunk, receiver, "property")

    def given(self, site: Site, position: int, name: str = "") -> int:
        """The variable of an argument, by position or name; -1 without one, and for constants."""
        if 0 <= position < len(site.args) and site.args[position].__class__ is int:
            return max(int(site.args[position]), -1)
        return next((max(var, -1) for key, var in site.kwargs if key == name), -1) if name else -1

    def _wrapping(self, site: Site, sort: int, name: str = "") -> None:
        if site.result >= 0:
            self.wait(self.given(site, 0, name), (RETURN_CLASS, site.result, sort))

    def _property(self, site: Site) -> None:
        self._wrapping(site, PROPERTY, "fget")

    def _static(self, site: Site) -> None:
        self._wrapping(site, STATIC)

    def _class_method(self, site: Site) -> None:
        self._wrapping(site, CLASS_METHOD)

    def _bind_method(self, site: Site) -> None:
        if site.result >= 0 and len(site.args) == 2:
            function, receiver = self.given(site, 0), self.given(site, 1)
            for value in self.held(function):
                for held in self.held(receiver):
                    if self.values.kind[value] == FUNCTION:
                        self.add(site.result, self.values.of(BOUND, value, held))

    def on_return_class(self, task: tuple[Any, ...], values: list[int]) -> None:
        """Wraps what arrives: a class to its instance, a function to a descriptor of the kind asked for."""
        _, target, sort = task
        kind, first = self.values.kind, self.values.first
        for value in values:
            if sort < 0 and kind[value] == CLASS:
                self.add(target, self.values.of(INSTANCE, first[value]))
            elif sort == PROPERTY and kind[value] == FUNCTION:
                self.add(target, self.values.of(PROPERTY, first[value], -1))
            elif sort in (STATIC, CLASS_METHOD) and kind[value] == FUNCTION:
                self.add(target, self.values.of(sort, value))
            elif sort == BOUND and kind[value] == FUNCTION:
                for receiver in self.held(task[3] if len(task) > 3 else -1):
                    self.add(target, self.values.of(BOUND, value, receiver))

    def _new(self, site: Site) -> None:
        if site.result >= 0:
            self.wait(self.given(site, 0), (RETURN_CLASS, site.result, -1))

    def _type(self, site: Site) -> None:
        if len(site.args) == 1 and site.result >= 0:
            self.wait(self.given(site, 0), (TYPE_OF, site.result))

    def on_type_of(self, task: tuple[Any, ...], values: list[int]) -> None:
        for value in values:
            if self.values.kind[value] == INSTANCE:
                self.add(task[1], self.values.of(CLASS, self.values.first[value]))
