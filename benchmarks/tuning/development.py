"""The development sets that defaults are chosen on: docstring and git questions of the repositories in `REPOSITORIES`.

    python benchmarks/tuning/development.py FOLDER CACHE

FOLDER holds one git repository per name (`owner+name/repo`, bare or not). For docstrings the newest tree is used. For
git questions a few anchor trees per repository stand for the trees before the commits that follow them: such a commit
is judged on the anchor, an ancestor of it, if the anchor holds all the functions it changed. So nothing of the answer
can be in the tree, and one index serves many questions. CACHE receives pickles of (name, kind, corpus, questions).
"""

from __future__ import annotations

import pickle
import random
import sys
import tempfile
from pathlib import Path

from codekb.chunks import Corpus
from codekb.history import History
from codekb.parsing.repo import parse_repo
from codekb.questions import Question, questions_from_docstrings
from codekb.questions_git import _unfit, _unfit_answers, changed_functions, clean_message, write_tree

REPOSITORIES = (
    "python-attrs+attrs", "celery+celery", "dask+dask", "python-jsonschema+jsonschema",
    "marshmallow-code+marshmallow", "sqlalchemy+sqlalchemy", "tornadoweb+tornado", "python-trio+trio",
    "urllib3+urllib3", "psf+black", "etcd-io+bbolt", "go-git+go-git", "gorilla+websocket",
    "prometheus+client_golang",
)  # fmt: skip
ANCHORS = (0.02, 0.12, 0.3)
"""Where in the history, counted from the newest commit, the anchor trees stand."""

PER_ANCHOR = 25
PER_DOCSTRINGS = 120
LOOK_AT = 90
SKIP = ("vendor/**", "third_party/**")


def tree_corpus(repo: Path, tree: str) -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        write_tree(repo, tree, Path(folder))
        return slim(parse_repo(folder, workers=1))


def slim(corpus: Corpus) -> Corpus:
    """Without what only resolvers need, so that the pickle is small."""
    return Corpus(corpus.chunks, root=corpus.root)


def git_questions(repo: Path, anchor: float) -> tuple[Corpus, list[Question]]:
    history = History(repo)
    commits = history.commits(8000)
    at = int(anchor * len(commits))
    tree = commits[at].sha
    corpus = tree_corpus(repo, tree)
    following = commits[max(0, at - 400) : at]
    random.Random(0).shuffle(following)
    questions: list[Question] = []
    for commit in following[: LOOK_AT * 2]:
        if len(questions) == PER_ANCHOR:
            break
        if _unfit(commit):
            continue
        answers = changed_functions(history, commit)
        if answers is None or _unfit_answers(answers) or any(a not in corpus for a in answers):
            continue
        questions.append(Question(commit.sha[:10], clean_message(commit.message), tuple(answers), kind="commit"))
    return corpus, questions


def main(folder: str, cache: str) -> None:
    Path(cache).mkdir(parents=True, exist_ok=True)
    for name in REPOSITORIES:
        repo = Path(folder, name, "repo")
        for kind, make in {
            "docstring": lambda repo=repo: _docstrings(repo),
            **{f"git{a}": lambda repo=repo, a=a: git_questions(repo, a) for a in ANCHORS},
        }.items():
            target = Path(cache, f"{name}.{kind}.pickle")
            if target.exists() or not repo.exists():
                continue
            corpus, questions = make()
            target.write_bytes(pickle.dumps((name, kind, corpus, questions)))
            print(name, kind, len(corpus.functions), "functions", len(questions), "questions", flush=True)


def _docstrings(repo: Path) -> tuple[Corpus, list[Question]]:
    questions, corpus = questions_from_docstrings(tree_corpus(repo, "HEAD"), limit=PER_DOCSTRINGS)
    return corpus, questions


if __name__ == "__main__":
    main(*sys.argv[1:])
