"""Expansion, merging, related hits: the tutorial's worked example, sums of parts, and what no limit can do."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import pytest
from graphs import chunk, graph_of, ranking_of
from hypothesis import given, settings
from hypothesis import strategies as st

from codekb.expansion import (
    ONE_HOP,
    Cue,
    add_evidence,
    edge_weights,
    expand,
    keep_tail,
    matching_cues,
    one_hop,
    related,
    reserve,
)
from codekb.limits import Limits
from codekb.markup import annotation
from codekb.ranking import Hit, Ranking
from codekb.resolve.edges import RELATIONS

CONNECT, PING, EXECUTE = "db/connection.go::Connect", "db/connection.go::Ping", "db/query.go::Execute"
RETRY, TRANSACTION = "db/retry.go::withRetry", "db/query.go::Transaction"


def pooling() -> tuple[nx.MultiDiGraph, Ranking]:
    graph = graph_of([(CONNECT, RETRY), (TRANSACTION, EXECUTE)], chunks=[chunk(PING)])
    scores = {CONNECT: 0.8341, PING: 0.7812, EXECUTE: 0.7234, TRANSACTION: 0.6891, RETRY: 0.4102}
    return graph, ranking_of(graph, scores, query="database connection pooling")


def test_the_published_one_hop_example() -> None:
    graph, ranking = pooling()
    found = one_hop(graph, ranking)
    assert [(h.chunk.name, h.score, annotation(h)) for h in found] == [
        ("Connect", 0.8341, "match"),
        ("Ping", 0.7812, "match"),
        ("Execute", 0.7234, "match"),
        ("Transaction", 0.6891, "caller of Execute"),
        ("withRetry", 0.4102, "callee of Connect"),
    ]
    assert found.query == "database connection pooling"


def test_as_many_seeds_as_results_changes_annotations_only() -> None:
    graph, ranking = pooling()
    assert one_hop(graph, ranking, seeds=5).ids == ranking.ids[:5]


def test_without_scores_a_neighbour_gets_its_seeds_score_with_decay() -> None:
    graph, ranking = pooling()
    found = expand(graph, ranking[:1], ONE_HOP, decay=0.5)
    assert found[RETRY].score == pytest.approx(0.8341 / 2)
    assert found[CONNECT].parts == {"dense": 0.8341}
    assert found[RETRY].parts == {"graph": pytest.approx(0.8341 / 2)}


def test_scores_may_be_plain_numbers_and_a_missing_one_counts_nothing() -> None:
    graph, ranking = pooling()
    found = expand(graph, ranking[:1], ONE_HOP, scores={CONNECT: 0.2})
    assert [(h.chunk.id, h.score) for h in found] == [(CONNECT, 0.2), (RETRY, 0.0)]


def test_seeds_that_are_no_nodes_are_an_error() -> None:
    graph, ranking = pooling()
    with pytest.raises(KeyError, match="was it built from this corpus"):
        expand(nx.MultiDiGraph(), ranking[:1])
    assert len(expand(graph, Ranking([]))) == 0


def test_cues_raise_the_weights_of_their_relations() -> None:
    plain = edge_weights()
    handled = edge_weights("How does a request get handled")
    assert handled["called by"] == 1.0 > plain["called by"]
    assert edge_weights("which subclasses are there")["inherited by"] == 1.0
    assert edge_weights("parse the header") == plain
    mine = [Cue(r"\bexample\b", ("imports",))]
    assert edge_weights("an example", cues=mine)["imports"] == 1.0
    assert matching_cues("an example", mine) == [("example", mine[0])]
    assert set(plain) == {name for pair in zip(RELATIONS, RELATIONS, strict=True) for name in pair} | {
        "called by",
        "used by",
        "inherited by",
        "overridden by",
        "imported by",
        "contained in",
    }


def line_graph() -> tuple[nx.MultiDiGraph, Ranking]:
    graph = graph_of([(f"m.py::f{i}", f"m.py::f{i + 1}") for i in range(9)])
    return graph, ranking_of(graph, {f"m.py::f{i}": 1.0 - i / 10 for i in range(0, 10, 2)}, query="q")


def test_reserved_slots_hold_what_the_walk_reached_and_drop_nothing() -> None:
    graph, ranking = line_graph()
    walk = expand(graph, ranking[:2], ONE_HOP)
    found = reserve(ranking, walk, k=4, slots=2)
    assert found.ids[:4] == ["m.py::f0", "m.py::f2", "m.py::f1", "m.py::f3"]
    assert set(found.ids) >= set(ranking.ids)
    assert reserve(ranking, walk, k=4, slots=0).ids == ranking.ids
    with pytest.raises(ValueError, match="slots must lie between"):
        reserve(ranking, walk, k=2, slots=3)


def test_evidence_adds_a_share_and_drops_nothing() -> None:
    graph, ranking = line_graph()
    walk = expand(graph, ranking[:2], Limits(hops=2, direction="both"))
    found = add_evidence(ranking, walk, share=0.2)
    assert set(found.ids) == set(ranking.ids) | set(walk.ids)
    assert found["m.py::f4"].parts == {
        "dense": pytest.approx(0.6),
        "graph": pytest.approx(0.2 * walk["m.py::f4"].score),
    }
    assert found["m.py::f4"].via
    assert all(math.isclose(h.score, sum(h.parts.values())) for h in found)


def test_a_kept_tail_makes_reranking_by_the_same_score_a_no_op() -> None:
    graph, ranking = line_graph()
    walk = expand(graph, ranking[:2], ONE_HOP, scores=ranking)
    joined = keep_tail(walk, ranking, depth=5)
    assert joined.ids[:5] == ranking.ids[:5]


def test_related_stands_beside_the_ranking() -> None:
    graph, ranking = line_graph()
    found = related(graph, ranking, k=3)
    assert len(found) == 3
    assert not set(found.ids) & set(ranking.ids)
    assert all(h.via and h.via[0].source in ranking.ids for h in found)
    assert related(nx.MultiDiGraph(), ranking).ids == []


def test_a_search_score_counts_beside_the_strength_of_the_walk() -> None:
    graph, ranking = line_graph()
    plain = related(graph, ranking[:1], k=5)
    lifted = related(graph, ranking[:1], k=5, scores={plain.ids[-1]: 5.0})
    assert lifted.ids[0] == plain.ids[-1]
    assert set(lifted[0].parts) == {"similarity", "graph"}
    assert math.isclose(lifted[0].score, sum(lifted[0].parts.values()))


CHUNKS = [chunk(f"p{i % 3}.py::n{i:02}") for i in range(30)]
EDGES = st.lists(st.tuples(st.sampled_from(CHUNKS), st.sampled_from(CHUNKS), st.sampled_from(RELATIONS)), max_size=60)
SCORES = st.lists(st.floats(0, 1), min_size=30, max_size=30)


@settings(max_examples=100, deadline=None)
@given(edges=EDGES, scores=SCORES, limits=st.sampled_from([ONE_HOP, replace(ONE_HOP, hops=2), Limits(max_in_degree=1)]))
def test_reranking_a_subset_by_the_same_score_demotes_nothing(edges: list, scores: list[float], limits: Limits) -> None:
    """What the search had in its first five and the expansion lost was no candidate; what was one stays in the five."""
    graph = graph_of([(a.id, b.id, r) for a, b, r in edges], chunks=CHUNKS)
    ranking = ranking_of(graph, {c.id: s for c, s in zip(CHUNKS, scores, strict=True)})
    candidates = expand(graph, ranking[:3], limits, scores=ranking)
    assert candidates.ids[:3] == ranking.ids[:3]
    for chunk_id in ranking.ids[:5]:
        if chunk_id in candidates.ids:
            assert candidates.ids.index(chunk_id) <= ranking.ids.index(chunk_id)
    free = expand(graph, ranking[:3], replace(limits, hops=9, direction="both", max_in_degree=None), scores=ranking)
    assert set(candidates.ids) <= set(free.ids)


@settings(max_examples=100, deadline=None)
@given(edges=EDGES, scores=SCORES)
def test_parts_sum_to_the_score_and_ties_stand_by_id(edges: list, scores: list[float]) -> None:
    graph = graph_of([(a.id, b.id, r) for a, b, r in edges], chunks=CHUNKS)
    ranking = ranking_of(graph, {c.id: round(s, 1) for c, s in zip(CHUNKS, scores, strict=True)})
    walk = expand(graph, ranking[:4], Limits(hops=2, relations=RELATIONS, direction="both"), weights=edge_weights())
    for found in (walk, add_evidence(ranking, walk), related(graph, ranking[:4])):
        assert found.ids == [h.chunk.id for h in sorted(found, key=lambda h: (-h.score, h.chunk.id))]
        for hit in found:
            assert math.isclose(hit.score, sum(hit.parts.values()), abs_tol=1e-12)


def test_hits_of_a_ranking_keep_their_remarks_when_reranked() -> None:
    graph, ranking = pooling()
    noted = Ranking([replace(h, why=("name match",)) for h in ranking])
    assert all(h.why == ("name match",) for h in one_hop(graph, noted))
    assert isinstance(one_hop(graph, noted)[0], Hit)
