"""chromem: every fixture file read, written and read back by another reader; damaged files give one clear error."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gob_peek import peek
from hypothesis import given, settings
from hypothesis import strategies as st

import codekb
from codekb import Collection, chromem
from codekb.store import envelope, gob, gob_writer
from codekb.store.chromem import file_stem
from codekb.store.errors import DamagedError, StoreError

FIXTURE = Path(__file__).parent / "data" / "chromem"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
KEY = EXPECTED["encryption_key"]
SOURCES = {
    "db-plain": None,
    "db-gzip": None,
    "export.gob": None,
    "export.gob.gz": None,
    "export.gob.enc": KEY,
    "export.gob.gz.enc": KEY,
    "export-functions-only.gob": None,
    "export-other-type-ids.gob": None,
}
DAMAGED_INPUTS = int(os.environ.get("CODEKB_DAMAGED_INPUTS", "600"))
"""Mutations per run; 10,000 with the environment variable."""


def plain_bytes(path: Path, key: str | None) -> bytes:
    """Unwrapped without the package under test."""
    data = path.read_bytes()
    if key:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        data = AESGCM(key.encode()).decrypt(data[:12], data[12:], None)
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def peeked(path: Path, key: str | None = None) -> dict:
    """All collections of a folder or file by the tests' own reader: name → (metadata, id → document)."""
    if path.is_dir():
        found = {}
        for folder in path.iterdir():
            (meta,) = folder.glob("00000000.*")
            documents = [peek(plain_bytes(f, key)) for f in folder.iterdir() if f != meta]
            told = peek(plain_bytes(meta, key))
            found[told["Name"]] = (told["Metadata"], {d["ID"]: d for d in documents})
        return found
    told = peek(plain_bytes(path, key))["Collections"]
    return {name: (c["Metadata"], c["Documents"]) for name, c in told.items()}


@pytest.mark.parametrize("source", SOURCES)
def test_every_fixture_file_holds_what_chromem_says(source):
    found = chromem.read(FIXTURE / source, SOURCES[source])
    wanted = [c for c in EXPECTED["collections"] if "only" not in source or c["name"] == "functions"]
    assert sorted(found) == sorted(c["name"] for c in wanted)
    for told in wanted:
        collection = found[told["name"]]
        assert (collection.name, collection.metadata) == (told["name"], told["metadata"])
        assert collection.list_ids() == sorted(d["id"] for d in told["documents"])
        for wanted_document in told["documents"]:
            document = collection.get_by_id(wanted_document["id"])
            assert document.metadata == wanted_document["metadata"]
            assert document.content == wanted_document["content"]
            bits = [f"{x:08x}" for x in document.embedding.view(np.uint32)]
            assert bits == wanted_document["embedding_bits"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    ("folder", "key"), [(False, None), (False, KEY), (True, None)], ids=["file", "secret", "folder"]
)
def test_what_was_read_is_written_and_read_back_equal_by_another_reader(source, compress, key, folder, tmp_path):
    collections = chromem.read(FIXTURE / source, SOURCES[source])
    chromem.write(collections, tmp_path / "out", folder=folder, compress=compress, key=key)
    assert peeked(tmp_path / "out", key) == peeked(FIXTURE / source, SOURCES[source])
    again = chromem.read(tmp_path / "out", key)
    assert {n: c.list_ids() for n, c in again.items()} == {n: c.list_ids() for n, c in collections.items()}


@pytest.mark.parametrize("source", ["db-plain", "db-gzip"])
def test_files_with_at_most_one_metadata_key_are_byte_identical(source, tmp_path):
    chromem.write(chromem.read(FIXTURE / source), tmp_path / "db", folder=True, compress=source == "db-gzip")
    names = sorted(str(f.relative_to(FIXTURE / source)) for f in (FIXTURE / source).rglob("*.gob*"))
    assert names == sorted(str(f.relative_to(tmp_path / "db")) for f in (tmp_path / "db").rglob("*.gob*"))
    compared = 0
    for name in names:
        theirs, ours = (plain_bytes(root / name, None) for root in (FIXTURE / source, tmp_path / "db"))
        assert len(ours) == len(theirs)
        if len(peek(theirs)["Metadata"] or ()) <= 1:
            assert ours == theirs
            compared += 1
    assert compared >= 4


