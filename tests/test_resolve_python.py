"""The Python resolvers beyond the cases: source roots, confidence, bounds, determinism."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from codekb import build_graph, parse_repo
from codekb.resolve.python_modules import Modules


def project(tmp_path, files):
    for path, text in files.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return parse_repo(tmp_path, workers=1)


def edges(graph, relation="calls"):
    return {(s, t) for s, t, d in graph.edges(data=True) if d["relation"] == relation}


@pytest.mark.parametrize(
    ("importer", "name", "expected"),
    [
        ("src/pkg/b.py", "pkg.a", "src/pkg/a.py"),  # a source root inside
        ("tests/test_a.py", "pkg.a", "src/pkg/a.py"),  # from elsewhere
        ("tests/test_a.py", "helpers", "tests/helpers.py"),  # beside a script
        ("src/pkg/b.py", "json", None),  # the standard library, though some folder has a json.py
        ("tools/run.py", "json", "tools/json.py"),  # which only hides it beside itself
        ("src/pkg/b.py", "a", None),  # inside a package there are no implicit relative imports
    ],
)
def test_an_absolute_import_finds_its_source_root(importer, name, expected):
    paths = [
        "src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/b.py", "tests/helpers.py", "tests/test_a.py", "tools/json.py",
        "tools/run.py",
    ]  # fmt: skip
    modules = Modules(paths)
    found = modules.find(name, paths.index(importer))
    assert (None if found is None else paths[found]) == expected


def test_a_root_that_is_a_package_knows_its_own_name(tmp_path):
    root = tmp_path / "shop"
    caller = "from shop.a import f\nimport shop.a\nf()\nshop.a.f()\n"
    corpus = project(root, {"__init__.py": "", "a.py": "def f(): pass\n", "b.py": caller})
    edge = build_graph(corpus, "import").edges["b.py", "a.py::f", "calls"]
    assert edge["lines"] == [3, 4]


def test_the_levels_find_more_and_more(tmp_path):
    source = "class A:\n    def m(self): self.n()\n    def n(self): pass\ndef f(): pass\ndef g(x): x()\ng(f)\nA().m()\n"
    corpus = project(tmp_path, {"m.py": source})
    by_import, by_type, by_flow = (edges(build_graph(corpus, level)) for level in ("import", "type", "flow"))
    assert by_import < by_type < by_flow
    assert by_type - by_import == {("m.py::A.m", "m.py::A.n"), ("m.py", "m.py::A.m")}
    assert by_flow - by_type == {("m.py::g", "m.py::f")}


def test_more_possible_targets_are_less_sure(tmp_path):
    source = "def a(): pass\ndef b(): pass\ndef one(h): h()\ndef two(h): h()\none(a)\ntwo(a)\ntwo(b)\n"
    graph = build_graph(project(tmp_path, {"m.py": source}))
    alone = graph.edges["m.py::one", "m.py::a", "calls"]["confidence"]
    among = graph.edges["m.py::two", "m.py::a", "calls"]["confidence"]
    assert among < alone < graph.edges["m.py", "m.py::one", "calls"]["confidence"]


def test_a_later_assignment_replaces_and_branches_join(tmp_path):
    source = "def a(): pass\ndef b(): pass\nx = a\nx()\nx = b\ndef f():\n    x()\n"
    source += "if input():\n    y = a\nelse:\n    y = b\ny()\n"
    found = edges(build_graph(project(tmp_path, {"m.py": source})))
    assert {t for s, t in found if s == "m.py::f"} == {"m.py::b"}
    assert {t for s, t in found if s == "m.py"} == {"m.py::a", "m.py::b"}


def test_a_decorator_on_everything_still_leads_to_the_functions(tmp_path):
    """Beyond the bound, the wrapper's own callees are lost: the decorated name then means the function too."""
    functions = "".join(f"@deco\ndef f{i}(): pass\n" for i in range(40))
    source = f"def deco(fn):\n    def wrapper():\n        return fn()\n    return wrapper\n{functions}def run(): f7()\n"
    found = edges(build_graph(project(tmp_path, {"m.py": source})))
    assert {("m.py::run", "m.py::f7"), ("m.py::run", "m.py::deco.wrapper")} <= found


@pytest.mark.parametrize(
    "source",
    [
        "class A(A): pass\nA().x()\n",
        "class A: pass\nclass B(A): pass\nclass C(A, B): pass\nC().x()\n",
        "def f(x): return f(f)\nf(f)(f)\n",
        "x = []\nx.append(x)\nx[0][0]()\n",
        "from m import *\nfrom m import g\ng()\n",
        "f = lambda g: g(g)\nf(f)\n",
        "class M(type):\n    def __call__(c): return c\nclass A(metaclass=M): pass\nA()()\n",
        "def g():\n    x = yield\n    yield from x\n    g().send(g())\n",
        "class P:\n    def __getattr__(self, n): return P()\nP().a.b.c()\n",
    ],
)
def test_code_that_feeds_on_itself_ends(tmp_path, source):
    corpus = project(tmp_path, {"m.py": source})
    for level in ("import", "type", "flow"):
        assert "m.py" in build_graph(corpus, level)


