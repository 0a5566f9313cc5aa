"""Nested plain data as JSON that comes back exactly: tuples stay tuples, keys keep their type. No classes."""

from __future__ import annotations

import json
from typing import Any

TUPLE, ITEMS = "()", "{}"
"""Marks: `{"()": [...]}` is a tuple, `{"{}": [[key, value], ...]}` a dict that JSON could not say as it is."""

_CONTAINERS = (list, tuple, dict)
_SCALARS = (str, int, float, bool, type(None))


def dump(value: Any) -> bytes:
    """JSON bytes of dicts, lists, tuples, strings, numbers, booleans and None; TypeError for anything else.

    >>> load(dump({"a": [(1, "x"), ()], 2: None}))
    {'a': [(1, 'x'), ()], 2: None}
    """
    return json.dumps(_marked(value), ensure_ascii=True, separators=(",", ":")).encode()


def load(data: bytes) -> Any:
    """What `dump` was given. Raises ValueError or RecursionError for other bytes; nothing is executed."""
    return json.loads(data, object_hook=_unmarked)


def _marked(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return [_marked(v) if type(v) in _CONTAINERS else _scalar(v) for v in value]
    if kind is tuple or isinstance(value, tuple):
        return {TUPLE: [_marked(v) if type(v) in _CONTAINERS else _scalar(v) for v in value]}
    if kind is dict:
        if all(type(key) is str for key in value) and not (len(value) == 1 and (TUPLE in value or ITEMS in value)):
            return {key: _marked(v) if type(v) in _CONTAINERS else _scalar(v) for key, v in value.items()}
        return {ITEMS: [[_marked(key), _marked(v)] for key, v in value.items()]}
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if type(value) in _SCALARS:
        return value
    if isinstance(value, tuple):
        return _marked(value)
    raise TypeError(f"{type(value).__name__} {value!r:.60} is no plain data: dict, list, tuple, string or number")


def _unmarked(told: dict[str, Any]) -> Any:
    if len(told) == 1:
        if TUPLE in told:
            return tuple(told[TUPLE])
        if ITEMS in told:
            return dict(told[ITEMS])
    return told
