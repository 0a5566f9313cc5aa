"""The Python call graph: edges a second, seconds against parsing, growth with size, and other tools beside it.

python benchmarks/call_graph.py [FOLDER] [--tools VENV ...]
python benchmarks/call_graph.py SITE_PACKAGES --grow 60000 125000 250000 500000 1000000

FOLDER is a Python source tree (default: the installed networkx). Every resolver runs on the same corpus; "× ast" is its
time divided by that of Python's own `ast.parse` over the same files in the same run, both in CPU seconds of one
process. `--grow` shows growth instead: whole packages of FOLDER, under their names, in an order drawn by a seed, up to
so many lines, as one corpus; each size in a process of its own. `--tools` names virtual environments of
their own that hold `pycg`, `jarviscg` or `pyan3`; each runs once over the files, with a time limit. The machine is
noisy: trust ratios.

Grown over what is installed, one run: 17, 14, 13 CPU ms of flow for 1,000 lines at 289,000, 581,000 and
1,263,000 lines (531, 870, 1,860 MB): linear.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import multiprocessing
import random
import re
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import networkx

from codekb import build_graph
from codekb.chunks import Corpus
from codekb.parsing.python import parse
from codekb.table import Table

LEVELS = ("name", "import", "type", "flow")
SEED = 20
TIMEOUT = 600
"""Seconds that another tool may take."""
MEGABYTE = 1024


def read(folder: Path) -> dict[str, str]:
    """The Python files below `folder`, by POSIX path."""
    paths = sorted(folder.rglob("*.py"))
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8", errors="replace") for p in paths}


def seconds_of_ast(sources: dict[str, str]) -> float:
    """CPU seconds of `ast.parse` over all files, collector off, as the call graph runs."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in sources.values():
            try:
                ast.parse(source)
            except (SyntaxError, ValueError, RecursionError):
                continue
    spent = time.process_time() - start
    gc.enable()
    return spent


def prefix_of(folder: Path, lines: int) -> dict[str, str]:
    """Whole packages of a site-packages folder, by path, until they have so many lines."""
    packages = sorted(path for path in folder.iterdir() if (path / "__init__.py").exists())
    random.Random(SEED).shuffle(packages)
    sources: dict[str, str] = {}
    count = 0
    for package in packages:
        if count >= lines:
            break
        found = {f"{package.name}/{path}": text for path, text in read(package).items()}
        sources |= found
        count += sum(text.count("\n") for text in found.values())
    return sources


def corpus_of(sources: dict[str, str], root: str) -> tuple[Corpus, float]:
    """The corpus, and the CPU seconds of cutting and walking it."""
    start = time.process_time()
    chunks, facts = [], {}
    gc.disable()
    for path, source in sources.items():
        file = parse(path, source)
        chunks += file.chunks
        facts[path] = file.facts
    gc.enable()
    return Corpus(chunks, facts=facts, root=root), time.process_time() - start


def measure(folder: str, most: int, levels: tuple[str, ...]) -> list[list[object]]:
    """One row a resolver: [lines, what, calls, seconds, × ast, ms a 1,000 lines, edges a second, peak MB].

    `most` lines are taken of a folder of packages; 0: the folder is one tree, and all of it is taken.
    """
    sources = prefix_of(Path(folder), most) if most else read(Path(folder))
    lines = sum(source.count("\n") for source in sources.values())
    base = seconds_of_ast(sources)
    corpus, walked = corpus_of(sources, folder)
    rows: list[list[object]] = [
        [lines, "cut and walk", None, walked, walked / base, round(1e6 * walked / lines), None, peak()]
    ]
    for level in levels:
        start = time.process_time()
        graph = build_graph(corpus, level)
        spent = time.process_time() - start
        calls = sum(relation == "calls" for _, _, relation in graph.edges(keys=True))
        speed = round(1e6 * spent / lines), round(graph.number_of_edges() / spent)
        rows.append([lines, level, calls, spent, spent / base, *speed, peak()])
        del graph
    return rows


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MEGABYTE


def alone(folder: str, most: int, levels: tuple[str, ...]) -> list[list[object]]:
    """`measure` in a process of its own, so that its peak of memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (folder, most, levels))


def run_tool(name: str, command: list[str], folder: Path, output: Path) -> list[object]:
    """[tool, calls or None, seconds, remark] of another tool over the same files."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return [name, None, float(TIMEOUT), "stopped at the time limit"]
    spent = time.perf_counter() - start
    text = output.read_text(encoding="utf-8") if output.exists() else done.stdout
    if done.returncode != 0 or not text:
        return [name, None, spent, (done.stderr.strip().splitlines() or ["no output"])[-1][:70]]
    edges = len(re.findall("->", text)) if name == "pyan3" else sum(map(len, json.loads(text).values()))
    return [name, edges, spent, "edges of every kind, libraries included"]


def other_tools(folder: Path, venvs: list[str]) -> list[list[object]]:
    files = [p.relative_to(folder.parent).as_posix() for p in sorted(folder.rglob("*.py"))]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for venv in venvs:
            programs = Path(venv).resolve() / "bin"
            output = Path(scratch) / "graph.json"
            options = ["--package", folder.name, *files, "-o", str(output)]
            if list(programs.parent.glob("lib/*/site-packages/pycg")):  # 0.0.8 installs itself as PyCG and cannot start
                rows.append(run_tool("pycg", [str(programs / "python"), "-m", "pycg", *options], folder, output))
                output.unlink(missing_ok=True)
            if (programs / "jarviscg").exists():
                rows.append(run_tool("jarviscg", [str(programs / "jarviscg"), *options], folder, output))
                output.unlink(missing_ok=True)
            if (programs / "pyan3").exists():
                command = [str(programs / "pyan3"), *files, "--uses", "--no-defines", "--dot", "--root", "."]
                rows.append(run_tool("pyan3", command, folder, Path(scratch) / "none"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", default=str(Path(networkx.__file__).parent))
    parser.add_argument("--grow", type=int, nargs="+", default=[], metavar="LINES")
    parser.add_argument("--tools", nargs="*", default=[], metavar="VENV")
    given = parser.parse_args()
    rows = []
    for most in given.grow or [0]:
        rows += alone(given.folder, most, ("flow",) if most else LEVELS)
    columns = ["lines", "resolver", "calls", "CPU s", "× ast", "ms/1,000 lines", "edges/s", "peak MB"]
    print(Table(columns, rows, caption=f"Call graph of {Path(given.folder).name}"))
    if given.tools:
        rows = other_tools(Path(given.folder), given.tools)
        print(Table(["tool", "edges", "s", "remark"], rows, caption="Other tools"))


if __name__ == "__main__":
    main()
