"""A knowledge base as a saved state: corpus, vectors, graphs, options; and what has changed since. No search."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from codekb import parsing
from codekb.chunks import Chunk, Corpus, Reference
from codekb.parsing.base import FileParse
from codekb.parsing.pool import parse_all
from codekb.parsing.repo import Progress, assemble, check_root
from codekb.parsing.sources import Source, read_repo
from codekb.store import plain
from codekb.store.errors import DamagedError, StoreError
from codekb.store.folder import LOCK_WAIT, Opened, Part, open_folder, to_json
from codekb.store.folder import save as save_folder

Floats = NDArray[np.float32]

KIND = "knowledge base"
CHUNK_FIELDS = tuple(f.name for f in fields(Chunk))
_NUMBERS = ("start_line", "end_line")


@dataclass(frozen=True, slots=True)
class IndexState:
    """What a saved knowledge base holds. `vectors` map a view of the text to an array (functions, dimension),

    rows in `corpus.functions` order; `graphs` map a resolver to its graph as JSON bytes; `parser` identifies the
    code that parsed; `options` are the arguments of `parse_repo`; `generation` is set once it is on disk.
    """

    corpus: Corpus
    encoder: str
    dimension: int
    vectors: Mapping[str, Floats]
    graphs: Mapping[str, bytes] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    parser: str = ""
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What an update found: paths in order, and how many vectors it computed and kept over all views."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    encoded: int = 0
    kept: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@functools.cache
def parser_fingerprint() -> str:
    """A hash of the parsing code: results of another parser are never mixed with this one's."""
    digest = sha256(repr(CHUNK_FIELDS).encode())
    for file in sorted(Path(parsing.__path__[0]).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def save(state: IndexState, path: str | os.PathLike[str], *, wait: float = LOCK_WAIT) -> str:
    """Write the state into a folder, all or nothing; the new generation. See `folder` for locks and crashes."""
    corpus = state.corpus
    about = {
        "root": corpus.root,
        "encoder": state.encoder,
        "dimension": state.dimension,
        "views": sorted(state.vectors),
        "graphs": sorted(state.graphs),
        "options": dict(state.options),
        "parser": state.parser or parser_fingerprint(),
        "chunk_fields": list(CHUNK_FIELDS),
        "chunks": len(corpus),
        "functions": len(corpus.functions),
    }
    files = {"digests": corpus.digests, "skipped": corpus.skipped, "notes": corpus.notes}
    parts: dict[str, Part] = {
        "chunks": to_json([[getattr(chunk, name) for name in CHUNK_FIELDS] for chunk in corpus]),
        "files": to_json(files),
        "facts": corpus.facts.raw if isinstance(corpus.facts, Facts) else plain.dump(corpus.facts),
    }
    parts.update({f"vectors-{view}": matrix for view, matrix in state.vectors.items()})
    parts.update({f"graph-{name}": content for name, content in state.graphs.items()})
    return save_folder(path, KIND, about, parts, wait=wait)


def open(path: str | os.PathLike[str], *, verify: bool = True) -> IndexState:
    """The state in a folder. Raises StoreError where there is none, DamagedError where it is not whole."""
    opened = open_folder(path, KIND, verify=verify)
    try:
        return _state(opened)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, StoreError):
            raise
        raise DamagedError(f"{os.fspath(path)} holds no whole knowledge base ({error!r:.120}); save it again") from None


def _state(opened: Opened) -> IndexState:
    about = opened.about
    if tuple(about["chunk_fields"]) != CHUNK_FIELDS:
        raise DamagedError("the index was saved by another version of codekb; build it again")
    told = opened.json("files")
    corpus = Corpus(
        (_chunk(row) for row in opened.json("chunks")),
        root=str(about["root"]),
        skipped=_texts(told["skipped"]),
        notes=_texts(told["notes"]),
        digests=_texts(told["digests"]),
    )
    corpus.facts = cast("dict[str, object]", Facts(opened.blobs["facts"], about["parser"]))
    shape = (len(corpus.functions), int(about["dimension"]))
    vectors = {}
    for view in about["views"]:
        matrix = opened.array(f"vectors-{view}")
        if matrix.shape != shape or matrix.dtype != np.float32:
            raise DamagedError(f"vectors of shape {matrix.shape} and type {matrix.dtype} came, {shape} was expected")
        vectors[str(view)] = matrix
    graphs = {str(name): opened.blobs[f"graph-{name}"] for name in about["graphs"]}
    options = dict(about["options"])
    return IndexState(
        corpus, str(about["encoder"]), shape[1], vectors, graphs, options, str(about["parser"]), opened.generation
    )


