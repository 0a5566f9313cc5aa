"""The embedded encoder: fields and pieces by hand, weight files whole and damaged, vectors worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from codekb.encoders import weights
from codekb.encoders.base import Encoder
from codekb.encoders.fused import FusedEncoder
from codekb.encoders.pieces import Fields, Vocabulary, fields, parts, stem
from codekb.encoders.static import WEIGHTS, StaticEncoder

FACTS = {"buckets": 2}


def write_model(path: Path, *, rows: int = 5, field_weight: float = 1.0) -> str:
    """A table over the pieces `get`, `user`, `pool` and two buckets; each piece is its own axis, a sixth is empty."""
    levels = np.zeros((rows, 6), dtype=np.int8)
    levels[np.arange(rows), np.arange(rows)] = 5
    arrays = {
        "vocabulary": np.frombuffer(b"get\nuser\npool", dtype=np.uint8),
        "table": weights.packed(levels),
        "scale": np.full(rows, 0.2, dtype=np.float32),
        "query_weight": np.ones(rows, dtype=np.float16),
        "field_weight": np.full((6, rows), field_weight, dtype=np.float16),
    }
    return weights.write(path, arrays, FACTS)


@pytest.fixture
def small(tmp_path: Path) -> StaticEncoder:
    path = tmp_path / "small.bin"
    write_model(path)
    return StaticEncoder(path)


def test_fields_of_an_enriched_python_method() -> None:
    code = '@cached\ndef load_all(\n    self,\n):\n    """Reads all."""\n    return 1'
    text = f"File: a/b.py | Package: a | Function: Store.load_all\n\n{code}"
    found = fields(text)
    assert found.name == "load_all"
    assert found.place == "a/b.py Store"
    assert found.doc.strip() == "Reads all."
    assert "@cached" in found.body and "return 1" in found.body and "Reads" not in found.body


def test_fields_of_a_go_method_with_its_comment_and_no_header() -> None:
    found = fields("// Get reads a key.\nfunc (s *Store[K, V]) Get(k K) V {\n\treturn s.m[k]\n}")
    assert found.name == "Get"
    assert "reads a key" in found.doc
    assert found.signature == "func (s *Store[K, V]) Get(k K) V "
    assert "return s.m[k]" in found.body


def test_comments_are_a_field_of_their_own() -> None:
    found = fields(
        "def total(cart: Cart):  # in cents\n    # Adds the rebates.\n    url = 'http://x#y'\n    return cart.sum"
    )
    assert found.signature == "def total(cart: Cart)"
    assert "in cents" in found.comment and "Adds the rebates." in found.comment
    assert "http://x" in found.body and "return cart.sum" in found.body and "rebates" not in found.body


def test_a_signature_ends_where_its_block_opens() -> None:
    assert fields("func Run() error {\n\treturn nil\n}").signature == "func Run() error "
    assert fields("def one(x): return x").signature == "def one(x): return x"
    assert fields("async def f(\n    a: int,\n) -> dict[str, int]:\n    return {}").body == ":\n    return {}"


def test_a_go_block_comment_before_the_function_is_documentation() -> None:
    found = fields("File: a.go | Package: . | Function: Run\n\n/*\nRun starts it.\n*/\nfunc Run() {}")
    assert "starts" in found.doc and "starts" not in found.body
    assert "func Run" in found.signature


def test_fields_of_an_enriched_go_method_take_the_receiver_as_place() -> None:
    found = fields("File: c/store.go | Package: c | Function: (*Store) Set\n\nfunc (s *Store) Set() {}")
    assert (found.name, found.place) == ("Set", "c/store.go (*Store)")


def test_structure_lines_before_the_code_are_documentation() -> None:
    assert "process_checkout" in fields("# called_by: process_checkout\ndef total(cart):\n    return 0").doc


def test_docstring_of_a_nested_function_is_body() -> None:
    lines = "\n".join(f"    x{i} = {i}" for i in range(30))
    code = f'def outer():\n{lines}\n    def inner():\n        """Inner words."""\n        return 1'
    assert fields(code).doc == ""
    assert "Inner words." in fields(code).body


def test_prose_is_all_body() -> None:
    assert fields("how long before a timeout") == Fields("", "", "", "", "", "how long before a timeout")


@pytest.mark.parametrize("text", ["", "\n", "def", "func (", "File: | Package: | Function: \n\n", '"""', "\x00\ud800"])
def test_fields_never_fail(text: str) -> None:
    assert len(fields(text)) == 6


def test_parts_split_case_digits_and_underscores() -> None:
    assert parts("parseHTTPHeaders") == ["pars", "http", "header"]
    assert parts("__init__") == ["init"]
    assert parts("größe2") == ["gr", "öß", "e", "2"]
    assert parts("x" * 500) == ["x" * 64]


def test_stem_keeps_short_and_double_s_words() -> None:
    assert [stem(w) for w in ("is", "class", "bus", "analysis", "this")] == ["is", "class", "bus", "analysis", "this"]


def test_unknown_pieces_are_segmented_or_hashed() -> None:
    vocabulary = Vocabulary(["get", "user", "pool"], buckets=2)
    assert vocabulary.word("getuserpool") == [0, 1, 2]
    assert vocabulary.word("get_user") == [0, 1]
    assert vocabulary.word("zzzz")[0] in (3, 4)
    assert Vocabulary(["get"], buckets=0).word("zzzz") == []


