"""Source code as escaped, highlighted HTML, with the words of a query marked. No widgets."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from codekb.text import tokenize
from codekb.words import stem, terms

HIDDEN = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""Bidirectional controls make source look like what it is not: they are shown as escapes."""

TOKEN_CLASSES = (
    ("Comment", "c"),
    ("Literal.String", "s"),
    ("Literal.Number", "n"),
    ("Keyword", "k"),
    ("Operator.Word", "k"),
    ("Name.Function", "f"),
    ("Name.Class", "f"),
    ("Name.Decorator", "d"),
    ("Name.Builtin", "b"),
)
"""Pygments token families → class letters: few, so that a long function stays small."""

SOURCE_STYLE = """<style>
.ckb-src{font-family:var(--jp-code-font-family,monospace);font-size:12px;line-height:1.5;margin:0;
 padding:6px 0;overflow-x:auto;white-space:pre;tab-size:4;color:var(--jp-content-font-color1,#222)}
.ckb-src .g{display:inline-block;min-width:3.2em;text-align:right;margin-right:1em;
 opacity:.45;user-select:none}
.ckb-src .c{color:var(--jp-mirror-editor-comment-color,#61707a);font-style:italic}
.ckb-src .s{color:var(--jp-mirror-editor-string-color,#a31515)}
.ckb-src .n{color:var(--jp-mirror-editor-number-color,#098658)}
.ckb-src .k{color:var(--jp-mirror-editor-keyword-color,#00008b);font-weight:600}
.ckb-src .f{color:var(--jp-mirror-editor-def-color,#0550ae)}
.ckb-src .d{color:var(--jp-mirror-editor-meta-color,#a0f)}
.ckb-src .b{color:var(--jp-mirror-editor-builtin-color,#30a)}
.ckb-src mark{background:rgba(255,196,0,.38);color:inherit;border-radius:2px;padding:0 1px}
</style>"""

_WORD = re.compile(r"\w+")


def matching_spans(text: str, query: str) -> list[tuple[int, int]]:
    """Where parts of identifiers in `text` equal, after stemming, a term of the query: (start, end) in order.

    >>> [("getTimeout(x)"[a:b]) for a, b in matching_spans("getTimeout(x)", "how long are timeouts")]
    ['Timeout']
    """
    wanted = set(terms(query))
    if not wanted:
        return []
    return [
        span for match in _WORD.finditer(text) for span in _word_spans(match.group(), match.start(), wanted)
    ]


def _word_spans(word: str, start: int, wanted: Collection[str]) -> Iterable[tuple[int, int]]:
    parts, lower = tokenize(word), word.lower()
    if "".join(parts) in wanted or len(lower) != len(
        word
    ):  # the whole identifier; or letters that change length
        return [(start, start + len(word))] if "".join(parts) in wanted else []
    spans, at = [], 0
    for part in parts:
        at = lower.index(part, at)
        if stem(part) in wanted:
            spans.append((start + at, start + at + len(part)))
        at += len(part)
    return spans


@lru_cache(maxsize=8)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(
        language if language in ("python", "go") else "text", stripnl=False, ensurenl=False
    )


def _token_class(kind: Any) -> str:
    name = ".".join(kind)
    return next((letter for family, letter in TOKEN_CLASSES if name.startswith(family)), "")


def source_html(
    code: str, language: str, *, query: str = "", first_line: int = 1, mark_lines: Collection[int] = ()
) -> str:
    """Source as escaped, highlighted HTML with line numbers from `first_line`; words of the query are marked.

    `mark_lines` are line numbers (as printed) to set off, such as the line of a call.
    """
    text = code.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip()
    pieces = _pieces(text, language, matching_spans(text, query))
    lines: list[list[str]] = [[]]
    for letter, marked, piece in pieces:
        for i, part in enumerate(piece.split("\n")):
            if i:
                lines.append([])
            if part:
                lines[-1].append(_span(letter, marked, part))
    numbered = [
        f'<span class="g">{"▸ " if n in mark_lines else ""}{n}</span>{"".join(parts)}'
        for n, parts in enumerate(lines, first_line)
    ]
    return f'<div>{SOURCE_STYLE}<pre class="ckb-src">{chr(10).join(numbered)}</pre></div>'


def _span(letter: str, marked: bool, text: str) -> str:
    safe = html.escape(text.translate(HIDDEN))
    safe = f'<span class="{letter}">{safe}</span>' if letter else safe
    return f"<mark>{safe}</mark>" if marked else safe


def _pieces(code: str, language: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, bool, str]]:
    """The source cut at the borders of tokens and of marked spans: (class letter, marked, text)."""
    pieces: list[tuple[str, bool, str]] = []
    at = 0
    waiting = list(reversed(spans))
    for kind, text in _lexer(language).get_tokens(code):
        letter = _token_class(kind)
        end = at + len(text)
        while at < end:
            while waiting and waiting[-1][1] <= at:
                waiting.pop()
            inside = bool(waiting) and waiting[-1][0] <= at
            border = (waiting[-1][1] if inside else waiting[-1][0]) if waiting else end
            stop = min(end, max(border, at + 1))
            pieces.append((letter, inside, text[len(text) - (end - at) : len(text) - (end - stop)]))
            at = stop
    return pieces
