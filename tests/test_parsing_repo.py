"""Listing, reading and decoding a repository: ignore rules, links, encodings, hostile files, worker processes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codekb.chunks import Corpus
from codekb.parsing import pool
from codekb.parsing.listing import list_files
from codekb.parsing.locate import locate, package_folder
from codekb.parsing.pool import parse_all
from codekb.parsing.repo import parse_repo
from codekb.parsing.sources import Source, decode, read_repo


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())


IGNORE_CASES: dict[str, str | bytes] = {
    ".gitignore": "*.log\nd/**\n!d/keep.py\nex/\n!ex/keep.py\n/top.py\n# comment\n\nspaced\\ name.py\n",
    "d/a.py": "",
    "d/keep.py": "",
    "ex/keep.py": "",
    "top.py": "",
    "sub/top.py": "",
    "sub/.gitignore": "secret.py\n!x.log\n",
    "sub/secret.py": "",
    "sub/x.log": "",
    "sub/deep/secret.py": "",
    "spaced name.py": "",
    "vendor/v.py": "",
}


def test_the_walk_lists_exactly_what_git_lists(tmp_path: Path) -> None:
    write(tmp_path, IGNORE_CASES)
    walked = list_files(tmp_path)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    by_git = list_files(tmp_path)
    assert (walked.how, by_git.how) == ("walk", "git")
    assert walked.files == by_git.files == [".gitignore", "d/keep.py", "sub/.gitignore", "sub/top.py", "sub/x.log"]
    assert walked.skipped["vendor/"].startswith("vendored") and by_git.skipped["vendor/"].startswith("vendored")
    assert walked.skipped["sub/secret.py"] == "ignored by .gitignore"
    assert by_git.skipped["sub/secret.py"] == "ignored by git"


def test_caches_that_python_writes_by_itself_are_not_reported(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "__pycache__/a.pyc": b"\0", "p/__pycache__/b.pyc": b"\0", ".venv/x.py": ""})
    assert list(list_files(tmp_path).skipped) == [".venv/"]


def test_a_folder_that_an_outer_repository_ignores_is_walked(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, {".gitignore": "env/\n", "env/pkg/__init__.py": "", "env/pkg/a.py": "def f(): pass\n"})
    assert list_files(tmp_path / "env" / "pkg").files == ["__init__.py", "a.py"]


def test_a_nested_repository_is_listed_by_its_own_rules(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "inner/.gitignore": "no.py\n", "inner/yes.py": "", "inner/no.py": ""})
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "init", "-q", str(tmp_path / "inner")], check=True)
    assert list_files(tmp_path).files == ["a.py", "inner/.gitignore", "inner/yes.py"]


def test_no_program_named_by_the_repository_is_run(tmp_path: Path) -> None:
    repo, trace = tmp_path / "repo", tmp_path / "trace"
    write(repo, {"a.py": ""})
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    hook = repo / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {trace}\n")
    hook.chmod(0o755)
    subprocess.run(["git", "-C", str(repo), "config", "core.fsmonitor", str(hook)], check=True)
    assert "a.py" in list_files(repo).files
    assert not trace.exists()


def test_links_are_never_followed_and_say_where_they_lead(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    write(outside, {"x.py": "def out(): pass\n"})
    write(root, {"a.py": "def f(): pass\n"})
    os.symlink(outside / "x.py", root / "out.py")
    os.symlink(outside, root / "outdir")
    os.symlink(".", root / "loop")
    os.symlink("a.py", root / "in.py")
    os.symlink("self", root / "self")
    os.mkfifo(root / "pipe.py")
    listing = list_files(root)
    assert listing.files == ["a.py"]
    assert listing.skipped["out.py"] == listing.skipped["outdir"] == "link that leads out of the root"
    assert listing.skipped["in.py"].startswith("link; its target is indexed")
    assert listing.skipped["self"] == "link that leads nowhere or in a circle"
    assert listing.skipped["pipe.py"].startswith("not a regular file")


HOSTILE: dict[str, str | bytes] = {
    "empty.py": b"",
    "bom.py": b"\xef\xbb\xbf",
    "bom_code.py": b"\xef\xbb\xbfdef bommed(): pass\n",
    "latin.py": b"def caf(): return '\xe9'\n",
    "latin_line.py": b"# -*- coding: latin-1 -*-\ndef gar\xe7on(): return '\xe9'\n",
    "odd_coding.py": b"# coding: no-such-thing\ndef odd(): pass\n",
    "nul.py": b"def a(): pass\n\0\0",
    "late_nul.py": b"def a(): pass\n" + b"#" * 9000 + b"\0\n",
    "big.py": b"x = 1\n" * 3_500_000,
    "deep.py": "\n".join("    " * i + "if True:" for i in range(200)) + "\n" + "    " * 200 + "pass\n",
    "parens.py": "x = " + "(" * 200 + ")" * 200 + "\n",
    "sum.py": "x = " + "+".join(["1"] * 30_000) + "\n",
    "a b/name with 'quotes\".py": "def quoted(): pass\n",
    "a b/<script>alert(1)<.py": "def <script>(: pass\ndef fine(): pass\n",
    "\N{PARTY POPPER}.py": "def party(): pass\n",
    "twice.py": "def f(): pass\ndef f(): pass\nclass C:\n    def m(self): pass\nclass C:\n    def m(self): pass\n",
    "dos.py": b"def one():\r\n    return 1\r\n\r\ndef two():\r\n    return 2\r\n",
    "mac.py": b"def old():\r    return 1\r",
    "formfeed.py": "x = 1\n\x0c\ndef after(): pass\n",
    "broken.py": "def good(): pass\n\ndef bad(:\n    pass\n\ndef late(): pass\n",
    "notebook.ipynb": "{}",
    "stub.pyi": "def f() -> int: ...\n",
    "script": "#!/usr/bin/env python3\ndef from_script(): pass\n",
    "readme.md": "hello",
    "bad.go": "package p\n\nfunc ok() {}\n\nfunc (",
    "empty.go": b"",
    "nul.go": b"package p\0",
    "utf16.go": "package p".encode("utf-16"),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    root = tmp_path_factory.mktemp("hostile")
    write(root, HOSTILE)
    os.symlink("/etc/passwd", root / "passwd.py")
    os.symlink("..", root / "up")
    return parse_repo(root)


def test_hostile_files_are_indexed_or_reported_and_never_raise(hostile: Corpus) -> None:
    for path in HOSTILE:
        assert path in hostile.skipped or path in hostile, f"{path} vanished"
    assert {"nul.py", "big.py", "notebook.ipynb", "stub.pyi", "readme.md", "passwd.py", "utf16.go"} <= set(
        hostile.skipped
    )
    assert "NUL" in hostile.skipped["nul.py"] and "max_bytes" in hostile.skipped["big.py"]


def test_functions_of_odd_files_are_found(hostile: Corpus) -> None:
    for chunk_id in (
        "bom_code.py::bommed",
        "latin.py::caf",
        "latin_line.py::garçon",
        "odd_coding.py::odd",
        "twice.py::f#2",
        "twice.py::C#2",
        "dos.py::two",
        "mac.py::old",
        "formfeed.py::after",
        "script::from_script",
        "a b/<script>alert(1)<.py::fine",
        "\N{PARTY POPPER}.py::party",
        "bad.go::ok",
    ):
        assert chunk_id in hostile, chunk_id
    assert hostile["dos.py::two"].code == "def two():\n    return 2"
    assert (hostile["dos.py::two"].start_line, hostile["dos.py::two"].end_line) == (4, 5)


def test_a_syntax_error_keeps_the_functions_around_it_and_marks_them(hostile: Corpus) -> None:
    assert {"broken.py::good", "broken.py::late"} <= {c.id for c in hostile.functions}
    assert "recovered" in hostile["broken.py::good"].marks
    assert "broken.py" in hostile.notes and "latin.py" in hostile.notes
    assert "latin_line.py" not in hostile.notes


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def f(): pass\n", "b.py": "def g(): pass\n", "closed/c.py": ""})
    tmp_path.chmod(0o755)
    (tmp_path / "b.py").chmod(0)
    (tmp_path / "closed").chmod(0)
    was_root = os.geteuid() == 0
    for folder in [tmp_path, *tmp_path.parents][:-2] if was_root else []:
        folder.chmod(folder.stat().st_mode | 0o055)
    if was_root:
        os.seteuid(65534)
    try:
        corpus = parse_repo(tmp_path)
    finally:
        if was_root:
            os.seteuid(0)
        (tmp_path / "closed").chmod(0o755)
    assert [c.id for c in corpus.functions] == ["a.py::f"]
    assert corpus.skipped["b.py"].startswith("cannot be read")
    assert corpus.skipped["closed/"].startswith("folder cannot be read")


def test_workers_give_the_same_corpus_as_one_process(tmp_path: Path) -> None:
    write(tmp_path, {f"m{i}.py": f"def f{i}():\n    return g{i}()\n" for i in range(20)})
    write(tmp_path, {"p.go": "package p\n\nfunc F() { g() }\n"})
    sources, _ = read_repo(tmp_path)
    assert parse_all(sources, 1) == parse_all(sources, 3)


@pytest.mark.parametrize("trouble", ["dies", "no process", "no room"])
def test_what_a_worker_cannot_do_is_done_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("none left")

    write(tmp_path, {f"m{i}.py": f"def f{i}():\n    return g{i}()\n" for i in range(6)})
    sources, _ = read_repo(tmp_path)
    expected = parse_all(sources, 1)
    if trouble == "dies":
        monkeypatch.setattr(pool, "WORKER", "import sys; sys.exit(3)")
    else:
        place, name = (pool.subprocess, "Popen") if trouble == "no process" else (pool.tempfile, "TemporaryFile")
        monkeypatch.setattr(place, name, refuse)
    assert parse_all(sources, 2) == expected


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_shares_hold_every_file_once_and_nobody_waits_long(count: int) -> None:
    files = [Source(f"m{i}.py", "x" * (200 + i), "python", "") for i in range(400)]
    shares = pool._shares(files, count)
    assert sorted(s.path for share in shares for s in share) == sorted(s.path for s in files)
    own, *others = [sum(len(s.text) for s in share) for share in shares]
    ends = [own + pool.UNPACKING * sum(others), *(size * (1 + pool.PACKING) for size in others)]
    assert max(ends) - min(ends) < 0.05 * max(ends)


def test_progress_reaches_the_total(tmp_path: Path) -> None:
    write(tmp_path, {f"m{i}.py": "" for i in range(5)})
    seen: list[tuple[str, int, int]] = []
    parse_repo(tmp_path, progress=lambda stage, done, total: seen.append((stage, done, total)))
    assert seen[-1] == ("parse", 5, 5)


def test_an_empty_folder_is_an_empty_corpus(tmp_path: Path) -> None:
    corpus = parse_repo(tmp_path)
    assert len(corpus) == 0 and corpus.functions == () and corpus.skipped == {}


def test_a_root_that_is_no_folder_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="repository or package folder"):
        parse_repo(tmp_path / "nowhere")
    (tmp_path / "f.py").write_text("")
    with pytest.raises(NotADirectoryError, match="give the folder"):
        parse_repo(tmp_path / "f.py")


def test_a_package_is_found_by_name_without_being_imported() -> None:
    assert (package_folder("networkx") / "__init__.py").is_file()
    assert package_folder("xml.dom").name == "dom"
    assert locate("networkx") == package_folder("networkx")
    with pytest.raises(FileNotFoundError, match="is no folder, and not a package either"):
        locate("no_such_package_here")
    with pytest.raises(FileNotFoundError, match="no folder given"):
        locate(" ")
    with pytest.raises(
        FileNotFoundError, match="no/such/place' is no folder; give one, or the name of an installed package"
    ):
        locate("no/such/place")
    with pytest.raises(FileNotFoundError, match="is a file: give the folder that holds it"):
        locate(__file__)
    with pytest.raises(ValueError, match="single module"):
        package_folder("textwrap")


def test_a_broken_coding_line_never_loses_names() -> None:
    text, note = decode(b"# coding: utf-8\ndef f\xff(): pass\n", "python")
    assert "def f" in text and "replacement" in note
