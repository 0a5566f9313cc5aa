"""Scores against judged sites: hand-worked sites, and the data that is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codekb.graph_cases import total
from codekb.graph_oracle import (
    LEVELS,
    calibration,
    calibration_table,
    load_oracle,
    oracle_table,
    package_scores,
    reason_table,
    site_scores,
    wilson,
)

FOLDER = Path(__file__).resolve().parent.parent / "data" / "oracle"
SETS = [FOLDER / "python.json", FOLDER / "unseen.json", FOLDER / "go.json"]


def site(truth, flow, jedi=(), may=()):
    empty = {level: {} for level in LEVELS}
    return {"package": "p", "source": "a.py::f", "line": 1, "names": ["g"], "how": "read", "truth": list(truth),
            "may": list(may), "jedi": list(jedi), "codekb": {**empty, "flow": flow}}  # fmt: skip


SMALL = {
    "packages": {"p": "1"},
    "sites": [
        site(["b"], {"b": 0.95, "c": 0.4}, jedi=["b"]),
        site(["b", "d"], {"b": 0.6}, may=["e"]),
        site([], {"e": 0.9}, may=["e"]),
    ],
}


def test_a_site_counts_right_wrong_and_missing_edges_and_leaves_may_aside():
    assert total(site_scores(SMALL, "flow")) == (2 / 3, 2 / 3, 3)
    assert total(site_scores(SMALL, "jedi")) == (1.0, 1 / 3, 3)
    assert total(site_scores(SMALL, "flow", sure=0.5)) == (1.0, 2 / 3, 3)


def test_a_band_holds_its_edges():
    assert calibration(SMALL) == [(0.9, 1.0, 1, 1), (0.7, 0.9, 0, 0), (0.5, 0.7, 1, 1), (0.0, 0.5, 1, 0)]
    assert calibration_table(SMALL)["0.7 to 0.9"]["share"] is None


def test_wilson_contains_the_share_and_stays_in_range():
    assert wilson(0, 0) == (0.0, 1.0)
    for right, n in ((0, 5), (5, 5), (3, 7)):
        low, high = wilson(right, n)
        assert 0 <= low <= right / n <= high <= 1


def test_a_site_without_a_verdict_is_an_error(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"sites": [{"source": "a.py::f"}]}))
    with pytest.raises(ValueError, match="1 sites have no verdict"):
        load_oracle(path)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_shipped_verdicts_are_complete_and_hold_no_code(path):
    data = load_oracle(path)
    allowed = {"package", "source", "line", "names", "jedi", "truth", "may", "how", "codekb"}
    assert len(data["sites"]) >= 190
    for entry in data["sites"]:
        assert set(entry) <= allowed
        assert entry["how"] in ("read", "agreed", "none in sight")
        assert set(entry["codekb"]) == set(LEVELS)
        assert all(name.isidentifier() for name in entry["names"])
    assert {name for name, *_ in package_scores(data)} == set(data["packages"])


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_sure_edges_are_right_and_flow_finds_more_than_type_than_import(path):
    """What the notebook claims: at least 97 of 100 edges of confidence 0.9 and more are right."""
    data = load_oracle(path)
    low, _, n, right = calibration(data)[0]
    assert low == 0.9 and n >= 100
    assert right / n >= 0.97
    imports, types, flow = (total(site_scores(data, level))[1] for level in LEVELS[1:])
    assert imports < types < flow
    assert ("jedi" in str(oracle_table(data))) == (path.stem != "go")


def test_edges_drawn_by_reason_count_right_ones_and_leave_open_ones_aside():
    edges = [("callback", 0.9, True), ("callback", 0.9, None), ("value", 0.4, False), ("value", 0.4, True)]
    data = {"edges": [{"reason": r, "confidence": c, "right": v} for r, c, v in edges]}
    table = reason_table(data)
    assert [(row["edges"], row["right"]) for row in (table["callback"], table["value"])] == [(1, 1), (2, 1)]


def test_sure_edges_of_go_that_no_declaration_fixes_are_right():
    edges = [e for e in load_oracle(FOLDER / "go.json")["edges"] if e["right"] is not None]
    sure = [e["right"] for e in edges if e["confidence"] >= 0.9]
    assert len(sure) >= 40 and sum(sure) / len(sure) >= 0.97
    assert {e["reason"] for e in edges} <= {"callback", "function value", "interface dispatch"}
