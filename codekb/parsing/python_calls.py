"""Calls in expressions, and the builtins that are understood where they stand. A mixin of the walk."""

from __future__ import annotations

import ast
from typing import Any

from codekb.parsing.python_facts import Facts, dotted
from codekb.parsing.python_scopes import BUILTINS, NOTHING, Scope

PLAIN = {
    "len": "__len__", "str": "__str__", "repr": "__repr__", "int": "__int__", "float": "__float__", "bool": "__bool__",
    "hash": "__hash__", "abs": "__abs__", "round": "__round__", "format": "__format__", "bytes": "__bytes__",
    "complex": "__complex__", "dir": "__dir__", "print": "__str__", "isinstance": "", "issubclass": "", "hasattr": "",
    "range": "", "ord": "", "chr": "", "id": "", "callable": "", "input": "", "open": "", "bin": "", "hex": "",
    "oct": "", "delattr": "", "divmod": "", "pow": "", "ascii": "__repr__",
}  # fmt: skip
"""Builtins whose result is never looked into, with the method that they call on their first argument."""
_TEXTS = (ast.Constant, ast.JoinedStr)
_FOLLOWED = frozenset({"eval", "exec"})


class CallsInCode(Facts):
    """Adds calls to the walk of expressions."""

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
            if func.value.__class__ in _TEXTS:  # type: ignore[attr-defined]
                return self._constant_method(node, line)
            var = self.attribute(func)  # type: ignore[arg-type]
        else:
            text = dotted(func)
            var = self.expr(func)
        self.note(text, line, "call")
        return self.apply(var, node, line, text)

    def _constant_method(self, node: ast.Call, line: int) -> int:
        """A method of a constant, such as `", ".join(…)`: the library's, whatever it is given."""
        assert isinstance(node.func, ast.Attribute)
        base = node.func.value
        sort = type(base.value).__name__ if isinstance(base, ast.Constant) else "str"
        self.note(dotted(node.func), line, "call")
        self.plain.append((self.scope.owner, f"builtins.{sort}.{node.func.attr}", line))
        for part in [base, *node.args, *(keyword.value for keyword in node.keywords)]:
            self.expr(part)
        self.strong.clear()
        return NOTHING

    def apply(self, func: int, node: ast.Call, line: int, text: str) -> int:
        args: list[Any] = []
        for arg in node.args:
            if arg.__class__ is ast.Starred:
                args.append([self.expr(arg.value)])
            else:
                args.append(self.value(arg))
        kwargs = [(keyword.arg, self.value(keyword.value)) for keyword in node.keywords]
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
                self.items.append((result, base, ["attr", key, self.affixes.get(key)], self.scope.owner, line))
                self.copy(result, rest[0] if rest else NOTHING)
                return result
            return rest[0] if name == "getattr" and rest else NOTHING
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
