"""Which files a repository holds: git's own listing in a work tree, ignore files otherwise. Reads no source."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pathspec

VENDORED = (
    "vendor",
    "_vendor",
    "vendored",
    "_vendored",
    "third_party",
    "thirdparty",
    "node_modules",
    "bower_components",
)
"""Folders whose code belongs to somebody else; pass `exclude=()` to index them all the same."""

TOOL_FOLDERS = (
    ".git", ".hg", ".svn", ".bzr", "__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs", "*.egg-info",
    "*.dist-info", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".idea", ".vscode",
)  # fmt: skip
"""Folders that tools write: caches, environments, version control."""

CACHE = "__pycache__/"
"""Left out without a line in the report: Python writes it by itself, so two copies of one folder would differ."""

DEFAULT_EXCLUDE: tuple[str, ...] = tuple(f"{name}/" for name in (*TOOL_FOLDERS, *VENDORED))
"""Patterns in .gitignore syntax, relative to the root."""

GIT_SECONDS = 60
"""A listing that takes longer than this is given up for the walk: git lists a million files in about 5 s."""


@dataclass(slots=True)
class Listing:
    """`files` are POSIX paths relative to the root, sorted; `skipped` maps a path (folders end in /) to its reason."""

    files: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    how: str = "walk"


def list_files(root: Path, exclude: Sequence[str] = DEFAULT_EXCLUDE) -> Listing:
    """Every regular file below `root` that is neither ignored nor excluded; links are never followed."""
    excluded = pathspec.GitIgnoreSpec.from_lines(exclude)
    names = _git_listing(root)
    listing = Listing(how="walk" if names is None else "git")
    if names is not None:
        listing.skipped.update(dict.fromkeys(_git_ignored(root), "ignored by git"))
    found = _walk(root, excluded, listing) if names is None else _from_git(root, names, excluded, listing)
    listing.files = sorted(found)
    listing.skipped = {path: why for path, why in sorted(listing.skipped.items()) if not path.endswith(CACHE)}
    return listing


def _git(root: Path, *arguments: str) -> bytes | None:
    """Output of a git command, None where git is missing, refuses or fails. Nothing of the repository is run."""
    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false")
    keep = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *safe, "-C", str(root), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            env=keep | {"GIT_OPTIONAL_LOCKS": "0"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _git_listing(root: Path) -> list[str] | None:
    """Tracked and untracked, not ignored paths; None outside a work tree or in a folder that git ignores."""
    if _git(root, "rev-parse", "--is-inside-work-tree") != b"true\n":
        return None
    if _git(root, "check-ignore", "-q", ".") is not None and _git(root, "ls-files", "-z", "--", ".") == b"":
        return None
    out = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    return None if out is None else [os.fsdecode(name) for name in out.split(b"\0") if name]


def _git_ignored(root: Path) -> list[str]:
    """What git's rules leave out, a folder as one entry: for the report only."""
    out = _git(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return [_printable(os.fsdecode(name)) for name in (out or b"").split(b"\0") if name]


def _from_git(root: Path, names: list[str], excluded: pathspec.GitIgnoreSpec, listing: Listing) -> Iterator[str]:
    dropped: set[str] = set()
    for name in names:
        folder = _excluded_folder(name, excluded, dropped)
        if folder:
            listing.skipped.setdefault(folder, _why_excluded(folder))
        elif os.path.isdir(root / name) and not os.path.islink(root / name):
            if not os.path.lexists(root / name / ".git"):
                listing.skipped[name.rstrip("/") + "/"] = "submodule that is not checked out"
                continue
            inner = list_files(root / name, ())  # a nested repository or submodule has rules of its own
            nested = [f"{name.rstrip('/')}/{path}" for path in inner.files]
            listing.skipped.update({f"{name.rstrip('/')}/{p}": why for p, why in inner.skipped.items()})
            yield from _from_git(root, nested, excluded, listing)
        elif excluded.match_file(name):
            listing.skipped[name] = "excluded by pattern"
        elif os.path.lexists(root / name):
            yield from _regular(root, name, listing)


def _excluded_folder(name: str, excluded: pathspec.GitIgnoreSpec, dropped: set[str]) -> str | None:
    """The outermost folder of `name` that is excluded, with a trailing slash."""
    parts = name.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth]) + "/"
        if folder in dropped or excluded.match_file(folder):
            dropped.add(folder)
            return folder
    return None


