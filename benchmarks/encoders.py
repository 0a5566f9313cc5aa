"""How fast encoders load and encode: functions per second and milliseconds a question, over the functions of a folder.

    python benchmarks/encoders.py FOLDER [--minilm 200] [--processes 2]

Prints a table. Wall-clock figures of this machine at this moment: compare rows of one run, not runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from codekb.encoders import Encoder, MiniLMEncoder, StaticEncoder
from codekb.parsing.repo import parse_repo
from codekb.table import Table
from codekb.text import enrich

ROUNDS = 5
QUESTIONS = ("how long before a request times out", "parse the header of a response", "open a connection pool")
LOAD = (
    "import time, codekb.encoders.static as s; t = time.perf_counter(); s.StaticEncoder(); "
    "print(1000 * (time.perf_counter() - t))"
)


def rate(encoder: Encoder, texts: Sequence[str], rounds: int) -> tuple[float, float]:
    """Texts a second and a second of processor time, the best of some rounds (the machine may be busy)."""
    found = []
    for _ in range(rounds):
        started, busy = time.perf_counter(), time.process_time()
        encoder.encode(texts)
        found.append((len(texts) / (time.perf_counter() - started), len(texts) / (time.process_time() - busy)))
    return max(f for f, _ in found), max(c for _, c in found)


def per_question(encoder: Encoder) -> float:
    """Milliseconds a question, the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for question in QUESTIONS:
            encoder.encode_query(question)
        best = min(best, 1000 * (time.perf_counter() - started) / len(QUESTIONS))
    return best


def _static_rate(texts: Sequence[str]) -> float:
    encoder = StaticEncoder()
    encoder.encode(texts)
    return rate(encoder, texts, ROUNDS)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--minilm", type=int, default=0, help="also MiniLM, on so many functions")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    texts = [enrich(chunk) for chunk in parse_repo(options.folder).functions]
    load = float(subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True).stdout)
    static = StaticEncoder()
    rows: list[tuple[str | float | None, ...]] = [
        ("static, words seen for the first time", *rate(static, texts, 1), None, load),
        ("static, one process", *rate(static, texts, ROUNDS), per_question(static), None),
    ]
    halves = [texts[i :: options.processes] for i in range(options.processes)]
    with ProcessPoolExecutor(options.processes) as pool:
        rows.append((f"static, {options.processes} processes", sum(pool.map(_static_rate, halves)), None, None, None))
    if options.minilm:
        minilm = MiniLMEncoder()
        rows.append(("MiniLM", *rate(minilm, texts[: options.minilm], 1), per_question(minilm), None))
    columns = ("encoder", "functions/s", "functions/s of one core", "ms a question", "ms to load")
    print(Table(columns, rows, caption=f"{len(texts)} functions, {sum(map(len, texts)) // len(texts)} characters each"))


if __name__ == "__main__":
    main()
