"""The Go resolver beyond the hand-written cases: levels, what is external or unknown, modules, platforms, order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import codekb
from codekb.chunks import Corpus
from codekb.parsing import go as parser
from codekb.resolve import go
from codekb.resolve.edges import Resolution
from codekb.resolve.go_build import configurations
from codekb.resolve.go_modules import Modules

SERVICE = Path(__file__).parent.parent / "data" / "gosvc"


def corpus_of(**files: str) -> Corpus:
    """A corpus from sources; `a__b` is the path a/b.go, and `mod` the text of go.mod."""
    chunks, facts = [], {}
    for name, source in sorted(files.items()):
        if name == "mod":
            facts["go.mod"] = source
            continue
        path = name.replace("__", "/") + ".go"
        parse = parser.parse(path, source)
        chunks += parse.chunks
        facts[path] = parse.facts
    return Corpus(chunks, facts=facts)


def edges(found: Resolution, relation: str = "calls") -> set[tuple[str, str]]:
    return {(e.source.partition("::")[2], e.target.partition("::")[2]) for e in found.edges if e.relation == relation}


def reasons(found: Resolution, target: str) -> set[tuple[str, float]]:
    wanted = [e for e in found.edges if e.relation == "calls" and e.target.partition("::")[2] == target]
    return {(e.reason, e.confidence) for e in wanted}


LEVELS = """package p
type Opener interface{ Open() }
type Door struct{}
func (d *Door) Open() { creak() }
func creak() {}
func use(o Opener, f func()) {
	o.Open()
	f()
}
func run() {
	d := &Door{}
	d.Open()
	use(d, creak)
}
"""


def test_each_level_adds_what_it_is_for():
    corpus = corpus_of(p__a=LEVELS)
    by_import = {("Door.Open", "creak"), ("run", "use")}
    assert edges(go.resolve(corpus, "import")) == by_import
    by_type = by_import | {("run", "Door.Open")}
    assert edges(go.resolve(corpus, "type")) == by_type
    assert edges(go.resolve(corpus, "flow")) == by_type | {("use", "Door.Open"), ("use", "creak")}
    assert edges(go.resolve(corpus, "name")) == {
        ("Door.Open", "creak"), ("run", "use"), ("run", "Door.Open"), ("use", "Door.Open"),
    }  # fmt: skip


def test_confidence_falls_with_the_number_of_possible_targets():
    corpus = corpus_of(p__a=LEVELS + "type Gate struct{}\nfunc (g Gate) Open() {}\n")
    found = go.resolve(corpus, "flow")
    assert ("interface dispatch", 0.6) in reasons(found, "Gate.Open")
    assert ("receiver type", 1.0) in reasons(found, "Door.Open")
    assert reasons(go.resolve(corpus_of(p__a=LEVELS), "flow"), "Door.Open") == {
        ("receiver type", 1.0), ("interface dispatch", 0.8),
    }  # fmt: skip


def test_unknown_level_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ValueError, match="'name', 'import', 'type', 'flow'"):
        go.resolve(corpus_of(), "types")


def test_library_calls_are_external_by_import_path_and_unknown_ones_unresolved():
    source = """package p
