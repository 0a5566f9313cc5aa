"""Go sources to chunks and facts, by tree-sitter, which also reads broken files. No resolving."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import tree_sitter_go
from tree_sitter import Language, Node, Parser

from codekb.chunks import Chunk, Kind, Reference
from codekb.parsing.base import FileParse
from codekb.parsing.go_decl import (
    Declared,
    declarations,
    first_error,
    grouped,
    read_function,
    receiver,
    record,
    segments,
    signature,
    type_signature,
    value_nodes,
)
from codekb.parsing.go_expr import expr, expr_list
from codekb.parsing.go_refs import References, type_names
from codekb.parsing.go_scope import Scope, Type, line_of, text, type_of, type_parameters

GENERATED = re.compile(r"^// Code generated .* DO NOT EDIT\.$", re.MULTILINE)
"""Go's own rule (golang.org/s/generatedcode): one line comment before the package clause."""

_TEST_PATH = re.compile(r"(^|/)(tests?|testdata)/|_test\.go$")
_GO = Language(tree_sitter_go.language())
_PARSER = Parser(_GO)


def parse(path: str, source: str) -> FileParse:
    """The chunks and facts of one Go file; `path` is POSIX and relative to the root.

    A file with syntax errors gives what could be recovered, marked `recovered`, and a note.

    >>> [c.id for c in parse("db/query.go", "package db\\n\\nfunc (q *Query) Run() { q.check() }\\n").chunks]
    ['db/query.go', 'db/query.go::Query.Run']
    """
    root = _PARSER.parse(source.encode("utf-8", "replace")).root_node
    file = _File(path, source, root)
    file.read()
    return FileParse(tuple(file.chunks), file.facts(), file.note())


def _functions(found: list[Declared]) -> int:
    """How many functions with a whole body there are."""
    return sum(n.child_by_field_name("body") is not None and not n.has_error for n, _ in found)


