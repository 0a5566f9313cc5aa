"""Compares the Go call graph with the ones of golang.org/x/tools (static, CHA, VTA), on real projects.

    python benchmarks/go_call_graph.py GOPATH IMPORT_PATH...      (Debian: /usr/share/gocode go.etcd.io/bbolt)

Needs Go and x/tools below GOPATH/src (Debian's golang-golang-x-tools-dev); nothing is downloaded. Pairs of functions
are compared; tests are left out. What only VTA or only codekb has can be listed with --differences N for reading.
"""

from __future__ import annotations

import argparse
import bisect
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import codekb
from codekb.table import Table

HERE = Path(__file__).parent
METHODS = ("static", "cha", "vta")
ASIDE = ("build variant", "callback")
Pair = tuple[str, str]


def build_oracle(gopath: str, target: Path) -> None:
    """Compiles the Go side against the sources below GOPATH."""
    run(gopath, ["go", "build", "-o", str(target), "."], HERE / "go_oracle")


def run(gopath: str, command: list[str], folder: Path) -> str:
    """Standard output of a command in GOPATH mode, without a network."""
    settings = {"GO111MODULE": "off", "GOPATH": gopath, "GOFLAGS": "", "GOPROXY": "off", "CGO_ENABLED": "0"}
    done = subprocess.run(command, cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed in {folder}:\n{done.stderr[-2000:]}")
    return done.stdout


class Places:
    """From a file and a line to the id of the function there, or of the file."""

    def __init__(self, corpus: codekb.Corpus) -> None:
        self.starts: dict[str, list[int]] = defaultdict(list)
        self.found: dict[str, list[codekb.Chunk]] = defaultdict(list)
        for chunk in sorted(corpus.functions, key=lambda c: (c.path, c.start_line)):
            self.starts[chunk.path].append(chunk.start_line)
            self.found[chunk.path].append(chunk)

    def id(self, path: str, line: int) -> str:
        """The chunk around the line."""
        i = bisect.bisect_right(self.starts[path], line) - 1
        chunk = self.found[path][i] if i >= 0 else None
        return chunk.id if chunk is not None and line <= chunk.end_line else path


def oracle_pairs(gopath: str, binary: Path, method: str, package: str, places: Places) -> set[Pair]:
    """The calls between functions of one package tree, as one method sees them."""
    root = Path(gopath, "src", package)
    output = run(gopath, [str(binary), "-method", method, "-root", str(root), f"{package}/..."], root)
    pairs = set()
    for line in output.splitlines():
        from_file, from_line, to_file, to_line = line.split("\t")
        pairs.add((places.id(from_file, int(from_line)), places.id(to_file, int(to_line))))
    return {(s, t) for s, t in pairs if "::" in t}


def own_pairs(graph: object) -> dict[Pair, tuple[float, str]]:
    """Our calls with confidence and reason, as far as the others could see them: outside of tests, on this platform,
    and no callbacks, which they draw from the library's function."""
    return {
        (s, t): (d["confidence"], d["reason"])
        for s, t, d in graph.edges(data=True)  # type: ignore[attr-defined]
        if d["relation"] == "calls" and d["reason"] not in ASIDE and not is_test(s) and not is_test(t)
    }


def is_test(chunk_id: str) -> bool:
    """Whether a chunk is in a test file."""
    return chunk_id.split("::")[0].endswith("_test.go")


def share(part: int, whole: int) -> str:
    """A share as text, a dash of nothing."""
    return f"{part / whole:.3f}" if whole else "–"


def compare(
    gopath: str, binary: Path, package: str, differences: int, sure: Counter[tuple[str, float, bool]]
) -> list[list[object]]:
    """Rows of the table for one project; counts confidences in `sure`; prints a sample of the differences."""
    corpus = codekb.parse_repo(Path(gopath, "src", package), exclude=())
    places = Places(corpus)
    theirs = {m: {p for p in oracle_pairs(gopath, binary, m, package, places) if not is_test(p[0])} for m in METHODS}
    seen = {p.split("::")[0] for pairs in theirs.values() for pair in pairs for p in pair}  # files they load
    rows: list[list[object]] = []
    for level in ("name", "import", "type", "flow"):
        ours = own_pairs(codekb.build_graph(corpus, resolve=level))
        ours = {p: d for p, d in ours.items() if {i.split("::")[0] for i in p} <= seen}
        row: list[object] = [package, level, len(ours)]
        for method in METHODS:
            both = len(ours.keys() & theirs[method])
            row += [share(both, len(ours)), share(both, len(theirs[method]))]
        rows.append(row)
    sure.update((reason, confidence, p in theirs["vta"]) for p, (confidence, reason) in ours.items())
    if differences:
        show("only VTA", ((p, "") for p in theirs["vta"] - ours.keys()), differences)
        show("only codekb, not even CHA", ((p, ours[p]) for p in ours.keys() - theirs["cha"]), differences)
    return rows


def calibration(sure: Counter[tuple[str, float, bool]]) -> list[list[object]]:
    """Reason, confidence, pairs, share that VTA has."""
    rows: list[list[object]] = []
    for reason, confidence in sorted({key[:2] for key in sure}, key=lambda k: (-k[1], k[0])):
        yes, no = (sure[reason, confidence, found] for found in (True, False))
        rows.append([reason, f"{confidence:.2f}", yes + no, share(yes, yes + no)])
    return rows


def show(title: str, pairs: Iterable[tuple[Pair, object]], count: int) -> None:
    """A seeded sample of pairs."""
    ordered = sorted(pairs, key=lambda item: item[0])
    print(f"{title}: {len(ordered)}")
    for (source, target), why in sorted(random.Random(0).sample(ordered, min(count, len(ordered))), key=str):
        print(f"  {source} -> {target} {why}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("gopath")
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--differences", type=int, default=0)
    options = parser.parse_args()
    rows: list[list[object]] = []
    sure: Counter[tuple[str, float, bool]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder, "go_oracle")
        build_oracle(options.gopath, binary)
        for package in options.packages:
            rows += compare(options.gopath, binary, package, options.differences, sure)
    columns = ["project", "resolver", "pairs"]
    for method in METHODS:
        columns += [f"in {method}", f"of {method}"]
    print(Table(columns, rows, notes=["in X: share of our pairs that X has; of X: share of X's pairs that we have"]))
    print()
    print(Table(["reason", "confidence", "pairs", "in VTA"], calibration(sure), caption="flow, all projects"))


if __name__ == "__main__":
    sys.exit(main())
