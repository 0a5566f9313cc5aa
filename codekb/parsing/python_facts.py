"""The facts of one Python file while they are collected, and their final form: what the resolvers read."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from codekb.chunks import Reference
from codekb.parsing.python_scopes import BUILTINS, Names, Scope

DELETED = "del "
"""Stands before the name of an attribute that is deleted: what runs then is a property's deleter, not its setter."""


class Facts(Names):
    """Names, and a list for each kind of fact. In every fact a variable is a number, an owner the index of a chunk."""

    def __init__(self, text: str, module_names: set[str]) -> None:
        super().__init__(text)
        self.module_names = module_names
        self.imported_star = False
        self.line_shift = 0
        self.attrs: list[tuple[int, int, str, list[int]]] = []
        self.attr_of: dict[tuple[int, str], tuple[int, list[int]]] = {}
        self.calls: list[tuple[int, int, Any, Any, int, int, str]] = []
        self.items: list[tuple[int, int, Any, int, int]] = []
        self.slices: list[tuple[int, int, Any, Any, int, int]] = []
        self.iters: list[tuple[int, int, int, int]] = []
        self.boxes: list[tuple[int, int, list[Any]]] = []
        self.operations: list[tuple[int, int, str, int, int, int]] = []
        self.protocols: list[tuple[int, int, str, int, int]] = []
        self.uses: list[int] = []
        self.lost: list[tuple[int, str, int]] = []
        self.plain: list[tuple[int, str, int]] = []
        self.annots: list[int] = []
        self.narrows: list[int] = []
        self.supers: list[tuple[int, int, int, int, int]] = []
        self.dynamic_keys: set[int] = set()
        self.affixes: dict[int, tuple[str, str]] = {}  # texts of which only the start and the end are known
        self.later: list[tuple[Scope, ast.AST, list[Any]]] = []
        self.functions: list[list[Any]] = []
        self.classes: list[tuple[Any, ...]] = []
        self.definitions: list[int] = []
        self.decorations: list[tuple[int, int, int, int, int, str]] = []
        self.imports: list[tuple[Any, ...]] = []
        self.stars: list[tuple[int, str, int, int]] = []
        self.set_attrs: list[tuple[int, str, int, int, int]] = []
        self.set_items: list[tuple[int, Any, int, int, int]] = []
        self.unpacks: list[tuple[int, list[int], int, int, int]] = []
        self.enters: list[tuple[int, int, int, int]] = []
        self.raises: list[int] = []
        self.exported: list[str] | None = None

    def facts(self, ids: list[str]) -> dict[str, Any]:
        """What the resolvers need, as plain data. Variables are numbers from 0; owners index `ids`."""
        return {
            "ids": ids,
            "kinds": [f.kind for f in self.found],
            "parents": [f.parent for f in self.found],
            "count": self.count,
            "globals": self.globals,
            "bound": sorted(self.bound),
            "exported": self.exported,
            "consts": self.const_values,
            "keys": sorted(self.dynamic_keys),
            "copies": self.copies,
            "definitions": self.definitions,
            "functions": self.functions,
            "classes": self.classes,
            "decorations": self.decorations,
            "imports": self.imports,
            "stars": self.stars,
            "attrs": self.attrs,
            "set_attrs": self.set_attrs,
            "calls": self.calls,
            "items": self.items,
            "slices": self.slices,
            "set_items": self.set_items,
            "unpacks": self.unpacks,
            "iters": self.iters,
            "boxes": self.boxes,
            "operations": self.operations,
            "protocols": self.protocols,
            "enters": self.enters,
            "raises": self.raises,
            "annots": self.annots,
            "narrows": self.narrows,
            "supers": self.supers,
            "uses": self.uses,
            "lost": self.lost,
            "plain": self.plain,
        }

    def note(self, name: str, line: int, kind: str) -> None:
        self.found[self.scope.owner].references.append(Reference(name, line, kind))

    def is_builtin(self, name: str) -> bool:
        """Whether the bare name means the builtin here."""
        return name in BUILTINS and name not in self.module_names and not self._local(name)

    def _local(self, name: str) -> bool:
        scope: Scope | None = self.scope
        while scope is not None and scope is not self.module:
            if name in scope.env or name in scope.versions:
                return True
            scope = scope.around
        return False

    def load(self, base: int, name: str, line: int) -> int:
        known = self.attr_of.get((base, name))
        if known is None:
            var = self.count
            self.count += 1
            places = [self.scope.owner, line]
            self.attr_of[base, name] = (var, places)
            self.attrs.append((var, base, name, places))
            return var
        known[1].extend((self.scope.owner, line))
        return known[0]

    # given by the classes built on this one

    def expr(self, node: ast.AST) -> int:
        """The variable of the value of an expression, NOTHING where it does not matter."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> int:
        """As `expr`, and constants keep their value as a number below NOTHING."""
        raise NotImplementedError

    def attribute(self, node: ast.Attribute) -> int:
        raise NotImplementedError

    def visit_children(self, node: ast.AST) -> None:
        raise NotImplementedError

    def assign(self, target: ast.expr, var: int) -> None:
        raise NotImplementedError

    def function(self, node: ast.Lambda) -> int:
        raise NotImplementedError

    def narrow_by(self, test: ast.expr) -> list[tuple[str, int]]:
        """Names that hold a narrower value where `test` is true; the names with their variables before."""
        raise NotImplementedError

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Walk statements in their order."""
        raise NotImplementedError


def dotted(node: ast.AST) -> str:
    """A reference as written, with `()` and `[]` for calls and subscripts on the way.

    >>> dotted(ast.parse("a.b().c", mode="eval").body)
    'a.b().c'
    """
    parts: list[str] = []
    while True:
        kind = node.__class__
        if kind is ast.Attribute:
            parts.append("." + node.attr)  # type: ignore[attr-defined]
            node = node.value  # type: ignore[attr-defined]
        elif kind is ast.Call:
            parts.append("()")
            node = node.func  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            parts.append("[]")
            node = node.value  # type: ignore[attr-defined]
        elif kind is ast.Name:
            parts.append(node.id)  # type: ignore[attr-defined]
            break
        else:
            parts.append("<lambda>" if kind is ast.Lambda else "<str>" if kind is ast.Constant else "<expression>")
            break
    return "".join(reversed(parts))


def target_names(target: ast.expr) -> list[str]:
    """The names that an assignment to `target` binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in target_names(element)]
    return target_names(target.value) if isinstance(target, ast.Starred) else []


def fields(body: Iterable[ast.stmt]) -> list[str]:
    """The names that a generated `__init__` of a class takes: annotated ones, in order, `*` before keyword-only ones.

    >>> text = "a: int\\nb: ClassVar[int] = 1\\nc = 2\\n_: KW_ONLY\\nd: str = field(init=False)\\ne: str = ''"
    >>> fields(ast.parse(text).body)
    ['a', '*', 'e']
    """
    found = []
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared = node.annotation.value if isinstance(node.annotation, ast.Subscript) else node.annotation
            sort = dotted(declared).rpartition(".")[2]
            if sort == "KW_ONLY":
                found.append("*")
            elif sort != "ClassVar" and not _is_set_inside(node.value):
                found.append(node.target.id)
    return found


def _is_set_inside(value: ast.expr | None) -> bool:
    """Whether a field is given as `field(init=False)`."""
    keywords = value.keywords if isinstance(value, ast.Call) else ()
    return any(k.arg == "init" and isinstance(k.value, ast.Constant) and k.value.value is False for k in keywords)
