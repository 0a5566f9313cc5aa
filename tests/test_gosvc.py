"""The Go example service: it builds, it has exactly the functions that the notebooks name, its questions fit it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codekb.parsing import go

DATA = Path(__file__).parent.parent / "data"
SERVICE = DATA / "gosvc"

FUNCTIONS = {
    "api/handler.go": ["HandleRequest", "WriteError", "WriteJSON"],
    "auth/middleware.go": ["Authenticate", "Authorize"],
    "auth/token.go": ["RefreshToken", "RevokeToken", "ValidateToken"],
    "cache/store.go": ["NewStore", "Store.Delete", "Store.Flush", "Store.Get", "Store.Set"],
    "cli/flags.go": ["ParseFlags", "getTimeout"],
    "cli/root.go": ["Execute"],
    "db/connection.go": ["Close", "Connect", "Ping"],
    "db/query.go": ["Execute", "FetchAll", "QueryRow", "Transaction"],
    "db/retry.go": ["withRetry"],
}
ASKED = [
    *(f"api/handler.go::{name}" for name in ("HandleRequest", "WriteJSON", "WriteError")),
    *(f"auth/middleware.go::{name}" for name in ("Authenticate", "Authorize")),
    *(f"auth/token.go::{name}" for name in ("ValidateToken", "RefreshToken", "RevokeToken")),
    *(f"cache/store.go::{name}" for name in ("NewStore", "Store.Set", "Store.Get", "Store.Delete", "Store.Flush")),
    *("cli/flags.go::ParseFlags", "cli/flags.go::getTimeout", "cli/root.go::Execute"),
    *("db/connection.go::Connect", "db/connection.go::Ping"),
]


def _parsed() -> dict[str, go.FileParse]:
    paths = sorted(SERVICE.rglob("*.go"))
    return {
        p.relative_to(SERVICE).as_posix(): go.parse(p.relative_to(SERVICE).as_posix(), p.read_text()) for p in paths
    }


def test_exactly_the_listed_functions() -> None:
    found = {
        path: sorted(c.qualname for c in parse.chunks if c.kind == "function") for path, parse in _parsed().items()
    }
    assert found == FUNCTIONS


def test_every_file_parses_without_reservation() -> None:
    assert {path: parse.note for path, parse in _parsed().items() if parse.note} == {}


def test_questions_ask_for_the_eighteen_functions_in_order() -> None:
    questions = json.loads((DATA / "gosvc_questions.json").read_text())["questions"]
    assert [q["answers"] for q in questions] == [[chunk_id] for chunk_id in ASKED]
    assert [q["id"] for q in questions] == [f"g{n:02d}" for n in range(1, 19)]
    assert all(q["kind"] == "sentence" for q in questions)


def test_a_namespace_is_never_read_off_the_answer() -> None:
    words = {"cache": ("cache",), "cli": ("command line", "prompt"), "db": ("database",)}
    for question in json.loads((DATA / "gosvc_questions.json").read_text())["questions"]:
        if question["namespace"] is None:
            continue
        assert any(word in question["text"] for word in words[question["namespace"]]), question
        assert question["answers"][0].startswith(question["namespace"] + "/"), question


def test_no_question_repeats_a_doc_comment() -> None:
    docs = {c.id: " ".join(c.doc.lower().split()) for parse in _parsed().values() for c in parse.chunks}
    for question in json.loads((DATA / "gosvc_questions.json").read_text())["questions"]:
        words = question["text"].lower().split()
        for start in range(len(words) - 3):
            assert " ".join(words[start : start + 4]) not in docs[question["answers"][0]], question


@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
def test_it_builds_and_vets(tmp_path: Path) -> None:
    settings = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(tmp_path / "cache"), "GOTOOLCHAIN": "local"}
    copy = shutil.copytree(SERVICE, tmp_path / "gosvc")
    for command in (["go", "build", "./..."], ["go", "vet", "./..."]):
        done = subprocess.run(command, cwd=copy, env=os.environ | settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
