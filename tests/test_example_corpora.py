"""The example corpora of the graph notebooks: they run, and their questions name functions that exist."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"


def functions(root: Path) -> set[str]:
    found = set()
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root).as_posix()
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                found.add(f"{path}::{node.name}")
            elif isinstance(node, ast.ClassDef):
                found |= {f"{path}::{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("name", ["shop", "dispatch"])
def test_the_corpus_runs(name: str) -> None:
    done = subprocess.run([sys.executable, str(DATA / f"{name}_checks.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["shop", "dispatch"])
def test_every_answer_is_a_function_of_the_corpus(name: str) -> None:
    kept = json.loads((DATA / f"{name}_questions.json").read_text())
    known = functions(DATA / name)
    for question in kept["questions"]:
        assert 1 <= len(question["answers"]) <= 3
        assert set(question["answers"]) <= known, question["id"]


def test_the_shop_has_the_size_of_the_published_one() -> None:
    kept = json.loads((DATA / "shop_questions.json").read_text())
    assert len(functions(DATA / "shop")) == 28
    assert len(kept["questions"]) == 12
