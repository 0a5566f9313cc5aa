"""Terms: identifiers and prose meet in the same stems; nothing breaks on odd input."""

import re

import pytest

from codekb.words import ENGLISH, KEYWORDS, spellings, stem, terms, word_terms, words


@pytest.mark.parametrize(
    "forms",
    [("query", "queries"), ("parse", "parsed", "parsing", "parses"), ("add", "added", "adding", "adds"),
     ("run", "running", "runs"), ("node", "nodes"), ("match", "matches", "matching"), ("class", "classes"),
     ("process", "processes", "processed"), ("cache", "caches", "cached", "caching")],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(forms):
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["status", "thing", "string", "this", "bus", "is", "s", "", "2024", "größe"])
def test_what_is_no_ending_stays(word):
    assert stem(word) == word


def test_prose_and_identifiers_meet():
    assert set(terms("parsed HTTP headers")) <= set(terms("def parseHTTPHeader(): pass"))
    assert terms("get_timeout")[-1] == terms("getTimeout")[-1] == "gettimeout"


def test_stop_words_and_keywords_are_dropped_but_their_identifiers_stay():
    assert terms("def f(self): return it") == []
    assert terms("is_in") == ["isin"]
    assert not ENGLISH & {"after", "between", "until", "first", "last"}
    assert not KEYWORDS & {"type", "map", "range", "select", "interface"}


def test_odd_input():
    assert terms("") == [] and terms("\x00\n") == []
    assert terms("日本語 text") == ["日本語", "text"]
    assert word_terms("_") == ()
    assert terms("v2 x1") == terms("v2 x1") and "v2" in terms("v2")


def test_spellings_lead_from_each_term_back_to_what_was_written():
    text = "Retrying HTTPHeaders of get_user_ids, retried 2 times"
    written = spellings(text)
    assert set(terms(text)) <= set(written)
    assert [written[t] for t in ("retry", "httpheaders", "header", "getuserids")] == [
        "retrying", "HTTPHeaders", "headers", "get_user_ids",
    ]  # fmt: skip
    assert spellings("") == {}


def test_words_are_the_runs_of_word_characters_whatever_stands_between():
    ascii_only = "".join(f"a{chr(c)}_9Z{chr(c)}{chr(c)}" for c in range(128))
    assert words(ascii_only) == re.findall(r"\w+", ascii_only)
    assert words(ascii_only + "é\u2028ж") == re.findall(r"\w+", ascii_only + "é\u2028ж")
    assert words("") == words("\x1f\x00 \t") == []
