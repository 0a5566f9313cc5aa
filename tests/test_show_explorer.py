"""The explorer without a browser: controls reach the search, clicks select, errors are told, nothing is raised."""

from __future__ import annotations

import asyncio
import zlib
from pathlib import Path

import ipywidgets as widgets
import numpy as np
import pytest

from codekb.knowledge_base import KnowledgeBase
from codekb.ranking import Hit, Ranking, Step
from codekb.show import Explorer
from codekb.show.controls import Choices, build_controls, names_shown, search_arguments
from codekb.show.results import payload
from codekb.show.sources import make_encoder, providers, report_html
from codekb.text import tokenize

SHOP = {
    "db/connection.py": 'def connect(url):\n    """Open a database connection."""\n'
    "    return with_retry(lambda: dial(url))\n\n\ndef with_retry(call):\n    return call()\n\n\n"
    "def dial(url):\n    return url\n",
    "db/query.py": "from db.connection import connect\n\n\ndef fetch(sql):\n    return connect('x').run(sql)\n",
    "client/http.py": "def get(url):\n    return url\n",
}
HOSTILE_DIR = "a 'b' \"c\" <img src=x onerror=alert(1)> 🙂"
HOSTILE_CODE = (
    'def pwn(x="<script>alert(1)</script>"):\n    """</script><script>alert(2)</script> 🙂"""\n    return x\n'
)


