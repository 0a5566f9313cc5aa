"""A tiny shop, whose whole call graph stands in ../edges.json."""

from .cart import Cart

__all__ = ["Cart"]
