"""Source of a newer Python in the words of an older one, line by line: type parameters, aliases, nested f-strings."""

from __future__ import annotations

import tree_sitter

_DEFINITIONS = frozenset(["function_definition", "class_definition"])
_JOINED = "concatenated_string"


def older(root: tree_sitter.Node, source: bytes) -> str:
    r"""The text without what Python 3.12 added (PEP 695, 701); every line keeps its number.

    Type parameters become spaces, `type X = Y` an assignment, and an f-string its expressions in a tuple whose value
    nobody sees: `f"{a["b"]} {c}"` → `(not(a["b"], c,))`.

    >>> from codekb.parsing.python_recover import syntax
    >>> text = 'def f[T](x: T): return f"{x["a"]}"\n'
    >>> older(syntax(text).root_node, text.encode())
    'def f   (x: T): return (not(   x["a"],))\n'
    """
    edits: list[tuple[int, int, bytes]] = []
    pending = [root]
    while pending:
        node = pending.pop()
        edits += _edits(node, source)
        pending += node.named_children
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source.decode(errors="replace")


def _edits(node: tree_sitter.Node, source: bytes) -> list[tuple[int, int, bytes]]:
    """(first byte, byte after the last, what stands there instead) of what one node itself needs."""
    if node.type in _DEFINITIONS:
        hidden = [child for child in node.children if child.type == "type_parameter"]
        return [(c.start_byte, c.end_byte, _blank(c.start_byte, c.end_byte, source)) for c in hidden]
    if node.type == "type_alias_statement" and node.named_children:
        name = node.named_children[0]
        plain = (name.text or b"").partition(b"[")[0].strip()
        return [(node.start_byte, name.end_byte, plain + b"\\\n" * (name.text or b"").count(b"\n"))]
    joined = node.parent is not None and node.parent.type == _JOINED
    if node.type in ("string", _JOINED) and not joined and _has_expressions(node):
        return _string(node, source)
    return []


def _has_expressions(node: tree_sitter.Node) -> bool:
    parts = node.children if node.type == _JOINED else [node]
    return any(child.type == "interpolation" for part in parts for child in part.children)


def _string(node: tree_sitter.Node, source: bytes) -> list[tuple[int, int, bytes]]:
    """Blanks all of an f-string but its expressions, those of its format specifications included."""
    kept: list[tree_sitter.Node] = []
    pending = [*node.named_children] if node.type == _JOINED else [node]
    while pending:
        for child in pending.pop().named_children:
            if child.type in ("interpolation", "format_specifier", "format_expression"):
                pending.append(child)
            elif child.type not in ("string_start", "string_content", "string_end", "type_conversion", "comment"):
                kept.append(child)
    edits, at, head = [], node.start_byte, b"(not("
    for expression in sorted(kept, key=lambda one: one.start_byte):
        edits.append((at, expression.start_byte, head + _blank(at, expression.start_byte, source)))
        at, head = expression.end_byte, b","
    return [*edits, (at, node.end_byte, b"," + b"\n" * source[at : node.end_byte].count(b"\n") + b"))")]


def _blank(start: int, end: int, source: bytes) -> bytes:
    return bytes(byte if byte == 10 else 32 for byte in source[start:end])
