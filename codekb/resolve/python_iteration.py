"""Iteration, unpacking and slices: what comes out of a container or an iterator one by one. Part of the solver."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_containers import Box, Containers
from codekb.resolve.python_core import UNPACK
from codekb.resolve.python_values import BOX, CLASS, GENERATOR, INSTANCE


class Iteration(Containers):
    """Adds iteration to the solver."""

    def on_slice(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, low, high, target, owner, line = task
        for value in values:
            if self.values.kind[value] == BOX:
                self._slice(self.boxes[self.values.first[value]], low, high, target)
            elif self.values.kind[value] == INSTANCE:
                self.method(value, "__getitem__", [], owner, line, "operator", target)

    def _slice(self, box: Box, low: Any, high: Any, target: int) -> None:
        length = box.length
        if length < 0 or low == "?" or high == "?" or isinstance(low, str) or isinstance(high, str):
            fresh = self.make_box()
            self.put(self.boxes[self.values.first[fresh]], None, box.every)
        else:
            positions = range(length)[slice(low, high)]
            fresh = self.make_box(len(positions))
            for new, old in enumerate(positions):
                field = box.fields.get(("int", old))
                if field is not None:
                    self.put(self.boxes[self.values.first[fresh]], new, field)
            self.put(self.boxes[self.values.first[fresh]], None, box.unknown)
        self.add(target, fresh)

    def on_unpack(self, task: tuple[Any, ...], values: list[int]) -> None:
        """Elements to variables by position; with None for them, the next element of an iterator."""
        _, targets, star, owner, line = task
        for value in values:
            if targets is None:
                self.advance(value, star, owner, line)
            else:
                self._spread_over(value, targets, star, owner, line)

    def advance(self, value: int, target: int, owner: int, line: int) -> None:
        """What `next` of an iterator gives."""
        if self.values.kind[value] == INSTANCE:
            chunk = self.values.first[value]
            for name in ("__next__", "__anext__"):
                if self.defines(chunk, name):
                    self.method(value, name, [], owner, line, "iteration", target)
        else:
            self.copy(self.element(value, owner, line), target)

    def _spread_over(self, value: int, targets: list[int], star: int, owner: int, line: int) -> None:
        box = self.boxes[self.values.first[value]] if self.values.kind[value] == BOX else None
        if box is None:
            every = self.element(value, owner, line)
            for position, target in enumerate(targets):
                if position == star:
                    fresh = self.make_box()
                    self.put(self.boxes[self.values.first[fresh]], None, every)
                    self.add(target, fresh)
                elif every >= 0 or self.values.kind[value] != INSTANCE:
                    self.copy(every, target)
                elif star < 0 or position < star:
                    self.copy(self.named_field(value, position), target)
            return
        after = len(targets) - star - 1
        for position, target in enumerate(targets):
            if star < 0 or position < star:
                self.take(box, position, target)
            elif position == star:
                end = box.length - after if box.length >= 0 else "?"
                self._slice(box, star, end, target)
            else:
                self.take(box, position - len(targets), target)

    def on_iterate(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, target, owner, line = task
        for value in values:
            self.copy(self.element(value, owner, line), target)

    def element(self, value: int, owner: int, line: int) -> int:
        """The variable of what iterating over a value gives, -1 for nothing known.

        With a place (line above 0), its `__iter__` and `__next__` are called there.
        """
        sort, first = self.values.kind[value], self.values.first[value]
        if sort == BOX:
            return int(self.boxes[first].every)
        if sort == GENERATOR:
            return int(self.program.functions[first].yields)
        if sort == INSTANCE:
            return self._iterate_instance(value, owner, line)
        if sort == CLASS and self.is_enum(first):
            var = self.new()
            self.add(var, self.values.of(INSTANCE, first))
            return var
        return -1

    def _iterate_instance(self, value: int, owner: int, line: int) -> int:
        """What flows is the same wherever an instance is iterated over; the calls belong to each place."""
        chunk = self.values.first[value]
        name = next((n for n in ("__iter__", "__aiter__", "__getitem__") if self.defines(chunk, n)), "")
        if not name:
            return -1
        known = self.iterated.get(value)
        if known is None:
            iterator, result = self.new(), self.new()
            known = self.iterated[value] = (iterator, result)
            self.method(value, name, [], -1, -1, "iteration", result if name == "__getitem__" else iterator)
            self.wait(iterator, (UNPACK, None, result, -1, -1))
        if line > 0:
            self.method(value, name, [], owner, line, "iteration", -1)
            self.wait(known[0], (UNPACK, None, -1, owner, line))
        return known[1]
