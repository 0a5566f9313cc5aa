"""Calls to an embeddings API: cutting texts into requests, retrying, checking answers. No vectors are kept here."""

from __future__ import annotations

import email.utils
import random
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from codekb.encoders.base import Vectors
from codekb.text import count_tokens

TOO_LONG = re.compile(
    r"maximum context length|context length|too (long|large)|max(imum)? (input|sequence)|reduce the length",
    re.I,
)
"""How servers say that an input is too long: OpenAI, Ollama, llama.cpp and vLLM each in their own words."""

SHRINK = 0.5
"""An input that a server calls too long is cut to this share of its characters, again until it fits."""


class EncoderError(RuntimeError):
    """A server did not give the vectors; the message says why and what to do, and never holds a key."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may hold and how often it is tried. The defaults are OpenAI's bounds.

    `input_tokens` bounds one text, `request_tokens` and `request_inputs` one request; `concurrency` how many are under
    way at once; `attempts` counts the first try; waits are in seconds and double from `first_wait` to `longest_wait`,
    unless the server's Retry-After says otherwise; `timeout` bounds one request.
    """

    input_tokens: int = 8192
    request_tokens: int = 300_000
    request_inputs: int = 2048
    concurrency: int = 4
    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    timeout: float = 120.0

    def __post_init__(self) -> None:
        for name in ("input_tokens", "request_tokens", "request_inputs", "concurrency", "attempts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: at least 1 is needed")


def batches(texts: Sequence[str], limits: RequestLimits) -> list[list[str]]:
    """Texts in order, cut into requests by count and by estimated tokens; no text is split.

    >>> [len(b) for b in batches(["word " * 50] * 5, RequestLimits(request_tokens=100))]
    [2, 2, 1]
    """
    found: list[list[str]] = []
    tokens = 0
    for text in texts:
        cost = count_tokens(text)
        if not found or len(found[-1]) >= limits.request_inputs or tokens + cost > limits.request_tokens:
            found.append([])
            tokens = 0
        found[-1].append(text)
        tokens += cost
    return found


@dataclass(slots=True)
class Caller:
    """Sends one request of texts and returns their vectors, whatever goes wrong on the way, or an EncoderError.

    Setting `stop` ends the waiting between attempts.
    """

    client: Any
    model: str
    dimensions: int | None
    limits: RequestLimits
    secret: str = field(default="", repr=False)
    stop: threading.Event = field(default_factory=threading.Event, repr=False)
    requests: int = 0
    shortened: int = 0

    def vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector of length one a text, in order. A text the server calls too long is shortened and counted."""
        import openai

        try:
            answer = self._with_retries(texts)
        except openai.BadRequestError as error:
            if not TOO_LONG.search(str(error)):
                raise self._explained(error) from None
            return self._shorter(texts)
        return self._checked(texts, answer)

    def _shorter(self, texts: Sequence[str]) -> list[Vectors]:
        """Halve the request to find the long text, then the text until it fits."""
        if len(texts) > 1:
            middle = len(texts) // 2
            return [*self.vectors(texts[:middle]), *self.vectors(texts[middle:])]
        cut = texts[0][: int(len(texts[0]) * SHRINK)]
        if not cut.strip():
            raise EncoderError(f"{self.model} calls even a text of one word too long; is it an embedding model?")
        self.shortened += 1
        return self.vectors([cut])

    def _with_retries(self, texts: Sequence[str]) -> Any:
        import openai

        options: dict[str, Any] = {"dimensions": self.dimensions} if self.dimensions else {}
        for attempt in range(1, self.limits.attempts + 1):
            self.requests += 1
            try:
                return self.client.embeddings.create(
                    model=self.model, input=list(texts), encoding_format="float", **options
                )
            except openai.BadRequestError:
                raise
            except openai.APIError as error:
                if attempt == self.limits.attempts or not _passing(error):
                    raise self._explained(error, attempt) from None
                if self.stop.wait(self._wait(error, attempt)):
                    raise self._explained(error, attempt) from None
            except ValueError as error:  # an answer that is no JSON
                raise self._explained(error, attempt) from None
        raise AssertionError("unreachable")

    def _wait(self, error: Exception, attempt: int) -> float:
        asked = retry_after(getattr(getattr(error, "response", None), "headers", None) or {})
        if asked is not None:
            return min(asked, self.limits.longest_wait)
        doubled: float = self.limits.first_wait * 2.0 ** (attempt - 1)
        return min(doubled, self.limits.longest_wait) * random.uniform(0.8, 1.2)

    def _explained(self, error: Exception, attempts: int = 1) -> EncoderError:
        status = getattr(error, "status_code", None)
        if status in (401, 403):
            return EncoderError(
                f"the server refused the key (HTTP {status}); keys are read from the environment only: "
                "check the variable and that the key is still valid"
            )
        if status == 404:
            return EncoderError(f"the server knows no model {self.model!r} (HTTP 404), or base_url lacks its /v1 part")
        said = str(error).replace(self.secret, "[key]") if self.secret else str(error)
        tries = f" after {attempts} attempts" if attempts > 1 else ""
        return EncoderError(
            f"no vectors from {self.model}{tries}: {type(error).__name__}: {said[:300]}; "
            "what came before is kept, a second run goes on from there"
        )

    def _checked(self, texts: Sequence[str], answer: Any) -> list[Vectors]:
        rows: dict[int, Vectors] = {}
        for item in answer.data or ():
            rows[item.index] = np.asarray(item.embedding, dtype=np.float32)
        if sorted(rows) != list(range(len(texts))):
            raise EncoderError(f"{len(texts)} texts were sent to {self.model}, {len(rows)} vectors came back")
        sizes = {row.shape for row in rows.values()}
        if len(sizes) > 1:
            raise EncoderError(f"{self.model} answered with vectors of different sizes: {sorted(sizes)}")
        return [self._unit(rows[i]) for i in range(len(texts))]

    def _unit(self, row: Vectors) -> Vectors:
        length = float(np.linalg.norm(row.astype(np.float64)))
        if not np.isfinite(length) or length == 0:
            raise EncoderError(f"{self.model} answered with a vector of length {length}")
        return np.asarray(row / length, dtype=np.float32)


def _passing(error: Exception) -> bool:
    """Whether trying again can help: a lost connection, a busy server; not an empty account or a wrong key."""
    status = getattr(error, "status_code", None)
    if status == 429:
        return getattr(error, "code", None) != "insufficient_quota"
    return status is None or status in (408, 409) or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date; else None.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"}), retry_after({"retry-after": "soon"})
    (2.0, 0.25, None)
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / unit)
        except ValueError:
            pass
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except (ValueError, TypeError):
            return None
    return None


def shorten(texts: Sequence[str], limits: RequestLimits) -> Iterator[str]:
    """Each text, cut where even a generous estimate says that it is too long for one input."""
    for text in texts:
        yield text if count_tokens(text) <= limits.input_tokens else text[: limits.input_tokens * 3]
