"""Keyword search: scores by hand, parity with rank-bm25, fields, namespaces, reuse, hostile input."""

import math

import numpy as np
import pytest
import rank_bm25

from codekb.chunks import Chunk, Corpus
from codekb.lexical import BM25, PLAIN, Fields, KeywordIndex, inside
from codekb.text import body, enrich, tokenize
from codekb.words import terms

TEXTS = {
    "db/query.go::Execute": "func Execute(query string) { run(query) }",
    "cli/root.go::Execute": "func Execute() { command.Run() }",
    "cli/flags.go::getTimeout": "func getTimeout() int { return timeout }",
    "client/http.go::Send": "func Send(request Request) { retry(request, request, timeout) }",
}


def function(chunk_id: str, code: str, doc: str = "", language: str = "go") -> Chunk:
    path, _, qualname = chunk_id.partition("::")
    name = qualname.rpartition(".")[2]
    folder = path.rpartition("/")[0]
    return Chunk(chunk_id, "function", name, qualname, folder, path, 1, 2, language, code, doc, code)


@pytest.fixture
def corpus() -> Corpus:
    return Corpus([function(i, code) for i, code in TEXTS.items()])


def test_overlap_is_matched_tokens_over_query_tokens_and_counts_repeats(corpus):
    index = KeywordIndex(corpus, "overlap", body)
    assert dict(zip(TEXTS, index.scores("timeout request"), strict=True)) == {
        "db/query.go::Execute": 0, "cli/root.go::Execute": 0, "cli/flags.go::getTimeout": 0.5,
        "client/http.go::Send": 1.0,
    }  # fmt: skip
    assert index.scores("timeout timeout request")[2] == pytest.approx(2 / 3)


def test_bm25_by_hand():
    corpus = Corpus([function("a.py::f", "red red blue"), function("a.py::g", "blue")])
    index = KeywordIndex(corpus, text=body, fields=PLAIN, bm25=BM25(k1=2.0, b=0.5, query_weight="count"))
    norm = 2.0 * (0.5 + 0.5 * 3 / 2)
    assert index.scores("red")[0] == pytest.approx(math.log(3 / 1) * 2 * 3 / (2 + norm))
    assert index.scores("red")[1] == 0
    assert index.scores("red red")[0] == pytest.approx(2 * index.scores("red")[0])


@pytest.mark.parametrize("query", ["run a query with a timeout", "request request retry", "execute", "nothing known"])
def test_the_sparse_form_gives_the_scores_of_rank_bm25(corpus, query):
    documents = [terms(enrich(c)) for c in corpus.functions]
    for idf, reference in (
        ("plus", rank_bm25.BM25Plus(documents, delta=0)),
        ("okapi", rank_bm25.BM25Okapi(documents)),
    ):
        settings = BM25(k1=1.5, b=0.75, idf=idf, query_weight="count")
        index = KeywordIndex(corpus, fields=PLAIN, bm25=settings)
        np.testing.assert_allclose(index.scores(query), reference.get_scores(terms(query)), atol=1e-6)


def test_a_delta_moves_no_rank_since_rank_bm25_adds_it_to_every_document(corpus):
    documents = [terms(enrich(c)) for c in corpus.functions]
    query = terms("run a query with a timeout")
    difference = rank_bm25.BM25Plus(documents, delta=1).get_scores(query) - rank_bm25.BM25Plus(
        documents, delta=0
    ).get_scores(query)
    assert difference == pytest.approx(difference[0])


def test_the_okapi_floor_can_put_a_common_word_above_a_rarer_one():
    texts = ["common other" for _ in range(7)] + ["half" for _ in range(6)] + ["rare"]
    corpus = Corpus([function(f"a.py::f{i:02}", t) for i, t in enumerate(texts)])

    def best(idf, word):
        return KeywordIndex(corpus, text=body, fields=PLAIN, bm25=BM25(idf=idf, b=0)).scores(word).max()

    assert best("okapi", "common") == 0  # in exactly half of the functions: worthless
    assert best("plus", "common") > 0 and best("lucene", "common") > 0
    assert best("plus", "rare") > best("plus", "half") > best("plus", "common")


def test_fields_count_extra(corpus):
    plain = KeywordIndex(corpus, text=body, fields=PLAIN)
    named = KeywordIndex(corpus, text=body, fields=Fields(name=3, scope=0, path=0, doc=0))
    assert plain.scores("flags").sum() == 0
    assert KeywordIndex(corpus, text=body, fields=Fields(path=1)).scores("flags")[2] > 0
    assert named.scores("send")[3] > plain.scores("send")[3]


