"""Statements of Python to facts: definitions, imports, assignments, branches. One walk over the syntax tree of a file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from typing import Any

from codekb.chunks import Reference
from codekb.parsing.python_annotations import Annotations
from codekb.parsing.python_chunks import Found, docstring
from codekb.parsing.python_expr import OPERATORS, dotted, target_names
from codekb.parsing.python_scopes import NOTHING, Scope

Function = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT_AS_IS = frozenset({"setter", "getter", "deleter"})
_FLAGS = {
    "staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "property",
    "setter": "setter", "deleter": "setter", "getter": "property", "overload": "overload",
    "abstractmethod": "abstract", "abstractproperty": "property", "contextmanager": "context",
    "asynccontextmanager": "context", "abstractclassmethod": "class", "abstractstaticmethod": "static",
}  # fmt: skip


class Walk(Annotations):
    """The walk itself: `run(tree)` once, then `facts()`."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        super().__init__(text, set(_bound_names(tree.body)))
        self.tree = tree
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

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            _STATEMENTS[statement.__class__](self, statement)

    # definitions

    def define(self, node: Any, kind: str, line: int) -> int:
        found = Found(kind, getattr(node, "name", ""), self.scope.index, line, node.col_offset, node.end_lineno or line, node)
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
        if "setter" in flags and node.name in self.scope.env:
            self._setter(node.name, index)
            return
        self.bind(node.name, self._decorate(var, decorators))

    def _setter(self, name: str, index: int) -> None:
        self.functions[-1][10].append("of:" + name)

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
        for position, default in enumerate(defaults, len(positional) - len(defaults)):
            source = self.value(default)
            self.copy(positional[position][1], source)
            if source >= 0:
                given.append([position, source])
        for (_, var), default in zip(keyword, args.kw_defaults, strict=True):
            if default is not None:
                self.copy(var, self.value(default))
        for position, (arg, var) in enumerate(positional):
            scope.params[var] = position
            scope.env[arg.arg] = var
        for arg, var in keyword:
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
            self._return_value(self.value(node.body))
        else:
            self._annotate(scope, node, fact)
            self.block(node.body)
        fact[7] = scope.yielded
        fact[8] = sorted(scope.passed)
        fact[11] = scope.sent
        fact[13] = [[position, none, var] for (position, none), var in scope.guarded.items()]
        self.scope = self.module

    def _annotate(self, scope: Scope, node: Function, fact: list[Any]) -> None:
        args = node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            if arg.annotation is not None:
                self.annotate(scope.env[arg.arg], arg.annotation)
        for arg, var in ((args.vararg, fact[4]), (args.kwarg, fact[5])):
            if arg is not None and arg.annotation is not None:
                element = self.new()
                self.annotate(element, arg.annotation)
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
        for keyword in node.keywords:
            self.expr(keyword.value)
        outer = self.scope
        var = self.new()
        self.definitions += (var, index)
        self.fixed.add(var)
        scope = Scope("class", index, outer.owner, outer)
        self.scope = scope
        self.block(node.body)
        self.scope = outer
        names = tuple(k.arg for k in node.keywords)
        self.classes.append((index, node.name, bases, dict(scope.env), names))
        for _, text, line in bases:
            found.references.append(Reference(text, line, "base"))
        self.bind(node.name, self._decorate(var, decorators))

    # imports

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

    # assignments

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
            else:
                self.visit_children(target)

    # control flow

    def if_(self, node: ast.If) -> None:
        scope = self.scope
        self.expr(node.test)
        was_dead, mark, outer = scope.dead, len(scope.log), scope.guard
        guard = outer or self._none_test(node.test)
        opposite = outer or (guard and (guard[0], not guard[1]))
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

    def _none_test(self, test: ast.expr) -> tuple[int, bool] | None:
        """The parameter that `p is None`, `p is not None`, `p` or `not p` asks for, and whether it is None if true."""
        none = False
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, none = test.operand, True
        elif isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot) and len(test.ops) == 1:
            right = test.comparators[0]
            if not (isinstance(right, ast.Constant) and right.value is None):
                return None
            test, none = test.left, isinstance(test.ops[0], ast.Is)
        if isinstance(test, ast.Name) and (position := self.scope.params.get(self.scope.env.get(test.id, NOTHING))) is not None:
            return position, none
        return None

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

    def return_(self, node: ast.Return) -> None:
        if node.value is not None:
            self._return_value(self.value(node.value))
        self.scope.dead = True

    def _return_value(self, var: int) -> None:
        scope = self.scope
        position = scope.params.get(var)
        if position is not None:
            scope.passed.add(position)
        elif scope.guard is not None and var >= 0:
            if scope.guard not in scope.guarded:
                scope.guarded[scope.guard] = self.new()
            self.copy(scope.guarded[scope.guard], var)
        else:
            self.copy(scope.ret, var)

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
        if isinstance(node, Function | ast.ClassDef):
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


def _strings(node: ast.expr) -> list[str] | None:
    """The strings of a constant list or tuple; None for anything else."""
    if isinstance(node, ast.List | ast.Tuple):
        return [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return None


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
    _STATEMENTS[ast.TypeAlias] = Walk.nothing
