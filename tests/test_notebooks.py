"""Every notebook keeps the rules, and its exercises work in both forms. Strict comparison: `test_notebooks_strict`."""

from __future__ import annotations

import ast
import copy
import re
import statistics
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))
import execute  # noqa: E402  (a script beside the notebooks, not part of the package)

NOTEBOOKS = execute.notebooks()
IDS = [p.stem for p in NOTEBOOKS]
MAX_BYTES = 300_000
MAX_CELL, MAX_P90, MAX_MEDIAN = 25, 12, 4
FORBIDDEN = re.compile(
    r"sys\.path|\bpip3? install|conda install|^\s*[!%]|urlretrieve|requests\.get|api_key\s*="
    r"|/(home|work|root)/",
    re.M,
)

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [c for c in read(path).cells if c.cell_type == "code"]


def length(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


@each_notebook
def test_outputs_come_from_one_clean_run_in_order(path):
    counts = [c.execution_count for c in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1)), "run notebooks/execute.py on it"
    outputs = [o for c in code_cells(path) for o in c.outputs]
    assert not [o for o in outputs if o.output_type == "error"]
    assert not [o for o in outputs if "application/vnd.jupyter.widget-view+json" in o.get("data", {})]
    assert not [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]


@each_notebook
def test_an_expression_at_the_end_of_a_cell_has_left_its_output(path):
    for cell in code_cells(path):
        last = ast.parse(cell.source).body[-1:]
        shown = last and isinstance(last[0], ast.Expr) and not cell.source.rstrip().endswith(";")
        if shown and not isinstance(last[0].value, ast.Call):  # a call may return None
            assert cell.outputs, f"no output stored for:\n{cell.source}"


@each_notebook
def test_is_small(path):
    assert path.stat().st_size < MAX_BYTES


@each_notebook
def test_cells_are_short_and_prose_stands_between_them(path):
    lengths = sorted(length(c.source) for c in code_cells(path))
    assert lengths[-1] <= MAX_CELL
    assert lengths[int(0.9 * (len(lengths) - 1))] <= MAX_P90
    assert statistics.median(lengths) <= MAX_MEDIAN
    kinds = "".join("c" if c.cell_type == "code" else "m" for c in read(path).cells)
    assert "ccc" not in kinds and kinds.startswith("m")
    first_code = next(c for c in read(path).cells if c.cell_type == "code")
    assert length(first_code.source) <= 4, "the set-up cell has at most 4 lines"


@each_notebook
def test_holds_no_plumbing_and_opens_with_a_question(path):
    for cell in code_cells(path):
        assert not FORBIDDEN.search(cell.source), cell.source
    opening = read(path).cells[0].source
    assert opening.startswith("# ") and "?" in opening.splitlines()[0]
    assert "Run All" in opening


@each_notebook
@pytest.mark.notebook
def test_solution_passes_every_check_where_the_baseline_does_not(path):
    notebook = read(path)
    exercises = [c for c in notebook.cells if c.cell_type == "code" and execute.skeleton(c.source)]
    if not exercises:
        assert not execute.solution_of(path).exists(), "a solution without an exercise"
        pytest.skip("no exercise in this notebook")
    start = execute.reports(notebook)
    assert start and all(line.startswith("Exercise open") for line in start)
    done = copy.deepcopy(notebook)
    assert execute.complete(done, execute.solution_of(path).read_text(encoding="utf-8")) == len(exercises)
    end = execute.reports(execute.run(done))
    assert len(end) == len(start) and all(line.startswith("Exercise solved") for line in end), end


# The mechanism itself, on a notebook made here.


def exercise_notebook(source: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])


START_FORM = "def double(x):\n    # --- your code\n    return x\n    # --- end"
SOLUTION = '"""Solutions."""\n# %%\n' + START_FORM.replace("return x", "y = x\n    return y + y") + "\n"


def test_solution_replaces_the_cell_with_the_same_lines_around_the_fences():
    notebook = exercise_notebook(START_FORM)
    assert execute.complete(notebook, SOLUTION) == 1
    names: dict = {}
    exec(notebook.cells[0].source, names)
    assert names["double"](3) == 6


def test_solution_that_fits_no_exercise_is_refused():
    with pytest.raises(ValueError, match="no exercise asks for"):
        execute.complete(exercise_notebook("x = 1"), SOLUTION)


def test_exercise_without_a_solution_is_refused():
    with pytest.raises(ValueError, match="no solution cell"):
        execute.complete(exercise_notebook(START_FORM.replace("double", "twice")), SOLUTION)


@pytest.mark.parametrize("source", [execute.START, f"{execute.START}\n{execute.START}", execute.END])
def test_fence_left_open_or_out_of_turn_is_refused(source):
    with pytest.raises(ValueError):
        execute.skeleton(source)


def test_a_stream_that_came_in_pieces_is_stored_as_one():
    def stream(name: str, text: str) -> nbformat.NotebookNode:
        return nbformat.v4.new_output("stream", name=name, text=text)

    value = nbformat.v4.new_output("execute_result", data={"text/plain": "1"})
    pieces = [stream("stdout", "a\n"), stream("stdout", "b\n"), stream("stderr", "c\n"), stream("stdout", "d\n"), value]
    kept = execute.joined(pieces)
    assert [o.get("text", "") for o in kept] == ["a\nb\n", "c\n", "d\n", ""]
    assert execute.joined(kept) == kept


@each_notebook
def test_no_stored_stream_is_in_pieces(path):
    assert all(len(execute.joined(copy.deepcopy(c.outputs))) == len(c.outputs) for c in code_cells(path))
