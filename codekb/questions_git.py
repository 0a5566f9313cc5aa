"""Questions from git history: what a commit says, answered by the functions it changed. Docstrings are in
`questions`."""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codekb.chunks import Chunk, Corpus
from codekb.history import Commit, History
from codekb.parsing.repo import parse_repo
from codekb.questions import Question
from codekb.table import Table

SUFFIXES = (".py", ".go")
MAX_FILES = 10
"""A commit that changes more source files than this is no answer to one question."""

MAX_ANSWERS = 10
"""More changed functions than this are a sweep through the code base."""

MIN_WORDS = 4
"""A subject of fewer words (`Fix bug`, `Bump version`) asks nothing."""

_BOT = re.compile(r"\[bot\]|dependabot|renovate|pre-commit-ci|github-actions|pyup|greenkeeper|weblate", re.I)
_REVERT = re.compile(r"^\s*(revert\b|this reverts commit)", re.I | re.M)
_CHORE = re.compile(
    r"\b(re-?format|black|isort|ruff|flake8|pyupgrade|gofmt|lint\w*|whitespace|typos?|spelling|changelog|bump"
    r"|release|version \d|merge|cherry.?pick|type hints?|typing|mypy|copyright|license|black-?ify)\b",
    re.I,
)
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]+(-by|-to|-Id|-id|):\s.*$|^\(cherry picked from .*\)$|^\s*-{3,}\s*$")
_NUMBER = re.compile(r" ?\((?:#|GH-?)\d+\)")


@dataclass(slots=True)
class GitQuestions:
    """Questions from one repository's history, each with its own tree, and what was dropped and why."""

    root: str
    questions: list[Question]
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def report(self) -> Table:
        """How many commits were taken and how many dropped for each reason."""
        rows = [["taken", len(self.questions)], *([reason, n] for reason, n in self.dropped.most_common())]
        return Table(["commits", "n"], rows, caption="Questions from git history", notes=self.notes)

    def by_tree(self) -> Iterator[tuple[Corpus, list[Question]]]:
        """Each tree's corpus with its questions, one after another; the files stand in a temporary
        folder."""
        trees: dict[str, list[Question]] = {}
        for question in self.questions:
            trees.setdefault(question.tree or "HEAD", []).append(question)
        for tree, questions in trees.items():
            with tempfile.TemporaryDirectory() as folder:
                write_tree(self.root, tree, Path(folder))
                yield parse_repo(folder), questions


def questions_from_git(
    root: str | os.PathLike[str],
    *,
    limit: int = 100,
    seed: int = 0,
    newest: int = 3000,
    seconds: float = 120.0,
    max_words: int | None = None,
) -> GitQuestions:
    """Commit messages as questions, the functions that the commit changed as answers, in the tree before
    it.

    A function counts as changed when its code differs in more than comments, docstrings and white space,
    or when it is gone; of nested functions the inner one. Renamed files are followed. Test functions are
    answers only where nothing else changed. Left out, each counted in `.dropped`: merges, bots, reverts,
    formatting and release commits, huge ones, short subjects, those that change no existing function.
    `root` may be a work tree or a bare folder; the `newest` commits are considered in an order drawn with
    the seed until `limit` or `seconds` is reached. In a shallow or partial clone commits whose parent is
    missing are dropped, and a note says so. Raises FileNotFoundError without git, ValueError where `root`
    is no repository.
    """
    repo = History(root)
    result = GitQuestions(str(root), [], notes=repo.limits())
    commits = repo.commits(newest)
    random.Random(seed).shuffle(commits)
    end = time.monotonic() + seconds
    looked = 0
    for commit in commits:
        if len(result.questions) >= limit or time.monotonic() > end:
            break
        looked += 1
        reason = _unfit(commit)
        answers = [] if reason else changed_functions(repo, commit)
        reason = reason or _unfit_answers(answers)
        if reason or answers is None:
            result.dropped[reason] += 1
            continue
        text = clean_message(commit.message, max_words)
        result.questions.append(Question(commit.sha[:10], text, tuple(answers), kind="commit", tree=commit.parents[0]))
    result.notes.append(f"looked at {looked} of {len(commits)} commits, drawn with seed {seed}")
    if looked < len(commits) and len(result.questions) < limit:
        result.notes.append(f"stopped after {seconds:g} s; raise `seconds` for more")
    return result


