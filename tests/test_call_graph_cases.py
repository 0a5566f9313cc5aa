"""The hand-written call-graph cases: they are true (they run, they vet) and the resolvers meet them."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import codekb
from codekb.graph_cases import (
    GO_MOD,
    Case,
    Score,
    compare_edges,
    graph_edges,
    read_cases,
    read_edges,
    score_case,
    total,
    worst,
)
from codekb.resolve.edges import RELATIONS

HERE = Path(__file__).parent
CASES = read_cases(HERE / "cases")
LEVELS = ("name", "import", "type", "flow")
PRECISION, RECALL = 0.99, 0.97


def of(language: str) -> list[Case]:
    return [c for c in CASES if c.language == language]


@functools.cache
def corpora(language: str) -> list[object]:
    """Each case of a language, parsed; vendored folders are part of some of them."""
    parsed = []
    with tempfile.TemporaryDirectory() as tmp:
        for n, case in enumerate(of(language)):
            folder = Path(tmp) / f"case{n}"
            case.write(folder)
            parsed.append(codekb.parse_repo(folder, exclude=()))
    return parsed


@functools.cache
def graphs(language: str, level: str) -> list[object]:
    """One graph per case of a language."""
    return [codekb.build_graph(corpus, resolve=level) for corpus in corpora(language)]


def scores(language: str, level: str, relation: str = "calls") -> tuple[list[Case], list[Score]]:
    pairs = zip(of(language), graphs(language, level), strict=True)
    stated = [(c, g) for c, g in pairs if relation in c.edges]
    return [c for c, _ in stated], [score_case(c, g, relation) for c, g in stated]


def test_there_are_enough_cases():
    assert len(of("python")) >= 150
    assert len(of("go")) >= 60


def test_every_python_case_runs_and_its_calls_are_expected(tmp_path):
    """A call that happens is expected, or marked as one that no reading of the code can find."""
    folders = {}
    for n, case in enumerate(of("python")):
        folders[str(tmp_path / str(n))] = case
        case.write(tmp_path / str(n))
    command = [sys.executable, str(HERE / "dynamic_calls.py"), *folders]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for folder, case in folders.items():
        ran = {(s, t) for s, t in seen[folder]}
        unexpected = ran - case.edges["calls"] - case.may
        assert not unexpected, (case.construct, case.name, unexpected)


def test_no_case_contradicts_itself():
    for case in CASES:
        stated = case.edges["calls"] | case.may
        assert not case.wrong & stated, (case.construct, case.name)
        assert not case.may & case.edges["calls"], (case.construct, case.name)


@pytest.mark.skipif(shutil.which("go") is None, reason="needs the Go tool chain")
def test_every_go_case_vets(tmp_path):
    """Every case is valid Go. Cases without a go.mod of their own become packages of one module: vet starts once."""
    app = tmp_path / "app"
    app.mkdir()
    (app / "go.mod").write_text(GO_MOD)
    modules = [app]
    for n, case in enumerate(of("go")):
        own = case.files["go.mod"] != GO_MOD
        folder = (tmp_path if own else app) / f"case{n}"
        case.write(folder)
        if own:
            modules += [path.parent for path in folder.rglob("go.mod")]
            continue
        (folder / "go.mod").unlink()
        for path in folder.rglob("*.go"):
            moved = re.sub(r'"example\.com/app(["/])', rf'"example.com/app/case{n}\1', path.read_text())
            path.write_text(moved)
    env = dict(os.environ, GOPROXY="off", GOWORK="off", GOCACHE=str(tmp_path / "cache"))
    for module in modules:
        env["GOFLAGS"] = "-mod=vendor" if (module / "vendor").exists() else "-mod=mod"
        run = subprocess.run(["go", "vet", "./..."], cwd=module, env=env, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("language", ["python", "go"])
def test_flow_finds_the_calls(language):
    cases, found = scores(language, "flow")
    precision, recall, n = total(found)
    text = f"{language}: precision {precision:.4f}, recall {recall:.4f} over {n} edges\n{worst(cases, found)}"
    assert precision >= PRECISION, text
    assert recall >= RECALL, text


@pytest.mark.parametrize("language", ["python", "go"])
def test_each_level_earns_its_place(language):
    """import is right more often than name; type finds more than import, and flow more than type."""
    name, imports, types, flow = (total(scores(language, level)[1])[:2] for level in LEVELS)
    assert imports[0] > name[0]
    assert imports[1] < types[1] < flow[1]
    assert flow[0] > name[0] and flow[1] > name[1]


@pytest.mark.parametrize("relation", ["inherits", "overrides", "imports", "contains", "uses"])
@pytest.mark.parametrize("language", ["python", "go"])
def test_flow_finds_the_other_relations(language, relation):
    cases, found = scores(language, "flow", relation)
    if not cases:
        pytest.skip(f"no {language} case states {relation}")
    precision, recall, n = total(found)
    assert min(precision, recall) >= RECALL, (
        f"{language} {relation} {precision:.3f} {recall:.3f} over {n}\n{worst(cases, found)}"
    )


@pytest.mark.parametrize("kind", ["external", "unresolved"])
@pytest.mark.parametrize("language", ["python", "go"])
def test_flow_keeps_what_leads_outside(language, kind):
    """References into libraries and references to nowhere are kept, as (source, dotted name)."""
    missing, stated = [], 0
    for case, graph in zip(of(language), graphs(language, "flow"), strict=True):
        found = {(s, name) for s, name, _ in graph.graph[kind]}
        expected = getattr(case, kind)
        stated += len(expected)
        missing += [f"{case.construct}: {case.name}: {s} -> {n}" for s, n in sorted(expected - found)]
    assert stated - len(missing) >= RECALL * stated, "\n".join(missing)


TINY = HERE.parent / "data" / "tiny"


def test_the_tiny_projects_edges_are_between_chunks_that_exist():
    ids = {chunk.id for chunk in codekb.parse_repo(TINY)}
    edges = read_edges(TINY / "edges.json")
    for relation in RELATIONS:
        if relation != "uses":
            named = {i for pair in edges[relation] for i in pair}
            assert named <= ids, (relation, named - ids)
    functions = {i for i in ids if "::" in i}
    contained = {t for _, t in edges["contains"]}
    assert contained == functions


@pytest.mark.parametrize("relation", ["calls", "inherits", "overrides", "imports", "contains"])
def test_flow_draws_exactly_the_tiny_projects_edges(relation):
    graph = codekb.build_graph(codekb.parse_repo(TINY))
    score = compare_edges(graph_edges(graph, relation), read_edges(TINY / "edges.json")[relation])
    assert (score.wrong, score.missing) == (frozenset(), frozenset())


def test_a_score_counts_wrong_and_missing_edges():
    score = compare_edges([("a", "b"), ("a", "c"), ("a", "x")], [("a", "b"), ("b", "c")], ignore=[("a", "x")])
    assert (score.precision, score.recall) == (0.5, 0.5)
    assert total([score, compare_edges([], [])]) == (0.5, 0.5, 2)


def test_an_edge_line_that_does_not_parse_names_file_and_case(tmp_path):
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "x.md").write_text("## odd\n\n```python main.py\n```\n\n```edges\na => b\n```\n")
    with pytest.raises(ValueError, match=r"python/x\.md, case 'odd': 'a => b'"):
        read_cases(tmp_path)


def graph_of_package(root, files):
    root.mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    return codekb.build_graph(codekb.parse_repo(root))


def test_a_root_that_is_a_package_knows_its_own_name(tmp_path):
    """Absolute imports of the root's own name resolve, though ids do not carry it."""
    files = {
        "__init__.py": "from shop.pay import charge\n",
        "pay.py": "def charge():\n    pass\n",
        "cart.py": "import shop\nfrom shop import pay\ndef one():\n    pay.charge()\ndef two():\n    shop.charge()\n",
    }
    graph = graph_of_package(tmp_path / "shop", files)
    assert graph_edges(graph) == {("cart.py::one", "pay.py::charge"), ("cart.py::two", "pay.py::charge")}


@pytest.mark.parametrize("relative", [True, False], ids=["a package for sure", "perhaps a source root"])
def test_a_root_that_is_a_package_does_not_hide_the_library(tmp_path, relative):
    """`import queue` beside queue.py is the library's; only a root that may be a source root lends a plain own name."""
    files = {
        "__init__.py": "from .pay import charge\n" if relative else "",
        "pay.py": "def charge():\n    pass\n",
        "queue.py": "def put():\n    pass\n",
        "redis.py": "import redis\ndef get():\n    redis.get()\n",
        "cart.py": "import queue\nimport pay\ndef one():\n    queue.put()\ndef two():\n    pay.charge()\n",
    }
    graph = graph_of_package(tmp_path / "shop", files)
    assert graph_edges(graph) == (set() if relative else {("cart.py::two", "pay.py::charge")})
    outside = {(source, name) for source, name, _ in graph.graph["external"]}
    assert {("cart.py::one", "queue.put"), ("redis.py::get", "redis.get")} <= outside
