"""What a resolver returns: edges with a confidence and a reason, and what it could not resolve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

RELATIONS = ("calls", "uses", "inherits", "overrides", "imports", "contains")


class Edge(NamedTuple):
    """One place where chunk id `source` relates to chunk id `target`.

    `line` is 1-based in the source's file; `confidence` is in (0, 1], higher is surer; `reason` is a short
    fixed phrase (`imported name`, `self method`, `interface dispatch`, `callback`, …). A tuple, since a repository has
    hundreds of thousands of them.
    """

    source: str
    target: str
    relation: str
    line: int
    confidence: float
    reason: str


@dataclass(slots=True)
class Resolution:
    """All edges of one corpus, and the references that lead outside (`external`) or nowhere known (`unresolved`).

    Both lists hold (source chunk id, dotted name, line): external names are fully dotted (`os.path.join`),
    unresolved ones stand as written.
    """

    edges: list[Edge] = field(default_factory=list)
    external: list[tuple[str, str, int]] = field(default_factory=list)
    unresolved: list[tuple[str, str, int]] = field(default_factory=list)
