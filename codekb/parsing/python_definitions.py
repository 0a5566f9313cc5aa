"""Functions, lambdas and classes: their chunks, parameters, decorators and bases. A mixin of the walk."""

from __future__ import annotations

import ast
from typing import Any

from codekb.chunks import Reference
from codekb.parsing.python_annotations import Annotations
from codekb.parsing.python_chunks import Found, docstring
from codekb.parsing.python_facts import DELETED, dotted, fields
from codekb.parsing.python_scopes import NOTHING, Scope

Function = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT_AS_IS = frozenset({"setter", "getter", "deleter"})
_FLAGS = {
    "staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "property",
    "setter": "setter", "deleter": "deleter", "getter": "property", "overload": "overload",
    "abstractmethod": "abstract", "abstractproperty": "property", "contextmanager": "context",
    "asynccontextmanager": "context", "abstractclassmethod": "class", "abstractstaticmethod": "static",
}  # fmt: skip


class Definitions(Annotations):
    """Adds definitions to the walk."""

    def define(self, node: Any, kind: str, line: int) -> int:
        found = Found(
            kind, getattr(node, "name", ""), self.scope.index, line, node.col_offset, node.end_lineno or line, node
        )
        self.found.append(found)
        return len(self.found) - 1

    def function_def(self, node: Function) -> None:
        decorators = [(d, self.expr(d), dotted(d.func if isinstance(d, ast.Call) else d)) for d in node.decorator_list]
        line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        index = self.define(node, "function", line)
        found = self.found[index]
        found.doc = docstring(node)
        found.decorators = tuple(text for _, _, text in decorators)
        found.is_async = isinstance(node, ast.AsyncFunctionDef)
        flags = {_FLAGS[tail] for text in found.decorators if (tail := text.rpartition(".")[2]) in _FLAGS}
        var = self._make(node, index, "function", flags)
        if flags & {"setter", "deleter"} and node.name in self.scope.env:
            self.functions[-1][10].append("of:" + (DELETED if "deleter" in flags else "") + node.name)
            return
        self.bind(node.name, self._decorate(var, decorators))

    def _decorate(self, var: int, decorators: list[tuple[ast.expr, int, str]]) -> int:
        for node, decorator, text in reversed(decorators):
            line = node.lineno + self.line_shift
            self.note(text, line, "decorator")
            tail = text.rpartition(".")[2]
            if tail in _KEPT_AS_IS:
                continue
            if decorator < 0:
                self.lost.append((self.scope.owner, text, line))
                continue
            result = self.new()
            self.decorations.append((result, decorator, var, self.scope.owner, line, text))
            var = result
        return var

    def _make(self, node: Any, index: int, kind: str, flags: set[str]) -> int:
        """Facts of a function or lambda; its body is walked later. The variable that holds it."""
        scope = Scope(kind, index, index, self.scope)
        scope.ret = self.new()
        args = node.args
        positional = [(a, self.new()) for a in (*args.posonlyargs, *args.args)]
        keyword = [(a, self.new()) for a in args.kwonlyargs]
        star = self.new() if args.vararg else NOTHING
        double = self.new() if args.kwarg else NOTHING
        defaults = [*args.defaults]
        given: list[list[int]] = []
        both = [*positional, *keyword]
        for position, default in enumerate([*defaults, *args.kw_defaults], len(positional) - len(defaults)):
            source = self.value(default) if default is not None else NOTHING
            self.copy(both[position][1], source)
            if source >= 0:
                given.append([position, source])
        for position, (arg, var) in enumerate(both):
            if arg.arg not in self.shared:
                scope.params[var] = position
            scope.env[arg.arg] = var
        for arg_or_none, var in ((args.vararg, star), (args.kwarg, double)):
            if arg_or_none is not None:
                scope.env[arg_or_none.arg] = var
        scope.versions = {name: [var] for name, var in scope.env.items()}
        for name in self.shared & scope.env.keys():
            scope.cells[name] = scope.env[name]
        holder = self.scope.index if self.scope.kind == "class" and kind == "function" else -1
        if holder >= 0 and positional and "static" not in flags:
            scope.first = positional[0][1]
        fact = [
            index,
            [(a.arg, var) for a, var in positional],
            len(args.posonlyargs),
            [(a.arg, var) for a, var in keyword],
            star,
            double,
            scope.ret,
            NOTHING,
            (),
            holder,
            sorted(flags),
            NOTHING,
            given,
            (),
            (),
        ]
        self.functions.append(fact)
        self.later.append((scope, node, fact))
        self.definitions += (var := self.new(), index)
        self.fixed.add(var)
        return var

    def function(self, node: ast.Lambda) -> int:
        index = self.define(node, "lambda", node.lineno + self.line_shift)
        self.found[index].end += self.line_shift
        return self._make(node, index, "lambda", set())

    def _body(self, scope: Scope, node: Any, fact: list[Any]) -> None:
        self.scope = scope
        self.strong.clear()
        if scope.kind == "lambda":
            first = len(self.calls)
            self.return_value(self.value(node.body), first)
        else:
            self._annotate(scope, node, fact)
            self.block(node.body)
        self._settle_returns(scope)
        fact[7] = scope.yielded
        fact[8] = sorted(scope.passed)
        fact[11] = scope.sent
        fact[13] = [[position, none, var] for (position, none), var in scope.guarded.items()]
        fact[14] = sorted(scope.relays)
        self.scope = self.module

    def return_value(self, var: int, first: int) -> None:
        """A value is returned, written with the calls from number `first` on."""
        if var < 0:
            return
        scope = self.scope
        scope.returned.append((var, scope.guard))
        if scope.params and first < len(self.calls):
            made = [call[0] for call in self.calls[first:]]
            scope.relays.update(o for o in self.origins(var) if o in made and o not in scope.env.values())

    def _settle_returns(self, scope: Scope) -> None:
        """Parameters that are returned as they came are told apart from what else is."""
        for var, guard in dict.fromkeys(scope.returned):
            origins = self.origins(var)
            given = [scope.params[one] for one in origins if one in scope.params]
            scope.passed.update(given)
            others = [one for one in origins if one not in scope.params] if given else [var]
            target = scope.ret
            if guard is not None and others:
                target = scope.guarded[guard] = scope.guarded.get(guard) or self.new()
            for one in others:
                self.copy(target, one)

    def _annotate(self, scope: Scope, node: Function, fact: list[Any]) -> None:
        args = node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            if arg.annotation is not None:
                self.annotate(scope.env[arg.arg], arg.annotation)
        for rest, var in ((args.vararg, fact[4]), (args.kwarg, fact[5])):
            if rest is not None and rest.annotation is not None:
                element = self.new()
                self.annotate(element, rest.annotation)
                self.copy(var, self.box([[None, element]]))
        if node.returns is not None:
            self.annotate_result(scope, node.returns)

    def class_def(self, node: ast.ClassDef) -> None:
        decorators = [(d, self.expr(d), dotted(d.func if isinstance(d, ast.Call) else d)) for d in node.decorator_list]
        index = self.define(node, "class", min([node.lineno, *(d.lineno for d in node.decorator_list)]))
        found = self.found[index]
        found.doc = docstring(node)
        found.decorators = tuple(text for _, _, text in decorators)
        bases = []
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            var = self.expr(inner)
            if inner is not base:
                self.visit_children(base.slice)  # type: ignore[attr-defined]
            bases.append((var, dotted(inner), base.lineno))
        given = {keyword.arg: self.expr(keyword.value) for keyword in node.keywords}
        outer = self.scope
        var = self.new()
        self.definitions += (var, index)
        self.fixed.add(var)
        scope = Scope("class", index, outer.owner, outer)
        self.scope = scope
        self.block(node.body)
        self.scope = outer
        metaclass = given.get("metaclass", NOTHING)
        self.classes.append((index, node.name, bases, dict(scope.env), metaclass, node.lineno, fields(node.body)))
        for _, text, line in bases:
            found.references.append(Reference(text, line, "base"))
        self.bind(node.name, self._decorate(var, decorators))
