"""Parsing many files, in worker processes where that pays. What parsing a file means is in `python` and `go`.

Workers are plain subprocesses that exchange pickles with this one, not `multiprocessing`: those re-run the caller's
main module (spawn) or copy a notebook's threads (fork).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from codekb.collector import paused
from codekb.parsing.base import FileParse
from codekb.parsing.sources import Source

BYTES_WORTH_A_PROCESS = 1_500_000
"""A worker starts in about 0.15 s, in which one process parses about half a megabyte; below this it does not pay."""

MAX_WORKERS = 8
PACKING, UNPACKING = 0.3, 0.1
"""What a worker's answer costs, there and here, as parts of the time of parsing it."""

HOME = str(Path(__file__).resolve().parents[2])
WORKER = f"import sys; sys.path.insert(0, {HOME!r}); from codekb.parsing.pool import serve; serve()"

Progress = Callable[[str, int, int], None]


def parse_source(source: Source) -> FileParse:
    """One file to chunks and facts. Never raises: a parser that fails leaves its error as the note."""
    from codekb.parsing import go, python

    try:
        parse: Callable[[str, str], FileParse] = python.parse if source.language == "python" else go.parse
        return parse(source.path, source.text)
    except Exception as error:  # one file that trips a parser must not stop the run; the report names it
        return FileParse((), None, f"could not be parsed: {type(error).__name__}: {str(error)[:200]}")


def parse_all(
    sources: Sequence[Source], workers: int | None = None, progress: Progress | None = None
) -> dict[str, FileParse]:
    """Path → parse of every Python and Go source, whatever the number of workers."""
    files = [s for s in sources if s.language != "go.mod"]
    count = _worker_count(files, workers)
    report = progress or (lambda stage, done, total: None)
    own, *others = _shares(files, count)
    running = [_Worker(share) for share in others]
    done: dict[str, FileParse] = {}
    with paused():
        for source in own:
            done[source.path] = parse_source(source)
            report("parse", len(done), len(files))
        for worker in running:
            done.update(worker.result())
            report("parse", len(done), len(files))
    return done


def _worker_count(files: Sequence[Source], wanted: int | None) -> int:
    if wanted is not None:
        return max(1, wanted)
    size = sum(len(s.text) for s in files)
    return max(1, min(_cores(), MAX_WORKERS, 1 + size // BYTES_WORTH_A_PROCESS))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shares(files: Sequence[Source], count: int) -> list[list[Source]]:
    """Files in `count` lists that end together, the first for this process; largest files are dealt out first."""
    speed = [_own_speed(count), *[1.0] * (count - 1)]
    shares: list[list[Source]] = [[] for _ in range(count)]
    load = [0.0] * count
    for source in sorted(files, key=lambda s: (-len(s.text), s.path)):
        lightest = min(range(count), key=lambda i: (load[i], i))
        shares[lightest].append(source)
        load[lightest] += len(source.text) / speed[lightest]
    return shares


def _own_speed(count: int) -> float:
    """This process's share in shares of a worker: x + UNPACKING · (1 - x) = (1 + PACKING) · (1 - x) / (count - 1)."""
    if count == 1:
        return 1.0
    each = (1 + PACKING) / (count - 1)
    own = (each - UNPACKING) / (1 + each - UNPACKING)
    return max(own, 0.01) * (count - 1) / (1 - own)


class _Worker:
    """One subprocess with a temporary file each way. No pipe: a thread that fed it would wait for this busy process."""

    def __init__(self, share: list[Source]) -> None:
        self.share = share
        self.process: subprocess.Popen[bytes] | None = None
        self.files = contextlib.ExitStack()
        try:
            self.answer = self.files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
            with tempfile.TemporaryFile() as question:
                pickle.dump(share, question, protocol=pickle.HIGHEST_PROTOCOL)
                question.seek(0)
                self.process = subprocess.Popen(
                    [sys.executable, "-c", WORKER], stdin=question, stdout=self.answer, stderr=subprocess.DEVNULL
                )
        except OSError:  # no room for the files, or no more processes: parsed here then
            self.files.close()

    def result(self) -> dict[str, FileParse]:
        """The worker's parses; parsed here instead where the process could not be started or died."""
        with self.files:
            if self.process is not None and self.process.wait() == 0:
                self.answer.seek(0)
                parsed: dict[str, FileParse] = pickle.load(self.answer)
                return parsed
        return {source.path: parse_source(source) for source in self.share}


def serve(stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
    """The worker's side: a pickled list of sources comes in, a pickled path → parse goes out."""
    share = pickle.load(stdin or sys.stdin.buffer)
    with paused(), stdout or open(sys.stdout.fileno(), "wb", closefd=False) as out:
        sys.stdout = sys.stderr
        pickle.dump({s.path: parse_source(s) for s in share}, out, protocol=pickle.HIGHEST_PROTOCOL)
    if stdout is None:
        os._exit(0)  # nothing is left to do: freeing every object would take a tenth of the time