import (
	"net/http"
	j "encoding/json"
)
func f(w http.ResponseWriter, v any) {
	j.NewEncoder(w).Encode(v)
	w.Header().Set("a", "b")
	missing()
}
"""
    found = go.resolve(corpus_of(p__a=source), "type")
    assert {name for _, name, _ in found.external} == {
        "encoding/json.NewEncoder", "encoding/json.NewEncoder().Encode", "net/http.ResponseWriter.Header",
        "net/http.Header.Set",
    }  # fmt: skip
    assert found.unresolved == [("p/a.go::f", "missing", 9)]


def test_same_names_in_two_packages_are_told_apart():
    corpus = corpus_of(
        mod="module example.com/m\n",
        a__a='package a\nimport "example.com/m/b"\nfunc Execute() { b.Execute() }\n',
        b__b="package b\nfunc Execute() {}\n",
    )
    calls = [(e.source, e.target) for e in go.resolve(corpus, "import").edges if e.relation == "calls"]
    assert calls == [("a/a.go::Execute", "b/b.go::Execute")]


def test_files_for_other_platforms_are_variants_with_less_confidence():
    corpus = corpus_of(
        p__open="package p\nfunc Open() { lock() }\n",
        p__lock_linux="package p\nfunc lock() {}\n",
        p__lock_windows="package p\nfunc lock() { sys() }\nfunc sys() {}\n",
        p__sys_linux="package p\nfunc sys() {}\n",
    )
    found = {(e.source, e.target): (e.confidence, e.reason) for e in go.resolve(corpus).edges if e.relation == "calls"}
    assert found == {
        ("p/open.go::Open", "p/lock_linux.go::lock"): (1.0, "same package"),
        ("p/open.go::Open", "p/lock_windows.go::lock"): (0.5, "build variant"),
        ("p/lock_windows.go::lock", "p/lock_windows.go::sys"): (1.0, "same package"),
    }


@pytest.mark.parametrize(
    ("path", "constraint", "plain"),
    [
        ("a.go", "", True),
        ("a_windows.go", "", False),
        ("a_linux_test.go", "", True),
        ("a_linux_arm64.go", "", False),
        ("linux.go", "", True),
        ("a.go", "//go:build linux && (amd64 || arm64)", True),
        ("a.go", "//go:build !unix", False),
        ("a.go", "//go:build ignore", False),
        ("a.go", "//go:build integration", False),
        ("a.go", "//go:build )(", True),
    ],
)
def test_build_constraints(path: str, constraint: str, plain: bool):
    assert bool(configurations(path, constraint) & 1) == plain


def test_folders_of_import_paths():
    mods = {
        "go.mod": "module a.b/base\nreplace c.d/lib => ./third\n",
        "tool/go.mod": "module a.b/base/tool\n",
        "third/go.mod": "module other.name\n",
    }
    folders = ["", "x", "tool/x", "third/y", "x/vendor/v.w/z"]
    modules = Modules(mods, folders, [])
    assert modules.folder("a.b/base", "x") == ""
    assert modules.folder("a.b/base/x", "") == "x"
    assert modules.folder("a.b/base/tool/x", "") == "tool/x", "the longest module wins"
    assert modules.folder("c.d/lib/y", "x") == "third/y"
    assert modules.folder("c.d/lib/y", "tool/x") is None, "a replacement holds in its own module only"
    assert modules.folder("v.w/z", "x") == "x/vendor/v.w/z"
    assert modules.folder("v.w/z", "tool/x") is None, "a vendor folder serves the folders beside it"
    assert modules.folder("a.b/baseed/x", "") is None, "whole segments only"


def test_without_go_mod_the_layout_decides_and_the_standard_library_is_never_a_folder():
    folders = ["http", "store", "src/e.f/g"]
    imports = ["net/http", "my.host/app/http", "my.host/app/store"]
    modules = Modules({}, folders, imports)
    assert modules.folder("my.host/app/store", "http") == "store"
    assert modules.folder("net/http", "store") is None
    assert modules.folder("e.f/g", "store") == "src/e.f/g"


def test_an_unexported_method_satisfies_only_in_its_own_package():
    corpus = corpus_of(
        mod="module m\n",
        node__a="package node\ntype N interface{ visit() }\ntype Own struct{}\nfunc (Own) visit() {}\n"
        "func Walk(n N) { n.visit() }\n",
        b__b="package b\ntype Fake struct{}\nfunc (Fake) visit() {}\n",
    )
    assert edges(go.resolve(corpus)) == {("Walk", "Own.visit")}


def test_a_type_parameter_calls_only_what_instantiations_give_it():
    source = """package p
type Shape interface{ Area() int }
type Square struct{}
func (Square) Area() int { return 1 }
type Circle struct{}
func (Circle) Area() int { return 2 }
func Sum[T Shape](all []T) int { return all[0].Area() }
func run() { Sum([]Square{}) }
"""
    found = edges(go.resolve(corpus_of(p__a=source)))
    assert found == {("Sum", "Square.Area"), ("run", "Sum")}


def test_structure_edges():
    source = """package p
type Base struct{}
func (Base) Close() {}
type Closer interface{ Close() }
type File struct{ Base }
func (f File) Close() { f.Base.Close() }
"""
    found = go.resolve(corpus_of(p__a=source))
    assert edges(found, "inherits") == {("File", "Base"), ("File", "Closer"), ("Base", "Closer")}
    assert edges(found, "overrides") == {("File.Close", "Base.Close")}
    assert edges(found, "contains") == {
        ("", "Base"), ("", "Closer"), ("", "File"), ("Base", "Base.Close"), ("File", "File.Close"),
    }  # fmt: skip
    assert edges(found, "calls") == {("File.Close", "Base.Close")}


def test_types_use_the_types_that_they_mention():
    source = """package p
type Key string
type Item struct{ key Key; next *Item; tags map[Key][]Tag; Base }
type Tag = Key
type Base struct{}
type Store interface{ Get(Key) *Item }
var first Item
"""
    found = edges(go.resolve(corpus_of(p__a=source)), "uses")
    assert found == {("Item", "Key"), ("Tag", "Key"), ("Store", "Key"), ("Store", "Item"), ("", "Item")}


def test_functions_stored_in_fields_maps_and_channels_are_found_where_they_are_called():
    source = """package p
type Job struct{ run func() }
func one() {}
func two() {}
func three() {}
var table = map[string]func(){"two": two}
func main() {
	jobs := []Job{{run: one}}
	for _, j := range jobs { j.run() }
	table["two"]()
	ch := make(chan func(), 1)
	ch <- three
	f := <-ch
	f()
}
"""
    assert edges(go.resolve(corpus_of(p__a=source))) == {("main", "one"), ("main", "two"), ("main", "three")}


def test_passing_a_function_is_a_call_only_to_libraries_that_call_it():
    source = """package p
