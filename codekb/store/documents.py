"""What goes into a collection and comes out of a query. The collection itself is in `collection`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.store.errors import StoreError

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One entry: `embedding` is float32 (d,); no metadata (None) is told from an empty map only in files."""

    id: str
    metadata: dict[str, str] | None = None
    embedding: Floats | None = field(default=None, repr=False)
    content: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A document in an answer; `similarity` is the cosine, in [-1, 1], higher is closer."""

    id: str
    metadata: dict[str, str] | None
    embedding: Floats = field(repr=False)
    content: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Negative:
    """What the answer shall not be like: a `text`, or an `embedding`, which wins.

    `mode` is `subtract` (query minus negative) or `filter` (drop what is closer to it than `threshold`).
    A positive threshold filters in both modes; 0 means 0.5 when filtering; below 0 the filter is off.
    """

    text: str = ""
    embedding: Sequence[float] | Floats | None = None
    mode: str = "subtract"
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """Everything a query can say, as chromem's QueryWithOptions takes it, and a least similarity."""

    text: str = ""
    embedding: Sequence[float] | Floats | None = None
    n_results: int = 10
    where: Mapping[str, Any] | None = None
    where_document: Mapping[str, Any] | None = None
    negative: Negative = field(default_factory=Negative)
    min_similarity: float | None = None


def as_vector(value: Sequence[float] | Floats | None, what: str) -> Floats:
    """A float32 vector of any length; None is the empty one. Anything else is an error that names `what`."""
    if value is None:
        return np.zeros(0, dtype=np.float32)
    try:
        with np.errstate(over="ignore"):
            vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError):
        raise StoreError(f"{what} is {value!r:.80}; give a sequence of numbers") from None
    if vector.ndim != 1:
        raise StoreError(f"{what} has shape {vector.shape}; give one vector, shape (dimension,)")
    return vector


def checked_metadata(value: Any, owner: str) -> dict[str, str] | None:
    """A copy of a metadata map; keys and values must be strings, as chromem's are."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise StoreError(f"metadata of {owner!r} is {value!r:.80}; give a map of strings, or None")
    for key, entry in value.items():
        if not isinstance(key, str) or not isinstance(entry, str):
            raise StoreError(
                f"metadata of {owner!r} has {key!r}: {entry!r} ({type(entry).__name__}); "
                f"keys and values are strings: pass {str(entry)!r}, and compare numbers with {{'$gt': 3}}"
            )
    return dict(value)