def test_writing_is_deterministic(tmp_path):
    collections = chromem.read(FIXTURE / "export-other-type-ids.gob")
    chromem.write(collections, tmp_path / "a")
    chromem.write(dict(reversed(list(collections.items()))), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_one_collection_a_list_or_a_map_can_be_written(tmp_path):
    (functions,) = chromem.read(FIXTURE / "export-functions-only.gob").values()
    for given_collections in (functions, [functions], {"any": functions}, []):
        chromem.write(given_collections, tmp_path / "x")
        assert list(chromem.read(tmp_path / "x")) == ([] if given_collections == [] else ["functions"])


def test_a_collection_made_here_keeps_everything(tmp_path):
    collection = Collection("mine", {"a": "1", "": "empty key"})
    values = np.float32([[0, 1, 2], [1e-30, -1e-7, 3e38], [127, 128, 129]])
    collection.add(["x", "y\udcff", "z"], values, [None, {}, {"k": "\x00"}], ["", "\u20ac" * 100, "t" * 200])
    for folder in (False, True):
        chromem.write(collection, tmp_path / f"out{folder}", folder=folder)
        (again,) = chromem.read(tmp_path / f"out{folder}").values()
        assert again.metadata == collection.metadata
        for key in collection.list_ids():
            one, other = collection.get_by_id(key), again.get_by_id(key)
            assert (one.metadata, one.content) == (other.metadata, other.content)
            assert np.array_equal(one.embedding, other.embedding)


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20), st.text(max_size=20), st.integers(0, 2**64 - 1))
@settings(max_examples=200, deadline=None)
def test_encoded_values_are_what_both_readers_read(numbers, string, unsigned):
    vector = np.array(numbers, dtype=np.float32)
    body = gob_writer.fields(
        [(0, gob_writer.text(string) if string else None), (2, gob_writer.floats(vector) if numbers else None)]
    )
    data = gob_writer.DOCUMENT_TYPES + gob_writer.value(gob_writer.DOCUMENT, body)
    told = peek(data)
    assert told["ID"] == (string or None)
    assert np.array_equal(np.array(told["Embedding"] or [], dtype=np.float32), vector)
    shape = gob.Struct({"ID": gob.TEXT, "Embedding": gob.FLOATS})
    mine = gob.decode(data, shape)
    assert mine.get("ID", "") == string
    assert np.array_equal(mine.get("Embedding", vector[:0]).view(np.uint32), vector.view(np.uint32))
    encoded = gob_writer.uint(unsigned)
    assert encoded[0] == unsigned if unsigned < 128 else int.from_bytes(encoded[1:], "big") == unsigned


def test_fields_that_chromem_may_add_later_are_skipped():
    data = (FIXTURE / "db-plain" / "ef7d009c" / "191201d3.gob").read_bytes()
    assert gob.decode(data, gob.Struct({"Content": gob.TEXT})) == {"Content": peek(data)["Content"]}


