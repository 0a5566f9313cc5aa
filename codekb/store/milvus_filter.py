"""Filters as Milvus expressions, so that Milvus drops rows before it scores them. The meaning is that of `filters`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from codekb.store.errors import StoreError
from codekb.store.filters import DOCUMENT_OPERATORS, OPERATORS, Where, check_document_filter

_COMPARE = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
EVERYTHING, NOTHING = 'id != ""', 'id == ""'


def quoted(text: str) -> str:
    """A string literal of Milvus's expression language.

    >>> print(quoted('say "hi"'))
    "say \\"hi\\""
    """
    return json.dumps(text, ensure_ascii=False)


def expression(where: Where | None, where_document: Where | None) -> str:
    """One expression for both filters; empty where nothing is filtered.

    >>> expression({"lang": "go"}, {"$contains": "50%"})
    '(exists metadata["lang"] and metadata["lang"] == "go") and content like "%50\\\\\\\\%%"'
    """
    check_document_filter(where_document, "unsupported operator")
    return " and ".join(_metadata(where or {}) + _document(where_document or {}))


def _joined(parts: list[str], word: str) -> str:
    if not parts:
        return EVERYTHING if word == "and" else NOTHING
    return "(" + f" {word} ".join(parts) + ")"


def _metadata(where: Where) -> list[str]:
    return [_condition(key, value) for key, value in where.items()]


def _condition(key: str, value: Any) -> str:
    if key in ("$and", "$or") and isinstance(value, list | tuple):
        return _joined([_joined(_metadata(part), "and") for part in value], key[1:])
    if key == "$not" and isinstance(value, Mapping):
        return f"(not {_joined(_metadata(value), 'and')})"
    if isinstance(value, str):
        return _equals(key, value)
    if isinstance(value, Mapping):
        return _joined([_operation(key, operator, operand) for operator, operand in value.items()], "and")
    raise StoreError(f"where[{key!r}] is {value!r} ({type(value).__name__}); metadata are strings: {str(value)!r}")


def _field(name: str, key: str) -> str:
    return f"{name}[{quoted(key)}]"


def _equals(key: str, value: str) -> str:
    """With a guard, since a comparison with a missing key is neither true nor false there."""
    field = _field("metadata", key)
    if value == "":
        return f'((not (exists {field})) or (exists {field} and {field} == ""))'
    return f"(exists {field} and {field} == {quoted(value)})"


def _operation(key: str, operator: str, operand: Any) -> str:
    if operator == "$not":
        return f"(not {_condition(key, operand)})"
    if operator == "$exists":
        field = f"(exists {_field('metadata', key)})"
        return field if operand else f"(not {field})"
    if operator in _COMPARE:
        return _comparison(key, _COMPARE[operator], operand)
    if operator in ("$eq", "$ne", "$in", "$nin"):
        operands = operand if operator in ("$in", "$nin") else [operand]
        if isinstance(operands, str) or not all(isinstance(o, str) for o in operands):
            raise StoreError(f"{operator} got {operand!r}; give strings, as metadata are ($in, $nin: a list of them)")
        found = _joined([_equals(key, o) for o in operands], "or")
        return found if operator in ("$eq", "$in") else f"(not {found})"
    raise StoreError(f"unknown operator {operator!r} for {key!r}; there are {', '.join(OPERATORS)}")


def _comparison(key: str, sign: str, operand: Any) -> str:
    if isinstance(operand, str):
        field, value = _field("metadata", key), quoted(operand)
    elif isinstance(operand, int | float) and not isinstance(operand, bool):
        field, value = _field("numbers", key), repr(float(operand))
    else:
        raise StoreError(f"cannot compare with {operand!r}; give a number or a string")
    return f"(exists {field} and {field} {sign} {value})"


def _document(where_document: Where) -> list[str]:
    return [_text_condition(operator, value) for operator, value in where_document.items()]


def _text_condition(operator: str, value: Any) -> str:
    if operator in ("$and", "$or"):
        return _joined([_joined(_document(part), "and") for part in value], operator[1:])
    if not isinstance(value, str):
        raise StoreError(f"where_document[{operator!r}] is {value!r}; give the text to look for")
    if "\\" in value:
        raise StoreError("Milvus cannot look for a text with a backslash; filter by metadata, or search without it")
    pattern = value.replace("%", "\\%").replace("_", "\\_")
    found = f"content like {quoted('%' + pattern + '%')}" if value else EVERYTHING
    return found if operator == DOCUMENT_OPERATORS[0] else f"(not ({found}))"
