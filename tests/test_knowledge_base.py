"""The facade: every switch changes what it says, parts sum to the score, wrong choices name the right ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codekb.knowledge_base import GRAPHS, METHODS, KnowledgeBase
from codekb.walk import Limits

SOURCES = {
    "cli/root.py": "def execute(argv):\n    '''Run a command from the command line.'''\n    return dispatch(argv)\n\n\n"
    "def dispatch(argv):\n    return argv[0]\n",
    "db/query.py": "from db.retry import with_retry\n\n\ndef execute(sql):\n    '''Run a statement.'''\n"
    "    return with_retry(sql)\n",
    "db/retry.py": "import time\n\n\ndef with_retry(call, attempts=3):\n    for wait in range(attempts):\n"
    "        time.sleep(wait)\n    return call\n",
    "client/http.py": "def fetch(url):\n    '''Run a request.'''\n    return url\n",
    "tests/test_root.py": "from cli.root import execute\n\n\ndef test_execute_runs_a_command():\n"
    "    assert execute(['command']) == 'command'\n",
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    root = tmp_path_factory.mktemp("repo")
    for path, text in SOURCES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return KnowledgeBase.build(root)


OPTIONS = [
    {},
    {"hybrid": False},
    {"method": "keyword"},
    {"fusion": "rrf"},
    {"priors": False},
    {"priors": ["names"]},
    {"text": "body"},
    {"text": "structure"},
    {"scorer": "overlap"},
    {"graph": "one_hop"},
    {"graph": "typed"},
    {"graph": "propagate"},
    {"graph": Limits(hops=2, direction="both")},
    {"boost": ["retry"], "suppress": ["command"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_option_gives_hits_in_order_whose_parts_sum_to_the_score(kb: KnowledgeBase, options: dict) -> None:
    found = kb.search("run a command", 5, **options)
    assert 0 < len(found) <= 5
    for hit in found:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
    if options.get("graph") != "typed":  # reserved places stand by place, not by score
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


def test_the_same_question_twice_gives_the_same_answer(kb: KnowledgeBase) -> None:
    assert repr(kb.search("run a command")) == repr(kb.search("run a command"))


def test_a_namespace_keeps_what_lies_in_it_and_an_unknown_one_is_named(kb: KnowledgeBase) -> None:
    assert {hit.chunk.namespace for hit in kb.search("run a request", namespace="cli")} == {"cli"}
    with pytest.raises(ValueError, match=r"no namespace 'clx'.*client"):
        kb.search("x", namespace="clx")


def test_tests_can_be_left_out(kb: KnowledgeBase) -> None:
    everything = kb.search("test execute runs a command").ids
    assert "tests/test_root.py::test_execute_runs_a_command" in everything
    assert not any(i.startswith("tests/") for i in kb.search("test execute runs a command", include_tests=False).ids)


def test_a_walk_says_how_it_came_there(kb: KnowledgeBase) -> None:
    found = kb.search("run a statement", 10, method="keyword", namespace="db", graph="one_hop")
    hit = found["db/retry.py::with_retry"]
    assert [(s.source, s.relation) for s in hit.via] == [("db/query.py::execute", "calls")]


def test_related_hits_stand_beside_an_unchanged_ranking(kb: KnowledgeBase) -> None:
    plain, both = kb.search("run a statement", 1), kb.search("run a statement", 1, related=5)
    assert plain.ids == both.ids and plain.related is None
    assert both.related is not None and all(hit.via for hit in both.related)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"method": "sparse"}, METHODS),
        ({"graph": "walk"}, GRAPHS),
        ({"text": "header"}, ("enriched",)),
        ({"scorer": "tfidf"}, ("bm25",)),
        ({"fusion": "sum"}, ("rrf",)),
        ({"priors": ["luck"]}, ("names",)),
    ],
)
def test_an_unknown_choice_lists_the_real_ones(kb: KnowledgeBase, options: dict, names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError) as caught:
        kb.search("x", **options)
    assert all(name in str(caught.value) for name in names)


def test_bad_questions_and_counts_are_errors(kb: KnowledgeBase) -> None:
    with pytest.raises(ValueError, match="at least one"):
        kb.search("x", k=0)
    with pytest.raises(TypeError, match="question is text"):
        kb.search(None)  # type: ignore[arg-type]


ODD = ["", " ", "!!!", "ß∂ƒ", "x" * 100_000, "\0", 'def f(:\n  File "a.py", line 3, in f']


@pytest.mark.parametrize("query", ODD)
def test_odd_questions_never_raise(kb: KnowledgeBase, query: str) -> None:
    for method in METHODS:
        kb.search(query, method=method)
    kb.search(query)


def test_an_empty_repository_answers_with_nothing(tmp_path: Path) -> None:
    empty = KnowledgeBase.build(tmp_path)
    for method in METHODS:
        assert len(empty.search("anything", method=method)) == 0
    assert len(empty.search("anything", graph="one_hop", related=3)) == 0
    assert empty.graph.number_of_nodes() == 0


def test_building_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): pass\n")
    KnowledgeBase.build(tmp_path).search("f", graph="one_hop")
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.parametrize("k", [1.5, "3", None, True])
def test_k_is_a_whole_number(kb: KnowledgeBase, k: object) -> None:
    for method in METHODS:
        with pytest.raises(TypeError, match="whole number of results"):
            kb.search("x", k=k, method=method)  # type: ignore[arg-type]


def test_k_may_be_a_number_of_numpy(kb: KnowledgeBase) -> None:
    assert len(kb.search("run", k=np.int64(2))) == 2
