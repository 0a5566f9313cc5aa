"""What a variable of a Python program can hold, as the resolvers see it: abstract values, each interned to a number."""

from __future__ import annotations

from typing import Any

FUNCTION, CLASS, INSTANCE, MODULE, LIBRARY, LIBRARY_OBJECT, BOUND, BOX = range(8)
BOX_METHOD, GENERATOR, PARTIAL, SUPER, PROPERTY, STATIC, CLASS_METHOD, CONSTANT = range(8, 16)
"""Kinds of values, with their two parts:

FUNCTION (chunk, 0), CLASS (chunk, 0), INSTANCE (chunk of the class, 0), MODULE (module, 0), LIBRARY (dotted name, 0) an
object of a library, LIBRARY_OBJECT (dotted name, 0) an instance of a library's class, BOUND (function value, receiver
value), BOX (box, 0) a list, tuple, set or dict by the place that makes it, BOX_METHOD (box value, name), GENERATOR
(chunk of the generator function, 0), PARTIAL (partial, 0), SUPER (chunk of the class, receiver value), PROPERTY
(function chunk, receiver value) a property to be read, STATIC and CLASS_METHOD (function value, 0), CONSTANT (value,
its type's name).
"""
CALLABLE = frozenset({FUNCTION, CLASS, BOUND, PARTIAL, INSTANCE, LIBRARY, BOX_METHOD, CLASS_METHOD, STATIC})


class Values:
    """Interned values: `kind[v]`, `first[v]`, `second[v]` of value number `v`."""

    __slots__ = ("_known", "first", "kind", "second")

    def __init__(self) -> None:
        self._known: dict[tuple[int, Any, Any], int] = {}
        self.kind: list[int] = []
        self.first: list[Any] = []
        self.second: list[Any] = []

    def of(self, kind: int, first: Any, second: Any = 0) -> int:
        """The number of this value, a new one if need be."""
        key = (kind, first, second)
        value = self._known.get(key)
        if value is None:
            value = self._known[key] = len(self.kind)
            self.kind.append(kind)
            self.first.append(first)
            self.second.append(second)
        return value
