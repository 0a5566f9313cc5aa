"""The texts of a chunk, the tokenizer and the token estimate, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codekb.chunks import Chunk
from codekb.text import body, count_tokens, documented, enrich, header, tokenize


def chunk(language: str = "python", qualname: str = "Store.get", doc: str = "", marks: tuple[str, ...] = ()) -> Chunk:
    path = "cache/store." + {"python": "py", "go": "go"}[language]
    name = qualname.rpartition(".")[2]
    code = "def get(self): ..." if language == "python" else "func (s *Store) Get() {}"
    return Chunk(
        f"{path}::{qualname}", "function", name, qualname, "cache", path, 1, 1, language, "", doc, code, (), marks
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getTimeout", ["get", "timeout"]),
        ("ValidateToken", ["validate", "token"]),
        ("parseHTTPHeader", ["parse", "http", "header"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("utf8Reader2", ["utf", "8", "reader", "2"]),
        ("__init__", ["init"]),
        ("HTTP", ["http"]),
        ("größe straße", ["gr", "öß", "e", "stra", "ß", "e"]),
        ("", []),
        ("!?", []),
    ],
)
def test_identifiers_come_apart(text: str, parts: list[str]) -> None:
    assert tokenize(text) == parts


def test_duplicates_and_order_are_kept() -> None:
    assert tokenize("run runRun") == ["run", "run", "run"]


def test_the_header_says_where_a_function_lives() -> None:
    assert header(chunk()) == "File: cache/store.py | Package: cache | Function: Store.get"


def test_a_go_method_is_written_with_its_receiver() -> None:
    assert header(chunk("go", "Store.Set", marks=("method", "pointer"))).endswith("Function: (*Store) Set")
    assert header(chunk("go", "Store.Set", marks=("method",))).endswith("Function: (Store) Set")
    assert header(chunk("go", "NewStore")).endswith("Function: NewStore")


def test_enriched_text_is_header_blank_line_body() -> None:
    assert enrich(chunk()) == f"{header(chunk())}\n\n{body(chunk())}"


def test_a_go_comment_comes_before_the_code_once() -> None:
    assert documented(chunk("go", "Get", doc="Get reads.")) == "/*\nGet reads.\n*/\nfunc (s *Store) Get() {}"
    assert documented(chunk("python", doc="Get it.")) == "def get(self): ..."


def test_nothing_costs_nothing_and_a_word_costs_one() -> None:
    assert count_tokens("") == 0 and count_tokens("word") == 1


@given(st.text(), st.text())
def test_more_text_never_costs_less(a: str, b: str) -> None:
    assert count_tokens(a + "\n" + b) >= max(count_tokens(a), count_tokens(b)) - 1
