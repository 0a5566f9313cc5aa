"""How often each term stands in each function, fields weighted: the matrix under `lexical`. No scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from codekb.chunks import Chunk
from codekb.words import Tokenizer, word_local, words

Read = Callable[[Chunk], str]


class _Numbers(dict[str, int]):
    """Word → its number; a new word gets the next one."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class TermCounts:
    """Counts of a tokenizer's tokens over functions.

    `matrix` has one row per term and one column per function (CSC, float64); `terms` maps a term to its
    row, `position` a chunk id to its column. Words are counted as written first and split into terms once
    per distinct word, by a product of two sparse matrices; the counts as written of unchanged chunks come
    from `reuse`.
    """

    def __init__(
        self,
        functions: Sequence[Chunk],
        text: Read,
        tokenizer: Tokenizer,
        fields: Sequence[tuple[Read, float]] = (),
        reuse: TermCounts | None = None,
    ) -> None:
        self._read = word_local(tokenizer)
        self._split: Tokenizer = words if self._read else tokenizer
        self._vocabulary: _Numbers = _Numbers(reuse._vocabulary if reuse else ())
        self._functions = functions
        self.position = {chunk.id: at for at, chunk in enumerate(functions)}
        self.written = self._count(text, fields, reuse)
        self.terms, self.matrix = self._as_terms()

    def _count(self, text: Read, fields: Sequence[tuple[Read, float]], reuse: TermCounts | None) -> sparse.csr_array:
        """One entry per word as it stands in the text and the fields, then equal ones of a function summed."""
        known = self._vocabulary
        ids: list[int] = []
        once: list[float] = []
        repeats: list[int] = []
        starts = [0]
        reads = [(text, 1.0), *fields]
        for chunk in self._functions:
            row = reuse._row(chunk) if reuse else None
            if row is not None:
                ids += row[0].tolist()
                once += row[1].tolist()
                repeats += [1] * len(row[1])
            else:
                for read, weight in reads:
                    found = self._split(read(chunk))
                    ids += map(known.__getitem__, found)
                    once.append(weight)
                    repeats.append(len(found))
            starts.append(len(ids))
        values = np.repeat(np.array(once), np.array(repeats, dtype=np.int64))
        shape = (len(starts) - 1, len(known))
        counts = sparse.csr_array((values, np.array(ids, dtype=np.int32), np.array(starts)), shape=shape)
        counts.sum_duplicates()
        return counts

    def _row(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """The counts of a chunk that is the same as in this state, else None."""
        at = self.position.get(chunk.id)
        if at is None or self._functions[at] != chunk:
            return None
        start, end = self.written.indptr[at : at + 2]
        return self.written.indices[start:end], self.written.data[start:end]

    def _as_terms(self) -> tuple[dict[str, int], sparse.csc_array]:
        terms: dict[str, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        for word, at in self._vocabulary.items():
            for term in self._read(word) if self._read else (word,):
                rows.append(at)
                columns.append(terms.setdefault(term, len(terms)))
        split = sparse.csr_array(
            (np.ones(len(rows)), (np.array(rows, np.int32), np.array(columns, np.int32))),
            shape=(len(self._vocabulary), len(terms)),
        )
        matrix = (self.written @ split).T.tocsc()
        matrix.sort_indices()
        held = np.bincount(matrix.indices, minlength=len(terms)) > 0
        if held.all():
            return terms, matrix
        kept = {term: at for at, term in enumerate(t for t, row in terms.items() if held[row])}
        return kept, matrix.tocsr()[np.flatnonzero(held)].tocsc()
