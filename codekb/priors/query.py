"""What a question looks like: its kind, the symbols, stack frames and files it names. Says nothing of any
corpus."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["symbol", "sentence", "report"]

REPORT_WORDS = 40
"""A question of more words is a report: it repeats what matters and holds much that does not."""

MAX_CHARACTERS = 20_000
"""As much of a question is taken apart: what follows is a log, and patterns must not become slow on it."""

_SPAN = re.compile(r"``([^`\n]+)``|`([^`\n]+)`")
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.M | re.S)
_DOTTED = re.compile(r"(?<![\w/\\.-])(?:\(\*(\w+)\)\.|\*?)([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(\))?")
_PATH = re.compile(r"(?<![\w./\\-])(?:[\w.-]+[/\\])*[\w.-]+\.(?:pyi?|go)\b")
_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([^\s`]+))?')
_PYTEST_FRAME = re.compile(r"^[ \t]*([\w./\\-]+\.py):(\d+): (?:in (\w+)|\w+)", re.M)
_GO_FRAME = re.compile(r"^[ \t]*([^\s()]+(?:\(\*\w+\)[^\s()]*)?)\([^\n]*\)\s*\n\s+(\S+\.go):(\d+)", re.M)
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
    """One place of a stack trace. `function` is "" where the trace does not say; `line` is 1-based."""

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
    return any(start <= at < end for start, end in spans)


def _looks_like_code(name: str) -> bool:
    """Dotted, with an inner underscore, or with a capital after a small letter; no plain word and no URL's
    host."""
    last = name.rpartition(".")[2]
    if "." in name:
        return not name.lower().startswith(("www.", "http")) and len(last) > 1 and name not in ("e.g", "i.e")
    return "_" in name.strip("_") or name.startswith("__") or bool(re.search(r"[a-z][A-Z]", name))


def _frames(text: str) -> tuple[tuple[Frame, ...], tuple[int, ...]]:
    """Frames of every trace in the text, each with its distance from where the error rose."""
    python = [Frame(m[1].replace("\\", "/"), int(m[2]), m[3] or "") for m in _PYTHON_FRAME.finditer(text)]
    python += [Frame(m[1].replace("\\", "/"), int(m[2]), m[3] or "") for m in _PYTEST_FRAME.finditer(text)]
    go = [Frame(m[2], int(m[3]), _go_function(m[1])) for m in _GO_FRAME.finditer(text)]
    depths = [*range(len(python) - 1, -1, -1), *range(len(go))]
    return tuple(python + go), tuple(depths)


def _go_function(written: str) -> str:
    """`github.com/a/b/pkg.(*T).Method.func1` → `T.Method`; closures are part of their function."""
    name = re.sub(r"\.func\d.*$", "", written.rpartition("/")[2]).replace("(*", "").replace(")", "")
    return name.partition(".")[2] or name
