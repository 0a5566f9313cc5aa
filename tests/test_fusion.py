"""Fusion: the worked example by hand, weights, ties, scaling, and what is refused."""

import numpy as np
import pytest

from codekb.chunks import Chunk
from codekb.fusion import fuse_scores, reciprocal_ranks, rrf, scale
from codekb.ranking import Hit, Ranking

IDS = {
    "getTimeout": "cli/flags.go::getTimeout",
    "cache.Set": "cache/store.go::Store.Set",
    "db.Ping": "db/connection.go::Ping",
}


def chunk(chunk_id: str) -> Chunk:
    path, _, name = chunk_id.partition("::")
    return Chunk(chunk_id, "function", name, name, path.rpartition("/")[0], path, 1, 2, "go", "", "", "")


def listed(*names: str, part: str = "dense", scores: tuple[float, ...] = ()) -> Ranking:
    values = scores or tuple(1.0 - 0.1 * i for i in range(len(names)))
    return Ranking([Hit(chunk(IDS.get(n, n)), s, {part: s}) for n, s in zip(names, values, strict=True)], query="q")


def test_rrf_gives_the_worked_example_with_its_tie_broken_by_id():
    dense = listed("getTimeout", "cache.Set", "db.Ping")
    keyword = listed("getTimeout", "db.Ping", "cache.Set", part="keyword")
    fused = rrf(dense, keyword)
    assert [round(h.score, 5) for h in fused] == [0.03279, 0.032, 0.032]
    assert fused.ids == [IDS["getTimeout"], IDS["cache.Set"], IDS["db.Ping"]]
    assert fused[1].score == fused[2].score == 1 / 62 + 1 / 63


def test_rrf_parts_are_the_shares_of_each_list_and_sum_to_the_score():
    fused = rrf(listed("a::x", "a::y"), listed("a::y", part="keyword"), weights=[2, 1], k=10)
    assert fused["a::y"].parts == {"dense": 2 / 12, "keyword": 1 / 11}
    assert all(sum(h.parts.values()) == pytest.approx(h.score) for h in fused)
    assert fused["a::y"].why == ("rank 2 in dense", "rank 1 in keyword")


def test_rrf_discards_the_scores():
    far = listed("a::x", "a::y", scores=(100.0, 1.0))
    near = listed("a::x", "a::y", scores=(0.5, 0.4))
    assert [h.score for h in rrf(far)] == [h.score for h in rrf(near)]


def test_two_lists_of_one_name_keep_both_shares():
    fused = rrf(listed("a::x"), listed("a::x"))
    assert fused[0].score == 2 / 61
    assert len(fused[0].parts) == 2


def test_fuse_scores_keeps_how_sure_a_list_is():
    sure = listed("a::x", "a::y", "a::z", scores=(10.0, 1.0, 0.0))
    unsure = listed("a::y", "a::x", "a::z", part="keyword", scores=(0.52, 0.50, 0.0))
    assert rrf(sure, unsure)[0].score == rrf(sure, unsure)[1].score
    fused = fuse_scores(sure, unsure)
    assert fused.ids == ["a::x", "a::y", "a::z"]
    assert fused[0].score == pytest.approx(1 + 0.50 / 0.52)
    assert fuse_scores(sure, unsure, scaling="zscore").ids == ["a::x", "a::y", "a::z"]


def test_scale_by_hand():
    assert scale(np.array([1.0, 3.0, 2.0])).tolist() == [0.0, 1.0, 0.5]
    z = scale(np.array([1.0, 3.0, 2.0]), "zscore")
    assert z.mean() == pytest.approx(0) and z.std() == pytest.approx(1)
    assert scale(np.array([2.0, 2.0])).tolist() == [1.0, 1.0]
    assert scale(np.zeros(2)).tolist() == [0.0, 0.0]
    assert scale(np.empty(0)).size == 0


def test_reciprocal_ranks_agree_with_rrf_and_leave_zero_scores_out():
    scores = np.array([0.2, 0.9, 0.0, 0.2])
    got = reciprocal_ranks(scores, np.array([3, 1, 0, 2]), depth=3)
    assert got.tolist() == [1 / 63, 1 / 61, 0.0, 1 / 62]
    assert reciprocal_ranks(scores, np.array([3, 1, 0, 2]), depth=2).tolist() == [0.0, 1 / 61, 0.0, 1 / 62]


@pytest.mark.parametrize("fuse", [rrf, fuse_scores])
def test_empty_and_refused_input(fuse):
    assert len(fuse()) == 0
    assert len(fuse(Ranking([]), Ranking([]))) == 0
    with pytest.raises(ValueError, match="2 weights for 1 rankings"):
        fuse(listed("a::x"), weights=[1, 2])
    with pytest.raises(ValueError, match="negative"):
        fuse(listed("a::x"), weights=[-1])
    with pytest.raises(ValueError, match="k is -1"):
        rrf(listed("a::x"), k=-1)
    with pytest.raises(ValueError, match="unknown scaling"):
        scale(np.ones(2), "softmax")  # type: ignore[arg-type]
