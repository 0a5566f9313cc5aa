"""Saved indexes: the folder survives crashes, damage and rivals; an updated knowledge base equals a fresh one."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from codekb import Collection, KnowledgeBase
from codekb.store import disk, folder, manifest, plain
from codekb.store.errors import ChangedError, DamagedError, LockedError, StoreError

DAMAGED_INPUTS = int(os.environ.get("CODEKB_DAMAGED_INPUTS", "400"))
KILLS = int(os.environ.get("CODEKB_KILLS", "6"))
"""Per scenario and run; 10,000 and 200 with the environment variables."""
DRIVER = Path(__file__).with_name("kill_driver.py")


class CountingEncoder:
    """A vector per text from its hash; keeps what it was asked to encode."""

    dimension = 16

    def __init__(self, name="counting-1"):
        self.name = name
        self.asked: list[str] = []

    def encode(self, texts):
        self.asked += texts
        rows = [np.frombuffer(hashlib.sha512(t.encode()).digest(), dtype="<i4") for t in texts]
        matrix = np.array(rows, dtype=np.float64).reshape(len(texts), self.dimension)
        return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)

    def encode_query(self, text):
        return self.encode([text])[0]


FILES = {
    "app/main.py": "from app.store import load\n\n\ndef run():\n    '''Start the program.'''\n    return load('x')\n",
    "app/store.py": "def load(name):\n    return read(name)\n\n\ndef read(name):\n    return open(name).read()\n",
    "app/odd.py": "def broken(:\n    pass\n\n\ndef whole():\n    return 1\n",
    "app/latin.py": "# coding: latin-1\ndef grüße():\n    return 'é'\n",
    "tool/go.mod": "module example.com/tool\n\ngo 1.21\n",
    "tool/main.go": "package main\n\nfunc main() { helper() }\n\n// helper helps.\nfunc helper() {}\n",
    "notes.txt": "not code\n",
}


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1" if "latin" in name else "utf-8"))
    return root


def edges(graph):
    return sorted((s, t, str(sorted(d.items()))) for s, t, d in graph.edges(data=True))


def assert_equal(one: KnowledgeBase, other: KnowledgeBase, views=("enriched",)) -> None:
    assert one.corpus.chunks == other.corpus.chunks
    assert dict(one.corpus.facts) == dict(other.corpus.facts)
    for part in ("skipped", "notes", "digests"):
        assert getattr(one.corpus, part) == getattr(other.corpus, part)
    for view in views:
        assert np.array_equal(one.vectors(view).matrix, other.vectors(view).matrix)
    for resolve in ("name", "flow"):
        mine, theirs = one.graph_by(resolve), other.graph_by(resolve)
        assert list(mine.nodes) == list(theirs.nodes)
        assert edges(mine) == edges(theirs)
        assert mine.graph == theirs.graph
    for question in ("start the program", "read a file", "helper", "no such word"):
        for method in ("dense", "keyword", "hybrid"):
            found, wanted = (kb.search(question, 20, method=method) for kb in (one, other))
            assert found.ids == wanted.ids
            assert [h.score for h in found] == [h.score for h in wanted]


def test_what_was_saved_is_opened_whole(repo, tmp_path):
    kb = KnowledgeBase.build(repo, encoder=CountingEncoder())
    kb.vectors("structure")
    kb.save(tmp_path / "index")
    opened = KnowledgeBase.open(tmp_path / "index", CountingEncoder())
    assert opened.encoder.asked == []
    assert_equal(opened, kb, ("enriched", "structure"))
    assert {e for e in opened.encoder.asked if "def " in e} == set(), "no function was embedded again"
    assert dict(kb.corpus.facts), "the fixture has facts to lose"
    assert kb.corpus.notes, "and notes"


def test_the_default_encoder_opens_its_own_index(repo, tmp_path):
    kb = KnowledgeBase.build(repo)
    kb.save(tmp_path / "index")
    assert_equal(KnowledgeBase.open(tmp_path / "index"), kb)


EDITS = {
    "nothing": lambda root: None,
    "a body": lambda root: (root / "app/store.py").write_text(FILES["app/store.py"].replace("read()", "read(1)")),
    "a line above": lambda root: (root / "app/store.py").write_text("\n" + FILES["app/store.py"]),
    "a file goes": lambda root: (root / "app/store.py").unlink(),
    "a file is renamed": lambda root: (root / "app/store.py").rename(root / "app/shelf.py"),
    "a file comes": lambda root: (root / "app/new.py").write_text("from app.main import run\n\ndef f():\n    run()\n"),
    "a broken file is mended": lambda root: (root / "app/odd.py").write_text("def broken():\n    pass\n"),
    "a file becomes unreadable": lambda root: (root / "app/store.py").write_bytes(b"\0\0\0"),
    "go changes": lambda root: (root / "tool/main.go").write_text("package main\n\nfunc main() {}\n"),
    "go.mod changes": lambda root: (root / "tool/go.mod").write_text("module example.com/other\n"),
    "everything goes": lambda root: shutil.rmtree(root / "app"),
    "two files swap": lambda root: (
        (root / "app/main.py").rename(root / "x"),
        (root / "app/store.py").rename(root / "app/main.py"),
        (root / "x").rename(root / "app/store.py"),
    ),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("opened", [False, True], ids=["built", "opened"])
def test_an_updated_knowledge_base_equals_a_fresh_one(edit, opened, repo, tmp_path):
    kb = KnowledgeBase.build(repo, encoder=CountingEncoder())
    kb.graph_by("name")
    kb.vectors("structure")
    if opened:
        kb.save(tmp_path / "index")
        kb = KnowledgeBase.open(tmp_path / "index", CountingEncoder())
    known = set(kb.encoder.asked)
    EDITS[edit](repo)
    asked_before = len(kb.encoder.asked)
    changes = kb.update()
    assert bool(changes) == (edit != "nothing")
    newly = kb.encoder.asked[asked_before:]
    assert len(newly) == changes.encoded
    assert not known & set(newly), "a text that was embedded is not embedded again"
    if edit == "nothing":
        assert changes.encoded == 0
    fresh = KnowledgeBase.build(repo, encoder=CountingEncoder())
    assert_equal(kb, fresh, ("enriched", "structure"))
    if opened:
        assert_equal(KnowledgeBase.open(tmp_path / "index", CountingEncoder()), fresh, ("enriched", "structure"))


def test_an_update_says_what_changed_and_parses_only_that(repo, monkeypatch):
    kb = KnowledgeBase.build(repo, encoder=CountingEncoder())
    (repo / "app/store.py").write_text("def load(name):\n    return name\n")
    (repo / "app/odd.py").unlink()
    (repo / "z.py").write_text("def z():\n    pass\n")
    parsed = []
    real = disk.parse_all

    def noted(sources, *rest):
        parsed.extend(s.path for s in sources if s.language != "go.mod")
        return real(sources, *rest)

    monkeypatch.setattr(disk, "parse_all", noted)
    changes = kb.update()
    assert (changes.added, changes.changed, changes.removed) == (("z.py",), ("app/store.py",), ("app/odd.py",))
    assert parsed == ["app/store.py", "z.py"]
    assert changes.encoded == 2
    assert changes.kept == len(kb.corpus.functions) - 2


def test_results_of_another_parser_are_not_mixed_with_this_ones(repo, tmp_path, monkeypatch):
    KnowledgeBase.build(repo, encoder=CountingEncoder()).save(tmp_path / "index")
    monkeypatch.setattr(disk, "parser_fingerprint", lambda: "another")
    monkeypatch.setattr("codekb.knowledge_base.disk.parser_fingerprint", lambda: "another")
    kb = KnowledgeBase.open(tmp_path / "index", CountingEncoder())
    assert kb.search("start the program", method="dense"), "vectors do not depend on the parser"
    with pytest.raises(StoreError, match="update"):
        kb.graph  # noqa: B018
    assert kb.update().encoded == 0
    assert kb.graph.number_of_edges()


def test_vectors_of_another_model_are_refused(repo, tmp_path):
    KnowledgeBase.build(repo, encoder=CountingEncoder()).save(tmp_path / "index")
    with pytest.raises(StoreError, match=r"counting-1.*do not compare.*counting-2"):
        KnowledgeBase.open(tmp_path / "index", CountingEncoder("counting-2"))


def test_a_repository_that_moved_is_updated_from_its_new_place(repo, tmp_path):
    kb = KnowledgeBase.build(repo, encoder=CountingEncoder())
    repo.rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError):
        kb.update()
    assert not kb.update(tmp_path / "moved")
    assert kb.corpus.root == str(tmp_path / "moved")


def test_a_failed_update_leaves_the_old_state(repo, tmp_path):
    kb = KnowledgeBase.build(repo, encoder=CountingEncoder())
    kb.save(tmp_path / "index")
    before = kb.corpus
    (repo / "z.py").write_text("def z():\n    pass\n")

    def fail(texts):
        raise RuntimeError("the server is away")

    kb.encoder.encode = fail
    with pytest.raises(RuntimeError, match="away"):
        kb.update()
    assert kb.corpus is before
    assert "z.py::z" not in disk.open(tmp_path / "index").corpus


def test_unchanged_parts_are_not_written_again(repo, tmp_path):
    kb = KnowledgeBase.build(repo, encoder=CountingEncoder())
    kb.save(tmp_path / "index")
    before = sorted(p.name for p in (tmp_path / "index").iterdir())
    kb.save(tmp_path / "index")
    assert sorted(p.name for p in (tmp_path / "index").iterdir()) == before


# The folder


PARTS = {
    "numbers": np.arange(12, dtype=np.float32).reshape(3, 4),
    "words": b'["a","b"]',
    "none": np.zeros((0, 4), np.int64),
}


def saved(path, **changes):
    return folder.save(path, "test", {"n": 1}, {**PARTS, **changes})


def test_parts_come_back_as_they_were(tmp_path):
    big = np.arange(1 << 19, dtype=np.float32).reshape(-1, 8)
    generation = saved(tmp_path / "x", big=big)
    opened = folder.open_folder(tmp_path / "x", "test")
    assert (opened.generation, opened.about) == (generation, {"n": 1})
    assert np.array_equal(opened.array("numbers"), PARTS["numbers"])
    assert opened.array("none").shape == (0, 4)
    assert opened.json("words") == ["a", "b"]
    assert isinstance(opened.array("big"), np.memmap)
    opened.array("big")[0] = 7
    assert np.array_equal(folder.open_folder(tmp_path / "x", "test").array("big"), big), "changes stay private"


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(StoreError, match=r"thesis\.tex"):
        saved(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_another_kind_of_index_is_neither_opened_nor_overwritten(tmp_path):
    saved(tmp_path / "x")
    with pytest.raises(StoreError, match="holds a saved test, not a collection"):
        Collection.open(tmp_path / "x")
    with pytest.raises(StoreError, match="holds a saved test"):
        Collection("c").save(tmp_path / "x")


def test_no_index_is_a_clear_error(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(StoreError, match="no saved index"):
            KnowledgeBase.open(path, CountingEncoder())
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        saved(tmp_path / "file")


def test_a_newer_format_is_neither_opened_nor_overwritten(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "VERSION", 2)
    saved(tmp_path / "x")
    monkeypatch.setattr(manifest, "VERSION", 1)
    with pytest.raises(DamagedError, match="format version 2"):
        folder.open_folder(tmp_path / "x", "test")
    with pytest.raises(DamagedError, match="format version 2"):
        saved(tmp_path / "x")


def test_a_second_writer_waits_and_then_says_so(tmp_path):
    saved(tmp_path / "x")
    with folder.writing(tmp_path / "x"):
        with pytest.raises(LockedError, match="another process"):
            folder.save(tmp_path / "x", "test", {}, PARTS, wait=0.1)
        assert folder.open_folder(tmp_path / "x", "test").about == {"n": 1}, "readers go on"
    folder.save(tmp_path / "x", "test", {"n": 2}, PARTS, wait=0)


def test_a_collection_does_not_overwrite_what_another_saved_meanwhile(tmp_path):
    first = Collection("c")
    first.add(["a"], [[1, 0]])
    first.save(tmp_path / "x")
    second = Collection.open(tmp_path / "x")
    second.add(["b"], [[0, 1]])
    second.save(tmp_path / "x")
    first.add(["c"], [[1, 1]])
    with pytest.raises(ChangedError, match="open it again"):
        first.save(tmp_path / "x")
    first.save(tmp_path / "elsewhere")
    assert Collection.open(tmp_path / "x").list_ids() == ["a", "b"]


def test_readers_see_one_state_while_writers_replace_it(tmp_path):
    def state(i):
        return {"a": np.full(300_000, i, dtype=np.int64), "b": json.dumps([i]).encode()}

    folder.save(tmp_path / "x", "test", {"n": 0}, state(0))
    stop, failures = threading.Event(), []

    def read():
        try:
            while not stop.is_set():
                opened = folder.open_folder(tmp_path / "x", "test", verify=False)
                n = opened.about["n"]
                assert opened.json("b") == [n]
                assert (opened.array("a")[[0, -1]] == n).all()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(1, 25):
        folder.save(tmp_path / "x", "test", {"n": i}, state(i))
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("factory", ["Flat", "HNSW16"])
def test_a_collection_is_saved_with_everything_and_goes_on(factory, tmp_path):
    rng = np.random.default_rng(0)
    collection = Collection("c", {"m": "1"}, factory=factory)
    ids, maps = [f"d{i}" for i in range(700)], [{"k": str(i % 3)} for i in range(700)]
    collection.add(ids, rng.standard_normal((700, 512)), maps)
    collection.add(["short", "bare"], [[1, 2], [0] * 512], [None, {}], ["text \udcff", ""])
    collection.delete([f"d{i}" for i in range(0, 700, 5)])
    collection.save(tmp_path / "x")
    for trust in (False, True):
        again = Collection.open(tmp_path / "x", trust_index=trust)
        assert (again.name, again.metadata, again.list_ids()) == ("c", {"m": "1"}, collection.list_ids())
        for key in ("d1", "short", "bare"):
            mine, theirs = collection.get_by_id(key), again.get_by_id(key)
            assert (mine.metadata, mine.content) == (theirs.metadata, theirs.content)
            assert np.array_equal(mine.embedding, theirs.embedding, equal_nan=True)
        query = rng.standard_normal(512)
        for where in ({"k": "1"}, {"k": {"$in": ["0", "2"]}}):
            found, wanted = (c.query_embedding(query, 10, where) for c in (again, collection))
            assert [(h.id, h.similarity) for h in found] == [(h.id, h.similarity) for h in wanted]
    assert isinstance(again.rows.vectors.view, np.memmap)
    again.add(["d1", "new"], [query, query])
    again.delete(["d2"])
    again.save(tmp_path / "x")
    assert Collection.open(tmp_path / "x").list_ids() == again.list_ids()


def test_an_encoder_must_be_the_one_that_made_the_vectors(tmp_path):
    collection = Collection("c", encoder=CountingEncoder())
    collection.add(["a"], contents=["text"])
    collection.save(tmp_path / "x")
    assert Collection.open(tmp_path / "x", CountingEncoder()).query("text", 1)[0].id == "a"
    with pytest.raises(StoreError, match="do not compare"):
        Collection.open(tmp_path / "x", CountingEncoder("other"))


# Damage


def data_files(path):
    return sorted(p for p in path.iterdir() if manifest.FILE_NAME.fullmatch(p.name))


def test_every_flipped_byte_of_a_data_file_is_found(tmp_path):
    saved(tmp_path / "x")
    for file in data_files(tmp_path / "x"):
        original = file.read_bytes()
        for at in range(0, len(original), max(1, len(original) // 20)):
            file.write_bytes(original[:at] + bytes([original[at] ^ 1]) + original[at + 1 :])
            with pytest.raises(DamagedError, match="checksum"):
                folder.open_folder(tmp_path / "x", "test")
        file.write_bytes(original[:-1])
        with pytest.raises(DamagedError, match="size"):
            folder.open_folder(tmp_path / "x", "test", verify=False)
        file.unlink()
        with pytest.raises(DamagedError, match="missing"):
            folder.open_folder(tmp_path / "x", "test")
        file.write_bytes(original)
    folder.open_folder(tmp_path / "x", "test")


def test_saving_repairs_a_damaged_index(tmp_path):
    saved(tmp_path / "x")
    (tmp_path / "x" / manifest.NAME).write_bytes(b"{")
    saved(tmp_path / "x")
    assert folder.open_folder(tmp_path / "x", "test").about == {"n": 1}


def fitted(path, part, file):
    """Let the manifest say that this is the right content."""
    told = {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    rewritten(path, lambda manifest_told: manifest_told["files"][part].update(told))


def rewritten(path, change):
    """Change a manifest as someone with bad intent would: with its checksum made right again."""
    told = json.loads((path / manifest.NAME).read_text())
    change(told)
    told.pop("checksum")
    told["checksum"] = manifest._checksum(told)
    (path / manifest.NAME).write_text(json.dumps(told))


@pytest.mark.parametrize("name", ["../s.0123456789abcdef.npy", "/etc/passwd", "d/x.0123456789abcdef.npy", "x", "", 3])
def test_a_manifest_that_points_elsewhere_is_refused(name, tmp_path):
    saved(tmp_path / "x")
    rewritten(tmp_path / "x", lambda told: told["files"]["words"].update(file=name))
    with pytest.raises(DamagedError):
        folder.open_folder(tmp_path / "x", "test")


def test_links_and_pipes_in_place_of_data_files_are_refused(tmp_path):
    saved(tmp_path / "x")
    file = data_files(tmp_path / "x")[0]
    shutil.move(file, tmp_path / "outside")
    file.symlink_to(tmp_path / "outside")
    with pytest.raises(DamagedError, match="links are not followed"):
        folder.open_folder(tmp_path / "x", "test")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(DamagedError, match="no regular file"):
        folder.open_folder(tmp_path / "x", "test")


def test_an_array_of_objects_is_refused_before_anything_runs(tmp_path):
    saved(tmp_path / "x")
    (entry,) = [p for p in data_files(tmp_path / "x") if p.name.startswith("numbers")]

    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "trapped"),))

    np.save(entry, np.array([Trap()], dtype=object), allow_pickle=True)
    fitted(tmp_path / "x", "numbers", entry)
    with pytest.raises(DamagedError, match="no array of numbers"):
        folder.open_folder(tmp_path / "x", "test")
    assert not (tmp_path / "trapped").exists()


def test_nothing_in_the_store_can_unpickle():
    package = Path(folder.__file__).parent
    for file in package.glob("*.py"):
        text = file.read_text()
        assert "import pickle" not in text and "import marshal" not in text and "allow_pickle=True" not in text


def test_damaged_manifests_give_clear_errors(tmp_path):
    saved(tmp_path / "x")
    path = tmp_path / "x" / manifest.NAME
    original = path.read_bytes()
    rng = random.Random(3)
    opened = 0
    for _ in range(DAMAGED_INPUTS):
        data = bytearray(original)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            match rng.randrange(4):
                case 0:
                    data[at] ^= 1 << rng.randrange(8)
                case 1:
                    del data[at : at + rng.randint(1, 30)]
                case 2:
                    data[at:at] = rng.choice([b"[" * 3000, b"9" * 5000, b'"', b"null", b"{}", b"\xff"])
                case 3:
                    del data[at + 1 :]
        path.write_bytes(bytes(data))
        try:
            folder.open_folder(tmp_path / "x", "test")
            opened += 1
        except StoreError as error:
            assert str(error)
    assert opened < DAMAGED_INPUTS / 20, "white space is all that may change unnoticed"


def test_a_state_with_wrong_types_inside_is_a_clear_error(repo, tmp_path):
    KnowledgeBase.build(repo, encoder=CountingEncoder()).save(tmp_path / "index")
    (file,) = [p for p in data_files(tmp_path / "index") if p.name.startswith("chunks")]
    original = json.loads(file.read_text())
    for damage in ([], [[]], [[None] * 14], {"a": 1}, "x", [[*original[0][:6], "1", *original[0][7:]]]):
        file.write_text(json.dumps(damage))
        fitted(tmp_path / "index", "chunks", file)
        with pytest.raises(DamagedError):
            KnowledgeBase.open(tmp_path / "index", CountingEncoder())


def test_plain_data_comes_back_exactly_and_objects_are_refused():
    value = {"a": [1, 2.5, None, True, "é\udcff"], "()": 1, "b": {"()": []}, "d": {}}
    value["c"] = ((), [()], {1: (2,), (1, 2): 3})
    assert plain.load(plain.dump(value)) == value
    assert str(plain.load(plain.dump(value))) == str(value)
    with pytest.raises(TypeError, match="no plain data"):
        plain.dump({"x": {1, 2}})


# Crashes


@pytest.mark.parametrize("scenario", ["fresh", "replace", "collection", "update"])
def test_killed_at_any_moment_the_old_or_the_new_state_is_there(scenario, tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    told = subprocess.run(
        [sys.executable, str(DRIVER), scenario, str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    counts = json.loads(told.stdout.splitlines()[-1])
    print(scenario, counts)
    assert counts["steps"] > 10, "it was stopped at each of its system calls"
    assert counts["old"] + counts["new"] == counts["steps"] + counts["kills"] + counts["survived"]
    assert counts["old"] and counts["new"]


def test_a_killed_writer_leaves_no_lock_and_its_files_go_with_the_next_save(tmp_path):
    saved(tmp_path / "x")
    (tmp_path / "x" / "numbers.00000000deadbeef.npy").write_bytes(b"half a fi")
    (tmp_path / "x" / ".manifest.json.0123.tmp").write_bytes(b"{")
    saved(tmp_path / "x", words=b"[]")
    names = {p.name for p in (tmp_path / "x").iterdir()}
    assert len(names) == 2 + len(PARTS)


def test_the_lock_goes_with_its_process(tmp_path):
    saved(tmp_path / "x")
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom codekb.store import folder\n"
        "with folder.writing(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "x")], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(LockedError):
        folder.save(tmp_path / "x", "test", {}, PARTS, wait=0)
    process.kill()
    process.wait()
    process.stdout.close()
    folder.save(tmp_path / "x", "test", {}, PARTS, wait=5)
