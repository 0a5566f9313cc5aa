"""The embedded encoder: a trained table of word-piece vectors, numpy and scipy only. Training is in `training/`."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from codekb.encoders import weights
from codekb.encoders.base import Vectors
from codekb.encoders.pieces import Fields, Vocabulary, fields
from codekb.words import words

WEIGHTS = Path(__file__).with_name("static.bin")
FIELDS = len(Fields._fields)
BATCH = 1024
"""Texts encoded at a time: bounds the memory for their dense rows."""


class StaticEncoder:
    """Sums trained vectors of the word pieces of a text, weighted by piece and field; works offline, at once.

    A document is split into name, place, documentation and body (`codekb.encoders.pieces.fields`); each piece counts
    log(1 + occurrences) times its learned weight in that field. Questions have piece weights of their own.
    The same text gives the same vector to 1e-6 on every machine. Raises `WeightsError` for a damaged weight file.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._model = _load(Path(path) if path is not None else WEIGHTS)

    @property
    def name(self) -> str:
        """`codekb-static-` and the hash of the weight file."""
        return f"codekb-static-{self._model.digest}"

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._model.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Documents → float32 array (len(texts), dimension), rows of length one (zero where no word is known)."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one string; use encode_query or encode([text])")
        result = np.empty((len(texts), self.dimension), dtype=np.float32)
        for first in range(0, len(texts), BATCH):
            result[first : first + BATCH] = self._model.documents(texts[first : first + BATCH])
        return result

    def encode_query(self, text: str) -> Vectors:
        """One question → float32 array (dimension,)."""
        return self._model.query(text)

    def __repr__(self) -> str:
        return f"StaticEncoder({self.name}, dimension={self.dimension})"


class _Model:
    """The loaded table and the cache word → rows, shared by all encoders of one file."""

    def __init__(self, path: Path) -> None:
        arrays, facts, self.digest = weights.read(path)
        self.table, self.scale = arrays["table"], arrays["scale"]
        self.query_weight = arrays["query_weight"].astype(np.float32)
        self.field_weight = arrays["field_weight"].astype(np.float32)
        known = bytes(arrays["vocabulary"]).decode("utf-8").split("\n")
        self.vocabulary = Vocabulary(known, buckets=facts["buckets"])
        if self.vocabulary.size != len(self.table):
            raise weights.WeightsError(
                f"{path}: {len(self.table)} vectors for {self.vocabulary.size} pieces; reinstall codekb"
            )
        self.dimension = 2 * int(self.table.shape[1])
        self._words = _Words(self.vocabulary)

    def documents(self, texts: Sequence[str]) -> Vectors:
        counts = self._counts([content for text in texts for content in fields(text)])
        number = np.repeat(np.tile(np.arange(FIELDS), len(texts)), np.diff(counts.indptr))
        values = np.log1p(counts.data) * self.field_weight[number, counts.indices]
        shape = (len(texts), self.vocabulary.size)
        return self._dense(sparse.csr_matrix((values, counts.indices, counts.indptr[::FIELDS]), shape=shape))

    def query(self, text: str) -> Vectors:
        rows, counts = np.unique(np.array(self.vocabulary.query(text), dtype=np.int64), return_counts=True)
        values = np.log1p(counts) * self.query_weight[rows]
        matrix = sparse.csr_matrix((values, rows, [0, len(rows)]), shape=(1, self.vocabulary.size))
        vector: Vectors = self._dense(matrix)[0]
        return vector

    def _counts(self, contents: Sequence[str]) -> Any:
        """Contents → sparse (len(contents), pieces) of occurrences."""
        numbers: list[int] = []
        ends = [0]
        for content in contents:
            numbers += map(self._words.__getitem__, words(content))
            ends.append(len(numbers))
        columns = np.array(numbers, dtype=np.int32)
        shape = (len(contents), len(self._words))
        used = sparse.csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=shape)
        starts, rows = np.array(self._words.starts), np.array(self._words.rows)
        pieces = (np.ones(len(rows), np.float32), rows, starts)
        return used @ sparse.csr_matrix(pieces, shape=(len(self._words), self.vocabulary.size))

    def _dense(self, values: Any) -> Vectors:
        """Weighted piece values (sparse) → vectors of length one, summed in float64."""
        present = np.zeros(self.vocabulary.size, dtype=bool)
        present[values.indices] = True
        used = np.flatnonzero(present)
        columns = (np.cumsum(present) - 1)[values.indices]
        table = weights.unpacked(self.table[used]) * self.scale[used, None]
        compact = sparse.csr_matrix((values.data, columns, values.indptr), shape=(values.shape[0], len(used)))
        vectors: NDArray[np.float64] = compact @ table
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(length == 0, 1, length)).astype(np.float32)


class _Words(dict[str, int]):
    """Word → its number; a new word gets the next one, and its table rows are kept once: `rows[starts[n]:]`."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.starts, self.rows = array("q", [0]), array("i")

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self.rows.extend(self.vocabulary.word(word))
        self.starts.append(len(self.rows))
        return number


@functools.lru_cache(maxsize=4)
def _load(path: Path) -> _Model:
    return _Model(path)
