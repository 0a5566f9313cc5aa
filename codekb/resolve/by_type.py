"""x"""

from __future__ import annotations

from codekb.chunks import Corpus
from codekb.resolve.edges import Resolution
from codekb.resolve.python_edges import resolve_python


def resolve(corpus: Corpus) -> Resolution:
    """The Python part of `corpus` at this level."""
    return resolve_python(corpus, "type")
