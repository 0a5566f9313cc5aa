"""What a parser of one language hands back for one file. No walking of folders, no resolving."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from codekb.chunks import Chunk


@dataclass(frozen=True, slots=True)
class FileParse:
    """The chunks of one file, in line order, and what the resolvers of that language need to know about it.

    `facts` is plain data (dicts, lists, tuples, strings, numbers), opaque to everyone but the language's
    own resolver; `note` is a reservation to report (`""` when the file parsed cleanly).
    """

    chunks: tuple[Chunk, ...]
    facts: Any = field(default=None, repr=False)
    note: str = ""
