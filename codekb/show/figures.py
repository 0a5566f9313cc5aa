"""Static figures of rankings and measurements, each a `Picture`. Pictures of graphs are in `graph_figures`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from codekb.markup import method_colours, short_names, tell_apart
from codekb.ranking import Ranking
from codekb.show.graph_figures import candidates_per_hop, hairball_and_ego, visit_order
from codekb.show.picture import ACCENT, FAINT, HARM, INK, Picture, canvas, label, said
from codekb.show.resolvers import resolver_panels
from codekb.show.source import Heat, token_heat
from codekb.table import counted

__all__ = [
    "Heat",
    "Picture",
    "before_after",
    "candidates_per_hop",
    "deltas",
    "hairball_and_ego",
    "rank_changes",
    "rank_scatter",
    "recall_against_tokens",
    "resolver_panels",
    "share_bars",
    "token_heat",
    "visit_order",
]

Interval = tuple[float, float, float]
"""A difference and the ends of its interval: (delta, low, high)."""


def rank_changes(rankings: Mapping[str, Ranking], *, answers: Collection[str] = (), top: int = 8) -> Picture:
    """Where each chunk stands in one method and the next: one column a method, one line a chunk.

    `rankings`: column title → ranking. Chunks in the first `top` of any of them are drawn; one that a method ranks
    lower is drawn at its foot, below a dotted line. `answers` are ids of right answers, drawn strong.
    """
    if len(rankings) < 2:
        raise ValueError(f"a change of rank needs at least two rankings; {list(rankings)} came")
    titles = list(rankings)
    ids = sorted({i for r in rankings.values() for i in r.ids[:top]})
    names = short_names(ids)
    ranks = {i: [_place(r, i, top) for r in rankings.values()] for i in ids}
    figure, (ax,) = canvas(max(6.4, 2.6 + 2.6 * len(titles)), 0.36 * (top + 2) + 0.6)
    for i in ids:
        strong = i in answers
        colour = ACCENT if strong else FAINT
        ax.plot(
            range(len(titles)),
            ranks[i],
            color=colour,
            lw=2.4 if strong else 1.1,
            marker="o",
            ms=5 if strong else 3,
        )
    _side_labels(ax, names, ranks, answers, top)
    ax.axhline(top + 0.6, color=FAINT, lw=0.8, ls=":")
    ax.set(ylim=(top + 1.6, 0.4), xlim=(-0.95, len(titles) - 0.05), xticks=range(len(titles)), ylabel="rank")
    ax.set_xticklabels(titles)
    ax.set_yticks([*range(1, top + 1), top + 1], [*map(str, range(1, top + 1)), f"> {top} or absent"])
    ax.xaxis.tick_top()
    ax.spines["bottom"].set_visible(False)
    moves = (
        f"{names[i]} " + " → ".join(str(r.rank(i)) if r.rank(i) else "–" for r in rankings.values())
        for i in sorted(ids, key=lambda i: (i not in answers, ranks[i], i))
    )
    return Picture(figure, f"Ranks, {' → '.join(titles)}: {said(moves)}")


def _place(ranking: Ranking, chunk_id: str, top: int) -> int:
    rank = ranking.rank(chunk_id)
    return rank if rank is not None and rank <= top else top + 1


def _side_labels(ax, names, ranks, answers, top) -> None:  # type: ignore[no-untyped-def]
    for i, whole in names.items():
        style = {"fontsize": 8.5, "va": "center", "color": ACCENT if i in answers else INK}
        name = label(whole)
        if ranks[i][0] <= top:
            ax.text(-0.07, ranks[i][0], name, ha="right", **style)
        if ranks[i][-1] <= top:
            ax.text(len(ranks[i]) - 0.93, ranks[i][-1], name, ha="left", **style)


def rank_scatter(x: Ranking, y: Ranking, *, answers: Collection[str] = (), named: int = 6, depth: int = 200) -> Picture:
    """Each chunk at its rank in two rankings, on logarithmic axes: near an axis, one method alone found it.

    A chunk that one of the two does not hold within `depth` stands on the outer edge. The `named` best by the
    smaller rank, and all `answers`, carry their names.
    """
    ids = sorted(set(x.ids[:depth]) | set(y.ids[:depth]))
    places = {i: (min(x.rank(i) or depth, depth), min(y.rank(i) or depth, depth)) for i in ids}
    best = sorted(ids, key=lambda i: (min(places[i]), sum(places[i]), i))[:named]
    names = short_names(dict.fromkeys([*answers, *best]))
    figure, (ax,) = canvas(6.2, 4.6)
    other = [i for i in ids if i not in answers]
    ax.scatter([places[i][0] for i in other], [places[i][1] for i in other], s=14, color=FAINT, alpha=0.7, lw=0)
    right = [i for i in ids if i in answers]
    ax.scatter([places[i][0] for i in right], [places[i][1] for i in right], s=46, color=ACCENT, zorder=3)
    for i in [*right, *(b for b in best if b not in right)]:
        slope = 30 if places[i][1] == depth else 0  # on the upper edge names would run into each other
        ax.annotate(
            label(names[i]), places[i], xytext=(5, 4), textcoords="offset points", fontsize=8, color=INK, rotation=slope
        )
    ax.plot([1, depth], [1, depth], color=FAINT, lw=0.8, ls=":")
    ax.set(xscale="log", yscale="log", xlim=(0.85, depth * 1.5), ylim=(0.85, depth * 2))
    ticks = [t for t in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if t <= depth]
    ax.set_xticks(ticks, map(str, ticks))
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.set(xlabel=f"rank by {x.title or 'the first'}", ylabel=f"rank by {y.title or 'the second'}")
    if right:
        ax.set_title("blue: the answer")
    pairs = (f"{names[i]} {_or_none(x, i)} × {_or_none(y, i)}" for i in [*right, *best] if i in places)
    return Picture(
        figure, f"Rank by {x.title or 'the first'} × {y.title or 'the second'}: {said(dict.fromkeys(pairs))}"
    )


def _or_none(ranking: Ranking, chunk_id: str) -> str:
    rank = ranking.rank(chunk_id)
    return str(rank) if rank else "–"


def share_bars(ranking: Ranking, *, top: int = 10) -> Picture:
    """What each method adds to the score of the first `top` hits: stacked bars, negative shares to the left."""
    hits = list(ranking)[:top]
    colours = method_colours(name for h in hits for name in h.parts)
    figure, (ax,) = canvas(7.2, 0.34 * len(hits) + 1.1)
    rows = range(len(hits))
    names = tell_apart({h.chunk.id: h.chunk.qualname for h in hits})
    right, left = [0.0] * len(hits), [0.0] * len(hits)
    for name, colour in colours.items():
        values = [h.parts.get(name, 0.0) for h in hits]
        start = [right[i] if v >= 0 else left[i] for i, v in zip(rows, values, strict=True)]
        ax.barh(list(rows), values, left=start, color=colour, height=0.62, label=label(name))
        right = [r + max(v, 0) for r, v in zip(right, values, strict=True)]
        left = [m + min(v, 0) for m, v in zip(left, values, strict=True)]
    ax.axvline(0, color=INK, lw=0.8)
    ax.set_yticks(list(rows), [label(names[h.chunk.id]) for h in hits])
    ax.invert_yaxis()
    ax.set_xlabel("score")
    if colours:
        ax.legend(
            fontsize=8,
            frameon=False,
            ncols=min(len(colours), 4),
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
        )
    return Picture(figure, f"Shares of {counted(len(hits), 'hit')} by {', '.join(colours) or 'no method'}")


def deltas(rows: Mapping[str, Interval], *, measure: str = "Δ") -> Picture:
    """A forest plot: for each part its difference with an interval; one that leaves out zero is drawn strong.

    `rows`: name → (delta, low, high), top to bottom. Below zero is harm, in red.
    """
    bad = next((n for n, (d, low, high) in rows.items() if not low <= d <= high), None)
    if bad is not None:
        raise ValueError(f"{bad!r}: delta, low, high came as {rows[bad]}; low ≤ delta ≤ high must hold")
    figure, (ax,) = canvas(7.2, 0.36 * len(rows) + 0.9)
    for y, (delta, low, high) in enumerate(rows.values()):
        sure = low > 0 or high < 0
        colour = (ACCENT if delta > 0 else HARM) if sure else FAINT
        ax.plot([low, high], [y, y], color=colour, lw=2.2, solid_capstyle="butt")
        ax.plot([delta], [y], "o", color=colour, ms=7)
    ax.axvline(0, color=INK, lw=0.8)
    ax.set_yticks(range(len(rows)), [label(n, 40) for n in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"{measure}\nbar: interval, grey where it holds zero\nblue: better · red: harm")
    told = (f"{n} {d:+.3f} [{low:+.3f}, {high:+.3f}]" for n, (d, low, high) in rows.items())
    return Picture(figure, f"{measure} with interval: {said(told, 12)}")


def recall_against_tokens(curves: Mapping[str, Sequence[tuple[float, float]]], *, measure: str = "recall") -> Picture:
    """What a token budget buys: one line a method through its (tokens, recall) points, named at its end."""
    figure, (ax,) = canvas(7.2, 4.0)
    colours = method_colours(curves)
    for name, points in curves.items():
        ordered = sorted(points)
        ax.plot(
            [p[0] for p in ordered],
            [p[1] for p in ordered],
            marker="o",
            ms=4,
            lw=1.8,
            color=colours[name],
            label=label(name, 40),
        )
    ax.set(xlabel="tokens handed over", ylabel=measure)
    ax.set_ylim(bottom=0)
    ax.grid(color="#e4e7eb", lw=0.6)
    if curves:
        ax.legend(fontsize=8, frameon=False, loc="lower right")
    ends = (f"{n} {max(p)[1]:.3f} at {max(p)[0]:.0f}" for n, p in curves.items() if p)
    return Picture(figure, f"{measure} against tokens: {said(ends)}")


def before_after(
    rows: Mapping[str, tuple[float, float]], *, measure: str = "rank", lower_is_better: bool = True
) -> Picture:
    """One arrow a question, from its value before to its value after a change: blue for better, red for worse.

    With ranks (the default) the axis runs from worse on the left to rank 1 on the right.
    """
    figure, (ax,) = canvas(7.2, 0.3 * len(rows) + 0.9)
    sign = -1 if lower_is_better else 1
    better = worse = 0
    for y, (before, after) in enumerate(rows.values()):
        gain = sign * (after - before)
        better, worse = better + (gain > 0), worse + (gain < 0)
        colour = ACCENT if gain > 0 else HARM if gain < 0 else FAINT
        ax.plot([before], [y], "o", color=FAINT, ms=5)
        ax.plot([after], [y], "o", color=colour, ms=6)
        if gain:
            ax.annotate("", (after, y), (before, y), arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.6})
    ax.set_yticks(range(len(rows)), [label(n, 44) for n in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    if lower_is_better:
        ax.invert_xaxis()
        ax.locator_params(axis="x", integer=True)
    ax.set_xlabel(f"{measure}: grey dot before, coloured after; better →")
    return Picture(
        figure,
        f"{measure} before → after: {better} better, {worse} worse, {len(rows) - better - worse} equal",
    )
