"""Lists, tuples, sets, dicts, slices, iteration and unpacking: what goes into a container and what comes out."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_attributes import Attributes
from codekb.resolve.python_core import ATTR, CALL, MAX_BOXES, SPREAD, Site
from codekb.resolve.python_program import Program
from codekb.resolve.python_values import (
    BOX,
    BOX_METHOD,
    CLASS,
    CONSTANT,
    FUNCTION,
    GENERATOR,
    INSTANCE,
    LIBRARY,
)  # fmt: skip

MAX_FIELDS = 256
"""Elements of one container that are told apart; in longer ones every element may be any."""


class Box:
    """A container: elements by known key, those under unknown keys, and all of them together."""

    __slots__ = ("every", "fields", "length", "unknown")

    def __init__(self, every: int, unknown: int, length: int) -> None:
        self.fields: dict[Any, int] = {}
        self.every = every
        self.unknown = unknown
        self.length = length


class Containers(Attributes):
    """Adds containers to the solver."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.boxes: list[Box] = []
        self.iterated: dict[int, tuple[int, int]] = {}  # instance → the variables of its iterator and elements
        self.defined: dict[tuple[int, str], bool] = {}
        self.implied: dict[tuple[Any, ...], Site] = {}  # calls that syntax makes, one for all receivers of a place
        self.key_vars: set[int] = set()
        self.by_affixes: dict[tuple[int, str, str], list[int]] = {}  # (target, start, end of a name) → whose attribute
        self.open_items: list[tuple[int, Any, int, int]] = []

    def make_box(self, length: int = -1) -> int:
        """A new, empty container; its value."""
        self.boxes.append(Box(self.new(), self.new(), length))
        value = self.values.of(BOX, len(self.boxes) - 1)
        self.box_values.add(value)
        return value

    def put(self, box: Box, key: Any, source: int) -> None:
        """`box[key] = source`; the key None is unknown."""
        if source < 0:
            return
        self.copy(source, box.every)
        if key is None or len(box.fields) >= MAX_FIELDS:
            self.copy(source, box.unknown)
            return
        key = (type(key).__name__, key)
        field = box.fields.get(key)
        if field is None:
            field = box.fields[key] = self.new()
            self.copy(box.unknown, field)
        self.copy(source, field)

    def take(self, box: Box, key: Any, target: int) -> None:
        """`target = box[key]`; the key None is unknown."""
        if key is None:
            self.copy(box.every, target)
            return
        if isinstance(key, int) and key < 0:
            if box.length < 0:
                self.copy(box.every, target)
                return
            key += box.length
        tagged = (type(key).__name__, key)
        field = box.fields.get(tagged)
        if field is None:
            if len(box.fields) >= MAX_FIELDS:
                self.copy(box.every, target)
                return
            field = box.fields[tagged] = self.new()
            self.copy(box.unknown, field)
        self.copy(field, target)

    def load_box(self, var: int, length: int, items: list[Any], base: int) -> None:
        value = self.make_box(length)
        box = self.boxes[self.values.first[value]]
        rows = self._rows(items, base) if len(items) > MAX_BOXES else {}
        merged = self._merged(list(rows.values())) if len(rows) > MAX_BOXES and self._dispatches(rows) else -1
        for item in items:
            key, source = item[0], base + item[1]
            if len(item) == 3:
                self.wait(source, (SPREAD, box, key))
            elif merged < 0 or source not in rows:
                self.put(box, None if key.__class__ is list else key, source)
            elif key is not None and key.__class__ is not list and len(box.fields) < MAX_FIELDS:
                self.copy(source, box.fields.setdefault((type(key).__name__, key), self.new()))
        if merged >= 0:
            self.add(box.every, merged)
            self.add(box.unknown, merged)
        self.add(var, value)

    def _rows(self, items: list[Any], base: int) -> dict[int, Box]:
        """The containers that stand as elements of a display, by their variable."""
        held = {base + item[1]: self.held(base + item[1]) for item in items if len(item) == 2}
        boxes = self.box_values
        return {var: self.boxes[self.values.first[v[0]]] for var, v in held.items() if v and v[0] in boxes}

    def _dispatches(self, rows: dict[int, Box]) -> bool:
        """Whether a table holds functions, classes or objects of the corpus, so that it matters what its rows are."""
        kind = self.values.kind
        held = (self.held(var) for row in rows.values() for var in row.fields.values())
        return any(kind[value] in (FUNCTION, CLASS, INSTANCE) for values in held for value in values)

    def _merged(self, rows: list[Box]) -> int:
        """One container for the rows of a table, which would be too many to be told apart: column by column."""
        lengths = {row.length for row in rows}
        value = self.make_box(lengths.pop() if len(lengths) == 1 else -1)
        merged = self.boxes[self.values.first[value]]
        for row in rows:
            for (_, key), field in tuple(row.fields.items()):
                self.put(merged, key, field)
            self.copy(row.unknown, merged.unknown)
            self.copy(row.every, merged.every)
        return value

    def on_spread(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`*rest` or `**rest` inside a display or an `update`."""
        _, box, sort = task
        for value in values:
            if self.values.kind[value] == BOX:
                other = self.boxes[self.values.first[value]]
                if sort == "**":
                    for tagged, field in tuple(other.fields.items()):
                        self.put(box, tagged[1], field)
                    self.copy(other.unknown, box.unknown)
                    self.copy(other.unknown, box.every)
                else:
                    box.length = -1
                    self.put(box, None, other.every)
            elif sort == "*":
                self.put(box, None, self.element(value, -1, -1))

    # reading and writing

    def on_item(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, key, target, owner, line = task
        kind, first = self.values.kind, self.values.first
        for value in values:
            sort = kind[value]
            if key.__class__ is list and key[0] == "attr":
                self._attr_by_variable(value, key[1], key[2], target)
            elif sort == BOX:
                if key.__class__ is list:
                    self.keyed(first[value], key[1], target)
                else:
                    self.take(self.boxes[first[value]], key, target)
            elif sort == INSTANCE:
                if not self.method(value, "__getitem__", [], owner, line, "operator", target):
                    self.copy(self.named_field(value, key), target)
            elif sort == CLASS:
                member = self.is_enum(first[value])  # else `Stack[int]`, which is the class again
                self.add(target, self.values.of(INSTANCE, first[value]) if member else value)
            elif sort == LIBRARY:
                self.add(target, value)

    def named_field(self, value: int, position: Any) -> int:
        """The variable of an element of a typed named tuple, -1 for anything else."""
        chunk = self.values.first[value]
        names = self.program.fields(chunk) if position.__class__ is int else []
        inside = -len(names) <= position < len(names) if names else False
        if not inside or not self.program.library_base(chunk).endswith("NamedTuple"):
            return -1
        return self.member(value, names[position])

    def keyed(self, number: int, key: int, target: int) -> None:
        """An element under a variable key: by the constants that the key is known to hold, else any."""
        constants = [self.values.first[v] for v in self.held(key) if self.values.kind[v] == CONSTANT]
        if constants:
            for constant in constants:
                self.take(self.boxes[number], constant, target)
        self.open_items.append((number, key, target, len(constants)))

    def _attr_by_variable(self, value: int, key: int, ends: Any, target: int) -> None:
        """`getattr(x, name)` with a name that is only known as the constants that reach it, or by its ends."""
        if ends and self.flow:
            self.by_affixes.setdefault((target, *ends), []).append(value)
        for held in self.held(key):
            if self.values.kind[held] == CONSTANT and isinstance(self.values.first[held], str):
                self.handlers[ATTR]((ATTR, self.values.first[held], target, None, None), [value])

    def close_items(self) -> None:
        """After the rest is settled: keys that hold no constant may be any key."""
        done: set[tuple[int, int, int]] = set()
        while self.open_items:
            number, key, target, seen = self.open_items.pop()
            if (number, key, target) in done:
                continue
            done.add((number, key, target))
            constants = [self.values.first[v] for v in self.held(key) if self.values.kind[v] == CONSTANT]
            if not constants:
                self.copy(self.boxes[number].every, target)
            elif len(constants) > seen:
                for constant in constants:
                    self.take(self.boxes[number], constant, target)
            self.drain()

    def on_set_item(self, task: tuple[Any, ...], values: list[int]) -> None:
        _, key, source, owner, line = task
        for value in values:
            sort = self.values.kind[value]
            if sort == BOX:
                if self.storable(source):
                    self.put(self.boxes[self.values.first[value]], None if key.__class__ is list else key, source)
            elif sort == INSTANCE:
                self.method(value, "__setitem__", [-1, source], owner, line, "operator", -1)

    def storable(self, source: int) -> bool:
        return source >= 0 and self.types

    def defines(self, chunk: int, name: str) -> bool:
        """Whether a class of the corpus or one of its ancestors there has this attribute."""
        key = (chunk, name)
        known = self.defined.get(key)
        if known is None:
            classes = self.program.classes
            known = self.defined[key] = any(name in classes[one].attrs for one in self.program.mro(chunk))
        return known

    def element(self, value: int, owner: int, line: int) -> int:
        """The variable of what iterating over a value gives, -1 for nothing known."""
        raise NotImplementedError

    def method(self, value: int, name: str, args: list[int], owner: int, line: int, reason: str, target: int) -> bool:
        """Call `value.name(*args)` at a place; whether the value has such a method in the corpus."""
        if self.values.kind[value] != INSTANCE or not self.defines(self.values.first[value], name):
            return False
        key = (owner, line, name, target, *args)
        site = self.implied.get(key)
        if site is None:
            site = self.implied[key] = self.site(owner, line, name, args, reason, target)
        self.wait(self.member(value, name), (CALL, site))
        return True

    def site(self, owner: int, line: int, text: str, args: list[int], reason: str, target: int) -> Site:
        raise NotImplementedError

    def _of_other(self, value: int, name: str) -> int:
        sort = self.values.kind[value]
        var = self.new()
        if sort in (BOX, GENERATOR):
            self.add(var, self.values.of(BOX_METHOD, value, name))
        elif sort == FUNCTION:
            self.copy(self.cell(self.values.first[value], name), var)
        return var
