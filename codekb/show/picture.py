"""A static picture for a notebook: a matplotlib figure and a text in its place. Figures are in `figures`."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 100
COLOURS = 96
"""Palette size of saved pictures: enough for smooth letters in few colours."""

INK, FAINT, ACCENT, HARM = "#1f2933", "#9aa5b1", "#3a7ebf", "#c0504d"
"""Text and lines; what stands back; what is meant; what got worse. On white, in both themes."""


class Picture:
    """A figure that shows itself in a notebook as PNG, and as `text` where pictures cannot be seen.

    `figure` is the matplotlib figure, free to be changed. The text is what strict comparisons of notebooks see.
    """

    def __init__(self, figure: Figure, text: str) -> None:
        self.figure = figure
        self.text = text

    def png(self) -> bytes:
        """The picture as PNG in a small palette: a quarter of the size, the same bytes for the same data."""
        from PIL import Image

        if self.figure.get_layout_engine() is not None:  # it moves things at every drawing: once is enough
            self.figure.draw_without_rendering()
            self.figure.set_layout_engine("none")
        drawn, small = io.BytesIO(), io.BytesIO()
        self.figure.savefig(drawn, format="png", dpi=DPI, metadata={"Software": None}, facecolor="white")
        few = Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
        few.save(small, format="png", optimize=True)
        return small.getvalue()

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"image/png": self.png(), "text/plain": self.text}


def canvas(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure of `width` × `height` inches, without pyplot's global state, and its axes side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=9, colors=INK)
        ax.xaxis.label.set_size(9)
        ax.yaxis.label.set_size(9)
        ax.title.set_size(10)
    return figure, list(axes)


@lru_cache(maxsize=1)
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def label(text: str, limit: int = 28) -> str:
    """A name fit for a figure: shortened in the middle, no mathematics, no letter that the font lacks.

    >>> label("a$b"), label("x" * 30, limit=9)
    ('a\\\\$b', 'xxxx…xxxx')
    """
    if len(text) > limit:
        half = (limit - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    known = _glyphs()
    return "".join(c if ord(c) in known else "□" for c in text).replace("$", r"\$")


def said(items: Iterable[str], limit: int = 6) -> str:
    """Items joined for a picture's text, the rest counted."""
    every = list(items)
    rest = f" … and {len(every) - limit} more" if len(every) > limit else ""
    return "; ".join(every[:limit]) + rest
