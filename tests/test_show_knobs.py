"""Knobs redraw on every change, escape what is shown, and turn errors into text."""

from __future__ import annotations

import pytest

from codekb.show.knobs import Knobs
from codekb.table import Table


def test_moving_a_knob_calls_the_function_with_all_values() -> None:
    calls: list[dict[str, object]] = []
    knobs = Knobs(
        lambda **values: calls.append(values) or "x", n=(0, 10, 2), w=(0.0, 1.0), c=["a", "b"], on=True, t="hi"
    )
    assert calls == [{"n": 4, "w": 0.5, "c": "a", "on": True, "t": "hi"}]
    knobs.controls["n"].value = 8
    knobs.controls["c"].value = "b"
    assert calls[-1] == {"n": 8, "w": 0.5, "c": "b", "on": True, "t": "hi"}


def test_a_start_value_is_taken() -> None:
    assert Knobs(lambda k: str(k), k=(0, 100, 5), start={"k": 60}).controls["k"].value == 60


def test_text_is_escaped_and_errors_are_shown() -> None:
    knobs = Knobs(lambda t: 1 / 0 if t == "boom" else f"<script>{t}", t="x")
    assert "&lt;script&gt;x" in knobs.shown.value and "<script>" not in knobs.shown.value
    knobs.controls["t"].value = "boom"
    assert "ZeroDivisionError" in knobs.shown.value


def test_a_table_shows_as_html() -> None:
    assert "<table" in Knobs(lambda k: Table(["k"], [[k]]), k=(0, 2)).shown.value


def test_a_value_that_is_no_control_says_what_is() -> None:
    with pytest.raises(TypeError, match=r"k=None is no control: give \(low, high, step\)"):
        Knobs(lambda k: k, k=None)
