"""A collection of documents with chromem-go's semantics, over FAISS. Its files are elsewhere."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codekb.store import exact, filters, intake, packing, search
from codekb.store.documents import Document, Negative, QueryOptions, Result, as_vector, checked_metadata
from codekb.store.errors import NotFoundError, StoreError
from codekb.store.filters import Selection, Where
from codekb.store.rows import FLAT, Batch, Rows

if TYPE_CHECKING:
    from codekb.encoders.base import Encoder

Floats = NDArray[np.float32]
Vector = Sequence[float] | Floats

KEPT_SELECTIONS = 32
"""Prepared filters kept until the next change: each costs at most ten bytes a document."""


class Collection:
    """Documents with ids, vectors, metadata and texts; answers are ordered by (-similarity, id).

    Checks, their order and their texts are chromem-go's. `strict=True` refuses what chromem lets pass:
    vectors of another dimension and zero vectors are errors, `n_results` is clamped to the count, and
    `delete` joins ids with filters instead of ignoring them (an empty filter is no filter).
    `factory` is a FAISS factory string, `tune` its search options (`nprobe=16`, `efSearch=64`); every factory
    but Flat is approximate, keeps tombstones of deleted rows and builds anew once they pile up.
    One instance may be used from several threads: calls wait for each other.
    """

    def __init__(
        self,
        name: str,
        metadata: Mapping[str, str] | None = None,
        encoder: Encoder | None = None,
        *,
        factory: str = FLAT,
        tune: str = "",
        strict: bool = False,
    ) -> None:
        if not name:
            raise StoreError("collection name is empty")
        self.name = name
        self.metadata = checked_metadata(metadata, name) or {}
        self.encoder = encoder
        self.strict = strict
        self.rows = Rows(factory, tune)
        self.saved_as: tuple[str, str] | None = None
        self._lock = threading.RLock()
        self._selections: OrderedDict[str, Selection] = OrderedDict()

    def add(
        self,
        ids: Sequence[str],
        embeddings: Sequence[Vector | None] | Floats | None = None,
        metadatas: Sequence[Mapping[str, str] | None] | None = None,
        contents: Sequence[str] | None = None,
    ) -> None:
        """Add documents, all or none; one whose id is there already is replaced.

        A document without an embedding gets the encoder's for its content.
        """
        self._put(intake.batch_of_columns(ids, embeddings, metadatas, contents, self._encode))

    def add_documents(self, documents: Iterable[Document]) -> None:
        """`add`, from documents."""
        given = list(documents)
        if not given:
            raise StoreError("documents slice is nil or empty")
        self._put(intake.batch_of_documents(given, self._encode))

    def add_document(self, document: Document) -> None:
        """`add`, one document; its errors are not prefixed with its id."""
        self._put(intake.batch_of_documents([document], self._encode, prefix=""))

    def _put(self, batch: Batch) -> None:
        with self._lock:
            if self.strict:
                intake.check_strictly(batch, self.rows.dimension)
            self.rows.put(batch)
            self._selections.clear()

    def query(
        self,
        text: str,
        n_results: int = 10,
        where: Where | None = None,
        where_document: Where | None = None,
        *,
        min_similarity: float | None = None,
    ) -> list[Result]:
        """The documents closest to a text, which the collection's encoder embeds."""
        if not text:
            raise StoreError("queryText is empty")
        options = QueryOptions(text, None, n_results, where, where_document, Negative(), min_similarity)
        return self._search(options, self._encode_query(text, "query"))

    def query_embedding(
        self,
        vector: Vector,
        n_results: int = 10,
        where: Where | None = None,
        where_document: Where | None = None,
        negative: str | Vector | None = None,
        negative_mode: str = search.SUBTRACT,
        negative_threshold: float | None = None,
        *,
        min_similarity: float | None = None,
    ) -> list[Result]:
        """The documents closest to a vector, best first; `where` filters metadata, `where_document` the text.

        The operators are in `filters`; what the three negative options mean is said at `Negative`.
        """
        unwanted = Negative(mode=negative_mode, threshold=negative_threshold or 0.0)
        told = {"text": negative} if isinstance(negative, str) else {"embedding": negative}
        unwanted = replace(unwanted, **told)
        options = QueryOptions("", None, n_results, where, where_document, unwanted, min_similarity)
        return self._search(options, as_vector(vector, "the query"))

    def query_with_options(self, options: QueryOptions) -> list[Result]:
        """chromem's QueryWithOptions: by text or by vector (which wins), with everything a query can say."""
        vector = as_vector(options.embedding, "the query")
        if not options.text and not len(vector):
            raise StoreError("QueryText and QueryEmbedding options are empty")
        return self._search(options, vector if len(vector) else self._encode_query(options.text, "query"))

    def get_by_id(self, id: str) -> Document:
        """A copy of the document; raises NotFoundError where there is none."""
        if not id:
            raise StoreError("document ID is empty")
        with self._lock:
            row = self.rows.row_of.get(id)
            if row is None:
                raise NotFoundError(f"document with ID '{id}' not found")
            return self.rows.document(row)

    def get(
        self,
        where: Where | None = None,
        where_document: Where | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Document]:
        """Documents that meet the filters, by id ascending: listing by metadata, without a query."""
        filters.check_document_filter(where_document, "unsupported operator")
        with self._lock:
            selection = self._selection(where, where_document)
            rows = range(len(self)) if selection is None else selection.rows.tolist()
            chosen = sorted(rows, key=self.rows.ids.__getitem__)[offset:][:limit]
            return [self.rows.document(row) for row in chosen]

    def list_ids(self) -> list[str]:
        """All ids, ascending."""
        with self._lock:
            return sorted(self.rows.ids)

    def __len__(self) -> int:
        return len(self.rows)

    count = __len__

    def delete(
        self,
        ids: Sequence[str] | None = None,
        where: Where | None = None,
        where_document: Where | None = None,
    ) -> int:
        """Forget documents, and say how many; unknown ids are ignored.

        As in chromem-go, ids are ignored as soon as a filter is given, and an empty but given filter (`{}`)
        beside ids means every document. `strict` collections join ids and filters and ignore empty ones.
        """
        intake.check_not_text("ids", ids)
        filters.check_chosen(ids, where, where_document)
        with self._lock:
            if not len(self):
                return 0
            filters.check_document_filter(where_document, "unsupported whereDocument operator")
            rows = self._doomed(ids, where, where_document)
            if len(rows):
                self.rows.remove(rows)
                self._selections.clear()
            return len(rows)

    def _doomed(self, ids: Sequence[str] | None, where: Where | None, document: Where | None) -> NDArray[np.int64]:
        filtered = bool(where or document) if self.strict else where is not None or document is not None
        named = [self.rows.row_of[key] for key in dict.fromkeys(ids or ()) if key in self.rows.row_of]
        if not filtered:
            return np.array(sorted(named), dtype=np.int64)
        selection = self._selection(where, document)
        chosen = np.arange(len(self)) if selection is None else selection.rows
        return np.intersect1d(chosen, named).astype(np.int64) if self.strict and ids else chosen

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything in a folder, crash-safe. ChangedError: someone else saved it since it was opened here."""
        with self._lock:
            packing.save_collection(self, path)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        encoder: Encoder | None = None,
        *,
        verify: bool = True,
        trust_index: bool = False,
    ) -> Collection:
        """A saved collection; its vectors stay on disk, mapped, and are read as queries touch them.

        `verify=False` skips the checksums, which read every byte once. An approximate index is built anew on
        the first query, unless `trust_index`: FAISS's own files are not safe to read from strangers.
        """
        return packing.open_collection(cls, path, encoder, verify=verify, trust_index=trust_index)

    def _search(self, options: QueryOptions, query: Floats) -> list[Result]:
        unwanted = as_vector(options.negative.embedding, "the negative")
        if not len(unwanted) and options.negative.text:
            unwanted = self._encode_query(options.negative.text, "negative")
        query, unwanted, threshold = search.steered(query, unwanted, options.negative)
        with self._lock:
            n = self._checked_count(query, options.n_results)
            filters.check_document_filter(options.where_document, "unsupported operator")
            selection = self._selection(options.where, options.where_document)
            if not len(self) or (selection is not None and not len(selection.rows)):
                return []
            query = exact.unit(query)
            search.check_lengths(self.rows, len(query), selection, "similarity")
            if threshold > 0:
                search.check_lengths(self.rows, len(unwanted), selection, "negative similarity")
                selection = search.unlike(self.rows, unwanted, threshold, selection)
            found = search.ranked(self.rows, query, n, selection)
            least = options.min_similarity
            return [self._result(row, value) for row, value in found if least is None or value >= least]

    def _checked_count(self, query: Floats, n: int) -> int:
        search.check_query(query, n, strict=self.strict)
        if n > len(self) and not self.strict:
            raise StoreError("nResults must be <= the number of documents in the collection")
        return min(n, len(self))

    def _selection(self, where: Where | None, where_document: Where | None) -> Selection | None:
        """The prepared filter, kept for the next query; None where nothing is filtered."""
        if not where and not where_document:
            return None
        key = filters.filter_key(where, where_document)
        if key not in self._selections:
            mask = filters.metadata_mask(self.rows.columns, where)
            if where_document:
                mask = mask & filters.document_mask(self.rows.contents, where_document)
            self._selections[key] = Selection.of(mask)
            if len(self._selections) > KEPT_SELECTIONS:
                self._selections.popitem(last=False)
        self._selections.move_to_end(key)
        return self._selections[key]

    def _result(self, row: int, similarity: float) -> Result:
        rows = self.rows
        return Result(rows.ids[row], rows.columns[row], rows.vector(row), rows.contents[row], similarity)

    def _encode(self, texts: list[str]) -> Floats:
        return self._need_encoder().encode(texts)

    def _encode_query(self, text: str, what: str) -> Floats:
        try:
            return as_vector(self._need_encoder().encode_query(text), what)
        except Exception as error:
            raise StoreError(f"couldn't create embedding of {what}: {error}") from error

    def _need_encoder(self) -> Encoder:
        if self.encoder is None:
            raise StoreError("the collection has no encoder; give vectors, or Collection(..., encoder=...)")
        return self.encoder

    def __repr__(self) -> str:
        size = f"{len(self)} documents, {self.rows.dimension} dimensions"
        return f"Collection({self.name!r}, {size}, {self.rows.factory})"
