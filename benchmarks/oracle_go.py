"""Judged call sites of Go: draws lines by a seed and prints them, with nothing of what codekb answers, to be judged.

    python benchmarks/oracle_go.py sample FOLDER OWNER/NAME…    draw sites, write data/oracle/go.json
    python benchmarks/oracle_go.py sheet FOLDER                 print the sites without a verdict, and what bears a name
    python benchmarks/oracle_go.py edges FOLDER                 draw edges that no declaration fixes, and print them

FOLDER holds the repositories as OWNER/NAME. Verdicts are entered and compared by `oracle.py judge` and `table` with
`--data go`. A site is one line of one function with at least one call that is neither a predeclared function or
conversion nor written as a function of a package outside the repository; tests are not drawn. The data holds ids,
lines and names, no code.

How it is judged: of a call through an interface, the implementations that the repository itself lets reach the line or
that it exports to be given there. What counts neither way: doubles of tests, types that only an odd user would give,
and all targets of a line that more than ten can serve (a registry). A function literal is part of its function, so a
call of one is no edge. A drawn edge is right, wrong, or open (`right`: null) where only users make it so.

The first run (no rule was changed for it or after it; the repositories had not been compared with before): flow .816
precision, .993 recall of 147 true edges; of edges of confidence .9 and more 117 of 117 at the sites and 49 of 49 drawn
by reason are right. What is wrong carries .6 (one edge) or .2 and less: dispatch through interfaces of the standard
library, most of it to test doubles.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_go
from oracle import save

import codekb

DATA = Path(__file__).resolve().parent.parent / "data" / "oracle" / "go.json"
SITES_PER_PACKAGE = 28
SEED = 20
PREDECLARED = (
    "append cap clear close complex copy delete imag len make max min new panic print println real recover any bool "
    "byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 "
    "uint16 uint32 uint64 uintptr"
)
PLAIN = frozenset(PREDECLARED.split())
SKIPPED_FOLDERS = {"testdata", "vendor", "examples", "example", "_examples", "test", "internal_test"}
"""Data of tests, other projects and demonstrations are not sampled."""
AROUND = 6
"""Lines of source printed before and after a site."""
WRAPPERS = frozenset(("parenthesized_expression", "index_expression", "type_instantiation_expression"))
REASONS = ("callback", "function value", "interface dispatch")
"""Reasons of edges that are drawn by themselves: at random sites nearly all targets are declared ones."""
SURE, DRAWN = 0.9, (25, 15)
"""Edges drawn of each reason: from this confidence up, and below."""


def calls_of(path: Path, module: str) -> dict[int, list[str]]:
    """Line (1-based) → names called there; only lines with a call that may stay in the repository."""
    tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_go.language())).parse(path.read_bytes())
    outside: set[str] = set()
    found: dict[int, list[str]] = defaultdict(list)
    may: set[int] = set()
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        stack += reversed(node.children)
        if node.type == "import_spec":
            outside |= _outside_name(node, module)
        elif node.type == "call_expression":
            callee = node.child_by_field_name("function")
            line, name, qualifier = _callee(callee)
            if name:
                found[line].append(name)
                if name not in PLAIN and (not qualifier or qualifier not in outside):
                    may.add(line)
    return {line: names for line, names in found.items() if line in may}


def _outside_name(node: Any, module: str) -> set[str]:
    """The name under which a file imports a package of another module; empty for one of its own."""
    path = node.child_by_field_name("path").text.decode().strip('"')
    if path == module or path.startswith(module + "/"):
        return set()
    named = node.child_by_field_name("name")
    return {named.text.decode() if named else path.rpartition("/")[2]}


def _callee(node: Any) -> tuple[int, str, str]:
    """Line, name and, for `x.name` with a plain x, the x of what is called."""
    while node is not None and node.type in WRAPPERS:
        node = node.named_children[0]
    if node is None:
        return 0, "", ""
    if node.type == "identifier":
        return node.start_point[0] + 1, node.text.decode(), ""
    if node.type == "selector_expression":
        field, operand = node.child_by_field_name("field"), node.child_by_field_name("operand")
        qualifier = operand.text.decode() if operand.type == "identifier" else ""
        return field.start_point[0] + 1, field.text.decode(), qualifier
    return 0, "", ""


def sites_of(root: Path, corpus: codekb.Corpus) -> list[tuple[str, int, list[str]]]:
    """(function id, line, names called) of every line that can be drawn, in path and line order."""
    module = _module(root)
    sites = []
    for path in sorted({c.path for c in corpus if c.language == "go"}):
        if path.endswith("_test.go") or SKIPPED_FOLDERS & set(path.split("/")):
            continue
        functions = [c for c in corpus.functions if c.path == path]
        for line, names in sorted(calls_of(root / path, module).items()):
            owner = next((c.id for c in functions if c.start_line <= line <= c.end_line), None)
            if owner is not None:
                sites.append((owner, line, names))
    return sites


def _module(root: Path) -> str:
    text = (root / "go.mod").read_text(encoding="utf-8")
    return next(line.split()[1] for line in text.splitlines() if line.startswith("module "))


def sample(folder: Path, packages: list[str]) -> None:
    """Draw sites of each repository by a seed; the data is written anew, without verdicts."""
    data: dict[str, Any] = {"seed": SEED, "packages": {}, "sites": []}
    for package in packages:
        root = folder / package
        everything = sites_of(root, codekb.parse_repo(root))
        drawn = random.Random(f"{SEED} {package}").sample(everything, min(SITES_PER_PACKAGE, len(everything)))
        command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
        data["packages"][package] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        for owner, line, names in sorted(drawn):
            data["sites"].append({"package": package, "source": owner, "line": line, "names": names})
        print(f"{package}: {len(drawn)} of {len(everything)} sites", file=sys.stderr)
    save(DATA, data)


def edges(folder: Path) -> None:
    """Draw edges by reason into the data, and print the source around each without confidence or reason."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    pools: dict[tuple[str, bool], list[tuple[str, str, str, int, float]]] = defaultdict(list)
    for package in data["packages"]:
        graph = codekb.build_graph(codekb.parse_repo(folder / package))
        for source, target, edge in graph.edges(data=True):
            paths = [i.partition("::")[0] for i in (source, target)]
            if edge["relation"] != "calls" or edge["reason"] not in REASONS:
                continue
            if not SKIPPED_FOLDERS & set(paths[0].split("/")) and not any(p.endswith("_test.go") for p in paths):
                key = (edge["reason"], edge["confidence"] >= SURE)
                pools[key].append((package, source, target, edge["line"], edge["confidence"]))
    fields = ("package", "source", "target", "line", "confidence", "reason", "right")
    drawn = []
    for (reason, sure), pool in sorted(pools.items()):
        count = min(DRAWN[0] if sure else DRAWN[1], len(pool))
        found = random.Random(f"{SEED} {reason} {sure}").sample(sorted(pool), count)
        drawn += [dict(zip(fields, (*edge, reason, None), strict=True)) for edge in found]
    random.Random(f"{SEED} edges").shuffle(drawn)
    for number, edge in enumerate(drawn):
        print(f"\n=== {number}: {edge['package']} {edge['source']}:{edge['line']} -> {edge['target']}")
        around(folder / edge["package"] / edge["source"].partition("::")[0], edge["line"])
    data["edges"] = drawn
    save(DATA, data)


