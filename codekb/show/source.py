"""Source code as escaped, highlighted HTML, with the words of a query marked or tinted. No widgets."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from codekb.chunks import Chunk
from codekb.text import tokenize
from codekb.words import spellings, stem, terms

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
 padding:6px 0;overflow-x:auto;white-space:pre;color:var(--jp-content-font-color1,#222)}
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

TAB_WIDTH = 4

_WORD = re.compile(r"\w+")


def matching_spans(text: str, query: str) -> list[tuple[int, int]]:
    """Where parts of identifiers in `text` equal, after stemming, a term of the query: (start, end) in order.

    >>> [("getTimeout(x)"[a:b]) for a, b in matching_spans("getTimeout(x)", "how long are timeouts")]
    ['Timeout']
    """
    return [(start, end) for start, end, _ in term_spans(text, terms(query))]


def term_spans(text: str, wanted: Collection[str]) -> list[tuple[int, int, str]]:
    """Where a wanted term (as `codekb.words.terms` gives it) stands in `text`: (start, end, term) in order."""
    chosen = wanted if isinstance(wanted, Mapping) else frozenset(wanted)
    if not chosen:
        return []
    return [span for match in _WORD.finditer(text) for span in _word_spans(match.group(), match.start(), chosen)]


def _word_spans(word: str, start: int, wanted: Collection[str]) -> Iterable[tuple[int, int, str]]:
    parts, lower = tokenize(word), word.lower()
    whole = "".join(parts)
    if len(parts) > 1 and whole in wanted:
        return [(start, start + len(word), whole)]
    if len(lower) != len(word):  # a letter that changes its length in lower case: positions would be off
        return []
    spans, at = [], 0
    for part in parts:
        at = lower.index(part, at)
        if stem(part) in wanted:
            spans.append((start + at, start + at + len(part), stem(part)))
        at += len(part)
    return spans


@lru_cache(maxsize=8)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language if language in ("python", "go") else "text", stripnl=False, ensurenl=False)


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
    text = text.expandtabs(TAB_WIDTH)  # a tab would stop where the line number before it makes it stop
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


class Heat:
    """Source whose words are tinted by what they weigh; shows itself as HTML, and as the list of weights in text."""

    def __init__(self, chunk: Chunk, weights: Mapping[str, float], title: str) -> None:
        self.chunk = chunk
        self.weights = dict(weights)
        self.title = title

    def __repr__(self) -> str:
        written = spellings(self.chunk.code)
        ordered = sorted(self.weights.items(), key=lambda p: (-p[1], p[0]))
        words = ", ".join(f"{written.get(t, t)} {w:.3f}" for t, w in ordered)
        return f"{self.title}: {words or 'no word matches'}"

    def _repr_html_(self) -> str:
        text = self.chunk.code.replace("\r\n", "\n").replace("\r", "\n").rstrip()
        strongest = max(self.weights.values(), default=0.0)
        parts, at = [], 0
        for start, end, term in term_spans(text, self.weights):
            share = self.weights[term] / strongest if strongest > 0 else 0.0
            tint = f"rgba(224,147,47,{0.15 + 0.65 * max(share, 0.0):.2f})"
            word = html.escape(text[start:end])
            parts += [
                html.escape(text[at:start].translate(HIDDEN)),
                f'<span style="background-color:{tint}">{word}</span>',
            ]
            at = end
        parts.append(html.escape(text[at:].translate(HIDDEN)))
        style = "font-size:12px;line-height:1.5;margin:0;padding:6px 0;overflow-x:auto;white-space:pre"
        return (
            f"<div><div><b>{html.escape(self.title)}</b></div>"
            f'<pre style="{style}">{"".join(parts)}</pre><small>{html.escape(repr(self))}</small></div>'
        )


def token_heat(chunk: Chunk, query: str, weights: Mapping[str, float] | None = None) -> Heat:
    """The source of a chunk with each matching word tinted by its weight.

    `weights` maps a term (as `codekb.words.terms` gives it) to what it is worth, such as its idf; without it every
    term of the query weighs 1. Only terms that stand in the chunk are kept.
    """
    found = set(terms(chunk.code))
    chosen = dict.fromkeys(terms(query), 1.0) if weights is None else weights
    kept = {t: w for t, w in chosen.items() if t in found}
    return Heat(chunk, kept, f"{chunk.qualname} ({chunk.location}) for “{query}”")
