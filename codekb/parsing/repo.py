"""A repository to a corpus: list, read, parse, report. Each language has its own file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from codekb.chunks import Chunk, Corpus
from codekb.parsing.base import FileParse
from codekb.parsing.listing import DEFAULT_EXCLUDE
from codekb.parsing.pool import parse_all
from codekb.parsing.sources import MAX_BYTES, Source, read_repo

Progress = Callable[[str, int, int], None]
"""Called as progress(stage, done, total)."""


def parse_repo(
    root: str | os.PathLike[str],
    *,
    exclude: Sequence[str] = DEFAULT_EXCLUDE,
    max_bytes: int = MAX_BYTES,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Corpus:
    """Every function, class and module of the Python and Go files below `root`.

    `exclude` holds patterns in .gitignore syntax, added to the repository's own ignore rules; `max_bytes` bounds a
    file's size; `workers` the processes (None: one a core where the repository is large enough to pay).
    Every file that was left out stands in `corpus.skipped` with its reason, and what was read with a
    reservation in `corpus.notes`. Links are never followed, and no code of the repository is run.
    Raises FileNotFoundError or NotADirectoryError for a root that is no folder.
    """
    folder = check_root(root)
    sources, skipped = read_repo(folder, exclude, max_bytes)
    return assemble(folder, sources, parse_all(sources, workers, progress), skipped)


def check_root(root: str | os.PathLike[str]) -> Path:
    """`root` as an absolute path; a clear error where it is no folder."""
    folder = Path(os.path.expanduser(os.fspath(root)))
    if not folder.exists():
        raise FileNotFoundError(f"no folder {str(root)!r}: give the path of a repository or package folder")
    if not folder.is_dir():
        raise NotADirectoryError(f"{str(root)!r} is a file: give the folder that holds it")
    return folder.resolve()


def assemble(
    root: Path, sources: Iterable[Source], parsed: Mapping[str, FileParse], skipped: Mapping[str, str]
) -> Corpus:
    """Parsed files, in path order, to one corpus. A file whose parser failed is reported as skipped."""
    chunks: list[Chunk] = []
    facts: dict[str, object] = {}
    notes: dict[str, str] = {}
    left_out = dict(skipped)
    for source in sorted(sources, key=lambda s: s.path):
        if source.language == "go.mod":
            facts[source.path] = source.text
            continue
        file = parsed[source.path]
        if file.facts is None and not file.chunks:
            left_out[source.path] = file.note
            continue
        chunks += file.chunks
        facts[source.path] = file.facts
        if remark := "; ".join(n for n in (source.note, file.note) if n):
            notes[source.path] = remark
    digests = {source.path: source.digest for source in sources}
    return Corpus(
        chunks,
        root=str(root),
        skipped=dict(sorted(left_out.items())),
        notes=notes,
        facts=facts,
        digests=digests,
    )
