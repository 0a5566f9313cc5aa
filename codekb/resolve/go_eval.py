"""Evaluates the expressions of one Go function: names, selectors, literals, types. Calls are in `go_calls`."""

from __future__ import annotations

from typing import Any

from codekb.parsing.go_refs import PREDECLARED, dotted
from codekb.resolve.go_context import Context
from codekb.resolve.go_declared import Func, Import, Named, Package, Var
from codekb.resolve.go_select import Selected
from codekb.resolve.go_types import Meaning, basic, holds_function, pointee
from codekb.resolve.go_values import UNKNOWN, Flow, Value
from codekb.resolve.go_world import preferred

BUILTINS = frozenset(
    (
        "append",
        "cap",
        "clear",
        "close",
        "complex",
        "copy",
        "delete",
        "imag",
        "len",
        "make",
        "max",
        "min",
        "new",
        "panic",
        "print",
        "println",
        "real",
        "recover",
    )
)
CONSTANTS = {"true": basic("bool"), "false": basic("bool"), "iota": basic("int"), "nil": None}


class Evaluator:
    """Meaning of expressions inside one function; each expression is evaluated once."""

    def __init__(self, context: Context, func: Func) -> None:
        self.context = context
        self.world = context.world
        self.selector = context.selector
        self.sink = context.sink
        self.solver = context.solver
        self.func = func
        self.file = func.file
        self.types = list(func.types)  # of the slots, inferred ones filled in on the way
        self.memo: dict[int, Value] = {}

    def value(self, x: Any) -> Value:
        """What an expression stands for, recording what it mentions."""
        if isinstance(x, int):
            return self._slot(x)
        if isinstance(x, str):
            return Value("value", None if x == "nil" else basic(x))
        if not isinstance(x, tuple | list) or not x:
            return UNKNOWN
        known = self.memo.get(id(x))
        if known is None:
            self.memo[id(x)] = UNKNOWN  # for expressions that lead back to themselves
            known = self.memo[id(x)] = self._dispatch(x)
            self._mention(x, known)
        return known

    def callee(self, x: Any) -> Value:
        """What is called: like `value`, but calling a function is no mere mention of it."""
        if not isinstance(x, tuple | list) or not x:
            return self.value(x)
        known = self.memo.get(id(x))
        if known is None:
            known = self.memo[id(x)] = self._dispatch(x, called=True)
        return known

    def _dispatch(self, x: Any, called: bool = False) -> Value:
        tag = x[0]
        if tag == "n":
            return self._name(x[1])
        if tag == ".":
            return self._selector(x)
        if tag == "()":
            return self.call(x)
        if tag == "{}":
            return self.composite(x, None)
        if tag == "[]":
            return self.index(x, called)
        return self._other(tag, x)

    def call(self, x: Any) -> Value:
        """A call; see `go_calls`."""
        raise NotImplementedError

    def index(self, x: Any, called: bool) -> Value:
        """An index or an instantiation; see `go_literals`."""
        raise NotImplementedError

    def composite(self, x: Any, expected: Meaning) -> Value:
        """A composite literal; see `go_literals`."""
        raise NotImplementedError

    def _other(self, tag: str, x: Any) -> Value:
        if tag == "t":
            meant = self.meaning(x[1])
            self.sink.type_used(self.func.id, meant, x[2])
            return Value("type", meant)
        if tag == "fn":
            flow: Flow = (("literal", self.func, x[1]),)
            return Value("value", self.func.type(x[1]), flow=flow)
        if tag == "*":
            return self._star(self.value(x[1]))
        if tag == "&":
            inner = self.value(x[1])
            return Value("value", ("*", inner.type), flow=inner.flow)
        if tag == "<-":
            inner = self.value(x[1])
            under = self.underlying(inner.type)
            return Value("value", under[1] if under and under[0] == "chan" else None, flow=inner.flow)
        if tag == "[:]":
            inner = self.value(x[1])
            for other in x[2]:
                self.value(other)
            return Value("value", inner.type, flow=inner.flow)
        if tag == ".()":
            inner = self.value(x[1])
            meant = self.meaning(x[2])
            self.sink.type_used(self.func.id, meant, x[3])
            return Value("value", meant, flow=inner.flow)
        return self._operation(x) if tag == "op" else UNKNOWN

    def _operation(self, x: Any) -> Value:
        operands = [self.value(operand) for operand in x[1]]
        if x[2]:
            return Value("value", basic("bool"))
        typed = [v.type for v, o in zip(operands, x[1], strict=True) if not isinstance(o, str) and v.type]
        return Value("value", typed[0] if typed else operands[0].type)

    def _star(self, inner: Value) -> Value:
        if inner.kind == "type":
            return Value("type", ("*", inner.type))
        under = self.underlying(inner.type)
        return Value("value", under[1] if under and under[0] == "*" else pointee(inner.type), flow=inner.flow)

    def _slot(self, number: int) -> Value:
        t = self.types[number]
        return Value("value", t, flow=(("slot", self.func, number),) if holds_function(t) else ())

    def meaning(self, written: Any) -> Meaning:
        """What a type written in this function means."""
        return self.world.meaning(written, self.file, self.func.names)

    def underlying(self, t: Meaning) -> Meaning:
        """A type with its name opened, and a type parameter replaced by the core of its constraint."""
        if t is not None and t[0] == "N":
            return t[1].underlying_with(t[2])
        if t is not None and t[0] == "T":
            core = self.selector.constraint(t)
            inner = core[2][0] if core and core[0] == "interface" and len(core[2]) == 1 else core
            return self.underlying(inner) if inner and inner[0] == "N" else inner
        return t

    # names

    def _name(self, name: str) -> Value:
        if name in self.func.names:
            return Value("type", self.func.names[name])
        package = self.file.package
        if package.declares(name):
            return self._declared(package, name, "same package")
        for entry in self.file.dot_imports:
            if entry.package is not None and entry.package.declares(name):
                return self._declared(entry.package, name, "dot import")
        imported = self.file.imports.get(name)
        if imported is not None:
            return Value("package", owner=imported, name=imported.path)
        if name in BUILTINS:
            return Value("builtin", name=name)
        if name in CONSTANTS:
            return Value("value", CONSTANTS[name])
        if name in PREDECLARED:
            return Value("type", basic(name))
        outside = next((e for e in self.file.dot_imports if e.package is None), None)
        return self._library(f"{outside.path}.{name}") if outside else UNKNOWN

    def _declared(self, package: Package, name: str, reason: str) -> Value:
        if name in package.funcs:
            return self._functions(preferred(package.funcs[name], self.file), reason)
        if name in package.types:
            named: Named = preferred(package.types[name], self.file)[0]
            return Value("type", named.underlying() if named.alias else ("N", named, ()))
        return self._variable(preferred(package.vars[name], self.file)[0], reason)

    def _functions(self, funcs: list[Func], reason: str) -> Value:
        flow = tuple(("func", f, 0) for f in funcs)
        return Value("funcs", funcs[0].type(), funcs, flow=flow, reason=reason)

    def _variable(self, var: Var, reason: str) -> Value:
        t = self.variable_type(var)
        if var.function is not None:
            t = t or var.function.type()
            flow: Flow = (("func", var.function, 0), ("var", var))
            return Value("funcs", t, [var.function], flow=flow, reason=reason)
        return Value("value", t, flow=(("var", var),) if holds_function(t) else ())

    def variable_type(self, var: Var) -> Meaning:
        """Declared or inferred type of a package-level variable; None while it is being inferred."""
        if not var.typed:
            var.typed = True
            if var.written is not None:
                var.type = self.world.meaning(var.written, var.file, {})
            elif var.value is not None:
                x, position = var.value
                found = type(self)(self.context.silent(), var.file.code).value(x).type
                in_tuple = found is not None and found[0] == "tuple" and position < len(found[1])
                var.type = found[1][position] if in_tuple else found
        return var.type

    # selectors

    def _selector(self, x: Any) -> Value:
        left = self.value(x[1]) if not self._is_package(x[1]) else self._name(x[1][1])
        if left.kind == "package":
            return self._member(left.owner, x[2])
        if left.kind == "library":
            return self._library(f"{left.name}.{x[2]}")
        if left.type is None:
            return UNKNOWN
        found = self.selector.select(left.type, x[2], self.file)
        return self._selected(found, left, x[2]) if found else UNKNOWN

    def _is_package(self, x: Any) -> bool:
        return isinstance(x, tuple | list) and x[0] == "n" and x[1] in self.file.imports

    def _member(self, entry: Import, name: str) -> Value:
        if entry.package is not None:
            found = self._declared(entry.package, name, "imported name") if entry.package.declares(name) else UNKNOWN
            return found
        known = self.world.library.get(entry.path)
        if known is not None and known.declares(name):
            found = self._declared(known, name, "library")
            if found.kind == "funcs":
                dotted_name = f"{entry.path}.{name}"
                return Value("library", found.type, flow=(("library", dotted_name),), name=dotted_name)
            return found
        return self._library(f"{entry.path}.{name}")

    def _library(self, name: str) -> Value:
        return Value("library", ("U", name), flow=(("library", name),), name=name)

    def _selected(self, found: Selected, left: Value, name: str) -> Value:
        expression = 1 if left.kind == "type" else 0
        if found.kind == "field":
            flow: Flow = (("field", found.owner, name),) if holds_function(found.type) else ()
            return Value("value", found.type, flow=flow)
        if found.kind == "library" or (found.kind == "method" and found.funcs[0].file.library):
            inner = found.dotted or f"{found.owner.file.package.folder}.{found.owner.name}.{name}"
            return Value("library", found.type or ("U", inner), flow=(("library", inner),), name=inner)
        t = found.type
        if expression and t is not None:
            t = ("func", (left.type, *t[1]), t[2], t[3])
        if found.kind == "interface":
            flow = (("method", found.owner, name),)
            return Value("interface", t, owner=found.owner, name=name, flow=flow, skipped=expression,
                         receiver=left.flow)  # fmt: skip
        flow = tuple(("func", f, expression) for f in found.funcs)
        reason = "promoted method" if found.depth else "method expression" if expression else "receiver type"
        return Value("funcs", t, found.funcs, found.bindings, flow, reason=reason, skipped=expression,
                     receiver=left.flow)  # fmt: skip

    def _mention(self, x: Any, found: Value) -> None:
        """A name that is not called: an edge `uses` to a function or a type of the corpus."""
        if x[0] in ("n", ".") and found.kind in ("funcs", "type"):
            line = x[2] if x[0] == "n" else x[3]
            if found.kind == "type":
                self.sink.type_used(self.func.id, found.type, line)
            else:
                self.sink.used(self.func, found.funcs, line, found.reason)

    def written(self, x: Any) -> str:
        """An expression as its dotted name in the source."""
        return dotted(x, self.func.record["slots"])
