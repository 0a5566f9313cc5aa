"""Questions taken apart, facts about a corpus, and each prior by hand."""

from dataclasses import replace

import numpy as np
import pytest

from codekb.chunks import Chunk, Corpus, Reference
from codekb.priors import NAMES, PRIORS, CodeFacts, Frame, analyse, apply_priors
from codekb.priors.neighbours import AMBIGUOUS, CLASS, Neighbours
from codekb.priors.rules import BY_NAME_ALONE, FADING, VOUCHING

REPORT = """Session loses cookies after a redirect

When I call `client.send` twice, see `pkg/http/client.py`:

```python
from pkg import make_client
make_client().send(1)
```

Traceback (most recent call last):
  File "/home/me/run.py", line 3, in <module>
    main()
  File "/usr/lib/python3/site-packages/pkg/http/client.py", line 12, in send
    self.store.set(key)
  File "/usr/lib/python3/site-packages/pkg/store.py", line 5, in set
    raise KeyError(key)
KeyError: 'a'
"""

GO_PANIC = """Panic on empty key

panic: runtime error: index out of range
goroutine 1 [running]:
example.org/x/cache.(*Store).Set(0xc0000, {0x0, 0x0})
\t/home/me/go/src/x/cache/store.go:21 +0x1d
main.main.func1()
\t/home/me/go/src/x/main.go:7 +0x2a
"""


def function(chunk_id: str, start: int = 1, marks: tuple[str, ...] = ()) -> Chunk:
    path, _, qualname = chunk_id.partition("::")
    name = qualname.rpartition(".")[2]
    language = "go" if path.endswith(".go") else "python"
    folder = path.rpartition("/")[0]
    return Chunk(
        chunk_id, "function", name, qualname, folder, path, start, start + 9, language, "", "", "", marks=marks
    )


IDS = (
    "src/pkg/http/client.py::Client.send",
    "src/pkg/store.py::Store.set",
    "src/pkg/store.py::Store.get",
    "src/pkg/other.py::set",
    "tests/test_store.py::test_set",
    "examples/demo.py::make_client",
    "cache/store.go::Store.Set",
    "api/api.pb.go::Encode",
)


@pytest.fixture
def facts() -> CodeFacts:
    starts = {"src/pkg/store.py::Store.get": 20, "src/pkg/http/client.py::Client.send": 5}
    return CodeFacts(Corpus([function(i, starts.get(i, 1)) for i in IDS]))


def ids(positions) -> list[str]:
    return [IDS[at] for at in positions]


# the question


@pytest.mark.parametrize(
    ("query", "kind", "symbols"),
    [
        ("getTimeout", "symbol", ["getTimeout"]),
        ("parse", "symbol", ["parse"]),
        ("flask.Flask.route", "symbol", ["flask.Flask.route"]),
        ("def get_user", "symbol", ["get_user"]),
        ("func (*Store).Set", "symbol", ["Store.Set"]),
        ("run()", "symbol", ["run"]),
        ("how long before a request times out", "sentence", []),
        ("retry when `run` fails", "sentence", ["run"]),
        ("Fix get_user for HTTPHeader parsing", "sentence", ["get_user"]),
        ("why does Store.set() hang, e.g. on www.example.org", "sentence", ["Store.set"]),
        ("see setup.py for details of it all", "sentence", []),
        ("", "sentence", []),
        ("word " * 100, "report", []),
    ],
)
def test_kind_and_symbols(query, kind, symbols):
    profile = analyse(query)
    assert profile.kind == kind
    assert list(profile.symbols) == symbols


def test_a_report_is_taken_apart():
    profile = analyse(REPORT)
    assert profile.kind == "report"
    assert profile.first_line == "Session loses cookies after a redirect"
    assert profile.symbols["client.send"] > profile.symbols["make_client"]
    assert "pkg/http/client.py" in profile.paths
    assert [(f.path.rpartition("/")[2], f.line, f.function) for f in profile.frames] == [
        ("run.py", 3, "<module>"), ("client.py", 12, "send"), ("store.py", 5, "set"),
    ]  # fmt: skip
    assert profile.depths == (2, 1, 0)


def test_a_go_panic_names_its_frames_innermost_first():
    profile = analyse(GO_PANIC)
    assert profile.frames == (
        Frame("/home/me/go/src/x/cache/store.go", 21, "Store.Set"),
        Frame("/home/me/go/src/x/main.go", 7, "main"),
    )
    assert profile.depths == (0, 1)


