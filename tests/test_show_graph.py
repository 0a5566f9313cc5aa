"""What is drawn around a ranking, and as which pyvis network: roles, places, caps, plain text, no network access."""

from __future__ import annotations

import networkx as nx

from codekb.chunks import Chunk
from codekb.ranking import Hit, Step
from codekb.show.graph import GraphView, payload
from codekb.show.neighbourhood import around


def chunk(name: str, marks: tuple[str, ...] = ()) -> Chunk:
    return Chunk(
        f"m.py::{name}", "function", name, name, "", "m.py", 1, 2, "python", f"def {name}()", "", "", (), marks
    )


def graph(*edges: tuple[str, str, str, float], tests: tuple[str, ...] = ()) -> nx.MultiDiGraph:
    made = nx.MultiDiGraph()
    for name in sorted({n for a, b, _, _ in edges for n in (a, b)}):
        made.add_node(f"m.py::{name}", chunk=chunk(name, ("test",) if name in tests else ()))
    for a, b, relation, confidence in edges:
        made.add_edge(
            f"m.py::{a}", f"m.py::{b}", key=relation, relation=relation, confidence=confidence,
            reason="imported name", line=7, lines=[7],
        )  # fmt: skip
    return made


CODE = graph(("main", "connect", "calls", 1.0), ("connect", "retry", "calls", 0.5), ("connect", "Base", "uses", 1.0))


def roles(view) -> dict[str, str]:
    return {spot.chunk.name: spot.role for spot in view.spots}


def test_callers_stand_left_and_callees_right_of_a_match():
    view = around(CODE, [Hit(chunk("connect"), 1.0)])
    assert roles(view) == {"main": "caller", "connect": "match", "retry": "callee"}
    x = {spot.chunk.name: spot.x for spot in view.spots}
    assert x["main"] < x["connect"] < x["retry"]
    assert [(e.source, e.target) for e in view.lines] == [
        ("m.py::connect", "m.py::retry"),
        ("m.py::main", "m.py::connect"),
    ]


def test_hit_that_the_graph_brought_stands_on_the_side_it_was_reached_over():
    step = Step("m.py::connect", "called by", "m.py::main", 7, 1.0, "")
    view = around(CODE, [Hit(chunk("connect"), 1.0), Hit(chunk("main"), 0.5, via=(step,))])
    places = {spot.chunk.name: (spot.role, spot.x < 0, spot.rank) for spot in view.spots}
    assert places["main"] == ("reached", True, 2)


def test_hit_that_the_graph_brought_brings_no_neighbours_of_its_own():
    code = graph(("a", "b", "calls", 1.0), ("b", "c", "calls", 1.0), ("b", "d", "calls", 1.0))
    step = Step("m.py::a", "calls", "m.py::b", 7, 1.0, "")
    view = around(code, [Hit(chunk("a"), 1.0), Hit(chunk("b"), 0.5, via=(step,))])
    assert roles(view) == {"a": "match", "b": "reached"} and view.hidden_callees == 0


def test_edge_between_a_neighbour_and_a_hit_that_the_graph_brought_is_not_drawn():
    code = graph(("a", "b", "calls", 1.0), ("a", "c", "calls", 1.0), ("c", "b", "calls", 1.0))
    step = Step("m.py::a", "calls", "m.py::b", 7, 1.0, "")
    view = around(code, [Hit(chunk("a"), 1.0), Hit(chunk("b"), 0.5, via=(step,))])
    assert [(e.source[-1], e.target[-1]) for e in view.lines] == [("a", "b"), ("a", "c")]


def test_only_edges_of_a_hit_are_drawn():
    code = graph(("a", "b", "calls", 1.0), ("b", "c", "calls", 1.0), ("a", "c", "calls", 1.0), ("c", "c", "calls", 1.0))
    view = around(code, [Hit(chunk("b"), 1.0)])
    assert [(e.source[-1], e.target[-1]) for e in view.lines] == [("a", "b"), ("b", "c")]


def placed(path: str, qualname: str, kind: str = "function") -> Chunk:
    name = qualname.rsplit(".", 1)[-1]
    return Chunk(f"{path}::{qualname}", kind, name, qualname, "", path, 1, 2, "python", "", "", "")


def labels(*chunks: Chunk) -> list[str]:
    made = payload(around(nx.MultiDiGraph(), [Hit(c, 1.0) for c in chunks], ranks={}))
    at = {node["id"]: node["label"] for node in made["nodes"]}
    return [at[c.id] for c in chunks]


def test_boxes_of_one_name_are_told_apart_by_class_file_or_folder():
    assert labels(placed("cli/root.go", "Execute"), placed("db/query.go", "Execute")) == ["cli.Execute", "db.Execute"]
    assert labels(placed("a.py", "f"), placed("b.py", "f"), placed("b.py", "g")) == ["a.f", "b.f", "g"]
    long = "AVeryLongClassNameIndeed"
    assert labels(placed("a.py", f"{long}.go"), placed("a.py", "other")) == ["go", "other"]
    assert labels(placed("a.py", f"{long}.go"), placed("a.py", "ACompletelyDifferentClass.go")) == [
        "AVeryLongCl…meIndeed.go",
        "ACompletely…entClass.go",
    ]


