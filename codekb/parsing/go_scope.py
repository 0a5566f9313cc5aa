"""Names in scope while one Go function is read, and type expressions as plain data. No statements.

Variables of a function become numbered slots, so that shadowing is settled once, here, and never again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from tree_sitter import Node

Type: TypeAlias = Any
"""A type as written: `"int"`, `"pkg.Name"`, `("*", T)`, `("[]", T)`, `("map", K, V)`, `("chan", T)`,
`("func", parameters, results, variadic)`, `("struct", fields)`, `("interface", methods, embedded)`,
`("inst", base, arguments)`, `("union", terms)`; None where it could not be read."""

MAX_DEPTH = 150
"""Nesting beyond this is left out and noted: hand-written code stays below 30, Python's stack is 1,000."""


def text(node: Node | None) -> str:
    """The source of a node; bytes that are no UTF-8 become the replacement character."""
    raw = node.text if node is not None else None
    return raw.decode("utf-8", "replace") if raw else ""


def line_of(node: Node) -> int:
    """1-based line on which a node starts."""
    return int(node.start_point[0]) + 1


class Scope:
    """Slots, local types and nested name tables of one function, or of a file's initialisers."""

    def __init__(self) -> None:
        self.slots: list[tuple[str, Type, int]] = []  # name, declared type or None, line
        self.local_types: list[tuple[str, Any, Type, bool]] = []  # name, type parameters, type, is an alias
        self.literals: list[tuple[list[int], list[int], bool]] = []  # parameters, results, variadic
        self.ops: list[Any] = []
        self.frames: list[dict[str, int | str]] = [{}]
        self.literal = -1  # the function literal being read; -1 is the function itself
        self.depth = 0
        self.cut = False

    def declare(self, name: str, declared: Type, line: int) -> int:
        """A new slot; `_` and unnamed parameters get one too but no name."""
        self.slots.append((name, declared, line))
        if name and name != "_":
            self.frames[-1][name] = len(self.slots) - 1
        return len(self.slots) - 1

    def lookup(self, name: str) -> int | str | None:
        """The slot of a variable, the unique name of a local type or type parameter, or None."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return None

    def declare_type(self, name: str) -> str:
        """A unique name for a type declared inside a function."""
        unique = f"{name}·{len(self.local_types) + 1}"
        self.frames[-1][name] = unique
        return unique


def type_name(scope: Scope, name: str) -> str:
    """The name of a type, or the unique name that a local type of that name has."""
    found = scope.lookup(name)
    return found if isinstance(found, str) else name


def type_of(scope: Scope, node: Node | None) -> Type:
    """A type node as plain data; None for anything that is no type or lies too deep."""
    if node is None:
        return None
    if scope.depth > MAX_DEPTH:
        scope.cut = True
        return None
    scope.depth += 1
    try:
        reader = _TYPES.get(node.type)
        return reader(scope, node) if reader else None
    finally:
        scope.depth -= 1


def _first(scope: Scope, node: Node) -> Type:
    inner = node.named_children
    return type_of(scope, inner[0]) if inner else None


def _elem(tag: str, field: str) -> Any:
    return lambda scope, node: (tag, type_of(scope, node.child_by_field_name(field)))


def _qualified(scope: Scope, node: Node) -> Type:
    package = text(node.child_by_field_name("package"))
    return f"{package}.{text(node.child_by_field_name('name'))}"


def _generic(scope: Scope, node: Node) -> Type:
    base = type_of(scope, node.child_by_field_name("type"))
    return ("inst", base, type_arguments(scope, node.child_by_field_name("type_arguments")))


def type_arguments(scope: Scope, node: Node | None) -> list[Type]:
    """The types between the brackets of `F[A, B]`."""
    return [type_of(scope, child) for child in node.named_children] if node is not None else []


def _terms(scope: Scope, node: Node) -> Type:
    terms = [type_of(scope, child) for child in node.named_children]
    return terms[0] if len(terms) == 1 else ("union", terms)


def _function(scope: Scope, node: Node) -> Type:
    taken, variadic = parameters(scope, node.child_by_field_name("parameters"))
    given = results(scope, node.child_by_field_name("result"))
    return ("func", [t for _, t, _ in taken], [t for _, t, _ in given], variadic)


def parameters(scope: Scope, node: Node | None) -> tuple[list[tuple[str, Type, int]], bool]:
    """(name or "", type, line) of each parameter, and whether the last is variadic (then a slice)."""
    found: list[tuple[str, Type, int]] = []
    variadic = False
    for child in node.named_children if node is not None else ():
        if child.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            continue
        declared = type_of(scope, child.child_by_field_name("type"))
        if child.type == "variadic_parameter_declaration":
            declared, variadic = ("[]", declared), True
        names = child.children_by_field_name("name")
        found += [(text(n), declared, line_of(n)) for n in names] or [("", declared, line_of(child))]
    return found, variadic


def results(scope: Scope, node: Node | None) -> list[tuple[str, Type, int]]:
    """(name or "", type, line) of each result."""
    if node is None:
        return []
    if node.type == "parameter_list":
        return parameters(scope, node)[0]
    return [("", type_of(scope, node), line_of(node))]


def type_parameters(scope: Scope, node: Node | None) -> list[tuple[str, Type]]:
    """(name, constraint) of each type parameter; the names enter the scope."""
    found: list[tuple[str, Type]] = []
    for child in node.named_children if node is not None else ():
        if child.type == "type_parameter_declaration":
            names = [text(n) for n in child.children_by_field_name("name")]
            scope.frames[-1].update((name, name) for name in names)
            constraint = type_of(scope, child.child_by_field_name("type"))
            found += [(name, constraint) for name in names]
    return found


def _struct(scope: Scope, node: Node) -> Type:
    fields: list[tuple[str, Type, bool, int]] = []
    for child in (f for block in node.named_children for f in block.named_children):
        if child.type != "field_declaration":
            continue
        declared = type_of(scope, child.child_by_field_name("type"))
        names = child.children_by_field_name("name")
        if names:
            fields += [(text(n), declared, False, line_of(n)) for n in names]
        else:
            pointer = any(c.type == "*" for c in child.children)
            fields.append((base_name(declared), ("*", declared) if pointer else declared, True, line_of(child)))
    return ("struct", fields)


def base_name(declared: Type) -> str:
    """The field name that an embedded type has: `*pkg.Store[K]` → `Store`.

    >>> base_name(("*", ("inst", "pkg.Store", ["K"])))
    'Store'
    """
    while isinstance(declared, tuple | list) and declared and declared[0] in ("*", "inst"):
        declared = declared[1]
    return declared.rsplit(".", 1)[-1].split("·")[0] if isinstance(declared, str) else ""


def _interface(scope: Scope, node: Node) -> Type:
    methods: list[tuple[str, Type, int]] = []
    embedded: list[tuple[Type, int]] = []
    for child in node.named_children:
        if child.type == "method_elem":
            methods.append((text(child.child_by_field_name("name")), _function(scope, child), line_of(child)))
        elif child.type == "type_elem":
            embedded.append((_terms(scope, child), line_of(child)))
    return ("interface", methods, embedded)


_TYPES: dict[str, Any] = {
    "type_identifier": lambda scope, node: type_name(scope, text(node)),
    "identifier": lambda scope, node: type_name(scope, text(node)),
    "qualified_type": _qualified,
    "pointer_type": lambda scope, node: ("*", _first(scope, node)),
    "slice_type": _elem("[]", "element"),
    "array_type": _elem("[]", "element"),
    "implicit_length_array_type": _elem("[]", "element"),
    "channel_type": _elem("chan", "value"),
    "map_type": lambda scope, node: (
        "map",
        type_of(scope, node.child_by_field_name("key")),
        type_of(scope, node.child_by_field_name("value")),
    ),
    "generic_type": _generic,
    "function_type": _function,
    "struct_type": _struct,
    "interface_type": _interface,
    "parenthesized_type": _first,
    "negated_type": _first,
    "type_elem": _terms,
    "type_constraint": _terms,
}