def _unfit(commit: Commit) -> str:
    subject = commit.message.strip().split("\n", 1)[0]
    rules = (
        (len(commit.parents) > 1, "merge"),
        (not commit.parents, "no parent here (first commit, or a shallow clone's edge)"),
        (bool(_BOT.search(commit.author)), "bot"),
        (bool(_REVERT.search(commit.message)), "revert"),
        (not commit.sources(SUFFIXES), "no Python or Go file"),
        (len(commit.sources(SUFFIXES)) > MAX_FILES, f"more than {MAX_FILES} source files"),
        (bool(_CHORE.search(subject)), "formatting, release or other chore"),
        (
            len(re.findall(r"[^\W\d_]{2,}", clean_message(subject))) < MIN_WORDS,
            f"subject under {MIN_WORDS} words",
        ),
    )
    return next((reason for holds, reason in rules if holds), "")


def _unfit_answers(answers: Sequence[str] | None) -> str:
    if answers is None:
        return "files missing (partial clone)"
    if not answers:
        return "no existing function changed"
    return f"more than {MAX_ANSWERS} functions changed" if len(answers) > MAX_ANSWERS else ""


def clean_message(message: str, max_words: int | None = None) -> str:
    """Subject and body without trailers and pull-request numbers, paragraphs kept.

    >>> clean_message("Fix the gate (#12)\\n\\nIt hung.\\n\\nSigned-off-by: A <a@b.c>")
    'Fix the gate\\n\\nIt hung.'
    """
    lines = [_NUMBER.sub("", line).rstrip() for line in message.splitlines() if not _TRAILER.match(line.strip())]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    if max_words is None:
        return text
    ends = [m.end() for m in re.finditer(r"\S+", text)]
    return text if len(ends) <= max_words else text[: ends[max_words - 1]]


def changed_functions(repo: History, commit: Commit) -> list[str] | None:
    """Ids, in the tree before the commit, of the functions it changed or removed; None where a file is
    missing."""
    pairs = [(old, new) for old, new in commit.sources(SUFFIXES) if old]
    before = repo.blobs(commit.parents[0], [old for old, _ in pairs])
    after = repo.blobs(commit.sha, [new for _, new in pairs if new])
    if before is None or after is None:
        return None
    if not before:
        return []
    old_ones = _codes(before)
    new_ones = _codes({old: after[new] for old, new in pairs if new})  # under the old name: the ids are then the same
    changed = [chunk for chunk, code in old_ones.values() if new_ones.get(chunk.id, (chunk, ""))[1] != code]
    changed = [chunk for chunk in changed if "overload" not in chunk.marks]
    others = [c for c in changed if "test" not in c.marks]
    return [c.id for c in others or changed]


def _codes(files: Mapping[str, bytes]) -> dict[str, tuple[Chunk, str]]:
    """Each function of the files with its code: without nested functions, comments, docstring and white
    space."""
    with tempfile.TemporaryDirectory() as folder:
        _write(files, Path(folder))
        corpus = parse_repo(folder, exclude=(), workers=1)
    nested: dict[str, list[Chunk]] = {}
    for chunk in corpus.functions:
        if "nested" in chunk.marks:
            nested.setdefault(chunk.path, []).append(chunk)
    return {c.id: (c, _essence(c, nested.get(c.path, []))) for c in corpus.functions}


def _essence(chunk: Chunk, nested: Sequence[Chunk]) -> str:
    gone = {
        line
        for other in nested
        if other.id != chunk.id and chunk.start_line <= other.start_line and other.end_line <= chunk.end_line
        for line in range(other.start_line, other.end_line + 1)
    }
    lines = [t for n, t in enumerate(chunk.code.splitlines(), chunk.start_line) if n not in gone]
    code = "\n".join(lines)
    if chunk.doc and chunk.language == "python":
        code = re.sub(r'[rRuU]?("""|\'\'\').*?\1', "", code, count=1, flags=re.S)
    comment = r"(?m)(^|\s)#.*$" if chunk.language == "python" else r"(?m)(^|\s)//.*$"
    return "".join(re.sub(comment, "", code).split())


def write_tree(root: str | os.PathLike[str], tree: str, folder: Path) -> None:
    """Write the Python and Go files (and go.mod) of a tree into a folder, by git alone: nothing is run.

    Raises ValueError where a file's content is missing here (a partial clone).
    """
    repo = History(root)
    wanted = [p for p in repo.paths(tree) if p.endswith(SUFFIXES) or p.rpartition("/")[2] == "go.mod"]
    files = repo.blobs(tree, wanted)
    if files is None:
        raise ValueError(f"files of {tree} are missing in {os.fspath(root)!r}, a partial clone: fetch them first")
    _write(files, folder)


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
