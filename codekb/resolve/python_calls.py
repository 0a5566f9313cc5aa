"""What a call does: which function runs, how arguments reach parameters, what comes back. Library functions apart."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_core import (
    BIND,
    CALL,
    NEW_BOUND,
    SUPER_FOR,
    Site,
)  # fmt: skip
from codekb.resolve.python_program import Function, Program
from codekb.resolve.python_returning import Returning
from codekb.resolve.python_values import (
    BOUND,
    BOX_METHOD,
    CLASS,
    CLASS_METHOD,
    FUNCTION,
    INSTANCE,
    LIBRARY,
    PARTIAL,
    STATIC,
    SUPER,
)  # fmt: skip


class Calls(Returning):
    """Adds calls to the solver; `found` receives (site number, owner, target chunk, line, reason)."""

    sites: int = 0

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.called: set[tuple[int, int, int]] = set()  # (site, object, arguments): calls of objects that are followed
        self.abstract: set[int] = set()  # chunks of functions that only subclasses implement
        self.declared: list[tuple[Site, int, int]] = []  # calls of these: (site, function, class of the receiver)

    def site(self, owner: int, line: int, text: str, args: list[Any], reason: str, target: int) -> Site:
        self.sites += 1
        return Site(self.sites, target, -1, args, [], owner, line, text, reason)

    def edge(self, site: Site, target: int, reason: str) -> None:
        site.hit = True
        if site.line > 0 and site.owner >= 0:
            self.found.append((site.number, site.owner, target, site.line, site.reason or reason))

    def on_call(self, task: tuple[Any, ...], values: list[int]) -> None:
        site: Site = task[1]
        kind, first, second = self.values.kind, self.values.first, self.values.second
        for value in values:
            sort = kind[value]
            if sort == FUNCTION:
                self.run(site, first[value], -1, "function")
            elif sort == BOUND:
                self._run_bound(site, first[value], second[value])
            elif sort == CLASS:
                self.instantiate(site, value)
            elif sort == LIBRARY:
                site.hit = True
                if site.line > 0 and site.owner >= 0:
                    self.outside.append((site.owner, first[value], site.line))
                self.library_call(site, first[value])
            elif sort == INSTANCE:
                self._call_instance(site, value)
            elif sort == BOX_METHOD:
                site.hit = True
                self.box_call(site, first[value], second[value])
            elif sort == PARTIAL:
                self.partial_call(site, first[value])
            elif sort in (STATIC, CLASS_METHOD):
                self.on_call(task, [first[value]])

    def _call_instance(self, site: Site, value: int) -> None:
        """`x()` is `x.__call__()`, once a call and object: that attribute may be the same kind of object again."""
        key = (site.number, value, len(site.args))
        if key not in self.called and self.defines(self.values.first[value], "__call__"):
            self.called.add(key)
            self.wait(self.member(value, "__call__"), (CALL, self.renamed(site, "call of an instance")))

    def renamed(self, site: Site, reason: str) -> Site:
        """The same call under another reason, counted at the same place."""
        other = Site(site.number, site.result, site.func, site.args, site.kwargs, site.owner, site.line, site.text,
                     site.reason or reason)  # fmt: skip
        other.partials = site.partials
        site.hit = True
        return other

    def _run_bound(self, site: Site, function: int, receiver: int) -> None:
        chunk = self.values.first[function]
        if chunk in site.done:
            self.run(site, chunk, receiver, "")
            return
        sort = self.values.kind[receiver]
        owner = self.program.functions[chunk].owner
        if sort == CLASS:
            reason = "class method"
        elif site.text.startswith(("self.", "cls.")) and site.text.count(".") == 1:
            same = self.values.first[receiver] == owner
            reason = "self method" if same else "inherited method"
        elif site.text.startswith("super()"):
            reason = "super method"
        else:
            reason = "instance method"
        if chunk in self.abstract and sort == INSTANCE:
            self.declared.append((site, chunk, self.values.first[receiver]))
        self.run(site, chunk, receiver, reason)

    def run(self, site: Site, chunk: int, receiver: int, reason: str) -> None:
        """A function of the corpus is called: an edge, its arguments, its result."""
        function = self.program.functions.get(chunk)
        if function is None:
            return
        if receiver >= 0 and function.positional and self.types:
            self.receive(function, receiver)
        if chunk in site.done:
            if site.result >= 0 and receiver >= 0:
                self.give_back_receiver(function, site, receiver)
            return
        site.done.add(chunk)
        self.edge(site, chunk, reason)
        if self.flow:
            self.bind(function, site, 1 if receiver >= 0 else 0)
        if site.result >= 0 and self.types:
            self.give_back(function, site, receiver)

    def receive(self, function: Function, receiver: int) -> None:
        """The receiver reaches `self`: at type level every method knows only its own class."""
        if function.positional and (self.flow or function.owner < 0):
            self.add(function.positional[0], receiver)

    # classes

    def instantiate(self, site: Site, value: int) -> None:
        chunk = self.values.first[value]
        made = self.values.of(INSTANCE, chunk)
        if site.decorated >= 0 and not self.types:
            return
        constructors = [name for name in ("__new__", "__init__") if self.defines(chunk, name)]
        made_here = "__new__" not in constructors and not self._is_metaclass(chunk)
        if self.types and site.result >= 0 and made_here:
            self.add(site.result, made)
        if "__init__" not in constructors:
            self.edge(site, chunk, "constructor")
            if self.flow and not constructors and (site.args or site.kwargs):
                self.bind_fields(chunk, site)
        for name in constructors:
            self._construct(site, value, made, name)
        if self.types and self.defines(chunk, "__post_init__"):
            post = self.renamed(site, "constructor")
            self.wait(self.member(made, "__post_init__"), (CALL, self.bare(post)))

    def _is_metaclass(self, chunk: int) -> bool:
        return self.program.library_base(chunk) == "builtins.type"

    def bare(self, site: Site) -> Site:
        return Site(site.number, -1, -1, [], [], site.owner, site.line, site.text, site.reason)

    def _construct(self, site: Site, value: int, made: int, name: str) -> None:
        receiver = made if name == "__init__" and self.types else value
        inner = self.renamed(site, "constructor")
        inner.result = site.result if name == "__new__" else -1
        attr = next(
            self.program.classes[one].attrs[name]
            for one in self.program.mro(self.values.first[value])
            if name in self.program.classes[one].attrs
        )
        if not self.types:
            self.wait(attr, (CALL, inner))
            return
        if name == "__init__":
            self.wait(self.member(receiver, name), (CALL, inner))
            return
        var = self.new()  # __new__ is a static method that is given the class
        self.wait(attr, (NEW_BOUND, value, var))
        self.wait(var, (CALL, inner))

    def on_new(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, klass, target = task
        for value in values:
            if self.values.kind[value] == FUNCTION:
                self.add(target, self.values.of(BOUND, value, klass))

    # super

    def on_super(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`super()` for every receiver that reaches `self`."""
        _, chunk, target = task
        for value in values:
            if self.values.kind[value] in (INSTANCE, CLASS):
                self.add(target, self.values.of(SUPER, chunk, value))

    def on_super_of(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`super(C, x)`: the classes first, then the receivers."""
        _, receiver, target = task
        for value in values:
            if self.values.kind[value] == CLASS:
                self.wait(receiver, (SUPER_FOR, self.values.first[value], target))

    def _of_other(self, value: int, name: str) -> int:
        if self.values.kind[value] != SUPER:
            return super()._of_other(value, name)
        chunk, receiver = self.values.first[value], self.values.second[value]
        order = self.program.mro(self.values.first[receiver])
        after = order[order.index(chunk) + 1 :] if chunk in order else self.program.mro(chunk)[1:]
        var = self.new()
        for one in after:
            attr = self.program.classes[one].attrs.get(name, -1)
            if attr >= 0:
                if name == "__new__":
                    self.copy(attr, var)
                else:
                    self.wait(attr, (BIND, receiver, var))
                return var
        outer = self.program.library_base(chunk)
        if outer or name in _OF_OBJECT:
            self.add(var, self.library(f"{outer or 'builtins.object'}.{name}"))
        return var

    def library_call(self, site: Site, name: str) -> None:
        raise NotImplementedError

    def box_call(self, site: Site, box: int, name: str) -> None:
        raise NotImplementedError

    def partial_call(self, site: Site, number: int) -> None:
        raise NotImplementedError


_OF_OBJECT = frozenset(("__init__", "__new__", "__init_subclass__", "__setattr__", "__getattribute__", "__delattr__"))
"""Methods that every object has from `object`."""
