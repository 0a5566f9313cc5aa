"""A collection in Milvus, for those who outgrow one machine: the calls of `Collection` over pymilvus.

An address ending in `.db` is a file (milvus-lite, embedded); `http://host:19530` is a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codekb.store import exact, filters, intake, search
from codekb.store.documents import Document, Negative, Result, as_vector
from codekb.store.errors import NotFoundError, StoreError
from codekb.store.filters import Where
from codekb.store.milvus_filter import expression, quoted
from codekb.store.milvus_link import FIRST_PAUSE, MAX_TEXT, Link, UnavailableError, pymilvus, to_document, to_rows

if TYPE_CHECKING:
    from codekb.encoders.base import Encoder

Floats = NDArray[np.float32]
Vector = Sequence[float] | Floats

BATCH = 500
"""Documents in one upsert: with 256 dimensions about 2 MB, far below the 64 MB that a request may have."""
MAX_RESULTS = 16_384
"""Results that Milvus gives to one search."""
FIELDS = ["id", "vector", "metadata", "has_map", "content"]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")


class MilvusCollection:
    """Documents in a Milvus collection, asked like a strict `Collection`: dimensions are checked, zero vectors
    refused, `n_results` clamped, ids and filters of `delete` joined, ties ordered by id.

    Similarities are computed again from the vectors that come back: the same bits as `Collection`'s. Filters are
    evaluated by Milvus. Every write is an upsert or a delete by id, so that a repetition after a lost answer
    changes nothing. `client` replaces the pymilvus client (for tests or special connections).
    """

    def __init__(
        self,
        name: str,
        uri: str,
        encoder: Encoder | None = None,
        *,
        token: str = "",
        client: Any = None,
        pause: float = FIRST_PAUSE,
    ) -> None:
        if not name:
            raise StoreError("collection name is empty")
        self.name, self.uri, self.encoder = name, uri, encoder
        self.table = name if _NAME.fullmatch(name) else f"c_{sha256(name.encode()).hexdigest()[:16]}"
        self._link = Link(uri, token, client, pause)
        self._dimension: int | None = self._known_dimension()

    def add(
        self,
        ids: Sequence[str],
        embeddings: Sequence[Vector | None] | Floats | None = None,
        metadatas: Sequence[Mapping[str, str] | None] | None = None,
        contents: Sequence[str] | None = None,
    ) -> None:
        """Upsert documents in batches; one whose id is there already is replaced.

        After an UnavailableError some batches may be stored: call again with the same documents.
        """
        batch = intake.batch_of_columns(ids, embeddings, metadatas, contents, self._encode)
        intake.check_strictly(batch, self._dimension)
        rows = to_rows(batch)
        self._make_table(len(batch.vectors[0]))
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            try:
                self._call("upsert", self.table, part)
            except UnavailableError as error:
                error.args = (f"{error}; {start} of {len(rows)} documents are stored, adding all again is safe",)
                raise

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
        vector = self._need_encoder().encode_query(text)
        return self.query_embedding(vector, n_results, where, where_document, min_similarity=min_similarity)

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
        """The documents closest to a vector, best first; arguments as in `Collection.query_embedding`."""
        query = as_vector(vector, "the query")
        if isinstance(negative, str):
            negative = self._need_encoder().encode_query(negative)
        told = Negative(mode=negative_mode, threshold=negative_threshold or 0.0)
        query, unwanted, threshold = search.steered(query, as_vector(negative, "the negative"), told)
        self._check(query, n_results)
        condition = expression(where, where_document)
        total = self.count()
        n = min(n_results, total)
        if not n:
            return []
        query = exact.unit(query)
        limit = min(n + exact.SLACK, total)
        while True:
            if limit > MAX_RESULTS:
                raise StoreError(f"Milvus gives at most {MAX_RESULTS} results a search, {limit} are needed")
            found = self._nearest(query, limit, condition)
            kept = [r for r in found if not (threshold > 0 and _similarity(r.embedding, unwanted) > threshold)]
            if len(found) < limit or limit == total or _settled(kept, n):
                break
            limit = min(limit * 4, total)
        kept.sort(key=lambda r: (-r.similarity, r.id))
        return [r for r in kept[:n] if min_similarity is None or r.similarity >= min_similarity]

    def _check(self, query: Floats, n_results: int) -> None:
        search.check_query(query, n_results, strict=True)
        if self._dimension is not None and len(query) != self._dimension:
            raise StoreError(f"the query has {len(query)} dimensions, the collection {self._dimension}")

    def _nearest(self, query: Floats, limit: int, condition: str) -> list[Result]:
        (hits,) = self._call(
            "search",
            self.table,
            data=[query.tolist()],
            limit=limit,
            filter=condition,
            output_fields=FIELDS,
            search_params={"metric_type": "IP"},
        )
        documents = [to_document(hit["entity"]) for hit in hits]
        return [
            Result(d.id, d.metadata, d.embedding, d.content, _similarity(d.embedding, query))
            for d in documents
            if d.embedding is not None
        ]

    def get_by_id(self, id: str) -> Document:
        """A copy of the document; raises NotFoundError where there is none."""
        if not id:
            raise StoreError("document ID is empty")
        found = list(self._select(f"id == {quoted(id)}", FIELDS))
        if not found:
            raise NotFoundError(f"document with ID '{id}' not found")
        return to_document(found[0])

    def get(self, where: Where | None = None, where_document: Where | None = None) -> list[Document]:
        """Documents that meet the filters, by id ascending."""
        found = self._select(expression(where, where_document), FIELDS)
        return sorted((to_document(row) for row in found), key=lambda d: d.id)

    def list_ids(self) -> list[str]:
        """All ids, ascending."""
        return sorted(row["id"] for row in self._select("", ["id"]))

    def count(self) -> int:
        """The number of documents."""
        if self._dimension is None:
            return 0
        told = self._call("query", self.table, filter="", output_fields=["count(*)"])
        return int(told[0]["count(*)"])

    def delete(
        self, ids: Sequence[str] | None = None, where: Where | None = None, where_document: Where | None = None
    ) -> int:
        """Forget documents that meet all that is given, and say how many; unknown ids are ignored."""
        filters.check_chosen(ids, where, where_document)
        filters.check_document_filter(where_document, "unsupported whereDocument operator")
        condition = expression(where, where_document)
        chosen = {row["id"] for row in self._select(condition, ["id"])}
        doomed = sorted(chosen & set(ids) if ids else chosen)
        for start in range(0, len(doomed), BATCH):
            part = doomed[start : start + BATCH]
            self._call("delete", self.table, ids=part)
        return len(doomed)

    def _select(self, condition: str, columns: list[str]) -> Iterator[dict[str, Any]]:
        """All matching rows, page by page in the order of ids."""
        last = ""
        while self._dimension is not None:
            after = f"id > {quoted(last)}" if last else 'id != ""'
            both = f"({condition}) and {after}" if condition else after
            page = self._call("query", self.table, filter=both, output_fields=["id"], limit=MAX_RESULTS)
            ids = sorted(row["id"] for row in page)
            if columns == ["id"]:
                yield from ({"id": key} for key in ids)
            else:
                for start in range(0, len(ids), BATCH):
                    part = ids[start : start + BATCH]
                    yield from self._call("get", self.table, ids=part, output_fields=columns)
            if len(page) < MAX_RESULTS:
                return
            last = ids[-1]

    def _known_dimension(self) -> int | None:
        if not self._call("has_collection", self.table):
            return None
        told = self._call("describe_collection", self.table)
        names = {f["name"]: f for f in told["fields"]}
        if not set(FIELDS) <= set(names):
            raise StoreError(f"the Milvus collection {self.table!r} was not made by codekb: it has {sorted(names)}")
        return int(names["vector"]["params"]["dim"])

    def _make_table(self, dimension: int) -> None:
        if self._dimension is not None:
            return
        types, client = pymilvus().DataType, pymilvus().MilvusClient
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False, description=self.name)
        schema.add_field("id", types.VARCHAR, is_primary=True, max_length=MAX_TEXT)
        schema.add_field("vector", types.FLOAT_VECTOR, dim=dimension)
        schema.add_field("metadata", types.JSON)
        schema.add_field("numbers", types.JSON)
        schema.add_field("has_map", types.BOOL)
        schema.add_field("content", types.VARCHAR, max_length=MAX_TEXT)
        index = client.prepare_index_params()
        index.add_index("vector", index_type="FLAT", metric_type="IP")
        options = {"schema": schema, "index_params": index, "consistency_level": "Strong"}
        self._call("create_collection", self.table, **options)
        self._dimension = dimension

    def _call(self, method: str, *args: Any, **options: Any) -> Any:
        return self._link.call(method, *args, **options)

    def _encode(self, texts: list[str]) -> Floats:
        return self._need_encoder().encode(texts)

    def _need_encoder(self) -> Encoder:
        if self.encoder is None:
            raise StoreError("the collection has no encoder; give vectors, or MilvusCollection(..., encoder=...)")
        return self.encoder

    def __repr__(self) -> str:
        return f"MilvusCollection({self.name!r}, {self.uri!r})"


def _similarity(one: Floats, other: Floats) -> float:
    return float(exact.similarities(one[None], other)[0])


def _settled(found: list[Result], n: int) -> bool:
    """Whether what was not fetched is certainly behind the n-th, so that no tie is missing."""
    scores = sorted((r.similarity for r in found), reverse=True)
    return len(scores) > n and scores[-1] < scores[n - 1] - 1e-5
