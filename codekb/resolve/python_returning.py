"""What a call gives back: results, and of parameters that are returned what this call gave them. No arguments."""

from __future__ import annotations

from collections import defaultdict

from codekb.resolve.python_arguments import Arguments
from codekb.resolve.python_core import ANNOTATE, Site
from codekb.resolve.python_program import Function, Program
from codekb.resolve.python_values import GENERATOR


class Returning(Arguments):
    """Adds results to the solver."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.given_back: list[tuple[int, int, int]] = []  # (argument, parameter, result) of what was passed through
        self.relays = {var: function for function in program.functions.values() for var in function.relays}

    def give_back(self, function: Function, site: Site, receiver: int) -> None:
        result = site.result
        if function.yields >= 0:
            self.add(result, self.values.of(GENERATOR, function.chunk))
            return
        self.copy(function.ret, result)
        for position, none, var in function.guarded:
            if self._is_given(function, site, position, receiver) is not none:
                self.copy(var, result)
        if function.relays:
            function.callers.append((site, receiver))
        for position in tuple(function.passed):
            self._give_back_argument(function, site, position, receiver)

    def give_back_receiver(self, function: Function, site: Site, receiver: int) -> None:
        """The same call with another receiver."""
        if function.returns_first():
            self.add(site.result, receiver)
        elif function.relays and function.owner < 0:
            function.callers.append((site, receiver))

    def _is_given(self, function: Function, site: Site, position: int, receiver: int) -> bool | None:
        """Whether the call gives this parameter a value that is not None; None for unknown."""
        source = self._argument(function, site, position, receiver)
        if source is None or source == -1:
            return None
        if source != _MISSING:
            return True
        return None if position in function.defaults else False

    def _argument(self, function: Function, site: Site, position: int, receiver: int) -> int | None:
        """What the call gives this parameter; `_MISSING` for nothing, None where it cannot be told."""
        var, starred = function.at(position), False
        if position < len(function.positional):
            shifted = position - (1 if receiver >= 0 else 0)
            if shifted < 0:
                return None
            given = site.args[: shifted + 1]
            starred = any(arg.__class__ is list for arg in given)
            if len(given) > shifted and not starred:
                return int(given[shifted])
        for name, source in site.kwargs:
            if name is not None and function.parameter(name) == var:
                return int(source)
        return None if starred or any(name is None for name, _ in site.kwargs) else _MISSING

    def _give_back_argument(self, function: Function, site: Site, position: int, receiver: int) -> None:
        """A parameter that is returned as it came: what was given here, not what all callers give."""
        if position == 0 and receiver >= 0 and function.positional:
            self.add(site.result, receiver)
            return
        source = self._argument(function, site, position, receiver)
        if source is None:
            self.copy(function.at(position), site.result)
        elif source == _MISSING:
            self.copy(function.defaults.get(position, -1), site.result)
        else:
            self._pass_on(source, site.result)
            if source >= 0:
                self.given_back.append((source, function.at(position), site.result))

    def _pass_on(self, source: int, result: int) -> None:
        """An argument comes back; where a function returns so its own parameter, that one is passed through, too."""
        outer = self.relays.get(result)
        position = outer.position(source) if outer is not None else -1
        if outer is None or position < 0:
            self.copy(source, result)
        elif position not in outer.passed:
            outer.passed.append(position)
            for site, receiver in tuple(outer.callers):
                self._give_back_argument(outer, site, position, receiver)

    def close_given_back(self) -> None:
        """Of an argument that nothing is known about comes back what its parameter is declared to be."""
        results: defaultdict[int, list[int]] = defaultdict(list)
        for source, parameter, result in self.given_back:
            if not self.points[source]:
                results[parameter].append(result)
        for base, facts in zip(self.program.bases, self.program.facts, strict=True):
            annots = facts.get("annots", ())
            for target, klass in zip(annots[::2], annots[1::2], strict=True):
                for result in results.get(base + target, ()):
                    self.wait(base + klass, (ANNOTATE, result))


_MISSING = -(10**9)
"""Stands for the argument of a parameter that is given none; no constant has so low a number."""
