"""Containers in expressions: displays, keys, subscripts, slices, comprehensions. A mixin of the walk."""

from __future__ import annotations

import ast
from typing import Any

from codekb.parsing.python_calls import CallsInCode
from codekb.parsing.python_facts import target_names
from codekb.parsing.python_scopes import NOTHING


class Displays(CallsInCode):
    """Adds containers to the walk of expressions."""

    def sequence(self, node: Any) -> int:
        items: list[Any] = []
        for position, element in enumerate(node.elts):
            if element.__class__ is ast.Starred:
                inner = self.expr(element.value)
                if inner >= 0:
                    items.append(["*", inner, position])
            else:
                var = self.expr(element)
                if var >= 0:
                    items.append([position if node.__class__ is not ast.Set else None, var])
        if not items and (node.elts or node.__class__ is ast.Tuple):
            return NOTHING  # only plain data
        return self.box(items, len(node.elts))

    def box(self, items: list[Any], length: int = -1) -> int:
        var = self.new()
        self.boxes.append((var, length, items))
        return var

    def dict(self, node: ast.Dict) -> int:
        items: list[Any] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.expr(value)
                if inner >= 0:
                    items.append(["**", inner, 0])
                continue
            constant = self.key(key)
            var = self.value(value)
            if var >= 0:
                items.append([constant, var])
        return self.box(items) if items or not node.keys else NOTHING

    def key(self, node: ast.expr) -> Any:
        """A constant key as it is, `["var", n]` for a variable one, None when nothing is known."""
        if node.__class__ is ast.UnaryOp and isinstance(node.op, ast.USub):
            operand = node.operand
            if isinstance(operand, ast.Constant) and isinstance(operand.value, int):
                return -operand.value
        var = self.value(node)
        if var < NOTHING:
            return self.constant_of(var)
        if var >= 0:
            self.dynamic_keys.add(var)
            return ["var", var]
        return None

    def subscript(self, node: ast.Subscript) -> int:
        base = self.expr(node.value)
        index = node.slice
        line = node.lineno + self.line_shift
        if index.__class__ is ast.Slice:
            low, high = (self.value(e) if e else None for e in (index.lower, index.upper))
            step = index.step
            if step is not None:
                self.expr(step)
            if base < 0:
                return NOTHING
            bounds = [None if e is None else self.constant_of(e) if e < NOTHING else "?" for e in (low, high)]
            if step is not None:
                bounds = ["?", "?"]
            self.slices.append((var := self.new(), base, bounds[0], bounds[1], self.scope.owner, line))
            return var
        key = self.key(index)
        if base < 0:
            return NOTHING
        if key is not None and key.__class__ is not list:
            strong = self.strong.get((base, ("[", key.__class__, key)))
            if strong is not None:
                return strong
        self.items.append((var := self.new(), base, key, self.scope.owner, line))
        return var

    def comprehension(self, node: Any) -> int:
        saved: dict[str, int | None] = {}
        env = self.scope.env
        mark = len(self.scope.log)
        bound = set(self.bound) if self.scope is self.module else None
        for generator in node.generators:
            var = self.iterate(self.expr(generator.iter), generator.iter.lineno)
            for name in target_names(generator.target):
                saved.setdefault(name, env.get(name))
            self.assign(generator.target, var)
            for test in generator.ifs:
                self.expr(test)
                self.narrow_by(test)
        if node.__class__ is ast.DictComp:
            self.expr(node.key)
            result = self.value(node.value)
        else:
            result = self.value(node.elt)
        for name, old in saved.items():
            if old is None:
                env.pop(name, None)
            else:
                env[name] = old
        self.scope.log[mark:] = [entry for entry in self.scope.log[mark:] if entry[0] not in saved]
        if bound is not None:
            self.bound -= saved.keys() - bound
        return self.box([[None, result]]) if result >= 0 else NOTHING

    def iterate(self, base: int, line: int) -> int:
        if base < 0:
            return NOTHING
        self.iters.append((var := self.new(), base, self.scope.owner, line + self.line_shift))
        return var
