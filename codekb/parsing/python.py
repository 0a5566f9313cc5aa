"""One Python file to chunks and facts: exact by `ast`, tolerant by tree-sitter where the syntax is broken. No resolving."""

from __future__ import annotations

import ast
import warnings

from codekb.parsing.base import FileParse
from codekb.parsing.python_chunks import Found, docstring, to_chunks
from codekb.parsing.python_recover import recover


def parse(path: str, source: str) -> FileParse:
    """The chunks and facts of one file; `path` is POSIX and relative to the root. Never raises for any text.

    A file with a syntax error yields what the tolerant parser finds, marked `recovered`, and a note.
    """
    text = normalise(source)
    try:
        tree = _tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        found = recover(text)
        return FileParse(to_chunks(path, text, found, recovered=True)[1], None, _reason(error))
    return FileParse(to_chunks(path, text, _definitions(tree))[1])


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


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"syntax error in line {error.lineno}: {error.msg}; functions recovered by the tolerant parser"
    return f"{type(error).__name__} in Python's own parser; functions recovered by the tolerant parser"


def _definitions(tree: ast.Module) -> list[Found]:
    found = [Found("module", "", -1, 1, node=tree, doc=docstring(tree))]
    pending: list[tuple[ast.AST, int]] = [(child, 0) for child in reversed(list(ast.iter_child_nodes(tree)))]
    while pending:
        node, parent = pending.pop()
        inner = parent
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = len(found)
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            names = tuple(_dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list)
            found.append(
                Found(kind, node.name, parent, line, node.col_offset, node.end_lineno or line, node,
                      doc=docstring(node), decorators=names, is_async=isinstance(node, ast.AsyncFunctionDef))
            )  # fmt: skip
        elif isinstance(node, ast.Lambda):
            inner = len(found)
            found.append(Found("lambda", "", parent, node.lineno, node.col_offset, node.end_lineno or 0, node))
        for name, value in reversed(list(ast.iter_fields(node))):
            around = parent if name in ("decorator_list", "args", "returns", "bases", "keywords") else inner
            for child in reversed(value) if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    pending.append((child, around))
    return found


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "()", *reversed(parts)])
