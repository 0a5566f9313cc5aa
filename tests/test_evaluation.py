"""Metrics by hand and against ranx, intervals and tests, the comparison table."""

import importlib.util
import itertools
import json
import math
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from codekb.chunks import Chunk
from codekb.evaluation import (
    bootstrap,
    compare,
    hit_at_1,
    join,
    measure,
    ndcg,
    permutation_test,
    recall,
    reciprocal_rank,
    tabulate,
)
from codekb.questions import Question
from codekb.ranking import Hit, Ranking
from codekb.text import count_tokens


def chunk(name: str, code: str = "12345678") -> Chunk:
    return Chunk(f"a.py::{name}", "function", name, name, "", "a.py", 1, 2, "python", "", "", code)


def ranking(*names: str) -> Ranking:
    return Ranking([Hit(chunk(n), 1.0 / (at + 1)) for at, n in enumerate(names)])


def ids(*names: str) -> tuple[str, ...]:
    return tuple(f"a.py::{n}" for n in names)


def test_metrics_by_hand():
    found, answers = ["x", "a", "y", "b"], {"a", "b", "c"}
    assert hit_at_1(found, answers) == 0 and hit_at_1(["a"], answers) == 1 and hit_at_1([], answers) == 0
    assert recall(found, answers, 2) == pytest.approx(1 / 3)
    assert reciprocal_rank(found, answers, 10) == 0.5 and reciprocal_rank(found, answers, 1) == 0
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert ndcg(found, answers, 10) == pytest.approx(gain / (1 + 1 / math.log2(3) + 1 / math.log2(4)))
    assert ndcg(["a", "b"], answers, 2) == pytest.approx(1.0)


RANX = """
import json, sys
import ranx
data = json.load(sys.stdin)
qrels = ranx.Qrels({q: dict.fromkeys(a, 1) for q, a in data["relevant"].items()})
run = ranx.Run({q: {d: float(-at) for at, d in enumerate(f)} for q, f in data["found"].items()})
values = ranx.evaluate(qrels, run, ["hit_rate@1", "recall@10", "mrr@10", "ndcg@10"])
print(json.dumps({m: float(v) for m, v in values.items()}))
"""


def test_values_agree_with_ranx():
    """In a process of its own with its compiler off: the comparison takes seconds instead of a minute."""
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("ranx is not installed; the extra `test` brings it")
    rng = random.Random(3)
    names = [f"d{i}" for i in range(40)]
    relevant = {f"q{q}": rng.sample(names, rng.randint(1, 14)) for q in range(60)}
    found = {q: rng.sample(names, rng.randint(1, 30)) for q in relevant}
    output = subprocess.run(
        [sys.executable, "-c", RANX],
        input=json.dumps({"relevant": relevant, "found": found}),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ours = {
        "hit_rate@1": [hit_at_1(found[q], relevant[q]) for q in relevant],
        "recall@10": [recall(found[q], relevant[q], 10) for q in relevant],
        "mrr@10": [reciprocal_rank(found[q], relevant[q], 10) for q in relevant],
        "ndcg@10": [ndcg(found[q], relevant[q], 10) for q in relevant],
    }
    means = {metric: pytest.approx(float(np.mean(values)), abs=1e-9) for metric, values in ours.items()}
    assert json.loads(output.splitlines()[-1]) == means


def test_measure_counts_cost_over_the_whole_ranking():
    questions = [Question("q1", "one", ids("a")), Question("q2", "two", ids("z"))]
    m = measure(lambda text: ranking("b", "a", "c"), questions, k=1)
    assert m.mrr.tolist() == [0, 0] and m.chunks.tolist() == [3, 3]
    assert m.tokens.tolist() == [3 * count_tokens("12345678")] * 2
    assert measure(lambda text: ranking("b", "a"), questions, k=2).mean("mrr") == 0.25


def test_measure_refuses_what_it_cannot_use():
    with pytest.raises(TypeError, match="returned list"):
        measure(lambda text: ["a"], [Question("q", "x", ids("a"))])
    with pytest.raises(ValueError, match="k is 0"):
        measure(lambda text: ranking(), [], k=0)


def test_the_bootstrap_interval_holds_the_mean_and_is_the_same_every_time():
    values = np.array([0.0, 1.0] * 50)
    low, high = bootstrap(values)
    assert low < 0.5 < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 10, rel=0.15)
    assert (low, high) == bootstrap(values)
    assert bootstrap(np.empty(0)) == (0.0, 0.0)