ERRORS = {
    "ImportFromFile: encrypted file of 5 bytes": (b"12345", KEY),
    "ImportFromFile: encrypted file, no key": ((FIXTURE / "export.gob.enc").read_bytes(), None),
    "ImportFromFile: wrong key": ((FIXTURE / "export.gob.enc").read_bytes(), "x" * 32),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error_texts_start_as_chromems(name, tmp_path):
    data, key = ERRORS[name]
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(StoreError) as caught:
        chromem.read(tmp_path / "f", key)
    assert str(caught.value).startswith(EXPECTED["error_texts"][name])


def test_a_missing_file_an_empty_file_and_a_foreign_folder_are_errors(tmp_path):
    with pytest.raises(StoreError, match="file doesn't exist"):
        chromem.read(tmp_path / "none")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(DamagedError, match="EOF"):
        chromem.read(tmp_path / "empty")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("buy milk")
    with pytest.raises(StoreError, match="no chromem database"):
        chromem.read(tmp_path / "notes")
    (tmp_path / "fresh").mkdir()
    assert chromem.read(tmp_path / "fresh") == {}


def test_a_folder_with_plain_and_compressed_files_is_refused(tmp_path):
    shutil.copytree(FIXTURE / "db-plain", tmp_path / "db")
    extra = next((FIXTURE / "db-gzip" / "ef7d009c").iterdir())
    shutil.copy(extra, tmp_path / "db" / "ef7d009c" / extra.name)
    with pytest.raises(StoreError, match=r"both \.gob and \.gob\.gz"):
        chromem.read(tmp_path / "db")


def test_a_folder_without_its_metadata_file_is_refused(tmp_path):
    shutil.copytree(FIXTURE / "db-plain", tmp_path / "db")
    (tmp_path / "db" / "ef7d009c" / "00000000.gob").unlink()
    with pytest.raises(DamagedError, match="collection metadata file not found"):
        chromem.read(tmp_path / "db")


def test_links_in_a_folder_are_not_followed(tmp_path):
    shutil.copytree(FIXTURE / "db-plain", tmp_path / "db")
    secret = tmp_path / "secret.gob"
    shutil.move(tmp_path / "db" / "ef7d009c" / "191201d3.gob", secret)
    (tmp_path / "db" / "ef7d009c" / "191201d3.gob").symlink_to(secret)
    with pytest.raises(StoreError, match="links are not followed"):
        chromem.read(tmp_path / "db")
    shutil.move(tmp_path / "db" / "ef7d009c", tmp_path / "elsewhere")
    (tmp_path / "db" / "ef7d009c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="links are not followed"):
        chromem.read(tmp_path / "db")


def test_a_pipe_does_not_hang_the_reader(tmp_path):
    shutil.copytree(FIXTURE / "db-plain", tmp_path / "db")
    os.mkfifo(tmp_path / "db" / "ef7d009c" / "ffffffff.gob")
    with pytest.raises(DamagedError, match="no regular file"):
        chromem.read(tmp_path / "db")


def test_an_existing_database_is_replaced_and_a_foreign_folder_is_not(tmp_path):
    first = Collection("first")
    first.add(["a"], [[1, 0]])
    second = Collection("second")
    second.add(["b"], [[1, 0]])
    chromem.write(first, tmp_path / "db", folder=True)
    chromem.write(second, tmp_path / "db", folder=True, compress=True)
    assert list(chromem.read(tmp_path / "db")) == ["second"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["db"]
    (tmp_path / "db" / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"notes\.txt"):
        chromem.write(first, tmp_path / "db", folder=True)
    assert (tmp_path / "db" / "notes.txt").exists()
    with pytest.raises(StoreError, match="is a directory"):
        chromem.write(first, tmp_path / "db")


def test_without_an_exchange_of_names_a_folder_is_still_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr("codekb.store.files._exchanged", lambda first, second: False)
    for name in ("first", "second"):
        collection = Collection(name)
        collection.add(["a"], [[1, 0]])
        chromem.write(collection, tmp_path / "db", folder=True)
    assert list(chromem.read(tmp_path / "db")) == ["second"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["db"]


def test_two_ids_with_one_file_name_are_refused_in_a_folder_and_kept_in_an_export(tmp_path):
    seen: dict[str, str] = {}
    twin = next((i for i in map(str, range(400_000)) if seen.setdefault(file_stem(i), i) != i), None)
    assert twin is not None, "the birthday bound makes a collision of 32 bits all but sure here"
    collection = Collection("x")
    collection.add([twin, seen[file_stem(twin)]], [[1, 0], [0, 1]])
    with pytest.raises(StoreError, match="share the file name"):
        chromem.write(collection, tmp_path / "db", folder=True)
    assert not (tmp_path / "db").exists()
    chromem.write(collection, tmp_path / "one")
    assert chromem.read(tmp_path / "one")["x"].count() == 2


def test_two_collections_of_one_name_are_refused(tmp_path):
    with pytest.raises(StoreError, match="one name"):
        chromem.write([Collection("x"), Collection("x")], tmp_path / "f")


def test_a_gzip_bomb_ends_early(tmp_path):
    bomb = gzip.compress(bytes(200 << 20))
    (tmp_path / "f").write_bytes(bomb)
    tracemalloc.start()
    with pytest.raises(DamagedError, match="grows beyond"):
        chromem.read(tmp_path / "f")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * envelope.LEAST_EXPANDED


def test_a_truncated_gzip_stream_is_an_error(tmp_path):
    (tmp_path / "f").write_bytes((FIXTURE / "export.gob.gz").read_bytes()[:-20])
    with pytest.raises(DamagedError, match="unexpected EOF"):
        chromem.read(tmp_path / "f")


@pytest.mark.parametrize("claimed", [2**20, 2**40, 2**63])
def test_a_length_that_the_input_cannot_hold_is_refused_at_once(claimed):
    body = gob_writer.uint(3) + gob_writer.uint(claimed)
    data = gob_writer.DOCUMENT_TYPES + gob_writer.value(gob_writer.DOCUMENT, body)
    with pytest.raises(gob.GobError, match="exceeds"):
        gob.decode(data, gob.Struct({"Embedding": gob.FLOATS}))


def test_a_type_that_contains_itself_ends_in_an_error():
    endless = gob_writer._slice(64, "loop", 64)
    data = gob_writer._struct(65, "", [("X", 64)]) + endless
    data += gob_writer.value(65, b"\x01" + b"\x01" * 5000)
    with pytest.raises(gob.GobError, match="too deeply"):
        gob.decode(data, gob.Struct({"Y": gob.TEXT}))


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A few random edits: bits, bytes, cuts, doubled and swapped pieces, great numbers."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out)) if out else 0
        kind = rng.randrange(6)
        if kind == 0 and out:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and out:
            out[at] = rng.choice((0, 1, 0x7F, 0x80, 0xF8, 0xFF, rng.randrange(256)))
        elif kind == 2:
            del out[at : at + rng.randint(1, 40)]
        elif kind == 3:
            out[at:at] = out[at : at + rng.randint(1, 40)]
        elif kind == 4:
            out[at:at] = b"\xf8" + rng.randbytes(8)
        else:
            out = out[: max(1, at)]
    return bytes(out)


def test_damaged_streams_give_a_clear_error_or_a_whole_collection(tmp_path):
    rng = random.Random(7)
    originals = [(FIXTURE / name).read_bytes() for name in ("export.gob", "export.gob.gz", "export-other-type-ids.gob")]
    originals += [f.read_bytes() for f in sorted((FIXTURE / "db-plain").rglob("*.gob"))]
    outcomes = {"error": 0, "read": 0}
    slowest = 0.0
    tracemalloc.start()
    for i in range(DAMAGED_INPUTS):
        data = mutated(originals[i % len(originals)], rng)
        started = time.perf_counter()
        try:
            gob.decode(envelope.unpack(data, None), chromem._DATABASE)
            outcomes["read"] += 1
        except DamagedError as error:
            assert str(error)
            outcomes["error"] += 1
        slowest = max(slowest, time.perf_counter() - started)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{outcomes}, slowest {slowest:.3f} s, peak {peak >> 20} MiB")
    assert outcomes["error"] > outcomes["read"]
    assert peak < 2 * envelope.LEAST_EXPANDED


def test_a_damaged_file_is_an_error_through_the_public_door(tmp_path):
    rng = random.Random(11)
    data = (FIXTURE / "export.gob").read_bytes()
    for _ in range(50):
        (tmp_path / "f").write_bytes(mutated(data, rng))
        try:
            for collection in codekb.chromem.read(tmp_path / "f").values():
                collection.list_ids()
        except StoreError as error:
            assert "couldn't" in str(error) or "stored under" in str(error)


def test_encryption_needs_its_package_and_says_so(tmp_path):
    code = (
        "import sys; sys.modules['cryptography.hazmat.primitives.ciphers.aead'] = None\n"
        "from codekb.store import chromem\n"
        "try: chromem.write([], 'unused', key='k' * 32)\n"
        "except ValueError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path).stdout
    assert "codekb[chromem]" in told
