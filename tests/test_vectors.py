"""Dense search: exact order, ties by id, filters before scoring, steering by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from codekb.chunks import Chunk, Corpus
from codekb.encoders.base import Encoder, Vectors
from codekb.vectors import VectorIndex, steer

AXES = {"run": (1.0, 0.0, 0.0), "wait": (0.0, 1.0, 0.0), "stop": (0.0, 0.0, 1.0)}


class Axes:
    """Words on three axes; a text is the sum of its words, of length one."""

    name = "axes"
    dimension = 3

    def encode_query(self, text: str) -> Vectors:
        total = np.sum([AXES.get(word, (0.0, 0.0, 0.0)) for word in text.split()] or [(0.0, 0.0, 0.0)], axis=0)
        length = float(np.linalg.norm(total))
        return np.asarray(total / length if length else total, dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.encode_query(text) for text in texts], dtype=np.float32).reshape(-1, 3)


def corpus(**bodies: str) -> Corpus:
    """One function a keyword, `folder__name` for `folder/m.py::name`."""
    chunks = []
    for key, code in bodies.items():
        folder, _, name = key.rpartition("__")
        path = f"{folder}/m.py" if folder else "m.py"
        chunks.append(Chunk(f"{path}::{name}", "function", name, name, folder, path, 1, 1, "python", "", "", code))
    return Corpus(chunks)


def index(**bodies: str) -> VectorIndex:
    return VectorIndex(corpus(**bodies), Axes(), text=lambda chunk: chunk.code)


def test_cosines_by_hand() -> None:
    found = index(a="run", b="run wait", c="stop").search("run", 3)
    assert found.ids == ["m.py::a", "m.py::b", "m.py::c"]
    assert [hit.score for hit in found] == pytest.approx([1.0, 0.5**0.5, 0.0])
    assert all(sum(hit.parts.values()) == pytest.approx(hit.score) for hit in found)


def test_ties_go_by_id_even_past_the_last_place() -> None:
    same = {f"f{i:03}": "run" for i in reversed(range(200))}
    assert index(**same).search("run", 3).ids == ["m.py::f000", "m.py::f001", "m.py::f002"]


def test_a_namespace_is_whole_segments_and_filters_before_scoring() -> None:
    idx = index(client__best="run", cli__a="wait", cli__b="run wait", cli__c="stop")
    assert idx.search("run", 2, "cli").ids == ["cli/m.py::b", "cli/m.py::a"]
    assert len(idx.search("run", 9, "nowhere")) == 0


def test_a_mask_says_which_functions_may_be_returned() -> None:
    idx = index(a="run", b="run wait", c="stop")
    assert idx.search("run", 5, mask=np.array([False, True, True])).ids == ["m.py::b", "m.py::c"]


def test_more_than_there_is_returns_all_and_an_empty_corpus_nothing() -> None:
    assert len(index(a="run", b="wait").search("run", 100)) == 2
    assert len(index().search("run", 5)) == 0


def test_search_agrees_with_brute_force() -> None:
    rng = np.random.default_rng(7)
    words = list(AXES)
    bodies = {f"f{i}": " ".join(rng.choice(words, size=5)) for i in range(300)}
    idx = index(**bodies)
    scores = idx.matrix.astype(np.float64) @ idx.encoder.encode_query("run run wait").astype(np.float64)
    order = sorted(range(300), key=lambda i: (-round(scores[i], 6), idx.functions[i].id))[:20]
    assert idx.search("run run wait", 20).ids == [idx.functions[i].id for i in order]


def test_scores_are_the_cosines_of_every_function() -> None:
    idx = index(a="run", b="run wait", c="stop")
    np.testing.assert_allclose(idx.scores("run wait"), idx.matrix @ idx.encoder.encode_query("run wait"), atol=1e-6)
    assert index().scores("run").shape == (0,)


def test_vectors_of_another_model_are_refused_with_both_shapes() -> None:
    with pytest.raises(ValueError, match=r"\(2, 5\) came, \(2, 3\) were expected for axes"):
        VectorIndex(corpus(a="", b=""), Axes(), matrix=np.zeros((2, 5), dtype=np.float32))
    with pytest.raises(ValueError, match="query vector of shape"):
        index(a="run").search(np.zeros(4, dtype=np.float32))
    with pytest.raises(ValueError, match="at least one"):
        index(a="run").search("run", 0)


def test_steering_moves_the_query_by_the_formula() -> None:
    q = steer(Axes(), "run", boost=["wait"], suppress=["stop"], strength=0.5)
    expected = np.array([1.0, 0.5, -0.5]) / np.sqrt(1.5)
    np.testing.assert_allclose(q, expected, atol=1e-6)


def test_steering_with_nothing_or_to_nothing_leaves_the_query() -> None:
    axes = Axes()
    assert isinstance(axes, Encoder)
    np.testing.assert_allclose(steer(axes, "run"), axes.encode_query("run"))
    np.testing.assert_allclose(steer(axes, "run", suppress=["run"], strength=1.0), axes.encode_query("run"))
    with pytest.raises(TypeError, match="lists of concepts"):
        steer(axes, "run", boost="wait")
