"""Where the piece vectors start: MiniLM's vectors of the pieces as they are mostly written. No training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codekb.encoders.minilm import MiniLMEncoder


def start_vectors(spellings: Sequence[str], dimension: int) -> np.ndarray:
    """Unit vectors (pieces, dimension): MiniLM's, their mean taken out, along their main directions.

    MiniLM has 384 dimensions: of a larger `dimension` only those are given. The model runs in int8, so that another
    processor can give slightly other vectors.
    """
    distinct = sorted(set(spellings))
    position = {spelling: row for row, spelling in enumerate(distinct)}
    vectors = MiniLMEncoder(threads=1).encode(distinct)[[position[s] for s in spellings]]
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ directions[:dimension].T
    return turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-12)
