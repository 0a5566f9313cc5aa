"""By type: what `import` knows, and the classes of objects, so that `self.x()` and `obj.x()` find their methods.

Classes come from constructors, `self` and `cls`, annotations, return types, attributes assigned anywhere in a class,
`isinstance`, context managers and iteration; methods from the method resolution order (C3). Functions that are handed
around as values are not followed: that is what `flow` adds.
"""

from __future__ import annotations

from codekb.chunks import Corpus
from codekb.resolve.edges import Resolution
from codekb.resolve.python_edges import resolve_python


def resolve(corpus: Corpus) -> Resolution:
    """Edges between the Python chunks of `corpus`, by names, imports and the types of objects."""
    return resolve_python(corpus, "type")
