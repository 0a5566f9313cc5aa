"""A small table that reads well as text and as HTML, with every cell escaped. No widgets, no styles library."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

EMPTY = (None, "", "–")
"""Cells that say nothing, and so nothing about how their column stands."""

TRUST = "Trust one decimal of a level; how large a difference is, its interval says."
"""The note under tables of measurements: half an interval is 0.05 and more at the few hundred questions used here."""

NUMBER = re.compile(r"[-+−]?(\d[\d,]*)?\.?\d+( ?%)?")
"""A cell that reads as a number, however it was formatted; a column of such cells stands right."""

STYLE = "border-collapse:collapse;font-size:13px;line-height:1.4;margin:4px 0"
"""The line height is stated, since inside a widget it would be twice as much."""

CELL = "padding:3px 10px 3px 0;text-align:{align};vertical-align:top;border-bottom:1px solid #8884"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one.

    >>> counted(1, "callee"), counted(1200, "edge")
    ('1 callee', '1200 edges')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return bool(NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


class Table(Sequence[Mapping[str, Any]]):
    """Rows of named columns. Floats show three decimals, None a dash; give strings for any other form.

    `caption` says what is shown; `notes` are printed below (n, what ± means, which decimals to trust).

    >>> print(Table(["method", "MRR"], [["grep", 0.25], ["dense", 0.5]], caption="Two searches"))
    Two searches
    method    MRR
    ------  -----
    grep    0.250
    dense   0.500
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        caption: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        self.columns = list(columns)
        self.rows = [list(row) for row in rows]
        self.caption = caption
        self.notes = list(notes)
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells for {len(self.columns)} columns: {row!r}")

    def column(self, name: str) -> list[Any]:
        """All values of one column, top to bottom."""
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {self.columns}")
        return [row[self.columns.index(name)] for row in self.rows]

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        """A row as a dict by position, or the first row whose first cell equals a string."""
        if isinstance(key, str):
            for row in self.rows:
                if row[0] == key:
                    return dict(zip(self.columns, row, strict=True))
            raise KeyError(f"no row {key!r}; there are {[row[0] for row in self.rows]}")
        return dict(zip(self.columns, self.rows[key], strict=True))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def _numeric(self) -> list[bool]:
        filled = [[row[i] for row in self.rows if row[i] not in EMPTY] for i in range(len(self.columns))]
        return [bool(cells) and all(map(_is_number, cells)) for cells in filled]

    def __repr__(self) -> str:
        cells = [[_text(v) for v in row] for row in self.rows]
        widths = [max([len(c), *(len(r[i]) for r in cells)]) for i, c in enumerate(self.columns)]
        right = self._numeric()

        def line(row: Sequence[str]) -> str:
            parts = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
            return "  ".join(parts).rstrip()

        body = [line(self.columns), "  ".join("-" * w for w in widths), *map(line, cells)]
        return "\n".join([*([self.caption] if self.caption else []), *body, *self.notes])

    def _repr_html_(self) -> str:
        right = self._numeric()
        align = [CELL.format(align="right" if r else "left") for r in right]
        head = "".join(f'<th style="{a}">{html.escape(c)}</th>' for a, c in zip(align, self.columns, strict=True))
        body = "".join(
            "<tr>"
            + "".join(f'<td style="{a}">{html.escape(_text(v))}</td>' for a, v in zip(align, row, strict=True))
            + "</tr>"
            for row in self.rows
        )
        caption = f"<div><b>{html.escape(self.caption)}</b></div>" if self.caption else ""
        notes = "".join(f'<div style="opacity:.75"><small>{html.escape(n)}</small></div>' for n in self.notes)
        return (
            f'<div>{caption}<table style="{STYLE}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>{notes}</div>"
        )
