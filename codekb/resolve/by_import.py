"""By import: scopes, aliases, relative and star imports, re-exports, submodules, shadowing. No types, no values.

A name means what the nearest enclosing scope binds it to, at that place in the code: a local name or parameter hides
the module's, a later definition replaces an earlier one, and an imported name is followed through every re-export to
the file that defines it. Attributes are followed on modules and classes only; `self.x()` stays unresolved.
"""

from __future__ import annotations

from codekb.chunks import Corpus
from codekb.resolve.edges import Resolution
from codekb.resolve.python_edges import resolve_python


def resolve(corpus: Corpus) -> Resolution:
    """Edges between the Python chunks of `corpus`, by names, imports and class attributes."""
    return resolve_python(corpus, "import")
