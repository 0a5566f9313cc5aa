"""What the evaluation of all functions of one corpus shares, and calls on type parameters, which wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codekb.resolve.go_declared import Func
from codekb.resolve.go_flow import Solver
from codekb.resolve.go_select import Selector
from codekb.resolve.go_sink import Sink
from codekb.resolve.go_types import Meaning
from codekb.resolve.go_values import Flow, Value
from codekb.resolve.go_world import World

if TYPE_CHECKING:
    from codekb.resolve.go_calls import Calls

TYPE_ARGUMENT = 0.9
"""Confidence of a method of a type that some instantiation gives to the type parameter."""


class Context:
    """World, selector, sink and solver of one run; which types stand for which type parameters."""

    def __init__(self, world: World, selector: Selector, sink: Sink) -> None:
        self.world = world
        self.selector = selector
        self.sink = sink
        self.solver = Solver(sink, selector)
        self.instances: dict[Meaning, dict[Meaning, None]] = {}
        self.pending: list[tuple[Calls, Value, tuple[str, int], list[Flow], int]] = []

    def silent(self) -> Context:
        """The same world for asking about types only: nothing is recorded."""
        return Context(self.world, self.selector, Sink("type", silent=True))

    def instance(self, parameter: Meaning, actual: Meaning) -> None:
        """An instantiation gives this type to the parameter."""
        if not self.sink.silent and parameter != actual:
            self.instances.setdefault(parameter, {})[actual] = None

    def on_type_parameter(self, body: Calls, called: Value, place: tuple[str, int], flows: list[Flow]) -> Value:
        """A method of a value whose type is a type parameter: resolved when all instantiations are known."""
        number = len(self.pending)
        self.pending.append((body, called, place, flows, number))
        return body.results_of(called.type, [("pending", number)])

    def finish(self) -> None:
        """Resolves what waited."""
        for parameter, actual in self.world.instances:
            self.instance(parameter, actual)
        for body, called, place, flows, number in self.pending:
            self._on_instances(body, called, place, flows, number)

    def _on_instances(self, body: Calls, called: Value, place: tuple[str, int], flows: list[Flow], number: int) -> None:
        given = self._given(called.owner)
        targets: dict[Func, float] = {}
        interfaces: list[Meaning] = [] if given else [called.owner]
        for t in given:
            found = self.selector.select(t, called.name, body.file)
            if found is not None and found.kind == "method":
                targets.update((f, TYPE_ARGUMENT) for f in found.funcs if not f.file.library)
            elif found is not None and found.kind == "interface":
                interfaces.append(found.owner)
        self.sink.possible(body.func, targets, place[1], "type argument")
        reached: list[Any] = [("result", f, -1) for f in targets]
        body.flow_into(Value("funcs", called.type, list(targets), receiver=called.receiver), flows)
        for t in interfaces:
            again = Value("interface", called.type, owner=t, name=called.name, receiver=called.receiver)
            for flow in body.dispatch(again, place, flows).all_flows():
                reached += [item[:-1] for item in flow]
        for source in reached:
            for i in range(8):
                self.solver.link(((*source, i),), ("pending", number, i))

    def _given(self, parameter: Meaning) -> list[Meaning]:
        """The types that instantiations give to a type parameter, through other type parameters."""
        found: dict[Meaning, None] = {}
        stack, seen = [parameter], {parameter}
        while stack:
            for actual in self.instances.get(stack.pop(), ()):
                if actual is not None and actual[0] == "T":
                    if actual not in seen:
                        seen.add(actual)
                        stack.append(actual)
                elif actual is not None:
                    found[actual] = None
        return list(found)
