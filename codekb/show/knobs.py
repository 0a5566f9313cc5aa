"""Sliders over a function of your own: its result is shown below them and redrawn. The explorer is in `explorer`."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets


class Knobs(widgets.VBox):  # type: ignore[misc]
    """`Knobs(function, k=(0, 100, 5), name=["a", "b"])`: one control a keyword, the function called with their values.

    A tuple (low, high, step) or (low, high) is a slider, starting at `start[keyword]` or else in the middle; a list is
    a choice; a bool is a checkbox; a str is a text box. The result is shown by its own HTML or picture, else as text;
    an error is shown as text too. Unlike `interact` it writes no output into the cell, so saved notebooks stay equal.
    """

    def __init__(self, function: Callable[..., object], *, start: dict[str, Any] | None = None, **ranges: Any) -> None:
        self.function = function
        self.controls = {name: _control(name, given, (start or {}).get(name)) for name, given in ranges.items()}
        self.shown = widgets.HTML()
        super().__init__([*self.controls.values(), self.shown])
        for control in self.controls.values():
            control.observe(lambda _: self.draw(), "value")
        self.draw()

    def draw(self) -> None:
        """Call the function with the values as they stand and show what it returns."""
        try:
            result = self.function(**{name: control.value for name, control in self.controls.items()})
        except Exception as error:  # a widget has no other place for it
            result = f"{type(error).__name__}: {error}"
        self.shown.value = rendered(result)

    def __repr__(self) -> str:
        return f"Knobs({', '.join(self.controls)}): run the cell to use it"


def rendered(result: object) -> str:
    """HTML of a result: a picture, its own HTML, or its text, escaped."""
    png = getattr(result, "png", None)
    if callable(png):
        return f'<img alt="{html.escape(repr(result))}" src="data:image/png;base64,{base64.b64encode(png()).decode()}">'
    as_html = getattr(result, "_repr_html_", None)
    if callable(as_html):
        return str(as_html())
    text = result if isinstance(result, str) else repr(result)
    return f'<pre style="margin:4px 0">{html.escape(text)}</pre>'


def _control(name: str, given: Any, start: Any) -> widgets.Widget:
    label = {"description": name, "style": {"description_width": "initial"}, "layout": {"width": "420px"}}
    if isinstance(given, bool):
        return widgets.Checkbox(value=given if start is None else start, indent=False, **label)
    if isinstance(given, str):
        return widgets.Text(value=given if start is None else start, continuous_update=False, **label)
    if isinstance(given, list) and given:
        return widgets.Dropdown(options=given, value=given[0] if start is None else start, **label)
    if isinstance(given, tuple) and len(given) in (2, 3):
        low, high = given[:2]
        whole = all(isinstance(x, int) for x in given)
        step = given[2] if len(given) == 3 else (1 if whole else (high - low) / 20)
        value = start if start is not None else low + round((high - low) / 2 / step) * step
        kind = widgets.IntSlider if whole else widgets.FloatSlider
        return kind(value=value, min=low, max=high, step=step, continuous_update=False, **label)
    raise TypeError(f"{name}={given!r} is no control: give (low, high, step), a list of choices, a bool or a str")
