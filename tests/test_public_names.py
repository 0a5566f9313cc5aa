"""The names that `codekb` offers are there, typed, documented, and cheap to import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import codekb

CONTRACT = {"parse_repo", "KnowledgeBase", "build_graph", "Collection", "chromem"}


@pytest.mark.parametrize("name", codekb.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    assert getattr(codekb, name).__doc__


def test_the_list_of_names_is_the_table_of_homes() -> None:
    assert codekb.__all__ == sorted([*codekb._HOME, "chromem"])


def test_the_contract_is_offered() -> None:
    assert set(codekb.__all__) >= CONTRACT


def test_type_checkers_see_the_same_names_as_programs() -> None:
    tree = ast.parse(Path(codekb.__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If))
    typed = {alias.asname or alias.name for n in block.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert typed == set(codekb.__all__)


def test_an_unknown_name_lists_the_real_ones() -> None:
    with pytest.raises(AttributeError, match="KnowledgeBase"):
        codekb.knowledgebase  # noqa: B018


def test_a_plain_import_loads_nothing_heavy() -> None:
    code = "import codekb, sys; print([m for m in ('numpy', 'faiss', 'networkx', 'ipywidgets') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
