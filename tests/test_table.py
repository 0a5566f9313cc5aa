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


def test_numbers_that_were_formatted_by_hand_stand_right_and_words_do_not() -> None:
    rows = [["a", "56 %", "1,000", "", "+0.1", ".5", "1.0 s"], ["b", "100 %", "20", "–", "-0.25", "10", "2.0 s"]]
    text = repr(Table(["n", "hit@1", "tokens", "empty", "Δ", "share", "time"], rows)).splitlines()
    assert text[0] == "n  hit@1  tokens  empty      Δ  share  time"
    assert text[2] == "a   56 %   1,000          +0.1     .5  1.0 s"
    assert text[3] == "b  100 %      20  –      -0.25     10  2.0 s"


def test_a_number_beside_a_word_makes_no_number_column() -> None:
    assert repr(Table(["x"], [["10 of 18"], ["7"], ["n/a"]])).splitlines()[3] == "7"


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
