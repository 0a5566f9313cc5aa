"""How the arguments of a call reach the parameters of a function: by position, by name, starred. No results."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_core import ITEM, ITERATE, SPREAD, UNPACK, Site
from codekb.resolve.python_iteration import Iteration
from codekb.resolve.python_program import Function, Program


class Arguments(Iteration):
    """Adds the passing of arguments to the solver."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.constants: dict[int, int] = {}  # argument below -1 → the constant's value

    def bind(self, function: Function, site: Site, shift: int) -> None:
        positional = function.positional
        count = len(positional)
        position = shift
        for arg in site.args:
            if arg.__class__ is list:
                self._bind_starred(function, arg[0], position)
                position = count
                continue
            if arg != -1:
                if position < count:
                    self.pass_to(arg, positional[position])
                elif function.star >= 0:
                    self.put(self._rest(function), position - count, arg)
            position += 1
        for name, var in site.kwargs:
            if name is None:
                self._bind_double(function, var, shift)
                continue
            if var == -1:
                continue
            target = function.parameter(name)
            if target >= 0:
                self.pass_to(var, target)
            elif function.double >= 0:
                self.put(self._named_rest(function), name, var)

    def pass_to(self, arg: int, target: int) -> None:
        """Constants only reach parameters that are used as a key."""
        if arg >= 0:
            self.copy(arg, target)
        elif arg < -1 and target in self.key_vars:
            self.add(target, self.constants[arg])

    def _bind_starred(self, function: Function, source: int, position: int) -> None:
        rest = function.positional[position:]
        if source < 0:
            return
        if rest:
            self.wait(source, (UNPACK, rest, -1, -1, -1))
        if function.star >= 0:
            box = self._rest(function)
            if rest:
                element = self.new()
                self.wait(source, (ITERATE, element, -1, -1))
                self.put(box, None, element)
            else:
                self.wait(source, (SPREAD, box, "**" if position == len(function.positional) else "*"))

    def _bind_double(self, function: Function, source: int, shift: int) -> None:
        for target in [*function.positional[shift:], *function.keyword]:
            name = self._name_of(function, target)
            self.wait(source, (ITEM, name, target, -1, -1))
        if function.double >= 0:
            self.wait(source, (SPREAD, self._named_rest(function), "**"))

    def _name_of(self, function: Function, var: int) -> str:
        positional, keyword, base = function.name_of
        return next(str(name) for name, local in [*positional, *keyword] if base + local == var)

    def _rest(self, function: Function) -> Any:
        return self._collected(function, "*", function.star)

    def _named_rest(self, function: Function) -> Any:
        return self._collected(function, "**", function.double)

    def _collected(self, function: Function, sort: str, var: int) -> Any:
        if sort not in function.boxes:
            function.boxes[sort] = self.make_box()
            self.add(var, function.boxes[sort])
        return self.boxes[self.values.first[function.boxes[sort]]]
