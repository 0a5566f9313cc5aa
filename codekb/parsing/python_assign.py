"""Assignments of every form, and imports, which bind names too. A mixin of the walk."""

from __future__ import annotations

import ast
from typing import Any

from codekb.parsing.python_definitions import Definitions
from codekb.parsing.python_facts import DELETED
from codekb.parsing.python_operations import OPERATORS
from codekb.parsing.python_scopes import NOTHING


class Assignments(Definitions):
    """Adds assignments and imports to the walk of statements."""

    def assign_statement(self, node: ast.Assign) -> None:
        value = node.value
        if len(node.targets) == 1 and self._pairwise(node.targets[0], value):
            return
        var = self.value(value)
        for target in node.targets:
            self.assign(target, var)
        if self.scope is self.module and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            self.exported = _strings(value)

    def _pairwise(self, target: ast.expr, value: ast.expr) -> bool:
        """`a, b = x, y` without a detour over a tuple."""
        if not (isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)):
            return False
        if len(target.elts) != len(value.elts) or any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts)):
            return False
        values = [None if isinstance(v, ast.Tuple | ast.List) else self.value(v) for v in value.elts]
        for one, var, inner in zip(target.elts, values, value.elts, strict=True):
            if var is not None:
                self.assign(one, var)
            elif not self._pairwise(one, inner):
                self.assign(one, self.value(inner))
        return True

    def assign(self, target: ast.expr, var: int) -> None:
        kind = target.__class__
        if kind is ast.Name:
            self.bind(target.id, var)  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            base = self.expr(target.value)  # type: ignore[attr-defined]
            self.set_attribute(base, target.attr, var, target.lineno + self.line_shift)  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            self._assign_item(target, var)  # type: ignore[arg-type]
        elif kind is ast.Starred:
            self.assign(target.value, var)  # type: ignore[attr-defined]
        else:
            self._unpack(target, var)

    def set_attribute(self, base: int, name: str, source: int, line: int) -> None:
        if base < 0:
            return
        self.set_attrs.append((base, name, source, self.scope.owner, line))
        for key in [k for k in self.strong if k[1] == name]:
            del self.strong[key]
        if source >= 0:
            self.strong[base, name] = source

    def _assign_item(self, target: ast.Subscript, var: int) -> None:
        base = self.expr(target.value)
        if isinstance(target.slice, ast.Slice):
            self.expr(target.slice)
            key = None
        else:
            key = self.key(target.slice)
        if base < 0:
            return
        self.set_items.append((base, key, var, self.scope.owner, target.lineno + self.line_shift))
        if key is not None and key.__class__ is not list:
            tagged = ("[", key.__class__, key)
            for known in [k for k in self.strong if k[1] == tagged]:
                del self.strong[known]
            if var >= 0:
                self.strong[base, tagged] = var

    def _unpack(self, target: Any, var: int) -> None:
        elements = target.elts
        star = next((i for i, e in enumerate(elements) if isinstance(e, ast.Starred)), -1)
        if var < 0:
            for element in elements:
                self.assign(element, self.box([]) if isinstance(element, ast.Starred) else NOTHING)
            return
        parts = [self.new() for _ in elements]
        self.unpacks.append((var, parts, star, self.scope.owner, target.lineno + self.line_shift))
        for element, part in zip(elements, parts, strict=True):
            self.assign(element, part)

    def annotated(self, node: ast.AnnAssign) -> None:
        var = self.value(node.value) if node.value is not None else NOTHING
        declared = self.new()
        if self.annotate(declared, node.annotation):
            self.copy(declared, var)
            var = declared
        if node.value is not None or self.scope.kind == "class" or var == declared:
            self.assign(node.target, var)

    def augmented(self, node: ast.AugAssign) -> None:
        right = self.expr(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            left = self.read(target.id)
        elif isinstance(target, ast.Attribute):
            left = self.attribute(target)
        else:
            left = self.subscript(target)
        if left < 0 and right < 0:
            return
        self.assign(target, self.operation(left, "i" + OPERATORS[node.op.__class__], right, node.lineno))

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, NOTHING)
            elif isinstance(target, ast.Subscript):
                base = self.expr(target.value)
                self.expr(target.slice)
                if base >= 0:
                    self.protocols.append((NOTHING, base, "__delitem__", self.scope.owner, target.lineno))
            elif isinstance(target, ast.Attribute):
                base = self.expr(target.value)
                self.strong.pop((base, target.attr), None)
                self.set_attribute(base, DELETED + target.attr, NOTHING, target.lineno + self.line_shift)
            else:
                self.visit_children(target)

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            line = node.lineno
            self.note(alias.name, line, "import")
            var = self.new()
            self.fixed.add(var)
            name = alias.asname or alias.name.partition(".")[0]
            self.imports.append((var, 0, alias.name, None, alias.asname is not None, self.scope.owner, line))
            self.bind(name, var)

    def import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            line = alias.lineno
            self.note("." * node.level + module + ("." if module else "") + alias.name, line, "import")
            if alias.name == "*":
                self.stars.append((node.level, module, self.scope.owner, line))
                self.imported_star = True
                continue
            var = self.new()
            self.fixed.add(var)
            self.imports.append((var, node.level, module, alias.name, True, self.scope.owner, line))
            self.bind(alias.asname or alias.name, var)


def _strings(node: ast.expr) -> list[str] | None:
    """The strings of a constant list or tuple; None for anything else."""
    if isinstance(node, ast.List | ast.Tuple):
        return [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return None