def test_long_names_that_would_be_cut_to_the_same_are_cut_later():
    first, second = (placed("a.py", f"single_source_{x}_shortest_path_length") for x in ("all", "one"))
    assert len(set(labels(first, second))) == 2 and labels(first) == ["single_sour…path_length"]


def test_edge_within_a_column_has_a_middle_of_its_own():
    made = payload(around(CODE, [Hit(chunk("main"), 1.0), Hit(chunk("connect"), 0.9)]))
    bent = {edge["to"]: edge.get("smooth", {}).get("type") for edge in made["edges"]}
    assert bent == {"m.py::connect": "dynamic", "m.py::retry": None}


def test_only_the_relations_asked_for_are_drawn():
    view = around(CODE, [Hit(chunk("connect"), 1.0)], relations=("uses",))
    assert roles(view) == {"connect": "match", "Base": "callee"}


def test_hidden_neighbours_are_counted_and_tests_go_first():
    many = [(f"caller{i:02}", "hub", "calls", 1.0) for i in range(9)]
    view = around(graph(*many, tests=("caller00",)), [Hit(chunk("hub"), 1.0)], max_side=4)
    assert view.hidden_callers == 5 and "caller00" not in roles(view)
    assert "5 more on the left" in payload(view)["note"]


def test_every_hit_gets_a_neighbour_before_one_gets_them_all():
    edges = [(f"a{i}", "busy", "calls", 1.0) for i in range(9)] + [("z", "quiet", "calls", 1.0)]
    view = around(graph(*edges), [Hit(chunk("busy"), 1.0), Hit(chunk("quiet"), 0.9)], max_side=4)
    assert "z" in roles(view)


def test_hit_that_the_graph_does_not_know_is_drawn_alone():
    assert roles(around(nx.MultiDiGraph(), [Hit(chunk("lonely"), 1.0)])) == {"lonely": "match"}


def test_no_two_boxes_share_a_place_and_the_order_is_fixed():
    hits = [Hit(chunk(n), 1.0) for n in ("connect", "retry", "main")]
    first, second = around(CODE, hits), around(CODE, hits)
    assert first == second
    assert len({(spot.x, spot.y) for spot in first.spots}) == len(first.spots)


def test_edges_carry_relation_confidence_and_reason_and_doubtful_ones_are_dashed():
    made = payload(around(CODE, [Hit(chunk("connect"), 1.0)]), edge_labels=True)
    edges = {edge["to"]: edge for edge in made["edges"]}
    assert edges["m.py::retry"]["dashes"] and not edges["m.py::connect"]["dashes"]
    assert edges["m.py::retry"]["title"] == "connect calls retry, line 7\nconfidence 0.50: imported name"
    assert edges["m.py::retry"]["label"] == "0.50" and edges["m.py::retry"]["arrows"]["to"]["enabled"]
    assert {e["text"] for e in made["legend"]} >= {"found by the search", "calls →", "confidence below 0.75"}


def test_numbers_on_arrows_are_in_the_legend_and_only_where_they_are_drawn():
    view = around(CODE, [Hit(chunk("connect"), 1.0)])
    assert any("number" in entry for entry in payload(view, edge_labels=True)["legend"])
    assert not any("number" in entry for entry in payload(view)["legend"])


def test_what_calls_a_result_and_is_called_by_one_has_a_role_of_its_own():
    view = around(graph(("a", "hit", "calls", 1.0), ("hit", "a", "calls", 1.0)), [Hit(chunk("hit"), 1.0)])
    assert roles(view) == {"hit": "match", "a": "both"}


def test_physics_is_off_and_names_are_plain_text():
    bad = Chunk("<b>::x", "function", "<script>", "<script>", "", "<b>", 1, 1, "python", "<img>", "", "")
    made = payload(around(nx.MultiDiGraph(), [Hit(bad, 1.0)]))
    assert made["options"]["physics"]["enabled"] is False
    assert made["nodes"][0]["label"] == "1  <script>" and "font" not in made["nodes"][0].get("title", "")
    assert "multi" not in str(made["options"].get("nodes"))  # labels are text unless font.multi is set


def test_self_loop_is_drawn_and_an_empty_view_is_empty():
    view = around(graph(("f", "f", "calls", 1.0)), [Hit(chunk("f"), 1.0)])
    assert [(e.source, e.target) for e in view.lines] == [("m.py::f", "m.py::f")]
    assert payload(around(CODE, []))["nodes"] == []


def test_library_is_isolated_and_loads_nothing_from_elsewhere():
    script = GraphView()._esm
    assert script.startswith("const define=undefined, exports=undefined, module=undefined;")
    assert "(globalThis,(function" in script and "export default" in script
    own = script[script.index("const vis = globalThis.vis") :]
    assert "http" not in own and "import " not in own
