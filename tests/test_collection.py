"""Collection: everything chromem-go answered in `data/chromem/expected.json`, and what goes beyond it."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path

import numpy as np
import pytest

import codekb
from codekb import Collection
from codekb.store import exact
from codekb.store.collection import KEPT_SELECTIONS
from codekb.store.documents import Document, Negative, QueryOptions
from codekb.store.errors import NotFoundError, StoreError

FIXTURE = Path(__file__).parent / "data" / "chromem"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
COLLECTIONS = {c["name"]: c for c in EXPECTED["collections"]}

NO_CALL_HERE = {
    "AddDocuments with concurrency 0": "documents are added by one thread; there is no such argument",
    "NewDocument: empty id": "documents are plain values here, checked when they are added",
    "NewDocument: neither embedding nor content": "likewise",
}
"""Cases of expected.json that have no call in this library, with the reason; Go's nil slice is the empty list."""


class FailingEncoder:
    name, dimension = "fails", 8

    def encode(self, texts):
        raise RuntimeError("no embedder in this fixture")

    def encode_query(self, text):
        raise RuntimeError("no embedder in this fixture")


class LetterEncoder:
    """Counts of the letters a, b, c: enough to tell texts apart."""

    name, dimension = "letters", 3

    def encode(self, texts):
        counts = np.array([[t.count(x) for x in "abc"] for t in texts], dtype=np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)

    def encode_query(self, text):
        return self.encode([text])[0]


def filled(name: str, **options) -> Collection:
    """A collection of the fixture, made with `add` from the vectors that chromem-go was given."""
    told = COLLECTIONS[name]
    documents = told["documents"]
    collection = Collection(name, told["metadata"], options.pop("encoder", FailingEncoder()), **options)
    collection.add(
        [d["id"] for d in documents],
        [d["embedding_given"] for d in documents],
        [d["metadata"] for d in documents],
        [d["content"] for d in documents],
    )
    return collection


def bits(value) -> str:
    return f"{np.float32(value).view(np.uint32):08x}"


@pytest.mark.parametrize("name", COLLECTIONS)
def test_stored_documents_equal_chromems_bit_by_bit(name):
    collection = filled(name)
    assert collection.metadata == COLLECTIONS[name]["metadata"]
    assert collection.count() == COLLECTIONS[name]["count"] == len(collection)
    for told in COLLECTIONS[name]["documents"]:
        document = collection.get_by_id(told["id"])
        assert (document.metadata, document.content) == (told["metadata"], told["content"])
        assert [bits(x) for x in document.embedding] == told["embedding_bits"]


def ask(collection: Collection, told: dict):
    negative = told.get("negative") or {}
    if told["method"] == "QueryWithOptions":
        unwanted = Negative(
            embedding=negative.get("embedding"),
            mode=negative.get("mode", ""),
            threshold=negative.get("filter_threshold", 0),
        )
        return collection.query_with_options(
            QueryOptions(
                embedding=told["query_embedding"],
                n_results=told["n_results"],
                where=told.get("where"),
                where_document=told.get("where_document"),
                negative=unwanted,
            )
        )
    return collection.query_embedding(
        told["query_embedding"], told["n_results"], told.get("where"), told.get("where_document")
    )


@pytest.mark.parametrize("told", EXPECTED["queries"], ids=lambda q: q["name"])
def test_queries_answer_as_chromem_does(told):
    collection = filled(told["collection"])
    if told["error"]:
        with pytest.raises(StoreError) as caught:
            ask(collection, told)
        assert str(caught.value) == told["error"]
        return
    found = ask(collection, told)
    assert len(found) == len(told["results"])
    for hit, wanted in zip(found, told["results"], strict=True):
        if wanted["similarity"] is None:
            assert math.isnan(hit.similarity)
            continue
        assert bits(hit.similarity) == wanted["similarity_bits"]
        assert hit.id == wanted["id"]
        document = collection.get_by_id(hit.id)
        assert (hit.metadata, hit.content) == (document.metadata, document.content)
        assert np.array_equal(hit.embedding, document.embedding)


@pytest.mark.parametrize("told", [q for q in EXPECTED["queries"] if not q["error"]], ids=lambda q: q["name"])
def test_the_arguments_of_query_embedding_say_the_same_as_the_options(told):
    negative = told.get("negative") or {}
    collection = filled(told["collection"])
    found = collection.query_embedding(
        told["query_embedding"],
        told["n_results"],
        told.get("where"),
        told.get("where_document"),
        negative.get("embedding"),
        negative.get("mode", "subtract"),
        negative.get("filter_threshold"),
    )
    assert [h.id for h in found] == [h.id for h in ask(collection, told)]


