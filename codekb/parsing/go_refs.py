"""The references of a Go chunk, as written, from its plain operations. What they mean is not known here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from codekb.chunks import Reference
from codekb.parsing.go_expr import Expr

_TYPES = """any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64
rune string uint uint8 uint16 uint32 uint64 uintptr"""
_VALUES = """true false iota nil append cap clear close complex copy delete imag len make max min new panic
print println real recover"""
PREDECLARED = frozenset(f"{_TYPES} {_VALUES}".split())
"""Go's universe block: never a reference to the corpus unless a package declares the name itself."""


def dotted(x: Expr, slots: list[Any]) -> str:
    """An expression as a dotted name: `s.items[k].run` → `s.items[].run`, with marks for what is no name."""
    parts: list[str] = []
    while True:
        if isinstance(x, int):
            parts.append(slots[x][0])
            break
        if not isinstance(x, tuple | list) or not x:
            break
        tag = x[0]
        if tag == ".":
            parts.append("." + x[2])
        elif tag == "()":
            parts.append("()")
        elif tag in ("[]", "[:]"):
            parts.append("[]")
        elif tag == ".()":
            parts.append(".()")
        elif tag not in ("*", "&"):
            parts.append(_leaf(x))
            break
        x = x[1]
    return "".join(reversed(parts)).lstrip(".")


def _leaf(x: Expr) -> str:
    if x[0] == "n":
        return str(x[1])
    if x[0] in ("t", "{}"):
        return next(iter(type_names(x[1])), "").split("·")[0]
    return "func" if x[0] == "fn" else ""


def type_names(declared: Any) -> list[str]:
    """Every named type in a type, in order, the predeclared ones left out."""
    found: list[str] = []
    stack = [declared]
    while stack:
        t = stack.pop()
        if isinstance(t, str):
            if t not in PREDECLARED and t:
                found.append(t)
        elif isinstance(t, tuple | list) and t:
            stack.extend(reversed(_parts(t)))
    return found


def _parts(t: Sequence[Any]) -> list[Any]:
    tag = t[0]
    if tag == "struct":
        return [field[1] for field in t[1]]
    if tag == "interface":
        return [*(part for method in t[1] for part in _parts(method[1])), *(e[0] for e in t[2])]
    if tag == "func":
        return [*t[1], *t[2]]
    if tag == "inst":
        return [t[1], *t[2]]
    if tag == "union":
        return list(t[1])
    return list(t[1:])


class References:
    """Collects the references of one chunk."""

    def __init__(self, slots: list[Any], hidden: Iterable[str] = ()) -> None:
        self.slots = slots
        self.hidden = frozenset(hidden)  # type parameters
        self.found: list[Reference] = []

    def type(self, declared: Any, line: int) -> None:
        """The named types that a declared type mentions; types local to a function are none of the corpus."""
        if type(declared) is str and declared in PREDECLARED:
            return
        names = (n for n in type_names(declared) if "·" not in n and n not in self.hidden)
        self.found += [Reference(name, line, "name") for name in names]

    def ops(self, ops: Iterable[Any]) -> None:
        """Everything that the operations of a body mention."""
        for op in ops:
            if op[0] == "switch":
                for _, types in op[1]:
                    for declared in types:
                        self.type(declared, self.slots[op[1][0][0]][2])
                self.expr(op[2])
            else:
                for part in op[1:]:
                    self.expr(part)

    def expr(self, start: Expr) -> None:
        """Calls, free names and types below an expression (or a list of them), without recursion."""
        stack = [start]
        while stack:
            x = stack.pop()
            if isinstance(x, list):
                stack.extend(x)
            elif isinstance(x, tuple):
                self._tuple(x, stack)

    def _tuple(self, x: tuple[Any, ...], stack: list[Any]) -> None:
        tag = x[0]
        if tag == "()":
            self._call(x, stack)
        elif tag == "n":
            if x[1] not in PREDECLARED:
                self.found.append(Reference(x[1], x[2], "name"))
        elif tag == ".":
            self.found.append(Reference(dotted(x, self.slots), x[3], "name"))
            if not isinstance(x[1], tuple) or x[1][0] not in ("n", "."):
                stack.append(x[1])
        elif tag in ("t", "{}"):
            self.type(x[1], x[-1])
            stack.extend(part for pair in x[2] for part in pair) if tag == "{}" else None
        elif tag == ".()":
            self.type(x[2], x[3])
            stack.append(x[1])
        elif tag != "fn":
            stack.extend(part for part in x[1:] if isinstance(part, list | tuple))

    def _call(self, x: tuple[Any, ...], stack: list[Any]) -> None:
        function = x[1]
        stack.extend(x[2])
        while isinstance(function, tuple) and function[0] in ("[]", "*"):
            stack.extend(function[2] if function[0] == "[]" else ())
            function = function[1]
        name = dotted(function, self.slots)
        if name and not (isinstance(function, tuple) and function[0] in ("t", "fn", "()")):
            self.found.append(Reference(name, x[3], "call"))
        if isinstance(function, tuple):
            if function[0] == ".":
                inner = function[1]
                if isinstance(inner, tuple) and inner[0] != "n":
                    stack.append(inner)
            elif function[0] != "n":
                stack.append(function)

    def sorted(self) -> tuple[Reference, ...]:
        """In line order; of equal names (not calls) on one line only one."""
        seen: set[Reference] = set()
        kept: list[Reference] = []
        for reference in sorted(self.found, key=lambda r: r.line):
            if reference.kind == "call" or reference not in seen:
                seen.add(reference)
                kept.append(reference)
        return tuple(kept)
