"""Hand-written call-graph cases: read them from Markdown, compare a graph with them, sum up.

Holds no cases and resolves nothing; the format is described in `tests/cases/README.md`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from codekb.resolve.edges import RELATIONS

Pair = tuple[str, str]
OTHER_LINES = ("may", "not", "external", "unresolved")
GO_MOD = "module example.com/app\n\ngo 1.19\n"
"""What a Go case without a go.mod of its own gets: generics need 1.18."""

_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
_LINE = re.compile(r"^(?:(\w+): )?(\S+) -> (.+)$")


@dataclass(frozen=True, slots=True)
class Case:
    """One tiny project and its edges: `edges` maps a relation to its (source id, target id) pairs.

    A relation that is not a key is not stated (`calls` always is). `may` are calls that count neither way,
    `wrong` are calls that must not be there, `external` and `unresolved` are (source id, dotted name) pairs.
    """

    construct: str
    name: str
    language: str
    files: Mapping[str, str] = field(repr=False)
    edges: Mapping[str, frozenset[Pair]] = field(repr=False)
    may: frozenset[Pair] = field(default=frozenset(), repr=False)
    wrong: frozenset[Pair] = field(default=frozenset(), repr=False)
    external: frozenset[Pair] = field(default=frozenset(), repr=False)
    unresolved: frozenset[Pair] = field(default=frozenset(), repr=False)

    def write(self, folder: Path) -> None:
        """Write the project's files below `folder`."""
        for path, text in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Score:
    """Edges that are right, wrong (drawn, not expected) and missing (expected, not drawn)."""

    right: frozenset[Pair]
    wrong: frozenset[Pair]
    missing: frozenset[Pair]

    @property
    def precision(self) -> float:
        """Right edges among those drawn, in [0, 1]; 1 where none is drawn."""
        drawn = len(self.right) + len(self.wrong)
        return len(self.right) / drawn if drawn else 1.0

    @property
    def recall(self) -> float:
        """Expected edges that are drawn, in [0, 1]; 1 where none is expected."""
        expected = len(self.right) + len(self.missing)
        return len(self.right) / expected if expected else 1.0


def compare_edges(found: Iterable[Pair], expected: Iterable[Pair], ignore: Iterable[Pair] = ()) -> Score:
    """Strict comparison of two sets of (source, target), leaving out the pairs in `ignore`.

    >>> s = compare_edges([("a", "b"), ("a", "c")], [("a", "b"), ("b", "c")])
    >>> s.precision, s.recall, sorted(s.missing)
    (0.5, 0.5, [('b', 'c')])
    """
    aside = frozenset(ignore)
    drawn, wanted = frozenset(found) - aside, frozenset(expected) - aside
    return Score(drawn & wanted, drawn - wanted, wanted - drawn)


def graph_edges(graph: Any, relation: str = "calls") -> set[Pair]:
    """The (source id, target id) pairs of one relation of a graph that `build_graph` made."""
    return {(s, t) for s, t, data in graph.edges(data=True) if data["relation"] == relation}


def score_case(case: Case, graph: Any, relation: str = "calls") -> Score:
    """How the graph built from a case's files compares with its expected edges of one stated relation."""
    if relation not in case.edges:
        raise KeyError(f"case {case.name!r} does not state {relation!r}; it states {sorted(case.edges)}")
    aside = case.may if relation == "calls" else ()
    return compare_edges(graph_edges(graph, relation), case.edges[relation], aside)


def total(scores: Iterable[Score]) -> tuple[float, float, int]:
    """Precision, recall and number of expected edges over several cases, every edge counted once (micro).

    >>> total([compare_edges([("a", "b")], [("a", "b")]), compare_edges([], [("a", "b")])])
    (1.0, 0.5, 2)
    """
    parts = list(scores)
    right, wrong, missing = (sum(len(getattr(s, k)) for s in parts) for k in ("right", "wrong", "missing"))
    return (
        right / (right + wrong) if right + wrong else 1.0,
        right / (right + missing) if right + missing else 1.0,
        right + missing,
    )


