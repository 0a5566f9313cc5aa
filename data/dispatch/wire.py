"""Bytes on the wire."""

import json


def decode(line):
    """Parse one line; a broken one is a ValueError."""
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {value!r}")
    return value


def encode(value):
    """The other way round."""
    return json.dumps(value, sort_keys=True).encode() + b"\n"
