"""What every encoder offers. The encoders themselves are in the other files of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into float32 vectors of length one (a text without a known word gives the zero vector).

    `name` identifies model and version: it is the cache key and stands in a saved index's manifest.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Documents → array of shape (len(texts), dimension), rows in the order of `texts`."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """One question → array of shape (dimension,)."""
        ...
