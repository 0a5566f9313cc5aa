"""Spreading: parity with networkx's PageRank, mass that sums to one, and vectors blended by hand."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from graphs import graph_of, ranking_of

from codekb.propagation import Spread, blend_vectors

EDGES = [
    ("m.py::a", "m.py::b"),
    ("m.py::b", "m.py::c"),
    ("m.py::c", "m.py::a", "uses"),
    ("m.py::c", "m.py::d", "inherits", 0.5),
    ("m.py::e", "m.py::f"),
]
WEIGHTS = {"calls": 0.8, "called by": 0.4, "uses": 0.5, "inherits": 1.0}


def test_mass_is_that_of_networkx_pagerank() -> None:
    graph = graph_of(EDGES)
    plain = nx.DiGraph()
    plain.add_nodes_from(sorted(graph))
    for source, target, relation, data in graph.edges(keys=True, data=True):
        back = WEIGHTS["called by"] if relation == "calls" else WEIGHTS[relation]
        for a, b, weight in ((source, target, WEIGHTS[relation]), (target, source, back)):
            before = plain.get_edge_data(a, b, {"weight": 0.0})["weight"]
            plain.add_edge(a, b, weight=before + weight * data["confidence"])
    seeds = {"m.py::a": 3.0, "m.py::b": 1.0}
    wanted = nx.pagerank(plain, alpha=0.5, personalization=seeds, tol=1e-12)
    spread = Spread(graph, weights=WEIGHTS, damping=0.5)
    found = dict(zip(spread.ids, spread.scores(seeds), strict=True))
    assert found == pytest.approx(wanted, abs=1e-3)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["m.py::e"] == found["m.py::f"] == 0.0


def test_mass_where_no_edge_leaves_returns_to_the_seeds() -> None:
    spread = Spread(graph_of([("m.py::a", "m.py::b")]), weights={"calls": 1.0, "called by": 0.0})
    a, b = spread.scores({"m.py::a": 1.0})
    assert a + b == pytest.approx(1.0)
    assert b == pytest.approx(1 / 3, abs=1e-3)


def test_a_propagated_ranking_sums_and_keeps_everybody() -> None:
    graph = graph_of(EDGES)
    ranking = ranking_of(graph, {"m.py::a": 0.9, "m.py::e": 0.8, "m.py::d": 0.1})
    found = Spread(graph).rank(ranking, seeds=1, share=0.3)
    assert set(found.ids) == {"m.py::a", "m.py::b", "m.py::c", "m.py::d", "m.py::e"}
    assert found[0].chunk.id == "m.py::a"
    assert found["m.py::e"].score == pytest.approx(0.7 * 0.8 / 0.9)
    assert all(math.isclose(h.score, sum(h.parts.values())) for h in found)


def test_nothing_to_spread_leaves_a_ranking_alone() -> None:
    graph = graph_of(EDGES)
    assert Spread(graph).rank(ranking_of(graph, {})).ids == []
    assert Spread(graph_of([])).rank(ranking_of(graph, {"m.py::a": 0.5})).ids == ["m.py::a"]


def test_wrong_input_is_named() -> None:
    graph = graph_of(EDGES)
    with pytest.raises(ValueError, match="damping"):
        Spread(graph, damping=1.0)
    with pytest.raises(KeyError, match="nowhere"):
        Spread(graph).scores({"nowhere": 1.0})


def test_blended_vectors_move_towards_their_neighbours() -> None:
    graph = graph_of([("m.py::a", "m.py::b"), ("m.py::a", "m.py::outside")])
    vectors = np.eye(3, dtype=np.float32)
    found = blend_vectors(vectors, ["m.py::a", "m.py::b", "m.py::lonely"], graph, share=0.25)
    length = math.hypot(0.75, 0.25)
    assert found == pytest.approx(np.array([[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0, length]]) / length, abs=1e-6)
    assert found.dtype == np.float32


def test_blending_nothing_is_the_identity() -> None:
    vectors = np.eye(2, dtype=np.float32)
    assert np.array_equal(blend_vectors(vectors, ["x", "y"], graph_of([])), vectors)
    with pytest.raises(ValueError, match="1 ids for 2 vectors"):
        blend_vectors(vectors, ["x"], graph_of([]))
