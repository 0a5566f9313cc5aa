"""Go's gob encoding: the part that chromem-go's files use, read with bounds on everything, and written.

A stream is a row of messages, each with its length before it. A negative type id starts the description
of a type, a positive one a value. Ids and names differ between processes; only the shape counts.
Format: https://pkg.go.dev/encoding/gob
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.store.errors import DamagedError

Floats = NDArray[np.float32]

BOOL, INT, UINT, FLOAT, BYTES, STRING, COMPLEX, INTERFACE = range(1, 9)
WIRE, ARRAY, COMMON, SLICE, STRUCT, FIELD, FIELDS, MAP = range(16, 24)
"""Ids that every gob stream knows from the start; the second row describes types."""
FIRST_FREE_ID = 64
MAX_DEPTH = 32
"""Nesting of values; chromem's go five deep, and a damaged stream may claim any."""
SURROGATES = "surrogateescape"
"""Go strings are bytes; those that are no UTF-8 survive reading and writing."""


class GobError(DamagedError):
    """The bytes are no gob stream of the wanted shape; the text starts as Go's does."""

    def __init__(self, why: str) -> None:
        super().__init__(f"gob: {why}")


@dataclass(frozen=True, slots=True)
class Struct:
    """A wanted struct: the shape of each field that is read; fields of other names are skipped."""

    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Map:
    """A wanted map from strings to values of one shape."""

    value: Any


@dataclass(frozen=True, slots=True)
class List:
    """A wanted slice of values of one shape."""

    value: Any


TEXT = "text"
NUMBER = "number"
FLOATS = "floats"
"""Shapes of plain values: str, int, and a float32 array."""


@dataclass(slots=True)
class Wire:
    """A type as the stream describes it: its kind, and what it is made of."""

    kind: int
    element: int = 0
    key: int = 0
    length: int = 0
    fields: list[tuple[str, int]] = field(default_factory=list)


_COMMON = Struct({"Name": TEXT, "Id": NUMBER})
_DESCRIPTION = Struct(
    {
        "ArrayT": Struct({"CommonType": _COMMON, "Elem": NUMBER, "Len": NUMBER}),
        "SliceT": Struct({"CommonType": _COMMON, "Elem": NUMBER}),
        "StructT": Struct({"CommonType": _COMMON, "Field": List(Struct({"Name": TEXT, "Id": NUMBER}))}),
        "MapT": Struct({"CommonType": _COMMON, "Key": NUMBER, "Elem": NUMBER}),
        "GobEncoderT": Struct({}),
        "BinaryMarshalerT": Struct({}),
        "TextMarshalerT": Struct({}),
    }
)
_OPAQUE = ("GobEncoderT", "BinaryMarshalerT", "TextMarshalerT")
_BUILT_IN = {
    WIRE: Wire(
        STRUCT,
        fields=[("ArrayT", ARRAY), ("SliceT", SLICE), ("StructT", STRUCT), ("MapT", MAP)]
        + [(name, COMMON) for name in _OPAQUE],
    ),
    ARRAY: Wire(STRUCT, fields=[("CommonType", COMMON), ("Elem", INT), ("Len", INT)]),
    COMMON: Wire(STRUCT, fields=[("Name", STRING), ("Id", INT)]),
    SLICE: Wire(STRUCT, fields=[("CommonType", COMMON), ("Elem", INT)]),
    STRUCT: Wire(STRUCT, fields=[("CommonType", COMMON), ("Field", FIELDS)]),
    FIELD: Wire(STRUCT, fields=[("Name", STRING), ("Id", INT)]),
    FIELDS: Wire(SLICE, element=FIELD),
    MAP: Wire(STRUCT, fields=[("CommonType", COMMON), ("Key", INT), ("Elem", INT)]),
}
_PLAIN = {TEXT: (STRING, BYTES), NUMBER: (INT, UINT)}


