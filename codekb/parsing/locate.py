"""Where an installed package lives, without importing it. Reads no source."""

from __future__ import annotations

import importlib.machinery
import os
from pathlib import Path


def package_folder(name: str) -> Path:
    """The folder of an installed package, by its import name (`networkx`, `xml.dom`). None of its code is run.

    Raises ModuleNotFoundError where there is none, and ValueError for a module that is a single file.
    """
    first, *rest = name.split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        raise ModuleNotFoundError(f"{name!r} is no import name; give one like 'networkx', or the path of a folder")
    spec = importlib.machinery.PathFinder.find_spec(first)  # not util.find_spec: that imports parents
    if spec is None:
        raise ModuleNotFoundError(f"no package {first!r} in this Python's search path; is it installed here?")
    places = list(spec.submodule_search_locations or ())
    if not places:
        raise ValueError(f"{name!r} is a single module ({spec.origin}), not a folder: give the folder that holds it")
    folder = Path(places[0]).joinpath(*rest)
    if not folder.is_dir():
        raise ModuleNotFoundError(f"{first!r} has no package {'.'.join(rest)!r}")
    return folder


def locate(path_or_package: str | os.PathLike[str]) -> Path:
    """A folder given by path, or else the folder of an installed package of that name.

    Raises FileNotFoundError that says what was tried.
    """
    text = os.fspath(path_or_package).strip()
    if not text:
        raise FileNotFoundError("no folder given: type the path of a folder, or the name of an installed package")
    folder = Path(os.path.expanduser(text))
    if folder.is_dir():
        return folder
    if set(text) & set("/\\~"):
        there = (
            "is a file: give the folder that holds it"
            if folder.is_file()
            else "is no folder; give one, or the name of an installed package"
        )
        raise FileNotFoundError(f"{text!r} {there}")
    try:
        return package_folder(text)
    except (ModuleNotFoundError, ValueError) as error:
        raise FileNotFoundError(f"{text!r} is no folder, and not a package either: {error}") from None
