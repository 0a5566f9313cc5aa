"""Go expressions as plain data, variables already bound to their slots. Statements are in `go_body`."""

from __future__ import annotations

from typing import Any, TypeAlias

from tree_sitter import Node

from codekb.parsing.go_scope import MAX_DEPTH, Scope, line_of, text, type_of

Expr: TypeAlias = Any
"""An int is a slot, a string the type of a constant (`"int"`), None unknown; else a tuple by its first entry:

`("n", name, line)` a name from outside the function · `(".", x, name, line)` · `("fn", literal, line)` ·
`("()", f, arguments, line, spread)` · `("{}", type, [(key, value)], line)` · `("[:]", x, others)` ·
`("[]", x, indexes, line)` (also an instantiation) · `("t", type, line)` a type used as a value ·
`("*", x)` · `("&", x)` · `("<-", x)` · `("op", operands, gives a bool)` · `(".()", x, type, line)`."""

_COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"))
_SINGLE_OPERAND = {"*": "*", "&": "&", "<-": "<-"}


def expr(scope: Scope, node: Node | None) -> Expr:
    """An expression node as plain data; None for what is missing or lies too deep."""
    if node is None:
        return None
    if scope.depth > MAX_DEPTH:
        scope.cut = True
        return None
    reader = EXPRESSIONS.get(node.type)
    if reader is None:
        return None
    scope.depth += 1
    try:
        return reader(scope, node)
    finally:
        scope.depth -= 1


def expr_list(scope: Scope, node: Node | None) -> list[Expr]:
    """The expressions of an expression list, or a list of the one expression."""
    if node is None:
        return []
    if node.type == "expression_list":
        return [expr(scope, child) for child in node.named_children if child.type != "comment"]
    return [expr(scope, node)]


def _identifier(scope: Scope, node: Node) -> Expr:
    name = text(node)
    if name == "_":
        return None
    found = scope.lookup(name)
    if isinstance(found, str):
        return ("t", found, line_of(node))
    return ("n", name, line_of(node)) if found is None else found


def _inner(scope: Scope, node: Node) -> Expr:
    return next((expr(scope, child) for child in node.named_children if child.type != "comment"), None)


def _selector(scope: Scope, node: Node) -> Expr:
    field = node.child_by_field_name("field")
    line = line_of(field) if field is not None else line_of(node)
    return (".", expr(scope, node.child_by_field_name("operand")), text(field), line)


def _qualified(scope: Scope, node: Node) -> Expr:
    """`pkg.Type`, which is also how the grammar reads `local.field` before brackets."""
    package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
    left = _identifier(scope, package) if package is not None else None
    return (".", left, text(name), line_of(node))


def _arguments(scope: Scope, node: Node | None) -> tuple[list[Expr], bool]:
    taken: list[Expr] = []
    spread = False
    for child in node.named_children if node is not None else ():
        if child.type == "comment":
            continue
        if child.type == "variadic_argument":
            spread = True
            child = child.named_children[0] if child.named_children else child
        taken.append(expr(scope, child))
    return taken, spread


def _call(scope: Scope, node: Node) -> Expr:
    called = node.child_by_field_name("function")
    function = expr(scope, called)
    brackets = node.child_by_field_name("type_arguments")
    line = name_line(called) if called is not None else line_of(node)
    if brackets is not None:
        function = ("[]", function, _types_as_values(scope, brackets), line)
    arguments, spread = _arguments(scope, node.child_by_field_name("arguments"))
    return ("()", function, arguments, line, spread)


def name_line(node: Node) -> int:
    """The line of the called name: in a chain of calls over several lines, that of the last one."""
    field = node.child_by_field_name("field") if node.type == "selector_expression" else None
    return line_of(field if field is not None else node)


def _types_as_values(scope: Scope, brackets: Node) -> list[Expr]:
    return [expr(scope, child) for child in brackets.named_children]


def _generic(scope: Scope, node: Node) -> Expr:
    """`F[A, B]` or `table[key]`: which of the two it is depends on what the name means."""
    brackets = node.child_by_field_name("type_arguments")
    base = expr(scope, node.child_by_field_name("type"))
    return ("[]", base, _types_as_values(scope, brackets) if brackets is not None else [], line_of(node))


