"""Operators, protocol methods, context managers, raised classes, declared and tested types."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_box_methods import BoxMethods
from codekb.resolve.python_core import CALL
from codekb.resolve.python_values import BOX, CLASS, GENERATOR, INSTANCE, LIBRARY, LIBRARY_OBJECT

_REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_FALLBACK = {"__str__": "__repr__", "__format__": "__str__", "__contains__": "__iter__", "__bool__": "__len__"}
COMPARISONS = frozenset(_REFLECTED)


class Operators(BoxMethods):
    """Adds what Python's syntax calls by itself."""

    def on_operate(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`left op right`; `side` says which of the two the values are."""
        _, target, other, name, owner, line, side = task
        for value in values:
            sort = self.values.kind[value]
            if sort == BOX and name in ("add", "iadd", "or", "ior", "mul", "imul"):
                self.add(target, value)
            elif sort == INSTANCE:
                self._operate_instance(value, (target, other, name, owner, line), side)

    def _operate_instance(self, value: int, place: tuple[int, int, str, int, int], side: str) -> None:
        target, other, name, owner, line = place
        chunk = self.values.first[value]
        plain = name[1:] if name.startswith("i") and f"__{name[1:]}__" in _IN_PLACE else name
        if side == "left":
            names = [f"__{name}__", f"__{plain}__", *(["__eq__"] if name == "ne" else [])]
        else:
            reflected = _REFLECTED.get(plain)
            if any(self._operates(v, name) or self._operates(v, plain) for v in self.held(other)):
                return
            names = [f"__{reflected}__" if reflected else f"__r{plain}__"]
        found = next((n for n in names if self.defines(chunk, n)), None)
        if found:
            result = -1 if name in COMPARISONS else target
            self.method(value, found, [other], owner, line, "operator", result)

    def _operates(self, value: int, name: str) -> bool:
        return self.values.kind[value] == INSTANCE and self.defines(self.values.first[value], f"__{name}__")

    def on_protocol(self, task: tuple[Any, ...], values: list[int]) -> None:
        """A method that an operator or builtin calls on its operand."""
        _, target, name, owner, line = task
        for value in values:
            found: str | None = name
            while found and not self.method(value, found, [], owner, line, "operator", target):
                found = _FALLBACK.get(found)

    def on_set_described(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`x.name = y` where the class keeps a descriptor under that name."""
        _, source, owner, line = task
        for value in values:
            self.method(value, "__set__", [-1, source], owner, line, "property", -1)

    def on_enter(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`with x as y`: entering gives y, leaving is a call too."""
        _, target, owner, line, is_async = task
        start, end = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        for value in values:
            sort = self.values.kind[value]
            if sort == INSTANCE:
                entered = self.method(value, start, [], owner, line, "context manager", target)
                self.method(value, end, [], owner, line, "context manager", -1)
                if not entered and self.program.library_base(self.values.first[value]):
                    self.add(target, value)
            elif sort == GENERATOR:
                self.copy(self.element(value, -1, -1), target)
            elif sort in (LIBRARY_OBJECT, BOX):
                self.add(target, value)

    def on_raise(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`raise E` instantiates E."""
        _, owner, line = task
        for value in values:
            if self.values.kind[value] == CLASS:
                self.instantiate(self.shared_site((owner, line, "raise"), owner, line, [], "raised class"), value)

    def on_annotate(self, task: tuple[Any, ...], values: list[int]) -> None:
        """A declared class: the variable holds an instance of it."""
        for value in values:
            if self.values.kind[value] == CLASS:
                self.add(task[1], self.values.of(INSTANCE, self.values.first[value]))
            elif self.values.kind[value] == LIBRARY:
                self.add(task[1], self.values.of(LIBRARY_OBJECT, self.values.first[value]))

    def on_narrow(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`isinstance(x, C)`: of what x holds, the instances of C and its subclasses, or (`keep` 0) all the others."""
        _, target, klass, keep = task
        wanted = [self.values.first[v] for v in self.held(klass) if self.values.kind[v] == CLASS]
        for value in values:
            known = self.values.kind[value] == INSTANCE
            matches = known and any(self.program.is_subclass(self.values.first[value], one) for one in wanted)
            if matches if keep else not matches:
                self.add(target, value)

    def on_pass_class(self, task: tuple[Any, ...], values: list[int]) -> None:
        """A decorated class stays the class, whatever else its decorator may be."""
        for value in values:
            if self.values.kind[value] == CLASS:
                self.decorated_classes.add(value)
                self.add(task[1], value)

    def on_decorated(self, task: tuple[Any, ...], values: list[int]) -> None:
        """What a decorator returned: of decorated classes only the one that was given here, not the ones of others."""
        _, source, target = task
        for value in values:
            if value not in self.decorated_classes or value in self.held(source):
                self.add(target, value)

    def call_again(self, var: int, owner: int, line: int, args: list[int], reason: str, target: int) -> None:
        self.wait(var, (CALL, self.site(owner, line, "", args, reason, target)))


_IN_PLACE = frozenset(
    f"__{n}__"
    for n in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "lshift",
        "rshift",
        "or",
        "xor",
        "and",
        "matmul",
    ]
)
