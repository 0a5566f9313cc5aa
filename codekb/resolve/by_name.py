"""The tutorial's rule, as the baseline: a call of `x.Execute` goes to the last function named `Execute`. No scopes."""

from __future__ import annotations

from codekb.chunks import Corpus
from codekb.resolve.edges import Edge, Resolution

UNIQUE = 0.6
"""Confidence where the whole corpus has one function of that name: still only a name, it may belong to a library."""


def resolve(corpus: Corpus) -> Resolution:
    """Calls matched by their last segment to functions of the corpus; self-calls are dropped. Any language.

    Of several functions of one name the last in path order wins, which is the rule's own bug; its confidence is
    `UNIQUE` divided by their number.
    """
    last: dict[str, str] = {}
    count: dict[str, int] = {}
    for function in corpus.functions:
        last[function.name] = function.id
        count[function.name] = count.get(function.name, 0) + 1
    result = Resolution()
    for chunk in corpus:
        for name, line, kind in chunk.references:
            if kind != "call":
                continue
            tail = name.rpartition(".")[2]
            target = last.get(tail)
            if target is None:
                result.unresolved.append((chunk.id, name, line))
            elif target != chunk.id:
                result.edges.append(Edge(chunk.id, target, "calls", line, round(UNIQUE / count[tail], 3), "same name"))
    return result