def around(path: Path, line: int) -> None:
    """Print the source around a line."""
    text = path.read_text(encoding="utf-8").splitlines()
    for at in range(max(1, line - AROUND), min(len(text), line + AROUND) + 1):
        print(f"{'>' if at == line else ' '} {text[at - 1]}")


def sheet(folder: Path) -> None:
    """Print every site without a verdict: the source around it, and the chunks that bear its names."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    named: dict[str, dict[str, list[str]]] = {}
    for package in data["packages"]:
        ids: dict[str, list[str]] = defaultdict(list)
        for chunk in codekb.parse_repo(folder / package):
            if chunk.kind == "function" and not chunk.path.endswith("_test.go"):
                ids[chunk.name].append(f"{chunk.id}:{chunk.start_line}")
        named[package] = ids
    for number, site in enumerate(data["sites"]):
        if "truth" in site:
            continue
        print(f"\n=== {number}: {site['package']} {site['source']}:{site['line']} {site['names']}")
        around(folder / site["package"] / site["source"].partition("::")[0], site["line"])
        for name in dict.fromkeys(site["names"]):
            print(f"  {name}: {', '.join(named[site['package']].get(name, [])) or '-'}")


def main() -> None:
    """The command line; see the module's first lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("sample", "sheet", "edges"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="*")
    options = parser.parse_args()
    if options.step == "sample":
        sample(options.folder.resolve(), options.packages)
    else:
        {"sheet": sheet, "edges": edges}[options.step](options.folder.resolve())


if __name__ == "__main__":
    main()
