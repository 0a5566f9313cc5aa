"""A token budget filled from a ranking: whole functions, signatures where a body does not fit, as prompt-ready text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codekb.chunks import Chunk
from codekb.ranking import Hit, Ranking
from codekb.text import count_tokens


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits: `text`, within the budget by `count_tokens`, and the ids given whole, by signature, not at all."""

    text: str
    whole: tuple[str, ...]
    signatures: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """Estimated tokens of the text."""
        return count_tokens(self.text)

    def __str__(self) -> str:
        return self.text


def pack(ranking: Ranking | Sequence[Hit], max_tokens: int) -> Packed:
    """Fill a budget in rank order, then print it in reading order: by file, then line, each file's name once.

    A chunk is given whole where it fits, else by signature and first doc line, else left out; one inside
    another that is given whole is not repeated. Raises ValueError for a negative budget.
    """
    if max_tokens < 0:
        raise ValueError(f"max_tokens must be 0 or more, got {max_tokens}")
    chosen: dict[str, tuple[Chunk, bool]] = {}
    for hit in ranking:
        for whole in (True, False):
            trial = {**chosen, hit.chunk.id: (hit.chunk, whole)}
            if count_tokens(_print(trial)) <= max_tokens:
                chosen = trial
                break
    ids = [hit.chunk.id for hit in ranking]
    return Packed(
        text=_print(chosen),
        whole=tuple(i for i in ids if i in chosen and chosen[i][1]),
        signatures=tuple(i for i in ids if i in chosen and not chosen[i][1]),
        left_out=tuple(i for i in ids if i not in chosen),
    )


def _print(chosen: dict[str, tuple[Chunk, bool]]) -> str:
    blocks: list[str] = []
    path, covered = "", 0
    for chunk, whole in sorted(chosen.values(), key=lambda c: (c[0].path, c[0].start_line, -c[0].end_line)):
        if chunk.path != path:
            path, covered = chunk.path, 0
            blocks.append(f"## {path}")
        if chunk.end_line <= covered:
            continue
        mark = "//" if chunk.language == "go" else "#"
        shown = chunk.code if whole else _signature(chunk, mark)
        blocks.append(f"{mark} lines {chunk.start_line}-{chunk.end_line}\n{shown}")
        if whole:
            covered = chunk.end_line
    return "\n\n".join(blocks) + ("\n" if blocks else "")


def _signature(chunk: Chunk, mark: str) -> str:
    first = chunk.doc.strip().partition("\n")[0]
    return f"{chunk.signature}  {mark} …" + (f" {first}" if first else "")
