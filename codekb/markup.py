"""Rankings as plain text and as escaped HTML. A leaf without widgets; source code is in `show.source`."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from codekb.table import counted

if TYPE_CHECKING:
    from codekb.ranking import Hit, Ranking

METHOD_COLOURS = {
    "dense": "#3a7ebf",
    "keyword": "#e0932f",
    "overlap": "#e0932f",
    "bm25": "#e0932f",
    "graph": "#3f9b6c",
    "namespace": "#8a8f98",
    "steer": "#b0568f",
}
"""One colour a method, the same in tables, bars and figures; told apart by people with any colour vision."""

SPARE_COLOURS = ("#8b6bb8", "#5aa9b8", "#9a8a3c", "#c98fb5", "#7f7f7f", "#c0504d", "#2f6f5e", "#a9c25d", "#4a4e8f")
"""For methods that have no colour of their own, in order of first appearance."""

ANNOTATIONS = {
    "calls": "callee of",
    "called by": "caller of",
    "uses": "used by",
    "used by": "user of",
    "inherits": "base of",
    "inherited by": "subclass of",
    "overrides": "overridden by",
    "overridden by": "override of",
    "imports": "imported by",
    "imported by": "importer of",
    "contains": "member of",
    "contained in": "holder of",
    "contained by": "holder of",
}
"""What a chunk is to the one before it, by the relation that was walked to reach it."""

SHORT_SCORES = 0.1
"""Below this best score (RRF's are about 0.03) three decimals tell nothing apart, so five are shown."""


def short_name(chunk_id: str) -> str:
    """The part of an id after its file: `pkg/mod.py::Class.method` → `Class.method`.

    >>> short_name("pkg/mod.py::Class.method"), short_name("pkg/mod.py")
    ('Class.method', 'mod.py')
    """
    head, _, tail = chunk_id.partition("::")
    return tail or head.rsplit("/", 1)[-1]


def tell_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Chunk id → name; those that share a name get as much of their place before it as tells them apart.

    The place is the file in Python, the folder (the package) in Go, and folders above where that is not enough.

    >>> list(tell_apart({"cli/a.go::Run": "Run", "db/b.go::Run": "Run", "db/b.go::Close": "Close"}).values())
    ['cli.Run', 'db.Run', 'Close']
    """
    told = dict(names)
    for depth in range(1, MAX_PLACES + 1):
        count = Counter(told.values())
        for chunk_id, name in told.items():
            if count[name] > 1:
                between = "." if "::" in chunk_id else "/"
                told[chunk_id] = between.join([*_place(chunk_id, depth), names[chunk_id]])
    return told


MAX_PLACES = 6
"""Folders put before a name at most: a label that needs more tells nobody anything."""


def _place(chunk_id: str, depth: int) -> list[str]:
    path, _, name = chunk_id.partition("::")
    *folders, file = path.split("/")
    stem = file.rsplit(".", 1)[0]
    if not name or (stem == "__init__" and folders):
        return folders[-depth:]
    if file.endswith(".go") and folders:
        return folders[-1:] if depth == 1 else [*folders, stem][-depth:]
    return [*folders, stem][-depth:]


def short_names(ids: Iterable[str]) -> dict[str, str]:
    """`short_name` of each id, told apart where two are alike."""
    return tell_apart({i: short_name(i) for i in ids})


def annotation(hit: Hit) -> str:
    """`match` for what the search found, else what the hit is to the chunk before it: `callee of Connect`."""
    if not hit.via:
        return "match"
    step = hit.via[-1]
    return f"{ANNOTATIONS.get(step.relation, f'{step.relation}, from')} {short_name(step.source)}"


def tags(ranking: Iterable[Hit]) -> dict[str, str]:
    """Chunk id → ` [callee of Connect]` or ` [match]`; empty where the graph added none, since then each is a match."""
    hits = list(ranking)
    walked = any(hit.via for hit in hits)
    return {hit.chunk.id: f" [{annotation(hit)}]" if walked else "" for hit in hits}


def path_of(hit: Hit) -> str:
    """The whole way from the seed, `A –calls→ B –called by→ C`, with line and confidence of each step."""
    if not hit.via:
        return ""
    steps = "".join(
        f" –{s.relation}, line {s.line}, {s.confidence:.2f} {s.reason}→ {short_name(s.target)}" for s in hit.via
    )
    return short_name(hit.via[0].source) + steps


def method_colours(methods: Iterable[str]) -> dict[str, str]:
    """A colour for each method name, known ones fixed, the others by order of appearance.

    >>> method_colours(["dense", "names"])
    {'dense': '#3a7ebf', 'names': '#8b6bb8'}
    """
    names = list(dict.fromkeys(methods))
    spare = [n for n in names if n not in METHOD_COLOURS]
    extra = {n: SPARE_COLOURS[i % len(SPARE_COLOURS)] for i, n in enumerate(spare)}
    return {n: METHOD_COLOURS.get(n) or extra[n] for n in names}


def score_format(ranking: Iterable[Hit]) -> str:
    """The number format in which the scores of these hits can be told apart."""
    best = max((abs(h.score) for h in ranking), default=1.0)
    return ".5f" if 0 < best < SHORT_SCORES else ".3f"


def shares_text(hit: Hit, form: str = ".3f") -> str:
    """`dense 0.500 · keyword 0.329`: the share of each method, in the order in which they were added."""
    return " · ".join(f"{name} {value:{form}}" for name, value in hit.parts.items())


def share_bar(hit: Hit, best: float, colours: dict[str, str], width: int = 90) -> str:
    """A stacked bar as HTML: `width` pixels are the score `best`; negative shares are grey, underlined red."""
    segments = []
    for name, value in hit.parts.items():
        pixels = round(abs(value) / best * width) if best > 0 else 0
        if pixels:
            fill = colours.get(name, "#888") if value > 0 else "#c9c9c9"
            sign = "" if value > 0 else "opacity:.6;border-bottom:2px solid #c0504d;box-sizing:border-box;"
            segments.append(
                f'<span title="{html.escape(name)} {value:.3f}" style="display:inline-block;height:9px;'
                f'{sign}width:{pixels}px;background-color:{fill}"></span>'
            )
    return "".join(segments)


def ranking_text(ranking: Ranking) -> str:
    """A ranking as aligned plain text: rank, score, name with its tag, path:lines, shares, remarks."""
    form, tag = score_format(ranking), tags(ranking)
    head = ["#", "score", "function", "where", "shares", "why"]
    rows = [
        [str(i), f"{h.score:{form}}", h.chunk.qualname + tag[h.chunk.id], h.chunk.location,
         shares_text(h, form), "; ".join(h.why)]
        for i, h in enumerate(ranking, 1)
    ]  # fmt: skip
    keep = [c for c in range(len(head)) if c < 4 or any(row[c] for row in rows)]
    widths = [max(len(row[c]) for row in [head, *rows]) for c in keep]
    lines = [
        "  ".join(row[c].rjust(w) if c < 2 else row[c].ljust(w) for c, w in zip(keep, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    return "\n".join([_title(ranking), *(lines if rows else ["no hits"])])


def _title(ranking: Ranking) -> str:
    query = " ".join(ranking.query.split())
    about = f" for “{query[:80]}{'…' if len(query) > 80 else ''}”" if query else ""
    label = f"{ranking.title}: " if ranking.title else ""
    return f"{label}{counted(len(ranking), 'hit')}{about}"


CELL = "padding:3px 12px 3px 0;text-align:{};vertical-align:top;border-bottom:1px solid #8884"


def ranking_html(ranking: Ranking) -> str:
    """A ranking as an HTML table, everything of the repository escaped, light and dark theme alike."""
    title = f"<div><b>{html.escape(_title(ranking))}</b></div>"
    if not len(ranking):
        return f"<div>{title}<div>no hits</div></div>"
    form = score_format(ranking)
    best = max(sum(v for v in h.parts.values() if v > 0) for h in ranking) if ranking.hits else 1.0
    colours = method_colours(name for h in ranking for name in h.parts)
    left, right = CELL.format("left"), CELL.format("right")
    told, tag = any(hit.why for hit in ranking), tags(ranking)
    head = f'<th style="{right}">#</th><th style="{right}">score</th>' + "".join(
        f'<th style="{left}">{name}</th>' for name in ("function", "shares", *(["why"] if told else []))
    )
    rows = []
    for i, hit in enumerate(ranking, 1):
        name = (
            f"<b>{html.escape(hit.chunk.qualname)}</b>"
            f'<span style="opacity:.7">{html.escape(tag[hit.chunk.id])}</span>'
            f'<div style="opacity:.7;font-size:11px">{html.escape(hit.chunk.location)}</div>'
        )
        shares = (
            f'<div style="white-space:nowrap">{share_bar(hit, best, colours)}</div>'
            f'<div style="font-size:11px;opacity:.8">{html.escape(shares_text(hit, form))}</div>'
        )
        why = f'<td style="{left};font-size:11px">{html.escape("; ".join(hit.why))}</td>' if told else ""
        rows.append(
            f'<tr><td style="{right}">{i}</td><td style="{right}">{hit.score:{form}}</td>'
            f'<td style="{left}">{name}</td><td style="{left}">{shares}</td>{why}</tr>'
        )
    return (
        f'<div>{title}<table style="border-collapse:collapse;font-size:13px;line-height:1.4;margin:4px 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
