"""The explorer: query box, every switch of a search, results, source and graph in one widget. Parts live beside it."""

from __future__ import annotations

import difflib
import html
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from codekb.chunks import Chunk, in_namespace
from codekb.markup import annotation, path_of
from codekb.priors import NAMES
from codekb.ranking import Hit, Ranking
from codekb.show import graph, results
from codekb.show.controls import Choices, build_controls, field, names_shown, search_arguments
from codekb.show.neighbourhood import MAX_SIDE, around
from codekb.show.source import source_html
from codekb.show.sources import LoadPanel
from codekb.table import counted

if TYPE_CHECKING:
    import networkx as nx

    from codekb.knowledge_base import KnowledgeBase

DEFAULT_SHOW = ("method", "namespace", "graph", "around")
DRAWN_ONLY = frozenset({"resolver", "relations", "around"})
"""Controls that change the picture and not the ranking."""

SOURCE_HEIGHT = "320px"
LIST_FLEX, GRAPH_FLEX = "41 1 300px", "59 1 420px"
"""List and graph stand side by side where both fit, else below each other."""

MIN_SIDE = 6
"""Neighbours a side around few results; around more, as many as there are results."""


NEAREST = 4
"""Folders offered in place of one that there is not."""


class Explorer(widgets.VBox):  # type: ignore[misc]
    """A knowledge base to explore. `ranking` is the last result, `selected` the id of the chunk whose source is shown.

    `show` names the controls that stand under the query (all others are in an accordion); every other keyword
    presets the control of that name, as in `KnowledgeBase.search`: `Explorer(kb, query="…", show=("hybrid",))`.
    """

    def __init__(
        self, kb: KnowledgeBase, *, query: str = "", show: Sequence[str] = DEFAULT_SHOW, **preset: Any
    ) -> None:
        self.kb = kb
        self.ranking = Ranking([], query=query)
        self.selected = ""
        self._counted: tuple[object, Counter[str]] = (None, Counter())
        self._broken: dict[tuple[int, str], Exception] = {}
        self.controls = build_controls(Choices(kb.corpus.namespaces, NAMES), preset)
        self.query = widgets.Text(
            value=query, placeholder="What should the code do?", continuous_update=False, layout={"width": "auto"}
        )
        self.results = results.ResultList()
        self.graph = graph.GraphView()
        self.source = widgets.HTML()
        self.load = LoadPanel(kb, self._replace, self._resolver)
        super().__init__(self._laid_out(names_shown(show, self.controls)))
        self._connect()
        self.search()

    def __repr__(self) -> str:
        return (
            f"Explorer({counted(len(self.kb.corpus.functions), 'function')}, "
            f"query={self.query.value!r}): run the cell to use it"
        )

    def search(self) -> None:
        """Ask again with the query and controls as they stand, and show what comes. Errors become text in the list."""
        query = self.query.value.strip()
        if not query:
            self._show(Ranking([]), "Type what the code should do, or a name, and press Enter.")
            return
        try:
            with self._at_work(self.results, "searching …"):
                ranking, remark = self._found(query)
        except Exception as error:  # a widget has no other place for it
            self.results.payload = results.failure(error)
            return
        self._show(ranking, remark=remark)

    def select(self, chunk_id: str) -> None:
        """Show one chunk: its row, its source, its place in the graph. An empty id clears the source."""
        self.selected = chunk_id
        self.results.selected = chunk_id
        self.source.value = self._source_of(chunk_id)
        self._draw()

    def _found(self, query: str) -> tuple[Ranking, str]:
        """The ranking, and what went wrong where only the graph did: then it is the ranking without the graph."""
        arguments = search_arguments(self.controls)
        folder = arguments["namespace"]
        if folder and not any(in_namespace(n, folder) for n in self.kb.corpus.namespaces):
            raise ValueError(_no_folder(folder, self.kb.corpus.namespaces))
        try:
            return self.kb.search(query, **arguments), ""
        except Exception as error:
            plain = arguments | {"graph": None, "related": 0}
            if plain == arguments:
                raise
            ranking = self.kb.search(query, **plain)
            return ranking, f"Without the graph, which could not be used: {results.said(error)}"

    @contextmanager
    def _at_work(self, part: results.ResultList | graph.GraphView, what: str) -> Iterator[None]:
        """Says over a part of the widget what it waits for."""
        part.busy = what
        try:
            yield
        finally:
            part.busy = ""

    def _laid_out(self, shown: Sequence[str]) -> list[widgets.Widget]:
        row = widgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="2px 14px")
        others = [field(name, control) for name, control in self.controls.items() if name not in shown]
        more = widgets.Accordion(
            [widgets.Box(others, layout=row), self.load],
            titles=("All controls", "Index another folder or package; choose the encoder"),
        )
        left = widgets.Box([self.results], layout=widgets.Layout(flex=LIST_FLEX, min_width="0", display="block"))
        right = widgets.Box([self.graph], layout=widgets.Layout(flex=GRAPH_FLEX, min_width="0", display="block"))
        self.source.layout = widgets.Layout(max_height=SOURCE_HEIGHT, overflow="auto", border_top="1px solid #8884")
        return [
            self.query,
            widgets.Box([field(name, self.controls[name]) for name in shown], layout=row),
            widgets.Box([left, right], layout=widgets.Layout(flex_flow="row wrap", grid_gap="8px", overflow="hidden")),
            self.source,
            more,
        ]

    def _connect(self) -> None:
        self.query.observe(lambda _: self.search(), "value")
        for name, control in self.controls.items():
            control.observe(lambda _, drawn=name in DRAWN_ONLY: self._draw() if drawn else self.search(), "value")
        self.results.observe(lambda change: self._clicked(change["new"]), "selected")
        self.graph.observe(lambda change: self._clicked(change["new"][0]), "clicked")

    def _clicked(self, chunk_id: str) -> None:
        if chunk_id and chunk_id != self.selected:
            self.select(chunk_id)

    def _replace(self, kb: KnowledgeBase) -> None:
        """Another knowledge base came: offer its folders, and ask the same question of it."""
        self.kb = kb
        self.selected = ""
        namespace = self.controls["namespace"]
        with namespace.hold_trait_notifications():
            namespace.options, namespace.value = tuple(n for n in kb.corpus.namespaces if n), ""
        self.search()

    def _show(self, ranking: Ranking, head: str = "", remark: str = "") -> None:
        self.ranking = ranking
        kept = self.selected if ranking.rank(self.selected) else (ranking.ids[0] if ranking.ids else "")
        self.results.payload = results.payload(ranking, head=head, remark=remark)
        self.select(kept)

    def _draw(self) -> None:
        """The graph around the results, or around the selected chunk with the confidence on every edge."""
        try:
            alone = self.controls["around"].value == "selected" and self.kb.corpus.get(self.selected) is not None
            hits: Sequence[Hit] = [Hit(self.kb.corpus[self.selected], 0.0)] if alone else self._hits()
            ranks = {hit.chunk.id: n for n, hit in enumerate(self.ranking, 1)}
            side = MAX_SIDE if alone else max(MIN_SIDE, len(hits))
            relations = self.controls["relations"].value
            view = around(self._code_graph(), hits, relations=relations, max_side=side, ranks=ranks)
            self.graph.selected = self.selected
            self.graph.payload = graph.payload(view, edge_labels=alone)
        except Exception as error:  # a widget has no other place for it
            self.graph.payload = {
                "note": f"The graph by {self._resolver()!r} could not be drawn: {results.said(error)}. Results and "
                "source do not need it. Another way of finding edges may do: All controls, Edges drawn, resolved by.",
                "failed": True,
            }

    def _hits(self) -> list[Hit]:
        return [*self.ranking, *(self.ranking.related or ())]

    def _code_graph(self) -> nx.MultiDiGraph:
        """The graph that is drawn. One that could not be built is not tried again at every click."""
        key = (id(self.kb), self._resolver())
        if key in self._broken:
            raise self._broken[key]
        try:
            with self._at_work(self.graph, f"finding the edges by {key[1]}: once, it may take some seconds …"):
                return self.kb.graph_by(key[1])
        except Exception as error:
            self._broken[key] = error
            raise

    def _resolver(self) -> str:
        return str(self.controls["resolver"].value)

    def _source_of(self, chunk_id: str) -> str:
        chunk = self.kb.corpus.get(chunk_id)
        if chunk is None:
            return ""
        hit = next((h for h in self._hits() if h.chunk.id == chunk_id), None)
        return _heading(chunk, hit, self._degrees(chunk_id)) + source_html(
            chunk.code, chunk.language, query=self.query.value, first_line=chunk.start_line
        )

    def _unresolved(self) -> Counter[str]:
        """References of each chunk that the drawn graph could not resolve, counted once a graph."""
        code = self._code_graph()
        if self._counted[0] is not code:
            self._counted = (code, Counter(source for source, _, _ in code.graph.get("unresolved", ())))
        return self._counted[1]

    def _degrees(self, chunk_id: str) -> str:
        try:
            code = self._code_graph()
        except Exception:  # the graph pane says it
            return ""
        if chunk_id not in code:
            return ""
        callers = sum(d["relation"] == "calls" for _, _, d in code.in_edges(chunk_id, data=True))
        callees = sum(d["relation"] == "calls" for _, _, d in code.out_edges(chunk_id, data=True))
        open_calls = self._unresolved()[chunk_id]
        unknown = f", {counted(open_calls, 'name')} in it unresolved" if open_calls else ""
        return f"called by {callers}, calls {callees} in this code base{unknown}"


def _no_folder(given: str, folders: Sequence[str]) -> str:
    """Says that a folder is none of this code base, with the ones most alike and how many more there are."""
    every = [folder for folder in folders if folder]
    near = difflib.get_close_matches(given, every, NEAREST, 0.4) or every[:NEAREST]
    more = len(every) - len(near)
    rest = f"; {more} more in the list of Only in" if more else ""
    return f"No folder {given!r} with code here. Nearest: {', '.join(near) or 'none, there are no folders'}{rest}."


def _heading(chunk: Chunk, hit: Hit | None, degrees: str) -> str:
    tag = "[from the graph]" if not hit else f"[{annotation(hit)}]" if hit.via else ""
    way = f"<div>reached by {html.escape(path_of(hit))}</div>" if hit and hit.via else ""
    return (
        f"<div style='line-height:1.5;padding-top:4px'><b>{html.escape(chunk.qualname)}</b> {html.escape(tag)} "
        f"<span style='opacity:.7'>{html.escape(' · '.join(filter(None, (chunk.location, degrees))))}</span>{way}</div>"
    )
