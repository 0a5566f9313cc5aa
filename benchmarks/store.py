"""What a collection costs at scale: build, save, open, query, update, delete; factories against Flat; memory.

    python benchmarks/store.py                       one million vectors of 256 dimensions
    python benchmarks/store.py --n 100000 --factories  the smaller table of factory strings as well

Vectors are made (2,000 centres with noise, seeded). Every query is timed beside plain FAISS in the same loop, on one
thread; milliseconds and ratios of queries are CPU time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

from codekb import Collection, Table

CENTRES = 2000
BLOCK = 50_000
REPEATS = 15


def made(n: int, dimension: int, seed: int = 0) -> np.ndarray:
    """`n` unit vectors around common centres, as embeddings of real texts lie."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((CENTRES, dimension), dtype=np.float32)
    out = np.empty((n, dimension), dtype=np.float32)
    for start in range(0, n, BLOCK):
        part = out[start : start + BLOCK]
        rng.standard_normal(out=part, dtype=np.float32)
        part += centres[rng.integers(0, CENTRES, len(part))]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return out


def once(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu(work: Callable[[], object]) -> float:
    """Milliseconds of CPU time of all threads."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1e3


def beside(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float, float]:
    """Median CPU milliseconds of both, run in turn, and the median of the ratios of neighbours."""
    ours(), theirs()
    pairs = [(cpu(ours), cpu(theirs)) for _ in range(REPEATS)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return mine, other, statistics.median(a / b for a, b in pairs)


def megabytes() -> int:
    """Resident memory now, in MB (Linux), else the peak."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) // 1024 for line in status.read_text().splitlines() if "VmRSS" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def metadata(n: int) -> list[dict[str, str]]:
    return [
        {"lang": ("python", "go")[i % 2], "decile": str(i % 10), "module": f"m{i % 1000}", "line": str(i)}
        for i in range(n)
    ]


def scale(n: int, dimension: int, folder: Path) -> Table:
    vectors = made(n, dimension)
    ids = [f"pkg/m{i % 1000}.py::f{i}" for i in range(n)]
    maps, texts = metadata(n), [f"def f{i}(): ..." for i in range(n)]
    rows: list[list[object]] = []

    def note(what: str, seconds: float, remark: str = "") -> None:
        rows.append([what, f"{seconds:.2f} s" if seconds >= 0.5 else f"{seconds * 1e3:.1f} ms", megabytes(), remark])
        print(*rows[-1], sep=" | ", flush=True)

    collection = Collection("scale")
    note("build: add all", once(lambda: collection.add(ids, vectors, maps, texts)))
    plain = faiss.IndexFlatIP(dimension)
    note("plain FAISS: add all", once(lambda: plain.add(vectors)), "the scan's rival, one more copy of the vectors")
    vectors = maps = texts = None
    note("save", once(lambda: collection.save(folder)), f"{sum(f.stat().st_size for f in folder.iterdir()) >> 20} MB")
    queries(collection, plain, dimension, note)
    plain = None
    rng = np.random.default_rng(5)
    collection = None
    note("(all dropped)", 0.0)
    opened: list[Collection] = []
    note("open, checksums read", once(lambda: opened.append(Collection.open(folder))))
    opened.clear()
    note("open, mapped only", once(lambda: opened.append(Collection.open(folder, verify=False))))
    (again,) = opened
    query = made(1, dimension, 7)[0]
    note("first query after it", once(lambda: again.query_embedding(query, 10)))
    chosen = rng.choice(n, n // 50, replace=False)
    changed, doomed = [ids[i] for i in chosen[: n // 100]], [ids[i] for i in chosen[n // 100 :]]
    fresh = made(len(changed), dimension, 8)
    note("update of 1 %", once(lambda: again.add(changed, fresh, metadata(len(changed)), ["new"] * len(changed))))
    note("delete of 1 %", once(lambda: again.delete(doomed)))
    note("query after both", once(lambda: again.query_embedding(query, 10)))
    note("save after both", once(lambda: again.save(folder)))
    return Table(["step", "time", "MB resident", "remark"], rows, caption=f"{n:,} vectors of {dimension} dimensions")


def queries(collection: Collection, plain: faiss.IndexFlatIP, dimension: int, note: Callable[..., None]) -> None:
    n = len(collection)
    asked = made(1, dimension, 7)
    vector = asked[0]
    faiss.omp_set_num_threads(1)
    bandwidth = memory_limit(collection, plain)
    mine, other, ratio = beside(lambda: collection.query_embedding(vector, 10), lambda: plain.search(asked, 10))
    note("query", mine / 1e3, f"FAISS {other:.1f} ms, ratio {ratio:.3f}; reading the vectors once {bandwidth:.1f} ms")
    got = [hit.id for hit in collection.query_embedding(vector, 10)]
    assert got == [collection.rows.ids[i] for i in plain.search(asked, 10)[1][0]], "the same ten, in the same order"
    for name, where, keep in (
        ("1/2", {"lang": "go"}, np.arange(n) % 2 == 1),
        ("1/10", {"decile": "3"}, np.arange(n) % 10 == 3),
        ("1/1000", {"module": "m7"}, np.arange(n) % 1000 == 7),
    ):
        first = cpu(lambda where=where: collection.query_embedding(vector, 10, where))
        bits = np.packbits(keep, bitorder="little")
        ready = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(n, faiss.swig_ptr(bits)))
        mine, other, ratio = beside(
            lambda where=where: collection.query_embedding(vector, 10, where),
            lambda ready=ready: plain.search(asked, 10, params=ready),
        )
        remark = f"FAISS with a ready selector {other:.1f} ms, ratio {ratio:.3f}; first use {first:.1f} ms"
        note(f"query, filter leaves {name}", mine / 1e3, remark)
    text = once(lambda: collection.query_embedding(vector, 10, where_document={"$contains": "f77"}))
    note("query, text filter, first use", text)


def memory_limit(collection: Collection, plain: faiss.IndexFlatIP) -> float:
    """Milliseconds to read all vectors once, measured as half of comparing two equal copies byte by byte."""
    vectors = collection.rows.vectors
    assert vectors is not None
    one = vectors.view
    compare = ctypes.CDLL(None).memcmp
    compare.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    other = int(plain.get_xb())
    times = []
    for _ in range(5):
        equal = []
        times.append(cpu(lambda equal=equal: equal.append(compare(one.ctypes.data, other, one.nbytes) == 0)))
        assert equal == [True], "both hold the same vectors in the same order"
    return min(times) / 2


def like_chromem() -> Table:
    """The sizes that chromem-go publishes: 1536 dimensions, ten results, no filter."""
    rows = []
    for n, published in ((1_000, 1.2), (5_000, None), (25_000, None), (100_000, 205.0)):
        collection = Collection("x")
        collection.add([str(i) for i in range(n)], made(n, 1536))
        asked = made(1, 1536, 3)[0]
        times = [cpu(lambda c=collection, q=asked: c.query_embedding(q, 10)) for _ in range(11)]
        rows.append([f"{n:,}", statistics.median(times), published])
    notes = ["published by chromem-go: CPU time a query on another machine of this kind"]
    return Table(["documents", "ms", "chromem-go ms"], rows, caption="1536 dimensions", notes=notes)


FACTORIES = (
    ("Flat", ""),
    ("HNSW32", "efSearch=64"),
    ("IVF256,Flat", "nprobe=16"),
    ("IVF256,SQ8", "nprobe=16"),
    ("IVF256,PQ32", "nprobe=16"),
    ("IVF256,PQ32", "nprobe=64"),
)


def factories(n: int, dimension: int) -> Table:
    """Each factory string: build time, bytes beside the vectors, time a query, recall of the ten that Flat finds."""
    vectors, asked = made(n, dimension), made(200, dimension, 11)
    ids = [str(i) for i in range(n)]
    rows, right = [], []
    for factory, tune in FACTORIES:
        collection = Collection("x", factory=factory, tune=tune)
        collection.add(ids, vectors)
        build = once(lambda c=collection: c.query_embedding(asked[0], 10))
        started = time.process_time()
        found = [{hit.id for hit in collection.query_embedding(query, 10)} for query in asked]
        taken = (time.process_time() - started) / len(asked) * 1e3
        right = right or found
        index = collection.rows.index
        extra = len(index.to_bytes() or b"") / 1e6 if index else 0.0
        recall = statistics.mean(len(a & b) / 10 for a, b in zip(found, right, strict=True))
        rows.append([factory, tune, build, extra, taken, recall])
        print(*rows[-1], sep=" | ", flush=True)
    columns = ["factory", "tune", "build s", "MB more", "CPU ms a query", "recall@10"]
    return Table(columns, rows, caption=f"{n:,} made vectors of {dimension} dimensions, 200 queries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--factories", action="store_true", help="also compare factory strings, on a tenth of n")
    chosen = parser.parse_args()
    print(sys.version.split()[0], "faiss", faiss.__version__)
    with tempfile.TemporaryDirectory() as folder:
        print(scale(chosen.n, chosen.dimension, Path(folder) / "index"))
    print(like_chromem())
    if chosen.factories:
        print(factories(max(20_000, chosen.n // 10), chosen.dimension))


if __name__ == "__main__":
    main()
