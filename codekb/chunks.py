"""What a repository is cut into: references, chunks and the corpus that holds them. No parsing, no search."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from codekb.table import counted

Kind = Literal["function", "lambda", "class", "module"]
"""`function` covers methods and nested functions; `lambda` chunks are graph nodes but no search results."""


class Reference(NamedTuple):
    """A name that a chunk mentions, exactly as written; resolving it is the graph's work.

    `name` is dotted (`self.store.get`), `line` is 1-based in the file, `kind` is one of
    `call`, `name`, `import`, `base`, `decorator`. A tuple, since a repository has a million of them.
    """

    name: str
    line: int
    kind: str = "call"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a repository: a function, a lambda, a class or a module.

    `path` is POSIX and relative to the root; `start_line` and `end_line` are 1-based and inclusive;
    `namespace` is the folder of the path (`""` at the root); `code` is the source of those lines;
    `doc` is the docstring or Go doc comment as written, without its delimiters.
    `marks` are sorted facts for ranking and display: `async`, `method`, `nested`, `property`, `overload`, `abstract`,
    `test`, `generated`, `recovered` (found by the tolerant parser in a file with a syntax error).
    """

    id: str
    kind: Kind
    name: str
    qualname: str
    namespace: str
    path: str
    start_line: int
    end_line: int
    language: str
    signature: str
    doc: str
    code: str = field(repr=False)
    references: tuple[Reference, ...] = field(default=(), repr=False)
    marks: tuple[str, ...] = ()

    @property
    def location(self) -> str:
        """`path:start-end`, as editors understand it."""
        return f"{self.path}:{self.start_line}-{self.end_line}"


def in_namespace(path_or_namespace: str, namespace: str) -> bool:
    """Whether a POSIX path lies in `namespace`: whole leading segments of it, never a bare prefix.

    >>> in_namespace("cli/root.go", "cli"), in_namespace("client/http.go", "cli"), in_namespace("pkg/sub", "pkg/sub")
    (True, False, True)
    """
    wanted = namespace.strip("/")
    return not wanted or path_or_namespace == wanted or path_or_namespace.startswith(wanted + "/")


class Corpus(Sequence[Chunk]):
    """All chunks of one repository, in path and line order, each id once.

    `skipped` maps each file or folder that was left out to the reason; `notes` maps files that were read
    with a reservation (decoded with replacement, recovered after a syntax error) to that reservation.
    `facts` maps a path to what its parser kept for the resolvers (opaque to everyone else);
    `digests` maps it to the SHA-256 of the file's bytes in hex.
    """

    def __init__(
        self,
        chunks: Iterable[Chunk],
        *,
        root: str = "",
        skipped: Mapping[str, str] | None = None,
        notes: Mapping[str, str] | None = None,
        facts: Mapping[str, object] | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self.chunks: tuple[Chunk, ...] = tuple(chunks)
        self.root = root
        self.skipped: dict[str, str] = dict(skipped or {})
        self.notes: dict[str, str] = dict(notes or {})
        self.facts: dict[str, object] = dict(facts or {})
        self.digests: dict[str, str] = dict(digests or {})
        self._by_id = {chunk.id: chunk for chunk in self.chunks}
        if len(self._by_id) != len(self.chunks):
            seen: set[str] = set()
            double = next(c.id for c in self.chunks if c.id in seen or seen.add(c.id))  # type: ignore[func-returns-value]
            raise ValueError(f"chunk id {double!r} occurs twice; ids must be unique: number repeats with #2, #3")
        self.functions: tuple[Chunk, ...] = tuple(c for c in self.chunks if c.kind == "function")

    def where(
        self,
        *,
        kind: str | None = None,
        namespace: str | None = None,
        path: str | None = None,
        language: str | None = None,
    ) -> Corpus:
        """The part of the corpus that meets every given condition, as a corpus of its own."""
        kept = [
            c
            for c in self.chunks
            if (kind is None or c.kind == kind)
            and (namespace is None or in_namespace(c.path, namespace))
            and (path is None or c.path == path)
            and (language is None or c.language == language)
        ]
        return Corpus(
            kept,
            root=self.root,
            skipped=self.skipped,
            notes=self.notes,
            facts=self.facts,
            digests=self.digests,
        )

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        """The chunk with this id (`corpus["pkg/mod.py::f"]`), or by position or slice as in a tuple."""
        if not isinstance(key, str):
            return self.chunks[key]
        found = self._by_id.get(key)
        if found is None:
            raise KeyError(f"no chunk {key!r} among {len(self.chunks)}; nearest: {self.nearest(key) or 'none'}")
        return found

    def nearest(self, chunk_id: str, n: int = 3) -> list[str]:
        """Up to `n` ids that look like `chunk_id`, best first: for error messages and pickers."""
        tail = chunk_id.rsplit("::", 1)[-1].rsplit(".", 1)[-1].lower()
        same = sorted(i for i, c in self._by_id.items() if c.name.lower() == tail)
        close = difflib.get_close_matches(chunk_id, list(self._by_id), n=n, cutoff=0.5) if len(same) < n else []
        return list(dict.fromkeys([*same, *close]))[:n]

    def get(self, chunk_id: str) -> Chunk | None:
        """The chunk with this id, or None."""
        return self._by_id.get(chunk_id)

    @property
    def namespaces(self) -> list[str]:
        """Every folder that holds a chunk, sorted."""
        return sorted({c.namespace for c in self.chunks})

    def __contains__(self, key: object) -> bool:
        return key in self._by_id if isinstance(key, str) else key in self.chunks

    def __len__(self) -> int:
        return len(self.chunks)

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.chunks)

    def __repr__(self) -> str:
        files = len({c.path for c in self.chunks})
        sizes = ((len(self.functions), "function"), (len(self.chunks), "chunk"), (files, "file"))
        return f"Corpus({', '.join(counted(n, noun) for n, noun in sizes)}, {len(self.skipped)} skipped)"
