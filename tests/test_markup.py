"""Rankings as text and HTML: complete, escaped, deterministic."""

from __future__ import annotations

import re

from codekb.chunks import Chunk
from codekb.markup import (
    annotation,
    method_colours,
    path_of,
    ranking_html,
    ranking_text,
    score_format,
    short_names,
    tell_apart,
)
from codekb.ranking import Hit, Ranking, Step

HOSTILE = "<script>alert('x')</script>\"&🙂"


def chunk(name="f", path="pkg/mod.py", code="def f(): pass"):
    return Chunk(f"{path}::{name}", "function", name, name, "pkg", path, 3, 5, "python", "", "", code)


def hit(name="f", score=0.7, **more):
    return Hit(chunk(name), score, **more)


def step(relation, source="pkg/mod.py::Connect"):
    return Step(source, relation, "pkg/mod.py::f", 4, 0.9, "imported name")


def test_text_shows_location_score_shares_and_why():
    text = ranking_text(Ranking([hit(parts={"dense": 0.5, "keyword": 0.2}, why=("words: run",))], query="run it"))
    for part in (
        "1 hit for “run it”",
        "  f  ",
        "pkg/mod.py:3-5",
        "0.700",
        "dense 0.500 · keyword 0.200",
        "words: run",
    ):
        assert part in text


def test_hits_are_tagged_only_where_the_graph_added_one():
    walked = Hit(chunk("g"), 0.5, {}, (step("calls"),))
    for show in (ranking_text, ranking_html):
        assert "[match]" not in show(Ranking([hit()]))
        both = show(Ranking([hit(), walked]))
        assert "[match]" in both and "[callee of Connect]" in both


def test_annotation_names_the_relation_and_the_chunk_it_came_from():
    assert annotation(hit()) == "match"
    assert annotation(hit(via=(step("calls"),))) == "callee of Connect"
    assert annotation(hit(via=(step("called by"),))) == "caller of Connect"
    assert annotation(hit(via=(step("calls"), step("inherits", "a.py::C")))) == "base of C"
    assert annotation(hit(via=(step("mystery"),))) == "mystery, from Connect"


def test_names_that_are_alike_carry_as_much_of_their_place_as_tells_them_apart():
    def told(*ids):
        return list(short_names(ids).values())

    assert told("a/x.py::f", "a/x.py::g") == ["f", "g"]
    assert told("a/x.py::f", "b/y.py::f", "a/x.py::g") == ["x.f", "y.f", "g"]
    assert told("a/x.py::f", "b/x.py::f") == ["a.x.f", "b.x.f"]
    assert told("a/__init__.py::f", "b/__init__.py::f") == ["a.f", "b.f"]
    assert told("cli/root.go::Run", "db/query.go::Run") == ["cli.Run", "db.Run"]
    assert told("db/a.go::Run", "db/b.go::Run") == ["db.a.Run", "db.b.Run"]
    assert told("a/mod.py", "b/mod.py", "c.py") == ["a/mod.py", "b/mod.py", "c.py"]
    assert told("x.py::f", "a/x.py::f") == ["x.f", "a.x.f"]
    assert told("f.go::f", "g.go::f") == ["f.f", "g.f"]
    assert told() == [] and tell_apart({"a": "same", "b": "same"}) == {"a": "same", "b": "same"}


def test_path_names_every_step_with_its_line_and_confidence():
    assert path_of(hit(via=(step("calls"),))) == "Connect –calls, line 4, 0.90 imported name→ f"
    assert path_of(hit()) == ""


def test_small_scores_get_more_decimals():
    assert score_format([hit(score=0.0328)]) == ".5f" and score_format([hit(score=0.7), hit(score=0.01)]) == ".3f"
    assert "0.03279" in ranking_text(Ranking([hit(score=1 / 61 + 1 / 61)]))


def test_html_escapes_everything_that_comes_from_a_repository():
    bad = Hit(chunk(HOSTILE, HOSTILE), 1.0, {HOSTILE: 1.0}, (step("calls", HOSTILE),), (HOSTILE,))
    html = ranking_html(Ranking([bad], query=HOSTILE, title=HOSTILE))
    assert "<script" not in html and "&lt;script&gt;" in html and "🙂" in html
    assert {tag.lower() for tag in re.findall(r"<(\w+)", html)} <= {
        "div", "b", "table", "thead", "tbody", "tr", "th", "td", "span",
    }  # fmt: skip
    assert not re.search(r'="[^"]*\'x\'[^"]*"x', html)


def test_remarks_have_a_column_only_where_there_are_any():
    assert ">why</th>" not in ranking_html(Ranking([hit()])) and "why" not in ranking_text(Ranking([hit()]))
    assert ">why</th>" in ranking_html(Ranking([hit(why=("words: run",))]))


def test_bar_is_proportional_and_marks_harm():
    html = ranking_html(Ranking([hit(score=0.5, parts={"dense": 0.75, "tests": -0.25})]))
    assert "width:90px" in html and "width:30px" in html and "tests -0.250" in html


def test_unknown_methods_get_distinct_colours():
    colours = method_colours(["dense", "keyword", "names", "files", "tests"])
    assert len(set(colours.values())) == 5


def test_empty_ranking_says_so():
    assert "no hits" in ranking_text(Ranking([])) and "no hits" in ranking_html(Ranking([]))


def test_a_ranking_shows_itself_in_a_notebook():
    ranking = Ranking([hit()], query="q")
    assert repr(ranking) == ranking_text(ranking)
    assert ranking._repr_html_() == ranking_html(ranking)
