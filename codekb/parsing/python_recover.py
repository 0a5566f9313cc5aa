"""What a tolerant parser finds in a Python file with a syntax error: its definitions, without references."""

from __future__ import annotations

import re

import tree_sitter
import tree_sitter_python

from codekb.parsing.python_chunks import Found

_LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
_KINDS = {"function_definition": "function", "class_definition": "class"}
_DOC = re.compile(r"""^[rRuU]*("{3}|'{3}|"|')(.*)\1$""", re.DOTALL)


def syntax(text: str) -> tree_sitter.Tree:
    """The concrete syntax tree, with error nodes where the text does not fit the grammar."""
    return tree_sitter.Parser(_LANGUAGE).parse(text.encode())


def recover(text: str) -> list[Found]:
    """The module and every function and class whose header the tolerant parser recognises, outermost first."""
    root = syntax(text).root_node
    found = [Found("module", "", -1, 1, end=text.count("\n") + 1)]
    pending: list[tuple[tree_sitter.Node, int, tree_sitter.Node | None]] = [(root, 0, None)]
    while pending:
        node, parent, decorated = pending.pop()
        around = parent
        if node.type in _KINDS and (name := node.child_by_field_name("name")) is not None and name.text:
            around = len(found)
            found.append(_found(node, parent, decorated))
        outer = node if node.type == "decorated_definition" else None
        pending += [(child, around, outer) for child in reversed(node.named_children)]
    return found


def _found(node: tree_sitter.Node, parent: int, decorated: tree_sitter.Node | None) -> Found:
    start = decorated or node
    body = node.child_by_field_name("body")
    header_end = body.start_byte if body is not None else node.end_byte
    header = (node.text or b"")[: header_end - node.start_byte].decode(errors="replace")
    decorators = [c for c in (decorated.named_children if decorated else ()) if c.type == "decorator"]
    return Found(
        kind=_KINDS[node.type],
        name=_text(node.child_by_field_name("name")),
        parent=parent,
        line=start.start_point[0] + 1,
        column=start.start_point[1],
        end=_last_line(node),
        signature=re.sub(r"\s+", " ", header).strip().removesuffix(":").rstrip(),
        doc=_doc(body),
        decorators=tuple(_text(d).lstrip("@").partition("(")[0].strip() for d in decorators),
        is_async=header.startswith("async"),
    )


def _text(node: tree_sitter.Node | None) -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def _last_line(node: tree_sitter.Node) -> int:
    """1-based; a node that ends at column 0 ends on the line before."""
    row, column = node.end_point
    return max(node.start_point[0] + 1, row + (1 if column else 0))


def _doc(body: tree_sitter.Node | None) -> str:
    first = body.named_children[0] if body is not None and body.named_child_count else None
    if first is None or first.type != "expression_statement" or not first.named_child_count:
        return ""
    value = first.named_children[0]
    match = _DOC.match(_text(value)) if value.type == "string" else None
    return match[2] if match else ""
