"""Question files and their errors; docstring questions and the corpus without the docstrings, Python and Go."""

import json
from pathlib import Path

import pytest

from codekb.chunks import Chunk, Corpus
from codekb.parsing.repo import parse_repo
from codekb.questions import (
    Question,
    check_answers,
    first_sentence,
    load_questions,
    questions_from_docstrings,
    save_questions,
)

DATA = Path(__file__).parents[1] / "data"

PYTHON = '''\
"""Module words stay."""


class Store:
    """Class words stay."""

    @property
    def size(self):
        """How many keys are kept. More words.

        And a second paragraph.
        """
        return len(self.keys)

    def get(self, key):
        """Shared first sentence here."""

        def inner():
            """Deep nested helper words."""
            return key

        return inner()


def other():
    """Shared first sentence here."""


def short():
    """See above."""
    return """not a docstring"""


def one_line(): "All upon one line."; return 1


async def waits(
    a=1,
):
    """Waits for the gate."""
    return a
'''

GO = """\
package store

// Get returns the value kept for a key. It may be nil.
func Get(key string) string {
	return values[key]
}
"""


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "store.py").write_text(PYTHON)
    (tmp_path / "store.go").write_text(GO)
    (tmp_path / "test_store.py").write_text('def test_get():\n    """Gets a stored key back."""\n')
    return parse_repo(tmp_path)


def test_first_sentences_become_questions_and_shared_ones_have_all_answers(corpus):
    questions, _ = questions_from_docstrings(corpus)
    asked = {q.text: q.answers for q in questions}
    assert asked == {
        "How many keys are kept.": ("store.py::Store.size",),
        "Shared first sentence here.": ("store.py::Store.get", "store.py::other"),
        "Deep nested helper words.": ("store.py::Store.get.inner",),
        "All upon one line.": ("store.py::one_line",),
        "Waits for the gate.": ("store.py::waits",),
        "returns the value kept for a key.": ("store.go::Get",),
    }
    assert {q.kind for q in questions} == {"docstring"}
    assert len({q.id for q in questions}) == len(questions)


def test_docstrings_are_gone_wherever_a_function_shows_them(corpus):
    _, stripped = questions_from_docstrings(corpus)
    code = {c.id: c.code for c in stripped}
    assert "How many" not in code["store.py::Store.size"] and "How many" not in code["store.py::Store"]
    assert "second paragraph" not in code["store.py::Store.size"]
    assert "Deep nested" not in code["store.py::Store.get"] + code["store.py::Store.get.inner"]
    assert "Waits" not in code["store.py::waits"] and "return a" in code["store.py::waits"]
    assert "See above" not in code["store.py::short"] and "not a docstring" in code["store.py::short"]
    assert "Class words stay." in code["store.py::Store"]
    assert "return len(self.keys)" in code["store.py::Store.size"]
    assert all(not c.doc for c in stripped.functions)
    assert [c.id for c in stripped] == [c.id for c in corpus]
    assert stripped["store.py::Store.size"].end_line == corpus["store.py::Store.size"].end_line
    assert corpus["store.py::Store.size"].doc, "the corpus given stays as it is"


def test_a_docstring_beside_code_on_one_line_is_cut_out(corpus):
    _, stripped = questions_from_docstrings(corpus)
    assert "All upon" not in stripped["store.py::one_line"].code
    assert "return 1" in stripped["store.py::one_line"].code


def test_documented_only_leaves_the_rest_out(corpus):
    _, pool = questions_from_docstrings(corpus, documented_only=True)
    assert all(corpus[c.id].doc for c in pool.functions)


def test_sampling_is_seeded(corpus):
    first, _ = questions_from_docstrings(corpus, limit=3, seed=1)
    again, _ = questions_from_docstrings(corpus, limit=3, seed=1)
    assert first == again and len(first) == 3


