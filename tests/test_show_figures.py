"""Static figures: the data as drawn, the text in their place, the same bytes twice, hostile names, empty input."""

from __future__ import annotations

import networkx as nx
import pytest

from codekb.chunks import Chunk
from codekb.ranking import Hit, Ranking, Step
from codekb.show import figures
from codekb.show.graph_figures import MAX_COLUMN, spiral
from codekb.show.picture import label

HOSTILE = "<script>$x$ \\frac{1}{ 🙂 '\"&"


def chunk(name: str, path: str = "db/query.go") -> Chunk:
    return Chunk(f"{path}::{name}", "function", name, name, "db", path, 3, 9, "go", "", "", f"func {name}()")


def ranking(names: str, title: str = "") -> Ranking:
    hits = [Hit(chunk(n), 1 / i, {"dense": 2 / i, "tests": -1 / i}) for i, n in enumerate(names.split(), 1)]
    return Ranking(hits, title=title)


def identifier(name: str) -> str:
    return chunk(name).id


def graph(*edges: tuple[str, str]) -> nx.MultiDiGraph:
    made = nx.MultiDiGraph()
    for a, b in edges:
        made.add_edge(identifier(a), identifier(b), key="calls")
    return made


def step(source: str, relation: str, target: str) -> Step:
    return Step(identifier(source), relation, identifier(target), 1, 1.0, "")


A, B = ranking("one two three four", "dense"), ranking("three one five", "keyword")
FIGURES = {
    "rank_changes": lambda: figures.rank_changes({"dense": A, "keyword": B}, answers=[identifier("three")]),
    "rank_scatter": lambda: figures.rank_scatter(A, B, answers=[identifier("three")]),
    "share_bars": lambda: figures.share_bars(A),
    "deltas": lambda: figures.deltas({"namespace": (0.1, 0.02, 0.2), "priors": (-0.1, -0.2, -0.05)}),
    "recall_against_tokens": lambda: figures.recall_against_tokens({"more": [(900, 0.5), (100, 0.2)]}),
    "before_after": lambda: figures.before_after({"q1": (5, 1), "q2": (1, 3), "q3": (2, 2)}),
    "hairball_and_ego": lambda: figures.hairball_and_ego(graph(("a", "b"), ("b", "c")), identifier("b")),
    "candidates_per_hop": lambda: figures.candidates_per_hop({"all": [3, 40, 400], "calls": [3, 5, 6]}),
    "visit_order": lambda: figures.visit_order([identifier("a")], [step("a", "calls", "b")]),
}
TEXTS = {
    "rank_changes": "Ranks, dense → keyword: three 3 → 1; one 1 → 2; two 2 → –; four 4 → –; five – → 3",
    "rank_scatter": "Rank by dense × keyword: three 3 × 1; one 1 × 2; two 2 × –; five – × 3; four 4 × –",
    "share_bars": "Shares of 4 hits by dense, tests",
    "deltas": "Δ with interval: namespace +0.100 [+0.020, +0.200]; priors -0.100 [-0.200, -0.050]",
    "recall_against_tokens": "recall against tokens: more 0.500 at 900",
    "before_after": "rank before → after: 1 better, 1 worse, 1 equal",
    "hairball_and_ego": "2 edges (calls); around b: 1 caller (a), 1 callee (c)",
    "candidates_per_hop": "Candidates per hop: all 3 → 40 → 400; calls 3 → 5 → 6",
    "visit_order": "Visit order from a: 1 b",
}


@pytest.mark.parametrize("name", FIGURES)
def test_figure_says_in_text_what_it_draws_and_is_small_and_repeatable(name):
    picture = FIGURES[name]()
    bundle = picture._repr_mimebundle_()
    assert bundle["text/plain"] == TEXTS[name]
    assert bundle["image/png"].startswith(b"\x89PNG") and len(bundle["image/png"]) < 60_000
    assert bundle["image/png"] == picture.png() == FIGURES[name]().png()


def test_every_figure_is_tested():
    elsewhere = {"Picture", "Heat", "token_heat", "resolver_panels"}  # these have tests of their own
    assert set(FIGURES) == set(figures.__all__) - elsewhere


