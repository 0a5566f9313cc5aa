"""The weight of the prior `neighbours`: commit questions of development repositories, in two halves.

    python benchmarks/tuning/structure.py FOLDER tuning
    python benchmarks/tuning/structure.py FOLDER confirming

FOLDER holds one git repository per name (`owner+name/repo`, bare or not). Each half is its own repositories, split
before anything was measured: the design and its weight come from the first, the second was asked with that weight.
Questions and anchors are made as in `development`. Prints, per language, the difference to the search without the prior
with its paired 95 % interval, questions as units; `structure.json` keeps these figures and what else was tried.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from codekb.chunks import Corpus
from codekb.evaluation import bootstrap, ndcg, recall, reciprocal_rank
from codekb.history import History
from codekb.hybrid import Options, rank
from codekb.knowledge_base import KnowledgeBase
from codekb.parsing.repo import parse_repo
from codekb.questions import Question
from codekb.questions_git import _unfit, _unfit_answers, changed_functions, clean_message, write_tree

HALVES = {
    ("tuning", "python"): (
        "python-attrs+attrs", "mahmoud+boltons", "dask+dask", "marshmallow-code+marshmallow", "tornadoweb+tornado",
        "urllib3+urllib3",
    ),
    ("tuning", "go"): (
        "etcd-io+bbolt", "valyala+fasthttp", "go-git+go-git", "hashicorp+memberlist", "nats-io+nats.go",
        "hashicorp+raft", "gorilla+websocket",
    ),
    ("confirming", "python"): (
        "psf+black", "celery+celery", "python-jsonschema+jsonschema", "prompt-toolkit+python-prompt-toolkit",
        "python-trio+trio",
    ),
    ("confirming", "go"): (
        "prometheus+client_golang", "fsnotify+fsnotify", "redis+go-redis", "jackc+pgx",
    ),
}  # fmt: skip
ANCHORS = (0.02, 0.12, 0.3)
PER_ANCHOR = 25
LOOK_AT = 160
SKIP = ("vendor/**", "third_party/**")
FEW = 3
"""Anchors with fewer questions are left out."""

WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
MEASURES = {"NDCG@10": ndcg, "Recall@10": recall, "MRR@10": reciprocal_rank}


def trees(folder: Path, half: str, language: str) -> Iterator[tuple[str, Corpus, list[Question]]]:
    """Each anchor tree of the half's repositories with the commits after it whose answers it holds."""
    for name in HALVES[half, language]:
        for anchor in ANCHORS:
            tree, corpus, questions = commit_questions(folder / name / "repo", anchor)
            if len(questions) >= FEW:
                yield f"{name} {tree[:10]}", corpus, questions


def commit_questions(repo: Path, anchor: float) -> tuple[str, Corpus, list[Question]]:
    history = History(repo)
    commits = history.commits(8000)
    at = int(anchor * len(commits))
    with tempfile.TemporaryDirectory() as place:
        write_tree(repo, commits[at].sha, Path(place))
        corpus = parse_repo(place, workers=1, exclude=SKIP)
    following = commits[max(0, at - 400) : at]
    random.Random(0).shuffle(following)
    questions: list[Question] = []
    for commit in following[:LOOK_AT]:
        if len(questions) == PER_ANCHOR:
            break
        answers = None if _unfit(commit) else changed_functions(history, commit)
        if answers and not _unfit_answers(answers) and all(a in corpus for a in answers):
            questions.append(Question(commit.sha[:10], clean_message(commit.message), tuple(answers), kind="commit"))
    return commits[at].sha, corpus, questions


def measure(corpus: Corpus, questions: list[Question]) -> np.ndarray:
    """Shape (weights, questions, measures)."""
    kb = KnowledgeBase(corpus)
    rows = []
    for weight in WEIGHTS:
        options = Options(prior_weights={"neighbours": weight})
        found = [
            rank(q.text, kb.facts, dense=kb.vectors().scores, keyword=kb.keyword().scores, options=options)
            for q in questions
        ]
        ids = [[hit.chunk.id for hit in ranking] for ranking in found]
        rows.append(
            [[f(i, set(q.answers), 10) for f in MEASURES.values()] for i, q in zip(ids, questions, strict=True)]
        )
    return np.array(rows)


def main(folder: str, half: str) -> None:
    for language in ("python", "go"):
        parts = [measure(corpus, questions) for _, corpus, questions in trees(Path(folder), half, language)]
        values = np.concatenate(parts, axis=1)
        print(f"{half}, {language}: {values.shape[1]} questions, {len(parts)} trees", flush=True)
        for weight, row in zip(WEIGHTS, values, strict=True):
            differences = (row - values[0]).T
            shown = [
                f"{name} {d.mean():+.4f} [{low:+.4f}, {high:+.4f}]"
                for name, d in zip(MEASURES, differences, strict=True)
                for low, high in [bootstrap(d)]
            ]
            print(f"  {weight:4g}  {'  '.join(shown)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
