"""The graph of a Go corpus at four levels, from what the parser kept. How each part works is in the `go_*` files."""

from __future__ import annotations

from codekb.chunks import Corpus
from codekb.resolve import by_name
from codekb.resolve.edges import Resolution
from codekb.resolve.go_context import Context
from codekb.resolve.go_select import Selector
from codekb.resolve.go_sink import LEVELS, Sink
from codekb.resolve.go_statements import Body
from codekb.resolve.go_structure import structure
from codekb.resolve.go_world import World


def resolve(corpus: Corpus, level: str = "flow") -> Resolution:
    """Edges, external and unresolved names of the Go files of a corpus.

    `level`: `name` (the tutorial's rule: last function of that name) · `import` (packages and imports) · `type`
    (methods by the types of receivers, fields, variables) · `flow` (also function values, interface dispatch,
    callbacks). Raises ValueError for another level.
    """
    if level not in LEVELS:
        raise ValueError(f"level {level!r} is unknown: give one of {', '.join(map(repr, LEVELS))}")
    if level == "name":
        return by_name.resolve(corpus.where(language="go"))
    world = World(corpus.facts)
    context = Context(world, Selector(world), Sink(level))
    structure(world, context.selector, context.sink, typed=level != "import")
    for function in world.functions:
        if not function.file.library:
            Body(context, function).run()
    if level == "flow":
        context.finish()
        context.solver.solve()
    return context.sink.resolution()
