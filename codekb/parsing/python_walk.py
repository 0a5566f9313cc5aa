"""Statements of Python to facts: definitions, imports, assignments, branches. One walk over a file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from typing import Any

from codekb.parsing.python_branches import Branches
from codekb.parsing.python_chunks import Found, docstring
from codekb.parsing.python_facts import target_names
from codekb.parsing.python_scopes import NOTHING


class Walk(Branches):
    """The walk itself: `run(tree)` once, then `facts()`."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        super().__init__(text, set(_bound_names(tree.body)))
        self.tree = tree

    def run(self) -> None:
        self.found.append(Found("module", "", -1, 1, node=self.tree, doc=docstring(self.tree)))
        self.block(self.tree.body)
        for name, var in self.module.env.items():
            if name in self.bound:
                self.copy(self.cell(name), var)
        position = 0
        while position < len(self.later):  # bodies are walked when all names around them are known
            self._body(*self.later[position])
            position += 1

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            _STATEMENTS[statement.__class__](self, statement)

    # definitions

    def return_(self, node: ast.Return) -> None:
        if node.value is not None:
            first = len(self.calls)
            self.return_value(self.value(node.value), first)
        self.scope.dead = True

    def raise_(self, node: ast.Raise) -> None:
        for value in (node.exc, node.cause):
            if value is not None:
                var = self.expr(value)
                if var >= 0 and value is node.exc and not isinstance(value, ast.Call):
                    self.raises += (var, self.scope.owner, node.lineno + self.line_shift)
        self.scope.dead = True

    def assert_(self, node: ast.Assert) -> None:
        self.expr(node.test)
        if node.msg is not None:
            self.expr(node.msg)
        self.narrow_by(node.test)

    def leave(self, node: ast.stmt) -> None:
        self.exit_loop()

    def expression(self, node: ast.Expr) -> None:
        if node.value.__class__ is ast.Constant:
            return
        before = len(self.calls)
        result = self.expr(node.value)
        if result >= 0 and len(self.calls) > before and self.calls[-1][0] == result:
            self.calls[-1] = (NOTHING, *self.calls[-1][1:])  # nobody looks at what it returns

    def declare_global(self, node: ast.Global) -> None:
        if self.scope is not self.module:
            self.scope.globals.update(node.names)

    def declare_nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocals.update(node.names)

    def nothing(self, node: ast.stmt) -> None:
        pass


def _bound_names(body: Iterable[ast.stmt]) -> Iterable[str]:
    """Names that the statements of a module define, import or assign, without looking into expressions."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from target_names(target)
        elif isinstance(node, ast.AnnAssign):
            yield from target_names(node.target)
        elif isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
            yield from _bound_names(node.body)
            yield from _bound_names(getattr(node, "orelse", ()))
            for handler in getattr(node, "handlers", ()):
                yield from _bound_names(handler.body)


_STATEMENTS: dict[type[ast.stmt], Callable[[Walk, Any], None]] = {
    ast.FunctionDef: Walk.function_def, ast.AsyncFunctionDef: Walk.function_def, ast.ClassDef: Walk.class_def,
    ast.Import: Walk.import_, ast.ImportFrom: Walk.import_from, ast.Assign: Walk.assign_statement,
    ast.AnnAssign: Walk.annotated, ast.AugAssign: Walk.augmented, ast.Delete: Walk.delete, ast.If: Walk.if_,
    ast.For: Walk.for_, ast.AsyncFor: Walk.for_, ast.While: Walk.while_, ast.Try: Walk.try_,
    ast.TryStar: Walk.try_, ast.With: Walk.with_, ast.AsyncWith: Walk.with_, ast.Match: Walk.match,
    ast.Return: Walk.return_, ast.Raise: Walk.raise_, ast.Assert: Walk.assert_, ast.Break: Walk.leave,
    ast.Continue: Walk.leave, ast.Expr: Walk.expression, ast.Global: Walk.declare_global,
    ast.Nonlocal: Walk.declare_nonlocal, ast.Pass: Walk.nothing,
}  # fmt: skip
if sys.version_info >= (3, 12):
    _STATEMENTS[ast.TypeAlias] = lambda walk, node: walk.assign(node.name, walk.value(node.value))
