"""Runs notebooks for commit, and puts solutions into exercises. Tests use the same functions.

python notebooks/execute.py                    every notebook, in order, outputs saved
python notebooks/execute.py 04_keyword         one notebook
python notebooks/execute.py --complete 04      with its solution, nothing saved: does the solution pass?
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
START = "# --- your code"
END = "# --- end"
CELL_TIMEOUT = 120
"""Seconds a cell may take; the slowest on two cores takes about a tenth of it."""


def notebooks() -> list[Path]:
    """Every notebook of the course, by number."""
    return sorted(HERE.glob("[0-9][0-9]_*.ipynb"))


def solution_of(notebook: Path) -> Path:
    """Where the solution of a notebook lies (it need not exist)."""
    return HERE / "solutions" / f"{notebook.stem}.py"


def skeleton(source: str) -> str | None:
    """A cell without the lines between its fences; None without a fence. Raises where one stays open.

    >>> skeleton("def f(x):\\n    # --- your code\\n    return 0\\n    # --- end")
    'def f(x):\\n    # --- your code\\n    # --- end'
    """
    kept: list[str] = []
    inside = False
    for line in source.strip().splitlines():
        bare = line.strip()
        if bare == START and not inside:
            inside = True
            kept.append(line)
        elif bare in (START, END) and (bare == START) == inside:
            raise ValueError(f"{START!r} and {END!r} must take turns, each on its own line; found {bare!r} out of turn")
        elif bare == END:
            inside = False
            kept.append(line)
        elif not inside:
            kept.append(line.rstrip())
    if inside:
        raise ValueError(f"a cell opens {START!r} and never closes it with {END!r}")
    return "\n".join(kept) if START in source else None


def solution_cells(text: str) -> list[str]:
    """The cells of a solution file: the parts that `# %%` lines begin; what stands above is left out."""
    parts: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            parts.append([])
        elif parts:
            parts[-1].append(line)
    return ["\n".join(part).strip() for part in parts]


def complete(notebook: NotebookNode, solution: str) -> int:
    """Replace each exercise by the solution cell with the same lines outside the fences; return how many.

    Raises ValueError when an exercise has no solution, two, or a solution has no exercise.
    """
    pending = {skeleton(cell): cell for cell in solution_cells(solution)}
    done = 0
    for cell in notebook.cells:
        shape = skeleton(cell.source) if cell.cell_type == "code" else None
        if shape is None:
            continue
        if shape not in pending:
            raise ValueError(f"no solution cell has these lines outside its fences:\n{shape}")
        cell.source = pending.pop(shape)
        done += 1
    if pending:
        raise ValueError(f"the solution holds a cell that no exercise asks for:\n{next(iter(pending))}")
    return done


def run(notebook: NotebookNode) -> NotebookNode:
    """Execute every cell in a fresh kernel, in this folder, and tidy what would differ by machine."""
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(HERE)}},
    ).execute()
    return tidy(notebook)


def tidy(notebook: NotebookNode) -> NotebookNode:
    """Drop versions in the metadata, and widget views, which show an error until the notebook runs; join streams."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({k: v for k, v in cell.metadata.items() if k == "tags"})
        if "outputs" in cell:
            cell.outputs = joined(cell.outputs)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    return notebook


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs with neighbouring texts of one stream as one: where a stream is cut depends on how busy the machine is.

    >>> [o.text for o in joined([nbformat.v4.new_output("stream", name="stdout", text=t) for t in ("a", "b")])]
    ['ab']
    """
    kept: list[NotebookNode] = []
    for output in outputs:
        before = kept[-1] if kept else None
        if before and before.output_type == output.output_type == "stream" and before.name == output.name:
            before.text += output.text
        else:
            kept.append(output)
    return kept


def reports(notebook: NotebookNode) -> list[str]:
    """First lines of the check cells' reports: `Exercise solved: …` or `Exercise open: …`."""
    texts = [o.get("data", {}).get("text/plain", "") for c in notebook.cells for o in c.get("outputs", ())]
    return [text.splitlines()[0] for text in texts if text.startswith("Exercise ")]


def _process(path: Path, with_solution: bool) -> str:
    notebook = nbformat.read(path, as_version=4)
    count = complete(notebook, solution_of(path).read_text(encoding="utf-8")) if with_solution else 0
    run(notebook)
    if with_solution:
        return "; ".join([f"{count} solutions put in", *reports(notebook)])
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    return f"{path.stat().st_size // 1024} kB"


def main() -> int:
    """Process the notebooks named on the command line, or all; exit 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="how the notebook's file name starts, such as 04")
    parser.add_argument("--complete", action="store_true", help="put the solution in, run, save nothing")
    options = parser.parse_args()
    names = [Path(name).stem for name in options.names]
    chosen = [p for p in notebooks() if not names or any(p.stem.startswith(n) for n in names)]
    if not chosen:
        parser.error(f"no notebook starts with {names}; there are {[p.stem for p in notebooks()]}")
    failed = 0
    for path in chosen:
        began = time.perf_counter()
        try:
            told = _process(path, options.complete)
            print(f"{path.name}: {told}, {time.perf_counter() - began:.1f} s with the start of its kernel", flush=True)
        except (CellExecutionError, ValueError, OSError) as error:
            failed += 1
            print(f"{path.name}: failed\n{error}", file=sys.stderr, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