def test_the_permutation_test_is_exact_on_few_questions():
    values = np.array([0.5, 0.25, -0.1, 0.0, 0.3])
    patterns = [abs(np.dot(s, values)) for s in itertools.product((1, -1), repeat=5)]
    exact = np.mean([p >= abs(values.sum()) - 1e-12 for p in patterns])
    assert permutation_test(values) == pytest.approx(exact)
    assert permutation_test(np.zeros(9)) == 1.0 == permutation_test(np.empty(0))
    assert permutation_test(np.ones(5)) == 2 / 32


def test_the_drawn_permutation_test_tells_a_difference_from_noise():
    rng = np.random.default_rng(1)
    assert permutation_test(rng.normal(0.5, 0.5, 60)) < 0.001
    noise = [permutation_test(rng.normal(0, 1, 30)) for _ in range(60)]
    assert np.mean(np.array(noise) < 0.05) < 0.2


def questions(n: int) -> list[Question]:
    return [Question(f"q{i}", f"text {i}", ids("a"), namespace="pkg") for i in range(n)]


def test_compare_marks_a_significant_win_against_the_first_row_and_only_that():
    good, bad = ranking("a", "b"), ranking("b", "a")
    table = compare({"bad": lambda t: bad, "good": lambda t: good, "same": lambda t: bad}, questions(20))
    assert table.column("sig.") == ["", "▲", ""]
    assert table["good"]["MRR@10"] == 1.0 and table["bad"]["MRR@10"] == 0.5
    assert table["good"]["Δ MRR@10"] == "+0.500 [+0.500, +0.500]"
    assert "n = 20" in repr(table)
    turned = compare({"good": lambda t: good, "bad": lambda t: bad}, questions(20))
    assert turned.column("sig.") == ["", "▼"]


def test_the_spread_stands_beside_its_metric():
    def columns(metric):
        return compare({"one": lambda t: ranking("a")}, questions(3), metric=metric).columns

    assert columns("mrr")[1:6] == ["hit@1", "R@10", "MRR@10", "±", "NDCG@10"]
    assert columns("hit_at_1")[1:4] == ["hit@1", "±", "R@10"] and columns("ndcg")[4:6] == ["NDCG@10", "±"]


def test_one_or_two_of_eighteen_questions_prove_nothing():
    def search(right: int):
        return lambda text: ranking("a" if int(text.split()[1]) < right else "b")

    table = compare({"15 of 18": search(15), "17 of 18": search(17)}, questions(18))
    assert table.column("sig.") == ["", ""]


def test_only_the_rows_named_get_the_namespace():
    seen = []

    def search(text, namespace=None):
        seen.append(namespace)
        return ranking("a")

    compare({"plain": search, "within": search}, questions(1), namespaced=["within"])
    assert seen == [None, "pkg"]
    with pytest.raises(ValueError, match="no row \\['other'\\]"):
        compare({"plain": search}, questions(1), namespaced=["other"])


def test_results_of_several_corpora_join():
    parts = [measure(lambda t: ranking("a"), questions(2)), measure(lambda t: ranking("b"), questions(3))]
    joined = join(parts)
    assert len(joined) == 5 and joined.mean("mrr") == pytest.approx(0.4)
    with pytest.raises(ValueError, match="nothing to join"):
        join([])
    with pytest.raises(ValueError, match="different k"):
        join([parts[0], measure(lambda t: ranking("a"), questions(2), k=3)])


def test_tables_refuse_unequal_questions_and_unknown_metrics():
    one, two = (measure(lambda t: ranking("a"), questions(n)) for n in (1, 2))
    with pytest.raises(ValueError, match="different questions"):
        tabulate({"a": one, "b": two})
    with pytest.raises(ValueError, match="unknown metric 'map'; there are"):
        tabulate({"a": one}, metric="map")
    with pytest.raises(ValueError, match="no searches"):
        tabulate({})


def test_no_questions_give_a_table_of_zeros():
    assert compare({"a": lambda t: ranking("a")}, [])["a"]["MRR@10"] == 0
