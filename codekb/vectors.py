"""Dense search: one vector per function in FAISS, filters before scoring, and steering of the query vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codekb.chunks import Chunk, Corpus, in_namespace
from codekb.encoders.base import Encoder, Vectors
from codekb.ranking import Hit, Ranking, wanted
from codekb.text import enrich

if TYPE_CHECKING:
    import faiss

BATCH = 2048
"""Texts an encoder gets at once: enough to keep it busy, few enough for smooth progress."""

ROUNDED = 6
"""Scores are ordered by six decimals, then by id: CPU kernels differ by up to 7e-7 in float32."""


class VectorIndex:
    """The functions of a corpus as normalised vectors. Built once; `matrix` rows stand in `corpus.functions` order.

    `text` turns a chunk into what the encoder reads. `matrix` skips the encoding where vectors are at hand:
    float32 of shape (functions, dimension).
    """

    def __init__(
        self,
        corpus: Corpus,
        encoder: Encoder,
        text: Callable[[Chunk], str] = enrich,
        *,
        matrix: Vectors | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self.functions: Sequence[Chunk] = corpus.functions
        self.encoder = encoder
        self.matrix = self._encode(text, progress) if matrix is None else matrix
        shape = (len(self.functions), encoder.dimension)
        if self.matrix.shape != shape:
            raise ValueError(
                f"vectors of shape {self.matrix.shape} came, {shape} were expected for {encoder.name}: "
                "they were made by another model or for another corpus; build the index again"
            )
        self._index: faiss.IndexFlatIP | None = None
        self._positions: dict[str, np.ndarray] = {}

    def _encode(self, text: Callable[[Chunk], str], progress: Callable[[str, int, int], None] | None) -> Vectors:
        total = len(self.functions)
        matrix = np.zeros((total, self.encoder.dimension), dtype=np.float32)
        for start in range(0, total, BATCH):
            batch = self.functions[start : start + BATCH]
            matrix[start : start + len(batch)] = self.encoder.encode([text(c) for c in batch])
            if progress:
                progress("encode", start + len(batch), total)
        return matrix

    @property
    def index(self) -> faiss.IndexFlatIP:
        """The FAISS index over `matrix`, made on first use."""
        if self._index is None:
            import faiss

            self._index = faiss.IndexFlatIP(self.encoder.dimension)
            self._index.add(np.ascontiguousarray(self.matrix))
        return self._index

    def scores(self, query: str | Vectors) -> Vectors:
        """Cosine of the question with every function: float32 of shape (functions,), in function order.

        By FAISS's own kernel on one thread: for one question, waking a second thread costs more than it brings.
        """
        vector = np.ascontiguousarray(self._vector(query))
        out = np.empty(len(self.matrix), dtype=np.float32)
        if len(out):
            import faiss

            rows, pointer = np.ascontiguousarray(self.matrix), faiss.swig_ptr
            inner_products = faiss.fvec_inner_products_ny  # type: ignore[attr-defined]
            inner_products(pointer(out), pointer(vector), pointer(rows), rows.shape[1], len(rows))
        return out

    def positions(self, namespace: str | None) -> np.ndarray | None:
        """Row numbers of the functions in a namespace (None: no filter), kept for the next query."""
        if not namespace:
            return None
        if namespace not in self._positions:
            rows = [i for i, c in enumerate(self.functions) if in_namespace(c.path, namespace)]
            self._positions[namespace] = np.array(rows, dtype=np.int64)
        return self._positions[namespace]

    def search(
        self,
        query: str | Vectors,
        k: int = 10,
        namespace: str | None = None,
        *,
        mask: NDArray[np.bool_] | None = None,
    ) -> Ranking:
        """The `k` functions of highest cosine. A namespace is a hard filter: what lies outside is never scored.

        `mask` says in function order which may be returned, instead of a namespace. Shown scores are computed again
        in float64, so that they print alike on every machine.
        """
        k = wanted(k)
        vector = self._vector(query)
        allowed = self.positions(namespace) if mask is None else np.flatnonzero(mask)
        rows = self._nearest(vector, k, allowed)
        exact = self.matrix[rows].astype(np.float64) @ vector.astype(np.float64)
        order = sorted(zip(rows, exact, strict=True), key=lambda p: (-round(p[1], ROUNDED), self.functions[p[0]].id))
        hits = [Hit(self.functions[i], float(score), {"dense": float(score)}) for i, score in order[:k]]
        return Ranking(hits, query=query if isinstance(query, str) else "", title="dense")

    def _nearest(self, vector: Vectors, k: int, rows: np.ndarray | None) -> np.ndarray:
        """Rows of the best `k` and every row tied with the last of them within rounding."""
        if rows is not None and not len(rows):
            return rows
        import faiss

        selector = faiss.IDSelectorBatch(rows) if rows is not None else None
        options = faiss.SearchParameters(sel=selector) if selector is not None else None  # type: ignore[call-arg]
        available = len(self.functions) if rows is None else len(rows)
        wanted = min(2 * k + 16, available)
        while wanted:
            scores, found = self.index.search(vector[None, :], wanted, params=options)
            full = wanted == available or scores[0, k - 1] - scores[0, -1] > 10.0**-ROUNDED
            if full:
                return np.asarray(found[0][found[0] >= 0])
            wanted = min(wanted * 4, available)
        return np.zeros(0, dtype=np.int64)

    def _vector(self, query: str | Vectors) -> Vectors:
        vector = self.encoder.encode_query(query) if isinstance(query, str) else np.asarray(query, np.float32)
        if vector.shape != (self.encoder.dimension,):
            raise ValueError(
                f"a query vector of shape {vector.shape} came, ({self.encoder.dimension},) was expected "
                f"by {self.encoder.name}"
            )
        return vector


def steer(
    encoder: Encoder,
    query: str,
    boost: Sequence[str] = (),
    suppress: Sequence[str] = (),
    strength: float = 0.3,
) -> Vectors:
    """The query vector moved towards some concepts and away from others, of length one again.

    q' = normalise(q + a · Σ boost − a · Σ suppress), with a = `strength`; concepts are encoded like questions.
    A sum of zero leaves the question as it is.
    """
    if isinstance(boost, str) or isinstance(suppress, str):
        raise TypeError("boost and suppress are lists of concepts: give ['retry'], not 'retry'")
    vector = encoder.encode_query(query).astype(np.float64)
    for sign, concepts in ((strength, boost), (-strength, suppress)):
        for concept in concepts:
            vector = vector + sign * encoder.encode_query(concept).astype(np.float64)
    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if length > 0 else encoder.encode_query(query)