def test_rank_lines_go_through_the_ranks_and_end_at_the_foot():
    ax = FIGURES["rank_changes"]().figure.axes[0]
    lines = {tuple(line.get_ydata()) for line in ax.lines[:5]}
    assert lines == {(1, 2), (2, 9), (3, 1), (4, 9), (9, 3)}


def test_shares_start_where_the_last_one_ended_and_harm_goes_left():
    ax = FIGURES["share_bars"]().figure.axes[0]
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert spans[0] == (0.0, 2.0) and spans[4] == (0.0, -1.0)


def test_change_of_one_ranking_is_refused():
    with pytest.raises(ValueError, match="at least two"):
        figures.rank_changes({"dense": A})


def test_interval_that_does_not_hold_its_delta_is_refused():
    with pytest.raises(ValueError, match="low ≤ delta ≤ high"):
        figures.deltas({"x": (0.3, 0.0, 0.2)})


def test_walk_that_starts_from_an_unvisited_chunk_is_refused():
    with pytest.raises(ValueError, match="not visited before"):
        figures.visit_order([identifier("a")], [step("b", "calls", "c")])


def test_walk_is_played_up_to_a_step():
    steps = [step("a", "calls", "b"), step("b", "called by", "c"), step("a", "calls", "c")]
    assert str(figures.visit_order([identifier("a")], steps, upto=1)) == "Visit order from a: 1 b"
    assert str(figures.visit_order([identifier("a")], steps)) == "Visit order from a: 1 b; 2 c"


def test_unknown_chunk_is_refused():
    with pytest.raises(KeyError, match="no node"):
        figures.hairball_and_ego(graph(("a", "b")), "nowhere")


def test_many_callers_are_counted_when_not_drawn():
    many = graph(*((f"caller{i}", "hub") for i in range(MAX_COLUMN + 5)))
    title = figures.hairball_and_ego(many, identifier("hub")).figure.axes[1].get_title()
    assert "19 callers (5 not drawn)" in title


def test_hostile_names_draw_without_a_warning():
    bad = ranking("one").hits[0].chunk
    hit = Hit(Chunk(HOSTILE, "function", HOSTILE, HOSTILE, "", HOSTILE, 1, 1, "go", "", "", ""), 1.0, {HOSTILE: 1.0})
    both = Ranking([hit, Hit(bad, 0.5)])
    figures.rank_changes({"a": both, "b": both}, answers=[HOSTILE]).png()
    figures.rank_scatter(both, both).png()
    figures.share_bars(both).png()
    figures.deltas({HOSTILE: (0, 0, 0)}).png()
    figures.candidates_per_hop({HOSTILE: [1, 2]}).png()
    figures.recall_against_tokens({HOSTILE: [(1, 1)]}).png()
    assert "🙂" not in label(HOSTILE) and "\\$" in label(HOSTILE)


def test_empty_input_draws_an_empty_figure():
    for picture in (
        figures.share_bars(Ranking([])),
        figures.rank_scatter(Ranking([]), Ranking([])),
        figures.rank_changes({"a": Ranking([]), "b": Ranking([])}),
        figures.candidates_per_hop({}),
        figures.recall_against_tokens({}),
        figures.deltas({}),
        figures.before_after({}),
        figures.visit_order([], []),
    ):
        assert picture.png()


def test_spiral_gives_every_node_its_own_place_on_the_disc():
    places = spiral([str(i) for i in range(50)])
    assert len(set(places.values())) == 50 and all(x * x + y * y <= 1 for x, y in places.values())


def test_heat_tints_by_weight_and_escapes():
    code = "def getTimeout(x):\n    return '<script>' + timeout"
    made = Chunk("a::f", "function", "f", "f", "", "a.py", 1, 2, "python", "", "", code)
    heat = figures.token_heat(made, "request timeouts get", {"timeout": 2.0, "get": 1.0, "request": 9.0})
    html = heat._repr_html_()
    assert heat.weights == {"timeout": 2.0, "get": 1.0}
    assert '0.80)">Timeout<' in html and "<script" not in html and html.count(">timeout<") == 1
    assert repr(heat) == "f (a.py:1-2) for “request timeouts get”: timeout 2.000, get 1.000"
    assert "no word matches" in repr(figures.token_heat(made, "zebra"))
