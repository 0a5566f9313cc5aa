"""Run by test_disk: saves and updates in child processes that are killed, then looks at what is on disk.

Each child is stopped once at every system call that changes files (exactly, by number), then at random moments
by SIGKILL. Usage: kill_driver.py SCENARIO FOLDER KILLS; the last line printed is a JSON object of counts.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from hashlib import sha512
from pathlib import Path

import numpy as np

from codekb import Collection, KnowledgeBase
from codekb.store import disk, folder
from codekb.store.errors import StoreError

CALLS = ("open", "replace", "rename", "fsync", "unlink", "mkdir", "rmdir")


class HashEncoder:
    name, dimension = "hash", 16

    def encode(self, texts):
        rows = [np.frombuffer(sha512(t.encode()).digest(), dtype="<i4") for t in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 16) / np.float32(2**31)

    def encode_query(self, text):
        return self.encode([text])[0]


def state(seed: int):
    rng = np.random.default_rng(seed)
    return {"a": rng.standard_normal((20_000, 8)).astype(np.float32), "b": json.dumps([seed] * 50_000).encode()}


class Fresh:
    """Nothing, then an index."""

    def __init__(self, root: Path) -> None:
        self.index, self.kept = root / "index", root / "kept"
        self.prepare()
        if self.index.exists():
            self.index.rename(self.kept)

    def prepare(self) -> None:
        """The old state in `index`, made once."""

    def before(self) -> None:
        """Back to the old state."""
        shutil.rmtree(self.index, ignore_errors=True)
        if self.kept.exists():
            shutil.copytree(self.kept, self.index)

    def work(self) -> None:
        folder.save(self.index, "test", {"seed": 2}, state(2))

    def look(self) -> str:
        try:
            return self.check(folder.open_folder(self.index, "test"))
        except StoreError as error:
            assert "no saved index" in str(error), error
            return "old"

    def check(self, opened) -> str:
        seed = opened.about["seed"]
        wanted = state(seed)
        assert np.array_equal(opened.array("a"), wanted["a"]) and opened.blobs["b"] == wanted["b"]
        return "old" if seed == 1 else "new"


class Replace(Fresh):
    """An index, then another."""

    def prepare(self) -> None:
        folder.save(self.index, "test", {"seed": 1}, state(1))

    def look(self) -> str:
        return self.check(folder.open_folder(self.index, "test"))


class OfCollection(Fresh):
    """A collection, opened, changed and saved again."""

    def prepare(self) -> None:
        collection = Collection("c")
        collection.add([str(i) for i in range(3000)], state(1)["a"][:3000], contents=["x" * 100] * 3000)
        collection.save(self.index)

    def work(self) -> None:
        collection = Collection.open(self.index)
        collection.delete([str(i) for i in range(100)])
        collection.add(["new"], [[1.0] * 8])
        collection.save(self.index)

    def look(self) -> str:
        collection = Collection.open(self.index)
        assert len(collection.query_embedding([1.0] * 8, 5)) == 5
        assert collection.count() in (2901, 3000)
        assert ("new" in collection.list_ids()) == (collection.count() == 2901)
        return "new" if collection.count() == 2901 else "old"


class OfKnowledgeBase(Fresh):
    """A knowledge base, opened and updated."""

    def __init__(self, root: Path) -> None:
        self.repo = root / "repo"
        self.repo.mkdir()
        for i in range(12):
            (self.repo / f"m{i}.py").write_text("".join(f"def f{i}_{j}():\n    return f{i}_{j}()\n" for j in range(40)))
        super().__init__(root)

    def prepare(self) -> None:
        (self.repo / "extra.py").write_text("def one():\n    return 1\n")
        kb = KnowledgeBase.build(self.repo, encoder=HashEncoder())
        kb.graph_by("name")
        kb.save(self.index)
        (self.repo / "extra.py").write_text("def two():\n    return 2\n")

    def work(self) -> None:
        KnowledgeBase.open(self.index, HashEncoder()).update()

    def look(self) -> str:
        corpus = disk.open(self.index).corpus
        kb = KnowledgeBase.open(self.index, HashEncoder())
        assert len(kb.corpus) == len(corpus) == 12 * 41 + 2
        assert np.array_equal(kb.vectors().matrix, HashEncoder().encode(kb._texts("enriched")))
        assert ("extra.py::one" in corpus) != ("extra.py::two" in corpus)
        assert set(kb.graph_by("name").nodes) == {c.id for c in corpus}
        return "old" if "extra.py::one" in corpus else "new"


SCENARIOS = {"fresh": Fresh, "replace": Replace, "collection": OfCollection, "update": OfKnowledgeBase}


def child(work, stop_before: int | None) -> int:
    """Fork a process that does the work, and ends before its n-th call that changes files, if n is given."""
    pid = os.fork()
    if pid:
        return pid
    try:
        if stop_before is not None:
            count_calls(stop_before)
        work()
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(3)
    os._exit(0)


def count_calls(stop_before: int) -> None:
    left = stop_before

    def counted(real):
        def call(*args, **kwargs):
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))


def timed(scenario) -> float:
    scenario.before()
    started = time.perf_counter()
    pid = child(scenario.work, None)
    assert os.waitpid(pid, 0)[1] == 0
    return time.perf_counter() - started


def main(name: str, root: Path, kills: int) -> None:
    scenario = SCENARIOS[name](root)
    counts = {"steps": 0, "kills": 0, "old": 0, "new": 0, "survived": 0}
    step = 0
    while True:
        scenario.before()
        code = os.waitstatus_to_exitcode(os.waitpid(child(scenario.work, step), 0)[1])
        assert code in (0, 9), code
        counts[scenario.look()] += 1
        counts["steps"] += 1
        if code == 0:
            break
        step += 1
    rng = random.Random(5)
    long = timed(scenario)
    while counts["kills"] < kills:
        scenario.before()
        pid = child(scenario.work, None)
        time.sleep(rng.uniform(0, long))
        os.kill(pid, signal.SIGKILL)
        ended_before = os.waitpid(pid, 0)[1] == 0
        counts["survived" if ended_before else "kills"] += 1
        long *= 0.9 if ended_before else 1.02  # the machine's speed changes: most kills should strike
        counts[scenario.look()] += 1
        scenario.work()
        assert scenario.look() == "new", "work goes on after a crash"
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
