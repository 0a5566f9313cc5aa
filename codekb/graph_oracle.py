"""Scores a call graph against judged sites of real code: precision, recall and whether confidence can be trusted.

A site is one line of one function. The data (`data/oracle/*.json`) is made by `benchmarks/oracle.py` and holds,
for each site, the ids that the line calls (`truth`), ids that count neither way (`may`), how that was decided (`how`),
jedi's answer (`jedi`; not for Go) and what each resolver answered with which confidence (`codekb`: level → target →
confidence). `edges` (of Go) are edges of codekb drawn by their reason, each with a verdict of its own (`right`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from codekb.graph_cases import Score, compare_edges, total
from codekb.table import Table

SURE = (0.5, 0.9)
"""Confidences from which on edges are counted once more: a reader may want fewer and surer ones."""
LEVELS = ("name", "import", "type", "flow")
BANDS = ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.0, 0.5))
"""Confidence from (inclusive) and to (exclusive); the first is the band that callers may rely on."""


def load_oracle(path: Path | str) -> dict[str, Any]:
    """The judged sites. Raises ValueError where a site has no verdict."""
    data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    open_sites = [s["source"] for s in data["sites"] if "truth" not in s]
    if open_sites:
        raise ValueError(f"{path}: {len(open_sites)} sites have no verdict, the first is {open_sites[0]!r}; judge them")
    return data


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson 1927): it holds near 1 and for small n. (0, 1) for n = 0.

    >>> tuple(round(x, 3) for x in wilson(97, 100))
    (0.915, 0.99)
    """
    if n == 0:
        return 0.0, 1.0
    share, square = right / n, z * z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def site_scores(data: Mapping[str, Any], answer: str, sure: float = 0.0) -> list[Score]:
    """The comparison of each site's truth with the answer of a level (`flow`) or of `jedi`.

    Only edges of at least the confidence `sure` count as drawn.
    """
    scores = []
    for site in data["sites"]:
        found = site["jedi"] if answer == "jedi" else _surer(site["codekb"][answer], sure)
        drawn, true, aside = ([(site["source"], t) for t in ids] for ids in (found, site["truth"], site.get("may", ())))
        scores.append(compare_edges(drawn, true, aside))
    return scores


def _surer(found: Mapping[str, float], sure: float) -> list[str]:
    return [target for target, confidence in found.items() if confidence >= sure]


def calibration(data: Mapping[str, Any], level: str = "flow") -> list[tuple[float, float, int, int]]:
    """(from, to, edges, right ones) of each confidence band, the surest first; an edge counts once per site."""
    judged = [
        (confidence, target in site["truth"])
        for site in data["sites"]
        for target, confidence in site["codekb"][level].items()
        if target not in site.get("may", ())
    ]
    bands = []
    for low, high in BANDS:
        inside = [right for confidence, right in judged if low <= confidence < high]
        bands.append((low, min(high, 1.0), len(inside), sum(inside)))
    return bands


def oracle_table(data: Mapping[str, Any]) -> Table:
    """Precision and recall of jedi and of each resolver on the judged sites."""
    rows = []
    jedi = all("jedi" in site for site in data["sites"])
    answers = [*((level, 0.0) for level in LEVELS), *(("flow", sure) for sure in SURE)]
    if jedi:
        answers.insert(0, ("jedi", 0.0))
    for answer, sure in answers:
        scores = site_scores(data, answer, sure)
        precision, recall, expected = total(scores)
        drawn = sum(len(s.right) + len(s.wrong) for s in scores)
        rows.append([f"{answer}, {sure} and surer" if sure else answer, drawn, precision, recall])
    how = [site["how"] for site in data["sites"]]
    notes = [
        f"n = {len(how)} sites of {len(data['packages'])} packages, {expected} true edges; {how.count('read')} sites "
        "were judged by reading"
        + (", at the others jedi and codekb agreed or neither had anything to find." if jedi else "."),
        "A share of n edges is known to about ±1/√n: trust one decimal.",
    ]
    return Table(["resolver", "edges", "precision", "recall"], rows, caption="Real code, judged sites", notes=notes)


def calibration_table(data: Mapping[str, Any], level: str = "flow") -> Table:
    """What share of the edges is right, by the confidence they carry."""
    rows = []
    for low, high, n, right in calibration(data, level):
        lower, upper = wilson(right, n)
        share = right / n if n else None
        rows.append([f"{low:.1f} to {high:.1f}", n, right, share, f"{lower:.2f}-{upper:.2f}" if n else None])
    notes = ["95 %: Wilson's interval of the share. An edge counts once for each judged line it stands on."]
    columns = ["confidence", "edges", "right", "share", "95 %"]
    return Table(columns, rows, caption=f"Is the confidence of {level} honest?", notes=notes)


def reason_table(data: Mapping[str, Any]) -> Table:
    """What share of the drawn edges is right, by reason and confidence, the surest first."""
    judged = [e for e in data["edges"] if e["right"] is not None]
    rows = []
    for confidence, reason in sorted({(e["confidence"], e["reason"]) for e in judged}, reverse=True):
        verdicts = [e["right"] for e in judged if (e["confidence"], e["reason"]) == (confidence, reason)]
        lower, upper = wilson(sum(verdicts), len(verdicts))
        rows.append([reason, confidence, len(verdicts), sum(verdicts), f"{lower:.2f}-{upper:.2f}"])
    notes = [f"n = {len(judged)} edges, judged one by one; {len(data['edges']) - len(judged)} more count neither way."]
    return Table(["reason", "confidence", "edges", "right", "95 %"], rows, caption="Edges by reason", notes=notes)


def package_scores(data: Mapping[str, Any], level: str = "flow") -> Iterable[tuple[str, float, float, int]]:
    """(package, precision, recall, true edges) in the order of the data."""
    scores = site_scores(data, level)
    for package in data["packages"]:
        own = [s for s, site in zip(scores, data["sites"], strict=True) if site["package"] == package]
        yield (package, *total(own))
