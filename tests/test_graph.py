"""The graph object: merging, saving, loading, reversing, errors. What the edges should be is in the cases."""

from __future__ import annotations

import pytest

from codekb.chunks import Corpus
from codekb.graph import build_graph, count_relations, load_graph, reverse, save_graph
from codekb.parsing.python import parse


def corpus_of(**files: str) -> Corpus:
    """A corpus of modules `name.py` from their sources."""
    parsed = {f"{name}.py": parse(f"{name}.py", source) for name, source in sorted(files.items())}
    chunks = [c for file in parsed.values() for c in file.chunks]
    return Corpus(chunks, facts={path: file.facts for path, file in parsed.items()})


SMALL = {
    "main": "import os\nfrom util import helper\n"
    "def run():\n    helper()\n    helper()\n    os.getcwd()\n    nowhere()\nrun()\n",
    "util": "def helper():\n    return helper()\n",
}


def calls(graph):
    return {(s, t) for s, t, d in graph.edges(data=True) if d["relation"] == "calls"}


def test_places_of_one_pair_are_one_edge():
    graph = build_graph(corpus_of(**SMALL))
    edge = graph.edges["main.py::run", "util.py::helper", "calls"]
    assert (edge["line"], edge["lines"], edge["relation"]) == (4, [4, 5], "calls")
    assert 0 < edge["confidence"] <= 1 and edge["reason"] == "imported name"
    assert graph.nodes["main.py::run"]["chunk"].start_line == 3


def test_recursion_is_a_self_loop_but_not_by_name():
    corpus = corpus_of(**SMALL)
    assert ("util.py::helper", "util.py::helper") in calls(build_graph(corpus))
    assert ("util.py::helper", "util.py::helper") not in calls(build_graph(corpus, "name"))


def test_libraries_and_unknown_names_are_kept_apart():
    graph = build_graph(corpus_of(**SMALL))
    assert graph.graph["external"] == [("main.py::run", "os.getcwd", 6)]
    assert graph.graph["unresolved"] == [("main.py::run", "nowhere", 7)]


def test_contains_and_imports_are_edges_too():
    counts = count_relations(build_graph(corpus_of(**SMALL)))
    assert (counts["contains"], counts["imports"], counts["external"], counts["unresolved"]) == (2, 1, 1, 1)


def test_a_graph_survives_saving(tmp_path):
    corpus = corpus_of(**SMALL)
    graph = build_graph(corpus)
    save_graph(graph, tmp_path / "callgraph.json")
    again = load_graph(tmp_path / "callgraph.json", corpus)
    assert sorted(again.edges(keys=True, data=True)) == sorted(graph.edges(keys=True, data=True))
    assert again.graph == graph.graph
    assert again.nodes["main.py::run"]["chunk"] is corpus["main.py::run"]
    assert "chunk" not in load_graph(tmp_path / "callgraph.json").nodes["main.py::run"]


def test_a_graph_of_another_state_is_refused(tmp_path):
    save_graph(build_graph(corpus_of(**SMALL)), tmp_path / "g.json")
    with pytest.raises(ValueError, match=r"another state of the repository"):
        load_graph(tmp_path / "g.json", corpus_of(util=SMALL["util"]))
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(ValueError, match="no saved graph"):
        load_graph(tmp_path / "x.json")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(ValueError, match="no JSON"):
        load_graph(tmp_path / "x.json")


def test_reversing_turns_callees_into_callers():
    graph = build_graph(corpus_of(**SMALL))
    assert ("util.py::helper", "main.py::run") in calls(reverse(graph))
    assert calls(reverse(reverse(graph))) == calls(graph)


def test_an_unknown_resolver_names_the_real_ones():
    with pytest.raises(ValueError, match=r"'magic' is no resolver; give one of 'name', 'import', 'type', 'flow'"):
        build_graph(corpus_of(**SMALL), "magic")


def test_a_part_of_a_corpus_gives_the_part_of_the_graph():
    part = corpus_of(**SMALL).where(path="main.py")
    graph = build_graph(part)
    assert set(graph.nodes) == {"main.py", "main.py::run"}
    assert calls(graph) == {("main.py", "main.py::run")}


def test_facts_that_are_missing_are_read_again():
    whole = corpus_of(**SMALL)
    assert calls(build_graph(Corpus(whole.chunks))) == calls(build_graph(whole))


def test_an_empty_corpus_has_an_empty_graph():
    graph = build_graph(Corpus([]))
    assert len(graph) == 0 and graph.graph["external"] == []
