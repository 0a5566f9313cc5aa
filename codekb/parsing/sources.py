"""From files to decoded sources: encodings, size, binary and unreadable files. Nothing is parsed here."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codekb.parsing.listing import DEFAULT_EXCLUDE, list_files

MAX_BYTES = 2_000_000
"""Larger files are generated or data: the largest hand-written module among 300 packages has 0.9 MB."""

SNIFFED_BYTES = 8192
"""How far a NUL byte is looked for, as git does for its own binary test (8,000 bytes)."""

LANGUAGES = {".py": "python", ".pyw": "python", ".go": "go"}
LEFT_OUT = {".ipynb": "notebook", ".pyi": "type stub", ".pyx": "Cython", ".pyc": "compiled Python"}
GO_MODULE_FILES = ("go.mod", "go.work")


@dataclass(frozen=True, slots=True)
class Source:
    """One decoded file. `digest` is the SHA-256 of its bytes in hex; `note` says what was wrong with its encoding."""

    path: str
    text: str
    language: str
    digest: str
    note: str = ""


def read_repo(
    root: Path, exclude: Sequence[str] = DEFAULT_EXCLUDE, max_bytes: int = MAX_BYTES
) -> tuple[list[Source], dict[str, str]]:
    """All sources below `root` in path order, and why each other file was skipped."""
    listing = list_files(root, exclude)
    sources: list[Source] = []
    skipped = dict(listing.skipped)
    for path in listing.files:
        found = read_source(root, path, max_bytes)
        if isinstance(found, Source):
            sources.append(found)
        else:
            skipped[path] = found
    return sources, dict(sorted(skipped.items()))


def read_source(root: Path, path: str, max_bytes: int = MAX_BYTES) -> Source | str:
    """The decoded file, or the reason why there is none."""
    language = _language(root, path)
    if language not in ("python", "go", "go.mod"):
        return language
    try:
        with open(os.open(root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > max_bytes:
                return f"larger than {max_bytes:,} bytes ({size:,}); raise max_bytes to index it"
            raw = file.read(max_bytes + 1)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if b"\0" in raw[:SNIFFED_BYTES]:
        return "binary (holds NUL bytes)"
    text, note = decode(raw, language)
    return Source(path, text, language, hashlib.sha256(raw).hexdigest(), note)


def _language(root: Path, path: str) -> str:
    """`python`, `go`, `go.mod`, or the reason why the file is not indexed."""
    name = path.rsplit("/", 1)[-1]
    suffix = os.path.splitext(name)[1].lower()
    if name in GO_MODULE_FILES or path.endswith("vendor/modules.txt"):
        return "go.mod"
    if suffix in LANGUAGES:
        return LANGUAGES[suffix]
    if not suffix and _has_python_shebang(root / path):
        return "python"
    return f"{LEFT_OUT[suffix]}, not indexed" if suffix in LEFT_OUT else f"not Python or Go ({suffix or 'no suffix'})"


def _has_python_shebang(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            first = file.readline(128)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def decode(raw: bytes, language: str) -> tuple[str, str]:
    r"""Text with `\n` line ends and a note where the bytes did not fit their encoding (PEP 263 for Python).

    >>> decode(b"# coding: latin-1\nname = '\xe9'\n", "python")
    ("# coding: latin-1\nname = 'é'\n", '')
    >>> decode(b"name = '\xe9'\n", "python")
    ("name = '\ufffd'\n", 'not valid utf-8: decoded with replacement characters')
    """
    encoding, note = "utf-8", ""
    if language == "python":
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(raw).readline)[0]
        except (SyntaxError, UnicodeError, LookupError):
            note = _unknown_encoding(raw)
    if raw.startswith(codecs.BOM_UTF8):
        raw = raw[len(codecs.BOM_UTF8) :]
    try:
        text = raw.decode("utf-8" if encoding == "utf-8-sig" else encoding)
    except (UnicodeError, LookupError):
        text = raw.decode("utf-8", "replace")
        note = note or f"not valid {encoding.removesuffix('-sig')}: decoded with replacement characters"
    return text.replace("\r\n", "\n").replace("\r", "\n"), note


def _unknown_encoding(raw: bytes) -> str:
    """Why Python itself would refuse the file, where its bytes are not simply broken UTF-8."""
    try:
        raw.decode("utf-8")
    except UnicodeError:
        return ""
    return "its coding line names an encoding that Python does not know: decoded as utf-8"
