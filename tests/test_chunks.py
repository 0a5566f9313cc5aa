"""Corpora: ids, filters, and errors that help."""

from __future__ import annotations

import pickle

import pytest

from codekb.chunks import Chunk, Corpus, Reference, in_namespace


def chunk(chunk_id: str, kind: str = "function") -> Chunk:
    path, _, qualname = chunk_id.partition("::")
    folder = path.rpartition("/")[0]
    return Chunk(chunk_id, kind, qualname or path, qualname, folder, path, 1, 2, "python", "", "", "pass")  # type: ignore[arg-type]


def corpus() -> Corpus:
    ids = ["cli/root.py::execute", "client/http.py::fetch", "db/query.py::execute"]
    return Corpus([chunk("cli/root.py", "module"), *map(chunk, ids), chunk("db/query.py::<lambda1>", "lambda")])


def test_functions_are_functions_alone_in_order() -> None:
    assert [c.id for c in corpus().functions] == [
        "cli/root.py::execute",
        "client/http.py::fetch",
        "db/query.py::execute",
    ]


def test_a_chunk_is_found_by_id_position_and_slice() -> None:
    c = corpus()
    assert c["db/query.py::execute"] is c[3] and c[1:2] == (c[1],) and "cli/root.py" in c and c.get("none") is None


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"db/query\.py::execute"):
        corpus()["db/querry.py::execute"]


def test_where_joins_its_conditions() -> None:
    assert [c.id for c in corpus().where(kind="function", namespace="cli")] == ["cli/root.py::execute"]
    assert len(corpus().where(language="go")) == 0


@pytest.mark.parametrize(
    ("path", "namespace", "inside"),
    [
        ("cli/root.py", "cli", True),
        ("cli/root.py", "cli/", True),
        ("client/http.py", "cli", False),
        ("a/cli/x.py", "cli", False),
        ("pkg/sub/x.py", "pkg/sub", True),
        ("pkg/subtle/x.py", "pkg/sub", False),
        ("anything", "", True),
    ],
)
def test_a_namespace_is_whole_leading_segments(path: str, namespace: str, inside: bool) -> None:
    assert in_namespace(path, namespace) is inside


def test_two_chunks_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        Corpus([chunk("a.py::f"), chunk("a.py::f")])


def test_an_empty_corpus_is_a_corpus() -> None:
    empty = Corpus([])
    assert len(empty) == 0 and empty.functions == () and empty.nearest("x") == [] and empty.namespaces == []


def test_chunks_and_references_travel_between_processes() -> None:
    one = chunk("a.py::f")
    assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(Reference("os.path", 3))) == Reference("os.path", 3, "call")
