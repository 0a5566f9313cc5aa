"""Source as HTML: nothing lost, nothing unescaped, the words of the query marked."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import codekb.show.source as module
from codekb.show.source import matching_spans, source_html


def plain(markup: str) -> str:
    inner = markup.split('<pre class="ckb-src">')[1].split("</pre>")[0]
    return html.unescape(re.sub(r"<[^>]*>", "", re.sub(r'<span class="g">[^<]*</span>', "", inner)))


def test_source_survives_highlighting_letter_for_letter():
    code = Path(module.__file__).read_text(encoding="utf-8")
    assert plain(source_html(code, "python", query="mark the words of a query")) == code.rstrip()


@pytest.mark.parametrize(
    "code",
    [
        "",
        "\n",
        "def f(:\n  '''",
        "x = '<script>alert(1)</script>' & \"'\"",
        "func (s *Store[K, V]) Set() {}",
        "a\x0cb\n",
    ],
)
@pytest.mark.parametrize("language", ["python", "go", "cobol"])
def test_broken_and_hostile_source_is_shown_escaped(code, language):
    markup = source_html(code, language)
    assert "<script" not in markup and plain(markup) == code.rstrip()


def test_lines_are_numbered_as_in_the_file_and_windows_ends_count_once():
    markup = source_html("\ufeffx = 1\r\ny = 2\r\n", "python", first_line=41, mark_lines={42})
    assert re.findall(r'class="g">([^<]*)<', markup) == ["41", "▸ 42"]
    assert plain(markup) == "x = 1\ny = 2"


def test_only_the_matching_part_of_an_identifier_is_marked():
    markup = source_html("def getTimeout(): pass", "python", query="how long are timeouts")
    assert re.sub(r"</?span[^>]*>", "", re.search("<mark>.*?</mark>", markup)[0]) == "<mark>Timeout</mark>"


def test_a_whole_identifier_in_the_query_marks_it_whole():
    text = "x = parse_http_header(y)"
    assert [text[a:b] for a, b in matching_spans(text, "parseHTTPHeader")] == ["parse_http_header"]


def test_stop_words_and_letters_that_change_length_mark_nothing():
    assert matching_spans("the İstanbul of x", "the of istanbul") == []


def test_bidirectional_controls_are_made_visible():
    assert "\\u202e" in source_html("x = '\u202e'", "python") and "\u202e" not in source_html("x = '\u202e'", "python")


def test_tabs_become_spaces_so_that_line_numbers_do_not_move_them():
    shown = source_html("func f() {\n\tx := 1\n\t\tvalue\n}", "go", query="value")
    assert "\t" not in shown and "        <mark>" in shown
