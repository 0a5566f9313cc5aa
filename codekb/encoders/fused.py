"""Several encoders as one: weighted vectors side by side. The encoders themselves are in the other files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from codekb.encoders.base import Encoder, Vectors


class FusedEncoder:
    """The vectors of several encoders, each times the root of its share, joined: dot product = Σ share · cosine.

    `weights` are relative, one per encoder, positive; scaled to sum to one, joined vectors have length one.
    Where one encoder knows no word of a text, its part is zero and the others' share is scaled up to length one.
    """

    def __init__(self, encoders: Sequence[Encoder], weights: Sequence[float] | None = None) -> None:
        given = [1.0] * len(encoders) if weights is None else [float(w) for w in weights]
        if not encoders:
            raise ValueError("FusedEncoder needs at least one encoder, got none")
        if len(given) != len(encoders):
            raise ValueError(f"{len(given)} weights for {len(encoders)} encoders; give one each")
        if not all(np.isfinite(w) and w > 0 for w in given):
            raise ValueError(f"weights must be positive numbers, got {given}; leave an encoder out instead of weight 0")
        self.encoders = tuple(encoders)
        self.weights = tuple(w / sum(given) for w in given)

    @property
    def name(self) -> str:
        """All names and shares, hashed: another share is another model."""
        parts = " + ".join(f"{w:.6f}*{e.name}" for w, e in zip(self.weights, self.encoders, strict=True))
        return f"fused-{hashlib.sha256(parts.encode()).hexdigest()[:8]}({parts})"

    @property
    def dimension(self) -> int:
        """Sum of the encoders' dimensions."""
        return sum(encoder.dimension for encoder in self.encoders)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Documents → float32 array (len(texts), dimension), rows of length one."""
        return self._join([encoder.encode(texts) for encoder in self.encoders])

    def encode_query(self, text: str) -> Vectors:
        """One question → float32 array (dimension,)."""
        joined: Vectors = self._join([encoder.encode_query(text)[None, :] for encoder in self.encoders])[0]
        return joined

    def _join(self, vectors: Sequence[Vectors]) -> Vectors:
        joined = np.hstack([np.float32(w**0.5) * v for w, v in zip(self.weights, vectors, strict=True)])
        length = np.linalg.norm(joined, axis=1, keepdims=True)
        return (joined / np.where(length == 0, 1, length)).astype(np.float32)

    def __repr__(self) -> str:
        return f"FusedEncoder({self.name}, dimension={self.dimension})"
