"""Conditions on metadata and text → which rows they select. chromem's forms, and operators beyond them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.store.arrays import Strings
from codekb.store.columns import Columns
from codekb.store.errors import StoreError

Mask = NDArray[np.bool_]
Where = Mapping[str, Any]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}
OPERATORS = ("$eq", "$ne", "$in", "$nin", *_COMPARE, "$not", "$exists")
"""What may stand under a key: `{"line": {"$gt": 10}}`. Comparing with a number compares as numbers."""
DOCUMENT_OPERATORS = ("$contains", "$not_contains")


@dataclass(slots=True)
class Selection:
    """The rows that a filter leaves, ready for a search: `rows` ascending; `cache` is the search's own."""

    mask: Mask
    rows: NDArray[np.int64]
    cache: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, mask: Mask) -> Selection:
        """From one flag per row."""
        return cls(mask, np.flatnonzero(mask))


def filter_key(where: Where | None, where_document: Where | None) -> str:
    """One text per pair of filters, whatever the order of keys: a prepared selection is kept under it."""
    return json.dumps([where or {}, where_document or {}], sort_keys=True, default=repr)


def check_chosen(ids: Sequence[str] | None, where: Where | None, where_document: Where | None) -> None:
    """Raises StoreError where a deletion names nothing, or gives one string as its ids."""
    if isinstance(ids, str):
        raise StoreError(f"ids is the string {ids!r}; give a list of ids: [{ids!r}]")
    if not where and not where_document and not ids:
        raise StoreError("must have at least one of where, whereDocument or ids")


def check_document_filter(where_document: Where | None, error: str) -> None:
    """Raise StoreError(error) for an operator that is not known (checked before any row is looked at)."""
    for operator, value in (where_document or {}).items():
        if operator in ("$and", "$or") and isinstance(value, list | tuple):
            for part in value:
                check_document_filter(part, error)
        elif operator not in DOCUMENT_OPERATORS:
            raise StoreError(error)


def metadata_mask(columns: Columns, where: Where | None) -> Mask:
    """Rows whose metadata meet every condition; a missing key equals the empty string, as in chromem.

    Beyond chromem: `{"$and": [...]}`, `{"$or": [...]}`, `{"$not": {...}}`, and `OPERATORS` under a key.
    """
    masks = [_condition(columns, key, value) for key, value in (where or {}).items()]
    return reduce(np.logical_and, masks, np.ones(len(columns), dtype=bool))


def document_mask(contents: Strings, where_document: Where | None) -> Mask:
    """Rows whose text meets every condition; `check_document_filter` comes first."""
    result = np.ones(len(contents), dtype=bool)
    for operator, value in (where_document or {}).items():
        if operator in ("$and", "$or"):
            combine = np.logical_and if operator == "$and" else np.logical_or
            start = np.full(len(contents), operator == "$and")
            result &= reduce(combine, [document_mask(contents, part) for part in value], start)
            continue
        if not isinstance(value, str):
            raise StoreError(f"where_document[{operator!r}] is {value!r}; give the text to look for")
        found = contents.contains(value)
        result &= found if operator == "$contains" else ~found
    return result


def _condition(columns: Columns, key: str, value: Any) -> Mask:
    if key in ("$and", "$or") and isinstance(value, list | tuple):
        combine = np.logical_and if key == "$and" else np.logical_or
        start = np.full(len(columns), key == "$and")
        return reduce(combine, [metadata_mask(columns, part) for part in value], start)
    if key == "$not" and isinstance(value, Mapping):
        return ~metadata_mask(columns, value)
    if isinstance(value, str):
        return columns.equal(key, (value,))
    if isinstance(value, Mapping):
        masks = [_operation(columns, key, operator, operand) for operator, operand in value.items()]
        return reduce(np.logical_and, masks, np.ones(len(columns), dtype=bool))
    raise StoreError(
        f"where[{key!r}] is {value!r} ({type(value).__name__}); metadata are strings: "
        f"write {str(value)!r}, or {{'$gt': {value!r}}} and the like to compare as numbers"
    )


def _operation(columns: Columns, key: str, operator: str, operand: Any) -> Mask:
    if operator == "$not":
        return ~_condition(columns, key, operand)
    if operator == "$exists":
        found = columns.mask(key, lambda have: True)
        return found if operand else ~found
    if operator in _COMPARE:
        return columns.mask(key, _comparison(_COMPARE[operator], operand))
    if operator in ("$eq", "$ne", "$in", "$nin"):
        several = operator in ("$in", "$nin")
        wanted = _strings(operator, operand if several else [operand])
        found = columns.equal(key, wanted)
        return found if operator in ("$eq", "$in") else ~found
    raise StoreError(f"unknown operator {operator!r} for {key!r}; there are {', '.join(OPERATORS)}")


def _strings(operator: str, operands: Any) -> set[str]:
    several = isinstance(operands, list | tuple | set | frozenset)
    if not several or not all(isinstance(operand, str) for operand in operands):
        raise StoreError(f"{operator} got {operands!r}; give strings, as metadata are ($in, $nin: a list of them)")
    return set(operands)


def _comparison(compare: Callable[[Any, Any], bool], operand: Any) -> Callable[[str], bool]:
    """Numbers compare as numbers (a value that is none never matches), strings by code point."""
    if isinstance(operand, str):
        return lambda have: compare(have, operand)
    if isinstance(operand, bool) or not isinstance(operand, int | float):
        raise StoreError(f"cannot compare with {operand!r}; give a number or a string")

    def test(have: str) -> bool:
        try:
            return compare(float(have), operand)
        except ValueError:
            return False

    return test
