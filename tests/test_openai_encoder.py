"""The OpenAI encoder against a real HTTP server on loopback that fails in every way a server can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import Answer, JsonServer, serving

from codekb.encoders.api_calls import EncoderError, RequestLimits, batches, retry_after
from codekb.encoders.base import Encoder
from codekb.encoders.cache import VectorCache
from codekb.encoders.openai import OpenAIEncoder

SIZE = 4
KEY = "sk-secret-0123456789"
QUICK = RequestLimits(first_wait=0.001, longest_wait=0.05, request_inputs=3, concurrency=2, timeout=5)


def vector(text: str) -> list[float]:
    """A vector that depends on the text alone, not of length one."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0, 2.0]


def unit(text: str) -> np.ndarray:
    row = np.array(vector(text))
    return row / np.linalg.norm(row)


class Server(JsonServer):
    """Answers with the vectors asked for, unless a test sets another `answer`."""

    def __init__(self) -> None:
        super().__init__(lambda number, body: self.good(body))

    @staticmethod
    def good(body: dict[str, Any], size: int = SIZE) -> Answer:
        data = [{"object": "embedding", "index": i, "embedding": vector(t)[:size]} for i, t in enumerate(body["input"])]
        return 200, {"object": "list", "model": body["model"], "data": data}, {}

    def texts(self) -> list[str]:
        return [text for body in self.bodies for text in body["input"]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(made := Server()):
        yield made


def encoder(server: Server, **options: Any) -> OpenAIEncoder:
    options = {"cache": None, "limits": QUICK, **options}
    return OpenAIEncoder("small-code", base_url=server.url, **options)


def error(status: int, code: str = "", message: str = "no", **headers: str) -> Answer:
    return status, {"error": {"message": message, "code": code or None, "type": "x"}}, headers


TEXTS = ["alpha", "beta", "gamma delta", "epsilon", "zeta", "eta", "theta"]


def test_vectors_are_of_length_one_and_in_the_order_of_the_texts(server: Server) -> None:
    e = encoder(server)
    rows = e.encode(TEXTS)
    assert rows.dtype == np.float32 and rows.shape == (7, SIZE)
    np.testing.assert_allclose(rows, [unit(t) for t in TEXTS], atol=1e-6)
    assert e.dimension == SIZE and e.name == "openai:small-code" and isinstance(e, Encoder)
    assert max(len(b["input"]) for b in server.bodies) <= QUICK.request_inputs
    assert all(b["encoding_format"] == "float" for b in server.bodies)


def test_answers_out_of_order_are_put_back_by_index(server: Server) -> None:
    def shuffled(n: int, body: dict[str, Any]) -> Answer:
        status, payload, headers = server.good(body)
        payload["data"].reverse()
        return status, payload, headers

    server.answer = shuffled
    np.testing.assert_allclose(encoder(server).encode(TEXTS), [unit(t) for t in TEXTS], atol=1e-6)


def test_a_busy_server_is_asked_again_after_the_time_it_names(server: Server) -> None:
    server.answer = lambda n, body: error(429, **{"Retry-After": "0.01"}) if n <= 2 else server.good(body)
    e = encoder(server)
    np.testing.assert_allclose(e.encode(["a"]), [unit("a")], atol=1e-6)
    assert e.requests == len(server.bodies) == 3


def test_server_errors_and_dropped_connections_are_tried_again(server: Server) -> None:
    plan: dict[int, Answer | None] = {1: error(500), 2: None, 3: error(503)}
    server.answer = lambda n, body: plan[n] if n in plan else server.good(body)
    np.testing.assert_allclose(encoder(server).encode(["a"]), [unit("a")], atol=1e-6)
    assert len(server.bodies) == 4


def test_a_server_that_never_recovers_ends_in_one_clear_error(server: Server) -> None:
    server.answer = lambda n, body: error(500, message="out of memory")
    with pytest.raises(EncoderError, match=r"after 6 attempts.*out of memory.*second run goes on"):
        encoder(server).encode(["a"])
    assert len(server.bodies) == QUICK.attempts


def test_an_expired_key_is_told_at_once_and_never_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    server.answer = lambda n, body: error(401, message=f"Incorrect API key provided: {KEY}")
    e = encoder(server, key_variable="MY_KEY")
    with pytest.raises(EncoderError, match="refused the key") as caught:
        e.encode(["a"])
    assert len(server.bodies) == 1 and server.keys == [f"Bearer {KEY}"]
    shown = f"{caught.value!r} {e!r} {caught.value.__cause__!r} {vars(e)['_caller']!r}"
    assert KEY not in shown and caught.value.__suppress_context__


def test_a_key_that_a_server_repeats_in_another_error_is_cut_out(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    server.answer = lambda n, body: error(400, message=f"bad request by {KEY}")
    with pytest.raises(EncoderError, match=r"\[key\]"):
        encoder(server, key_variable="MY_KEY").encode(["a"])


def test_an_empty_account_is_not_tried_again(server: Server) -> None:
    server.answer = lambda n, body: error(429, code="insufficient_quota", message="quota")
    with pytest.raises(EncoderError, match="quota"):
        encoder(server).encode(["a"])
    assert len(server.bodies) == 1


def test_a_compatible_server_gets_no_openai_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    encoder(server).encode(["a"])
    assert not any(KEY in sent for sent in server.keys)


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EncoderError, match="OPENAI_API_KEY"):
        OpenAIEncoder(cache=None)


def test_a_wrong_dimension_is_explained(server: Server) -> None:
    with pytest.raises(EncoderError, match=r"4 numbers where 8 were expected.*ignores `dimensions`"):
        encoder(server, dimensions=8).encode(["a"])
    assert server.bodies[0]["dimensions"] == 8


def test_a_model_that_changes_its_size_between_runs_is_noticed(server: Server, tmp_path: Path) -> None:
    with VectorCache(tmp_path / "v.sqlite") as cache:
        encoder(server, cache=cache).encode(["a", "b"])
        server.answer = lambda n, body: server.good(body, size=3)
        with pytest.raises(EncoderError, match="another model"):
            encoder(server, cache=cache).encode(["a", "b", "c"])


def test_an_oversized_input_is_shortened_until_it_fits_and_counted(server: Server) -> None:
    def strict(n: int, body: dict[str, Any]) -> Answer:
        if any(len(text) > 40 for text in body["input"]):
            return error(400, message="This model's maximum context length is 10 tokens")
        return server.good(body)

    server.answer = strict
    e = encoder(server)
    rows = e.encode(["short", "x" * 100, "other"])
    np.testing.assert_allclose(rows, [unit("short"), unit("x" * 25), unit("other")], atol=1e-6)
    assert e.shortened == 2


def test_too_few_answers_and_nonsense_are_errors(server: Server) -> None:
    def short(n: int, body: dict[str, Any]) -> Answer:
        status, payload, headers = server.good(body)
        return status, {**payload, "data": payload["data"][:-1]}, headers

    server.answer = short
    with pytest.raises(EncoderError, match=r"2 texts were sent.*1 vectors came back"):
        encoder(server).encode(["a", "b"])
    server.answer = lambda n, body: (200, b"<html>no</html>", {"Content-Type": "application/json"})
    with pytest.raises(EncoderError):
        encoder(server).encode(["c"])


def test_empty_texts_are_zero_rows_and_never_sent(server: Server) -> None:
    rows = encoder(server).encode(["", "a", "  "])
    assert not rows[0].any() and not rows[2].any() and rows[1].any()
    assert server.texts() == ["a"]


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_an_interrupted_run_goes_on_where_it_stopped(server: Server, tmp_path: Path, fails_at: int) -> None:
    """Whatever the request at which a run breaks off, the next run repeats no text that was answered."""
    texts = [f"text {i}" for i in range(12)]
    one_by_one = RequestLimits(attempts=1, request_inputs=3, concurrency=1)
    answered: list[str] = []

    def break_off(n: int, body: dict[str, Any]) -> Answer | None:
        if n == fails_at:
            return None
        answered.extend(body["input"])
        return server.good(body)

    server.answer = break_off
    with VectorCache(tmp_path / "v.sqlite") as cache, pytest.raises(EncoderError):
        encoder(server, cache=cache, limits=one_by_one).encode(texts)
    before = len(server.bodies)
    with VectorCache(tmp_path / "v.sqlite") as cache:
        rows = encoder(server, cache=cache, limits=one_by_one).encode(texts)
        np.testing.assert_allclose(rows, [unit(t) for t in texts], atol=1e-6)
        assert sorted(answered) == sorted(texts), "each text was answered exactly once"
        sent = len(server.bodies)
        encoder(server, cache=cache, limits=one_by_one).encode(texts)
        assert len(server.bodies) == sent > before, "a further run calls nothing"


def test_an_interruption_by_the_user_keeps_what_was_answered(server: Server) -> None:
    e = encoder(server, limits=RequestLimits(request_inputs=1, concurrency=1))

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    e.progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        e.encode(["a", "b", "c", "d"])
    e.progress = None
    e.encode(["a", "b", "c", "d"])
    assert server.texts() == ["a", "b", "c", "d"]


def test_the_estimate_sends_nothing_and_knows_the_cache(server: Server) -> None:
    e = encoder(server)
    before = e.estimate(TEXTS)
    assert (before.texts, before.new, before.requests, before.dollars) == (7, 7, 3, 0.0) and not server.bodies
    e.encode(TEXTS[:5])
    assert e.estimate(TEXTS).new == 2
    assert "2 of 7 texts" in str(e.estimate(TEXTS))


def test_the_same_text_twice_is_sent_once(server: Server) -> None:
    encoder(server).encode(["a", "a", "b", "a"])
    assert sorted(server.texts()) == ["a", "b"]


def test_progress_reaches_the_total(server: Server) -> None:
    e = encoder(server)
    seen: list[tuple[str, int, int]] = []
    e.progress = lambda *call: seen.append(call)
    e.encode(TEXTS)
    assert seen[-1] == ("encode", 7, 7)


def test_two_models_and_two_sizes_never_share_a_cached_vector(tmp_path: Path) -> None:
    one, two = np.array([1.0], dtype=np.float32), np.array([2.0], dtype=np.float32)
    with VectorCache(tmp_path / "v.sqlite") as cache:
        cache.put("m", 0, {"t": one})
        cache.put("m", 256, {"t": two})
        assert cache.get("m", 0, ["t", "u"]) == {"t": one}
        assert cache.get("m", 256, ["t"]) == {"t": two}
        assert cache.get("other", 0, ["t"]) == {} and len(cache) == 2


def test_a_file_that_is_no_cache_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, no database" * 100)
    with pytest.raises(ValueError, match="no vector cache"):
        VectorCache(path)
    assert path.read_text().startswith("these are my notes")


def test_the_cache_file_holds_neither_text_nor_key(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with VectorCache(tmp_path / "v.sqlite") as cache:
        encoder(server, cache=cache, key_variable="MY_KEY").encode(["def secret_function(): pass"])
    held = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert KEY.encode() not in held and b"secret_function" not in held


def test_requests_respect_both_bounds() -> None:
    limits = RequestLimits(request_inputs=2, request_tokens=20)
    assert batches(["a", "b", "c"], limits) == [["a", "b"], ["c"]]
    assert batches(["one " * 15, "two " * 15], limits) == [["one " * 15], ["two " * 15]]
    assert batches([], limits) == []


def test_retry_after_reads_dates_and_ignores_nonsense() -> None:
    assert retry_after({}) is None and retry_after({"retry-after": "later"}) is None
    past = retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})
    assert past == 0.0
