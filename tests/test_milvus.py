"""Milvus, embedded: the same answers as Collection, filters evaluated there, failures repeated, nothing lost."""

from __future__ import annotations

import importlib.util
import logging

import numpy as np
import pytest

from codekb import Collection
from codekb.store.errors import NotFoundError, StoreError
from codekb.store.milvus import BATCH, MilvusCollection
from codekb.store.milvus_filter import expression
from codekb.store.milvus_link import RETRIES, UnavailableError

needs_milvus = pytest.mark.skipif(
    importlib.util.find_spec("milvus_lite") is None, reason="needs pip install 'codekb[milvus]'"
)
HOSTILE = ['say "hi"', "it's", "a\\b", "100%", "a_b", "é漢🙂", "new\nline", '"] or id != "', ""]
N, DIMENSION = 600, 16


def documents():
    rng = np.random.default_rng(0)
    ids = [f"d{i:04d}" for i in range(N - len(HOSTILE))] + [f"id {text}" for text in HOSTILE]
    vectors = rng.standard_normal((N, DIMENSION)).astype(np.float32)
    maps: list = [
        None if i % 11 == 0 else {} if i % 11 == 1 else {"lang": ("go", "python", "")[i % 3], "line": str(i)}
        for i in range(N)
    ]
    maps[-len(HOSTILE) :] = [{text: text, "text": text} for text in HOSTILE]
    contents = [f"text {i} with {HOSTILE[i % len(HOSTILE)]}" for i in range(N)]
    return ids, vectors, maps, contents


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same documents in both kinds of collection."""
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    theirs = MilvusCollection("functions of a name with spaces", str(tmp_path_factory.mktemp("milvus") / "index.db"))
    ours = Collection("functions", strict=True)
    for collection in (ours, theirs):
        collection.add(*documents())
    return ours, theirs


FILTERS = [
    None,
    {"lang": "go"},
    {"lang": ""},
    {"lang": "go", "line": "9"},
    {"lang": {"$ne": "go"}},
    {"lang": {"$in": ["go", ""]}},
    {"lang": {"$nin": ["go", "python"]}},
    {"lang": {"$in": []}},
    {"line": {"$gt": 500}},
    {"line": {"$gte": 10, "$lt": 20.5}},
    {"line": {"$gt": "5"}},
    {"$not": {"line": {"$gt": 100}}},
    {"line": {"$exists": True}},
    {"line": {"$exists": False}},
    {"$or": [{"lang": "go"}, {"line": {"$lt": 50}}]},
    {"$and": [{"$not": {"lang": "go"}}, {"lang": {"$not": {"$eq": ""}}}]},
    {"$or": []},
    *({"text": text} for text in HOSTILE),
    *({text: text} for text in HOSTILE),
]


@needs_milvus
@pytest.mark.parametrize("where", FILTERS, ids=repr)
def test_filtered_searches_answer_like_faiss(both, where):
    ours, theirs = both
    for seed in range(2):
        query = np.random.default_rng(100 + seed).standard_normal(DIMENSION)
        wanted, found = (c.query_embedding(query, 12, where) for c in (ours, theirs))
        assert [h.id for h in found] == [h.id for h in wanted]
        assert np.allclose([h.similarity for h in found], [h.similarity for h in wanted], rtol=0, atol=1e-5)
        for mine, other in zip(wanted, found, strict=True):
            assert (mine.metadata, mine.content) == (other.metadata, other.content)
            assert np.array_equal(mine.embedding, other.embedding)


@needs_milvus
@pytest.mark.parametrize("text", [t for t in HOSTILE if "\\" not in t])
def test_text_filters_answer_like_faiss(both, text):
    ours, theirs = both
    query = np.ones(DIMENSION)
    for condition in (
        {"$contains": text},
        {"$not_contains": text},
        {"$or": [{"$contains": text}, {"$contains": "text 1"}]},
    ):
        wanted, found = (c.query_embedding(query, 20, None, condition) for c in (ours, theirs))
        assert [h.id for h in found] == [h.id for h in wanted]


@needs_milvus
def test_negative_queries_answer_like_faiss(both):
    ours, theirs = both
    query, unwanted = np.random.default_rng(7).standard_normal((2, DIMENSION))
    for mode, threshold in (("subtract", None), ("filter", None), ("filter", 0.1), ("subtract", 0.2), ("filter", -1)):
        told = {"negative": unwanted, "negative_mode": mode, "negative_threshold": threshold, "min_similarity": 0.1}
        wanted, found = (c.query_embedding(query, 30, **told) for c in (ours, theirs))
        assert [h.id for h in found] == [h.id for h in wanted]


@needs_milvus
def test_listing_and_getting_answer_alike(both):
    ours, theirs = both
    assert theirs.count() == ours.count() == N
    assert theirs.list_ids() == ours.list_ids()
    assert [d.id for d in theirs.get({"lang": "go"})] == [d.id for d in ours.get({"lang": "go"})]
    for key in ("d0000", "d0001", "d0002", "id 100%"):
        mine, other = ours.get_by_id(key), theirs.get_by_id(key)
        assert (mine.metadata, mine.content) == (other.metadata, other.content)
    with pytest.raises(NotFoundError):
        theirs.get_by_id("nope")


@needs_milvus
def test_updates_and_deletes_are_incremental_and_last(tmp_path):
    ours, theirs = Collection("x", strict=True), MilvusCollection("x", str(tmp_path / "x.db"))
    assert theirs.query_embedding([1.0] * DIMENSION, 3) == []
    query = np.ones(DIMENSION)
    changes = [
        lambda c: c.add(*documents()),
        lambda c: c.add(["d0001", "new", "new"], [query, -query, query], [{"lang": "new"}] * 3),
        lambda c: c.delete(["d0005", "unknown"]),
        lambda c: c.delete(where={"lang": "go"}),
        lambda c: c.delete(["d0001"], {"lang": "python"}),
        lambda c: c.delete(where_document={"$contains": "text 4"}),
    ]
    for change in changes:
        assert change(ours) == change(theirs)
        assert theirs.list_ids() == ours.list_ids()
        assert [h.id for h in theirs.query_embedding(query, 9)] == [h.id for h in ours.query_embedding(query, 9)]
    theirs._link.client.close()
    again = MilvusCollection("x", str(tmp_path / "x.db"))
    assert again.list_ids() == ours.list_ids()


@needs_milvus
def test_ties_are_ordered_by_id(tmp_path):
    theirs = MilvusCollection("x", str(tmp_path / "x.db"))
    theirs.add([f"{i:03d}" for i in reversed(range(200))], np.tile(np.float32([0.6, 0.8]), (200, 1)))
    assert [h.id for h in theirs.query_embedding([1, 0], 3)] == ["000", "001", "002"]


class Unsteady:
    """A client that fails so many times before it answers; keeps what it was sent, as an upsert would."""

    def __init__(self, failures, error=None, lost_answers=False):
        self.failures, self.error, self.lost_answers = failures, error or ConnectionError("unavailable"), lost_answers
        self.rows, self.calls = {}, 0

    def has_collection(self, *args, **kwargs):
        return True

    def describe_collection(self, *args, **kwargs):
        names = ("id", "vector", "metadata", "has_map", "content")
        return {"fields": [{"name": n, "params": {"dim": 2}} for n in names]}

    def upsert(self, table, rows, timeout):
        self.calls += 1
        if self.failures:
            self.failures -= 1
            if self.lost_answers:
                self.rows.update({r["id"]: r for r in rows})
            raise self.error
        self.rows.update({r["id"]: r for r in rows})


def unsteady(*args, **options):
    return MilvusCollection("x", "http://away", client=Unsteady(*args, **options), pause=0)


@pytest.mark.parametrize("lost_answers", [False, True])
def test_a_server_that_comes_back_loses_and_doubles_nothing(lost_answers):
    collection = unsteady(RETRIES, lost_answers=lost_answers)
    collection.add([str(i) for i in range(3 * BATCH)], np.ones((3 * BATCH, 2)))
    assert len(collection._link.client.rows) == 3 * BATCH


def test_a_server_that_stays_away_is_a_clear_error_and_adding_again_completes():
    collection = unsteady(RETRIES + 1)
    ids = [str(i) for i in range(2 * BATCH)]
    with pytest.raises(UnavailableError, match=r"http://away did not answer .* 0 of 1000 documents are stored"):
        collection.add(ids, np.ones((2 * BATCH, 2)))
    collection.add(ids, np.ones((2 * BATCH, 2)))
    assert sorted(collection._link.client.rows) == sorted(ids)


def test_a_refusal_is_not_repeated():
    collection = unsteady(1, ValueError("illegal row"))
    with pytest.raises(StoreError, match="refused: illegal row"):
        collection.add(["a"], [[1, 0]])
    assert collection._link.client.calls == 1


@needs_milvus
def test_no_server_is_a_clear_error():
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:9 did not answer"):
        MilvusCollection("x", "http://127.0.0.1:9", pause=0)


def test_what_milvus_cannot_keep_is_refused_before_anything_is_sent():
    collection = unsteady(0)
    for given, says in (
        ((["a"], [[1, 0]], None, ["x" * 70_000]), "65535 bytes"),
        ((["a"], [[1, 0, 0]]), "3 dimensions, the collection 2"),
        ((["a"], [[0, 0]]), "no direction"),
    ):
        with pytest.raises(StoreError, match=says):
            collection.add(*given)
    with pytest.raises(StoreError, match="backslash"):
        collection.query_embedding([1, 0], 1, None, {"$contains": "a\\b"})
    assert collection._link.client.calls == 0


@pytest.mark.parametrize("where", [{"line": 3}, {"line": {"$near": "3"}}, {"line": {"$gt": None}}])
def test_filters_without_a_meaning_are_errors(where):
    with pytest.raises(StoreError):
        expression(where, None)
