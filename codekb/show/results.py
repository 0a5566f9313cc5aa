"""A ranking as rows for the result list, and the widget that shows them. The table for notebooks is in `markup`."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from codekb.markup import annotation, method_colours, path_of, score_format, shares_text
from codekb.ranking import Hit, Ranking
from codekb.table import counted

MATCH_COLOUR, REACHED_COLOUR = "var(--jp-ui-font-color2,#666)", "#3f9b6c"
MAX_PLACE = 40
"""Characters of a path that fit on one line of the list."""

MAX_NAME = 120
"""Longer names are cut in the list; the source pane shows them whole."""


def payload(ranking: Ranking, *, head: str = "", remark: str = "") -> dict[str, Any]:
    """What the list draws: rows, rows of related chunks, a colour for every method, the longest bar.

    `head` stands in place of the number of results, `remark` is an error that left the results whole.
    """
    beside = list(ranking.related or ())
    every = [*ranking, *beside]
    colours = method_colours(name for hit in every for name in hit.parts)
    best = max((sum(abs(v) for v in hit.parts.values()) for hit in every), default=0.0)
    form = score_format(ranking)
    count = counted(len(ranking), "result")
    scores = [hit.score for hit in ranking]
    if scores != sorted(scores, reverse=True) and any(hit.via for hit in ranking):
        count += "; what the graph brought stands below the matches, whatever its score"
    if beside:
        count += f"; below them {counted(len(beside), 'related function')}"
    walked = any(hit.via for hit in ranking)
    return {
        "head": head or (count if len(ranking) else "No function matches. Try other words, or fewer filters."),
        "error": remark,
        "rows": [_row(hit, str(n), form, walked) for n, hit in enumerate(ranking, 1)],
        "related": [_row(hit, "·", score_format(beside), True) for hit in beside],
        "related_head": f"Related over the graph, beside the ranking ({len(beside)})",
        "colours": colours,
        "best": best or 1.0,
    }


def _row(hit: Hit, rank: str, form: str, tagged: bool) -> dict[str, Any]:
    name = hit.chunk.qualname
    return {
        "id": hit.chunk.id,
        "rank": rank,
        "name": name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…",
        "tag": f"[{annotation(hit)}]" if tagged else "",
        "tag_colour": REACHED_COLOUR if hit.via else MATCH_COLOUR,
        "path": path_of(hit),
        "where": _end(hit.chunk.location),
        "where_full": " · ".join([hit.chunk.location, *hit.chunk.marks]),
        "why": " · ".join(hit.why),
        "score": f"{hit.score:{form}}",
        "shares": [[part, float(value)] for part, value in hit.parts.items()],
        "share_text": shares_text(hit, form),
    }


def _end(location: str) -> str:
    """A long location by its end: whole segments, the first ones left out."""
    if len(location) <= MAX_PLACE:
        return location
    tail = location[-MAX_PLACE:]
    return "…" + tail[max(tail.find("/"), 0) :]


def failure(error: Exception) -> dict[str, Any]:
    """A list without rows that says what went wrong and changes nothing else."""
    return {
        "head": "This search did not run. Source and graph are those of the search before it.",
        "error": said(error),
        "rows": [],
        "colours": {},
        "best": 1.0,
    }


def said(error: Exception) -> str:
    """An error in words; KeyError's quotes taken off."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return text or type(error).__name__


class ResultList(anywidget.AnyWidget):
    """Shows a payload; `selected` is the id of the chosen row, in both directions; `busy` says what is waited for."""

    _esm = traitlets.Unicode().tag(sync=True)
    payload = traitlets.Dict().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    busy = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(500).tag(sync=True)

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return (files("codekb.show") / "static" / "results.js").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"ResultList({counted(len(self.payload.get('rows', ())), 'row')})"
