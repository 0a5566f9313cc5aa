"""How the arguments of a call reach the parameters of a function: by position, by name, starred. No results."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_core import ITEM, ITERATE, SPREAD, UNPACK, Site
from codekb.resolve.python_iteration import Iteration
from codekb.resolve.python_program import Function, Program

WITHOUT_INIT = frozenset(
    ("", "typing.Generic", "typing.Protocol", "typing.NamedTuple", "typing_extensions.NamedTuple", "abc.ABC")
)
"""Library bases that take no positional arguments of their own, so that these are the fields'."""


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

    def bind_fields(self, chunk: int, site: Site) -> None:
        """The arguments of a call of a dataclass or the like, whose `__init__` is generated, reach its fields."""
        names = self.program.fields(chunk)
        by_position = names[: names.index("*")] if "*" in names else names
        if self.program.library_base(chunk) not in WITHOUT_INIT:
            by_position = []
        for position, arg in enumerate(site.args):
            if arg.__class__ is list:
                rest = [self.cell(chunk, name) for name in by_position[position:]]
                if rest and arg[0] >= 0:
                    self.wait(arg[0], (UNPACK, rest, -1, -1, -1))
                break
            if position < len(by_position):
                self.copy(arg, self.cell(chunk, by_position[position]))
        for given, var in site.kwargs:
            for name in names if given is None else [given] if given in names else ():
                if given is None:
                    self.wait(var, (ITEM, name, self.cell(chunk, name), -1, -1))
                else:
                    self.copy(var, self.cell(chunk, name))

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
