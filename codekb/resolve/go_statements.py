"""Go statements: assignments, returns, ranges, type switches, sends. Nothing of expressions."""

from __future__ import annotations

from typing import Any

from codekb.resolve.go_calls import Calls
from codekb.resolve.go_types import Meaning, basic, holds_function
from codekb.resolve.go_values import Flow, Value


class Body(Calls):
    """Runs the operations of one function once, in order."""

    def run(self) -> None:
        """Everything the function does."""
        record = self.func.record
        skipped = record["receiver"][0] if record["receiver"] else None
        for number, (_, written, line) in enumerate(record["slots"]):
            if written is not None and number != skipped:
                self.sink.type_used(self.func.id, self.func.types[number], line)
        for literal in range(-1, len(record["literals"])):
            for i, slot in enumerate(self.func.literal(literal)[1]):
                if record["slots"][slot][0] and self.sink.flowing:
                    self.solver.link(self._slot(slot).flow, ("result", self.func, literal, i))
        for op in record["ops"]:
            self._op(op)

    def _op(self, op: Any) -> None:
        tag = op[0]
        if tag == "e":
            self.value(op[1])
        elif tag in ("=", "var"):
            self._assign(op[1], op[2])
        elif tag == "ret":
            self._return(op[1], op[2])
        elif tag == "range":
            self._range(op)
        elif tag == "switch":
            self._switch(op[1], op[2])
        elif tag == "send":
            value = self.value(op[2])
            self.store_in(value.flow, self.value(op[1]).flow)

    def _assign(self, left: list[Any], right: list[Any]) -> None:
        if len(left) == len(right):
            for target, x in zip(left, right, strict=True):
                value = self.value(x)
                self._store(target, value.type, value.flow)
        elif len(right) == 1:
            value = self.value(right[0])
            types, flows = self._spread(value, len(left))
            for target, t, flow in zip(left, types, flows, strict=True):
                self._store(target, t, flow)

    def _spread(self, value: Value, count: int) -> tuple[list[Meaning], list[Flow]]:
        """Types and flows of `count` targets: a call's results, or a value and whether it is there."""
        t = value.type
        if t is not None and t[0] == "tuple":
            types = [*t[1], *[None] * count][:count]
            return types, [*value.flows, *[()] * count][:count]
        if t is not None and t[0] == "U" and value.kind != "field":
            return [t] * count, [value.flow, *[()] * count][:count]
        return [t, *[basic("bool")] * (count - 1)], [value.flow, *[()] * count][:count]

    def _store(self, target: Any, t: Meaning, flow: Flow) -> None:
        if isinstance(target, int):
            if self.types[target] is None:
                self.types[target] = t
            if flow and self.sink.flowing and holds_function(self.types[target]):
                self.solver.link(flow, ("slot", self.func, target))
        elif target is not None:
            self.store_in(flow, self.value(target).flow)

    def _return(self, literal: int, values: list[Any]) -> None:
        found = [self.value(x) for x in values]
        flows = [v.flow for v in found]
        if len(found) == 1 and found[0].flows:
            flows = list(found[0].flows)
        if self.sink.flowing:
            for i, flow in enumerate(flows):
                self.solver.link(flow, ("result", self.func, literal, i))

    def _range(self, op: Any) -> None:
        over = self.value(op[3])
        under = self.underlying(over.type)
        if under is not None and under[0] == "*":
            under = self.underlying(under[1])
        key, value = self._iterated(under)
        flow = over.flow
        if under is not None and under[0] == "func":
            flow = ()
            self._enter_iterator(over, op)
        self._store(op[1], key, flow)
        self._store(op[2], value, flow)

    def _iterated(self, under: Meaning) -> tuple[Meaning, Meaning]:
        tag = under[0] if under is not None else ""
        if tag == "[]":
            return basic("int"), under[1]
        if tag == "map":
            return under[1], under[2]
        if tag == "chan":
            return under[1], None
        if tag in ("U", "X"):
            return ("U", f"{under[1]}[]"), ("U", f"{under[1]}[]")
        if tag == "func" and under[1] and under[1][0] is not None and under[1][0][0] == "func":
            taken = under[1][0][1]
            return (taken[0] if taken else None), (taken[1] if len(taken) > 1 else None)
        return (under, None) if under != basic("string") else (basic("int"), basic("rune"))

    def _enter_iterator(self, over: Value, op: Any) -> None:
        """`for x := range sequence` calls the sequence."""
        name = self.written(op[3])
        loop: list[Flow] = [(("loop",),)]
        if over.kind == "funcs":
            self.sink.call(self.func, over.funcs, op[4], name, over.reason)
            if self.sink.flowing:
                self.flow_into(over, loop)
        elif over.flow and self.sink.flowing:
            self.solver.site(self.func, over.flow, op[4], name, loop, "function value")

    def _switch(self, cases: list[Any], x: Any) -> None:
        over = self.value(x)
        for slot, types in cases:
            meant = [self.meaning(t) for t in types]
            line = self.func.record["slots"][slot][2]
            for t in meant:
                self.sink.type_used(self.func.id, t, line)
            self.types[slot] = meant[0] if len(meant) == 1 and types != ["nil"] else over.type
            self._store(slot, None, over.flow)
