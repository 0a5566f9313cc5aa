"""Branches and loops, where versions of names part and meet: `if`, `for`, `while`, `try`, `with`, `match`. A mixin."""

from __future__ import annotations

import ast
from typing import Any

from codekb.parsing.python_assign import Assignments
from codekb.parsing.python_scopes import NOTHING


class Branches(Assignments):
    """Adds control flow to the walk of statements."""

    def match(self, node: ast.Match) -> None:
        scope = self.scope
        subject = self.expr(node.subject)
        was_dead, mark = scope.dead, len(scope.log)
        branches = []
        for case in node.cases:
            name = node.subject.id if isinstance(node.subject, ast.Name) else None
            self.pattern(case.pattern, subject, name)
            if case.guard is not None:
                self.expr(case.guard)
            self.block(case.body)
            dead, scope.dead = scope.dead, was_dead
            branches.append((self.undo(mark), dead))
        self._join(branches, open_end=True)

    def pattern(self, pattern: ast.pattern, subject: int, name: str | None = None) -> None:
        """Bind what a pattern captures; a class pattern narrows what it matched."""
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self.pattern(pattern.pattern, subject, pattern.name or name)
            elif pattern.name:
                self.bind(pattern.name, subject)
        elif isinstance(pattern, ast.MatchClass):
            klass = self.expr(pattern.cls)
            narrowed = self.narrowed(subject, klass) if klass >= 0 else subject
            if name:
                self.bind(name, narrowed)
            for inner in pattern.patterns:
                self.pattern(inner, NOTHING)
            for key, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
                part = self.load(narrowed, key, pattern.lineno) if narrowed >= 0 else NOTHING
                self.pattern(inner, part)
        elif isinstance(pattern, ast.MatchSequence):
            for position, inner in enumerate(pattern.patterns):
                part = NOTHING
                if subject >= 0:
                    part = self.new()
                    self.items.append((part, subject, position, self.scope.owner, -1))
                self.pattern(inner, part)
        elif isinstance(pattern, ast.MatchOr):
            for inner in pattern.patterns:
                self.pattern(inner, subject, name)
        elif isinstance(pattern, ast.MatchValue):
            self.expr(pattern.value)
        elif isinstance(pattern, ast.MatchMapping):
            for key_node, inner in zip(pattern.keys, pattern.patterns, strict=True):
                key, part = self.key(key_node), NOTHING
                if subject >= 0:
                    self.items.append((part := self.new(), subject, key, self.scope.owner, -1))
                self.pattern(inner, part)

    def if_(self, node: ast.If) -> None:
        scope = self.scope
        self.expr(node.test)
        was_dead, mark, outer = scope.dead, len(scope.log), scope.guard
        guard, opposite = (outer, outer) if outer else self._none_test(node.test)
        scope.guard = guard
        self.narrow_by(node.test)
        self.block(node.body)
        body_dead, scope.dead = scope.dead, was_dead
        body = self.undo(mark)
        scope.guard = opposite
        self.narrow_not(node.test)
        self.block(node.orelse)
        else_dead, scope.dead = scope.dead, was_dead
        other = self.undo(mark)
        scope.guard = outer if body_dead == else_dead else opposite if body_dead else guard
        self._join([(body, body_dead), (other, else_dead)], open_end=False)

    def _none_test(self, test: ast.expr) -> tuple[tuple[int, bool] | None, tuple[int, bool] | None]:
        """What `p is None`, `p is not None`, `p` or `not p` says about the parameter p where it is true, and where not.

        (its position, whether it is None there); nothing where a given argument may as well be empty.
        """
        none, exact = False, isinstance(test, ast.Compare)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, none = test.operand, True
        elif isinstance(test, ast.Compare):
            op, right = test.ops[0], test.comparators[0]
            if not (isinstance(op, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None):
                return None, None
            test, none = test.left, isinstance(op, ast.Is)
        position = None
        if isinstance(test, ast.Name):
            position = self.scope.params.get(self.scope.env.get(test.id, NOTHING))
        if position is None:
            return None, None
        true, false = (position, none), (position, not none)
        return true if exact or not none else None, false if exact or none else None

    def _join(self, branches: list[tuple[dict[str, int], bool]], *, open_end: bool) -> None:
        """Names after branches; a branch that was left does not count, unless all were."""
        live = [changed for changed, dead in branches if not dead]
        if live or open_end:
            self.merge(live, open_end=open_end)
        else:
            self.merge([changed for changed, _ in branches], open_end=False)
            self.scope.dead = True

    def for_(self, node: ast.For | ast.AsyncFor) -> None:
        guard = self.scope.guard
        element = self.iterate(self.expr(node.iter), node.iter.lineno)
        mark = self.enter_loop()
        self.assign(node.target, element)
        self.block(node.body)
        self.leave_loop(mark)
        self.block(node.orelse)
        self.scope.guard = guard

    def while_(self, node: ast.While) -> None:
        guard = self.scope.guard
        mark = self.enter_loop()
        self.expr(node.test)
        self.narrow_by(node.test)
        self.block(node.body)
        self.leave_loop(mark)
        self.block(node.orelse)
        self.scope.guard = guard

    def try_(self, node: Any) -> None:
        guard = self.scope.guard
        scope = self.scope
        was_dead, mark = scope.dead, len(scope.log)
        self.block(node.body)
        self.block(node.orelse)
        body_dead, scope.dead = scope.dead, was_dead
        body = self.undo(mark)
        branches = [(body, body_dead)]
        for handler in node.handlers:
            self.merge([body], open_end=True)  # the body may have failed anywhere
            caught = self._caught(handler)
            if handler.name:
                self.bind(handler.name, caught)
            self.block(handler.body)
            dead, scope.dead = scope.dead, was_dead
            branches.append((self.undo(mark), dead))
        self._join(branches, open_end=False)
        self.block(node.finalbody)
        self.scope.guard = guard

    def _caught(self, handler: ast.ExceptHandler) -> int:
        if handler.type is None:
            return NOTHING
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        var = self.new()
        for kind in kinds:
            klass = self.expr(kind)
            if klass >= 0:
                self.annots += (var, klass)
        return var

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            base = self.expr(item.context_expr)
            entered = NOTHING
            if base >= 0:
                entered = self.new()
                line = item.context_expr.lineno + self.line_shift
                sort = -1 if isinstance(node, ast.AsyncWith) else 1
                self.enters.append((entered, base, self.scope.owner, line * sort))
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
        self.block(node.body)