def test_known_pairs_join_neighbours_within_a_word_and_across_a_question() -> None:
    vocabulary = Vocabulary(["get", "user", "get user"], buckets=1)
    assert vocabulary.word("getUser") == [0, 1, 2]
    assert vocabulary.word("user_get") == [1, 0]
    assert vocabulary.query("get user") == [0, 1, 2]


def test_vector_is_the_weighted_sum_worked_out_by_hand(small: StaticEncoder) -> None:
    vector = small.encode(["get get user"])[0]
    raw = np.array([math.log(3), math.log(2), 0, 0, 0, 0])
    np.testing.assert_allclose(vector, raw / np.linalg.norm(raw), atol=1e-6)


def test_name_field_counts_beside_the_body(small: StaticEncoder) -> None:
    vector = small.encode(["def pool():\n    user"])[0]
    buckets = vector[3:]
    assert vector[2] == pytest.approx(2 * vector[1], abs=1e-6), "once as name, once in the body"
    assert buckets.max() > 0, "`def` is unknown here"


def test_question_counts_repeated_words(small: StaticEncoder) -> None:
    vector = small.encode_query("pool pool get")
    assert vector[2] / vector[0] == pytest.approx(math.log(3) / math.log(2), abs=1e-6)


def test_text_without_words_gives_zeros(small: StaticEncoder) -> None:
    assert not small.encode(["", " \n"]).any()
    assert not small.encode_query("?!").any()
    assert small.encode([]).shape == (0, 6)


def test_vectors_do_not_depend_on_batch_mates_or_order(small: StaticEncoder) -> None:
    texts = [f"get user {i} pool" * (i % 3 + 1) for i in range(1100)]
    together = small.encode(texts)
    alone = np.vstack([small.encode([t]) for t in texts[::97]])
    np.testing.assert_allclose(together[::97], alone, atol=1e-6)
    np.testing.assert_allclose(small.encode(texts[::-1])[::-1], together, atol=1e-6)


def test_a_single_string_is_refused(small: StaticEncoder) -> None:
    with pytest.raises(TypeError, match="not one string"):
        small.encode("get user")


def test_name_changes_with_the_weights(tmp_path: Path) -> None:
    write_model(tmp_path / "a.bin")
    write_model(tmp_path / "b.bin", field_weight=2.0)
    names = [StaticEncoder(tmp_path / f).name for f in ("a.bin", "b.bin")]
    assert names[0] != names[1]


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    path = tmp_path / "w.bin"
    write_model(path)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(weights.WeightsError, match=r"damaged.*reinstall"):
        StaticEncoder(path)


@pytest.mark.parametrize("content", [b"", b"codekb", b"version https://git-lfs", b"x" * 1000])
def test_foreign_files_are_no_weights(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.bin"
    path.write_bytes(content)
    with pytest.raises(weights.WeightsError):
        StaticEncoder(path)


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(weights.WeightsError, match="nowhere"):
        StaticEncoder(tmp_path / "nowhere.bin")


def test_four_bits_give_every_level_back() -> None:
    levels = np.random.default_rng(0).integers(-weights.LEVELS, weights.LEVELS + 1, (50, 16))
    table = weights.packed(levels)
    assert table.shape == (50, 8) and table.dtype == np.uint8
    np.testing.assert_array_equal(weights.unpacked(table), levels)


def test_a_table_of_another_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.bin"
    write_model(path, rows=4)
    with pytest.raises(weights.WeightsError, match="4 vectors for 5 pieces"):
        StaticEncoder(path)


def test_shipped_weights_fit_the_package_and_find_a_paraphrase() -> None:
    assert WEIGHTS.stat().st_size <= 16_000_000
    encoder = StaticEncoder()
    assert isinstance(encoder, Encoder)
    codes = [
        "def read_settings(path):\n    with open(path) as file:\n        return json.load(file)",
        "def connect(host, port):\n    sock = socket.create_connection((host, port))\n    return sock",
        "def mean(values):\n    return sum(values) / len(values)",
    ]
    for row, question in enumerate(["load the configuration from disk", "open a TCP connection", "average of numbers"]):
        assert int(np.argmax(encoder.encode(codes) @ encoder.encode_query(question))) == row


def test_fused_similarity_is_the_weighted_sum_of_cosines(tmp_path: Path, small: StaticEncoder) -> None:
    write_model(tmp_path / "b.bin", field_weight=3.0)
    other = StaticEncoder(tmp_path / "b.bin")
    fused = FusedEncoder([small, other], [3, 1])
    texts, question = ["get user", "pool"], "user"
    expected = 0.75 * small.encode(texts) @ small.encode_query(question)
    expected += 0.25 * other.encode(texts) @ other.encode_query(question)
    np.testing.assert_allclose(fused.encode(texts) @ fused.encode_query(question), expected, atol=1e-6)
    assert fused.dimension == 12
    assert fused.name != FusedEncoder([small, other], [1, 1]).name
    assert isinstance(fused, Encoder)


@pytest.mark.parametrize("given", [[1], [1, 0], [1, -1], [1, float("nan")]])
def test_fused_refuses_bad_weights(small: StaticEncoder, given: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        FusedEncoder([small, small], given)


def test_fused_needs_an_encoder() -> None:
    with pytest.raises(ValueError, match="at least one"):
        FusedEncoder([])
