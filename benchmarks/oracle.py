"""An independent oracle for the call graph on real code: jedi's answers, verdicts read by people, scores.

    python benchmarks/oracle.py sample FOLDER PACKAGE…    draw call sites, ask jedi, write data/oracle/NAME.json
    python benchmarks/oracle.py sheet FOLDER              print the sites where jedi and codekb differ, to be read
    python benchmarks/oracle.py judge FOLDER SHEET        enter the verdicts of a sheet
    python benchmarks/oracle.py table FOLDER              precision, recall and calibration against the verdicts

`--data NAME` chooses the file (default: python; unseen: packages that nothing was improved on; go: drawn by
`oracle_go.py`). FOLDER holds the packages (a site-packages folder). `sample` and `sheet` need jedi (it comes with
ipython). The data holds ids, lines and verdicts, no code. A site is one line of one function with at least one plain
call; its truth is the set of corpus functions and classes that line calls. Where jedi and codekb give the same set, it
is taken as right.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import codekb
from codekb.graph_oracle import LEVELS, calibration_table, load_oracle, oracle_table, package_scores

FOLDER = Path(__file__).resolve().parent.parent / "data" / "oracle"
SITES_PER_PACKAGE = 40
SEED = 20
MOST_BASES = 10
"""Bases above bases that are followed for an inherited constructor."""
SKIPPED_FOLDERS = {"tests", "test", "testing", "_tests", "_vendor"}
"""Tests call library code in long uniform runs and vendored packages are other projects: neither is sampled."""
Call = tuple[int, int, str]
"""Line and column of the called name, and the name."""


class Sites(ast.NodeVisitor):
    """The calls of one file by (owner id, line), with ids as the contract gives them."""

    def __init__(self, path: str) -> None:
        self.path, self.owner, self.prefix = path, path, f"{path}::"
        self.lambdas: dict[str, int] = defaultdict(int)
        self.names: dict[str, int] = defaultdict(int)
        self.found: dict[tuple[str, int], list[Call]] = defaultdict(list)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *filter(None, [node.returns])):
            self.visit(part)
        name = f"{self.prefix}{node.name}"
        self.names[name] += 1
        number = self.names[name]
        self._inside(name if number == 1 else f"{name}#{number}", node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self.lambdas[self.prefix] += 1
        self._inside(f"{self.prefix}<lambda{self.lambdas[self.prefix]}>", [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        before, self.prefix = self.prefix, f"{self.prefix}{node.name}."
        for part in node.body:
            self.visit(part)
        self.prefix = before

    def _inside(self, owner: str, body: list[Any]) -> None:
        before = self.owner, self.prefix
        self.owner, self.prefix = owner, f"{owner}."
        for part in body:
            self.visit(part)
        self.owner, self.prefix = before

    def visit_Call(self, node: ast.Call) -> None:
        callee = node.func
        if isinstance(callee, ast.Name):
            self.found[self.owner, node.lineno].append((callee.lineno, callee.col_offset, callee.id))
        elif isinstance(callee, ast.Attribute):
            end = (callee.end_lineno or 0, (callee.end_col_offset or 0) - len(callee.attr))
            self.found[self.owner, node.lineno].append((*end, callee.attr))
        self.generic_visit(node)


def sites_of(root: Path) -> Iterator[tuple[str, int, list[Call]]]:
    """(owner id, line, calls) of every line whose calls all stand on that line, in path and line order."""
    for file in sorted(root.rglob("*.py")):
        relative = file.relative_to(root)
        if SKIPPED_FOLDERS & set(relative.parts):
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        visitor = Sites(relative.as_posix())
        visitor.visit(ast.parse(text))
        lines = text.splitlines()
        for (owner, line), calls in sorted(visitor.found.items(), key=lambda item: (item[0][1], item[0][0])):
            if all(c[0] == line for c in calls) and lines[line - 1].isascii():
                yield owner, line, calls


class Jedi:
    """jedi's answer for the calls of one package, as chunk ids of its corpus."""

    def __init__(self, root: Path, corpus: codekb.Corpus) -> None:
        import jedi

        self.root, self.corpus = root, corpus
        self.project = jedi.Project(str(root.parent), added_sys_path=[str(root.parent)])
        self.script = jedi.Script
        self.at: dict[tuple[str, int], str] = {}
        for chunk in corpus:
            if chunk.kind in ("function", "class"):
                text = chunk.code.splitlines()
                word = "class " if chunk.kind == "class" else "def "
                offset = next((i for i, t in enumerate(text) if f"{word}{chunk.name}" in t), 0)
                self.at[chunk.path, chunk.start_line + offset] = chunk.id

    def targets(self, path: str, calls: list[Call]) -> list[str]:
        """Corpus ids that the calls lead to, sorted; of a class its own or inherited `__init__`."""
        script = self.script(path=str(self.root / path), project=self.project)
        found: set[str] = set()
        for line, column, _ in calls:
            try:
                names = script.infer(line, column)
            except Exception as error:  # jedi fails on some files with errors of its own: that is an empty answer
                print(f"jedi: {path}:{line}: {type(error).__name__}", file=sys.stderr)
                continue
            found.update(filter(None, map(self._target, names)))
        return sorted(found)

    def _target(self, name: Any) -> str | None:
        if name.type not in ("function", "class") or name.module_path is None:
            return None
        try:
            path = Path(name.module_path).relative_to(self.root).as_posix()
        except ValueError:
            return None
        known = self.at.get((path, name.line))
        return self._constructor(known, path) or known if known and name.type == "class" else known

    def _constructor(self, known: str, path: str, depth: int = 0) -> str | None:
        """The own or inherited `__init__` of a class: depth first over the bases that jedi finds in the corpus."""
        own = f"{known}.__init__"
        if own in self.corpus or depth > MOST_BASES:
            return own if own in self.corpus else None
        tree = ast.parse((self.root / path).read_text(encoding="utf-8"))
        line = next(at for (p, at), chunk in self.at.items() if p == path and chunk == known)
        node = next(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.lineno == line)
        script = self.script(path=str(self.root / path), project=self.project)
        for base in node.bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            if not isinstance(plain, ast.Name | ast.Attribute):
                continue
            column = (plain.end_col_offset or 0) - (
                len(plain.attr) if isinstance(plain, ast.Attribute) else len(plain.id)
            )
            for name in script.infer(plain.end_lineno, column):
                if name.type != "class" or name.module_path is None or not name.module_path.is_relative_to(self.root):
                    continue
                there = name.module_path.relative_to(self.root).as_posix()
                above = self.at.get((there, name.line))
                found = self._constructor(above, there, depth + 1) if above else None
                if found:
                    return found
        return None


