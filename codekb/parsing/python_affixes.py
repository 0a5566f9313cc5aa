"""Texts that are put together: what they are known to start and end with. No walking."""

from __future__ import annotations

import ast
import re

_START = re.compile(r"[A-Za-z_]\w*")
_END = re.compile(r"\w*")
_FORMAT = re.compile(r"%[^%a-zA-Z]*[a-zA-Z]")


def affixes(node: ast.expr) -> tuple[str, str] | None:
    """How a text starts and ends that an expression makes, where it may be a name; None for any other expression.

    >>> texts = ('f"on_{x}"', '"do_" + x + "_all"', '"x_%s_y" % x', '"a b" + x')
    >>> [affixes(ast.parse(text, mode="eval").body) for text in texts]
    [('on_', ''), ('do_', '_all'), ('x_', '_y'), None]
    """
    if not isinstance(node, ast.JoinedStr | ast.BinOp) or not _START.fullmatch(start := _known(node, 0)):
        return None
    end = _known(node, -1)
    return (start, end) if _END.fullmatch(end) else None


def _known(node: ast.expr, side: int) -> str:
    """The constant text at the start (`side` 0) or the end (-1) of what `node` makes, `""` where it is not known."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return _known(node.values[side], side) if node.values else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _known(node.right if side else node.left, side)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _FORMAT.split(_known(node.left, side))[side]
    return ""