class _File:
    """One file while it is read: chunks so far, ids taken, and the facts for the resolver."""

    def __init__(self, path: str, source: str, root: Node) -> None:
        self.path = path
        self.lines = source.split("\n")
        self.root = root
        self.chunks: list[Chunk] = []
        self.taken: dict[str, int] = {}
        self.package = ""
        self.imports: list[tuple[str, str, int]] = []
        self.types: list[tuple[Any, ...]] = []
        self.vars: list[tuple[Any, ...]] = []
        self.funcs: list[dict[str, Any]] = []
        self.globals = Scope()
        self.head: list[str] = []  # comments before the package clause
        self.cut: list[int] = []  # lines of functions nested too deep to be read whole
        self.marks: tuple[str, ...] = ("test",) if _TEST_PATH.search(path) else ()

    def read(self) -> None:
        """Reads every declaration, then makes the module chunk, which comes first."""
        found = list(declarations(self.root))
        if self.root.has_error:
            found = self._recovered(found)
        self._head(found)
        for node, doc in found:
            if node.type in ("function_declaration", "method_declaration"):
                self._function(node, doc)
            elif node.type == "type_declaration":
                self._types(node, doc)
            elif node.type in ("var_declaration", "const_declaration"):
                self._vars(node, doc)
            elif node.type == "import_declaration":
                self._imports(node)
        self.chunks.sort(key=lambda c: (c.start_line, c.end_line, c.id))
        self.chunks.insert(0, self._module(found))

    def _recovered(self, found: list[Declared]) -> list[Declared]:
        """The declarations of a broken file read one by one, where that finds more functions than the whole did."""
        source = "\n".join(self.lines).encode("utf-8", "replace")
        again: list[Declared] = []
        for piece in segments(source):
            again += declarations(Parser(_GO, included_ranges=[piece]).parse(source).root_node)
        return again if _functions(again) > _functions(found) else found

    def note(self) -> str:
        """What to report about the file."""
        notes = [f"syntax error near line {first_error(self.root)}: recovered"] if self.root.has_error else []
        if self.cut:
            notes.append(f"nested too deep, read in part: lines {', '.join(map(str, self.cut[:5]))}")
        return "; ".join(notes)

    def facts(self) -> dict[str, Any]:
        """Plain data for the resolver; the record of package-level code comes last among the functions."""
        return {
            "package": self.package,
            "imports": self.imports,
            "types": self.types,
            "vars": self.vars,
            "funcs": [*self.funcs, record(self.path, "", 1, self.globals)],
            "build": next((h for h in self.head if h.startswith("//go:build ")), ""),
        }

    def _head(self, found: list[Declared]) -> None:
        clause = next((n for n, _ in found if n.type == "package_clause"), None)
        if clause is not None:
            self.package = text(clause.named_children[0]) if clause.named_children else ""
        for child in self.root.children:
            if child.type != "comment" or (clause is not None and child.start_byte > clause.start_byte):
                break
            self.head.append(text(child))
        if any(GENERATED.search(comment) for comment in self.head):
            self.marks = tuple(sorted((*self.marks, "generated")))
        if self.root.has_error:
            self.marks = tuple(sorted((*self.marks, "recovered")))

    def _id(self, qualname: str) -> str:
        count = self.taken[qualname] = self.taken.get(qualname, 0) + 1
        return f"{self.path}::{qualname}" + (f"#{count}" if count > 1 else "")

    def _chunk(self, kind: Kind, qualname: str, node: Node, doc: str, head: str, marks: tuple[str, ...] = ()) -> Chunk:
        start, end = line_of(node), int(node.end_point[0]) + 1
        return Chunk(
            id=self._id(qualname),
            kind=kind,
            name=qualname.rsplit(".", 1)[-1],
            qualname=qualname,
            namespace=self.path.rpartition("/")[0],
            path=self.path,
            start_line=start,
            end_line=end,
            language="go",
            signature=head,
            doc=doc,
            code="\n".join(self.lines[start - 1 : end]),
            marks=tuple(sorted({*self.marks, *marks})),
        )

    def _function(self, node: Node, doc: str) -> None:
        scope = Scope()
        name = text(node.child_by_field_name("name"))
        taker = receiver(scope, node.child_by_field_name("receiver"))
        marks = ("method", *(("pointer",) if taker[2] else ())) if taker else ()
        qualname = f"{taker[1]}.{name}" if taker and taker[1] else name
        body = node.child_by_field_name("body")
        chunk = self._chunk("function", qualname, node, doc, signature(node, body), marks)
        taken = type_parameters(scope, node.child_by_field_name("type_parameters"))
        found = read_function(scope, node, record(chunk.id, name, chunk.start_line, scope))
        self._finish(chunk, scope, found | {"receiver": taker, "tparams": taken})

    def _finish(self, chunk: Chunk, scope: Scope, found: dict[str, Any]) -> None:
        taker = found["receiver"]
        hidden = [name for name, _ in found["tparams"]]
        references = References(scope.slots, [*hidden, *taker[3]] if taker else hidden)
        for _, declared, line in scope.slots[1 if taker else 0 :]:
            references.type(declared, line)
        references.ops(scope.ops)
        if scope.cut:
            self.cut.append(chunk.start_line)
        self.funcs.append(found)
        self.chunks.append(replace(chunk, references=references.sorted()))

    def _types(self, node: Node, doc: str) -> None:
        for spec, own_doc, ranged in grouped(node, doc, ("type_spec", "type_alias")):
            scope = Scope()
            name = text(spec.child_by_field_name("name"))
            declared = spec.child_by_field_name("type")
            chunk = self._chunk("class", name, ranged, own_doc, type_signature(spec, declared))
            taken = type_parameters(scope, spec.child_by_field_name("type_parameters"))
            meaning = type_of(scope, declared)
            self.types.append((chunk.id, name, chunk.start_line, taken, meaning, spec.type == "type_alias"))
            self.chunks.append(replace(chunk, references=_type_references(meaning, chunk.start_line, taken)))

    def _vars(self, node: Node, doc: str) -> None:
        last: tuple[Any, Any] = (None, None)  # type and value that a constant without its own repeats
        for spec, own_doc, ranged in grouped(node, doc, ("var_spec", "const_spec")):
            type_node, value_node = spec.child_by_field_name("type"), spec.child_by_field_name("value")
            if spec.type == "const_spec":
                if type_node is None and value_node is None:
                    type_node, value_node = last
                last = (type_node, value_node)
            names = [n for n in spec.children_by_field_name("name") if n.is_named]
            values = value_nodes(value_node)
            declared = type_of(self.globals, type_node)
            if len(names) == len(values):
                for name, value in zip(names, values, strict=True):
                    self._var(name, value, declared, own_doc, ranged)
            else:
                self._several(names, value_node, declared)

    def _var(self, name: Node, value: Node, declared: Any, doc: str, ranged: Node) -> None:
        line = line_of(name)
        if value.type == "func_literal":
            self._function_variable(text(name), value, declared, doc, ranged)
        else:
            self.vars.append((text(name), declared, line, ""))
            self.globals.ops.append(("var", [("n", text(name), line)], [expr(self.globals, value)], line))

    def _several(self, names: list[Node], value_node: Node | None, declared: Type) -> None:
        self.vars += [(text(n), declared, line_of(n), "") for n in names]
        if value_node is not None and names:
            left = [("n", text(n), line_of(n)) for n in names]
            self.globals.ops.append(("var", left, expr_list(self.globals, value_node), line_of(names[0])))

    def _function_variable(self, name: str, value: Node, declared: Type, doc: str, ranged: Node) -> None:
        scope = Scope()
        head = f"var {name} = {signature(value, value.child_by_field_name('body'))}"
        chunk = self._chunk("function", name, ranged, doc, head)
        found = read_function(scope, value, record(chunk.id, name, chunk.start_line, scope))
        self.vars.append((name, declared, chunk.start_line, chunk.id))
        self._finish(chunk, scope, found)

    def _imports(self, node: Node) -> None:
        lists = [child for child in node.named_children if child.type == "import_spec_list"]
        for spec in (s for around in (lists or [node]) for s in around.named_children):
            if spec.type == "import_spec":
                target = text(spec.child_by_field_name("path")).strip('"`')
                self.imports.append((text(spec.child_by_field_name("name")), target, line_of(spec)))

    def _module(self, found: list[Declared]) -> Chunk:
        doc = next((d for n, d in found if n.type == "package_clause"), "")
        references = References(self.globals.slots)
        references.found += [Reference(target, line, "import") for _, target, line in self.imports]
        for _, declared, line, _ in self.vars:
            references.type(declared, line)
        references.ops(("e", op[2]) if op[0] == "var" else op for op in self.globals.ops)
        name = self.path.rsplit("/", 1)[-1].removesuffix(".go")
        count = len(self.lines) - (1 if len(self.lines) > 1 and not self.lines[-1] else 0)
        return Chunk(
            id=self.path,
            kind="module",
            name=name,
            qualname=name,
            namespace=self.path.rpartition("/")[0],
            path=self.path,
            start_line=1,
            end_line=count,
            language="go",
            signature=f"package {self.package}",
            doc=doc,
            code="\n".join(self.lines[:count]),
            references=references.sorted(),
            marks=self.marks,
        )


def _type_references(meaning: Type, line: int, taken: list[tuple[str, Type]]) -> tuple[Reference, ...]:
    """Embedded types as `base`, the types of fields and methods as `name`, each on its line."""
    found = References([], [name for name, _ in taken])
    if isinstance(meaning, tuple) and meaning[0] == "struct":
        for _, declared, embedded, at in meaning[1]:
            found.type(declared, at)
            if embedded:
                found.found[-1:] = [r._replace(kind="base") for r in found.found[-1:]]
    elif isinstance(meaning, tuple) and meaning[0] == "interface":
        for _, declared, at in meaning[1]:
            found.type(declared, at)
        for declared, at in meaning[2]:
            found.found += [Reference(name, at, "base") for name in type_names(declared)]
    else:
        found.type(meaning, line)
    return found.sorted()
