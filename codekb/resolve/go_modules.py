"""Which folder a Go import path means: by go.mod files, replace, vendor folders; by the layout without go.mod."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

STANDARD = frozenset(
    [
        "archive",
        "bufio",
        "builtin",
        "bytes",
        "cmp",
        "compress",
        "container",
        "context",
        "crypto",
        "database",
        "debug",
        "embed",
        "encoding",
        "errors",
        "expvar",
        "flag",
        "fmt",
        "go",
        "hash",
        "html",
        "image",
        "index",
        "io",
        "iter",
        "log",
        "maps",
        "math",
        "mime",
        "net",
        "os",
        "path",
        "plugin",
        "reflect",
        "regexp",
        "runtime",
        "slices",
        "sort",
        "strconv",
        "strings",
        "structs",
        "sync",
        "syscall",
        "testing",
        "text",
        "time",
        "unicode",
        "unique",
        "unsafe",
        "weak",
    ]
)
"""First segments of Go's own packages: never a folder of the corpus unless a go.mod says so."""

_REPLACE = re.compile(r"^\s*(\S+)(?:\s+v\S+)?\s*=>\s*(\S+)(?:\s+v\S+)?\s*$")


def parse_go_mod(source: str) -> tuple[str, dict[str, str]]:
    """The module path and the replacements by folder (module path → folder as written).

    >>> parse_go_mod("module a.b/c // x\\nreplace (\\n\\tx.y/z v1.0.0 => ../z\\n)\\nreplace q => ./q\\n")
    ('a.b/c', {'x.y/z': '../z', 'q': './q'})
    """
    module, block = "", ""
    replaced: dict[str, str] = {}
    for raw in source.split("\n"):
        line = raw.split("//", 1)[0].strip()
        word, _, rest = line.partition(" ")
        if word == "module" and rest:
            module = rest.strip().strip('"`')
        elif line.endswith("("):
            block = line[:-1].strip()
        elif line == ")":
            block = ""
        elif block == "replace" or word == "replace":
            found = _REPLACE.match(line if block else rest)
            if found and found[2].startswith((".", "/")):
                replaced[found[1].strip('"')] = found[2].strip('"')
    return module, replaced


def join(folder: str, relative: str) -> str:
    """A relative path from a folder, as a POSIX path relative to the root; leading `..` beyond the root is kept.

    >>> join("a/b", "../c"), join("", "./x/"), join("a", ".")
    ('a/c', 'x', 'a')
    """
    parts = [p for p in folder.split("/") if p]
    for part in relative.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


class Modules:
    """Answers `folder(import path, importing folder)`."""

    def __init__(self, go_mods: Mapping[str, str], folders: Iterable[str], imports: Iterable[str]) -> None:
        self.folders = frozenset(folders)
        self.modules: dict[str, str] = {}  # folder of a go.mod → module path
        self.replaced: dict[str, dict[str, str]] = {}
        for path, source in sorted(go_mods.items()):
            home = path.rpartition("/")[0]
            module, replaced = parse_go_mod(source)
            if module:
                self.modules[home] = module
            self.replaced[home] = {old: join(home, new) for old, new in replaced.items()}
        self.roots = sorted(self.modules.items(), key=lambda item: (-len(item[1]), item[0]))
        self.vendors = sorted(
            {f[: f.index("/vendor/") + 8] for f in (f"/{f}/" for f in self.folders) if "/vendor/" in f}
        )
        self.prefix = "" if self.modules else self._guess(imports)
        self._known: dict[tuple[str, str], str | None] = {}

    def folder(self, path: str, importer: str) -> str | None:
        """The corpus folder that holds the package, or None where it lies outside."""
        home = self._home(importer)
        key = (path, home if not self.vendors else importer)
        if key not in self._known:
            self._known[key] = self._find(path, importer, home)
        return self._known[key]

    def _home(self, folder: str) -> str:
        while folder not in self.modules and folder:
            folder = folder.rpartition("/")[0]
        return folder

    def _find(self, path: str, importer: str, home: str) -> str | None:
        for vendor in sorted(self.vendors, key=lambda v: (-len(v), v)):
            around = vendor[: -len("vendor/")]
            target = f"{vendor}{path}".strip("/")
            if f"/{importer}/".startswith(around) and target in self.folders:
                return target
        for old, new in sorted(self.replaced.get(home, {}).items(), key=lambda item: -len(item[0])):
            if (found := self._below(path, old, new)) is not None:
                return found
        for root, module in sorted(self.roots, key=lambda item: (-len(item[1]), item[0] != home, item[0])):
            if (found := self._below(path, module, root)) is not None:
                return found
        return self._by_layout(path) if not self.modules else None

    def _below(self, path: str, module: str, root: str) -> str | None:
        if path == module:
            return root if root in self.folders else None
        if not path.startswith(module + "/"):
            return None
        target = f"{root}/{path[len(module) + 1 :]}".strip("/")
        return target if target in self.folders else None

    def _by_layout(self, path: str) -> str | None:
        for source_root in ("src", "vendor"):
            if f"{source_root}/{path}" in self.folders:
                return f"{source_root}/{path}"
        if self.prefix and path.startswith(self.prefix):
            rest = path[len(self.prefix) :].strip("/")
            return rest if rest in self.folders else None
        return path if path in self.folders and path.split("/")[0] not in STANDARD else None

    def _guess(self, imports: Iterable[str]) -> str:
        """The module path that most imports agree on: what is left when a folder of the corpus is cut off their end."""
        votes: Counter[str] = Counter()
        for path in imports:
            parts = path.split("/")
            if parts[0] in STANDARD:
                continue
            for cut in range(1, len(parts)):
                if "/".join(parts[cut:]) in self.folders:
                    votes["/".join(parts[:cut])] += 1
                    break
        return max(votes, key=lambda p: (votes[p], -len(p), p)) if votes else ""