def test_a_go_comment_above_the_function_is_read_once():
    corpus = Corpus([function("a.go::F", "func F() {}", doc="Waits for the gate.")])
    assert KeywordIndex(corpus, text=body, fields=PLAIN).scores("gate")[0] > 0
    inside_text = Corpus([function("a.go::F", "// gate\nfunc F() {}", doc="gate")])
    once = KeywordIndex(inside_text, text=body, fields=PLAIN)
    assert once._counts.matrix.toarray()[once._terms["gat"]].tolist() == [1.0]


def test_query_weights(corpus):
    def share(form, query):
        return KeywordIndex(corpus, bm25=BM25(query_weight=form)).query_terms(query)["request"]

    assert [share(form, "request request") for form in ("once", "log", "count")] == [
        1.0,
        1 + math.log(2),
        2.0,
    ]


def test_search_orders_by_score_then_id_and_drops_what_matches_nothing(corpus):
    ranking = KeywordIndex(corpus, text=body, fields=PLAIN, bm25=BM25(b=0)).search("execute")
    assert ranking.ids == ["cli/root.go::Execute", "db/query.go::Execute"]
    assert ranking[0].score == ranking[1].score == ranking[0].parts["bm25"]
    assert ranking[0].why == ("matches execute",)
    assert len(KeywordIndex(corpus).search("execute", k=1)) == 1
    assert KeywordIndex(corpus).search("zebra").ids == []


def test_matching_words_are_told_as_the_question_writes_them(corpus):
    def told(query, **how):
        return KeywordIndex(corpus, **how).search(query, k=1)[0].why

    assert told("Executes") == ("matches executes",)
    assert told("where is getTimeout") == ("matches get, getTimeout, timeout",)
    assert told("execute", scorer="overlap") == ("matches execute",)
    assert told("Executes", tokenizer=lambda text: text.lower().replace("executes", "execute").split()) == (
        "matches execute",
    )


def test_a_namespace_is_whole_leading_segments(corpus):
    index = KeywordIndex(corpus)
    assert index.search("timeout", namespace="cli").ids == ["cli/flags.go::getTimeout"]
    assert index.search("timeout", namespace="/client/").ids == ["client/http.go::Send"]
    with pytest.raises(ValueError, match="no namespace 'clii'; there are"):
        index.search("timeout", namespace="clii")
    assert inside(corpus, None) is None and inside(corpus, "") is None


def test_matching_explains_the_score_to_the_last_digit(corpus):
    for scorer in ("bm25", "overlap"):
        index = KeywordIndex(corpus, scorer)
        query = "retry the request after a timeout, request again"
        found = index.matching(query, "client/http.go::Send")
        assert sum(share for _, share in found) == pytest.approx(index.scores(query)[3])
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
    with pytest.raises(KeyError, match="nearest"):
        index.matching("x", "client/http.go::Sent")


def test_reuse_gives_the_scores_of_a_fresh_index(corpus):
    old = KeywordIndex(corpus)
    changed = Corpus([*corpus.chunks[1:3], function("new.go::Parse", "func Parse(text string) error"),
                      function("client/http.go::Send", "func Send(message Message) {}")])  # fmt: skip
    fresh, updated = KeywordIndex(changed), KeywordIndex(changed, reuse=old)
    for query in ("parse a text", "send request timeout", "query"):
        np.testing.assert_array_equal(updated.scores(query), fresh.scores(query))
    assert set(updated._terms) == set(fresh._terms)


def test_any_tokenizer_may_be_given(corpus):
    index = KeywordIndex(corpus, text=body, fields=PLAIN, tokenizer=str.split)
    assert index.scores("Execute()")[1] > 0 and index.scores("Execute")[1] == 0
    assert KeywordIndex(corpus, tokenizer=tokenize).scores("string")[0] > 0


def test_empty_and_hostile_input(corpus):
    empty = KeywordIndex(Corpus([]))
    assert empty.scores("anything").shape == (0,) and empty.search("x").ids == []
    blank = KeywordIndex(Corpus([function("a.py::f", ""), function("a.py::g", "###")]), text=body, fields=PLAIN)
    assert blank.search("anything").ids == []
    index = KeywordIndex(corpus)
    for query in ("", "   ", "\x00", "the of and", "!!", "é" * 5000):
        assert index.scores(query).tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="k is 0"):
        index.search("x", k=0)
    with pytest.raises(ValueError, match="unknown scorer 'tfidf'; there are bm25, overlap"):
        KeywordIndex(corpus, "tfidf")  # type: ignore[arg-type]


def test_a_large_k_and_ties_at_the_cut(corpus):
    same = Corpus([function(f"a.py::f{i}", "alpha beta") for i in range(9, -1, -1)])
    index = KeywordIndex(same, text=body, fields=PLAIN)
    assert index.search("alpha", k=3).ids == ["a.py::f0", "a.py::f1", "a.py::f2"]
    assert len(index.search("alpha", k=1000)) == 10
