"""A collection as named arrays and JSON, and back: how it is saved in a folder. The folder itself is `folder`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codekb.store.approximate import Approximate
from codekb.store.arrays import Growing, Strings
from codekb.store.columns import MISSING, Column
from codekb.store.errors import DamagedError, StoreError
from codekb.store.folder import LOCK_WAIT, Opened, Part, open_folder, save, to_json
from codekb.store.rows import FLAT, Rows

if TYPE_CHECKING:
    from codekb.store.collection import Collection

KIND = "collection"


def save_collection(collection: Collection, path: str | os.PathLike[str], wait: float = LOCK_WAIT) -> None:
    """Save rows, metadata and options; an approximate index is saved too."""
    rows = collection.rows
    about = {
        "name": collection.name,
        "metadata": collection.metadata,
        "encoder": collection.encoder.name if collection.encoder is not None else None,
        "factory": rows.factory,
        "tune": rows.tune,
        "strict": collection.strict,
        "documents": len(rows),
        "dimension": rows.dimension,
    }
    home = os.path.realpath(path)
    expected = collection.saved_as[1] if collection.saved_as and collection.saved_as[0] == home else None
    generation = save(path, KIND, about, to_parts(rows), expected=expected, wait=wait)
    collection.saved_as = (home, generation)


def to_parts(rows: Rows) -> dict[str, Part]:
    """Everything that `from_parts` needs."""
    parts: dict[str, Part] = {}
    for name, strings in (("ids", rows.ids), ("contents", rows.contents)):
        parts[name], parts[f"{name}-ends"] = strings.to_arrays()
    columns = rows.columns
    vocabularies = []
    for number, (key, column) in enumerate(columns.columns.items()):
        codes, values = _compacted(column)
        parts[f"codes-{number}"] = codes
        vocabularies.append([key, values])
    parts["columns"] = to_json(vocabularies)
    parts["has-map"] = columns.has_map.view
    odd = sorted(rows.odd)
    parts["odd"] = to_json([[row, len(rows.odd[row])] for row in odd])
    parts["odd-vectors"] = np.concatenate([np.zeros(0, np.float32), *(rows.odd[row] for row in odd)])
    if rows.vectors is not None:
        parts["vectors"] = rows.vectors.view
        if rows.factory != FLAT and len(rows):
            if rows.index is not None and rows.index.to_bytes() is None:
                rows.index = None
            built = rows.built_index().to_bytes()
            assert built is not None, "an index just built has no tombstones"
            parts["faiss"] = np.frombuffer(built, dtype=np.uint8)
    return parts


def _compacted(column: Column) -> tuple[NDArray[np.int32], list[str]]:
    """Codes and values without the values that no row has any more."""
    codes = column.codes.view
    used = np.unique(codes[codes != MISSING])
    if len(used) == len(column.values):
        return codes, column.values
    renumbered = np.full(len(column.values) + 1, MISSING, dtype=np.int32)
    renumbered[used] = np.arange(len(used))
    return renumbered[codes], [column.values[code] for code in used]


def open_collection(
    collection_class: type[Collection],
    path: str | os.PathLike[str],
    encoder: Any,
    *,
    verify: bool,
    trust_index: bool,
) -> Collection:
    """A collection as it was saved. See `Collection.open`."""
    opened = open_folder(path, KIND, verify=verify)
    about = opened.about
    made_by = about.get("encoder")
    if encoder is not None and made_by not in (None, encoder.name):
        raise StoreError(f"{os.fspath(path)} holds vectors of {made_by!r}; those of {encoder.name!r} do not compare")
    try:
        collection = collection_class(
            about["name"],
            about["metadata"],
            encoder,
            factory=about["factory"],
            tune=about["tune"],
            strict=about["strict"],
        )
        collection.rows = from_parts(opened, about["factory"], about["tune"], trust_index)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, StoreError):
            raise
        raise DamagedError(f"{os.fspath(path)} holds no whole collection ({error!r:.120}); save it again") from None
    collection.saved_as = (os.path.realpath(path), opened.generation)
    return collection


def from_parts(opened: Opened, factory: str, tune: str, trust_index: bool = False) -> Rows:
    """Rows over the arrays of a folder; large ones stay on disk until they are changed."""
    rows = Rows(factory, tune)
    rows.ids = Strings.from_arrays(opened.array("ids"), opened.array("ids-ends"))
    rows.contents = Strings.from_arrays(opened.array("contents"), opened.array("contents-ends"))
    n = len(rows.ids)
    rows.columns.has_map = Growing(_checked(opened.array("has-map"), np.uint8, n))
    for number, (key, values) in enumerate(opened.json("columns")):
        codes = _checked(opened.array(f"codes-{number}"), np.int32, n)
        if n and not (int(codes.min()) >= MISSING and int(codes.max()) < len(values)):
            raise DamagedError(f"the codes of metadata key {key!r} point outside its values")
        rows.columns.columns[key] = Column(Growing(codes), values, {value: i for i, value in enumerate(values)})
    if "vectors" in opened.arrays:
        vectors = opened.array("vectors")
        if vectors.ndim != 2 or vectors.dtype != np.float32 or len(vectors) != n or not vectors.shape[1]:
            raise DamagedError(f"vectors of shape {vectors.shape} and type {vectors.dtype} for {n} documents")
        rows.vectors = Growing(vectors)
    start, flat = 0, opened.array("odd-vectors").astype(np.float32)
    for row, size in opened.json("odd"):
        if not 0 <= row < n or size < 0 or start + size > len(flat):
            raise DamagedError("the vectors of other dimensions do not fit their list")
        rows.odd[row] = flat[start : start + size]
        start += size
    if rows.vectors is None and n:
        raise DamagedError("documents without vectors")
    if len(rows.contents) != n:
        raise DamagedError(f"{len(rows.contents)} texts for {n} ids")
    if trust_index and "faiss" in opened.arrays:
        rows.index = Approximate.restored(factory, tune, opened.array("faiss").tobytes(), n)
    return rows


def _checked(array: NDArray[Any], dtype: Any, n: int) -> NDArray[Any]:
    if array.dtype != dtype or array.shape != (n,):
        raise DamagedError(f"an array of shape {array.shape} and type {array.dtype} for {n} documents")
    return array