@pytest.mark.parametrize(
    ("trace", "frames"),
    [
        (
            "tests/test_a.py:12: in test_it\n    x()\npkg/a.py:5: KeyError",
            [Frame("tests/test_a.py", 12, "test_it"), Frame("pkg/a.py", 5)],
        ),
        ("File ~/x/pkg/a.py:15, in Store.get(self, key)", [Frame("~/x/pkg/a.py", 15, "Store.get")]),
        ("/opt/pkg/io/csv.py in read(path, **kwargs)\n    489\n--> 491", [Frame("/opt/pkg/io/csv.py", 0, "read")]),
        (
            "a.org/x/y/v6.(*Tree).copy(0xc0, {0x1, 0x7}, 0x0)\n\t/home/me/y/tree.go:354 +0x7e",
            [Frame("/home/me/y/tree.go", 354, "Tree.copy")],
        ),
        (
            "log | a.org/x/pool.run[...].each.func6({0x0?})\nlog | \t/x/pool/pool.go:19 +0x1",
            [Frame("/x/pool/pool.go", 19, "run.each")],
        ),
        ("call it (see below)\nplain text in a.go file", []),
    ],
)
def test_the_forms_of_stack_traces(trace, frames):
    assert list(analyse(trace).frames) == frames


def test_a_question_may_ask_for_tests_in_its_first_line():
    assert analyse("tests of the parser").asks == {"tests"}
    assert analyse("latest contest").asks == frozenset()
    assert analyse("Fix the parser\n\nAdds a test.").asks == frozenset()


@pytest.mark.parametrize("query", ["\x00", "`", "```\nunclosed", "(" * 500, "a." * 2000, 'File "x", line 1' * 50])
def test_hostile_questions_are_taken_apart_without_harm(query):
    analyse(query)


# the corpus


def test_symbols_find_their_definitions_container_first(facts):
    exact, loose = facts.named("Store.set")
    assert ids(exact) == [IDS[1], IDS[6]]
    assert ids(loose) == [IDS[3]]
    assert ids(facts.named("other.set")[0]) == [IDS[3]]
    assert ids(facts.named("set")[0]) == [IDS[1], IDS[3], IDS[6]]
    assert all(len(found) == 0 for found in facts.named("nothing.here"))


def test_frames_find_functions_by_file_and_name_then_by_line(facts):
    assert ids(facts.located(Frame("/lib/pkg/store.py", 5, "set"))) == [IDS[1]]
    assert ids(facts.located(Frame("/lib/elsewhere/store.py", 5, "set"))) == []
    assert ids(facts.located(Frame("/lib/pkg/store.py", 22))) == [IDS[2]]
    assert ids(facts.located(Frame("/lib/pkg/store.py", 22, "<module>"))) == []
    assert ids(facts.located(Frame("store.go", 2, "Store.Set"))) == [IDS[6]]


def test_sides(facts):
    assert [ids(np.flatnonzero(facts.side[s])) for s in ("tests", "examples", "generated", "compat")] == [
        [IDS[4]], [IDS[5]], [IDS[7]], [],
    ]  # fmt: skip


def test_coverage_is_the_share_of_the_names_weight(facts):
    share = facts.name_share({"client": 1.0})
    idf_make, idf_client = np.log(9), np.log(9)
    assert share[5] < 1 and share[0] == 0
    assert facts.name_share({"send": 1.0})[0] == 1.0
    assert facts.name_share({"send": 0.5})[0] == 0.5
    assert share[5] == pytest.approx(idf_client / (idf_make + 2 * idf_client))  # make, client, makeclient


# the priors


def gained(facts, query, name, scores=None):
    before = np.full(len(IDS), 0.5) if scores is None else np.array(scores, dtype=float)
    after, shares = apply_priors(analyse(query), facts, before, [name], weights={name: 0.5})
    np.testing.assert_allclose(before + sum(shares.values(), np.zeros(len(IDS))), after)
    return {IDS[at]: round(float(d), 6) for at, d in enumerate(after - before) if d}


def test_the_definition_of_a_symbol_gains(facts):
    assert gained(facts, "Store.get", "definition") == {IDS[2]: 0.5}
    assert gained(facts, "Cache.get", "definition") == {IDS[2]: 0.5 * BY_NAME_ALONE}
    assert gained(facts, "how to get a thing", "definition") == {}


def test_stack_frames_gain_more_the_nearer_to_the_error(facts):
    assert gained(facts, REPORT, "frames") == {IDS[1]: 0.5, IDS[0]: 0.5 * FADING}
    assert gained(facts, GO_PANIC, "frames") == {IDS[6]: 0.5}


def test_a_named_file_lifts_its_functions(facts):
    assert gained(facts, "crash in pkg/store.py somewhere", "paths") == {IDS[1]: 0.25, IDS[2]: 0.25}


def test_a_named_class_lifts_its_methods(facts):
    assert set(gained(facts, "`Store` loses keys", "scope")) == {IDS[1], IDS[2], IDS[6]}


def test_names_and_places_gain_by_their_share(facts):
    assert gained(facts, "send a request", "names")[IDS[0]] == 0.25
    assert IDS[0] in gained(facts, "the http client is slow", "places")


def test_files_that_agree_gain_more(facts):
    gain = gained(facts, "anything", "files", [0.1, 0.9, 0.8, 0.9, 0, 0, 0, 0])
    assert gain[IDS[1]] > gain[IDS[3]] > 0


@pytest.mark.parametrize(
    ("prior", "place", "asking"),
    [("tests", 4, "tests for set"), ("examples", 5, "an example of it"), ("generated", 7, "the generated encoder")],
)
def test_side_code_is_damped_unless_asked_for(facts, prior, place, asking):
    assert gained(facts, "how are keys kept", prior) == {IDS[place]: -0.25}
    assert gained(facts, asking, prior) == {}


