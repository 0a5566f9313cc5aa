"""Encoders: the embedded default, MiniLM, several fused. OpenAI-compatible ones and the cache are modules apart."""

from codekb.encoders.base import Encoder, Vectors
from codekb.encoders.fused import FusedEncoder
from codekb.encoders.minilm import MiniLMEncoder
from codekb.encoders.static import StaticEncoder

__all__ = ["Encoder", "FusedEncoder", "MiniLMEncoder", "StaticEncoder", "Vectors"]
