"""What bounds a walk over the code graph: relations and their reverse, limits, weights. The walks are in `walk`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codekb.chunks import Chunk
from codekb.resolve.edges import RELATIONS

REVERSED = {
    "calls": "called by",
    "uses": "used by",
    "inherits": "inherited by",
    "overrides": "overridden by",
    "imports": "imported by",
    "contains": "contained in",
}
"""The name of each relation when it is followed against its direction."""

DIRECTIONS = ("out", "in", "both")
KINDS = ("function", "lambda", "class", "module")

MEMBERSHIP = ("contains", "contained in")
MEMBERS = ("class", "function")
"""The kinds between which `contains` is membership, free of hops on demand."""

MAX_CHUNKS = 100
"""Default cap on the chunks of a walk: ten screens of results, and one hub cannot pull in half the code base."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a walk goes; every field is a switch of its own, and None switches a cap off.

    `direction` follows edges `out` (what is called), `in` (who calls) or `both`; `same_module` never leaves the source
    file (in Go: the package). A chunk that more than `max_in_degree` edges of one relation lead to is not
    left against that relation (a hub's callers), likewise `max_out_degree` along it. `max_chunks` and `max_tokens`
    bound the whole result, seeds included. `min_confidence` drops doubtful edges. With `free_members` the step
    between a class and its methods costs no hop. `kinds` are what a walk returns; others are only walked through.
    """

    hops: int = 1
    relations: tuple[str, ...] = ("calls",)
    direction: str = "out"
    same_module: bool = False
    max_in_degree: int | None = None
    max_out_degree: int | None = None
    max_chunks: int | None = MAX_CHUNKS
    max_tokens: int | None = None
    min_confidence: float = 0.0
    free_members: bool = False
    kinds: tuple[str, ...] = ("function", "class")

    def __post_init__(self) -> None:
        for name, given, known in (("relations", self.relations, RELATIONS), ("kinds", self.kinds, KINDS)):
            if isinstance(given, str):
                raise TypeError(f"{name} must be a tuple of names, got the string {given!r}: write ({given!r},)")
            unknown = sorted(set(given) - set(known))
            if unknown:
                raise ValueError(f"unknown {name} {unknown}; there are {list(known)}")
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {list(DIRECTIONS)}, got {self.direction!r}")
        if self.hops < 0:
            raise ValueError(f"hops must be 0 or more, got {self.hops}")
        for name in ("max_in_degree", "max_out_degree", "max_chunks", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must be 0 or more, or None for no cap, got {value}")


def module_of(chunk: Chunk) -> str:
    """The module of a chunk: its source file in Python, its package's folder in Go.

    >>> from codekb.chunks import Chunk
    >>> module_of(Chunk("a/b.go::F", "function", "F", "F", "a", "a/b.go", 1, 2, "go", "func F()", "", ""))
    'a'
    """
    return chunk.namespace if chunk.language == "go" else chunk.path


def check_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights with every reversed relation filled in; raises for an unknown name or a number outside [0, 1].

    >>> check_weights({"calls": 0.8})
    {'calls': 0.8, 'called by': 0.8}
    """
    known = [*REVERSED, *REVERSED.values()]
    unknown = sorted(set(weights) - set(known))
    if unknown:
        raise ValueError(f"no relation {unknown[0]!r}; there are {known}")
    outside = {name: value for name, value in weights.items() if not 0 <= value <= 1}
    if outside:
        raise ValueError(f"weights must lie in [0, 1], so that no step gains strength; got {outside}")
    filled = dict(weights)
    for relation, back in REVERSED.items():
        if relation in filled:
            filled.setdefault(back, filled[relation])
    return filled
