"""Packing: whole functions first, signatures where a body does not fit, reading order, never over the budget."""

from __future__ import annotations

import pytest
from graphs import chunk
from hypothesis import given, settings
from hypothesis import strategies as st

from codekb.packing import pack
from codekb.ranking import Hit, Ranking
from codekb.text import count_tokens

FIRST = chunk("b.py::first", code="def first():\n    return 1", line=10, doc="One.\nMore.")
SECOND = chunk("a.py::second", code="def second():\n    return 2", line=1, doc="Two.")
THIRD = chunk("b.py::third", code="def third():\n    return 3", line=1)


def ranked(*chunks: object) -> Ranking:
    return Ranking([Hit(c, 1.0 / (i + 1)) for i, c in enumerate(chunks)])  # type: ignore[arg-type]


def test_everything_fits_and_stands_in_reading_order() -> None:
    packed = pack(ranked(FIRST, SECOND, THIRD), 1000)
    assert str(packed) == (
        "## a.py\n\n# lines 1-2\ndef second():\n    return 2\n\n"
        "## b.py\n\n# lines 1-2\ndef third():\n    return 3\n\n"
        "# lines 10-11\ndef first():\n    return 1\n"
    )
    assert packed.whole == ("b.py::first", "a.py::second", "b.py::third")
    assert packed.tokens == count_tokens(packed.text)


def test_a_signature_stands_in_where_the_body_does_not_fit() -> None:
    long = chunk("c.py::long", code="def long():\n" + "    work()\n" * 200, doc="Works.\nVery long.")
    packed = pack(ranked(long, SECOND), 60)
    assert packed.signatures == ("c.py::long",)
    assert packed.whole == ("a.py::second",)
    assert "def long()  # … Works.\n" in packed.text


def test_nothing_fits() -> None:
    packed = pack(ranked(FIRST), 0)
    assert (packed.text, packed.left_out) == ("", ("b.py::first",))
    assert pack(ranked(), 100).text == ""


def test_a_method_inside_a_whole_class_is_not_repeated() -> None:
    whole = chunk("a.py::C", kind="class", code="class C:\n    def m(self):\n        return 1", line=1)
    method = chunk("a.py::C.m", code="    def m(self):\n        return 1", line=2)
    packed = pack(ranked(method, whole), 1000)
    assert packed.text.count("def m") == 1
    assert set(packed.whole) == {"a.py::C", "a.py::C.m"}


def test_a_negative_budget_is_an_error() -> None:
    with pytest.raises(ValueError, match="-1"):
        pack(ranked(FIRST), -1)


@settings(max_examples=80, deadline=None)
@given(sizes=st.lists(st.integers(1, 400), max_size=8), budget=st.integers(0, 300))
def test_the_budget_holds_and_everybody_is_accounted_for(sizes: list[int], budget: int) -> None:
    chunks = [
        chunk(f"f{i % 3}.py::g{i}", code="x" * n, line=10 * i + 1, doc="d" * (n % 50)) for i, n in enumerate(sizes)
    ]
    packed = pack(ranked(*chunks), budget)
    assert packed.tokens <= budget
    assert sorted([*packed.whole, *packed.signatures, *packed.left_out]) == sorted(c.id for c in chunks)