import (
	"sort"
	"sync"
	"example.com/bus"
)
func less(i, j int) bool { return i < j }
func setup() {}
func handler() {}
func run(once *sync.Once) {
	sort.Slice(nil, less)
	once.Do(setup)
	bus.Subscribe(handler)
}
"""
    found = go.resolve(corpus_of(p__a=source))
    assert edges(found) == {("run", "less"), ("run", "setup")}
    assert reasons(found, "less") == {("callback", 0.9)}
    assert ("run", "handler") in edges(found, "uses")


def test_methods_that_a_library_is_given_to_call():
    source = """package p
import "sort"
type byLen []string
func (b byLen) Len() int { return 0 }
func (b byLen) Less(i, j int) bool { return true }
func (b byLen) Swap(i, j int) {}
func (b byLen) Other() {}
func run(x []string) { sort.Sort(sort.Reverse(byLen(x))) }
"""
    found = go.resolve(corpus_of(p__a=source))
    assert edges(found) == {("run", "byLen.Len"), ("run", "byLen.Less"), ("run", "byLen.Swap")}


def test_a_range_over_a_function_calls_it_and_its_yield_is_the_loop():
    source = """package p
func numbers(yield func(int) bool) { yield(1) }
func run() { for n := range numbers { use(n) } }
func use(int) {}
"""
    found = go.resolve(corpus_of(p__a=source))
    assert edges(found) == {("run", "numbers"), ("run", "use")}
    assert found.unresolved == []


def test_recursive_types_and_self_referring_variables_end():
    source = """package p
type Node struct{ *Node; next *List[Node] }
type List[T any] struct{ inner *List[List[T]] }
type Loop Loop2
type Loop2 Loop
type I interface{ I }
var a, b = b, a
var f = func() { f() }
func g(n Node, l Loop, i I) { n.next.inner.inner.missing(); l.x(); i.y(); a(); f() }
"""
    found = edges(go.resolve(corpus_of(p__a=source)))
    assert {("g", "f"), ("f", "f")} <= found


def test_broken_sources_resolve_as_far_as_they_go():
    corpus = corpus_of(p__a="package p\nfunc a() { b() }\nfunc c( {\nfunc b() { a() }\n")
    assert ("a", "b") in edges(go.resolve(corpus))


def test_facts_that_went_through_json_give_the_same():
    corpus = codekb.parse_repo(SERVICE)
    again = Corpus(corpus.chunks, facts=json.loads(json.dumps(corpus.facts)))
    assert go.resolve(again) == go.resolve(corpus)


def test_no_go_files_give_nothing():
    found = go.resolve(Corpus([]))
    assert (found.edges, found.external, found.unresolved) == ([], [], [])


def test_the_service_has_the_graph_that_the_notebooks_speak_of():
    graph = codekb.build_graph(codekb.parse_repo(SERVICE))
    calls = {(s, t) for s, t, d in graph.edges(data=True) if d["relation"] == "calls"}
    db = "db/connection.go::Connect", "db/retry.go::withRetry"
    assert db in calls and ("db/connection.go::Connect", "db/connection.go::Ping") in calls
    assert {s for s, t in calls if t == "db/query.go::Execute"} == {"cli/root.go::Execute", "db/query.go::Transaction"}
    assert {t for s, t in calls if s == "auth/token.go::RefreshToken"} == {
        "auth/token.go::ValidateToken", "auth/token.go::RevokeToken",
    }  # fmt: skip
    assert {t for s, t in calls if s == "api/handler.go::HandleRequest"} == {
        "api/handler.go::WriteJSON", "api/handler.go::WriteError", "cache/store.go::Store.Get",
        "cache/store.go::Store.Set", "db/query.go::FetchAll",
    }  # fmt: skip
    assert len({t for s, t in calls if s == "cli/root.go::Execute"}) == 10


def test_results_do_not_depend_on_the_hash_seed():
    code = "import sys, codekb; from codekb.resolve import go;print(repr(go.resolve(codekb.parse_repo(sys.argv[1]))))"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, str(SERVICE)], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0] == outputs[1] and b"withRetry" in outputs[0]


def test_a_library_method_behind_an_embedded_type_is_external_beside_the_corpus_own() -> None:
    source = """package p
import ("bytes"; "io"; "sync")
type Own struct{}
func (o *Own) Read(b []byte) (int, error) { return 0, nil }
type state struct{ bytes.Buffer }
func fill(r io.Reader) { r.Read(nil) }
func both() { fill(&Own{}); fill(&state{}) }
type guarded struct{ sync.Mutex }
func lock(l sync.Locker) { l.Lock() }
func held() { lock(&guarded{}) }
func later(f func()) { f() }
func locks(g *guarded) { later(g.Lock) }
"""
    found = go.resolve(corpus_of(p=source))
    assert {("fill", "Own.Read"), ("both", "fill"), ("held", "lock")} <= edges(found)
    assert not [edge for edge in found.edges if "library.go" in edge.target]
    assert {("p.go::fill", "bytes.Buffer.Read", 6), ("p.go::lock", "sync.Mutex.Lock", 9)} <= set(found.external)
