"""Go files to chunks: ids, ranges, docs, marks, references, and no exception whatever the input."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codekb.chunks import Chunk
from codekb.parsing import go

SOURCE = """\
// Package shop sells.
package shop

import (
	"fmt"
	store "example.com/app/storage"
)

// Keeper keeps
// values.
//
//go:generate stringer
type Keeper[K comparable, V any] struct {
	store.Base
	items map[K]*Item
} // not a doc comment
func free() {}

type (
	// ID names.
	ID int
	Alias = ID
)

/* Put stores
one value. */
func (k *Keeper[K, V]) Put(
	key K, // the key
	value V,
) error {
	k.items[key] = wrap(value).seal()
	go func() { k.Lock() }()
	return NewBox[K](key)
}

func (id ID) String() string { return fmt.Sprint(int(id)) }

var Handler, limit = func(a int) int { return inner(a) }, 3

var (
	// Hook runs.
	Hook  = func() { free() }
	table = map[string]func(){"free": free}
)

func init() {}

func init() { store.Open() }
"""


def chunks(source: str, path: str = "pkg/shop.go") -> dict[str, Chunk]:
    return {c.id.partition("::")[2]: c for c in go.parse(path, source).chunks}


def calls(chunk: Chunk) -> list[tuple[str, int]]:
    return [(r.name, r.line) for r in chunk.references if r.kind == "call"]


def test_ids_in_line_order_with_the_file_first():
    found = [c.id for c in go.parse("pkg/shop.go", SOURCE).chunks]
    names = ["Keeper", "free", "ID", "Alias", "Keeper.Put", "ID.String", "Handler", "Hook", "init", "init#2"]
    assert found == ["pkg/shop.go", *(f"pkg/shop.go::{n}" for n in names)]


def test_ranges_start_at_func_and_hold_no_doc_comment():
    put = chunks(SOURCE)["Keeper.Put"]
    assert (put.start_line, put.end_line) == (27, 34)
    assert put.code.startswith("func (k *Keeper[K, V]) Put(") and put.code.endswith("}")
    assert put.signature == "func (k *Keeper[K, V]) Put(key K, value V) error"


def test_doc_comments_without_delimiters_directives_and_trailing_remarks():
    found = chunks(SOURCE)
    assert found["Keeper"].doc == "Keeper keeps\nvalues."
    assert found["Keeper.Put"].doc == "Put stores\none value."
    assert (found["ID"].doc, found["Alias"].doc, found["Hook"].doc) == ("ID names.", "", "Hook runs.")
    assert found["free"].doc == ""
    assert found[""].doc == "Package shop sells."


def test_marks_of_receivers():
    found = chunks(SOURCE)
    assert found["Keeper.Put"].marks == ("method", "pointer")
    assert found["ID.String"].marks == ("method",)
    assert found["free"].marks == ()


def test_kinds_and_type_signatures():
    found = chunks(SOURCE)
    assert {n for n, c in found.items() if c.kind == "class"} == {"Keeper", "ID", "Alias"}
    assert found["Keeper"].signature == "type Keeper[K comparable, V any] struct"
    assert found["Alias"].signature == "type Alias = ID"
    assert found["Handler"].signature == "var Handler = func(a int) int"


def test_one_variable_takes_its_declaration_and_a_grouped_one_its_own_lines():
    found = chunks(SOURCE)
    assert found["Handler"].code.startswith("var Handler, limit")
    assert found["Hook"].code == "\tHook  = func() { free() }"


def test_references_as_written_and_generic_calls_among_them():
    found = chunks(SOURCE)
    expected = [("wrap().seal", 31), ("wrap", 31), ("k.Lock", 32), ("NewBox", 33)]
    assert calls(found["Keeper.Put"]) == expected
    assert ("store.Base", "base") in [(r.name, r.kind) for r in found["Keeper"].references]
    assert [r.name for r in found[""].references if r.kind == "import"] == ["fmt", "example.com/app/storage"]
    assert "K" not in [r.name for c in found.values() for r in c.references]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("web.Run[A, B](ctx)", "web.Run"),
        ("NewC[T](ctx)", "NewC"),
        ("NewC[T]()", "NewC"),
        ("NewC[[]int](a, b)", "NewC"),
        ("go NewC[T](ctx)", "NewC"),
        ("table[key](x)", "table"),
        ("a.table[key](x)", "a.table"),
        ('a.b.table["k"].run(x)', "a.b.table[].run"),
        ("(*T).Run(x)", "T.Run"),
        ("defer s.mu.Unlock()", "s.mu.Unlock"),
        ("x.(Closer).Close()", "x.().Close"),
    ],
)
def test_every_form_of_call_is_a_reference(call: str, name: str):
    found = chunks(f"package p\nfunc f() {{\n\t{call}\n}}\n")["f"]
    assert (name, 3) in calls(found)


def test_composite_literals_conversions_and_builtins_are_no_calls_to_declared_functions():
    found = chunks("package p\nfunc f() { _ = T{1}; _ = []byte(s); _ = &T{} }\n")["f"]
    assert calls(found) == []


def test_shadowed_names_are_told_apart_from_package_names():
    source = "package p\nfunc f(helper func()) {\n\thelper()\n\tif x := g(); x {\n\t\tg := x\n\t\t_ = g\n\t}\n}\n"
    facts = go.parse("p/a.go", source).facts
    ops = facts["funcs"][0]["ops"]
    called = [op[1][1] for op in ops if op[0] == "e" and isinstance(op[1], tuple) and op[1][0] == "()"]
    assert called == [0], "the parameter's slot, not the name"


def test_multi_line_signature():
    source = "package p\nfunc MultiLine(\n\ta int,\n\tb int,\n) int {\n\treturn helper(a, b)\n}\n"
    assert calls(chunks(source)["MultiLine"]) == [("helper", 6)]


def test_generated_and_test_marks():
    head = "// Code generated by stringer; DO NOT EDIT.\n\npackage p\nfunc f() {}\n"
    assert chunks(head)["f"].marks == ("generated",)
    assert chunks("package p\nfunc f() {}\n" + head)["f"].marks == (), "only before the package clause"
    for path in ("p/a_test.go", "p/testdata/a.go", "test/a.go"):
        assert chunks("package p\nfunc f() {}\n", path)["f"].marks == ("test",)
    assert chunks("package p\nfunc f() {}\n", "latest/contest.go")["f"].marks == ()


def test_a_broken_file_keeps_what_can_be_read():
    parse = go.parse("p/a.go", "package p\nfunc whole() { helper() }\nfunc broken( {\nfunc last() { end() }\n")
    whole = next(c for c in parse.chunks if c.name == "whole")
    assert whole.marks == ("recovered",) and calls(whole) == [("helper", 2)]
    assert "syntax error" in parse.note
    assert [(c.name, c.start_line) for c in parse.chunks if c.kind == "function"] == [("whole", 2), ("last", 4)]


def test_very_deep_nesting_is_noted_not_raised():
    deep = "package p\nfunc f() { x := " + "(" * 3000 + "1" + ")" * 3000 + "\n g() }\nfunc h() {}\n"
    parse = go.parse("p/a.go", deep)
    assert "nested too deep" in parse.note
    assert {"f", "h"} <= {c.name for c in parse.chunks}


def test_a_long_chain_of_operands_is_read_whole():
    chain = " + ".join(["a"] * 4000 + ["last()"])
    assert calls(chunks(f"package p\nfunc f() {{ _ = {chain} }}\n")["f"]) == [("last", 2)]


@pytest.mark.parametrize(
    "source", ["", "\n", "package", "package p", "func", "\ufeffpackage p\n", "}{", "\x00", "\ud800"]
)
def test_odd_files_give_at_least_a_module(source: str):
    parse = go.parse("a.go", source)
    assert parse.chunks[0].kind == "module" and parse.chunks[0].namespace == ""


def test_facts_are_plain_data():
    facts = go.parse("pkg/shop.go", SOURCE).facts
    assert json.loads(json.dumps(facts))["package"] == "shop"
    assert pickle.loads(pickle.dumps(facts)) == facts


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_cut_or_garbled_file_raises(data: st.DataObject):
    start = data.draw(st.integers(0, len(SOURCE)))
    end = data.draw(st.integers(start, len(SOURCE)))
    junk = data.draw(st.text(max_size=12))
    parse = go.parse("pkg/shop.go", SOURCE[:start] + junk + SOURCE[end:])
    ids = [c.id for c in parse.chunks]
    assert len(ids) == len(set(ids))
    lines = (SOURCE[:start] + junk + SOURCE[end:]).count("\n") + 1
    assert all(1 <= c.start_line <= max(c.end_line, 1) <= lines for c in parse.chunks)
