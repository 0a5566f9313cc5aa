"""A git repository read by plumbing commands alone: commits, trees, file contents. Nothing is run or
fetched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

_SETTINGS = ("-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
"""No path is quoted, no watcher is started, nothing is fetched."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. `changes` holds (status letter, old path, new path); "" where a file is new or gone."""

    sha: str
    parents: tuple[str, ...]
    author: str
    message: str
    changes: tuple[tuple[str, str, str], ...]

    def sources(self, suffixes: tuple[str, ...]) -> list[tuple[str, str]]:
        """(old path, new path) of the changed files with one of these suffixes; "" where there is none."""
        return [c[1:] for c in self.changes if c[1].endswith(suffixes) or c[2].endswith(suffixes)]


class History:
    """Read-only git: plumbing commands only, without the user's or the repository's hooks, filters and
    aliases."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.fspath(root)
        try:
            self._run("rev-parse", "--git-dir")
        except subprocess.CalledProcessError as error:
            raise ValueError(f"{self.root!r} is no git repository: {error.stderr.decode().strip()}") from error

    def _run(self, *arguments: str, feed: bytes = b"") -> bytes:
        command = ["git", "-C", self.root, *_SETTINGS, *arguments]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        environment = clean | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
        return subprocess.run(command, check=True, capture_output=True, input=feed, env=environment).stdout

    def limits(self) -> list[str]:
        """What this clone lacks, in words."""
        notes = []
        if self._run("rev-parse", "--is-shallow-repository").strip() == b"true":
            notes.append("a shallow clone: history ends early; `git fetch --unshallow` brings the rest")
        return notes

    def commits(self, newest: int) -> list[Commit]:
        """The newest commits reachable from HEAD, with their changed files, renames followed."""
        form = "%x00%H%x01%P%x01%an <%ae>%x01%B%x01"
        raw = self._run(
            "log",
            f"-{newest}",
            "-M",
            "--name-status",
            "--no-ext-diff",
            "--diff-merges=off",
            f"--format={form}",
        )
        return [_commit(entry) for entry in raw.decode("utf-8", "replace").split("\x00")[1:]]

    def paths(self, tree: str) -> list[str]:
        """Every file of a tree; links and submodules are left out."""
        entries = self._run("ls-tree", "-r", "-z", "--full-tree", tree).decode("utf-8", "surrogateescape").split("\x00")
        paths = [e.partition("\t")[2] for e in entries if e.startswith("100")]
        return [p for p in paths if "\n" not in p and p.isprintable()]

    def blobs(self, tree: str, paths: Sequence[str]) -> dict[str, bytes] | None:
        """The content of files of a tree; None where one is not in this clone."""
        if not paths:
            return {}
        raw = self._run("cat-file", "--batch", feed="".join(f"{tree}:{p}\n" for p in paths).encode())
        found: dict[str, bytes] = {}
        at = 0
        for path in paths:
            line, _, _ = raw[at : at + 8192].partition(b"\n")
            words = line.split(b" ")
            if words[-1] == b"missing" or not words[-1].isdigit():
                return None
            start = at + len(line) + 1
            at = start + int(words[-1]) + 1
            found[path] = raw[start : at - 1]
        return found


def _commit(entry: str) -> Commit:
    sha, parents, author, message, names = entry.split("\x01", 4)
    changes = []
    for line in names.strip().splitlines():
        status, *paths = line.split("\t")
        old = "" if status == "A" else paths[0]
        if any(path.startswith('"') for path in paths):
            continue  # control characters in a name
        changes.append((status[:1], old, "" if status == "D" else paths[-1]))
    return Commit(sha, tuple(parents.split()), author, message, tuple(changes))
