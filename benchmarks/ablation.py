"""The full ablation: every arm of `codekb.ablation` on every corpus, results kept in data/ablation/ as JSON.

    python benchmarks/ablation.py                                    the corpora that come with the project
    python benchmarks/ablation.py --only shop dispatch
    python benchmarks/ablation.py --git click=FOLDER --anchors 4 --per-anchor 60
    python benchmarks/ablation.py --docstrings echo=FOLDER           a git repository asked with its docstrings
    python benchmarks/ablation.py --half confirming python FOLDER    repositories of tuning/structure.py as one corpus

A git repository (bare or not) is asked with its commit messages. A few anchor trees stand for the trees before the
commits that follow them: a commit is judged on the newest anchor that is its ancestor, if that tree holds all the
functions it changed. Kept are commit ids, answers' ids and ranks, and the command, no code and no text.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tuning.structure import trees

from codekb.ablation import Kept, Traced, arms, arms_without_graph, joined, save_results, trace
from codekb.chunks import Corpus
from codekb.history import History
from codekb.knowledge_base import KnowledgeBase
from codekb.parsing.repo import parse_repo
from codekb.questions import Question, load_questions, questions_from_docstrings
from codekb.questions_git import _unfit, _unfit_answers, changed_functions, clean_message, write_tree

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
OUT = DATA / "ablation"
DOCSTRINGS = 250
"""Questions sampled from networkx's docstrings, with seed 0."""

WINDOW = 400
"""A commit is at most so many commits younger than its anchor."""


def small(name: str) -> tuple[Corpus, list[Question], dict[str, object]]:
    corpus = parse_repo(DATA / name)
    return corpus, load_questions(DATA / f"{name}_questions.json", corpus), {"source": f"data/{name}_questions.json"}


def networkx_root() -> Path:
    spec = importlib.util.find_spec("networkx")
    assert spec and spec.origin
    return Path(spec.origin).parent


def networkx_docstrings() -> tuple[Corpus, list[Question], dict[str, object]]:
    questions, corpus = questions_from_docstrings(parse_repo(networkx_root()), limit=DOCSTRINGS)
    return corpus, questions, {"source": f"first docstring sentences of networkx, {DOCSTRINGS} drawn with seed 0"}


def networkx_written() -> tuple[Corpus, list[Question], dict[str, object]]:
    corpus = parse_repo(networkx_root())
    return corpus, load_questions(DATA / "networkx_questions.json", corpus), {"source": "data/networkx_questions.json"}


CORPORA = {
    "shop": lambda: small("shop"),
    "dispatch": lambda: small("dispatch"),
    "gosvc": lambda: small("gosvc"),
    "networkx": networkx_written,
    "networkx-docstrings": networkx_docstrings,
}


def measure(corpus: Corpus, questions: Sequence[Question]) -> dict[str, Traced]:
    return {name: trace(arm, questions) for name, arm in arms(KnowledgeBase(corpus)).items()}


def run(name: str) -> None:
    corpus, questions, about = CORPORA[name]()
    about |= {"functions": len(corpus.functions), "command": f"python benchmarks/ablation.py --only {name}"}
    keep(Kept(name, about, [q.id for q in questions], measure(corpus, questions)))


def keep(kept: Kept, folder: Path = OUT) -> None:
    folder.mkdir(exist_ok=True)
    save_results(folder / f"{kept.corpus}.json", kept)
    print(f"{kept.corpus}: {len(kept)} questions, {len(kept.arms)} arms", flush=True)


