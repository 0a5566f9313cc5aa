"""By flow: what `type` knows, and functions as values, wherever they go before they are called.

An inclusion-based (Andersen-style) analysis over the whole program, in the spirit of PyCG (Salis et al., ICSE 2021) and
Jarvis (Huang et al., 2023): variables, parameters, results, containers, attributes, closures and decorators pass on
functions, classes and instances until nothing changes. Unlike PyCG, local names keep one variable per assignment,
results that depend on a parameter being given are told apart, and every set is bounded, so that time stays linear.
"""

from __future__ import annotations

from codekb.chunks import Corpus
from codekb.resolve.edges import Resolution
from codekb.resolve.python_edges import resolve_python


def resolve(corpus: Corpus) -> Resolution:
    """Edges between the Python chunks of `corpus`, by names, types and functions as values."""
    return resolve_python(corpus, "flow")
