"""Which file an import of Python code means: source roots, packages, relative imports. No names inside modules."""

from __future__ import annotations

import sys
from collections.abc import Iterable

STANDARD = sys.stdlib_module_names
MAX_ROOTS = 8
"""Folders above a file that are tried as source roots, outermost first; deeper ones are no roots in practice."""


class Modules:
    """The modules of a corpus. A module is a number: the files in the order given, then folders without `__init__.py`.

    Any folder that is no package can be a source root (`src/`, `tests/`, the root itself); the root's own name is
    understood when the root is itself a package. A root with `__init__.py` may still be a source root by mistake;
    `inside` says that its modules are known to be inside a package, so that a plain name never means one of them.
    """

    def __init__(self, paths: Iterable[str], root_name: str = "", *, inside: bool = False) -> None:
        self.paths = list(paths)
        self.files = len(self.paths)
        self._by_path = {path: i for i, path in enumerate(self.paths)}
        self.folders = [path.rpartition("/")[0] for path in self.paths]
        self._packages = {
            folder for path, folder in zip(self.paths, self.folders, strict=True) if _stem(path) == "__init__"
        }
        self._around = {folder for f in self.folders for folder in _ancestors(f)}
        self._spaces: dict[str, int] = {}
        self._named: dict[str, list[int]] = {}
        self._root_name = root_name if "" in self._packages else ""
        self._inside = inside and bool(self._root_name)
        for i, path in enumerate(self.paths):
            self._index(i, path)
        self._found: dict[tuple[str, str], int | None] = {}

    def _index(self, i: int, path: str) -> None:
        parts = path.split("/")
        stem = _stem(path)
        names = parts[:-1] if stem == "__init__" else [*parts[:-1], stem]
        if self._root_name:
            self._named.setdefault(".".join([self._root_name, *names]), []).append(i)
        for start in range(min(len(names), MAX_ROOTS)):
            if not self._inside if start == 0 else "/".join(parts[:start]) not in self._packages:
                self._named.setdefault(".".join(names[start:]), []).append(i)

    def is_package(self, module: int) -> bool:
        return module >= self.files or _stem(self.paths[module]) == "__init__"

    def folder(self, module: int) -> str:
        return self.folders[module]

    def find(self, name: str, importer: int) -> int | None:
        """The module that an import of the dotted `name` means in file `importer`; None: not of this corpus."""
        folder = self.folders[importer]
        key = (name, folder)
        if key not in self._found:
            self._found[key] = self._search(name, folder)
        found = self._found[key]
        own = found == importer and "." not in name and not self.is_package(importer)
        return None if own else found  # `redis.py` that imports redis

    def _search(self, name: str, folder: str) -> int | None:
        candidates = self._named.get(name, [])
        if not candidates:
            return self._space(name, folder)
        near = [i for i in candidates if self._starts_at(i, name, folder) or self._starts_at(i, name, "")]
        if name.partition(".")[0] in STANDARD and not any(self._at_root(i, name, folder) for i in near):
            return None
        if len(candidates) == 1:
            return candidates[0]
        ranked = sorted(candidates, key=lambda i: (i not in near, -_common(self.folders[i], folder), i))
        best, second = ranked[0], ranked[1]
        tie = (best in near) == (second in near) and _common(self.folders[best], folder) == _common(
            self.folders[second], folder
        )
        return None if tie and not near else best

    def _at_root(self, i: int, name: str, folder: str) -> bool:
        """Whether file `i` has this name from a folder that is no package: only so it hides the standard library."""
        return any(self._starts_at(i, name, start) for start in (folder, "") if start not in self._packages)

    def _starts_at(self, i: int, name: str, folder: str) -> bool:
        path = (folder + "/" if folder else "") + name.replace(".", "/")
        return self.paths[i] in (path + ".py", path + ".pyi", path + "/__init__.py")

    def _space(self, name: str, folder: str) -> int | None:
        """A folder without `__init__.py` that holds modules."""
        tail = name.replace(".", "/")
        if self._root_name and name == self._root_name:
            return self._by_path.get("__init__.py")
        for path in dict.fromkeys([tail, f"{folder}/{tail}" if folder else tail, f"src/{tail}"]):
            if path in self._around and name not in STANDARD:
                return self._space_number(path)
        return None

    def _space_number(self, path: str) -> int:
        if path not in self._spaces:
            self._spaces[path] = len(self.folders)
            self.folders.append(path)
        return self._spaces[path]

    def relative(self, importer: int, level: int, name: str) -> int | None:
        """The module of `from ..name import` in file `importer`; None where no such file is."""
        parts = self.folders[importer].split("/") if self.folders[importer] else []
        if level - 1 > len(parts):
            return None
        parts = parts[: len(parts) - (level - 1)]
        return self._at("/".join([*parts, *(name.split(".") if name else [])]))

    def _at(self, path: str) -> int | None:
        prefix = path + "/" if path else ""
        for candidate in (f"{prefix}__init__.py", f"{path}.py", f"{path}.pyi", f"{prefix}__init__.pyi"):
            if candidate in self._by_path:
                return self._by_path[candidate]
        if path in self._around:
            return self._space_number(path)
        return None

    def submodule(self, module: int, name: str) -> int | None:
        """The module `name` inside the package `module`."""
        if not self.is_package(module):
            return None
        folder = self.folders[module]
        return self._at(f"{folder}/{name}" if folder else name)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _ancestors(folder: str) -> list[str]:
    """The folder and every folder around it, the root (`""`) included."""
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:n]) for n in range(len(parts) + 1)]


def _common(one: str, other: str) -> int:
    """Leading path segments in common."""
    count = 0
    for a, b in zip(one.split("/"), other.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
