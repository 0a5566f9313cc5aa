"""The ablation: places and measures worked by hand, results kept and read again, the arms on the example shop."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from graphs import chunk

from codekb.ablation import (
    ADD_ONE,
    BASE,
    DEPTH,
    LEAVE_OUT,
    OTHER_WAYS,
    Kept,
    Traced,
    ablation_table,
    arms,
    difference,
    joined,
    load_results,
    places,
    save_results,
    trace,
)
from codekb.knowledge_base import KnowledgeBase
from codekb.questions import load_questions
from codekb.ranking import Hit, Ranking
from codekb.text import count_tokens

DATA = Path(__file__).parent.parent / "data"
RANKING = Ranking([Hit(chunk(f"a.py::f{i}", code="x" * 36), 1.0 - i / 10) for i in range(3)])


def test_places_give_rank_and_tokens_so_far() -> None:
    each = count_tokens("x" * 36)
    assert places(RANKING, ["a.py::f1", "a.py::nowhere"]) == [(2, 2 * each), (None, 3 * each)]


def test_measures_by_hand() -> None:
    traced = Traced([[(1, 100), (7, 900)], [(None, 500)], [(12, 700)]], [500, 500, 500])
    assert traced.recall(10).tolist() == [1.0, 0.0, 0.0]
    assert traced.recall(5).tolist() == [0.5, 0.0, 0.0]
    assert traced.recall_within(800).tolist() == [0.5, 0.0, 1.0]
    assert traced.mrr(10).tolist() == [1.0, 0.0, 0.0]
    best = 1 + 1 / math.log2(3)
    assert traced.ndcg(10).tolist() == pytest.approx([(1 + 1 / math.log2(8)) / best, 0.0, 0.0])
    assert traced.ndcg(1).tolist() == [1.0, 0.0, 0.0]


def test_results_are_kept_and_read_again(tmp_path: Path) -> None:
    traced = Traced([[(1, 100)], [(None, 500)]], [10, 20])
    kept = Kept("c", {"command": "run", "source": "s"}, ["q1", "q2"], {"+ priors": traced, "− graph": traced})
    save_results(tmp_path / "c.json", kept)
    assert load_results(tmp_path / "c.json") == kept


def test_trees_are_joined_question_by_question() -> None:
    part = {"a": Traced([[(1, 5)]], [9])}
    assert joined([part, part])["a"] == Traced([[(1, 5)], [(1, 5)]], [9, 9])


def test_the_difference_is_paired() -> None:
    values = np.linspace(0, 1, 50)
    assert difference(values + 0.1, values) == pytest.approx((0.1, 0.1, 0.1))


def test_a_table_has_a_row_an_arm_and_says_how_far_to_trust_it() -> None:
    traced = Traced([[(1, 100)], [(None, 500)]], [10, 20])
    table = ablation_table(Kept("c", {}, ["q1", "q2"], {BASE: traced, "other": traced}), [BASE, "other"], BASE)
    assert table.column("R@10") == [0.5, 0.5]
    assert table["other"][f"Δ R in 4000 tokens, to {BASE}"].startswith("+0.000")
    assert "n = 2" in table.notes[0]


def test_every_arm_runs_and_its_parts_sum() -> None:
    kb = KnowledgeBase.build(DATA / "shop")
    made = arms(kb)
    assert set(made) == {*ADD_ONE, *LEAVE_OUT, *OTHER_WAYS}
    for name, arm in made.items():
        ranking = arm("process payment and create Stripe charge")
        assert 0 < len(ranking) <= DEPTH, name
        assert all(h.chunk.kind == "function" for h in ranking), name
        assert all(math.isclose(h.score, sum(h.parts.values()), abs_tol=1e-6) for h in ranking), name


def test_kept_results_of_a_small_corpus_come_out_again() -> None:
    """Ranks may differ where scores tie to the last bit on another processor."""
    kept = load_results(DATA / "ablation" / "dispatch.json")
    kb = KnowledgeBase.build(DATA / "dispatch")
    questions = load_questions(DATA / "dispatch_questions.json", kb.corpus)
    assert kept.ids == [q.id for q in questions]
    fresh = {name: trace(arm, questions).places for name, arm in arms(kb).items()}
    same = [fresh[name][i] == kept.arms[name].places[i] for name in fresh for i in range(len(kept))]
    assert np.mean(same) >= 0.95