def read_cases(folder: Path | str) -> list[Case]:
    """All cases of the Markdown files below `folder` (`python/*.md`, `go/*.md`), by language, file and place.

    Raises ValueError with file and case where a case has no files, no `edges` fence or a line of other form.
    """
    paths = sorted(p for p in Path(folder).glob("*/*.md"))
    if not paths:
        raise ValueError(f"no cases below {folder}: expected files such as python/imports.md")
    return [case for path in paths for case in _read_file(path)]


def _read_file(path: Path) -> list[Case]:
    cases = [_read_case(path, name, text) for name, text in _sections(path.read_text(encoding="utf-8"))]
    names = sorted(c.name for c in cases)
    double = next((a for a, b in itertools.pairwise(names) if a == b), None)
    if double is not None:
        raise ValueError(f"{path.name}: two cases are called {double!r}; a name stands once in a file")
    return cases


def _sections(text: str) -> list[tuple[str, str]]:
    """(heading, text below it) of each `## ` heading outside of fences."""
    found: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            found.append((line[3:].strip(), []))
        elif found:
            found[-1][1].append(line)
    return [(heading, "".join(lines)) for heading, lines in found]


def _read_case(path: Path, name: str, text: str) -> Case:
    where = f"{path.parent.name}/{path.name}, case {name!r}"
    fences = _FENCE.findall(text)
    files = {file: body for language, file, body in fences if file}
    stated = [body for language, _, body in fences if language == "edges"]
    if not files or len(stated) != 1:
        raise ValueError(f"{where}: expected files and one edges fence, found {len(files)} and {len(stated)}")
    groups = _read_edges(stated[0], list(files), where)
    if path.parent.name == "go" and not any(PurePosixPath(f).name == "go.mod" for f in files):
        files["go.mod"] = GO_MOD
    return Case(
        path.stem,
        name,
        path.parent.name,
        files,
        {r: frozenset(groups[r]) for r in RELATIONS if r in groups},
        *(frozenset(groups.get(key, ())) for key in OTHER_LINES),
    )


def _read_edges(text: str, files: Sequence[str], where: str) -> dict[str, list[Pair]]:
    groups: dict[str, list[Pair]] = {"calls": []}
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == "none":
            continue
        match = _LINE.match(line)
        relation = (match.group(1) or "calls") if match else ""
        if match is None or relation not in (*RELATIONS, *OTHER_LINES):
            raise ValueError(f"{where}: {line!r} is not '[relation:] source -> target, target'")
        source = _full_id(match.group(2), files)
        named = relation in ("external", "unresolved")
        targets = [t.strip() for t in match.group(3).split(",")]
        groups.setdefault(relation, []).extend((source, t if named else _full_id(t, files)) for t in targets)
    return groups


def _full_id(short: str, files: Sequence[str]) -> str:
    return short if "::" in short or short in files else f"{files[0]}::{short}"


def read_edges(path: Path | str) -> dict[str, frozenset[Pair]]:
    """The hand-written edges of one project: JSON, relation (or `external`) → list of [source id, target]."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return {key: frozenset((s, t) for s, t in value) for key, value in content.items() if key != "about"}


def worst(cases: Sequence[Case], scores: Sequence[Score], n: int = 20) -> str:
    """The cases with most wrong and missing edges, one paragraph each, for a failure message."""
    bad = [(len(s.wrong) + len(s.missing), c, s) for c, s in zip(cases, scores, strict=True)]
    bad = sorted((b for b in bad if b[0]), key=lambda b: (-b[0], b[1].language, b[1].construct, b[1].name))
    lines = []
    for _, case, score in bad[:n]:
        lines.append(f"{case.language}/{case.construct}: {case.name}")
        lines += [f"  wrong    {s} -> {t}" for s, t in sorted(score.wrong)]
        lines += [f"  missing  {s} -> {t}" for s, t in sorted(score.missing)]
    rest = len(bad) - n
    return "\n".join([*lines, *([f"and {rest} more cases"] if rest > 0 else [])])
