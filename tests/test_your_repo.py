"""Notebook 13 takes any repository: its cells run on Go and on tiny packages, and say why where they cannot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_notebooks import ROOT, execute, read

PATH = ROOT / "notebooks" / "13_your_repo.ipynb"
SETTING = re.compile(r'^REPO, QUESTION = "networkx", .*$', re.M)

DOCUMENTED = '''
def read_rows(path):
    """Read all rows of a table from a file."""
    return open(path).read().splitlines()


def count_words(text):
    """Count the words in a piece of text."""
    return len(text.split())
'''


def run_on(folder: Path, question: str, monkeypatch: pytest.MonkeyPatch, *, solved: bool = False) -> dict:
    """Run every cell of the notebook with another repository; return the names it leaves."""
    monkeypatch.chdir(PATH.parent)
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = read(PATH)
    if solved:
        execute.complete(notebook, execute.solution_of(PATH).read_text(encoding="utf-8"))
    sources = [c.source for c in notebook.cells if c.cell_type == "code"]
    sources[0], changed = SETTING.subn(f"REPO, QUESTION = {str(folder)!r}, {question!r}", sources[0])
    assert changed == 1, "the set-up cell no longer names its repository in one line"
    names: dict = {}
    for number, source in enumerate(sources, 1):
        exec(compile(re.sub(r"^check\(", "report = check(", source, flags=re.M), f"cell {number}", "exec"), names)
    return names


def test_runs_on_go_and_does_not_give_the_name_of_the_function_away(monkeypatch):
    names = run_on(ROOT / "data" / "gosvc", "how is a request retried", monkeypatch)
    assert len(names["questions"]) > 10
    by_id = {f.id: f.name for f in names["documented"]}
    assert not [q for q in names["questions"] if any(q.text.startswith(by_id[a] + " ") for a in q.answers)]
    assert names["verdict"](*names["gains"]["keyword"])
    assert not names["report"].solved


def test_runs_on_a_package_of_two_functions_and_says_that_two_are_too_few(tmp_path, monkeypatch, capsys):
    (tmp_path / "tiny.py").write_text(DOCUMENTED)
    names = run_on(tmp_path, "read a file", monkeypatch, solved=True)
    assert len(names["questions"]) == 2
    assert "too few" in capsys.readouterr().out
    assert names["report"].solved, names["report"]


def test_stops_on_a_package_without_docstrings_and_says_why(tmp_path, monkeypatch):
    (tmp_path / "bare.py").write_text("def f(x):\n    return x\n")
    with pytest.raises(AssertionError, match=r"no documented Python or Go function in .*choose another REPO"):
        run_on(tmp_path, "read a file", monkeypatch)


def test_stops_on_a_folder_without_code_and_says_what_it_skipped(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("a,b\n")
    with pytest.raises(AssertionError, match=r"no Python or Go function in .*1 × not Python or Go \(\.csv\)"):
        run_on(tmp_path, "read a file", monkeypatch)


@pytest.mark.parametrize(
    ("search", "told"),
    [
        ("lambda query, k=10: blind.search(query, k).ids", "expected 'Ranking', your code gave 'list'"),
        ("lambda query, k=10: kb.search(query, k)", "no result shows a docstring: expected"),
    ],
)
def test_check_refuses_what_is_no_answer_and_says_what_is_wrong(search, told, monkeypatch):
    names = run_on(ROOT / "data" / "gosvc", "how is a request retried", monkeypatch)
    source = next(c.source for c in reversed(read(PATH).cells) if c.cell_type == "code")
    exec(f"my_search = {search}\n" + re.sub(r"^check\(", "report = check(", source, flags=re.M), names)
    assert not names["report"].solved
    assert told in repr(names["report"])
