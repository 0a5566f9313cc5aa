"""Expressions of Python to facts: which variable takes its value from which, and what is called where."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from codekb.parsing.python_operations import Operations
from codekb.parsing.python_scopes import BUILTINS, NOTHING


class Expressions(Operations):
    """Walks expressions. Each method returns the variable of the value, NOTHING where it does not matter."""

    def expr(self, node: ast.AST) -> int:
        handler = _HANDLERS.get(node.__class__)
        if handler is None:
            self.visit_children(node)
            return NOTHING
        return handler(self, node)

    def value(self, node: ast.expr) -> int:
        """As `expr`, and constants keep their value."""
        if node.__class__ is ast.Constant:
            return self.const(node.value)
        return self.expr(node)

    def visit_children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr | ast.keyword | ast.comprehension | ast.FormattedValue):
                self.expr(child)

    def name(self, node: ast.Name) -> int:
        var = self.read(node.id)
        if var >= 0 and node.id not in BUILTINS and (var in self.fixed or self.globals.get(node.id) == var):
            line = node.lineno + self.line_shift
            self.uses += (var, self.scope.owner, line)
            self.note(node.id, line, "name")
        return var

    def attribute(self, node: ast.Attribute) -> int:
        value = node.value
        base = self.expr(value)
        if base < 0:
            return NOTHING
        strong = self.strong.get((base, node.attr))
        if strong is not None:
            return strong
        return self.load(base, node.attr, node.lineno + self.line_shift)

    def walrus(self, node: ast.NamedExpr) -> int:
        var = self.value(node.value)
        self.bind(node.target.id, var)
        return var

    def awaited(self, node: Any) -> int:
        return self.expr(node.value)

    def yields(self, node: ast.Yield) -> int:
        var = self.value(node.value) if node.value is not None else NOTHING
        self.copy(self._yield_var(), var)
        if self.scope.sent < 0:
            self.scope.sent = self.new()
        return self.scope.sent

    def yields_from(self, node: ast.YieldFrom) -> int:
        self.copy(self._yield_var(), self.iterate(self.expr(node.value), node.lineno))
        return NOTHING

    def _yield_var(self) -> int:
        scope = self.scope
        if scope.yielded < 0:
            scope.yielded = self.new()
        return scope.yielded

    def constant(self, node: ast.Constant) -> int:
        return NOTHING

    def starred(self, node: ast.Starred) -> int:
        return self.expr(node.value)


_HANDLERS: dict[type[ast.AST], Callable[[Expressions, Any], int]] = {
    ast.Name: Expressions.name, ast.Attribute: Expressions.attribute, ast.Call: Expressions.call,
    ast.Constant: Expressions.constant, ast.Tuple: Expressions.sequence, ast.List: Expressions.sequence,
    ast.Set: Expressions.sequence, ast.Dict: Expressions.dict, ast.Subscript: Expressions.subscript,
    ast.BinOp: Expressions.binary, ast.UnaryOp: Expressions.unary, ast.Compare: Expressions.compare,
    ast.BoolOp: Expressions.boolean, ast.IfExp: Expressions.if_else, ast.NamedExpr: Expressions.walrus,
    ast.ListComp: Expressions.comprehension, ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension, ast.DictComp: Expressions.comprehension,
    ast.Lambda: lambda walk, node: walk.function(node), ast.Await: Expressions.awaited,
    ast.Yield: Expressions.yields, ast.YieldFrom: Expressions.yields_from,
    ast.FormattedValue: Expressions.text, ast.JoinedStr: Expressions.joined, ast.Starred: Expressions.starred,
}  # fmt: skip
