"""Structure lines: the published form, `(none)`, Go comments, and caps that keep hubs quiet."""

from __future__ import annotations

from graphs import chunk, graph_of

from codekb.graph_text import Lines, structure, structure_lines

EDGES = [
    ("payment/checkout.py::process", "payment/stripe.py::charge"),
    ("payment/checkout.py::process", "payment/checkout.py::total"),
    ("payment/checkout.py::Retry.run", "payment/checkout.py::process"),
]


def test_the_lines_name_module_callers_and_callees() -> None:
    graph = graph_of(EDGES)
    assert structure_lines(graph.nodes["payment/checkout.py::process"]["chunk"], graph) == [
        "# module: payment.checkout",
        "# called_by: Retry.run",
        "# calls: charge, total",
    ]
    assert structure_lines(graph.nodes["payment/stripe.py::charge"]["chunk"], graph)[2] == "# calls: (none)"


def test_a_chunk_outside_of_the_graph_has_nobody() -> None:
    assert structure_lines(chunk("a.py::f"), graph_of([])) == ["# module: a", "# called_by: (none)", "# calls: (none)"]


def test_go_comments_and_packages() -> None:
    assert structure_lines(chunk("db/sql/query.go::F"), graph_of([]))[0] == "// module: db.sql"


def test_a_hubs_callers_are_capped_and_a_line_can_be_left_out() -> None:
    graph = graph_of([(f"a.py::f{i:03}", "a.py::hub") for i in range(300)])
    hub = graph.nodes["a.py::hub"]["chunk"]
    assert structure_lines(hub, graph, Lines(module=False, called_by=2, calls=0)) == ["# called_by: f000, f001"]
    assert len(structure(hub, graph)) < 200


def test_the_lines_stand_between_header_and_code() -> None:
    graph = graph_of(EDGES)
    text = structure(graph.nodes["payment/stripe.py::charge"]["chunk"], graph)
    assert text.split("\n") == [
        "File: payment/stripe.py | Package: payment | Function: charge",
        "# module: payment.stripe",
        "# called_by: process",
        "# calls: (none)",
        "",
        "pass",
    ]
