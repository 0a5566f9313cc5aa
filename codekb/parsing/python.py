"""One Python file to chunks and facts: exact by `ast`, tolerant by tree-sitter where it is broken. No resolving."""

from __future__ import annotations

import ast
import sys
import warnings
from dataclasses import replace
from typing import Any

from codekb.parsing.base import FileParse
from codekb.parsing.python_chunks import Found, to_chunks
from codekb.parsing.python_newer import older
from codekb.parsing.python_recover import recover, repaired, syntax
from codekb.parsing.python_walk import Walk

WALK_DEPTH = 20_000
"""Frames the walk may use: the deepest tree that Python's parser accepts under its own limit needs fewer."""
BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse(path: str, source: str) -> FileParse:
    """The chunks and facts of one file; `path` is POSIX and relative to the root. Never raises for any text.

    A file with a syntax error yields what the tolerant parser finds, marked `recovered`, and a note.
    """
    text = normalise(source)
    try:
        return _result(path, text, _tree(text))
    except BROKEN as error:
        return _tolerant(path, text, error)


def _result(path: str, text: str, tree: ast.Module, note: str = "") -> FileParse:
    walk = Walk(text, tree)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, WALK_DEPTH))
    try:
        with warnings.catch_warnings():  # texts inside are parsed too: annotations, arguments of eval
            warnings.simplefilter("ignore")
            walk.run()
    finally:
        sys.setrecursionlimit(limit)
    ids, chunks = to_chunks(path, text, walk.found, recovered=bool(note))
    return FileParse(chunks, walk.facts(ids), note)


def _tolerant(path: str, text: str, error: BaseException) -> FileParse:
    """Leave out what is broken, if the rest then parses; else only the definitions, without references."""
    if isinstance(error, SyntaxError):
        newer = _newer(path, text)
        if newer is not None:
            return newer
        note = f"syntax error in line {error.lineno}: {error.msg}; functions found by the tolerant parser"
        try:
            mended = repaired(text, error)
            if mended is not None:
                return _result(path, text, _tree(mended), note)
        except BROKEN:
            pass
    else:
        note = f"{type(error).__name__} in Python's own parser; functions found by the tolerant parser"
    found = recover(text)
    ids, chunks = to_chunks(path, text, found, recovered=True)
    return FileParse(chunks, outline(ids, found), note)


def _newer(path: str, text: str) -> FileParse | None:
    """A file whose only fault is to be written for a newer Python than this one."""
    root = syntax(text).root_node
    if root.has_error:
        return None
    try:
        tree = _tree(older(root, text.encode()))
    except BROKEN:
        return None
    return replace(_result(path, text, tree), note="written for a newer Python: what is new is read in part")


def outline(ids: list[str], found: list[Found]) -> dict[str, Any]:
    """The facts of a file of which only the definitions are known."""
    return {"ids": ids, "kinds": [f.kind for f in found], "parents": [f.parent for f in found]}


def normalise(source: str) -> str:
    """Line ends as the compiler sees them, no byte order mark, nothing that cannot be encoded."""
    text = source.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
