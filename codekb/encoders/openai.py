"""Vectors from OpenAI or a compatible server (Ollama, llama.cpp, vLLM). Calls: `api_calls`, storage: `cache`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from codekb.encoders.api_calls import Caller, EncoderError, RequestLimits, batches, shorten
from codekb.encoders.base import Vectors
from codekb.encoders.cache import VectorCache, default_path
from codekb.text import count_tokens

DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
DOLLARS_PER_MILLION_TOKENS = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}
"""OpenAI's list prices when this was written; a compatible server of your own costs nothing here."""

KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What encoding some texts would take: `new` of `texts` are not cached; `dollars` is None for an unknown price.

    Tokens are estimated (see `count_tokens`), so trust one digit.
    """

    texts: int
    new: int
    tokens: int
    requests: int
    dollars: float | None

    def __str__(self) -> str:
        price = "price unknown" if self.dollars is None else f"about ${self.dollars:.4f}"
        return (
            f"{self.new} of {self.texts} texts to encode, {self.tokens:,} tokens in {self.requests} requests, {price}"
        )


class OpenAIEncoder:
    """An `Encoder` over HTTP. Every vector is kept in the cache as soon as it arrives, and never asked for twice.

    `dimensions` shortens OpenAI's newer models; None takes the model's own size. `base_url` names a compatible server
    (`http://localhost:11434/v1` for Ollama): it gets no key unless `key_variable` names one, so that OpenAI's key never
    reaches another server. `cache` is a path, a VectorCache, or None for memory only; the default is the
    user's cache folder. `progress(stage, done, total)` counts texts. Raises EncoderError, which never holds the key.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        base_url: str | None = None,
        key_variable: str | None = None,
        cache: VectorCache | str | os.PathLike[str] | None = "",
        limits: RequestLimits | None = None,
    ) -> None:
        if dimensions is not None and dimensions < 1:
            raise ValueError(f"dimensions is {dimensions}: give a positive number, or None for the model's own")
        self.model = model
        self.dimensions = dimensions
        self.base_url = base_url
        self.limits = limits or RequestLimits()
        self.progress: Callable[[str, int, int], None] | None = None
        self._cache = cache if isinstance(cache, VectorCache) else VectorCache(default_path() if cache == "" else cache)
        self._dimension = dimensions or (DIMENSIONS.get(model) if base_url is None else None)
        self._caller = _caller(model, dimensions, base_url, key_variable, self.limits)

    @property
    def name(self) -> str:
        """`openai:MODEL`, with `@DIMENSIONS` where the size was chosen."""
        return f"openai:{self.model}" + (f"@{self.dimensions}" if self.dimensions else "")

    @property
    def dimension(self) -> int:
        """The size of a vector; an unknown model is asked once, with one word."""
        if self._dimension is None:
            self._dimension = int(self._embed(["dimension"]).shape[1])
        return self._dimension

    @property
    def requests(self) -> int:
        """How many requests were sent so far, failed ones included."""
        return self._caller.requests

    @property
    def shortened(self) -> int:
        """How often a text had to be cut because the server called it too long."""
        return self._caller.shortened

    def estimate(self, texts: Sequence[str]) -> CostEstimate:
        """What `encode(texts)` would send and cost, without sending anything."""
        new = self._missing(self._prepared(texts))
        tokens = sum(count_tokens(text) for text in new)
        price = DOLLARS_PER_MILLION_TOKENS.get(self.model) if self.base_url is None else 0.0
        dollars = None if price is None else price * tokens / 1e6
        return CostEstimate(len(texts), len(new), tokens, len(batches(new, self.limits)), dollars)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), dimension), rows of length one in order; an empty text is a zero row."""
        if isinstance(texts, str):
            raise TypeError("encode takes a list of texts; for one question use encode_query")
        return self._embed(texts) if len(texts) else np.zeros((0, self.dimension), dtype=np.float32)

    def encode_query(self, text: str) -> Vectors:
        """float32 of shape (dimension,)."""
        return np.asarray(self._embed([text])[0], dtype=np.float32)

    def _prepared(self, texts: Sequence[str]) -> list[str]:
        return list(shorten([text if text.strip() else "" for text in texts], self.limits))

    def _missing(self, prepared: Sequence[str]) -> list[str]:
        known = self._cache.get(self.model, self.dimensions or 0, prepared)
        return [text for text in dict.fromkeys(prepared) if text and text not in known]

    def _embed(self, texts: Sequence[str]) -> Vectors:
        prepared = self._prepared(texts)
        self._fetch(self._missing(prepared))
        known = self._cache.get(self.model, self.dimensions or 0, prepared)
        size = self._dimension or next((len(v) for v in known.values()), None) or self.dimension
        rows = np.zeros((len(prepared), size), dtype=np.float32)
        for i, text in enumerate(prepared):
            if text:
                rows[i] = self._sized(known[text], size)
        return rows

    def _sized(self, vector: Vectors, size: int) -> Vectors:
        if len(vector) != size:
            asked = " (the server ignores `dimensions`)" if self.dimensions else ""
            raise EncoderError(
                f"{self.model} gives vectors of {len(vector)} numbers where {size} were expected{asked}: another model "
                "stands behind that name; set dimensions=None, or use another cache"
            )
        return vector

    def _fetch(self, texts: list[str]) -> None:
        """Ask for the texts, some requests at once, and keep each answer the moment it is there."""
        pending: dict[Future[list[Vectors]], list[str]] = {}
        queue = batches(texts, self.limits)
        done = 0
        with ThreadPoolExecutor(self.limits.concurrency) as pool:
            try:
                while queue or pending:
                    while queue and len(pending) < self.limits.concurrency:
                        batch = queue.pop(0)
                        pending[pool.submit(self._caller.vectors, batch)] = batch
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        batch = pending.pop(future)
                        self._keep(batch, future.result())
                        done += len(batch)
                        if self.progress:
                            self.progress("encode", done, len(texts))
            finally:  # after an error or an interruption: what is under way is still kept, nothing new is tried
                self._caller.stop.set()
                for future, batch in pending.items():
                    if not future.cancel() and future.exception() is None:
                        self._keep(batch, future.result())
                self._caller.stop.clear()

    def _keep(self, batch: list[str], vectors: list[Vectors]) -> None:
        if self._dimension is not None:
            vectors = [self._sized(vector, self._dimension) for vector in vectors]
        self._cache.put(self.model, self.dimensions or 0, dict(zip(batch, vectors, strict=True)))

    def __repr__(self) -> str:
        return f"OpenAIEncoder({self.name!r}, base_url={self.base_url!r})"


def _caller(
    model: str, dimensions: int | None, base_url: str | None, key_variable: str | None, limits: RequestLimits
) -> Caller:
    try:
        import openai
    except ImportError:
        raise ModuleNotFoundError("OpenAIEncoder needs the openai package: pip install 'codekb[openai]'") from None
    variable = key_variable or (KEY_VARIABLE if base_url is None else None)
    key = os.environ.get(variable, "") if variable else ""
    if variable and not key:
        raise EncoderError(
            f"no key: set the environment variable {variable}, or give base_url for a server that needs none "
            "(http://localhost:11434/v1 for Ollama)"
        )
    client: Any = openai.OpenAI(api_key=key or "none", base_url=base_url, max_retries=0, timeout=limits.timeout)
    return Caller(client, model, dimensions, limits, secret=key)