def _conversion(scope: Scope, node: Node) -> Expr:
    """A conversion `T(x)`; the grammar also reads the generic call `F[A](x)` and `table[key](x)` as one."""
    function = expr(scope, node.child_by_field_name("type"))
    operand = expr(scope, node.child_by_field_name("operand"))
    return ("()", function, [operand], line_of(node), False)


def _instantiation(scope: Scope, node: Node) -> Expr:
    base, *rest = node.named_children or [node]
    return ("[]", expr(scope, base), [expr(scope, child) for child in rest], line_of(node))


def _composite(scope: Scope, node: Node) -> Expr:
    declared = type_of(scope, node.child_by_field_name("type"))
    return ("{}", declared, _elements(scope, node.child_by_field_name("body")), line_of(node))


def _elements(scope: Scope, node: Node | None) -> list[tuple[Expr, Expr]]:
    found: list[tuple[Expr, Expr]] = []
    for child in node.named_children if node is not None else ():
        if child.type == "keyed_element":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            found.append((expr(scope, key), expr(scope, value)))
        elif child.type == "literal_element":
            found.append((None, _inner(scope, child)))
    return found


def _index(scope: Scope, node: Node) -> Expr:
    index = node.child_by_field_name("index")
    return ("[]", expr(scope, node.child_by_field_name("operand")), [expr(scope, index)], line_of(node))


def _slice(scope: Scope, node: Node) -> Expr:
    others = [node.child_by_field_name(field) for field in ("start", "end", "capacity")]
    operand = expr(scope, node.child_by_field_name("operand"))
    return ("[:]", operand, [expr(scope, other) for other in others if other is not None])


def _assertion(scope: Scope, node: Node) -> Expr:
    operand = expr(scope, node.child_by_field_name("operand"))
    return (".()", operand, type_of(scope, node.child_by_field_name("type")), line_of(node))


def _unary(scope: Scope, node: Node) -> Expr:
    operator = text(node.child_by_field_name("operator"))
    operand = expr(scope, node.child_by_field_name("operand"))
    tag = _SINGLE_OPERAND.get(operator)
    return (tag, operand) if tag else ("op", [operand], operator in _COMPARING)


def _binary(scope: Scope, node: Node) -> Expr:
    """Operands of `a + b + c` in one list, read in a loop: generated chains are thousands long."""
    gives_bool = text(node.child_by_field_name("operator")) in _COMPARING
    operands: list[Expr] = []
    left: Node | None = node
    while left is not None and left.type == "binary_expression":
        operands.append(expr(scope, left.child_by_field_name("right")))
        left = left.child_by_field_name("left")
    operands.append(expr(scope, left))
    return ("op", operands[::-1], gives_bool)


def _type(scope: Scope, node: Node) -> Expr:
    return ("t", type_of(scope, node), line_of(node))


def _constant(name: str) -> Any:
    return lambda scope, node: name


EXPRESSIONS: dict[str, Any] = {
    "identifier": _identifier,
    "type_identifier": _identifier,
    "package_identifier": _identifier,
    "selector_expression": _selector,
    "qualified_type": _qualified,
    "call_expression": _call,
    "type_conversion_expression": _conversion,
    "type_instantiation_expression": _instantiation,
    "generic_type": _generic,
    "composite_literal": _composite,
    "literal_value": lambda scope, node: ("{}", None, _elements(scope, node), line_of(node)),
    "literal_element": _inner,
    "index_expression": _index,
    "slice_expression": _slice,
    "type_assertion_expression": _assertion,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "parenthesized_expression": _inner,
    "parenthesized_type": _inner,
    "type_elem": _inner,
    "pointer_type": lambda scope, node: ("*", _inner(scope, node)),
    "int_literal": _constant("int"),
    "float_literal": _constant("float64"),
    "imaginary_literal": _constant("complex128"),
    "rune_literal": _constant("rune"),
    "interpreted_string_literal": _constant("string"),
    "raw_string_literal": _constant("string"),
    "true": _constant("bool"),
    "false": _constant("bool"),
    "iota": _constant("int"),
    "nil": _constant("nil"),
}
"""Readers by node type; `go_body` adds the one for function literals, whose bodies hold statements."""

for _name in (
    "slice_type", "array_type", "implicit_length_array_type", "map_type", "channel_type", "function_type",
    "struct_type", "interface_type",
):  # fmt: skip
    EXPRESSIONS[_name] = _type
