"""Questions with their right answers: the value, its JSON file, and questions made from docstrings. No
metrics."""

from __future__ import annotations

import ast
import json
import os
import random
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from codekb.chunks import Chunk, Corpus
from codekb.collector import paused

MAX_SHARED = 5
"""A first sentence that more functions than this share is boilerplate, no question."""

MIN_WORDS = 3
"""A docstring's first sentence of fewer words names nothing (`See above.`)."""


@dataclass(frozen=True, slots=True)
class Question:
    """What someone asks, and every chunk id that answers it.

    `namespace` is set only where the asker would know it. `kind` is a word for grouping (`sentence`,
    `symbol`, `docstring`, `commit`). `tree` is the git tree the question is judged on, where it has one of
    its own.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    namespace: str | None = None
    kind: str = "sentence"
    tree: str | None = None


def load_questions(path: str | os.PathLike[str], corpus: Corpus | None = None) -> list[Question]:
    """The questions of a JSON file; with a corpus, every answer must be one of its chunk ids.

    The form: `{"corpus": name, "source": text, "questions": [{"id", "text", "answers", "namespace"?,
    "kind"?}]}`. Raises ValueError that names the file, the question and what is wrong with it.
    """
    name = Path(path).name
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is no JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("questions"), list):
        raise ValueError(f'{name} must be an object with a list "questions"; it is {type(data).__name__}')
    questions = [_question(name, at, entry) for at, entry in enumerate(data["questions"])]
    ids = [q.id for q in questions]
    if double := sorted({i for i in ids if ids.count(i) > 1}):
        raise ValueError(f"{name}: question ids occur twice: {double}")
    if corpus is not None:
        check_answers(questions, corpus)
    return questions


def _question(name: str, at: int, entry: Any) -> Question:
    where = f"{name}, question {at + 1}"
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is {type(entry).__name__}, not an object")
    where += f" ({entry['id']})" if "id" in entry else ""
    for key in ("id", "text"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise ValueError(f'{where}: "{key}" must be a non-empty string, it is {entry.get(key)!r}')
    answers = entry.get("answers")
    if not isinstance(answers, list) or not answers or not all(isinstance(a, str) and a for a in answers):
        raise ValueError(f'{where}: "answers" must be a non-empty list of chunk ids, it is {answers!r}')
    if unknown := sorted(set(entry) - set(Question.__slots__)):
        raise ValueError(f"{where}: unknown keys {unknown}; there are {list(Question.__slots__)}")
    for key in ("namespace", "kind", "tree"):
        if key in entry and not isinstance(entry[key], str | None):
            raise ValueError(f'{where}: "{key}" must be a string or null, it is {entry[key]!r}')
    optional = {key: entry[key] for key in ("namespace", "kind", "tree") if entry.get(key)}
    return Question(entry["id"], entry["text"], tuple(dict.fromkeys(answers)), **optional)


def save_questions(path: str | os.PathLike[str], questions: Iterable[Question], *, corpus: str, source: str) -> None:
    """Write the JSON form that `load_questions` reads; `source` says where the questions come from."""
    entries = [{k: v for k, v in asdict(q).items() if v is not None} for q in questions]
    data = {"corpus": corpus, "source": source, "questions": entries}
    Path(path).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def check_answers(questions: Iterable[Question], corpus: Corpus) -> None:
    """Raise ValueError, naming the nearest ids, where an answer is no chunk of the corpus."""
    for question in questions:
        for answer in question.answers:
            if corpus.get(answer) is None:
                near = corpus.nearest(answer) or "none"
                raise ValueError(f"question {question.id}: no chunk {answer!r} in the corpus; nearest: {near}")


def questions_from_docstrings(
    corpus: Corpus, *, limit: int | None = None, seed: int = 0, documented_only: bool = False
) -> tuple[list[Question], Corpus]:
    """Documented functions' first sentences as questions, and the corpus without any function's docstring.

    Functions that share a first sentence are all right answers of one question. Tests, overloads and
    functions of generated files ask nothing but stay as results. The docstrings go out of `doc` and of the
    code of the function and of what encloses it; line numbers stay those of the file. Both languages; Go
    doc comments stand outside the code. `documented_only` leaves undocumented functions out of the corpus
    (an easier pool, often published); `limit` samples with the seed.
    """
    asked: dict[str, list[Chunk]] = {}
    for chunk in corpus.functions:
        if not {"test", "overload", "generated"} & set(chunk.marks) and (sentence := first_sentence(chunk)):
            asked.setdefault(sentence, []).append(chunk)
    questions = [
        Question(f"d{number:04}", text, tuple(c.id for c in chunks), kind="docstring")
        for number, (text, chunks) in enumerate(asked.items(), 1)
        if len(chunks) <= MAX_SHARED
    ]
    if limit is not None and len(questions) > limit:
        questions = sorted(random.Random(seed).sample(questions, limit), key=lambda q: q.id)
    return questions, without_docstrings(corpus, documented_only=documented_only)


def first_sentence(chunk: Chunk) -> str:
    """The first sentence of the docstring on one line, or "" where it is too short to ask anything.

    A Go comment's leading function name is cut off, since it would give the answer away.
    """
    paragraph = re.split(r"\n\s*\n", chunk.doc.strip(), maxsplit=1)[0]
    sentence = re.split(r"(?<=[^.\s][.!?])\s", " ".join(paragraph.split()), maxsplit=1)[0]
    if chunk.language == "go" and sentence.startswith(f"{chunk.name} "):
        sentence = sentence[len(chunk.name) + 1 :]
    words = re.findall(r"[^\W\d_]{2,}", sentence)
    looks_like_markup = sentence.startswith((":", "@", ">>>", ".. ", "nolint", "TODO"))
    return "" if len(words) < MIN_WORDS or looks_like_markup else sentence


def without_docstrings(corpus: Corpus, *, documented_only: bool = False) -> Corpus:
    """The corpus with every function's docstring taken out of `doc` and of all code that shows it."""
    left: dict[str, dict[int, str]] = {}
    kept = [c for c in corpus if not documented_only or c.kind != "function" or c.doc]
    with paused():
        for chunk in corpus.functions:
            if chunk.doc and chunk.language == "python":
                left.setdefault(chunk.path, {}).update(_lines_without_docstring(chunk))
        chunks = [_without(c, left.get(c.path, {})) for c in kept]
    return Corpus(chunks, root=corpus.root, skipped=corpus.skipped, notes=corpus.notes, facts=corpus.facts)


