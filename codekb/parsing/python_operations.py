"""Operators, comparisons and conditions in expressions. A mixin of the walk."""

from __future__ import annotations

import ast

from codekb.parsing.python_affixes import affixes
from codekb.parsing.python_displays import Displays
from codekb.parsing.python_scopes import NOTHING

OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
    ast.MatMult: "matmul", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant)


class Operations(Displays):
    """Adds operators to the walk of expressions."""

    def binary(self, node: ast.BinOp) -> int:
        left, right = self.expr(node.left), self.expr(node.right)
        ends = affixes(node)
        if left < 0 and right < 0:
            return self._partly_known(ends) if ends else NOTHING
        var = self.operation(left, OPERATORS[node.op.__class__], right, node.lineno)
        if ends:
            self.affixes[var] = ends
        return var

    def joined(self, node: ast.JoinedStr) -> int:
        self.visit_children(node)
        ends = affixes(node)
        return self._partly_known(ends) if ends else NOTHING

    def _partly_known(self, ends: tuple[str, str]) -> int:
        self.affixes[var := self.new()] = ends
        return var

    def operation(self, left: int, name: str, right: int, line: int) -> int:
        var = self.new()
        self.operations.append((var, left, name, right, self.scope.owner, line + self.line_shift))
        return var

    def unary(self, node: ast.UnaryOp) -> int:
        operand = self.expr(node.operand)
        name = OPERATORS.get(node.op.__class__)
        if name and operand >= 0:
            var = self.new()
            self.protocols.append((var, operand, f"__{name}__", self.scope.owner, node.lineno + self.line_shift))
            return var
        return NOTHING

    def compare(self, node: ast.Compare) -> int:
        left = self._operand(node.left)
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = self._operand(operand)
            kind = op.__class__
            if kind in OPERATORS:
                if left >= 0 or right >= 0:
                    self.operation(left, OPERATORS[kind], right, node.lineno)
            elif right >= 0 and kind in (ast.In, ast.NotIn):
                owner = self.scope.owner
                self.protocols.append((NOTHING, right, "__contains__", owner, node.lineno + self.line_shift))
            left = right
        return NOTHING

    def _operand(self, node: ast.expr) -> int:
        if isinstance(node, _DISPLAYS):
            self.visit_children(node)
            return NOTHING
        return self.expr(node)

    def boolean(self, node: ast.BoolOp) -> int:
        first = self.expr(node.values[0])
        changed = self.narrow_by(node.values[0]) if isinstance(node.op, ast.And) else []
        values = [first, *(self.expr(value) for value in node.values[1:])]
        self.widen(changed)
        return self._union(values)

    def if_else(self, node: ast.IfExp) -> int:
        self.expr(node.test)
        changed = self.narrow_by(node.test)
        body = self.value(node.body)
        self.widen(changed)
        return self._union([body, self.value(node.orelse)])

    def widen(self, changed: list[tuple[str, int]]) -> None:
        for name, var in changed:
            self.scope.env[name] = var

    def text(self, node: ast.FormattedValue) -> int:
        var = self.expr(node.value)
        if var >= 0:
            name = "__repr__" if node.conversion == ord("r") else "__str__"
            self.protocols.append((NOTHING, var, name, self.scope.owner, node.lineno + self.line_shift))
        if node.format_spec is not None:
            self.expr(node.format_spec)
        return NOTHING
