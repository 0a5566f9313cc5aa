"""From what a caller gives to a checked batch: chromem-go's checks in its order, vectors of length one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from codekb.store import exact
from codekb.store.documents import Document, as_vector, checked_metadata
from codekb.store.errors import StoreError
from codekb.store.rows import Batch

Floats = NDArray[np.float32]
Given = Sequence[Sequence[float] | Floats | None] | Floats

PREFIX = "couldn't add document '{}': "
"""What chromem-go puts before the error of one document among several."""


class Encode(Protocol):
    """Texts → array (n, d); raises what the encoder raises."""

    def __call__(self, texts: list[str]) -> Floats: ...


def check_not_text(name: str, given: object) -> None:
    """A text is a sequence of its letters, which nobody means."""
    if isinstance(given, str | bytes):
        raise StoreError(f"{name} is the text {given!r:.80}; give a list: [{given!r:.80}]")


def batch_of_columns(
    ids: Sequence[str],
    embeddings: Given | None,
    metadatas: Sequence[Mapping[str, str] | None] | None,
    contents: Sequence[str] | None,
    encode: Encode,
) -> Batch:
    """From parallel sequences; raises StoreError where their lengths differ or a document is incomplete."""
    check_not_text("ids", ids)
    check_not_text("contents", contents)
    n = len(ids)
    given = 0 if embeddings is None else len(embeddings)
    if n == 0:
        raise StoreError("ids are empty")
    if not given and not contents:
        raise StoreError("either embeddings or contents must be filled")
    if given not in (0, n):
        raise StoreError("ids and embeddings must have the same length")
    if metadatas and len(metadatas) != n:
        raise StoreError("when metadatas is not empty it must have the same length as ids")
    if contents and len(contents) != n:
        raise StoreError("ids and contents must have the same length")
    texts = contents or [""] * n
    vectors: Given = embeddings if embeddings is not None and given else [None] * n
    return _batch(Batch(ids, vectors, metadatas or [None] * n, texts), encode, PREFIX)  # type: ignore[arg-type]


def batch_of_documents(documents: Sequence[Document], encode: Encode, prefix: str = PREFIX) -> Batch:
    """From documents; `prefix` stands before the error of one."""
    vectors: Any = [d.embedding for d in documents]
    maps, texts = [d.metadata for d in documents], [d.content for d in documents]
    return _batch(Batch([d.id for d in documents], vectors, maps, texts), encode, prefix)


def check_strictly(batch: Batch, dimension: int | None) -> None:
    """Beyond chromem: every vector has the collection's dimension and a direction."""
    wanted = dimension or len(batch.vectors[0])
    for key, vector in zip(batch.ids, batch.vectors, strict=True):
        if len(vector) != wanted:
            has = f"its vector has {len(vector)} dimensions, the collection {wanted}"
            raise StoreError(PREFIX.format(key) + has)
        if not np.isfinite(vector).all():
            raise StoreError(PREFIX.format(key) + "its vector is zero or not finite: it has no direction")


def _batch(raw: Batch, encode: Encode, prefix: str) -> Batch:
    for key, text in zip(raw.ids, raw.contents, strict=True):
        if not isinstance(key, str) or not isinstance(text, str):
            raise StoreError(f"{prefix.format(key)}id {key!r:.80} and content {text!r:.80} must be strings")
        if not key:
            raise StoreError(prefix.format(key) + "document ID is empty")
    maps = [checked_metadata(m, key) for key, m in zip(raw.ids, raw.metadatas, strict=True)]
    return Batch(raw.ids, _vectors(raw, encode, prefix), maps, raw.contents)


def _vectors(raw: Batch, encode: Encode, prefix: str) -> Floats | list[Floats]:
    """Vectors that were given, scaled to length one; the encoder's for the others, as it made them."""
    if isinstance(raw.vectors, np.ndarray) and raw.vectors.ndim == 2 and raw.vectors.shape[1]:
        return exact.unit_rows(raw.vectors)
    given = [as_vector(e, f"embedding of {key!r}") for key, e in zip(raw.ids, raw.vectors, strict=True)]
    missing = [i for i, vector in enumerate(given) if not len(vector)]
    bare = [raw.ids[i] for i in missing if not raw.contents[i]]
    if bare:
        raise StoreError(prefix.format(bare[0]) + "either document embedding or content must be filled")
    if not missing and len({len(vector) for vector in given}) == 1:
        return exact.unit_rows(np.stack(given))
    vectors = [exact.unit(vector) for vector in given]
    if missing:
        try:
            made = np.asarray(encode([raw.contents[i] for i in missing]), dtype=np.float32)
        except Exception as error:
            head = prefix.format(raw.ids[missing[0]])
            raise StoreError(f"{head}couldn't create embedding of document: {error}") from error
        for i, vector in zip(missing, made, strict=True):
            vectors[i] = vector
    return vectors
