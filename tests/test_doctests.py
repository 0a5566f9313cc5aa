"""Every example in a docstring is run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import codekb

HOME = Path(codekb.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(HOME.parent).with_suffix("").parts)
    for path in HOME.rglob("*.py")
    if path.name != "__init__.py" and ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    assert not doctest.testmod(importlib.import_module(name)).failed


def test_there_are_examples_to_run() -> None:
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) > 20
