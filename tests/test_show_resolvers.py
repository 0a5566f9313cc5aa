"""One function under several resolvers: what the figure says, and the widget without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from codekb import KnowledgeBase
from codekb.show import Resolvers, figures
from codekb.show.resolvers import LEVELS, callees

TINY = Path(__file__).resolve().parent.parent / "data" / "tiny"
CART = "shop/cart.py::Cart.add"


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase.build(TINY)


def test_the_figure_tells_what_each_resolver_finds(kb):
    graphs = {level: kb.graph_by(level) for level in LEVELS}
    picture = figures.resolver_panels(graphs, CART, expected=callees(kb.graph_by("flow"), CART))
    assert "flow 2: " in picture.text
    titles = [ax.get_title(loc="left") for ax in picture.figure.axes]
    assert titles[-1] == "flow\n2 right, 0 wrong, 0 missing"
    assert titles != [titles[-1]] * len(titles)
    assert picture.png()[:4] == b"\x89PNG"


def test_an_unknown_chunk_is_an_error(kb):
    with pytest.raises(KeyError, match="nobody"):
        figures.resolver_panels({"flow": kb.graph}, "nobody")


def test_a_click_moves_every_graph(kb):
    view = Resolvers(kb, CART)
    assert set(view.views) == set(LEVELS)
    view.views["flow"].clicked = ["shop/events.py::fire", 1]
    assert view.chunk_id == "shop/events.py::fire"
    assert all(v.selected == view.chunk_id for v in view.views.values())
    assert "HANDLERS" in view.source.value
    assert view.choice.value == view.chunk_id
    drawn = {level: len(v.payload["edges"]) for level, v in view.views.items()}
    assert drawn["flow"] > drawn["name"]


def test_the_dropdown_and_the_click_agree_on_ids(kb):
    view = Resolvers(kb, CART, levels=("flow",))
    view.choice.value = "shop/text.py::load"
    assert view.chunk_id == "shop/text.py::load"
    with pytest.raises(KeyError):
        view.show("shop/text.py::nothing")
    view.show("")
    assert view.chunk_id == "shop/text.py::load"
