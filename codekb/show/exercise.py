"""The check cell of an exercise: what the reader's code gives against what it should; never raises."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SHOWN_CHARACTERS = 160
"""Longer values are cut in the report: a check line should fit on two lines of a notebook."""

Claim = tuple[str, Callable[[], object], object]
"""What is checked, in words; a call without arguments that runs the reader's code; the value expected."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `check`: one line a claim. `solved` is True when every claim holds."""

    lines: tuple[tuple[bool, str, str], ...]

    @property
    def solved(self) -> bool:
        """Whether every claim holds."""
        return all(holds for holds, _, _ in self.lines)

    @property
    def _head(self) -> str:
        done = sum(holds for holds, _, _ in self.lines)
        state = "solved" if self.solved else "open"
        return f"Exercise {state}: {done} of {len(self.lines)} checks pass"

    def __repr__(self) -> str:
        rows = [f"  {'ok ' if ok else 'no '} {what}{': ' + note if note else ''}" for ok, what, note in self.lines]
        return "\n".join([self._head, *rows])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<div>{'✔' if ok else '○'} {html.escape(what)}"
            + (f'<div style="margin-left:1.4em;opacity:.75">{html.escape(note)}</div>' if note else "")
            + "</div>"
            for ok, what, note in self.lines
        )
        return f"<div><b>{html.escape(self._head)}</b>{rows}</div>"


def check(*claims: Claim) -> Report:
    """Run every claim and report. A wrong value or an exception becomes a line; nothing is raised.

    Floats agree within 1e-6, arrays by `numpy.allclose`, everything else by `==`.

    >>> check(("doubles", lambda: 2 * 2, 4), ("adds", lambda: 1 + 1, 3))
    Exercise open: 1 of 2 checks pass
      ok  doubles
      no  adds: expected 3, your code gave 2
    """
    return Report(tuple(_run(*claim) for claim in claims))


def _run(what: str, call: Callable[[], object], expected: object) -> tuple[bool, str, str]:
    try:
        got = call()
        if _agree(got, expected):
            return True, what, ""
        return False, what, f"expected {_short(expected)}, your code gave {_short(got)}"
    except Exception as error:  # an exercise in progress may raise anything; the report is the place for it
        return False, what, f"expected {_short(expected)}, your code raised {type(error).__name__}: {error}"


def _agree(got: Any, expected: Any) -> bool:
    if isinstance(expected, np.ndarray):
        return np.shape(got) == expected.shape and bool(np.allclose(got, expected, atol=1e-6))
    if isinstance(expected, float) and isinstance(got, int | float | np.floating):
        return math.isclose(float(got), expected, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(expected, list | tuple) and isinstance(got, Sequence) and not isinstance(got, str):
        return len(got) == len(expected) and all(_agree(g, e) for g, e in zip(got, expected, strict=True))
    return bool(got == expected)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