def change(collection: Collection, told: dict) -> None:
    args = dict(told["args"])
    if told["op"] == "Delete":
        collection.delete(args.get("ids"), args.get("where"), args.get("where_document"))
    elif told["op"] == "GetByID":
        collection.get_by_id(args["id"])
    elif told["op"] == "AddDocuments":
        collection.add_documents(Document(d["id"]) for d in args["documents"])
    else:
        collection.add_document(Document(args["id"], embedding=args.get("embedding"), content=args.get("content", "")))
        if "query_embedding" in args:
            collection.query_embedding(args["query_embedding"], args["n_results"])


CHANGES = [c for c in EXPECTED["changes"] if c["args"].get("concurrency") != 0]


@pytest.mark.parametrize("told", CHANGES, ids=lambda c: f"{c['op']} {json.dumps(c['args'])}")
def test_changes_do_what_chromem_does(told):
    collection = filled("functions")
    if told["error"]:
        with pytest.raises(StoreError) as caught:
            change(collection, told)
        assert str(caught.value) == told["error"]
    else:
        change(collection, told)
    assert collection.count() == told["count_after"]
    if "ids_after" in told:
        assert collection.list_ids() == sorted(told["ids_after"])


ERRORS = {
    "Add: contents of another length": lambda c: c.add(["a", "b"], [[1], [2]], None, ["x"]),
    "Add: embeddings of another length": lambda c: c.add(["a", "b"], [[1]]),
    "Add: metadatas of another length": lambda c: c.add(["a", "b"], [[1], [2]], [{}]),
    "Add: neither embeddings nor contents": lambda c: c.add(["a"]),
    "Add: no ids": lambda c: c.add([], [[1]]),
    "CreateCollection with an empty name": lambda c: Collection(""),
    "Query when the embedder fails": lambda c: c.query("text", 1),
    "Query with an empty text": lambda c: c.query("", 1),
    "QueryEmbedding on an empty collection, nResults 1": lambda c: Collection("x").query_embedding([1], 1),
    "ExportToFile: key of another length": lambda c: codekb.chromem.write([c], "unused", key="short"),
    "ImportFromFile: key of another length": lambda c: codekb.chromem.read("unused", key="short"),
    "ImportFromFile: empty path": lambda c: codekb.chromem.read(""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error_texts_are_chromems(name):
    with pytest.raises(StoreError) as caught:
        ERRORS[name](filled("functions"))
    assert str(caught.value) == EXPECTED["error_texts"][name]


def test_every_error_text_of_the_fixture_is_reproduced_or_has_its_reason():
    elsewhere = {t for t in EXPECTED["error_texts"] if t.startswith("ImportFromFile: ")}  # test_chromem
    no_error = {t for t, text in EXPECTED["error_texts"].items() if text is None}
    assert set(EXPECTED["error_texts"]) <= set(ERRORS) | set(NO_CALL_HERE) | elsewhere | no_error


def test_an_unknown_operator_on_an_empty_collection_deletes_nothing_without_an_error():
    assert Collection("x").delete(where_document={"$or": "x"}) == 0


def test_an_error_in_one_of_several_documents_adds_none_of_them():
    collection = filled("functions")
    with pytest.raises(StoreError, match="couldn't add document 'bad'"):
        collection.add(["good", "bad"], [[1.0] * 8, None], contents=["x", ""])
    assert "good" not in collection.list_ids()


def test_texts_are_embedded_and_asked_for():
    collection = Collection("letters", encoder=LetterEncoder())
    collection.add(["1", "2", "3"], contents=["aaa", "abab", "ccc"])
    assert [h.id for h in collection.query("a", 2)] == ["1", "2"]
    assert [h.id for h in collection.query_embedding([1, 0, 0], 3, negative="aaa", negative_mode="filter")] == ["3"]
    with pytest.raises(StoreError, match="has no encoder"):
        Collection("none").add(["1"], contents=["aaa"])


def test_of_equal_ids_in_one_call_the_last_counts():
    collection = Collection("x")
    collection.add(["a", "a"], [[1, 0], [0, 1]], [{"n": "1"}, {"n": "2"}])
    assert collection.count() == 1
    assert collection.get_by_id("a").metadata == {"n": "2"}


def test_results_are_copies():
    collection = filled("functions")
    hit = collection.query_embedding([1] * 8, 1)[0]
    hit.embedding[:] = 0
    hit.metadata["lang"] = "changed"
    assert collection.get_by_id(hit.id).embedding.any()
    assert collection.get_by_id(hit.id).metadata["lang"] != "changed"


def test_equal_similarities_are_ordered_by_id_even_where_the_list_ends_among_them():
    rng = np.random.default_rng(1)
    ids = [f"{i:04d}" for i in rng.permutation(500)]
    vectors = np.tile(np.float32([0.6, 0.8]), (500, 1))
    collection = Collection("ties")
    collection.add([*ids, "best"], [*vectors, [1.0, 0.0]])
    assert [h.id for h in collection.query_embedding([1, 0], 4)] == ["best", "0000", "0001", "0002"]


def reference(vectors, ids, query, n, keep):
    scores = exact.all_similarities(vectors, exact.unit(np.float32(query)))
    order = sorted((i for i in range(len(ids)) if keep[i]), key=lambda i: (-scores[i], ids[i]))
    return [ids[i] for i in order[:n]]


@pytest.mark.parametrize("seed", range(5))
def test_random_changes_and_queries_equal_a_plain_computation(seed):
    rng = np.random.default_rng(seed)
    collection, model = Collection("random"), {}
    for _ in range(30):
        ids = [f"d{i}" for i in rng.integers(0, 300, size=40)]
        vectors = exact.unit_rows(rng.integers(-3, 4, size=(40, 6)).astype(np.float32) + np.float32(0.5))
        maps = [{"k": str(i % 5)} for i in rng.integers(0, 100, size=40)]
        collection.add(ids, vectors, maps)
        model.update({key: (v, m) for key, v, m in zip(ids, vectors, maps, strict=True)})
        doomed = [f"d{i}" for i in rng.integers(0, 300, size=15)]
        collection.delete(doomed)
        for key in doomed:
            model.pop(key, None)
        assert collection.list_ids() == sorted(model)
        names = list(model)
        matrix = np.stack([model[key][0] for key in names])
        query = rng.standard_normal(6)
        everything = np.ones(len(names), dtype=bool)
        only = np.array([model[key][1]["k"] == "3" for key in names])
        assert [h.id for h in collection.query_embedding(query, 20)] == reference(matrix, names, query, 20, everything)
        assert [h.id for h in collection.query_embedding(query, 20, {"k": "3"})] == reference(
            matrix, names, query, 20, only
        )


def test_a_filter_prepared_before_a_change_is_not_used_after_it():
    collection = Collection("x")
    collection.add(["a", "b"], [[1, 0], [0, 1]], [{"k": "1"}, {"k": "2"}])
    assert [h.id for h in collection.query_embedding([1, 0], 1, {"k": "2"})] == ["b"]
    collection.add(["a"], [[1, 0]], [{"k": "2"}])
    assert [h.id for h in collection.query_embedding([1, 0], 1, {"k": "2"})] == ["a"]


def test_only_so_many_prepared_filters_are_kept():
    collection = filled("functions")
    for i in range(KEPT_SELECTIONS + 5):
        collection.query_embedding([1] * 8, 1, {"lang": str(i)})
    assert len(collection._selections) == KEPT_SELECTIONS


FILTERS = [
    ({"$or": [{"lang": "go"}, {"kind": "decorator"}]}, lambda m: m["lang"] == "go" or m["kind"] == "decorator"),
    ({"$and": [{"lang": "go"}, {"kind": "function"}]}, lambda m: m["lang"] == "go" and m["kind"] == "function"),
    ({"$not": {"lang": "go"}}, lambda m: m["lang"] != "go"),
    ({"module": {"$in": ["rank", "store"]}}, lambda m: m["module"] in ("rank", "store")),
    ({"module": {"$nin": ["rank", "store"]}}, lambda m: m["module"] not in ("rank", "store")),
    ({"module": {"$ne": "rank"}}, lambda m: m["module"] != "rank"),
    ({"module": {"$gte": "rank", "$lt": "t"}}, lambda m: "rank" <= m["module"] < "t"),
    ({"module": {"$not": {"$eq": "rank"}}}, lambda m: m["module"] != "rank"),
    ({"owner": {"$exists": True}}, lambda m: "owner" in m),
    ({"owner": {"$exists": False}}, lambda m: "owner" not in m),
    ({"owner": {"$in": ["", "x"]}}, lambda m: m.get("owner", "") in ("", "x")),
    ({"$or": []}, lambda m: False),
    ({"$and": []}, lambda m: True),
]


@pytest.mark.parametrize(("where", "meant"), FILTERS, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_filter_operators_mean_what_they_say(where, meant):
    wanted = [d["id"] for d in COLLECTIONS["functions"]["documents"] if meant(d["metadata"])]
    assert [d.id for d in filled("functions").get(where)] == sorted(wanted)


def test_numbers_compare_as_numbers_and_what_is_none_never_matches():
    collection = Collection("x")
    collection.add(list("abcd"), [[1, 0]] * 4, [{"line": "9"}, {"line": "10"}, {"line": "ten"}, {}])
    assert [d.id for d in collection.get({"line": {"$gt": 8}})] == ["a", "b"]
    assert [d.id for d in collection.get({"line": {"$lte": 9.5}})] == ["a"]


def test_text_filters_combine():
    collection = filled("functions")
    either = {"$or": [{"$contains": "digest"}, {"$contains": "heap"}]}
    texts = {d["id"]: d["content"] for d in COLLECTIONS["functions"]["documents"]}
    expected = [key for key, text in texts.items() if "digest" in text or "heap" in text]
    assert [d.id for d in collection.get(where_document=either)] == sorted(expected)


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ({"line": 3}, "write '3'"),
        ({"line": {"$near": "3"}}, "there are \\$eq"),
        ({"line": {"$gt": None}}, "cannot compare with None"),
        ({"line": {"$in": "go"}}, "give strings"),
    ],
)
def test_a_filter_that_cannot_mean_anything_is_an_error_that_says_what_to_write(where, says):
    with pytest.raises(StoreError, match=says):
        filled("functions").query_embedding([1] * 8, 1, where)


def test_metadata_must_be_strings():
    with pytest.raises(StoreError, match="pass '3'"):
        Collection("x").add(["a"], [[1.0]], [{"line": 3}])


def test_documents_are_listed_by_metadata_and_in_pages():
    collection = filled("functions")
    everything = [d.id for d in collection.get()]
    assert everything == collection.list_ids()
    assert [d.id for d in collection.get(limit=3, offset=2)] == everything[2:5]


def test_a_least_similarity_cuts_the_answer():
    found = filled("functions").query_embedding([0, 0, 0, 0, 3, 2, 1, 0], 12, min_similarity=0.6)
    assert [h.id for h in found] == [
        "lib/rank.go:TopK",
        "lib/rank.go:Cosine",
        "tests/test_rank.py::test_topk_order",
    ]


def test_a_strict_collection_checks_dimensions_zero_vectors_and_clamps():
    collection = filled("functions", strict=True)
    assert len(collection.query_embedding([1] * 8, 100)) == 12
    with pytest.raises(StoreError, match="2 dimensions, the collection 8"):
        collection.add(["short"], [[1, 0]])
    with pytest.raises(StoreError, match="zero or not finite"):
        collection.add(["zero"], [[0] * 8])
    with pytest.raises(StoreError, match="zero or not finite"):
        collection.query_embedding([0] * 8, 1)
    assert collection.count() == 12
    assert Collection("empty", strict=True).query_embedding([1.0], 5) == []


def test_a_strict_collection_deletes_what_ids_and_filters_share():
    collection = filled("functions", strict=True)
    assert collection.delete(["src/cache.py::memoize", "lib/rank.go:TopK"], {"lang": "go"}) == 1
    assert collection.delete(["src/cache.py::memoize"], where={}) == 1
    assert collection.count() == 10


def test_a_string_is_no_list_of_ids():
    with pytest.raises(StoreError, match="give a list"):
        filled("functions").delete("lib/rank.go:TopK")


def test_vectors_of_another_dimension_can_be_asked_for_behind_a_filter():
    collection = filled("functions")
    collection.add(["s1", "s2"], [[1, 0], [0, 1]], [{"size": "2"}] * 2)
    assert [h.id for h in collection.query_embedding([1, 0], 2, {"size": "2"})] == ["s1", "s2"]
    assert len(collection.query_embedding([1] * 8, 14, {"size": ""})) == 12
    collection.delete(where={"size": ""})
    assert [h.id for h in collection.query_embedding([0, 1], 2)] == ["s2", "s1"]


def test_a_zero_vector_has_no_similarity_and_comes_last():
    collection = Collection("x")
    collection.add(["zero", "far", "near"], [[0, 0], [-1, 0], [1, 0]])
    found = collection.query_embedding([1, 0], 3)
    assert [h.id for h in found] == ["near", "far", "zero"]
    assert math.isnan(found[-1].similarity)


def test_a_vector_must_be_a_vector():
    with pytest.raises(StoreError, match="give one vector"):
        filled("functions").query_embedding([[1] * 8], 1)
    with pytest.raises(StoreError, match="sequence of numbers"):
        filled("functions").query_embedding(["a"] * 8, 1)


def test_a_get_of_nothing_is_a_lookup_error():
    with pytest.raises(NotFoundError):
        filled("functions").get_by_id("nope")
    assert issubclass(NotFoundError, LookupError)


APPROXIMATE = ["HNSW16", "IVF16,Flat", "IVF16,PQ8x4", "PCA16,IVF16,SQ8"]


@pytest.mark.parametrize("factory", APPROXIMATE)
def test_an_approximate_collection_finds_most_and_never_returns_what_is_gone(factory):
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((40, 32))
    vectors = (centres[rng.integers(0, 40, 3000)] + 0.3 * rng.standard_normal((3000, 32))).astype(np.float32)
    ids = [f"{i:05d}" for i in range(3000)]
    maps = [{"third": str(i % 3)} for i in range(3000)]
    flat = Collection("flat")
    near = Collection("near", factory=factory, tune="nprobe=8" if "IVF" in factory else "")
    for collection in (flat, near):
        collection.add(ids[:2500], vectors[:2500], maps[:2500])
        collection.query_embedding(vectors[0], 1)
        collection.add(ids[2400:], vectors[2400:], maps[2400:])
        collection.delete([f"{i:05d}" for i in range(0, 3000, 7)])
    alive = set(flat.list_ids())
    for where in (None, {"third": "1"}, {"third": {"$in": ["0", "2"]}}):
        kept = 0
        for query in vectors[::100]:
            found = near.query_embedding(query, 10, where)
            right = {h.id: h.similarity for h in flat.query_embedding(query, 10, where)}
            assert {h.id for h in found} <= alive
            assert all(where is None or h.metadata == near.get_by_id(h.id).metadata for h in found)
            assert all(right.get(h.id, h.similarity) == h.similarity for h in found), "similarities are exact"
            kept += len({h.id for h in found} & set(right))
        assert kept / 300 > 0.6


def test_an_approximate_index_is_built_anew_once_tombstones_pile_up():
    rng = np.random.default_rng(4)
    collection = Collection("x", factory="HNSW16")
    collection.add([str(i) for i in range(400)], rng.standard_normal((400, 8)))
    collection.query_embedding([1.0] * 8, 5)
    collection.delete([str(i) for i in range(50)])
    assert collection.rows.index.dead == 50
    collection.delete([str(i) for i in range(50, 150)])
    assert len(collection.query_embedding([1.0] * 8, 5)) == 5
    assert collection.rows.index.dead == 0


@pytest.mark.parametrize(
    ("factory", "tune"), [("HNSV32", ""), ("IVF1,Flat", "nprobes=3"), ("IVF4096,Flat", ""), ("LSH", "")]
)
def test_a_factory_that_cannot_work_says_what_would(factory, tune):
    collection = Collection("x", factory=factory, tune=tune)
    collection.add(["a", "b"], [[1, 0], [0, 1]])
    with pytest.raises(StoreError, match="Flat"):
        collection.query_embedding([1, 0], 1)


def test_threads_may_ask_while_another_changes():
    rng = np.random.default_rng(5)
    collection = Collection("x")
    collection.add([str(i) for i in range(200)], rng.standard_normal((200, 8)))
    failures: list[Exception] = []

    def questions():
        try:
            for _ in range(100):
                assert len(collection.query_embedding([1.0] * 8, 5)) == 5
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=questions) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(100):
        collection.delete([str(i)])
        collection.add([f"new{i}"], [[1.0] * 8])
    for thread in threads:
        thread.join()
    assert not failures


def test_one_text_in_place_of_a_list_is_refused_and_changes_nothing():
    c = Collection("c")
    c.add(["a", "b"], embeddings=[[1, 0], [0, 1]])
    with pytest.raises(StoreError, match=r"ids is the text 'ab'; give a list: \['ab'\]"):
        c.add("ab", embeddings=[[1, 1], [1, 1]])
    with pytest.raises(StoreError, match="contents is the text 'xy'"):
        c.add(["a", "b"], contents="xy")
    with pytest.raises(StoreError, match="ids is the text 'ab'"):
        c.delete(ids="ab")
    assert c.list_ids() == ["a", "b"] and c.get_by_id("a").embedding.tolist() == [1, 0]
