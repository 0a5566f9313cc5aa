"""What a question looks like: its kind, the symbols, stack frames and files it names. Says nothing of any
corpus."""

from __future__ import annotations

import bisect
import itertools
import re
import sys
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["symbol", "sentence", "report"]

REPORT_WORDS = 40
"""A question of more words is a report: it repeats what matters and holds much that does not."""

MAX_CHARACTERS = 20_000
"""As much of a question is taken apart: what follows is a log, and patterns must not become slow on it."""

_SPAN = re.compile(r"``[^`\n]{1,200}``|`[^`\n]{1,200}`")
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.M | re.S)
_DOTTED = re.compile(r"(?<![\w/\\.-])(?:\(\*(\w+)\)\.|\*?)([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(\))?")
_PATH = re.compile(r"(?<![\w./\\-])(?:[\w.-]+[/\\])*[\w.-]+\.(?:pyi?|go)\b")
_PYTHON_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[^\s`]+))?'),
    re.compile(r"^\s*(?P<path>[\w./\\-]+\.py):(?P<line>\d+): (?:in (?P<name>\w+)|\w+)", re.M),  # pytest
    re.compile(r"File (?P<path>[^\s\"]+\.py):(?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?"),  # IPython 8
    re.compile(r"^(?P<path>[\w./\\~-]+\.py) in (?P<name>[\w.<>]+)\((?P<line>).*\)\s*$", re.M),  # IPython before
)
_GO_PLACE = re.compile(r"(?:^|\s)(?P<path>[^\s:]{1,400}\.go):(?P<line>\d+)")
_DEFINITION = re.compile(r"^\s*(?:(?:async\s+)?def|func|class|type)\s+")
_WORD = re.compile(r"[^\W\d_]+")

_ASKS = {
    "tests": re.compile(r"\b(unit ?|integration )?tests?\b|\btest (case|suite)|\bfixtures?\b|\btest_\w+|_test\b", re.I),
    "examples": re.compile(r"\bexamples?\b|\bdemos?\b|\btutorials?\b|\bsamples?\b|\bbenchmarks?\b", re.I),
    "compat": re.compile(r"\bcompat\w*|\bshims?\b|\bdeprecat\w+|\bvendored\b|\blegacy\b|\bpython ?2\b", re.I),
    "generated": re.compile(r"\bgenerated\b|\bprotobuf\b|\b(mocks?|stubs?)\b", re.I),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One place of a stack trace. `function` is "" where the trace does not say; `line` is 1-based, 0 unknown."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True)
class QueryProfile:
    """A question taken apart.

    `symbols` are names that look like code, dotted as written, in order of appearance, with how surely
    each is one (1 in a code span or alone, less in a code block). `frames` stand in the order of the
    trace: the innermost last for Python, first for Go, so each comes with its `depth` in `depths`: 0 is
    where the error rose. `paths` are file names. `asks` names what the question asks for by itself: tests,
    examples, compat, generated.
    """

    text: str
    kind: Kind
    first_line: str
    symbols: dict[str, float] = field(default_factory=dict)
    frames: tuple[Frame, ...] = ()
    depths: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    asks: frozenset[str] = frozenset()


def analyse(query: str) -> QueryProfile:
    """Take a question apart.

    >>> analyse("getTimeout").kind, analyse("how long before a request times out").kind
    ('symbol', 'sentence')
    >>> analyse("`Store.Set` loses keys").symbols
    {'Store.Set': 1.0}
    """
    text = query.strip()[:MAX_CHARACTERS]
    first = next((line.strip("# ").strip() for line in text.splitlines() if _WORD.search(line)), "")
    frames, depths = _frames(text)
    words = len(text.split())
    bare = _DEFINITION.sub("", text)
    alone = _DOTTED.fullmatch(bare.rstrip(":")) if words <= 3 else None
    symbols = {_dotted(alone): 1.0} if alone else _symbols(text)
    kind: Kind = "symbol" if alone else "report" if words > REPORT_WORDS or frames else "sentence"
    paths = tuple(dict.fromkeys(m.group().replace("\\", "/") for m in _PATH.finditer(text)))
    asks = frozenset(name for name, pattern in _ASKS.items() if pattern.search(first))
    return QueryProfile(text, kind, first, symbols, frames, depths, paths, asks)


def _dotted(match: re.Match[str]) -> str:
    return f"{match[1]}.{match[2]}" if match[1] else match[2]


def _symbols(text: str) -> dict[str, float]:
    """Names that look like code → how surely, in order of appearance."""
    found: dict[str, float] = {}
    fenced = [m.span() for m in _FENCE.finditer(text)]
    spans = [m.span() for m in _SPAN.finditer(text)]
    for match in _DOTTED.finditer(text):
        name = _dotted(match)
        in_span = _within(match.start(), spans)
        if _PATH.fullmatch(name) or not (in_span or match[3] or _looks_like_code(name)):
            continue
        weight = IN_BLOCK if _within(match.start(), fenced) else IN_SPAN if in_span or match[3] else IN_PROSE
        found[name] = max(weight, found.get(name, 0.0))
    return found


IN_SPAN, IN_PROSE, IN_BLOCK = 1.0, 0.7, 0.4
"""How surely a name is what the question is about: quoted as code, written in prose, somewhere in a code
block."""


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a position lies in one of the spans, which are in order and do not overlap."""
    before = bisect.bisect_right(spans, (at, sys.maxsize)) - 1
    return before >= 0 and at < spans[before][1]


def _looks_like_code(name: str) -> bool:
    """Dotted, with an inner underscore, or with a capital after a small letter; no plain word and no URL's
    host."""
    last = name.rpartition(".")[2]
    if "." in name:
        return not name.lower().startswith(("www.", "http")) and len(last) > 1 and name not in ("e.g", "i.e")
    return "_" in name.strip("_") or name.startswith("__") or bool(re.search(r"[a-z][A-Z]", name))


def _frames(text: str) -> tuple[tuple[Frame, ...], tuple[int, ...]]:
    """Frames of every trace in the text, each with its distance from where the error rose."""
    found = sorted((m.start(), at, m) for at, p in enumerate(_PYTHON_FRAMES) for m in p.finditer(text))
    python = [_frame(match, match["name"] or "") for _, _, match in found]
    go = _go_frames(text)
    depths = [*range(len(python) - 1, -1, -1), *range(len(go))]
    return tuple(python + go), tuple(depths)


def _frame(match: re.Match[str], function: str) -> Frame:
    return Frame(match["path"].replace("\\", "/"), int(match["line"] or 0), function)


def _go_frames(text: str) -> list[Frame]:
    """A line that ends in a call with its arguments, then a line with the place; a log's prefix may stand before."""
    lines = text.splitlines()
    frames = []
    for call, place in itertools.pairwise(lines):
        name = _called(call.rstrip()) if ".go:" in place else ""
        if name and (match := _GO_PLACE.search(place)):
            frames.append(_frame(match, _go_function(name)))
    return frames


def _called(line: str) -> str:
    """What stands before the last pair of round brackets of a line, or "" where the line does not end in one."""
    depth = 0
    for at in range(len(line) - 1, -1, -1):
        depth += (line[at] == ")") - (line[at] == "(")
        if depth == 0:
            return line[:at].split()[-1] if line[at] == "(" and line[:at].split() else ""
    return ""


def _go_function(written: str) -> str:
    """`github.com/a/b/pkg.(*T).Method.func1` → `T.Method`; closures are part of their function."""
    name = re.sub(r"\[\.\.\.\]|[(*)]", "", re.sub(r"[.-](func|range)\d.*$", "", written.rpartition("/")[2]))
    return name.partition(".")[2] or name