def version_of(folder: Path, package: str) -> str:
    """The version of the distribution that holds an import package of a site-packages folder."""
    for info in sorted(folder.glob("*.dist-info")):
        record = info / "RECORD"
        if record.exists() and f"\n{package}/__init__.py," in "\n" + record.read_text(encoding="utf-8"):
            return str(PathDistribution(info).version)
    return "unknown"


def sample(path: Path, folder: Path, packages: list[str]) -> None:
    """Draw sites of each package by a seed and ask jedi; verdicts that are in the data for a drawn site stay."""
    data: dict[str, Any] = {"seed": SEED, "packages": {}, "sites": []}
    for package in packages:
        root = folder / package
        corpus = codekb.parse_repo(root)
        oracle = Jedi(root, corpus)
        everything = [site for site in sites_of(root) if site[0] in corpus]
        drawn = random.Random(f"{SEED} {package}").sample(everything, min(SITES_PER_PACKAGE, len(everything)))
        data["packages"][package] = version_of(folder, package)
        for owner, line, calls in sorted(drawn):
            names = [c[2] for c in calls]
            answer = oracle.targets(owner.partition("::")[0], calls)
            data["sites"].append({"package": package, "source": owner, "line": line, "names": names, "jedi": answer})
        print(f"{package}: {len(drawn)} of {len(everything)} sites", file=sys.stderr)
    save(path, data)


