"""The composed search: shares that sum to the score, switches, masks, kinds of questions, hostile input."""

import numpy as np
import pytest

from codekb.chunks import Chunk, Corpus
from codekb.hybrid import BY_KIND, Options, Weights, rank, score
from codekb.lexical import KeywordIndex
from codekb.priors import CodeFacts, analyse

CODE = {
    "pkg/session.py::Session.send": "def send(self, request): return self.retry(request)",
    "pkg/session.py::Session.retry": "def retry(self, request): wait(timeout)",
    "pkg/timeouts.py::get_timeout": "def get_timeout(): return settings.timeout",
    "pkg/colors.py::blend": "def blend(a, b): return a + b",
    "tests/test_session.py::test_timeout": "def test_timeout(): assert get_timeout() == timeout",
}


def function(chunk_id: str, code: str) -> Chunk:
    path, _, qualname = chunk_id.partition("::")
    name = qualname.rpartition(".")[2]
    return Chunk(chunk_id, "function", name, qualname, path.rpartition("/")[0], path, 1, 2, "python", "", "", code)


@pytest.fixture
def corpus() -> Corpus:
    return Corpus([function(i, c) for i, c in CODE.items()])


@pytest.fixture
def search(corpus):
    facts, index = CodeFacts(corpus), KeywordIndex(corpus)

    def dense(text: str) -> np.ndarray:
        return np.array([0.9, 0.8, 0.3, 0.1, 0.2], dtype=np.float32)

    def run(query, **options):
        return rank(query, facts, **{"dense": dense, "keyword": index.scores, **options})

    return run


@pytest.mark.parametrize("query", ["timeout of a request", "get_timeout", "Session.retry", "x " * 60 + "timeout"])
@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_parts_sum_to_the_score_and_order_follows_it(search, query, fusion):
    ranking = search(query, options=Options(fusion=fusion))
    assert len(ranking) > 0
    for hit in ranking:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
    assert ranking.ids == [h.chunk.id for h in sorted(ranking, key=lambda h: (-h.score, h.chunk.id))]


def test_without_priors_and_kinds_the_score_is_the_weighted_sum(corpus):
    def one(text):
        return np.array([1.0, 0.0, 0.0, 0.0, 0.5])

    options = Options(priors=False, by_kind={"sentence": Weights(dense=0.25)}, kinds=False)
    total, shares = score(analyse("a"), CodeFacts(corpus), dense=one, keyword=lambda t: one(t)[::-1], options=options)
    np.testing.assert_allclose(total, [0.25 + 0.375, 0, 0, 0, 0.125 + 0.75])
    np.testing.assert_allclose(shares["dense"], [0.25, 0, 0, 0, 0.125])


def test_what_lies_below_the_middle_keeps_its_order_and_fills_k(search):
    ranking = search("anything", keyword=None, options=Options(priors=False))
    assert [h.chunk.name for h in ranking] == ["send", "retry", "get_timeout", "test_timeout", "blend"]


def test_a_symbol_is_answered_by_its_definition(search):
    assert search("get_timeout").ids[0] == "pkg/timeouts.py::get_timeout"
    assert "definition" in search("get_timeout")[0].parts
    assert "defines a symbol of the question" in search("get_timeout")[0].why


def test_the_first_line_of_a_report_counts_again(search):
    report = "Session retry hangs\n\n" + "colors blend settings " * 30
    with_line, without = search(report), search(report, options=Options(first_line=False))
    assert "first line" in with_line["pkg/session.py::Session.retry"].parts
    assert all("first line" not in hit.parts for hit in without)


def test_a_mask_is_a_hard_filter_applied_before_scaling(search, corpus):
    mask = np.array([c.path.startswith("tests") for c in corpus.functions])
    ranking = search("timeout", mask=mask)
    assert ranking.ids == ["tests/test_session.py::test_timeout"]
    assert len(search("timeout", mask=np.zeros(5, dtype=bool))) == 0


def test_either_scorer_may_be_left_out(search):
    assert search("timeout", dense=None).title == "keyword"
    assert search("timeout", keyword=None, options=Options(priors=False)).ids[0] == "pkg/session.py::Session.send"
    with pytest.raises(ValueError, match="nothing to rank"):
        search("timeout", dense=None, keyword=None)
    with pytest.raises(ValueError, match="k is 0"):
        search("timeout", k=0)


@pytest.mark.parametrize("query", ["", " ", "\x00", "zebra", "!" * 10_000, "`a` " * 3000])
def test_hostile_questions_give_a_ranking(search, query):
    assert len(search(query, k=3)) <= 3


def test_an_empty_corpus_gives_no_hits():
    empty = Corpus([])
    ranking = rank("x", CodeFacts(empty), keyword=KeywordIndex(empty).scores, dense=lambda t: np.zeros(0))
    assert ranking.ids == []


def test_every_kind_of_question_has_weights():
    assert set(BY_KIND) == {"symbol", "sentence", "report"}
    assert all(0 <= w.dense <= 1 for w in BY_KIND.values())
