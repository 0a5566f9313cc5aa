"""Expressions of Python to facts: which variable takes its value from which, and what is called where."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from codekb.chunks import Reference
from codekb.parsing.python_chunks import Found
from codekb.parsing.python_scopes import BUILTINS, NOTHING, Names, Scope

PLAIN = {
    "len": "__len__", "str": "__str__", "repr": "__repr__", "int": "__int__", "float": "__float__", "bool": "__bool__",
    "hash": "__hash__", "abs": "__abs__", "round": "__round__", "format": "__format__", "bytes": "__bytes__",
    "complex": "__complex__", "dir": "__dir__", "print": "__str__", "isinstance": "", "issubclass": "", "hasattr": "",
    "range": "", "ord": "", "chr": "", "id": "", "callable": "", "input": "", "open": "", "bin": "", "hex": "", "oct": "",
    "delattr": "", "divmod": "", "pow": "", "ascii": "__repr__",
}  # fmt: skip
"""Builtins whose result is never looked into, with the method that they call on their first argument."""
OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
    ast.MatMult: "matmul", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant)
_FOLLOWED = frozenset({"eval", "exec"})


class Expressions(Names):
    """Walks expressions. Each method returns the variable of the value, NOTHING where it does not matter."""

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
        self.later: list[tuple[Scope, ast.AST, list[Any]]] = []

    def expr(self, node: ast.AST) -> int:
        handler = _HANDLERS.get(node.__class__)
        if handler is None:
            self.visit_children(node)
            return NOTHING
        return handler(self, node)

    def value(self, node: ast.expr) -> int:
        """As `expr`, and constants keep their value."""
        if node.__class__ is ast.Constant:
            return self.const(node.value)  # type: ignore[attr-defined]
        return self.expr(node)

    def visit_children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr | ast.keyword | ast.comprehension | ast.FormattedValue):
                self.expr(child)

    def note(self, name: str, line: int, kind: str) -> None:
        self.found[self.scope.owner].references.append(Reference(name, line, kind))

    # names and attributes

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

    # calls

    def call(self, node: ast.Call) -> int:
        func = node.func
        line = func.lineno + self.line_shift
        kind = func.__class__
        if kind is ast.Name:
            text = func.id  # type: ignore[attr-defined]
            if text in BUILTINS and self.is_builtin(text):
                done = self._builtin_call(node, text, line)
                if done is not None:
                    return done
            var = self.read(text)
        elif kind is ast.Attribute:
            line = (func.end_lineno or func.lineno) + self.line_shift
            text = dotted(func)
            var = self.attribute(func)  # type: ignore[arg-type]
        else:
            text = dotted(func)
            var = self.expr(func)
        self.note(text, line, "call")
        return self.apply(var, node, line, text)

    def apply(self, func: int, node: ast.Call, line: int, text: str) -> int:
        args: list[Any] = []
        kwargs: list[tuple[str | None, int]] = []
        for arg in node.args:
            if arg.__class__ is ast.Starred:
                args.append([self.expr(arg.value)])  # type: ignore[attr-defined]
            else:
                args.append(self.value(arg))
        for keyword in node.keywords:
            kwargs.append((keyword.arg, self.value(keyword.value)))
        return self.call_fact(func, args, kwargs, line, text)

    def call_fact(self, func: int, args: list[Any], kwargs: list[tuple[str | None, int]], line: int, text: str) -> int:
        self.strong.clear()
        owner = self.scope.owner
        if func < 0:
            self.lost.append((owner, text, line))
            if not (text.endswith(".sort") and kwargs):
                return NOTHING
            func = self.load(self.cell("list"), "sort", line)
            args = [NOTHING]
        result = self.new()
        self.calls.append((result, func, args, kwargs, owner, line, text))
        return result

    def _builtin_call(self, node: ast.Call, name: str, line: int) -> int | None:
        """The builtins that are understood right here; None for the others."""
        args = node.args
        if name == "super":
            return self._super(node, line)
        if name in PLAIN:
            self.note(name, line, "call")
            self.plain.append((self.scope.owner, "builtins." + name, line))
            first = self.expr(args[0]) if args else NOTHING
            for arg in [*args[1:], *(k.value for k in node.keywords)]:
                self.expr(arg)
            if first >= 0 and PLAIN[name]:
                self.protocols.append((NOTHING, first, PLAIN[name], self.scope.owner, line))
            return NOTHING
        if name in ("getattr", "setattr") and len(args) >= 2:
            self.note(name, line, "call")
            self.plain.append((self.scope.owner, "builtins." + name, line))
            return self._by_name(node, name, line)
        if name in _FOLLOWED and args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
            self._follow(args[0].value, line)
        return None

    def _by_name(self, node: ast.Call, name: str, line: int) -> int:
        base = self.expr(node.args[0])
        key = self.value(node.args[1])
        rest = [self.expr(arg) for arg in node.args[2:]]
        text = self.constant_of(key)
        if base < 0 or not isinstance(text, str):
            if name == "getattr" and base >= 0 and key >= 0:
                self.dynamic_keys.add(key)
                result = self.new()
                self.items.append((result, base, ["attr", key], self.scope.owner, line))
                return result
            return NOTHING
        if name == "setattr":
            self.set_attribute(base, text, rest[0] if rest else NOTHING, line)
            return NOTHING
        var = self.load(base, text, line)
        if rest and rest[0] >= 0:
            both = self.new()
            self.copy(both, var)
            self.copy(both, rest[0])
            return both
        return var

    def set_attribute(self, base: int, name: str, source: int, line: int) -> None:
        raise NotImplementedError

    def constant_of(self, var: int) -> Any:
        """The constant behind a number below NOTHING, None for everything else."""
        return self.const_values[-2 - var] if var < NOTHING else None

    def _follow(self, text: str, line: int) -> None:
        """Code in a constant string runs where it stands."""
        try:
            body = ast.parse(text.strip(), mode="exec").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        outer, self.line_shift = self.line_shift, line - 1 + self.line_shift
        for statement in body:
            if isinstance(statement, ast.Expr):
                self.expr(statement.value)
        self.line_shift = outer

    def _super(self, node: ast.Call, line: int) -> int:
        self.note("super", line, "call")
        self.plain.append((self.scope.owner, "builtins.super", line))
        scope: Scope | None = self.scope
        if len(node.args) == 2:
            klass, first = self.expr(node.args[0]), self.expr(node.args[1])
            if klass < 0 or first < 0:
                return NOTHING
            self.supers.append((var := self.new(), klass, -1, first, self.scope.owner))
            return var
        while scope is not None and not (scope.kind == "function" and scope.around and scope.around.kind == "class"):
            scope = scope.around
        if scope is None or scope.first < 0 or scope.around is None:
            return NOTHING
        self.supers.append((var := self.new(), -1, scope.around.index, scope.first, self.scope.owner))
        return var

    # containers

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
        if node.__class__ is ast.UnaryOp and isinstance(node.op, ast.USub):  # type: ignore[attr-defined]
            operand = node.operand  # type: ignore[attr-defined]
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
            low, high = (self.value(e) if e else None for e in (index.lower, index.upper))  # type: ignore[attr-defined]
            step = index.step  # type: ignore[attr-defined]
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

    # operators

    def binary(self, node: ast.BinOp) -> int:
        left, right = self.expr(node.left), self.expr(node.right)
        if left < 0 and right < 0:
            return NOTHING
        return self.operation(left, OPERATORS[node.op.__class__], right, node.lineno)

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

    def narrow_by(self, test: ast.expr) -> list[tuple[str, int]]:
        raise NotImplementedError

    def widen(self, changed: list[tuple[str, int]]) -> None:
        for name, var in changed:
            self.scope.env[name] = var

    # the rest

    def walrus(self, node: ast.NamedExpr) -> int:
        var = self.value(node.value)
        self.bind(node.target.id, var)
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

    def assign(self, target: ast.expr, var: int) -> None:
        raise NotImplementedError

    def iterate(self, base: int, line: int) -> int:
        if base < 0:
            return NOTHING
        self.iters.append((var := self.new(), base, self.scope.owner, line + self.line_shift))
        return var

    def function(self, node: ast.Lambda) -> int:
        raise NotImplementedError

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

    def text(self, node: ast.FormattedValue) -> int:
        var = self.expr(node.value)
        if var >= 0:
            name = "__repr__" if node.conversion == ord("r") else "__str__"
            self.protocols.append((NOTHING, var, name, self.scope.owner, node.lineno + self.line_shift))
        if node.format_spec is not None:
            self.expr(node.format_spec)
        return NOTHING

    def constant(self, node: ast.Constant) -> int:
        return NOTHING

    def starred(self, node: ast.Starred) -> int:
        return self.expr(node.value)


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
    ast.FormattedValue: Expressions.text, ast.Starred: Expressions.starred,
}  # fmt: skip