def decode(data: bytes, shape: Struct) -> dict[str, Any]:
    """The one value of a stream, as a dict of the fields that are there (zero values are not).

    Time and memory are linear in `len(data)`. Raises GobError for anything that is not such a stream.
    """
    decoder = _Decoder(data)
    try:
        value: dict[str, Any] = decoder.stream(shape)
    except RecursionError:
        raise GobError("types nest too deeply") from None
    return value


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.end = data, 0, len(data)
        self.types: dict[int, Wire] = dict(_BUILT_IN)

    def stream(self, shape: Struct) -> Any:
        while self.at < len(self.data):
            self.end = len(self.data)
            size = self.uint()
            if size > len(self.data) - self.at:
                raise GobError("unexpected EOF")
            self.end = self.at + size
            kind = self.sint()
            if kind > 0:
                value = self._top(kind, shape)
                if self.at != len(self.data):
                    raise GobError(f"{len(self.data) - self.at} bytes follow the value")
                return value
            if -kind < FIRST_FREE_ID or -kind in self.types:
                raise GobError(f"duplicate or reserved type id {-kind}")
            self.types[-kind] = _wire(self.value(WIRE, _DESCRIPTION, 0))
            if self.at != self.end:
                raise GobError("extra data in a type description")
        raise GobError("unexpected EOF")

    def _top(self, kind: int, shape: Struct) -> Any:
        if self._type(kind).kind != STRUCT:
            raise GobError("type mismatch: the value is no struct")
        return self.value(kind, shape, 0)

    def _type(self, kind: int) -> Wire:
        if BOOL <= kind <= INTERFACE:
            return Wire(kind)
        found = self.types.get(kind)
        if found is None:
            raise GobError(f"unknown type id {kind}")
        return found

    def uint(self) -> int:
        if self.at >= self.end:
            raise GobError("unexpected EOF")
        first = self.data[self.at]
        self.at += 1
        if first < 128:
            return first
        size = 256 - first
        if size > 8 or self.at + size > self.end:
            raise GobError("encoded unsigned integer out of range")
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "big")

    def sint(self) -> int:
        value = self.uint()
        return ~(value >> 1) if value & 1 else value >> 1

    def count(self, least: int = 1) -> int:
        """A number of things that take at least `least` bytes each: never more than the bytes left."""
        value = self.uint()
        if value * least > self.end - self.at:
            raise GobError(f"length {value} exceeds the input")
        return value

    def text(self) -> str:
        size = self.count()
        self.at += size
        return self.data[self.at - size : self.at].decode("utf-8", SURROGATES)

    def value(self, kind: int, shape: Any, depth: int) -> Any:
        """One value; `shape` None skips it."""
        if depth > MAX_DEPTH:
            raise GobError("values nest too deeply")
        wire = self._type(kind)
        if wire.kind == STRUCT:
            return self._struct(wire, shape, depth)
        if wire.kind == MAP:
            return self._map(wire, shape, depth)
        if wire.kind in (SLICE, ARRAY):
            return self._list(wire, shape, depth)
        if shape is not None and wire.kind not in _PLAIN.get(shape, ()):
            raise GobError(f"type mismatch: {shape} wanted, type id {kind} found")
        if wire.kind in (STRING, BYTES):
            return self.text()
        if wire.kind == INT:
            return self.sint()
        if wire.kind == INTERFACE:
            raise GobError("interface values are not supported")
        self.uint()  # a bool, an unsigned or a float is one of these
        if wire.kind == COMPLEX:
            self.uint()
        return None

    def _struct(self, wire: Wire, shape: Any, depth: int) -> dict[str, Any] | None:
        if shape is not None and not isinstance(shape, Struct):
            raise GobError(f"type mismatch: {shape} wanted, a struct found")
        result: dict[str, Any] = {}
        number = -1
        while delta := self.uint():
            number += delta
            if number >= len(wire.fields):
                raise GobError("field numbers out of bounds")
            name, kind = wire.fields[number]
            wanted = None if shape is None else shape.fields.get(name)
            value = self.value(kind, wanted, depth + 1)
            if wanted is not None:
                result[name] = value
        return None if shape is None else result

    def _map(self, wire: Wire, shape: Any, depth: int) -> dict[str, Any] | None:
        if shape is not None and not isinstance(shape, Map):
            raise GobError(f"type mismatch: {shape} wanted, a map found")
        result: dict[str, Any] = {}
        for _ in range(self.count(2)):
            key = self.value(wire.key, None if shape is None else TEXT, depth + 1)
            value = self.value(wire.element, None if shape is None else shape.value, depth + 1)
            if shape is not None:
                if key in result:
                    raise GobError(f"key {key!r} occurs twice in a map")
                result[key] = value
        return None if shape is None else result

    def _list(self, wire: Wire, shape: Any, depth: int) -> Any:
        count = self.count()
        if wire.kind == ARRAY and count != wire.length:
            raise GobError("length mismatch in an array")
        if wire.element == FLOAT and shape in (FLOATS, None):
            return self._floats(count)
        if shape is not None and not isinstance(shape, List):
            raise GobError(f"type mismatch: {shape} wanted, a slice found")
        inner = None if shape is None else shape.value
        values = [self.value(wire.element, inner, depth + 1) for _ in range(count)]
        return None if shape is None else values

    def _floats(self, count: int) -> Floats:
        """`count` floats: only finding their ends takes a loop."""
        starts, data, at, end = [0] * count, self.data, self.at, self.end
        for i in range(count):
            if at >= end:
                raise GobError("unexpected EOF")
            starts[i] = at
            at += _LENGTHS[data[at]]
        if at > end or any(data[s] in _BAD_LENGTHS for s in starts):
            raise GobError("encoded float out of range")
        self.at = at
        return _float32(data[starts[0] : at] if count else b"", np.array(starts, dtype=np.int64))


_BAD_LENGTHS = frozenset(range(128, 248))
_LENGTHS = [1] * 248 + [1 + 256 - first for first in range(248, 256)]


def _float32(data: bytes, starts: NDArray[np.int64]) -> Floats:
    """Unsigned integers at `starts` (the first is byte 0) → byte-reversed float64 → float32."""
    raw = np.frombuffer(data + bytes(9), dtype=np.uint8)
    at = starts - starts[0] if len(starts) else starts
    first = raw[at].astype(np.int64)
    sizes = np.where(first < 128, 0, 256 - first)
    big_endian = np.zeros((len(at), 8), dtype=np.uint8)
    big_endian[:, 7] = np.where(first < 128, first, 0)
    for size in range(1, 9):
        chosen = np.flatnonzero(sizes == size)
        big_endian[chosen, 8 - size :] = raw[at[chosen, None] + 1 + np.arange(size)]
    with np.errstate(over="ignore", invalid="ignore"):
        return big_endian.view("<f8").ravel().astype(np.float32)


def _wire(told: dict[str, Any]) -> Wire:
    """A type description, checked for its form; the ids in it are checked when they are used."""
    if len(told) != 1:
        raise GobError("a type description is not of exactly one kind")
    ((name, parts),) = told.items()
    if name == "StructT":
        return Wire(STRUCT, fields=[(f.get("Name", ""), f.get("Id", 0)) for f in parts.get("Field", [])])
    if name == "MapT":
        return Wire(MAP, key=parts.get("Key", 0), element=parts.get("Elem", 0))
    if name == "SliceT":
        return Wire(SLICE, element=parts.get("Elem", 0))
    if name == "ArrayT":
        return Wire(ARRAY, element=parts.get("Elem", 0), length=parts.get("Len", 0))
    return Wire(BYTES)
