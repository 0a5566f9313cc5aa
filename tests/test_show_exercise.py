"""The check cell: values, exceptions, and an answer that Python could not read."""

from __future__ import annotations

from types import SimpleNamespace

import IPython
import numpy as np
import pytest

from codekb.show import check
from codekb.show.exercise import stale


def answer(x: int) -> int:
    return x + 1


def test_a_wrong_value_and_an_exception_are_lines_and_nothing_is_raised() -> None:
    report = check(("right", lambda: answer(1), 2), ("wrong", lambda: answer(1), 3), ("raises", lambda: 1 / 0, 0))
    assert not report.solved and repr(report).splitlines()[0] == "Exercise open: 1 of 3 checks pass"
    assert "expected 3, your code gave 2" in repr(report) and "ZeroDivisionError" in repr(report)


def test_floats_and_arrays_agree_nearly() -> None:
    assert check(("float", lambda: 0.1 + 0.2, 0.3), ("array", lambda: np.array([0.1 + 0.2]), np.array([0.3]))).solved


GOOD, BAD = "def answer(x):\n    return x + 1", "def answer(x)\n    return 0"


@pytest.mark.parametrize(
    ("cells", "faults"),
    [([GOOD, BAD], 1), ([BAD, GOOD], 0), ([GOOD, BAD, "answer(1)"], 1), ([GOOD, "other = (", "answer(1)"], 0), ([], 0)],
)
def test_only_the_last_cell_that_defines_the_answer_counts(cells: list[str], faults: int) -> None:
    assert len(stale(cells, ["answer"])) == faults


def test_the_definition_from_before_a_syntax_error_does_not_solve_the_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = ("adds one", lambda: [answer(x) for x in (1, 2)], [2, 3])
    cells = ["", GOOD]
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(user_ns={"In": cells}))
    assert check(claim).solved
    cells.append(BAD)
    report = check(claim)
    assert not report.solved and "no  your last cell with answer can be read: line 1" in repr(report)
    cells.append(GOOD)
    assert check(claim).solved