def save(path: Path, data: dict[str, Any]) -> None:
    """Write the data, one site or edge a line."""
    lists = {k: v for k, v in data.items() if isinstance(v, list)}
    text = json.dumps({k: v for k, v in data.items() if k not in lists}, indent=1)[:-2]
    for name, rows in lists.items():
        text += f',\n "{name}": [\n' + ",\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n]"
    path.write_text(text + "}\n", encoding="utf-8")


def answers(folder: Path, data: dict[str, Any], level: str) -> list[dict[str, float]]:
    """codekb's answer at each site: target id → confidence."""
    graphs = {p: codekb.build_graph(codekb.parse_repo(folder / p), resolve=level) for p in data["packages"]}
    by_line: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    for package, graph in graphs.items():
        for source, target, edge in graph.edges(data=True):
            if edge["relation"] == "calls":
                for line in edge["lines"]:
                    by_line[package, source, line][target] = edge["confidence"]
    return [dict(by_line[s["package"], s["source"], s["line"]]) for s in data["sites"]]


def in_sight(site: dict[str, Any], corpus_names: set[str]) -> bool:
    """Whether a site that nobody resolved could call into the corpus: a corpus name, or a plain local name."""
    return any(n in corpus_names or not hasattr(builtins, n) for n in site["names"])


def sheet(path: Path, folder: Path) -> None:
    """Print every site without a verdict where jedi and codekb differ, or both are silent and may miss something."""
    data = json.loads(path.read_text(encoding="utf-8"))
    corpora = {p: codekb.parse_repo(folder / p) for p in data["packages"]}
    names = {p: {c.name for c in corpus if c.kind != "module"} for p, corpus in corpora.items()}
    found = answers(folder, data, LEVELS[-1])
    for number, (site, answer) in enumerate(zip(data["sites"], found, strict=True)):
        if "truth" in site:
            continue
        if sorted(answer) == site["jedi"] and (answer or not in_sight(site, names[site["package"]])):
            site["truth"], site["how"] = site["jedi"], "agreed" if answer else "none in sight"
            continue
        text = (folder / site["package"] / site["source"].partition("::")[0]).read_text(encoding="utf-8").splitlines()
        print(f"\n{number}: {site['package']} {site['source']}:{site['line']}\n    {text[site['line'] - 1].strip()}")
        print(f"  codekb { ({t: round(c, 2) for t, c in answer.items()}) }\n  jedi   {site['jedi']}")
    save(path, data)


def judge(path: Path, verdicts: Path) -> None:
    """Enter verdicts: lines `number: id, id`, the ids that the line calls (none: no corpus function).

    An id with a question mark counts neither way: a declared target that never runs, or one that only users reach.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    for line in filter(None, map(str.strip, verdicts.read_text(encoding="utf-8").splitlines())):
        number, _, ids = line.partition(":")
        site = data["sites"][int(number)]
        named = sorted(t.strip() for t in ids.split(",") if t.strip())
        site["truth"], site["how"] = [t for t in named if not t.endswith("?")], "read"
        if may := [t[:-1] for t in named if t.endswith("?")]:
            site["may"] = may
    save(path, data)


def table(path: Path, folder: Path) -> None:
    """Record codekb's answers in the data, and print how they compare with the verdicts."""
    data = load_oracle(path)
    for level in LEVELS:
        for found, site in zip(answers(folder, data, level), data["sites"], strict=True):
            site.setdefault("codekb", {})[level] = found
    save(path, data)
    print(oracle_table(data), calibration_table(data), sep="\n\n", end="\n\n")
    for package, precision, recall, edges in package_scores(data):
        print(f"{package:16} {precision:.3f} {recall:.3f} {edges}")


def main() -> None:
    """The command line; see the module's first lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("sample", "sheet", "judge", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--data", default="python", help="the file in data/oracle, without its ending")
    options = parser.parse_args()
    folder, path = options.folder.resolve(), FOLDER / f"{options.data}.json"
    if options.step == "sample":
        sample(path, folder, options.rest)
    elif options.step == "sheet":
        sheet(path, folder)
    elif options.step == "judge":
        judge(path, Path(options.rest[0]))
    else:
        table(path, folder)


if __name__ == "__main__":
    main()
