"""The command line: every flag reaches the search, errors are one line, output can be piped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codekb.cli import main, parser


@pytest.fixture
def repo(tmp_path: Path) -> str:
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "root.py").write_text(
        "def execute(argv):\n    '''Run a command.'''\n    return dispatch(argv)\n"
    )
    (tmp_path / "db.py").write_text("def execute(sql):\n    '''Run a statement.'''\n    return sql\n")
    (tmp_path / "notes.md").write_text("no code")
    return str(tmp_path)


def test_search_prints_locations(repo: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "run a command", "--path", repo, "--top", "1"]) == 0
    assert "cli/root.py:1-3" in capsys.readouterr().out


def test_every_flag_is_accepted_and_json_is_one_object_a_line(repo: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--top", "3", "--package", "cli", "--method", "hybrid", "--no-enrich", "--scorer", "overlap", "--fusion"]
    flags += ["rrf", "--no-priors", "--no-tests", "--graph", "one_hop", "--related", "2", "--boost", "command"]
    flags += ["--suppress", "sql", "--strength", "0.2", "--json"]
    assert main(["search", "run a command", "--path", repo, *flags]) == 0
    hits = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [hit["id"] for hit in hits] == ["cli/root.py::execute"]
    assert sum(hits[0]["parts"].values()) == pytest.approx(hits[0]["score"])


def test_explain_shows_the_shares(repo: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "run a command", "--path", repo, "--explain"]) == 0
    assert "of the score" in capsys.readouterr().out


def test_a_saved_index_answers_like_the_folder(repo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "index")
    assert main(["index", repo, "--output", place]) == 0
    capsys.readouterr()
    assert main(["search", "run", "--index", place, "--json"]) == 0
    saved = capsys.readouterr().out
    assert main(["search", "run", "--path", repo, "--json"]) == 0
    assert saved == capsys.readouterr().out


def test_graph_names_callers_and_callees_by_name_or_id(repo: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "db.py::execute", "--path", repo]) == 0
    assert "contains ← db.py" in capsys.readouterr().out
    assert main(["graph", "execute", "--path", repo, "--resolve", "import"]) == 0
    assert capsys.readouterr().out.count("::execute  (") == 2


def test_the_report_gives_the_reason_for_every_skipped_file(repo: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--path", repo]) == 0
    assert "skipped: notes.md: not Python or Go (.md)" in capsys.readouterr().out


def test_benchmark_compares_on_docstrings_or_on_a_file(
    repo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"id": "q", "text": "run a command", "answers": ["cli/root.py::execute"]}
    (tmp_path / "q.json").write_text(json.dumps({"corpus": "x", "source": "y", "questions": [asked]}))
    assert main(["benchmark", "--path", repo, "--questions", str(tmp_path / "q.json")]) == 0
    assert "dense, enriched" in capsys.readouterr().out
    assert main(["benchmark", "--path", repo]) == 0
    assert "taken out of the code" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "x", "--path", "no/such/place"], "is no folder"),
        (["search", "x", "--package", "nowhere"], "no namespace 'nowhere'"),
        (["search", "x", "--top", "0"], "at least one"),
        (["graph", "nothing_called_so"], "nearest"),
        (["search", "x", "--index", "no/such/index"], "no/such/index"),
    ],
)
def test_errors_are_one_line_on_standard_error(
    repo: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = [] if "--path" in arguments or "--index" in arguments else ["--path", repo]
    assert main([*arguments, *where]) == 1
    out = capsys.readouterr()
    assert message in out.err and out.err.startswith("codekb: ") and "Traceback" not in out.err and not out.out


def test_unknown_choices_are_refused_by_the_parser() -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["search", "x", "--graph", "walk"])