def test_switches(facts):
    profile, scores = analyse("Store.get in a test of pkg/store.py"), np.full(len(IDS), 0.5)
    unchanged, shares = apply_priors(profile, facts, scores, False)
    assert shares == {} and (unchanged == scores).all()
    _, every = apply_priors(profile, facts, scores, True)
    assert list(every) == [n for n in NAMES if n in every] and len(every) > 1
    with pytest.raises(ValueError, match="no prior \\['luck'\\]; there are definition"):
        apply_priors(profile, facts, scores, ["luck"])


def test_priors_on_an_empty_corpus():
    empty = CodeFacts(Corpus([]))
    for query in ("x", REPORT, GO_PANIC):
        after, shares = apply_priors(analyse(query), empty, np.zeros(0))
        assert after.shape == (0,) and shares == {}


def test_names_are_unique_and_every_prior_says_what_it_does():
    assert len(set(NAMES)) == len(NAMES)
    assert all(p.says and p.weight >= 0 for p in PRIORS)


def calling(chunk_id: str, *names: str, marks: tuple[str, ...] = ()) -> Chunk:
    return replace(function(chunk_id, marks=marks), references=tuple(Reference(name, 1) for name in names))


CALLS = [
    calling("a/m.py::run", "helper", "Store.get", "print"),
    calling("a/m.py::helper"),
    calling("b/n.py::helper"),
    calling("a/m.py::Store.get", "self.load", "self.load"),
    calling("a/m.py::Store.load"),
    calling("b/n.py::Other.load"),
    calling("tests/test_m.py::test_run", "run", marks=("test",)),
]
RUN, HELPER, FAR, GET, LOAD, OTHER, TEST = range(7)


def test_neighbours_are_callees_callers_and_fellow_methods():
    near = Neighbours(CALLS)
    root = 1 / np.sqrt(2)
    assert near.evidence(RUN).tolist() == pytest.approx([0, root, 0, root, 0, 0, 1])  # two callees, one caller
    own = 1 + CLASS  # its class's load, not the other one
    assert near.evidence(GET).tolist() == pytest.approx([1, 0, 0, 0, own, 0, 0])
    assert near.evidence(FAR).tolist() == [0] * 7  # the plain name means the helper of the same file


def test_an_ambiguous_call_is_shared_out_and_a_hopeless_one_left():
    def caller_of(count):
        return Neighbours([calling("m.py::f", "x.go"), *(calling(f"m.py::C{i}.go") for i in range(count))])

    assert caller_of(2).evidence(0).tolist() == pytest.approx([0, 0.5 / np.sqrt(2), 0.5 / np.sqrt(2)])
    assert caller_of(AMBIGUOUS).evidence(0).sum() > 0
    assert caller_of(AMBIGUOUS + 1).evidence(0).sum() == 0


def test_a_call_of_oneself_is_no_neighbour_and_no_functions_none():
    assert Neighbours([calling("m.py::f", "f")]).evidence(0).tolist() == [0]
    Neighbours([])


def test_neighbours_of_the_best_gain_and_tests_only_when_asked_for():
    facts, scores = CodeFacts(Corpus(CALLS)), np.array([1.0, 0, 0, 0, 0, 0, 0])

    def gain(query):
        after, _ = apply_priors(analyse(query), facts, scores, ["neighbours"], weights={"neighbours": 0.1})
        return after - scores

    root = 0.1 / np.sqrt(2)
    assert gain("how does it run").tolist() == pytest.approx([0, root, 0, root, 0, 0, 0])
    assert gain("a test that it runs")[TEST] == pytest.approx(0.1)


def test_nothing_passes_what_vouches_for_it():
    facts = CodeFacts(Corpus(CALLS))
    scores = np.array([1.0, 0.99, 0, 0, 0, 0, 0])
    after, shares = apply_priors(analyse("anything"), facts, scores, ["neighbours"], weights={"neighbours": 0.5})
    assert after[0] == 1.0 > after[1] > 0.999 and after[3] > 0.3
    assert np.allclose(sum(shares.values()) + scores, after)


def test_of_two_that_vouch_the_stronger_counts_and_so_few_do():
    loners = [calling(f"z/l{i}.py::lone{i}", "helper") for i in range(VOUCHING)]
    facts = CodeFacts(Corpus([*CALLS, *loners]))
    at = facts.position
    scores = np.zeros(len(facts.functions))
    scores[[at[c.id] for c in loners]] = 1.0
    scores[at["a/m.py::run"]] = 0.5  # one more: it has no voice, so what it alone calls gains nothing
    after, _ = apply_priors(analyse("anything"), facts, scores, ["neighbours"])
    assert after[at["a/m.py::Store.get"]] == 0
    share = next(p.weight for p in PRIORS if p.name == "neighbours") * 0.5 / np.sqrt(2)  # two helpers share each call
    assert after[at["a/m.py::helper"]] == pytest.approx(share)