def _why_excluded(folder: str) -> str:
    if folder.rstrip("/").rsplit("/", 1)[-1] in VENDORED:
        return "vendored folder; pass exclude=() to index it"
    return "excluded folder"


def _regular(root: Path, name: str, listing: Listing) -> Iterator[str]:
    """`name` where it is a regular file with a printable name; else the reason goes into the report."""
    full = root / name
    try:
        mode = os.lstat(full).st_mode
    except OSError as error:
        listing.skipped[_printable(name)] = f"cannot be looked at: {error.strerror}"
        return
    if name != _printable(name):
        listing.skipped[_printable(name)] = "file name is not valid UTF-8"
    elif stat.S_ISLNK(mode):
        listing.skipped[name] = _why_link(root, full)
    elif stat.S_ISREG(mode):
        yield name
    else:
        listing.skipped[name] = "not a regular file (pipe, socket or device)"


def _why_link(root: Path, full: Path) -> str:
    try:
        target = full.resolve(strict=True)
    except (OSError, RuntimeError):
        return "link that leads nowhere or in a circle"
    inside = target.is_relative_to(root.resolve())
    return "link; its target is indexed in its own place" if inside else "link that leads out of the root"


def _printable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


class _Ignore:
    """The `.gitignore` of one folder. `verdict` is True (ignored), False (re-included) or None (says nothing)."""

    def __init__(self, folder: str, text: str) -> None:
        lines = text.splitlines()
        self.folder = folder
        self.for_files = pathspec.GitIgnoreSpec.from_lines(lines)
        # `d/**` ignores what is in d, not d itself: git still enters d, for a later `!d/keep.py`.
        self.for_folders = pathspec.GitIgnoreSpec.from_lines(x for x in lines if not x.rstrip().endswith("/**"))

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        inside = path[len(self.folder) :]
        spec = self.for_folders if is_folder else self.for_files
        return spec.check_file(inside + "/" * is_folder).include


def _walk(root: Path, excluded: pathspec.GitIgnoreSpec, listing: Listing) -> Iterator[str]:
    stack: list[tuple[str, tuple[_Ignore, ...]]] = [("", ())]
    while stack:
        folder, rules = stack.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            listing.skipped[_printable(folder) or "./"] = f"folder cannot be read: {error.strerror}"
            continue
        rules = (*rules, *_read_ignore(root, folder))
        for entry in entries:
            name = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if why := _why_not_enter(root, name, rules, excluded):
                    listing.skipped[_printable(name) + "/"] = why
                else:
                    stack.append((name + "/", rules))
            elif _ignored(name, False, rules):
                listing.skipped[_printable(name)] = "ignored by .gitignore"
            elif excluded.match_file(name):
                listing.skipped[_printable(name)] = "excluded by pattern"
            else:
                yield from _regular(root, name, listing)


def _read_ignore(root: Path, folder: str) -> list[_Ignore]:
    path = root / folder / ".gitignore"
    try:
        if path.is_symlink() or not path.is_file():
            return []
        return [_Ignore(folder, path.read_text(encoding="utf-8", errors="replace"))]
    except (OSError, ValueError):
        return []


def _why_not_enter(root: Path, name: str, rules: tuple[_Ignore, ...], excluded: pathspec.GitIgnoreSpec) -> str:
    if excluded.match_file(name + "/"):
        return _why_excluded(name + "/")
    if _ignored(name, True, rules):
        return "ignored by .gitignore"
    return "virtual environment" if os.path.lexists(root / name / "pyvenv.cfg") else ""


def _ignored(name: str, is_folder: bool, rules: tuple[_Ignore, ...]) -> bool:
    """The innermost ignore file that says anything about `name` decides."""
    for rule in reversed(rules):
        verdict = rule.verdict(name, is_folder)
        if verdict is not None:
            return verdict
    return False
