"""The files that set up the environment agree with each other and hold no address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENVIRONMENT_TEXT = (ROOT / "environment.yml").read_text(encoding="utf-8")
ENVIRONMENT = yaml.safe_load(ENVIRONMENT_TEXT)
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
FIXED_BY_THE_USER = (
    "jupyterlab",
    "ipywidgets",
    "faiss-cpu",
    "openai",
    "networkx",
    "pyvis",
    "rank-bm25",
    "nbval",
)


def requirement_name(line: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", line)
    assert found, line
    return found.group().lower().replace("_", "-")


def pip_lines() -> list[str]:
    lines: list[str] = next(d["pip"] for d in ENVIRONMENT["dependencies"] if isinstance(d, dict))
    return lines


def test_the_conda_file_asks_for_the_same_python() -> None:
    python = next(d for d in ENVIRONMENT["dependencies"] if isinstance(d, str) and d.startswith("python"))
    assert python == f"python{PROJECT['requires-python']}"


def test_the_conda_file_installs_extras_that_exist() -> None:
    editable = next(line for line in pip_lines() if "--editable" in line)
    extras = re.search(r"\[([a-z,]+)\]", editable)
    assert extras and set(extras.group(1).split(",")) <= set(PROJECT["optional-dependencies"])


def test_every_line_of_the_conda_file_says_who_needs_it() -> None:
    lines = [x for x in ENVIRONMENT_TEXT.splitlines() if re.match(r"\s+- (?!pip:)", x) and "conda-forge" not in x]
    assert lines and all("  # " in line for line in lines)


def test_the_lock_pins_every_dependency_and_holds_no_address() -> None:
    pinned = {requirement_name(line) for line in LOCK if "==" in line}
    wanted = [
        *PROJECT["dependencies"],
        *(d for group in PROJECT["optional-dependencies"].values() for d in group),
    ]
    assert {requirement_name(d) for d in wanted} <= pinned
    assert not any("://" in line or line.startswith("-") for line in LOCK)


def test_what_the_user_asked_for_is_installed_by_the_conda_file() -> None:
    editable = next(line for line in pip_lines() if "--editable" in line)
    extras = re.search(r"\[([a-z,]+)\]", editable)
    assert extras
    installed = [*PROJECT["dependencies"]]
    for extra in extras.group(1).split(","):
        installed += PROJECT["optional-dependencies"][extra]
    assert set(FIXED_BY_THE_USER) <= {requirement_name(d) for d in installed}
