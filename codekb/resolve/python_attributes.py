"""Names, attributes and inheritance: what `x.name` is for every kind of `x`. Part of the solver."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_core import BIND, GET, NEW_BOUND, SET_DESCRIBED, Core
from codekb.resolve.python_program import BUILTINS, Program
from codekb.resolve.python_values import (
    BOUND,
    BOX,
    CLASS,
    CLASS_METHOD,
    CONSTANT,
    FUNCTION,
    INSTANCE,
    LIBRARY,
    LIBRARY_OBJECT,
    MODULE,
    PROPERTY,
    STATIC,
)  # fmt: skip

MAX_DOTS = 6
"""Segments of a library name that is followed: a chain of attributes on a library object has no end."""


class Attributes(Core):
    """Names, attributes, inheritance: what `x.name` is for every kind of `x`."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.members: dict[tuple[int, str], int] = {}  # (value, name) → the variable of that attribute
        self.cells: dict[tuple[int, str], int] = {}  # (class chunk, name) → what instances store there
        self.stored = {fact[1] for facts in program.facts for fact in facts.get("set_attrs", ())}
        if self.flow:
            self.stored.update(name for one in program.classes.values() for name in one.fields)
        self.found: list[tuple[int, int, int, int, str]] = []  # (site, owner, target chunk, line, reason)
        self.outside: list[tuple[int, str, int]] = []
        self.settled = False  # whether the resolution order of classes is known
        self.postponed: list[tuple[tuple[Any, ...], list[int]]] = []
        self.library_bases: dict[int, str] = {}
        self.computed: set[str] = set()  # names of attributes that may run code when read or set
        self.wrapped: set[int] = set()  # variables that hold what a decorator gave back

    def cell(self, chunk: int, name: str) -> int:
        var = self.cells.get((chunk, name))
        if var is None:
            var = self.cells[chunk, name] = self.new()
        return var

    def library(self, name: str) -> int:
        return self.values.of(LIBRARY, name)

    def on_attr(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, name, target, places, seen = task
        kind, first = self.values.kind, self.values.first
        for value in values:
            sort = kind[value]
            if sort in (LIBRARY, LIBRARY_OBJECT):
                dotted = first[value]
                if dotted.count(".") < MAX_DOTS:
                    self.add(target, self.library(f"{dotted}.{name}"))
                continue
            if sort == MODULE:
                self._module_attr(first[value], name, target)
            elif not self.settled:
                self._early(task, value)
            elif sort in (INSTANCE, CLASS) or self.types:
                var = self.member(value, name)
                if var >= 0:
                    if places is None:
                        self.copy(var, target)
                    else:
                        self.wait(var, (GET, target, places, seen))

    def _early(self, task: tuple[Any, ...], value: int) -> None:
        """Before the order of classes is known, a class only gives its own inner classes (they may be bases)."""
        if self.values.kind[value] == CLASS:
            one = self.program.classes.get(self.values.first[value])
            own = one.attrs.get(task[1], -1) if one else -1
            for held in self.held(own):
                if self.values.kind[held] == CLASS:
                    self.add(task[2], held)
        self.postponed.append((task, [value]))

    def _module_attr(self, module: int, name: str, target: int) -> None:
        var = self.program.member(module, name)
        if var >= 0:
            self.copy(var, target)
            return
        inner = self.program.modules.submodule(module, name)
        if inner is not None:
            self.add(target, self.values.of(MODULE, inner))
        elif self.flow and (hook := self.program.member(module, "__getattr__")) >= 0:
            self.wait(hook, (GET, target, (), set()))

    def member(self, value: int, name: str) -> int:
        """The variable of the attribute `name` of a value, -1 where it has none that is known."""
        key = (value, name)
        var = self.members.get(key)
        if var is None:
            self.members[key] = -1
            var = self.members[key] = self._member(value, name)
        return var

    def _member(self, value: int, name: str) -> int:
        sort, first = self.values.kind[value], self.values.first[value]
        if sort == INSTANCE:
            return self._of_instance(value, first, name)
        if sort == CLASS:
            return self._of_class(value, first, name)
        return self._of_other(value, name)

    def _of_other(self, value: int, name: str) -> int:
        raise NotImplementedError

    def _of_class(self, value: int, chunk: int, name: str) -> int:
        for one in self.program.mro(chunk):
            attr = self.program.classes[one].attrs.get(name, -1)
            if attr >= 0:
                var = self.new()
                if self._is_member(chunk, attr):
                    self.add(var, self.values.of(INSTANCE, chunk))
                    return var
                self.wait(attr, (BIND, value, var))
                if self.types and name in self.stored:
                    self.copy(self.cell(one, name), var)
                return var
            if self.types and name in self.program.classes[one].plain and self.is_enum(chunk):
                var = self.new()
                self.add(var, self.values.of(INSTANCE, chunk))
                return var
        return self._of_metaclass_attr(value, chunk, name)

    def _of_metaclass_attr(self, value: int, chunk: int, name: str) -> int:
        """A class is an object of its metaclass, whose methods are given the class."""
        meta = self.metaclass(chunk) if self.types else -1
        attr = next((a for one in self.program.mro(meta) if (a := self.program.classes[one].attrs.get(name, -1)) >= 0),
                    -1) if meta >= 0 else -1  # fmt: skip
        if attr < 0:
            return self._from_library(chunk, name, value)
        var = self.new()
        self.wait(attr, (NEW_BOUND, value, var))
        return var

    def metaclass(self, chunk: int) -> int:
        """The class of the corpus that makes a class, its own or an inherited one; -1 for none."""
        for one in self.program.mro(chunk):
            var = self.program.classes[one].metaclass
            for held in self.held(var) if var else ():
                if self.values.kind[held] == CLASS:
                    return int(self.values.first[held])
        return -1

    def is_enum(self, chunk: int) -> bool:
        return self.program.library_base(chunk).startswith("enum.")

    def _is_member(self, chunk: int, attr: int) -> bool:
        """Whether a class attribute is a member of an enumeration, and so an instance of its class."""
        if not self.types or attr in self.wrapped or not self.is_enum(chunk):
            return False
        return not any(self.values.kind[v] == FUNCTION for v in self.held(attr))

    def _of_instance(self, value: int, chunk: int, name: str) -> int:
        order = self.program.mro(chunk)
        classes = self.program.classes
        var = self.new()
        found = next((attr for one in order if (attr := classes[one].attrs.get(name, -1)) >= 0), -1)
        if self.types and name in self.stored:
            for one in order:
                self.copy(self.cell(one, name), var)
        if found >= 0:
            self.wait(found, (BIND, value, var))
        elif name == "__class__":
            self.add(var, self.values.of(CLASS, chunk))
        else:
            self.copy(self._from_library(chunk, name, value), var)
        return var

    def _from_library(self, chunk: int, name: str, value: int) -> int:
        base = self.program.library_base(chunk)
        if base:
            var = self.new()
            self.add(var, self.library(f"{base}.{name}"))
            return var
        return -1

    def on_bind(self, task: tuple[Any, ...], values: list[int]) -> None:
        """A function found in a class becomes a method of the receiver."""
        _, receiver, target = task
        kind, functions = self.values.kind, self.program.functions
        instance = kind[receiver] == INSTANCE
        for value in values:
            if kind[value] != FUNCTION:
                self.add(target, self._described(value, receiver))
                continue
            chunk = self.values.first[value]
            flags = functions[chunk].flags
            if "class" in flags:
                owner = receiver if not instance else self.values.of(CLASS, self.values.first[receiver])
                self.add(target, self.values.of(BOUND, value, owner))
            elif "static" in flags or not instance:
                self.add(target, value)
            elif "property" in flags:
                self.add(target, self.values.of(PROPERTY, chunk, receiver))
            else:
                self.add(target, self.values.of(BOUND, value, receiver))

    def _described(self, value: int, receiver: int) -> int:
        """What a class attribute that is no function gives: a descriptor's `__get__`, a property made by a call."""
        kind, first, second = self.values.kind, self.values.first, self.values.second
        if kind[value] == INSTANCE:
            for one in self.program.mro(first[value]):
                for held in self.held(self.program.classes[one].attrs.get("__get__", -1)):
                    if kind[held] == FUNCTION:
                        return self.values.of(PROPERTY, first[held], value)
        if kind[value] == PROPERTY and second[value] == -1 and kind[receiver] == INSTANCE:
            return self.values.of(PROPERTY, first[value], receiver)
        if kind[value] == STATIC:
            return int(first[value])
        if kind[value] == CLASS_METHOD:
            return self.values.of(BOUND, first[value], self.values.of(CLASS, first[receiver]))
        return value

    def on_set_attr(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, name, source, owner, line = task
        kind, first = self.values.kind, self.values.first
        for value in values:
            sort = kind[value]
            if sort in (INSTANCE, CLASS):
                setter = next(
                    (s for c in self.program.mro(first[value]) if (s := self.program.classes[c].setters.get(name))),
                    None,
                )
                if setter is not None:
                    self.call_setter(setter, value, name, source, owner, line)
                    continue
                if sort == INSTANCE and name in self.computed:
                    self._set_described(first[value], name, source, owner, line)
                self.copy(source, self.cell(first[value], name))
                if sort == CLASS and source >= 0 and name in self.program.classes[first[value]].attrs:
                    self.copy(source, self.program.classes[first[value]].attrs[name])
                elif sort == CLASS and source >= 0:
                    self.program.classes[first[value]].attrs[name] = self.cell(first[value], name)
            elif sort == MODULE:
                self.copy(source, self.program.member(first[value], name))
            elif sort in (FUNCTION, BOX):
                self.copy(source, self.member(value, name))

    def _set_described(self, chunk: int, name: str, source: int, owner: int, line: int) -> None:
        """Assigning to an attribute that a descriptor stands for calls its `__set__`."""
        attrs = (self.program.classes[one].attrs.get(name, -1) for one in self.program.mro(chunk))
        self.wait(next((a for a in attrs if a >= 0), -1), (SET_DESCRIBED, source, owner, line))

    def call_setter(self, chunk: int, receiver: int, name: str, source: int, owner: int, line: int) -> None:
        raise NotImplementedError

    def builtin(self, name: str) -> int:
        return self.library("builtins." + name)

    def name_value(self, module: int, name: str, var: int) -> None:
        """Fill a module-level name that the module itself does not bind."""
        source = self.program.member(module, name)
        if source >= 0:
            self.copy(source, var)
        elif name in BUILTINS:
            self.add(var, self.builtin(name))

    def constant(self, value: Any) -> int:
        return self.values.of(CONSTANT, value, type(value).__name__)
