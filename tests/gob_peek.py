"""A second, simpler gob reader for the tests, written without looking at the package's: any value to plain objects."""

from __future__ import annotations

import io
import struct


def peek(data: bytes):
    """The first value of a gob stream: structs as dicts with every field (None where left out), float64 as floats."""
    stream = io.BytesIO(data)
    types = {}
    while True:
        body = io.BytesIO(stream.read(_unsigned(stream)))
        number = _signed(body)
        if number < 0:
            types[-number] = _value(body, 16, _BASE)
            continue
        return _value(body, number, {**_BASE, **types})


def _unsigned(stream: io.BytesIO) -> int:
    first = stream.read(1)[0]
    return first if first <= 0x7F else int.from_bytes(stream.read(0x100 - first), "big")


def _signed(stream: io.BytesIO) -> int:
    raw = _unsigned(stream)
    return -(raw >> 1) - 1 if raw & 1 else raw >> 1


def _fields(*pairs):
    return {"StructT": {"Field": [{"Name": name, "Id": number} for name, number in pairs]}}


_BASE = {
    16: _fields(("ArrayT", 17), ("SliceT", 19), ("StructT", 20), ("MapT", 23)),
    17: _fields(("CommonType", 18), ("Elem", 2), ("Len", 2)),
    18: _fields(("Name", 6), ("Id", 2)),
    19: _fields(("CommonType", 18), ("Elem", 2)),
    20: _fields(("CommonType", 18), ("Field", 22)),
    21: _fields(("Name", 6), ("Id", 2)),
    22: {"SliceT": {"Elem": 21}},
    23: _fields(("CommonType", 18), ("Key", 2), ("Elem", 2)),
}


def _value(stream: io.BytesIO, number: int, types):
    if number == 2:
        return _signed(stream)
    if number == 4:
        return struct.unpack(">d", _unsigned(stream).to_bytes(8, "little"))[0]
    if number == 6:
        return stream.read(_unsigned(stream)).decode("utf-8", "surrogateescape")
    shape = types[number]
    if shape.get("StructT"):
        told = shape["StructT"]["Field"]
        result, at = {field["Name"]: None for field in told}, -1
        while step := _unsigned(stream):
            at += step
            result[told[at]["Name"]] = _value(stream, told[at]["Id"], types)
        return result
    if shape.get("MapT"):
        inner = shape["MapT"]
        return {
            _value(stream, inner["Key"], types): _value(stream, inner["Elem"], types) for _ in range(_unsigned(stream))
        }
    inner = shape["SliceT"]["Elem"]
    return [_value(stream, inner, types) for _ in range(_unsigned(stream))]
