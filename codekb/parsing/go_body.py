"""Go statements as a flat list of plain operations: a function's body without its control flow.

Operations: `("=", left, right, line)` · `("range", key, value, over, line)` · `("e", x)` ·
`("var", left, right, line)` at package level · `("ret", literal, values, line)` · `("send", channel, value)` ·
`("switch", [(slot, types)], x)`; expressions are those of `go_expr`.
"""

from __future__ import annotations

from typing import Any

from tree_sitter import Node

from codekb.parsing.go_expr import EXPRESSIONS, Expr, expr, expr_list
from codekb.parsing.go_scope import (
    MAX_DEPTH,
    Scope,
    line_of,
    parameters,
    results,
    text,
    type_of,
    type_parameters,
)


def block(scope: Scope, node: Node | None) -> None:
    """The statements of a block, a case or a list, in a name table of their own."""
    if node is None:
        return
    scope.frames.append({})
    statements(scope, node)
    scope.frames.pop()


def statements(scope: Scope, node: Node) -> None:
    """Every statement below a node, in the current name table."""
    for child in node.named_children:
        statement(scope, child)


def statement(scope: Scope, node: Node) -> None:
    """One statement; what is none is read as an expression (which broken sources need)."""
    if scope.depth > MAX_DEPTH:
        scope.cut = True
        return
    scope.depth += 1
    reader = _STATEMENTS.get(node.type)
    if reader is not None:
        reader(scope, node)
    elif node.type in EXPRESSIONS:
        scope.ops.append(("e", expr(scope, node)))
    elif node.type == "ERROR":
        statements(scope, node)
    scope.depth -= 1


def _expression(scope: Scope, node: Node) -> None:
    for child in node.named_children:
        if child.type != "comment":
            scope.ops.append(("e", expr(scope, child)))


def _define(scope: Scope, names: Node | None) -> list[Expr]:
    """The slots on the left of `:=`: new ones, except where this very block has the name already."""
    slots: list[Expr] = []
    for child in names.named_children if names is not None else ():
        name = text(child)
        if child.type != "identifier":
            slots.append(expr(scope, child))
        elif name == "_":
            slots.append(None)
        else:
            known = scope.frames[-1].get(name)
            slots.append(known if isinstance(known, int) else scope.declare(name, None, line_of(child)))
    return slots


def _short_var(scope: Scope, node: Node) -> None:
    values = expr_list(scope, node.child_by_field_name("right"))
    left = _define(scope, node.child_by_field_name("left"))
    scope.ops.append(("=", left, values, line_of(node)))


def _assignment(scope: Scope, node: Node) -> None:
    left = expr_list(scope, node.child_by_field_name("left"))
    right = expr_list(scope, node.child_by_field_name("right"))
    scope.ops.append(("=", left, right, line_of(node)))


def _var(scope: Scope, node: Node) -> None:
    """`var` and `const` declarations inside a function."""
    for spec in (s for child in node.named_children for s in _specs(child)):
        declared = type_of(scope, spec.child_by_field_name("type"))
        values = expr_list(scope, spec.child_by_field_name("value"))
        names = spec.children_by_field_name("name")
        left = [scope.declare(text(n), declared, line_of(n)) for n in names if n.is_named]
        if values:
            scope.ops.append(("=", left, values, line_of(spec)))


def _specs(node: Node) -> list[Node]:
    return node.named_children if node.type == "var_spec_list" else [node]


def _local_type(scope: Scope, node: Node) -> None:
    for spec in node.named_children:
        if spec.type not in ("type_spec", "type_alias"):
            continue
        name = scope.declare_type(text(spec.child_by_field_name("name")))
        position = len(scope.local_types)
        scope.local_types.append((name, [], None, False))
        scope.frames.append({})
        taken = type_parameters(scope, spec.child_by_field_name("type_parameters"))
        declared = type_of(scope, spec.child_by_field_name("type"))
        scope.frames.pop()
        scope.local_types[position] = (name, taken, declared, spec.type == "type_alias")


def _if(scope: Scope, node: Node) -> None:
    scope.frames.append({})
    for field in ("initializer", "condition"):
        part = node.child_by_field_name(field)
        if part is not None:
            statement(scope, part)
    block(scope, node.child_by_field_name("consequence"))
    other = node.child_by_field_name("alternative")
    if other is not None:
        statement(scope, other)
    scope.frames.pop()