class HashEncoder:
    """Word counts hashed to 64 dimensions: an encoder that needs no weights."""

    name = "hash-64"
    dimension = 64

    def encode(self, texts):
        rows = [self.encode_query(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def encode_query(self, text):
        vector = np.zeros(self.dimension, np.float32)
        for word in tokenize(text):
            vector[zlib.crc32(word.encode()) % self.dimension] += 1
        length = np.linalg.norm(vector)
        return vector / length if length else vector


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def kb(tmp_path):
    return KnowledgeBase.build(write(tmp_path / "shop", SHOP), encoder=HashEncoder())


@pytest.fixture
def explorer(kb):
    return Explorer(kb, query="database connection")


def shown_names(explorer: Explorer) -> list[str]:
    return [row["name"] for row in explorer.results.payload["rows"]]


def test_opens_with_results_source_and_graph_of_the_first_hit(explorer):
    assert shown_names(explorer)[0] == "connect"
    assert explorer.selected == "db/connection.py::connect" == explorer.graph.selected
    assert "<mark>" in explorer.source.value and "called by 1, calls 1 in this code base" in explorer.source.value
    assert {node["id"] for node in explorer.graph.payload["nodes"]} >= {"db/connection.py::connect"}
    assert repr(explorer) == "Explorer(5 functions, query='database connection'): run the cell to use it"


def test_every_control_is_an_argument_of_the_search_and_reaches_it(kb, monkeypatch):
    asked: list[dict] = []
    monkeypatch.setattr(kb, "search", lambda query, **more: asked.append(more) or Ranking([], query=query))
    explorer = Explorer(kb, query="x")
    changes = {
        "method": "dense", "k": 3, "namespace": "db", "include_tests": False, "text": "body", "scorer": "overlap",
        "fusion": "rrf", "graph": "one_hop", "related": 4, "strength": 0.5,
    }  # fmt: skip
    for name, value in changes.items():
        explorer.controls[name].value = value
        assert asked[-1][name] == value
    explorer.controls["boost"].value = "retry,  backoff ,"
    assert asked[-1]["boost"] == ("retry", "backoff") and asked[-1]["suppress"] == ()
    explorer.controls["priors"].value = ("definition",)
    assert asked[-1]["priors"] == ("definition",)
    explorer.controls["priors"].value = ()
    assert asked[-1]["priors"] == ()


def test_every_argument_of_the_search_has_a_control(kb):
    import inspect

    arguments = set(inspect.signature(KnowledgeBase.search).parameters) - {"self", "query", "hybrid"}
    assert arguments == set(search_arguments(Explorer(kb).controls)) | {"fusion"}


def test_toggle_changes_the_ranking(explorer):
    explorer.controls["namespace"].value = "client"
    assert shown_names(explorer) == ["get"]
    explorer.controls["namespace"].value = ""
    assert len(shown_names(explorer)) > 1


def test_preset_opens_on_its_technique(kb):
    explorer = Explorer(kb, query="connection", show=("namespace", "hybrid"), namespace="db", hybrid=False, k=2)
    assert explorer.controls["method"].value == "dense" and len(shown_names(explorer)) == 2
    row = explorer.children[1].children
    assert row[0] is explorer.controls["namespace"] and explorer.controls["method"] in row[1].children and len(row) == 2


def test_unknown_preset_and_unknown_value_and_unknown_show_are_refused_with_what_there_is(kb):
    with pytest.raises(TypeError, match=r"no control 'metod'.*namespace"):
        Explorer(kb, metod="dense")
    with pytest.raises(ValueError, match=r"'fuzzy'.*hybrid"):
        Explorer(kb, method="fuzzy")
    with pytest.raises(ValueError, match="no control"):
        Explorer(kb, show=("nothing",))


def test_row_click_and_node_click_show_the_source(explorer):
    explorer.results.selected = "db/query.py::fetch"
    assert "connect" in explorer.source.value and "fetch" in explorer.source.value
    explorer.graph.clicked = ["db/connection.py::with_retry", 1]
    assert explorer.selected == explorer.results.selected == "db/connection.py::with_retry"
    assert "with_retry" in explorer.source.value


def test_graph_around_the_selected_chunk_says_the_confidence_of_every_edge(explorer):
    explorer.controls["around"].value = "selected"
    payload = explorer.graph.payload
    assert payload["edges"] and all(0 < float(edge["label"]) <= 1 for edge in payload["edges"])
    assert all("confidence" in edge["title"] for edge in payload["edges"])


def test_resolver_and_relations_redraw_without_asking_again(explorer, monkeypatch):
    monkeypatch.setattr(explorer.kb, "search", lambda *a, **k: pytest.fail("the search ran"))
    explorer.controls["resolver"].value = "name"
    explorer.controls["relations"].value = ()
    assert explorer.graph.payload["edges"] == []


def test_empty_query_asks_for_one(kb):
    explorer = Explorer(kb)
    assert "press Enter" in explorer.results.payload["head"] and explorer.source.value == ""


def test_error_of_a_search_is_told_in_the_list(explorer, monkeypatch):
    def broken(*_args, **_more):
        raise ValueError("no view 'body' <b>")

    monkeypatch.setattr(explorer.kb, "search", broken)
    explorer.query.value = "again"
    assert explorer.results.payload["error"] == "no view 'body' <b>"
    assert (
        "connect" in explorer.source.value and explorer.graph.payload["nodes"]
    )  # of the search before, as the head says


def test_graph_that_cannot_be_built_costs_neither_results_nor_source(kb, monkeypatch):
    tried: list[str] = []

    def broken(resolver):
        tried.append(resolver)
        raise ValueError("an edge leaves the corpus")

    monkeypatch.setattr(kb, "graph_by", broken)
    explorer = Explorer(kb, query="database connection", graph="one_hop", related=2)
    assert shown_names(explorer)[0] == "connect" and "connect" in explorer.source.value
    assert "Without the graph" in explorer.results.payload["error"]
    note = explorer.graph.payload["note"]
    assert "an edge leaves the corpus" in note and "resolved by" in note and explorer.graph.busy == ""
    before = len(tried)
    explorer.results.selected = "db/query.py::fetch"
    assert len(tried) == before and "fetch" in explorer.source.value


def test_folder_that_is_not_there_is_told_with_the_nearest_and_the_source_stays(explorer):
    explorer.controls["namespace"].value = "clientt"
    error = explorer.results.payload["error"]
    assert error == "No folder 'clientt' with code here. Nearest: client; 1 more in the list of Only in."
    assert "connect" in explorer.source.value and explorer.ranking


def test_boxes_toggle_one_prior_each_and_one_search_each(explorer, monkeypatch):
    asked: list[object] = []
    search = explorer.kb.search
    monkeypatch.setattr(explorer.kb, "search", lambda *a, **k: asked.append(k["priors"]) or search(*a, **k))
    priors = explorer.controls["priors"]
    priors.boxes["files"].value = False
    assert asked == [tuple(n for n in priors.options if n != "files")]
    priors.boxes["files"].value = True
    assert asked[-1] is True and len(asked) == 2
    priors.value = ("names",)
    assert [name for name, box in priors.boxes.items() if box.value] == ["names"] and len(asked) == 3


def test_error_of_the_graph_is_told_in_its_note(explorer, monkeypatch):
    monkeypatch.setattr(explorer.kb, "graph_by", lambda _: (_ for _ in ()).throw(ValueError("no resolver")))
    explorer.controls["resolver"].value = "name"
    assert "no resolver" in explorer.graph.payload["note"]
    assert explorer.results.payload["rows"]


def test_another_folder_is_indexed_and_asked_the_same(explorer, tmp_path):
    other = write(tmp_path / "other", {"deep/pool.py": "def connection_pool():\n    pass\n", "bad.py": "x = '\0'\n"})
    explorer.controls["namespace"].value = "db"
    explorer.load.path.value = str(other)
    explorer.load.go.click()
    assert shown_names(explorer) == ["connection_pool"] and explorer.controls["namespace"].value == ""
    assert explorer.controls["namespace"].options == ("deep",)
    assert "1 function in 1 file of" in explorer.load.report.value and "bad.py" in explorer.load.report.value


def pressed_enter(box: widgets.Text) -> None:
    """What the browser sends for Enter in a text box, before its text."""
    box._handle_custom_msg({"event": "submit"}, [])


def test_enter_in_the_path_box_starts_the_indexing_and_leaving_it_does_not(explorer, tmp_path):
    other = write(tmp_path / "other", {"a.py": "def database_connection():\n    pass\n"})
    explorer.load.path.value = str(other)  # left without Enter
    assert len(explorer.kb.corpus.functions) == 5
    explorer.load.path.value = ""
    pressed_enter(explorer.load.path)
    explorer.load.path.value = str(other)
    assert shown_names(explorer) == ["database_connection"]
    explorer.load.path.value = "changed and left"
    assert shown_names(explorer) == ["database_connection"]


def test_enter_indexes_a_text_that_was_sent_before(explorer, tmp_path, monkeypatch):
    monkeypatch.setattr("codekb.show.sources.TEXT_FOLLOWS", 0.01)
    explorer.load.path.value = str(write(tmp_path / "other", {"a.py": "def database_connection():\n    pass\n"}))

    async def kernel() -> None:
        pressed_enter(explorer.load.path)
        await asyncio.sleep(0.1)

    asyncio.run(kernel())
    assert shown_names(explorer) == ["database_connection"]


def test_package_is_indexed_by_its_name(explorer):
    explorer.load.path.value = "codekb.store"
    explorer.load.index()
    assert explorer.kb.corpus.get("collection.py::Collection") is not None


@pytest.mark.parametrize("wrong", ["/no/such/folder<b>", "no_such_package", ""])
def test_wrong_path_is_told_and_the_old_knowledge_base_stays(explorer, wrong):
    before = explorer.kb
    explorer.load.path.value = wrong
    explorer.load.index()
    assert explorer.kb is before and ("is no folder" if wrong else "no folder given") in explorer.load.report.value
    assert "<b>" not in explorer.load.report.value and not explorer.load.go.disabled
    assert "The results shown are still those of" in explorer.load.report.value


def test_path_may_hold_spaces_and_stand_in_quotes(explorer, tmp_path):
    write(tmp_path / "my code", {"a.py": "def spaced():\n    pass\n"})
    explorer.load.path.value = f" '{tmp_path / 'my code'}' "
    explorer.load.index()
    assert [c.name for c in explorer.kb.corpus.functions] == ["spaced"]


def test_no_choice_opens_as_an_empty_box(explorer):
    boxes = {n: c for n, c in explorer.controls.items() if isinstance(c, widgets.Dropdown)}
    assert len(boxes) >= 4 and all(box.label for box in boxes.values())


def test_list_says_when_the_graph_put_a_hit_below_its_score(kb):
    first, second = kb.corpus.functions[:2]
    step = Step(first.id, "calls", second.id, 1, 1.0, "")
    below = Ranking([Hit(first, 0.2), Hit(second, 0.9, via=(step,))])
    assert "stands below the matches" in payload(below)["head"]
    assert payload(Ranking([Hit(first, 0.9), Hit(second, 0.2, via=(step,))]))["head"] == "2 results"


def test_folder_without_code_is_told(explorer, tmp_path):
    write(tmp_path / "empty", {"readme.txt": "nothing"})
    explorer.load.path.value = str(tmp_path / "empty")
    explorer.load.index()
    assert "no Python or Go function" in explorer.load.report.value


def test_encoder_is_changed_and_key_is_never_a_field(explorer, monkeypatch):
    monkeypatch.setattr("codekb.show.sources.make_encoder", lambda *_: HashEncoder())
    before = explorer.kb.encoder
    explorer.load.use.click()
    assert explorer.kb.encoder is not before and shown_names(explorer)[0] == "connect"
    assert set(providers().values()) >= {"embedded"} and make_encoder("embedded").dimension > 0
    fields = [
        w for w in (explorer.load.model, explorer.load.base_url, explorer.load.path) if "key" in w.description.lower()
    ]
    assert not fields


def test_nothing_of_a_hostile_repository_becomes_html(tmp_path):
    root = write(tmp_path / "bad", {f"{HOSTILE_DIR}/<script>.py": HOSTILE_CODE})
    kb = KnowledgeBase.build(root, encoder=HashEncoder())
    explorer = Explorer(kb, query="pwn <script>alert(3)</script>")
    assert shown_names(explorer) == ["pwn"]
    for markup in (explorer.source.value, report_html(kb.corpus), explorer.ranking._repr_html_()):
        assert "<script" not in markup and "<img" not in markup
    assert explorer.results.payload["rows"][0]["where_full"].startswith(HOSTILE_DIR)  # set as text by the widget


def test_widgets_set_text_and_never_html():
    static = Path(__file__).resolve().parents[1] / "codekb" / "show" / "static"
    for script in sorted(static.glob("*.js")):
        text = script.read_text(encoding="utf-8")
        assert not any(
            word in text for word in ("innerHTML", "insertAdjacentHTML", "outerHTML", "document.write", "eval(")
        )


def test_controls_keep_their_names():
    made = build_controls(Choices(("a", "b"), ("definition",)), {})
    assert names_shown(("hybrid", "steer", "method"), made) == ["method", "boost"]
