"""Go's indexes, instantiations and composite literals, with the functions that literals put into fields. No calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from codekb.resolve.go_eval import Evaluator
from codekb.resolve.go_types import Meaning, basic, holds_function
from codekb.resolve.go_values import Value


class Literals(Evaluator):
    """Adds values made of parts to the evaluation of names."""

    def index(self, x: Any, called: bool) -> Value:
        """`x[i]`: an element, an instantiated type or an instantiated function."""
        base = self.callee(x[1]) if called else self.value(x[1])
        inside = [self.value(i) for i in x[2]]
        if base.kind == "type":
            t = base.type
            named = t is not None and t[0] == "N" and t[1].tparams
            return Value("type", ("N", t[1], tuple(v.type for v in inside)) if named else t)
        if base.kind in ("funcs", "library") and any(v.kind == "type" for v in inside):
            return self._instantiated(base, [v.type for v in inside])
        under = self.underlying(base.type)
        if under is not None and under[0] == "*":
            under = self.underlying(under[1])
        element = None
        if under is not None and under[0] in ("[]", "map"):
            element = under[-1]
        elif under is not None and under[0] in ("U", "X"):
            element = ("U", f"{under[1]}[]")
        elif under is not None and under[0] == "B" and under[1] == "string":
            element = basic("byte")
        return Value("value", element, flow=base.flow)

    def _instantiated(self, base: Value, arguments: list[Meaning]) -> Value:
        if base.kind == "library":
            return base
        bindings = dict(base.bindings)
        for function in base.funcs:
            names = [("T", name, function) for name, _ in function.record["tparams"]]
            bindings.update(zip(names, arguments, strict=False))
        return Value("funcs", base.type, base.funcs, bindings, base.flow, reason=base.reason, skipped=base.skipped)

    def composite(self, x: Any, expected: Meaning) -> Value:
        """`T{...}`, or `{...}` inside another one, whose type is then `expected`."""
        t = self.meaning(x[1]) if x[1] is not None else expected
        if x[1] is not None:
            self.sink.type_used(self.func.id, t, x[3])
        inner = t[1] if x[1] is None and t is not None and t[0] == "*" else t
        under = self.underlying(inner)
        if under is not None and under[0] == "struct":
            self._struct(x[2], under[1], inner[1] if inner[0] == "N" else under)
            return Value("value", t)
        element = under[-1] if under is not None and under[0] in ("[]", "map") else None
        key = under[1] if under is not None and under[0] == "map" else None
        flow: list[Any] = []
        for left, right in x[2]:
            flow += self._element(left, key).flow if key is not None or not isinstance(left, tuple) else ()
            flow += self._element(right, element).flow
        return Value("value", t, flow=tuple(dict.fromkeys(flow)) if holds_function(t) else ())

    def _element(self, x: Any, expected: Meaning) -> Value:
        if isinstance(x, tuple | list) and x and x[0] == "{}" and x[1] is None:
            found = self.memo[id(x)] = self.composite(x, expected)
            return found
        return self.value(x)

    def _struct(self, elements: Iterable[Any], fields: tuple[Any, ...], owner: Any) -> None:
        by_name = {f[0]: f for f in fields}
        for i, (key, x) in enumerate(elements):
            name = self._field_name(key) if key is not None else (fields[i][0] if i < len(fields) else "")
            known = by_name.get(name)
            found = self._element(x, known[1] if known else None)
            if known and self.sink.flowing and holds_function(known[1]):
                self.solver.link(found.flow, ("field", owner, name))

    def _field_name(self, key: Any) -> str:
        if isinstance(key, int):
            return str(self.func.record["slots"][key][0])
        return str(key[1]).split("·")[0] if isinstance(key, tuple | list) and key[0] in ("n", "t") else ""
