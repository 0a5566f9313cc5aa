"""Edges of a Go corpus that are no calls: contains, imports, uses between types, inherits, overrides."""

from __future__ import annotations

from codekb.resolve.go_declared import File, Named
from codekb.resolve.go_select import Selector
from codekb.resolve.go_sink import Sink
from codekb.resolve.go_types import Meaning, pointee
from codekb.resolve.go_world import World

CERTAIN = 1.0
IMPLEMENTS = 0.8
"""A type that has all methods of an interface: whether anybody uses it as one is not known."""

ASSUMED = 0.4
"""As above, where part of the interface or of the type lies outside the corpus."""


def structure(world: World, selector: Selector, sink: Sink, typed: bool) -> None:
    """All structural edges; those that need types only if `typed`."""
    for file in world.files:
        _imports(file, sink)
        _variables(file, world, sink)
    _contains(world, sink)
    for named in world.named:
        _mentions(named, world, sink)
    if typed:
        for named in world.named:
            _embeds(named, sink)
            _overrides(named, selector, sink)
        for named in world.named:
            _implemented(named, selector, sink)


def _imports(file: File, sink: Sink) -> None:
    for entry in (*file.imports.values(), *file.dot_imports, *file.others):
        for target in entry.package.files if entry.package else ():
            if not target.path.endswith("_test.go"):
                sink.edge(file.path, target.path, "imports", entry.line, CERTAIN, "import")


def _variables(file: File, world: World, sink: Sink) -> None:
    """The types of package-level variables and constants."""
    for _, written, line, _ in file.facts["vars"]:
        if written is not None:
            sink.type_used(file.path, world.meaning(written, file, {}), line)


def _mentions(named: Named, world: World, sink: Sink) -> None:
    """The types of fields and methods, or the type that another one is defined by; embedded ones are `inherits`."""
    written = named.written
    scope = {**named.names, **{name: ("T", name, named) for name, _ in named.tparams}}
    found = [(written, named.line)]
    if isinstance(written, tuple | list) and written[0] == "struct":
        found = [(declared, line) for _, declared, embedded, line in written[1] if not embedded]
    elif isinstance(written, tuple | list) and written[0] == "interface":
        found = [(declared, line) for _, declared, line in written[1]]
    for declared, line in found:
        sink.type_used(named.id, world.meaning(declared, named.file, scope), line)


def _contains(world: World, sink: Sink) -> None:
    for function in world.functions:
        if function.file.library or function.id == function.file.path:
            continue
        line = function.record["line"]
        if function.owner is not None and function.owner.id:
            owner = function.owner
            own_line = line if owner.file is function.file else owner.line
            sink.edge(owner.id, function.id, "contains", own_line, CERTAIN, "method")
        else:
            sink.edge(function.file.path, function.id, "contains", line, CERTAIN, "declaration")
    for named in world.named:
        sink.edge(named.file.path, named.id, "contains", named.line, CERTAIN, "declaration")


def _embedded(named: Named) -> list[tuple[Meaning, int]]:
    """The embedded types of a struct or interface, with the line of each."""
    written, under = named.written, named.underlying()
    if named.alias or under is None or not isinstance(written, tuple | list):
        return []
    if under[0] == "struct" and written[0] == "struct":
        lines = [f[3] for f in written[1]]
        return [(pointee(f[1]), line) for f, line in zip(under[1], lines, strict=True) if f[2]]
    if under[0] == "interface" and written[0] == "interface":
        return [(t, e[1]) for t, e in zip(under[2], written[2], strict=True)]
    return []


def _embeds(named: Named, sink: Sink) -> None:
    for t, line in _embedded(named):
        if t is not None and t[0] == "N" and t[1] is not named:
            sink.edge(named.id, t[1].id, "inherits", line, CERTAIN, "embeds")


def _overrides(named: Named, selector: Selector, sink: Sink) -> None:
    for t, _ in _embedded(named):
        if t is None or t[0] != "N" or t[1] is named:
            continue
        inherited = selector.method_set(t[1])[0]
        for name, funcs in named.methods.items():
            hidden = inherited.get(name)
            for target in hidden.funcs if hidden and hidden.kind == "method" else ():
                for function in funcs:
                    if not target.file.library and target is not function:
                        line = function.record["line"]
                        sink.edge(function.id, target.id, "overrides", line, CERTAIN, "hides promoted method")


def _implemented(interface: Named, selector: Selector, sink: Sink) -> None:
    under = interface.underlying()
    if interface.alias or under is None or under[0] != "interface":
        return
    t = ("N", interface, tuple(interface.parameters()))
    for named, sure in selector.implementers(t):
        sink.edge(named.id, interface.id, "inherits", named.line, IMPLEMENTS if sure else ASSUMED, "implements")
