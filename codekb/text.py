"""The texts of a chunk that searches read, the tokenizer and the token estimate. Graph lines come with the graph."""

from __future__ import annotations

import re

from codekb.chunks import Chunk

PIECES_PER_TOKEN = 1.06
"""Pieces, as `_PIECES` cuts them, per token of OpenAI's cl100k table; see `count_tokens` for the error."""

_PIECES = re.compile(r"[A-Z]?[a-z]{1,8}|[A-Z]{1,4}|[0-9]{1,3}|[^\w\s]{1,2}|\n\s*|[^\W\d_a-zA-Z]")

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")


def tokenize(text: str) -> list[str]:
    """Lower-case word parts of identifiers and prose, in order, duplicates kept.

    >>> tokenize("parseHTTPHeader v2 get_user_id")
    ['parse', 'http', 'header', 'v', '2', 'get', 'user', 'id']
    """
    return [word.lower() for word in _WORDS.findall(text)]


def count_tokens(text: str) -> int:
    """Estimated model tokens of a text: one estimator everywhere, offline.

    Against OpenAI's cl100k table on 1,500 Python and 1,500 Go functions the sum is within 1 % for either language; for
    one function the estimate lies between 12 % below and 19 % above in nine cases of ten.

    >>> count_tokens("def get_user(id):\\n    return users[id]")
    12
    """
    return -(-len(_PIECES.findall(text)) * 100 // round(PIECES_PER_TOKEN * 100))


def body(chunk: Chunk) -> str:
    """The chunk's own source, nothing added."""
    return chunk.code


def header(chunk: Chunk) -> str:
    """`File: … | Package: … | Function: …`, the line that enriched text starts with."""
    package = chunk.namespace or "."
    name = chunk.qualname
    if chunk.language == "go" and "method" in chunk.marks and "." in name:
        receiver, _, method = name.partition(".")
        name = f"({'*' if 'pointer' in chunk.marks else ''}{receiver}) {method}"
    label = {"class": "Class", "module": "Module"}.get(chunk.kind, "Function")
    return f"File: {chunk.path} | Package: {package} | {label}: {name}"


def documented(chunk: Chunk) -> str:
    """The source with its documentation: a Go doc comment stands outside the function's lines and is put before it."""
    if chunk.language == "go" and chunk.doc and chunk.doc not in chunk.code:
        return f"/*\n{chunk.doc}\n*/\n{chunk.code}"
    return chunk.code


def enrich(chunk: Chunk) -> str:
    """`header`, a blank line, the documented body: what dense and keyword search read by default."""
    return f"{header(chunk)}\n\n{documented(chunk)}"
