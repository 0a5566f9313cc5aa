"""Go calls: what is called, with which types, and what flows into it. Statements are in `go_statements`."""

from __future__ import annotations

from typing import Any

from codekb.resolve.go_callbacks import CALLS_ITS_ARGUMENT, CALLS_METHODS, RETURNS_ITS_ARGUMENT
from codekb.resolve.go_literals import Literals
from codekb.resolve.go_sink import DISPATCH, by_number
from codekb.resolve.go_types import ANY, Meaning, basic, bind, holds_function, substitute
from codekb.resolve.go_values import SOURCES, UNKNOWN, Flow, Value

CALLBACK = 0.9
"""Confidence of a method that a library is known to call."""

UNSURE = 0.6
"""Factor for a type that is only assumed to satisfy an interface, since part of either lies outside the corpus."""


class Calls(Literals):
    """Adds calls to the evaluation of expressions."""

    def call(self, x: Any) -> Value:
        """What a call gives, recording what it reaches."""
        _, function, arguments, line, _ = x
        called = self.callee(function)
        if called.kind == "builtin":
            return self._builtin(called.name, arguments)
        given = [self.value(a) for a in arguments]
        if called.kind == "type":
            if function[0] != "t":
                self.sink.type_used(self.func.id, called.type, line)
            return Value("value", called.type, flow=given[0].flow if given else ())
        types = [v.type for v in given]
        flows: list[Flow] = [v.flow for v in given]
        if len(given) == 1 and given[0].flows:
            types, flows = list(given[0].type[1]), list(given[0].flows)
        if called.kind == "library":
            return self._outside(called, function, types, flows, line)
        if called.kind == "funcs":
            return self._direct(called, function, types, flows, line)
        if called.kind == "interface":
            return self._dispatched(called, function, flows, line)
        return self._through_value(called, function, flows, line)

    def _builtin(self, name: str, arguments: list[Any]) -> Value:
        given = [self.value(a) for a in arguments]
        first = given[0] if given else UNKNOWN
        if name == "append":
            flow = tuple(dict.fromkeys(item for v in given for item in v.flow))
            return Value("value", first.type, flow=flow)
        if name == "new":
            return Value("value", ("*", first.type))
        if name in ("make", "min", "max"):
            return Value("value", first.type)
        if name == "copy" and len(given) == 2:
            self.store_in(given[1].flow, first.flow)
        return Value("value", ANY if name == "recover" else basic("int"))

    def store_in(self, flow: Flow, places: Flow) -> None:
        """Whatever is in `flow` may also be in each of the places."""
        if flow and self.sink.flowing:
            for place in places:
                if place[0] not in SOURCES:
                    self.solver.link(flow, place)

    def results_of(self, t: Meaning, sources: list[tuple[Any, ...]]) -> Value:
        """The value of a call of a function of type `t`, whose result nodes start with `sources`."""
        under = self.underlying(t)
        given = under[2] if under is not None and under[0] == "func" else (None,)
        flows = tuple(
            tuple((*source, i) for source in sources) if holds_function(r) else () for i, r in enumerate(given)
        )
        if len(given) == 1:
            return Value("value", given[0], flow=flows[0])
        return Value("value", ("tuple", tuple(given)), flows=flows)

    def _direct(self, called: Value, x: Any, types: list[Meaning], flows: list[Flow], line: int) -> Value:
        bindings = dict(called.bindings)
        t = called.type
        if t is not None and t[0] == "func":
            taken = t[1]
            for i, actual in enumerate(types):
                if taken:
                    last = i >= len(taken) - 1 and t[3]
                    pattern = taken[-1][1] if last and taken[-1] else taken[min(i, len(taken) - 1)]
                    bind(pattern, actual, bindings)
        for parameter, actual in bindings.items():
            self.context.instance(parameter, actual)
        self.sink.call(self.func, called.funcs, line, self.written(x), called.reason)
        if self.sink.flowing:
            self.flow_into(called, flows)
            variable = tuple(item for item in called.flow if item[0] == "var")
            if variable:
                self.solver.site(self.func, called.flow, line, self.written(x), flows, "function value")
        result = substitute(t, bindings)
        return self.results_of(result, [("result", f, -1) for f in called.funcs])

    def flow_into(self, called: Value, flows: list[Flow]) -> None:
        """Arguments and receiver of a call into the parameters of its targets."""
        for target in called.funcs:
            self.solver.pass_arguments(target, -1, flows, called.skipped)
            receiver = target.record["receiver"]
            if receiver and called.receiver and holds_function(target.types[receiver[0]]):
                self.solver.link(called.receiver, ("slot", target, receiver[0]))

    def _dispatched(self, called: Value, x: Any, flows: list[Flow], line: int) -> Value:
        name = self.written(x)
        owner = called.owner
        if not self.sink.flowing:
            if not self.sink.silent:
                self._not_dispatched(called, name, line)
            return self.results_of(called.type, [])
        if called.skipped:
            flows = flows[1:]
        if owner is not None and owner[0] == "T":
            return self.context.on_type_parameter(self, called, (name, line), flows)
        return self.dispatch(called, (name, line), flows)

    def _not_dispatched(self, called: Value, name: str, line: int) -> None:
        dotted = self.library_method(called)
        if dotted:
            self.sink.outside(self.func, dotted, line)
        else:
            self.sink.unknown(self.func, name, line)

    def library_method(self, called: Value) -> str:
        """`io.Reader.Read` for a method of an interface that a library declares, else nothing."""
        owner = called.owner
        if owner == basic("error"):
            return "error.Error"
        if owner is not None and owner[0] == "N" and owner[1].file.library:
            return f"{owner[1].file.package.folder}.{owner[1].name}.{called.name}"
        return ""

    def dispatch(self, called: Value, place: tuple[str, int], flows: list[Flow]) -> Value:
        """A call of an interface's method: every type of the corpus that satisfies the interface."""
        reached = self.selector.concrete(called.owner, called.name)
        confidence = by_number(DISPATCH, len(reached))
        targets = {f: confidence if sure else round(confidence * UNSURE, 3) for f, sure in reached}
        self.sink.possible(self.func, targets, place[1], "interface dispatch")
        if not targets or self.library_method(called):
            self._not_dispatched(called, *place)
        flowing = Value("funcs", called.type, list(targets), receiver=called.receiver)
        self.flow_into(flowing, flows)
        return self.results_of(called.type, [("result", f, -1) for f in targets])

    def _through_value(self, called: Value, x: Any, flows: list[Flow], line: int) -> Value:
        t = called.type
        if t is not None and t[0] == "U":
            self.sink.outside(self.func, t[1], line)
            return Value("value", t)
        if called.flow and self.sink.flowing:
            site = self.solver.site(self.func, called.flow, line, self.written(x), flows, "function value")
            return self.results_of(t, [("site", site.number)])
        if not (isinstance(x, tuple | list) and x[0] == "fn"):
            self.sink.unknown(self.func, self.written(x), line)
        return self.results_of(t, [])

    def _outside(self, called: Value, x: Any, types: list[Meaning], flows: list[Flow], line: int) -> Value:
        self.sink.outside(self.func, called.name, line)
        if called.name in CALLS_ITS_ARGUMENT and self.sink.flowing:
            for flow in flows:
                if flow:
                    self.solver.site(self.func, flow, line, called.name, [], "callback")
        if called.name in CALLS_METHODS and self.sink.flowing:
            self._methods_called(CALLS_METHODS[called.name], types, line)
        if called.name in RETURNS_ITS_ARGUMENT and types:
            return Value("value", types[0], flow=flows[0])
        t = called.type
        if t is not None and t[0] == "func":
            bindings: dict[Any, Any] = {}
            for pattern, actual in zip(t[1], types, strict=False):
                bind(pattern, actual, bindings)
            return self.results_of(substitute(t, bindings), [])
        return Value("value", ("U", f"{called.name}()"))

    def _methods_called(self, names: tuple[str, ...], types: list[Meaning], line: int) -> None:
        """The methods that a library calls on the arguments whose type has them."""
        for t in types:
            found = [self.selector.select(t, name, self.file) for name in names] if t is not None else []
            methods = [f for f in found if f is not None and f.kind == "method"]
            if len(methods) == len(names):
                targets = {g: CALLBACK for f in methods for g in f.funcs if not g.file.library}
                self.sink.possible(self.func, targets, line, "callback")
