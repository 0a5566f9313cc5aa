"""A text → its fields, a word → the rows of the embedding table it stands for. No vectors, no weights."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from codekb.words import words

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_HEADER = re.compile(r"File: (.*?) \| Package: .*? \| \w+: (.*)\n\n")
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class|func(?:[ \t]*\([^)]*\))?)[ \t]+(\w+)", re.MULTILINE)
_OPENED = re.compile(r"(?::[ \t]*(?:#[^\n]*)?|\{[ \t]*(?://[^\n]*)?)$", re.MULTILINE)
"""The end of a signature: a colon or a brace at the end of a line."""
_DOCSTRING = re.compile(r':[ \t]*(?:#[^\n]*)?\n\s*[rRuUbB]{0,2}("""|\'\'\')(.*?)\1', re.DOTALL)
_COMMENT = re.compile(r"(#(?<![:\w\"']#)[^\n]*|//(?<![:\w\"']//)[^\n]*)")
"""A comment's mark is looked for first, then what stands before it: many times as fast as the other way round."""
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z"))
_VOWEL = re.compile(r"[aeiouy]")
MAX_WORD = 64
"""Longer runs are hashes, tables or encoded data; only this many characters are read."""
MIN_SEGMENT = 3
MAX_SEGMENTS = 3
"""Shortest and most known pieces that an unknown one is taken apart into."""


class Fields(NamedTuple):
    """What an encoder weighs apart: own name, where it stands, documentation, signature, comments, the rest."""

    name: str
    place: str
    doc: str
    signature: str
    comment: str
    body: str


def fields(text: str) -> Fields:
    """Splits a chunk's text as `codekb.text` writes it; plain code or prose works too.

    >>> fields("File: a/b.py | Package: a | Function: C.load_all\\n\\ndef load_all(self):\\n    return 1  # one")[:2]
    ('load_all', 'a/b.py C')
    """
    place, name, start = "", "", 0
    header = _HEADER.match(text)
    if header:
        place, qualname = header.group(1), header.group(2)
        cut = max(qualname.rfind("."), qualname.rfind(" "))
        name, start = qualname[cut + 1 :], header.end()
        place = f"{place} {qualname[:cut]}" if cut > 0 else place
    definition = _DEFINITION.search(text, start)
    if definition is None:
        return Fields(name, place, "", "", *_split_comments(text[start:]))
    lead = text[start : definition.start()]
    doc, before = (lead, "") if any(mark in lead for mark in _COMMENTS) else ("", lead)
    opened = _OPENED.search(text, definition.end())
    end = opened.start() if opened else len(text)
    signature, rest = text[definition.start() : end], end
    quoted = '"""' in text or "'''" in text
    docstring = _DOCSTRING.match(text, end) if quoted else None
    if docstring is not None:
        doc, rest = doc + docstring.group(2), docstring.end()
    comment, body = _split_comments(text[rest:])
    return Fields(name or definition.group(1), place, doc, signature, comment, before + body)


def _split_comments(code: str) -> tuple[str, str]:
    """(comments, the rest) of code; what looks like a comment in a string counts as one."""
    parts = _COMMENT.split(code)
    return " ".join(parts[1::2]), "".join(parts[::2])


_COMMENTS = ("#", "//", "/*")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A light stem of a lower-case word: plurals, `-ing`, `-ed`, a final `-e`; at least three letters stay.

    >>> [stem(w) for w in ("queries", "classes", "stopping", "cached", "cache", "bus")]
    ['query', 'class', 'stop', 'cach', 'cach', 'bus']
    """
    if len(word) < 4 or not word.isascii() or word[0].isdigit():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            word = word[: -len(ending)] + instead
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= 3 and _VOWEL.search(root):
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
            word = root[:-1] if doubled else root
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def parts(word: str) -> list[str]:
    """The stemmed parts of an identifier or a word, in order.

    >>> parts("parseHTTPHeaders"), parts("get_user_names2")
    (['pars', 'http', 'header'], ['get', 'user', 'nam', '2'])
    """
    return [stem(part.lower()) for part in _PARTS.findall(word[:MAX_WORD])]


class Vocabulary:
    """Rows of the table: known pieces and known pairs of pieces (`a b`) first, then `buckets` shared rows.

    A known piece has its own row. An unknown one that is two or three known pieces written together (`setdefault`)
    takes theirs, any other the bucket of its hash. Neighbouring parts also take the row of their pair, if known.
    """

    def __init__(self, known: Sequence[str], *, buckets: int) -> None:
        self.known: Mapping[str, int] = {piece: row for row, piece in enumerate(known)}
        self.buckets = buckets
        self.size = len(self.known) + buckets

    def rows(self, pieces: Sequence[str]) -> list[int]:
        """The rows of consecutive pieces: each piece's, then each known neighbouring pair's."""
        known = self.known
        found: list[int] = []
        for piece in pieces:
            row = known.get(piece)
            if row is not None:
                found.append(row)
            else:
                found += self._unknown(piece)
        if len(pieces) > 1:
            pairs = (known.get(f"{first} {second}") for first, second in pairwise(pieces))
            found += [row for row in pairs if row is not None]
        return found

    def word(self, word: str) -> list[int]:
        """The rows of one word as written in a text."""
        return self.rows(parts(word))

    def query(self, text: str) -> list[int]:
        """The rows of a question, pairs across its words included."""
        return self.rows([piece for word in words(text) for piece in parts(word)])

    def _unknown(self, piece: str) -> list[int]:
        split = self._segment(piece, MAX_SEGMENTS)
        if split:
            return [self.known[part] for part in split]
        return [len(self.known) + _hash(piece) % self.buckets] if self.buckets else []

    def _segment(self, piece: str, most: int) -> list[str]:
        if piece in self.known:
            return [piece]
        if most == 1:
            return []
        for cut in range(len(piece) - MIN_SEGMENT, MIN_SEGMENT - 1, -1):
            if piece[:cut] in self.known:
                rest = self._segment(piece[cut:], most - 1)
                if rest:
                    return [piece[:cut], *rest]
        return []


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