def _without(chunk: Chunk, left: dict[int, str]) -> Chunk:
    touched = bool(left) and not left.keys().isdisjoint(range(chunk.start_line, chunk.end_line + 1))
    if not touched and not (chunk.kind == "function" and chunk.doc):
        return chunk
    lines = chunk.code.splitlines(keepends=True)
    code = "".join(left.get(number, line) for number, line in enumerate(lines, chunk.start_line))
    return replace(chunk, code=code, doc="" if chunk.kind == "function" else chunk.doc)


def _lines_without_docstring(chunk: Chunk) -> dict[int, str]:
    """The file's lines that hold this function's docstring → what is left of them, mostly nothing."""
    lines = chunk.code.splitlines(keepends=True)
    indented = chunk.code[:1] in " \t"
    try:
        tree: Any = ast.parse("if 1:\n" + chunk.code if indented else chunk.code)
        statement = (tree.body[0].body[0] if indented else tree.body[0]).body[0]
        first, last = statement.lineno - 1 - indented, statement.end_lineno - 1 - indented
        before = lines[first].encode()[: statement.col_offset].decode()
        after = lines[last].encode()[statement.end_col_offset :].decode()
    except (SyntaxError, ValueError, IndexError, AttributeError):
        first, last = _search_docstring(chunk, lines)
        before = after = ""
    left = dict.fromkeys(range(chunk.start_line + first, chunk.start_line + last + 1), "")
    if left and (rest := before + after.lstrip("; ")).strip():
        left[chunk.start_line + first] = rest
    return left


def _search_docstring(chunk: Chunk, lines: list[str]) -> tuple[int, int]:
    """The docstring's first and last line by text, for code that does not parse; (0, -1) where it is not found."""
    wanted = [line.strip() for line in chunk.doc.splitlines() if line.strip()]
    found = [at for at, line in enumerate(lines) if wanted and wanted[0] in line]
    ends = [at for at, line in enumerate(lines) if found and at >= found[0] and wanted[-1] in line]
    return (found[0], ends[0]) if ends else (0, -1)