def _for(scope: Scope, node: Node) -> None:
    scope.frames.append({})
    for child in node.named_children:
        if child.type == "range_clause":
            _range(scope, child)
        elif child.type == "for_clause":
            statements(scope, child)
        elif child.type != "block":
            statement(scope, child)
    block(scope, node.child_by_field_name("body"))
    scope.frames.pop()


def _left(scope: Scope, node: Node) -> list[Expr]:
    """The left side of an assignment, after the right one: new names where it is `:=`."""
    names = node.child_by_field_name("left")
    fresh = any(child.type == ":=" for child in node.children)
    return _define(scope, names) if fresh else expr_list(scope, names)


def _range(scope: Scope, node: Node) -> None:
    over = expr(scope, node.child_by_field_name("right"))
    left = _left(scope, node)
    key, value = [*left, None, None][:2]
    scope.ops.append(("range", key, value, over, line_of(node)))


def _switch(scope: Scope, node: Node) -> None:
    scope.frames.append({})
    for child in node.named_children:
        if child.type in ("expression_case", "default_case"):
            block(scope, child)
        else:
            statement(scope, child)
    scope.frames.pop()


def _case(scope: Scope, node: Node) -> None:
    """The values of an `expression_case` when it is read as a list."""
    for value in expr_list(scope, node):
        scope.ops.append(("e", value))


def _type_switch(scope: Scope, node: Node) -> None:
    scope.frames.append({})
    first = node.child_by_field_name("initializer")
    if first is not None:
        statement(scope, first)
    over = expr(scope, node.child_by_field_name("value"))
    alias = node.child_by_field_name("alias")
    name = text(alias.named_children[0]) if alias is not None and alias.named_children else ""
    cases: list[Any] = []
    position = len(scope.ops)
    scope.ops.append(None)
    for child in node.named_children:
        if child.type in ("type_case", "default_case"):
            scope.frames.append({})
            types = [type_of(scope, t) for t in child.children_by_field_name("type")]
            cases.append((scope.declare(name, None, line_of(child)), types))
            statements(scope, child)
            scope.frames.pop()
    scope.ops[position] = ("switch", cases, over)
    scope.frames.pop()


def _communication(scope: Scope, node: Node) -> None:
    scope.frames.append({})
    statements(scope, node)
    scope.frames.pop()


def _receive(scope: Scope, node: Node) -> None:
    value = expr(scope, node.child_by_field_name("right"))
    left = _left(scope, node)
    scope.ops.append(("=", left, [value], line_of(node)) if left else ("e", value))


def _send(scope: Scope, node: Node) -> None:
    channel = expr(scope, node.child_by_field_name("channel"))
    scope.ops.append(("send", channel, expr(scope, node.child_by_field_name("value"))))


def _return(scope: Scope, node: Node) -> None:
    values = [v for child in node.named_children for v in expr_list(scope, child)]
    scope.ops.append(("ret", scope.literal, values, line_of(node)))


def _func_literal(scope: Scope, node: Node) -> Expr:
    """A function literal: its parameters and results are slots of the function around it; so is its body."""
    scope.frames.append({})
    taken, variadic = parameters(scope, node.child_by_field_name("parameters"))
    given = results(scope, node.child_by_field_name("result"))
    number = len(scope.literals)
    scope.literals.append(([scope.declare(*p) for p in taken], [scope.declare(*r) for r in given], variadic))
    outside, scope.literal = scope.literal, number
    body = node.child_by_field_name("body")
    if body is not None:
        statements(scope, body)  # in the frame of the parameters, as Go has it
    scope.literal = outside
    scope.frames.pop()
    return ("fn", number, line_of(node))


EXPRESSIONS["func_literal"] = _func_literal

_STATEMENTS: dict[str, Any] = {
    "statement_list": statements,
    "block": block,
    "expression_list": _case,
    "expression_statement": _expression,
    "inc_statement": _expression,
    "dec_statement": _expression,
    "go_statement": _expression,
    "defer_statement": _expression,
    "labeled_statement": statements,
    "short_var_declaration": _short_var,
    "assignment_statement": _assignment,
    "var_declaration": _var,
    "const_declaration": _var,
    "type_declaration": _local_type,
    "if_statement": _if,
    "for_statement": _for,
    "expression_switch_statement": _switch,
    "type_switch_statement": _type_switch,
    "select_statement": statements,
    "communication_case": _communication,
    "receive_statement": _receive,
    "send_statement": _send,
    "return_statement": _return,
}