def _chunk(row: Sequence[Any]) -> Chunk:
    told = dict(zip(CHUNK_FIELDS, row, strict=True))
    told["references"] = tuple(Reference(*reference) for reference in told["references"])
    told["marks"] = tuple(told["marks"])
    for name, value in told.items():
        wanted = int if name in _NUMBERS else tuple if name in ("references", "marks") else str
        if type(value) is not wanted:
            raise DamagedError(f"a chunk's {name} is {value!r:.60}, not of type {wanted.__name__}")
    return Chunk(**told)


def _texts(told: Any) -> dict[str, str]:
    if not all(isinstance(value, str) for value in told.values()):
        raise DamagedError("a list of files holds what is no text")
    return dict(told)


class Facts(Mapping[str, object]):
    """What the parsers kept for the resolvers, decoded when a resolver first asks; refused if of another parser."""

    def __init__(self, raw: bytes, parser: str) -> None:
        self.raw = raw
        self.parser = parser
        self._decoded: dict[str, object] | None = None

    def _facts(self) -> dict[str, object]:
        if self.parser != parser_fingerprint():
            raise StoreError(
                "the index was saved by another version of codekb, whose parse results do not fit this one's "
                "resolvers; call update(): it parses again and keeps every vector whose text is the same"
            )
        if self._decoded is None:
            try:
                self._decoded = dict(plain.load(self.raw))
            except (ValueError, TypeError, RecursionError) as error:
                raise DamagedError(f"the saved parse results are damaged ({error!s:.80}); build again") from None
        return self._decoded

    def __getitem__(self, path: str) -> object:
        return self._facts()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts())

    def __len__(self) -> int:
        return len(self._facts())


def refreshed(
    old: Corpus, parser: str, root: str | os.PathLike[str], options: Mapping[str, Any], progress: Progress | None
) -> tuple[Corpus, Changes]:
    """The corpus as a fresh parse would give it, parsing only files whose content changed, and what changed."""
    folder = check_root(root)
    reading = {key: value for key, value in options.items() if key in ("exclude", "max_bytes")}
    sources, skipped = read_repo(folder, **reading)
    kept = _kept(old, sources) if parser == parser_fingerprint() else {}
    workers = options.get("workers")
    parsed = parse_all([s for s in sources if s.path not in kept], workers, progress)
    corpus = assemble(folder, sources, {**kept, **parsed}, skipped)
    before, now = old.digests, corpus.digests
    return corpus, Changes(
        added=tuple(sorted(now.keys() - before.keys())),
        changed=tuple(sorted(path for path in now.keys() & before.keys() if now[path] != before[path])),
        removed=tuple(sorted(before.keys() - now.keys())),
    )


def _kept(old: Corpus, sources: Sequence[Source]) -> dict[str, FileParse]:
    """The parses of unchanged files, put together from the old corpus."""
    chunks: dict[str, list[Chunk]] = {}
    for chunk in old:
        chunks.setdefault(chunk.path, []).append(chunk)
    kept = {}
    for source in sources:
        same = old.digests.get(source.path) == source.digest and source.path in old.facts
        if same and source.language != "go.mod":
            note = old.notes.get(source.path, "").removeprefix(source.note).removeprefix("; ")
            kept[source.path] = FileParse(tuple(chunks.get(source.path, ())), old.facts[source.path], note)
    return kept


def carried_over(
    before: Mapping[str, Floats], texts: Sequence[str], dimension: int, encode: Callable[[list[str]], Floats]
) -> tuple[Floats, int]:
    """Vectors of `texts`: those that `before` knows by their text, the others encoded; and how many were encoded."""
    matrix = np.zeros((len(texts), dimension), dtype=np.float32)
    missing = []
    for row, text in enumerate(texts):
        known = before.get(text)
        if known is None:
            missing.append(row)
        else:
            matrix[row] = known
    if missing:
        matrix[missing] = encode([texts[row] for row in missing])
    return matrix, len(missing)
