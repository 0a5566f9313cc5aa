"""The check cell of an exercise: what the reader's code gives against what it should; never raises."""

from __future__ import annotations

import ast
import html
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import IPython
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

    Floats agree within 1e-6, arrays by `numpy.allclose`, everything else by `==`. Where the cell with the answer was
    run last with a syntax error, its definition from before still stands: a line says so, and the exercise stays open.

    >>> check(("doubles", lambda: 2 * 2, 4), ("adds", lambda: 1 + 1, 3))
    Exercise open: 1 of 2 checks pass
      ok  doubles
      no  adds: expected 3, your code gave 2
    """
    shell = IPython.get_ipython()
    cells = shell.user_ns.get("In", []) if shell else []
    names = {name for _, call, _ in claims for name in _names(getattr(call, "__code__", None))}
    return Report((*stale(cells, names), *(_run(*claim) for claim in claims)))


def stale(cells: Sequence[str], names: Iterable[str]) -> list[tuple[bool, str, str]]:
    """A line that does not hold for each name whose last cell, among `cells` in the order run, Python could not read.

    >>> stale(["def f(x): return x", "def f(x) return x", "1 + 1"], ["f"])[0][:2]
    (False, 'your last cell with f can be read')
    >>> stale(["def f(x) return x", "def f(x): return x"], ["f"])
    []
    """
    lines = []
    for name in sorted(names):
        defined = re.compile(rf"^\s*(async\s+def|def|class)\s+{name}\b|^{name}\s*=(?!=)", re.M)
        last = next((cell for cell in reversed(cells) if defined.search(cell)), "")
        if fault := _fault(last):
            lines.append(
                (
                    False,
                    f"your last cell with {name} can be read",
                    f"{fault}; the lines below check the {name} from before",
                )
            )
    return lines


def _fault(source: str) -> str:
    try:
        compile(source, "<cell>", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return ""


def _names(code: CodeType | None) -> set[str]:
    """The global names that a function uses, those of functions and comprehensions inside it too."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)] if code else []
    return set(code.co_names if code else ()).union(*map(_names, inner))


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
