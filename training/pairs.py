"""Functions → training pairs as flat arrays of table rows: questions of four styles and the code that answers."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from collect import SHARDS
from evaluate import enriched, sentence, without_doc
from functions import Function

from codekb.encoders.pieces import MAX_WORD, Vocabulary, fields, stem
from codekb.text import tokenize
from codekb.words import words

STYLES = ("doc", "later", "comment", "message")
"""Where a question comes from: first sentence of the documentation, a later one, a comment, a string of the code."""
LATER_SHARE = 0.6
CODE_SHARE = 0.4
"""The share of functions with a second question from further documentation, and one from a comment or a string."""
VOCABULARY_SHARE = 3
"""Words are counted in every third function: with every eighth, rare ones came and went by chance."""
PROCESSES = 2
"""At once; the result does not depend on it."""
MIN_WORDS = 3
MAX_WORDS = 60
MAX_ROWS = 160
"""Distinct rows kept a field: long functions are cut."""

_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//)[ \t]?(\S.*)$", re.MULTILINE)
_STRING = re.compile(r"""(?<![\w"'])[fFrRbBu]{0,2}("|')((?:(?!\1)[^\\\n]|\\.){18,200})\1""")
_PROSE = re.compile(r"^[^{}\[\]=;_\\<>|]*$")
_CODEISH = re.compile(r"noqa|type: ignore|pragma|nolint|pylint|TODO|FIXME|XXX|Copyright|http|^[-=#*/ ]*$", re.I)


def read(folder: Path, shard: int) -> Iterator[Function]:
    """The functions of one of the shards that collect.py wrote, Python first."""
    for language in ("python", "go"):
        with gzip.open(folder / f"functions-{language}-{shard}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                record["doc_lines"] = tuple(record["doc_lines"])
                yield Function(**record)


def questions(function: Function, rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """(style, question, text of the function without the place the question was taken from)."""
    name = function.qualname.rpartition(".")[2]
    bare = without_doc(function)
    first = sentence(function.doc, name)
    if usable(first):
        yield "doc", first, enriched(function, bare)
        later = [s for s in sentences(function.doc[len(first) :]) if usable(s) and s != first]
        if later and rng.random() < LATER_SHARE:
            yield "later", rng.choice(later), enriched(function, bare)
    if rng.random() > CODE_SHARE:
        return
    full = _with_doc(function)
    comments = [m for m in _COMMENT.finditer(bare) if usable(m.group(1)) and not _CODEISH.search(m.group(1))]
    if comments:
        match = rng.choice(comments)
        code = full if rng.random() < 0.5 else bare
        yield "comment", match.group(1), enriched(function, code.replace(match.group(0), "", 1))
    strings = [m for m in _STRING.finditer(bare) if " " in m.group(2).strip() and usable(m.group(2))]
    if strings:
        match = rng.choice(strings)
        code = full if rng.random() < 0.5 else bare
        yield "message", match.group(2), enriched(function, code.replace(match.group(2), "", 1))


def _with_doc(function: Function) -> str:
    if function.language == "go" and function.doc:
        return "".join(f"// {line}\n" for line in function.doc.split("\n")) + function.code
    return function.code


def usable(text: str) -> bool:
    """Whether a sentence could be a question: some words, mostly prose."""
    words = text.split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS or not text.isascii():
        return False
    letters = sum(c.isalpha() or c == " " for c in text)
    return letters >= 0.75 * len(text)


def sentences(text: str) -> list[str]:
    """Sentences and list entries of a documentation text."""
    text = re.sub(r">>>.*|^\s*\.\. .*|^\s*:\w+[^:]*:", "\n\n", text, flags=re.MULTILINE)
    found = re.split(r"\n\s*\n|(?<=[.!?])\s+(?=[A-Z])|\n\s*[-*]\s", text)
    return [re.sub(r"\s+", " ", s).strip() for s in found]


@dataclass(slots=True)
class Flat:
    """Ragged rows: `rows[start[i]:start[i+1]]` with values (log(1 + count)) and, for documents, field numbers."""

    start: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    field: np.ndarray


@dataclass(slots=True)
class Pairs:
    """All pairs: question i is answered by document i; `group` numbers the package, `style` indexes STYLES."""

    query: Flat
    document: Flat
    group: np.ndarray
    style: np.ndarray
    key: np.ndarray
    """Equal for equal questions: those are no negatives of each other."""


class Builder:
    """Collects ragged rows."""

    def __init__(self) -> None:
        self.start, self.rows, self.values, self.field = array("q", [0]), array("i"), array("f"), array("b")

    def add(self, entries: tuple[list[int], list[int], list[int]]) -> None:
        field_numbers, rows, counts = entries
        self.rows.extend(rows)
        self.values.extend([_LOG[c] if c < len(_LOG) else math.log1p(c) for c in counts])
        self.field.extend(field_numbers)
        self.start.append(len(self.rows))

    def flat(self) -> Flat:
        return Flat(*(np.array(a) for a in (self.start, self.rows, self.values, self.field)))


_LOG = [math.log1p(i) for i in range(32)]


def raw_pairs(folder: Path, seed: int, shard: int) -> Iterator[tuple[str, str, str, str]]:
    """(package, style, question, document text) of one shard, equal questions of a package at most thrice each."""
    rng = random.Random(seed * SHARDS + shard)
    seen: Counter[tuple[str, str]] = Counter()
    for function in read(folder, shard):
        for style, question, text in questions(function, rng):
            key = (function.package, question)
            seen[key] += 1
            if seen[key] <= 3:
                yield function.package, style, question, text


Counts = tuple[tuple[Counter[str], Counter[str]], dict[str, set[str]], dict[str, Counter[str]]]
"""Of pieces and of pairs: functions that hold them, up to two packages they occur in, how they are written."""


def _count(folder: Path, shard: int) -> tuple[int, Counts]:
    """How many functions of a shard were read, and what they hold; what occurs once is left out."""
    written: Counter[str] = Counter()
    packages: dict[str, set[str]] = defaultdict(set)
    total = 0
    for number, function in enumerate(read(folder, shard)):
        if number % VOCABULARY_SHARE:
            continue
        total += 1
        for word in set(words(f"{function.path} {function.doc} {function.code}")):
            written[word] += 1
            if len(packages[word]) < 2:
                packages[word].add(function.package)
    count: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    spread: dict[str, set[str]] = defaultdict(set)
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    for word, n in written.items():
        plain = tokenize(word[:MAX_WORD])
        pieces = [(stem(p), p) for p in plain]
        pairs = {(f"{a} {b}", f"{c} {d}") for (a, c), (b, d) in pairwise(pieces)}
        for counter, found in zip(count, (set(pieces), pairs), strict=True):
            for piece in {piece for piece, _ in found}:
                counter[piece] += n
                spread[piece] |= packages[word]
            for piece, spelling in found:
                spelled[piece][spelling] += n
    kept = {piece for counter in count for piece, n in counter.items() if n > 1}
    some = tuple(Counter({piece: n for piece, n in counter.items() if n > 1}) for counter in count)
    return total, (
        (some[0], some[1]),
        {piece: set(sorted(where)[:2]) for piece, where in spread.items() if piece in kept},
        {piece: Counter(dict(how.most_common(2))) for piece, how in spelled.items() if piece in kept},
    )


def vocabulary(folder: Path, *, known: int, known_pairs: int) -> tuple[list[str], np.ndarray, list[str]]:
    """The pieces of most functions, then the pairs, each of at least two packages.

    With their document frequencies and how they are written most often, before stemming.
    """
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = list(pool.map(_count, [folder] * SHARDS, range(SHARDS)))
    total = sum(read for read, _ in parts)
    count: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    spread: dict[str, set[str]] = defaultdict(set)
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    for _, (counted, where, how) in parts:
        for whole, more in zip(count, counted, strict=True):
            whole.update(more)
        for piece, packages in where.items():
            spread[piece] |= packages
        for piece, spellings in how.items():
            spelled[piece].update(spellings)
    chosen: list[str] = []
    for counter, most in zip(count, (known, known_pairs), strict=True):
        ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
        chosen += [p for p, _ in ordered if len(spread[p]) > 1 and _worth_a_row(p)][:most]
    frequency = np.array([(count[0][p] or count[1][p]) / total for p in chosen])
    return chosen, frequency, [min(spelled[p].items(), key=lambda item: (-item[1], item[0]))[0] for p in chosen]


def _worth_a_row(piece: str) -> bool:
    return len(piece) < 24 and not any(p.isdigit() and len(p) > 2 for p in piece.split())


Entries = tuple[list[int], list[int], list[int]]
"""Fields, rows, counts, side by side."""


class Reader:
    """Texts → entries, each distinct word looked up once, the last document kept (it has often two questions)."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.cache: dict[str, list[int]] = {}
        self.last: tuple[str, Entries] = ("", ([], [], []))

    def document(self, text: str) -> Entries:
        """The entries of a document, field by field."""
        if text != self.last[0]:
            found: Entries = ([], [], [])
            for number, content in enumerate(fields(text)):
                counts = self._counts(content)
                rows = list(counts)[:MAX_ROWS]
                found[0].extend([number] * len(rows))
                found[1].extend(rows)
                found[2].extend([counts[row] for row in rows])
            self.last = (text, found)
        return self.last[1]

    def _counts(self, content: str) -> dict[int, int]:
        counts: dict[int, int] = {}
        for word, count in Counter(words(content)).items():
            rows = self.cache.get(word)
            if rows is None:
                rows = self.cache[word] = self.vocabulary.word(word)
            for row in rows:
                counts[row] = counts.get(row, 0) + count
        return counts

    def query(self, text: str) -> Entries:
        """The entries of a question."""
        counts = Counter(self.vocabulary.query(text))
        return [0] * len(counts), list(counts), list(counts.values())


def build(folder: Path, vocab: Vocabulary, seed: int) -> Pairs:
    """All pairs of the collected functions, shard by shard in two processes."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = list(pool.map(_shard, *zip(*[(folder, vocab, seed, shard) for shard in range(SHARDS)], strict=True)))
    first = np.cumsum([0, *(part.group.max() + 1 for part in parts)])
    whole = [np.concatenate([getattr(part, name) for part in parts]) for name in ("style", "key")]
    group = np.concatenate([part.group + start for part, start in zip(parts, first, strict=False)])
    return Pairs(_joined([p.query for p in parts]), _joined([p.document for p in parts]), group, *whole)


def _joined(flats: list[Flat]) -> Flat:
    first = np.cumsum([0, *(flat.start[-1] for flat in flats)])
    start = np.concatenate([[0], *(flat.start[1:] + start for flat, start in zip(flats, first, strict=False))])
    return Flat(start, *(np.concatenate([getattr(f, name) for f in flats]) for name in ("rows", "values", "field")))


def _shard(folder: Path, vocab: Vocabulary, seed: int, shard: int) -> Pairs:
    reader, query, document = Reader(vocab), Builder(), Builder()
    group, style, key = array("i"), array("b"), array("q")
    numbers: dict[str, int] = {}
    for package, kind, question, text in raw_pairs(folder, seed, shard):
        query.add(reader.query(question))
        document.add(reader.document(text))
        group.append(numbers.setdefault(package, len(numbers)))
        style.append(STYLES.index(kind))
        key.append(zlib.crc32(question.lower().encode()))
    return Pairs(query.flat(), document.flat(), np.array(group), np.array(style), np.array(key))


__all__ = ["Flat", "Pairs", "Reader", "build", "raw_pairs", "read", "vocabulary"]
