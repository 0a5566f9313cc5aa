"""Walks: hop by hop on graphs drawn by hand, parity with networkx, and caps that are never exceeded."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import networkx as nx
import pytest
from graphs import chunk, graph_of
from hypothesis import given, settings
from hypothesis import strategies as st

from codekb.limits import KINDS, REVERSED, Limits, check_weights
from codekb.resolve.edges import RELATIONS
from codekb.text import count_tokens
from codekb.walk import best_first, breadth_first, neighbours

#   seed → a → b → c    hub is called by seed, x, y, z    other/far.py is another module
EDGES = [
    ("m.py::seed", "m.py::a"),
    ("m.py::a", "m.py::b"),
    ("m.py::b", "m.py::c"),
    ("m.py::seed", "m.py::hub"),
    ("m.py::x", "m.py::hub"),
    ("m.py::y", "m.py::hub"),
    ("m.py::z", "m.py::hub"),
    ("m.py::a", "other/far.py::d"),
]


def ids(visits: list) -> list[str]:
    return [v.id.rpartition("::")[2] for v in visits]


def test_breadth_first_goes_hop_by_hop_and_by_id_within_one() -> None:
    graph, seeds = graph_of(EDGES), {"m.py::seed": 1.0}
    assert ids(breadth_first(graph, seeds, Limits(hops=0))) == ["seed"]
    assert ids(breadth_first(graph, seeds, Limits(hops=1))) == ["seed", "a", "hub"]
    assert ids(breadth_first(graph, seeds, Limits(hops=2))) == ["seed", "a", "hub", "b", "d"]
    assert ids(breadth_first(graph, seeds, Limits(hops=9))) == ["seed", "a", "hub", "b", "d", "c"]


def test_every_limit_is_a_switch_of_its_own() -> None:
    graph, seeds = graph_of(EDGES), {"m.py::seed": 1.0}

    def reached(**limits: object) -> set[str]:
        return set(ids(breadth_first(graph, seeds, Limits(hops=2, direction="both", **limits))))  # type: ignore[arg-type]

    free = {"seed", "a", "hub", "b", "d", "x", "y", "z"}
    assert reached() == free
    assert reached(same_module=True) == free - {"d"}
    assert reached(max_in_degree=3) == free - {"x", "y", "z"}
    assert reached(max_in_degree=4) == free
    assert reached(max_out_degree=1) == {"seed"}
    assert reached(max_chunks=2) == {"seed", "a"}
    assert reached(relations=("uses",)) == {"seed"}
    assert reached(kinds=("class",)) == set()
    assert set(ids(breadth_first(graph, seeds, Limits(hops=2, direction="in")))) == {"seed"}


def test_doubtful_edges_are_dropped_on_demand() -> None:
    graph = graph_of([("m.py::f", "m.py::sure"), ("m.py::f", "m.py::doubtful", "calls", 0.3)])
    assert ids(breadth_first(graph, {"m.py::f": 1.0}, Limits(min_confidence=0.5))) == ["f", "sure"]


def test_the_way_names_each_step_and_its_direction() -> None:
    visits = breadth_first(graph_of(EDGES), {"m.py::seed": 1.0}, Limits(hops=2, direction="both"))
    way = next(v for v in visits if v.id == "m.py::x").via
    assert [(s.source, s.relation, s.target, s.line) for s in way] == [
        ("m.py::seed", "calls", "m.py::hub", 4),
        ("m.py::hub", "called by", "m.py::x", 5),
    ]
    assert next(v for v in visits if v.id == "m.py::seed").via == ()


def test_modules_and_lambdas_are_walked_through_and_not_returned() -> None:
    quick = chunk("m.py::f.<lambda1>", kind="lambda")
    graph = graph_of(
        [("m.py::f", "m.py::f.<lambda1>"), ("m.py::f.<lambda1>", "m.py::g"), ("m.py", "m.py::f"), ("m.py", "m.py::h")],
        chunks=[quick],
    )
    assert ids(breadth_first(graph, {"m.py::f": 1.0}, Limits(hops=2, direction="both"))) == ["f", "g", "h"]


def test_members_cost_no_hop_on_demand() -> None:
    graph = graph_of(
        [
            ("h.py::handle", "s.py::Sub.run"),
            ("s.py::Sub", "s.py::Sub.run", "contains"),
            ("s.py::Sub", "b.py::Base", "inherits"),
            ("b.py::Base", "b.py::Base.run", "contains"),
        ],
        chunks=[chunk("s.py::Sub", kind="class"), chunk("b.py::Base", kind="class")],
    )
    seeds, limits = {"h.py::handle": 1.0}, {"relations": RELATIONS, "direction": "both"}
    assert "Base.run" not in ids(breadth_first(graph, seeds, Limits(hops=3, **limits)))
    assert "Base.run" in ids(breadth_first(graph, seeds, Limits(hops=4, **limits)))
    free = {v.id: v.hops for v in breadth_first(graph, seeds, Limits(hops=2, free_members=True, **limits))}
    assert free["b.py::Base.run"] == 2


def test_best_first_multiplies_weights_confidence_and_decay() -> None:
    graph = graph_of(
        [("m.py::f", "m.py::g"), ("m.py::g", "m.py::h", "inherits", 0.5), ("m.py::f", "m.py::u", "uses")],
    )
    limits = Limits(hops=2, relations=("calls", "inherits", "uses"))
    weights = {"calls": 0.8, "inherits": 1.0, "uses": 0.1}
    found = best_first(graph, {"m.py::f": 2.0}, limits, weights, decay=0.5)
    assert [(v.id, pytest.approx(v.strength)) for v in found] == [
        ("m.py::f", 2.0),
        ("m.py::g", 2.0 * 0.8 * 0.5),
        ("m.py::h", 2.0 * 0.8 * 0.5 * 1.0 * 0.5 * 0.5),
        ("m.py::u", 2.0 * 0.1 * 0.5),
    ]


def test_a_relation_without_a_weight_is_not_walked_and_a_reverse_has_its_relations_weight() -> None:
    graph = graph_of([("m.py::f", "m.py::g"), ("m.py::f", "m.py::u", "uses"), ("m.py::x", "m.py::f")])
    limits = Limits(relations=("calls", "uses"), direction="both")
    assert ids(best_first(graph, {"m.py::f": 1.0}, limits, {"calls": 0.5})) == ["f", "g", "x"]
    assert ids(best_first(graph, {"m.py::f": 1.0}, limits, {"calls": 0.5, "called by": 0.0})) == ["f", "g"]


def test_best_first_takes_the_stronger_of_two_ways() -> None:
    graph = graph_of(
        [("m.py::f", "m.py::t", "uses"), ("m.py::f", "m.py::g"), ("m.py::g", "m.py::t")],
    )
    weights = {"calls": 1.0, "uses": 0.1}
    found = best_first(graph, {"m.py::f": 1.0}, Limits(hops=2, relations=("calls", "uses")), weights, decay=0.5)
    assert [s.source for s in next(v for v in found if v.id == "m.py::t").via] == ["m.py::f", "m.py::g"]


def test_a_chunk_too_large_for_the_tokens_left_is_passed_over_for_a_smaller_one() -> None:
    big, small = chunk("m.py::big", code="x" * 900), chunk("m.py::small", code="x" * 36)
    graph = graph_of([("m.py::f", "m.py::big"), ("m.py::f", "m.py::small")], chunks=[big, small])
    assert ids(breadth_first(graph, {"m.py::f": 1.0}, Limits(max_tokens=30))) == ["f", "small"]


def test_an_unknown_seed_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match=r"m\.py::nowhere"):
        breadth_first(graph_of(EDGES), {"m.py::nowhere": 1.0}, Limits())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"direction": "up"}, "direction must be one of"),
        ({"relations": ("call",)}, r"unknown relations \['call'\]"),
        ({"kinds": ("method",)}, "unknown kinds"),
        ({"hops": -1}, "hops must be 0 or more"),
        ({"max_chunks": -1}, "max_chunks must be 0 or more"),
    ],
)
def test_wrong_limits_say_what_there_is(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**wrong)


def test_a_lone_relation_name_is_no_tuple() -> None:
    with pytest.raises(TypeError, match=r"\('calls',\)"):
        Limits(relations="calls")  # type: ignore[arg-type]


def test_weights_are_checked() -> None:
    with pytest.raises(ValueError, match="no relation 'call'"):
        check_weights({"call": 1.0})
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        check_weights({"calls": 1.5})


def test_neighbours_stand_in_line_order_without_the_chunk_itself() -> None:
    graph = graph_of([("m.py::f", "m.py::z"), ("m.py::f", "m.py::f"), ("m.py::f", "m.py::a"), ("m.py::q", "m.py::f")])
    assert list(neighbours(graph, "m.py::f")) == ["m.py::z", "m.py::a"]
    assert list(neighbours(graph, "m.py::f", reverse=True)) == ["m.py::q"]


def random_graph(seed: int, size: int = 40) -> nx.MultiDiGraph:
    rng = random.Random(seed)
    kinds = ["function", "function", "function", "class", "module", "lambda"]
    chunks = [
        chunk(f"p{i % 4}.py::n{i:02}", kind=rng.choice(kinds), code="x" * rng.randint(1, 300)) for i in range(size)
    ]
    edges = {
        (rng.choice(chunks).id, rng.choice(chunks[: 1 + i % size]).id, rng.choice(RELATIONS)) for i in range(4 * size)
    }
    return graph_of([(*e, rng.choice((0.3, 0.6, 1.0))) for e in sorted(edges)], chunks=chunks)


LIMITS = st.builds(
    Limits,
    hops=st.integers(0, 4),
    relations=st.lists(st.sampled_from(RELATIONS), unique=True).map(tuple),
    direction=st.sampled_from(["in", "out", "both"]),
    same_module=st.booleans(),
    max_in_degree=st.none() | st.integers(0, 6),
    max_out_degree=st.none() | st.integers(0, 6),
    max_chunks=st.none() | st.integers(0, 12),
    max_tokens=st.none() | st.integers(0, 400),
    min_confidence=st.sampled_from([0.0, 0.5]),
    free_members=st.booleans(),
    kinds=st.lists(st.sampled_from(KINDS), unique=True).map(tuple),
)
WEIGHTS = st.fixed_dictionaries({r: st.sampled_from([0.0, 0.3, 1.0]) for r in RELATIONS})


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 30), limits=LIMITS, weights=st.none() | WEIGHTS)
def test_no_walk_exceeds_its_limits(seed: int, limits: Limits, weights: dict | None) -> None:
    graph = random_graph(seed)
    seeds = {node: 1.0 / (i + 1) for i, node in enumerate(sorted(graph)[3:6])}
    found = breadth_first(graph, seeds, limits) if weights is None else best_first(graph, seeds, limits, weights)
    assert len({v.id for v in found}) == len(found)
    assert limits.max_chunks is None or len(found) <= limits.max_chunks
    assert limits.max_tokens is None or sum(count_tokens(v.chunk.code) for v in found) <= limits.max_tokens
    for visit in found:
        assert visit.chunk.kind in limits.kinds
        assert visit.hops <= limits.hops
        assert limits.free_members or len(visit.via) == visit.hops
        for step in visit.via:
            back = step.relation not in RELATIONS
            relation = next(r for r, name in REVERSED.items() if step.relation in (r, name))
            assert graph.has_edge(*((step.target, step.source) if back else (step.source, step.target)), relation)
            assert relation in limits.relations
            assert limits.direction in ("both", "in" if back else "out")
            assert step.confidence >= limits.min_confidence
            assert not limits.same_module or step.source.split("::")[0] == step.target.split("::")[0]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 30),
    hops=st.integers(0, 4),
    cap=st.integers(0, 30),
    members=st.booleans(),
    kinds=st.sampled_from([("function", "class"), ("function",), KINDS]),
)
def test_a_cap_on_chunks_cuts_the_uncapped_walk_short_and_changes_nothing_else(
    seed: int, hops: int, cap: int, members: bool, kinds: tuple[str, ...]
) -> None:
    graph = random_graph(seed)
    seeds = {sorted(graph)[3]: 1.0, sorted(graph)[4]: 0.5}
    free = Limits(hops=hops, relations=RELATIONS, direction="both", max_chunks=None, free_members=members, kinds=kinds)
    capped = replace(free, max_chunks=cap)
    weights = {"calls": 0.8, "uses": 0.5, "inherits": 1.0, "contains": 0.2, "imports": 0.1}
    assert breadth_first(graph, seeds, capped) == breadth_first(graph, seeds, free)[:cap]
    assert best_first(graph, seeds, capped, weights) == best_first(graph, seeds, free, weights)[:cap]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 30), hops=st.integers(0, 5))
def test_hops_are_those_of_the_shortest_path(seed: int, hops: int) -> None:
    graph = random_graph(seed)
    start = sorted(graph)[3]
    limits = Limits(hops=hops, relations=RELATIONS, direction="both", max_chunks=None, kinds=KINDS)
    wanted = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True), start, cutoff=hops)
    assert {v.id: v.hops for v in breadth_first(graph, {start: 1.0}, limits)} == wanted


def test_walks_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from test_walk import *\n"
        "limits = Limits(hops=3, relations=RELATIONS, direction='both', max_chunks=15)\n"
        "for s in range(5):\n"
        "    graph = random_graph(s); start = {n: 1.0 for n in sorted(graph)[:3]}\n"
        "    print(ids(breadth_first(graph, start, limits)), ids(best_first(graph, start, limits, {'calls': 0.5})))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("n0") > 5
