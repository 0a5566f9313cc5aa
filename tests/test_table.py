"""Tables as text and HTML: aligned, escaped, with errors that say which row."""

from __future__ import annotations

import pytest

from codekb.table import Table


def table() -> Table:
    return Table(["method", "MRR", "n"], [["grep", 0.25, 10], ["<b>", None, 2000]], caption="A & B", notes=["n < 3000"])


def test_numbers_stand_right_and_floats_have_three_decimals() -> None:
    assert repr(table()).splitlines() == [
        "A & B",
        "method    MRR     n",
        "------  -----  ----",
        "grep    0.250    10",
        "<b>         –  2000",
        "n < 3000",
    ]


def test_html_is_escaped() -> None:
    html = table()._repr_html_()
    assert "&lt;b&gt;" in html and "<b></td>" not in html and "A &amp; B" in html and "n &lt; 3000" in html


def test_rows_are_found_by_first_cell_and_columns_by_name() -> None:
    assert table()["grep"]["MRR"] == 0.25 and table()[1]["n"] == 2000 and table().column("n") == [10, 2000]
    assert [row["method"] for row in table()] == ["grep", "<b>"]
    with pytest.raises(KeyError, match="grep"):
        table()["awk"]
    with pytest.raises(KeyError, match="MRR"):
        table().column("mrr")


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells for 3 columns"):
        Table(["a", "b", "c"], [[1, 2]])


def test_a_table_without_rows_shows_its_head() -> None:
    assert repr(Table(["a"], [])) == "a\n-"