SEEDED = """
import sys
from codekb import build_graph, parse_repo
graph = build_graph(parse_repo(sys.argv[1], workers=1))
print(sorted((s, t, d["relation"], d["confidence"], d["reason"], d["lines"]) for s, t, d in graph.edges(data=True)))
"""


def test_the_graph_does_not_depend_on_the_hash_seed(tmp_path):
    handlers = "".join(f"def h{i}(): pass\nclass C{i}:\n    def go(self): h{i}()\n" for i in range(30))
    registry = ", ".join(f"'k{i}': h{i}" for i in range(30))
    calls = "".join(f"run(C{i}())\n" for i in range(30))
    project(tmp_path, {"m.py": f"{handlers}D = {{{registry}}}\ndef run(x):\n    x.go()\n    D[x]()\n{calls}"})
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SEEDED, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


def test_broken_files_take_part_with_what_is_left(tmp_path):
    corpus = project(tmp_path, {"m.py": "def f(): pass\nx = = 1\ndef g():\n    f()\n"})
    assert ("m.py::g", "m.py::f") in edges(build_graph(corpus, "import"))


def test_overrides_name_the_next_method_in_resolution_order(tmp_path):
    source = "class A:\n    def m(self): pass\nclass B(A): pass\nclass C(B):\n    def m(self): pass\n"
    assert edges(build_graph(project(tmp_path, {"m.py": source})), "overrides") == {("m.py::C.m", "m.py::A.m")}


def test_a_getter_without_a_named_first_parameter_is_no_error(tmp_path):
    lazy = "class Lazy:\n    def __get__(*args):\n        return args\n"
    corpus = project(tmp_path, {"m.py": f"{lazy}class C:\n    x = Lazy()\ndef use():\n    return C().x\n"})
    assert ("m.py::use", "m.py::Lazy.__get__") in edges(build_graph(corpus))


def test_a_partial_that_reaches_itself_ends(tmp_path):
    source = (
        "from functools import partial\n\n\ndef step(*given): ...\n\n\n"
        "def run(todo):\n    call = step\n    for one in todo:\n        call = partial(call, one)\n    call()\n"
    )
    found = edges(build_graph(project(tmp_path, {"m.py": source})))
    assert found == {("m.py::run", "m.py::step")}


def test_a_library_decorator_with_arguments_leaves_nothing_unresolved(tmp_path):
    source = "import functools\n@functools.lru_cache(9)\ndef f(): pass\n@unknown(1)\ndef g(): pass\n"
    graph = build_graph(project(tmp_path, {"m.py": source})).graph
    assert graph["external"] == [("m.py", "functools.lru_cache", 2)]
    assert graph["unresolved"] == [("m.py", "unknown", 4)]


def test_getters_setters_and_raised_classes_of_one_place_share_their_confidence(tmp_path):
    source = (
        "class A:\n    @property\n    def p(self): pass\n    @p.setter\n    def p(self, v): pass\n"
        "class B:\n    @property\n    def p(self): pass\n    @p.setter\n    def p(self, v): pass\n"
        "class E(Exception): pass\nclass F(Exception): pass\n"
        "def read(x):\n    x.p\ndef write(x):\n    x.p = 1\ndef fail(kind):\n    raise kind\n"
        "for x in (A(), B()):\n    read(x)\n    write(x)\ndef one(a: A):\n    a.p\n"
        "for kind in (E, F):\n    fail(kind)\n"
    )
    graph = build_graph(project(tmp_path, {"m.py": source}))
    sure = {(s[6:], t[6:]): d["confidence"] for s, t, d in graph.edges(data=True) if s[6:] in ("read", "write", "fail")}
    assert sure == {
        ("read", "A.p"): 0.893, ("read", "B.p"): 0.893,
        ("write", "A.p#2"): 0.893, ("write", "B.p#2"): 0.893,
        ("fail", "E"): 0.912, ("fail", "F"): 0.912,
    }  # fmt: skip
    assert graph.edges["m.py::one", "m.py::A.p", "calls"]["confidence"] == 0.94


def test_an_object_that_is_its_own_call_ends(tmp_path):
    source = "class A:\n    def m(self): pass\nA.__call__ = A()\ndef run():\n    A()().m()\nrun()\n"
    assert edges(build_graph(project(tmp_path, {"m.py": source}))) == {
        ("m.py", "m.py::A"), ("m.py", "m.py::run"), ("m.py::run", "m.py::A"),
    }  # fmt: skip