def test_code_that_does_not_parse_loses_its_docstring_too():
    code = 'def f(:\n    """Finds the broken thing\n    somehow."""\n    return 1\n'
    broken = Chunk(
        "a.py::f", "function", "f", "f", "", "a.py", 1, 4, "python", "", "Finds the broken thing\n    somehow.", code
    )
    questions, stripped = questions_from_docstrings(Corpus([broken]))
    assert questions[0].text == "Finds the broken thing somehow."
    assert "broken thing" not in stripped["a.py::f"].code and "return 1" in stripped["a.py::f"].code


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("Opens v1.2 files at once. Then more.", "Opens v1.2 files at once."),
        ("Reads a\n    line of text", "Reads a line of text"),
        (":param x: the thing to do", ""),
        ("TODO write this down now", ""),
        ("Is this a question? Yes.", "Is this a question?"),
        ("", ""),
    ],
)
def test_first_sentence(doc, sentence):
    assert first_sentence(Chunk("a::f", "function", "f", "f", "", "a", 1, 1, "python", "", doc, "")) == sentence


def test_an_empty_corpus_asks_nothing():
    questions, stripped = questions_from_docstrings(Corpus([]))
    assert questions == [] and len(stripped) == 0


# files


def test_a_saved_set_loads_as_it_was(tmp_path):
    questions = [
        Question("g1", "wie lange?", ("a.py::f", "a.py::g"), "pkg"),
        Question("g2", "x", ("b",), kind="symbol"),
    ]
    save_questions(tmp_path / "q.json", questions, corpus="demo", source="by hand")
    assert load_questions(tmp_path / "q.json") == questions
    assert json.loads((tmp_path / "q.json").read_text())["corpus"] == "demo"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "must be an object"),
        ('{"questions": 3}', "must be an object"),
        ('{"questions": ["x"]}', "question 1 is str"),
        ('{"questions": [{"id": "a", "answers": ["x"]}]}', 'question 1 \\(a\\): "text" must be'),
        ('{"questions": [{"id": "a", "text": " ", "answers": ["x"]}]}', '"text" must be a non-empty string'),
        ('{"questions": [{"id": "a", "text": "t", "answers": []}]}', '"answers" must be a non-empty list'),
        ('{"questions": [{"id": "a", "text": "t", "answers": "x"}]}', '"answers" must be a non-empty list'),
        ('{"questions": [{"id": "a", "text": "t", "answers": ["x"], "extra": 1}]}', "unknown keys \\['extra'\\]"),
        ('{"questions": [{"id": "a", "text": "t", "answers": ["x"], "kind": 1}]}', '"kind" must be a string'),
        ('{"questions": [{"id": "a", "text": "t", "answers": ["x"]}, {"id": "a", "text": "u", "answers": ["x"]}]}',
         "twice: \\['a'\\]"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_the_place_and_the_reason(tmp_path, content, message):
    (tmp_path / "q.json").write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        load_questions(tmp_path / "q.json")
    assert str(error.value).startswith("q.json")


def test_answers_must_be_chunks_of_the_corpus(corpus, tmp_path):
    good = Question("g1", "x", ("store.py::Store.get",))
    save_questions(tmp_path / "q.json", [good], corpus="demo", source="by hand")
    assert load_questions(tmp_path / "q.json", corpus) == [good]
    with pytest.raises(ValueError, match=r"question g2: no chunk 'store.py::get' .* nearest: .*Store.get"):
        check_answers([Question("g2", "x", ("store.py::get",))], corpus)


def test_the_questions_on_networkx_have_answers_in_the_installed_version():
    networkx = pytest.importorskip("networkx")
    if networkx.__version__ != "3.6.1":
        pytest.skip(f"written for networkx 3.6.1, {networkx.__version__} is installed")
    root = Path(networkx.__file__).parent
    questions = load_questions(DATA / "networkx_questions.json", parse_repo(root))
    assert len(questions) == 30
