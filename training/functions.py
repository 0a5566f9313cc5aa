"""Source files → functions with their documentation, for training. No downloads, no pairs."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import tree_sitter
import tree_sitter_go

MAX_LINES = 200
"""Longer functions are cut here: the tail says little and costs time."""

_GO = tree_sitter.Parser(tree_sitter.Language(tree_sitter_go.language()))


@dataclass(frozen=True, slots=True)
class Function:
    """One function; `doc_lines` are its docstring's lines in `code` (0-based, half open; (0, 0) for none)."""

    language: str
    package: str
    path: str
    qualname: str
    code: str
    doc: str
    doc_lines: tuple[int, int]

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def python_functions(package: str, path: str, source: str) -> Iterator[Function]:
    """Every function of a Python file; a file that does not parse gives none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = source.splitlines()
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, prefix = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                stack.append((child, f"{prefix}{child.name}."))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield _python_function(child, (package, path, prefix + child.name), lines)
                stack.append((child, f"{prefix}{child.name}."))
            elif isinstance(child, ast.If | ast.Try | ast.With | ast.For | ast.While):
                stack.append((child, prefix))


def _python_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, place: tuple[str, str, str], lines: list[str]
) -> Function:
    start = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    end = min(node.end_lineno or node.lineno, start + MAX_LINES)
    doc, span = "", (0, 0)
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        doc, span = first.value.value, (first.lineno - 1 - start, (first.end_lineno or first.lineno) - start)
    package, path, qualname = place
    return Function("python", package, path, qualname, "\n".join(lines[start:end]), doc, span)


def go_functions(package: str, path: str, source: bytes) -> Iterator[Function]:
    """Every function and method of a Go file, `doc` being the comment right above it."""
    root = _GO.parse(source).root_node
    comment: list[tree_sitter.Node] = []
    for node in root.children:
        if node.type == "comment":
            if comment and node.start_point[0] != comment[-1].end_point[0] + 1:
                comment = []
            comment.append(node)
            continue
        if node.type in ("function_declaration", "method_declaration"):
            near = bool(comment) and comment[-1].end_point[0] + 1 == node.start_point[0]
            doc = "\n".join(_text(c) for c in comment) if near else ""
            code = "\n".join(_text(node).split("\n")[:MAX_LINES])
            yield Function("go", package, path, _go_name(node), code, _strip_go(doc), (0, 0))
        comment = []


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _go_name(node: tree_sitter.Node) -> str:
    name = node.child_by_field_name("name")
    receiver = node.child_by_field_name("receiver")
    own = _text(name) if name is not None else "_"
    if receiver is None:
        return own
    kind = re.search(r"(\w+)\s*(?:\[.*\])?\s*\)$", _text(receiver))
    return f"{kind.group(1)}.{own}" if kind else own


def _strip_go(doc: str) -> str:
    return re.sub(r"^\s*(//|/\*|\*/)\s?|\*/$", "", doc, flags=re.M).strip()