def anchored(folder: Path, anchors: int, per_anchor: int) -> Iterator[tuple[str, Corpus, list[Question]]]:
    history = History(folder)
    commits = history.commits(anchors * WINDOW)
    for number in range(1, anchors + 1):
        at = min(number * WINDOW, len(commits)) - 1
        tree = commits[at].sha
        with tempfile.TemporaryDirectory() as place:
            write_tree(folder, tree, Path(place))
            corpus = parse_repo(place)
        following = commits[at - min(at, WINDOW) : at]
        random.Random(0).shuffle(following)
        questions: list[Question] = []
        for commit in following:
            answers = None if len(questions) == per_anchor or _unfit(commit) else changed_functions(history, commit)
            if answers and not _unfit_answers(answers) and all(a in corpus for a in answers):
                text = clean_message(commit.message)
                questions.append(Question(commit.sha[:10], text, tuple(answers), kind="commit"))
        yield tree, corpus, questions


def run_git(name: str, folder: Path, anchors: int, per_anchor: int) -> None:
    parts, ids, answers, trees = [], [], [], {}
    for tree, corpus, questions in anchored(folder, anchors, per_anchor):
        parts.append(measure(corpus, questions))
        ids += [q.id for q in questions]
        answers += [list(q.answers) for q in questions]
        trees[tree] = len(questions)
        print(f"{name} at {tree[:10]}: {corpus!r}, {len(questions)} questions", flush=True)
    command = f"python benchmarks/ablation.py --git {name}=FOLDER --anchors {anchors} --per-anchor {per_anchor}"
    about: dict[str, object] = {"source": "commit messages", "trees": trees, "command": command, "answers": answers}
    keep(Kept(f"{name}-commits", about, ids, joined(parts)))


def run_docstrings(name: str, folder: Path) -> None:
    """The newest tree of a repository, asked with the first sentences of its doc comments, which are taken out."""
    tree = History(folder).commits(1)[0].sha
    with tempfile.TemporaryDirectory() as place:
        write_tree(folder, tree, Path(place))
        questions, corpus = questions_from_docstrings(parse_repo(place), limit=DOCSTRINGS)
    about: dict[str, object] = {
        "source": f"first sentences of {name}'s doc comments, {DOCSTRINGS} drawn with seed 0",
        "tree": tree,
        "functions": len(corpus.functions),
        "command": f"python benchmarks/ablation.py --docstrings {name}=FOLDER",
    }
    keep(Kept(f"{name}-docstrings", about, [q.id for q in questions], measure(corpus, questions)))


def run_half(half: str, language: str, folder: Path) -> None:
    """What the default adds on one half of the development repositories: no arm that needs a graph."""
    parts, ids, counts = [], [], {}
    for tree, corpus, questions in trees(folder, half, language):
        made = arms_without_graph(KnowledgeBase(corpus))
        parts.append({name: trace(arm, questions) for name, arm in made.items()})
        ids += [q.id for q in questions]
        counts[tree] = len(questions)
        print(f"{tree}: {corpus!r}, {len(questions)} questions", flush=True)
    command = f"python benchmarks/ablation.py --half {half} {language} FOLDER"
    about: dict[str, object] = {"source": "commit messages", "trees": counts, "command": command}
    keep(Kept(f"{language}-commits", about, ids, joined(parts)), OUT / half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="*", choices=list(CORPORA), default=None, help="corpora that come with the project"
    )
    parser.add_argument("--git", nargs="*", default=[], metavar="NAME=FOLDER", help="repositories for commit questions")
    parser.add_argument("--docstrings", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--half", nargs=3, metavar=("HALF", "LANGUAGE", "FOLDER"), help="see tuning/structure.py")
    parser.add_argument("--anchors", type=int, default=4)
    parser.add_argument("--per-anchor", type=int, default=60)
    given = parser.parse_args()
    everything = given.only is None and not (given.git or given.half or given.docstrings)
    names = list(CORPORA) if everything else given.only or []
    for name in names:
        run(name)
    for pair in given.git:
        name, _, folder = pair.partition("=")
        run_git(name, Path(folder), given.anchors, given.per_anchor)
    for pair in given.docstrings:
        name, _, folder = pair.partition("=")
        run_docstrings(name, Path(folder))
    if given.half:
        half, language, folder = given.half
        run_half(half, language, Path(folder))


if __name__ == "__main__":
    main()
