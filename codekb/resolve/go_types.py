"""Go types as plain values: what a written type means, substitution of type parameters, matching. No lookup by name.

A meaning is None (unknown) or a tuple by its first entry: `("B", name)` predeclared · `("N", Named, arguments)` ·
`("X", dotted, arguments)` a library's type · `("U", dotted)` whatever a library returned ·
`("T", name, owner)` a type parameter · `("*", t)` · `("[]", t)` · `("map", k, v)` · `("chan", t)` ·
`("func", params, results, variadic)` ·
`("struct", ((name, t, embedded), …))` · `("interface", ((name, func), …), (embedded, …))` · `("tuple", (t, …))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Meaning: TypeAlias = Any
Bindings: TypeAlias = dict[Any, Any]
"""Type parameter (`("T", name, owner)`) → meaning."""

ANY = ("interface", (), ())
ERROR = ("interface", (("Error", ("func", (), (("B", "string"),), False)),), ())
MAX_NESTING = 40
"""Types nested deeper than this count as unknown: recursive instantiations would never end."""


def basic(name: str) -> Meaning:
    """A predeclared type; `any` is the empty interface."""
    return ANY if name == "any" else ("B", name)


def substitute(t: Meaning, bindings: Mapping[Any, Any], depth: int = 0) -> Meaning:
    """`t` with type parameters replaced by what they are bound to; unbound ones stay.

    >>> substitute(("[]", ("T", "K", 1)), {("T", "K", 1): ("B", "int")})
    ('[]', ('B', 'int'))
    """
    if t is None or not bindings or depth > MAX_NESTING:
        return t
    tag = t[0]
    if tag == "T":
        return bindings.get(t, t)
    if tag in ("B", "U"):
        return t

    def again(x: Meaning) -> Meaning:
        return substitute(x, bindings, depth + 1)

    if tag in ("N", "X"):
        return (tag, t[1], tuple(map(again, t[2]))) if t[2] else t
    if tag == "func":
        return ("func", tuple(map(again, t[1])), tuple(map(again, t[2])), t[3])
    if tag == "struct":
        return ("struct", tuple((name, again(field), embedded) for name, field, embedded in t[1]))
    if tag == "interface":
        return ("interface", tuple((name, again(f)) for name, f in t[1]), tuple(map(again, t[2])))
    if tag == "tuple":
        return ("tuple", tuple(map(again, t[1])))
    return (tag, *map(again, t[1:]))


def bind(pattern: Meaning, actual: Meaning, bindings: Bindings, depth: int = 0) -> None:
    """Learns from an argument what the type parameters of a parameter's type stand for; the first binding stays."""
    if pattern is None or actual is None or depth > MAX_NESTING:
        return
    if pattern[0] == "T":
        bindings.setdefault(pattern, actual)
        return
    if actual[0] == "N" and pattern[0] not in ("N", "B", "X"):
        actual = actual[1].underlying_with(actual[2])
    if actual is None or actual[0] != pattern[0]:
        return
    for left, right in zip(parts(pattern), parts(actual), strict=False):
        bind(left, right, bindings, depth + 1)


def parts(t: Meaning) -> tuple[Meaning, ...]:
    """The types directly inside a type, in order."""
    tag = t[0]
    if tag in ("B", "U", "T"):
        return ()
    if tag in ("N", "X"):
        return tuple(t[2])
    if tag == "func":
        return (*t[1], *t[2])
    if tag == "struct":
        return tuple(field for _, field, _ in t[1])
    if tag == "interface":
        return (*(f for _, f in t[1]), *t[2])
    return tuple(t[1]) if tag == "tuple" else tuple(t[1:])


def matches(a: Meaning, b: Meaning, depth: int = 0) -> bool:
    """Whether two types may be the same one; unknown types and type parameters may be anything."""
    if a is None or b is None or a[0] in ("T", "U") or b[0] in ("T", "U") or depth > MAX_NESTING:
        return True
    if a[0] != b[0]:
        return False
    if a[0] == "B":
        return _plain(a[1]) == _plain(b[1])
    if a[0] in ("N", "X") and a[1] != b[1]:
        return False
    if a[0] == "struct" and [f[0] for f in a[1]] != [f[0] for f in b[1]]:
        return False
    if a[0] == "interface" and sorted(m[0] for m in a[1]) != sorted(m[0] for m in b[1]):
        return False
    if a[0] == "func" and (len(a[1]), len(a[2]), a[3]) != (len(b[1]), len(b[2]), b[3]):
        return False
    left, right = parts(a), parts(b)
    return len(left) == len(right) and all(matches(x, y, depth + 1) for x, y in zip(left, right, strict=True))


def _plain(name: str) -> str:
    return {"byte": "uint8", "rune": "int32"}.get(name, name)


def pointee(t: Meaning) -> Meaning:
    """The type without one pointer."""
    return t[1] if t is not None and t[0] == "*" else t


def holds_function(t: Meaning, depth: int = 0) -> bool:
    """Whether a value of this type can carry a function to a place where it is called.

    Structs carry theirs in fields, which are followed by name; unknown types might.
    """
    if t is None or depth > MAX_NESTING:
        return True
    tag = t[0]
    if tag in ("func", "T", "interface", "X", "U"):
        return True
    if tag in ("*", "[]", "chan"):
        return holds_function(t[1], depth + 1)
    if tag == "map":
        return holds_function(t[2], depth + 1) or holds_function(t[1], depth + 1)
    if tag == "N":
        return bool(t[1].may_hold_function())
    return False
