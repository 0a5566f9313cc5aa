"""A ranking and its hits: what every search returns and every later step takes. Rendering is in `markup`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codekb import markup
from codekb.chunks import Chunk


def wanted(k: int) -> int:
    """How many results are asked for, as a whole number of at least 1.

    Raises TypeError for anything that is no whole number and ValueError below 1.
    """
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise TypeError(f"k is {k!r}; give a whole number of results, at least 1")
    if k < 1:
        raise ValueError(f"k is {k}; ask for at least one result")
    return k.__index__()


@dataclass(frozen=True, slots=True)
class Step:
    """One edge that led to a hit: from chunk id `source` over `relation` to chunk id `target`.

    `relation` carries its direction: `calls` or `called by`, and so on; `line` is 1-based in the source's file.
    """

    source: str
    relation: str
    target: str
    line: int
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk in a ranking. Higher `score` is better; `parts` maps each method to its share, summing to `score`.

    `via` holds the steps that led here from a seed; empty means the search itself found it.
    `why` holds short remarks in the order they applied (matching words, priors).
    """

    chunk: Chunk
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    via: tuple[Step, ...] = ()
    why: tuple[str, ...] = ()


class Ranking(Sequence[Hit]):
    """Hits in order, best first, each chunk once. `query` is what was asked, `related` are graph neighbours."""

    def __init__(
        self, hits: Iterable[Hit], *, query: str = "", title: str = "", related: Ranking | None = None
    ) -> None:
        self.hits: tuple[Hit, ...] = tuple(hits)
        self.query = query
        self.title = title
        self.related = related
        self._by_id = {h.chunk.id: h for h in self.hits}
        if len(self._by_id) != len(self.hits):
            ids = [h.chunk.id for h in self.hits]
            double = next(i for i in ids if ids.count(i) > 1)
            raise ValueError(f"{double!r} stands twice in one ranking; merge the hits of one chunk first")

    @property
    def ids(self) -> list[str]:
        """Chunk ids, best first."""
        return [h.chunk.id for h in self.hits]

    def rank(self, chunk_id: str) -> int | None:
        """The 1-based rank of a chunk, or None where it is not in the ranking."""
        return self.ids.index(chunk_id) + 1 if chunk_id in self._by_id else None

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        """The hit at a position, a shorter ranking for a slice, or the hit of a chunk id."""
        if isinstance(key, slice):
            return Ranking(self.hits[key], query=self.query, title=self.title, related=self.related)
        if isinstance(key, str):
            if key not in self._by_id:
                raise KeyError(f"{key!r} is not among the {len(self)} hits; first ones: {self.ids[:3]}")
            return self._by_id[key]
        return self.hits[key]

    def get(self, chunk_id: str) -> Hit | None:
        """The hit of a chunk, or None where it is not in the ranking."""
        return self._by_id.get(chunk_id)

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __repr__(self) -> str:
        return markup.ranking_text(self)

    def _repr_html_(self) -> str:
        return markup.ranking_html(self)
