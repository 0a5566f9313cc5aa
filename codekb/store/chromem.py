"""chromem-go's files, both ways: persistent folders and exports, plain, gzip, encrypted. Gob itself is in `gob`."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from codekb.store import gob, gob_writer
from codekb.store.collection import Collection
from codekb.store.documents import Document
from codekb.store.envelope import checked_key, pack, unpack
from codekb.store.errors import DamagedError, StoreError
from codekb.store.files import read_regular, replace_folder, sync_folder, write_aside, write_new
from codekb.store.gob_writer import fields, mapping, string_map, text
from codekb.store.rows import Batch

if TYPE_CHECKING:
    from codekb.encoders.base import Encoder

METADATA_STEM = "00000000"
PLAIN, COMPRESSED = ".gob", ".gob.gz"
_DOCUMENT = gob.Struct({"ID": gob.TEXT, "Metadata": gob.Map(gob.TEXT), "Embedding": gob.FLOATS, "Content": gob.TEXT})
_META = gob.Struct({"Name": gob.TEXT, "Metadata": gob.Map(gob.TEXT)})
_COLLECTION = gob.Struct({**_META.fields, "Documents": gob.Map(_DOCUMENT)})
_DATABASE = gob.Struct({"Collections": gob.Map(_COLLECTION)})


def read(
    path: str | os.PathLike[str], key: str | bytes | None = None, *, encoder: Encoder | None = None
) -> dict[str, Collection]:
    """The collections of a persistent folder or an export file, by name; gzip is recognised, `key` decrypts.

    Vectors are taken bit by bit. Raises StoreError for anything that is damaged, the wrong key, a folder
    without a database; symbolic links inside a folder are refused.
    """
    if not os.fspath(path):
        raise StoreError("file path is empty")
    secret = checked_key(key)
    source = Path(path)
    if not source.exists():
        raise StoreError(f"file doesn't exist: {source}")
    if source.is_dir():
        if secret:
            raise StoreError(f"{source} is a folder, which chromem-go cannot encrypt; read it without a key")
        return _read_folder(source, encoder)
    try:
        database = gob.decode(unpack(read_regular(source), secret), _DATABASE)
    except DamagedError as error:
        raise DamagedError(f"couldn't read file: {_decoding(error, secret is None)} ({source.name})") from None
    found = database.get("Collections", {})
    return {name: _collection(name, told, encoder) for name, told in found.items()}


def write(
    collections: Collection | Iterable[Collection] | Mapping[str, Collection],
    path: str | os.PathLike[str],
    *,
    folder: bool = False,
    compress: bool = False,
    key: str | bytes | None = None,
) -> None:
    """Write an export file, or with `folder` a persistent folder, for chromem-go to open.

    Everything is written aside and renamed: a crash leaves the old files or the new ones. An existing folder
    is replaced whole, and only if it holds nothing but a chromem database.
    """
    if not os.fspath(path):
        raise StoreError("file path is empty")
    secret = checked_key(key)
    target = Path(path)
    chosen = _by_name(collections)
    if folder:
        if secret:
            raise StoreError("chromem-go cannot encrypt a folder; leave out the key, or write an export file")
        _write_folder(chosen, target, compress)
        return
    if target.is_dir():
        raise StoreError(f"path is a directory: {target}; pass folder=True to write a persistent folder")
    body = fields([(0, mapping({c.name: _encoded(c) for c in chosen}) if chosen else None)])
    data = gob_writer.DATABASE_TYPES + gob_writer.value(gob_writer.DATABASE, body)
    write_aside(target, pack(data, compress=compress, secret=secret))


def file_stem(name: str) -> str:
    """The file or folder name of an id or a collection: four bytes of its SHA-256.

    >>> file_stem("functions")
    'ef7d009c'
    """
    return sha256(name.encode("utf-8", gob.SURROGATES)).hexdigest()[:8]


# Reading


def _read_folder(source: Path, encoder: Encoder | None) -> dict[str, Collection]:
    found: dict[str, Collection] = {}
    for inner in sorted(entry for entry in source.iterdir() if entry.is_dir()):
        if inner.is_symlink():
            raise StoreError(f"{inner.name} in {source} is a symbolic link; links are not followed")
        collection = _read_collection(inner, encoder)
        if collection is None:
            continue
        if collection.name in found:
            raise DamagedError(f"two folders in {source} hold a collection {collection.name!r}")
        found[collection.name] = collection
    if not found and any(source.iterdir()):
        raise StoreError(f"no chromem database in {source}: no folder in it holds {METADATA_STEM}.gob or .gob.gz")
    return found


def _read_collection(folder: Path, encoder: Encoder | None) -> Collection | None:
    names = sorted(entry.name for entry in folder.iterdir() if not entry.is_dir())
    endings = [e for e in (PLAIN, COMPRESSED) if any(name.endswith(e) for name in names)]
    if not endings:
        return None
    if len(endings) == 2:
        raise StoreError(
            f"{folder} holds both {PLAIN} and {COMPRESSED} files (opened once with the wrong compression?); "
            "keep one kind, move the other away"
        )
    meta = METADATA_STEM + endings[0]
    if meta not in names:
        raise DamagedError(f"collection metadata file not found: {folder}")
    told = _read_file(folder / meta, _META, "couldn't read collection metadata")
    documents: dict[str, Any] = {}
    for name in names:
        if name.endswith(endings[0]) and name != meta:
            document = _read_file(folder / name, _DOCUMENT, "couldn't read document")
            if document.get("ID", "") in documents:
                raise DamagedError(f"{folder / name}: the id {document.get('ID')!r} has a second file")
            documents[document.get("ID", "")] = document
    return _collection(told.get("Name", ""), {**told, "Documents": documents}, encoder)


def _read_file(path: Path, shape: gob.Struct, what: str) -> dict[str, Any]:
    try:
        return gob.decode(unpack(read_regular(path), None), shape)
    except DamagedError as error:
        raise DamagedError(f"{what}: {_decoding(error, False)} ({path})") from None


def _decoding(error: DamagedError, maybe_encrypted: bool) -> str:
    if not isinstance(error, gob.GobError):
        return str(error)
    hint = "; is it encrypted? then give its key" if maybe_encrypted else ""
    return f"couldn't decode object: {error}{hint}"


def _collection(name: str, told: Mapping[str, Any], encoder: Encoder | None) -> Collection:
    if not name or told.get("Name", "") != name:
        raise DamagedError(f"a collection named {told.get('Name', '')!r} is stored under {name!r}")
    collection = Collection(name, told.get("Metadata"), encoder)
    documents = told.get("Documents", {})
    for key, document in documents.items():
        if not key or document.get("ID", "") != key:
            raise DamagedError(f"a document {document.get('ID', '')!r} is stored under the id {key!r}")
    if documents:
        given = documents.values()
        empty = np.zeros(0, dtype=np.float32)
        vectors = [d.get("Embedding", empty) for d in given]
        maps = [d.get("Metadata") for d in given]
        collection.rows.put(Batch(list(documents), vectors, maps, [d.get("Content", "") for d in given]))
    return collection


# Writing


def _by_name(collections: Any) -> list[Collection]:
    if isinstance(collections, Collection):
        return [collections]
    given = list(collections.values()) if isinstance(collections, Mapping) else list(collections)
    names = [c.name for c in given]
    if len(set(names)) != len(names):
        raise StoreError(f"two collections have one name among {names}; chromem-go would keep one of them")
    return given


def _encoded(collection: Collection) -> bytes:
    rows = collection.rows
    documents = {rows.ids[row]: _document(rows.document(row)) for row in range(len(rows))}
    return fields(
        [
            (0, text(collection.name)),
            (1, string_map(collection.metadata)),
            (2, mapping(documents)),
        ]
    )


def _document(document: Document) -> bytes:
    vector = document.embedding
    return fields(
        [
            (0, text(document.id)),
            (1, string_map(document.metadata)),
            (2, gob_writer.floats(vector) if vector is not None and len(vector) else None),
            (3, text(document.content) if document.content else None),
        ]
    )


def _write_folder(collections: list[Collection], target: Path, compress: bool) -> None:
    if target.exists():
        _check_replaceable(target)
    stems = {file_stem(c.name): c for c in collections}
    if len(stems) != len(collections):
        raise StoreError("two collection names share one folder name (32-bit hash); write an export file instead")
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.parent / f".{target.name}.{secrets.token_hex(4)}.tmp"
    aside.mkdir(mode=0o700)
    try:
        for stem, collection in stems.items():
            _write_collection(collection, aside / stem, compress)
        sync_folder(aside)
        replace_folder(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _check_replaceable(target: Path) -> None:
    if not target.is_dir():
        raise StoreError(f"{target} is a file; a persistent folder cannot be written over it")
    foreign = [
        entry.name
        for entry in target.rglob("*")
        if entry.is_symlink() or not (entry.is_dir() or entry.name.endswith((PLAIN, COMPRESSED)))
    ]
    if foreign:
        raise StoreError(f"{target} holds what is no chromem file ({foreign[0]!r}), which replacing would lose")


def _write_collection(collection: Collection, folder: Path, compress: bool) -> None:
    folder.mkdir(mode=0o700)
    ending = COMPRESSED if compress else PLAIN
    meta = fields([(0, text(collection.name)), (1, string_map(collection.metadata))])
    files = {METADATA_STEM: gob_writer.META_TYPES + gob_writer.value(gob_writer.META, meta)}
    owner = {METADATA_STEM: "the collection's metadata"}
    for row, key in enumerate(collection.rows.ids):
        stem = file_stem(key)
        if stem in files:
            raise StoreError(
                f"{key!r} and {owner[stem]!r} share the file name {stem} (32-bit hash), of which chromem-go "
                "keeps one; write an export file instead, or change one id"
            )
        body = _document(collection.rows.document(row))
        files[stem] = gob_writer.DOCUMENT_TYPES + gob_writer.value(gob_writer.DOCUMENT, body)
        owner[stem] = key
    for stem, data in files.items():
        write_new(folder / (stem + ending), pack(data, compress=compress, secret=None))
    sync_folder(folder)
