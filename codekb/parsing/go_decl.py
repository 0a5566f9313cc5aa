"""Go declarations: which there are, doc comments, ranges and signatures. Bodies are in `go_body`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from tree_sitter import Node, Point, Range

from codekb.parsing.go_body import statements
from codekb.parsing.go_scope import Scope, base_name, line_of, parameters, results, text

_DIRECTIVE = re.compile(r"//([a-z0-9]+:[a-z0-9]|line |export |extern |nolint)")
"""Comments that are for tools (go.dev/doc/comment); they are no part of a doc comment."""

_START = re.compile(rb"(func|type|var|const|import|package)\b")

MAX_SIGNATURE = 300
"""Characters after which the text of a type that stands in for a signature is cut."""

Declared = tuple[Node, str]
"""A declaration node and its doc comment."""


def declarations(root: Node) -> Iterator[Declared]:
    """Top-level declarations in order, also those inside the error nodes of a broken file."""
    stack = [iter(documented(root.children))]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
        elif found[0].type == "ERROR":
            stack.append(iter(documented(found[0].children)))
        elif found[0].is_named:
            yield found


def segments(source: bytes) -> list[Range]:
    """A broken file cut before every line that starts a declaration at its left edge, as formatted Go has them.

    The comments of a declaration come with it.
    """
    lines = source.split(b"\n")
    starts = [i for i, line in enumerate(lines) if _START.match(line)]
    for n, i in enumerate(starts):
        while i > 0 and lines[i - 1].startswith(b"//") and (n == 0 or i - 1 > starts[n - 1]):
            i -= 1
        starts[n] = i
    offsets = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    offsets[-1] = len(source)
    return [
        Range(Point(i, 0), Point(j, 0), offsets[i], offsets[j]) for i, j in itertools.pairwise([*starts, len(lines)])
    ]


def documented(nodes: list[Node]) -> Iterator[Declared]:
    """Every node that is no comment, with the comment that ends on the line before it."""
    comments: list[Node] = []
    last_row = -1  # on which the last token before the comments ended
    for node in nodes:
        if node.type == "comment":
            if comments and node.start_point[0] > comments[-1].end_point[0] + 1:
                comments.clear()
            if node.start_point[0] != last_row:
                comments.append(node)
            continue
        near = comments and comments[-1].end_point[0] >= node.start_point[0] - 1
        yield node, (comment_text(comments) if near else "")
        if node.type not in ("\n", ";"):
            comments = []
            last_row = node.end_point[0] if node.end_point[1] else node.end_point[0] - 1


def comment_text(comments: list[Node]) -> str:
    """The words of a doc comment: no delimiters, no directives."""
    lines: list[str] = []
    for comment in comments:
        raw = text(comment)
        if raw.startswith("/*"):
            lines += raw.removeprefix("/*").removesuffix("*/").strip("\n").split("\n")
        elif not _DIRECTIVE.match(raw):
            lines.append(raw.removeprefix("//").removeprefix(" "))
    return "\n".join(line.rstrip() for line in lines).strip()


def grouped(node: Node, doc: str, kinds: tuple[str, ...]) -> Iterator[tuple[Node, str, Node]]:
    """Each spec of a declaration, its doc comment, and the node whose lines it takes: the whole declaration
    where it stands alone, its own where several share brackets."""
    inner = next((c for c in node.named_children if c.type.endswith("_spec_list")), node)
    in_brackets = any(c.type == "(" for c in inner.children)
    for spec, own in documented(inner.children):
        if spec.type in kinds:
            yield spec, own or doc, spec if in_brackets else node


def value_nodes(node: Node | None) -> list[Node]:
    """The values of a variable spec."""
    if node is None:
        return []
    return [n for n in node.named_children if n.type != "comment"] if node.type == "expression_list" else [node]


def receiver(scope: Scope, node: Node | None) -> tuple[int, str, bool, list[str]] | None:
    """(slot, type name, is a pointer, names of its type parameters) of a method; None for a function."""
    if node is None:
        return None
    taken, _ = parameters(scope, node)
    if not taken:
        return (scope.declare("", None, line_of(node)), "", False, [])
    name, declared, line = taken[0]
    pointer = isinstance(declared, tuple) and declared[0] == "*"
    inner = declared[1] if pointer else declared
    names = [a for a in inner[2] if isinstance(a, str)] if isinstance(inner, tuple) and inner[0] == "inst" else []
    scope.frames[-1].update((n, n) for n in names if n != "_")
    return (scope.declare(name, declared, line), base_name(declared), pointer, names)


def record(chunk_id: str, name: str, line: int, scope: Scope) -> dict[str, Any]:
    """What the resolver gets to know of one function; the lists are the scope's own and fill up later."""
    return {
        "id": chunk_id,
        "name": name,
        "line": line,
        "receiver": None,
        "tparams": [],
        "params": [],
        "results": [],
        "variadic": False,
        "slots": scope.slots,
        "ops": scope.ops,
        "literals": scope.literals,
        "types": scope.local_types,
    }


def read_function(scope: Scope, node: Node, into: dict[str, Any]) -> dict[str, Any]:
    """Parameters, results and body of a function, method or function literal."""
    taken, variadic = parameters(scope, node.child_by_field_name("parameters"))
    into["params"] = [scope.declare(*p) for p in taken]
    into["results"] = [scope.declare(*r) for r in results(scope, node.child_by_field_name("result"))]
    into["variadic"] = variadic
    body = node.child_by_field_name("body")
    if body is not None:
        statements(scope, body)
    return into


def signature(node: Node, body: Node | None) -> str:
    """The declaration up to its body, on one line."""
    raw = node.text or b""
    if body is not None:
        raw = raw[: body.start_byte - node.start_byte]
    return one_line(raw.decode("utf-8", "replace"))


def type_signature(spec: Node, declared: Node | None) -> str:
    """`type Name[K any] struct`, with the whole type where it has no body."""
    raw = text(spec)
    if declared is not None and declared.type in ("struct_type", "interface_type") and spec.text is not None:
        head = spec.text[: declared.start_byte - spec.start_byte].decode("utf-8", "replace")
        raw = f"{head} {declared.type.removesuffix('_type')}"
    return one_line(f"type {raw}")


def one_line(source: str) -> str:
    """Comments dropped, white space collapsed, cut at `MAX_SIGNATURE` characters."""
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    return re.sub(r",? \)", ")", " ".join(bare.split()).replace("( ", "("))[:MAX_SIGNATURE]


def first_error(root: Node) -> int:
    """1-based line of the first place that the grammar could not read."""
    node = root
    while True:
        bad = next((c for c in node.children if c.has_error or c.is_missing or c.type == "ERROR"), None)
        if bad is None or bad.is_missing or bad.type == "ERROR":
            return line_of(bad or node)
        node = bad
