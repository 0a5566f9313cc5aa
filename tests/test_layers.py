"""Imports point one way, only `show` knows the notebook's libraries, and no module shadows the standard library."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "codekb"
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = (
    ("chunks", "collector", "table"),
    ("text", "parsing", "ranking", "markup", "words", "termcounts"),
    ("lexical", "encoders", "vectors", "priors", "resolve", "store", "fusion", "limits", "walk", "packing"),
    ("graph", "graph_text", "hybrid"),
    ("expansion", "propagation", "explain", "history", "questions", "questions_git", "evaluation"),
    ("graph_cases", "graph_oracle"),
    ("knowledge_base", "saving"),
    ("ablation",),
    ("show", "cli", "launch"),
)
"""Rooms from the ground up: a module imports from its own layer and those below. New rooms are added here."""

NOTEBOOK_LIBRARIES = {"ipywidgets", "pyvis", "matplotlib", "anywidget", "IPython", "jupyterlab", "traitlets"}
MAX_LINES = 300


def room(module: str) -> str:
    """`codekb.store.disk` → `store`."""
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "codekb":
                found |= {f"codekb.{alias.name}" for alias in node.names}
    return found


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_layer_and_below(path: Path) -> None:
    here = room(name_of(path))
    if not here:
        return  # codekb/__init__.py offers everything
    assert here in LEVEL, f"{here!r} has no layer yet: add it to LAYERS"
    for module in imports(path):
        if module.startswith("codekb."):
            assert LEVEL[room(module)] <= LEVEL[here], f"{name_of(path)} imports {module} from a higher layer"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_show_and_launch_know_the_notebook_libraries(path: Path) -> None:
    if room(name_of(path)) not in ("show", "launch"):
        assert not NOTEBOOK_LIBRARIES & {m.split(".")[0] for m in imports(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_is_short_and_says_what_it_holds(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    assert ast.get_docstring(ast.parse(text)), "the first line says what the module holds and what it leaves out"
    assert path.stem == "__init__" or path.stem not in sys.stdlib_module_names
