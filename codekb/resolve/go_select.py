"""What `x.name` means for a type: methods, fields, promotion by embedding; which types satisfy an interface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from codekb.resolve.go_declared import File, Func, Named, Package
from codekb.resolve.go_types import ERROR, Bindings, Meaning, basic, matches, pointee, substitute
from codekb.resolve.go_world import World, preferred

MAX_EMBEDDING = 8
"""Depth of embedding that is followed; Go code rarely goes beyond 3."""


@dataclass(slots=True)
class Selected:
    """What a selector found. `kind` is `method`, `field`, `interface` (a method of one) or `library`."""

    kind: str
    type: Meaning = None
    funcs: list[Func] = field(default_factory=list)
    bindings: Bindings = field(default_factory=dict)
    owner: Any = None  # of a field: the named or anonymous struct; of an interface method: the type it was called on
    dotted: str = ""
    depth: int = 0


@dataclass(slots=True)
class _Level:
    """One depth of embedding while a selector is searched."""

    types: list[Meaning]
    next: list[Meaning] = field(default_factory=list)


class Selector:
    """Answers selectors and interface questions for one world, keeping what it found."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._sets: dict[Named, tuple[dict[str, Selected], bool]] = {}
        self._implementers: dict[Any, list[tuple[Named, bool]]] = {}
        self._by_method: dict[str, list[Named]] = {}
        self._indexed = False

    def select(self, t: Meaning, name: str, file: File) -> Selected | None:
        """What `name` selects on a value or pointer of type `t`; None where nothing of that name is known."""
        library: list[str] = []
        seen: set[Any] = set()
        level = [pointee(t)]
        for depth in range(MAX_EMBEDDING):
            coming: list[Meaning] = []
            for inner in map(pointee, level):
                if inner is None or (inner[0] == "N" and inner[1] in seen):
                    continue
                found = self._at(inner, name, coming, library)
                if found is not None:
                    found.depth = depth
                    found.funcs = preferred(found.funcs, file) if len(found.funcs) > 1 else found.funcs
                    return found
                seen.add(inner[1]) if inner[0] == "N" else None
            level = coming
        return Selected("library", dotted=f"{library[0]}.{name}") if library else None

    def _at(self, t: Meaning, name: str, coming: list[Meaning], library: list[str]) -> Selected | None:
        """What one type declares itself under this name; embedded types go to `coming`."""
        owner: Any = t
        body = t
        if t[0] == "N":
            owner = t[1]
            if name in owner.methods:
                bindings = dict(zip(owner.parameters(), t[2], strict=False))
                funcs = owner.methods[name]
                return Selected("method", substitute(funcs[0].type(), bindings), funcs, bindings, owner)
            body = owner.underlying_with(t[2])
        elif t[0] == "T":
            body = self.constraint(t)
        elif t[0] in ("X", "U"):
            library.append(t[1])
            return None
        elif t == basic("error"):
            body = ERROR
        if body is None:
            return None
        if body[0] == "struct":
            for field_name, field_type, embedded in body[1]:
                if field_name == name:
                    return Selected("field", field_type, owner=owner)
                if embedded:
                    coming.append(field_type)
        elif body[0] == "interface":
            methods, complete = self.interface_methods(body)
            if name in methods:
                return Selected("interface", methods[name], owner=t)
            if not complete:
                library.append(next(iter(self._outside(body)), "interface"))
        if t[0] == "N" and owner.file.library and not coming:
            library.append(f"{owner.file.package.folder}.{owner.name}")
        return None

    def constraint(self, t: Meaning) -> Meaning:
        """The constraint of a type parameter, with named interfaces opened; None where it is unknown."""
        name, owner = t[1], t[2]
        pairs = owner.record["tparams"] if isinstance(owner, Func) else owner.tparams
        written = next((c for n, c in pairs if n == name), None)
        names = owner.names if isinstance(owner, Func) else {n: ("T", n, owner) for n, _ in pairs}
        found = self.world.meaning(written, owner.file, names)
        return found[1].underlying_with(found[2]) if found is not None and found[0] == "N" else found

    def interface_methods(self, t: Meaning) -> tuple[dict[str, Meaning], bool]:
        """Name → function type of every method of an interface type, and whether all of them are known."""
        methods: dict[str, Meaning] = {}
        complete = True
        for part, _ in self._opened(t):
            if part is None or part[0] in ("X", "U"):
                complete = False
            elif part[0] == "interface":
                for name, taken in part[1]:
                    methods.setdefault(name, taken)
        return methods, complete

    def _opened(self, t: Meaning) -> Iterator[tuple[Meaning, Package | None]]:
        """An interface and everything it embeds, with the package of each, where it has a name."""
        stack: list[tuple[Meaning, Package | None]] = [(t, None)]
        seen = set()
        while stack:
            part, package = stack.pop()
            if part is not None and part[0] == "N":
                if part[1] in seen:
                    continue
                seen.add(part[1])
                package = part[1].file.package
                part = part[1].underlying_with(part[2])
            if part == basic("error"):
                part = ERROR
            yield part, package
            if part is not None and part[0] == "interface":
                stack.extend((inner, package) for inner in part[2])

    def _outside(self, t: Meaning) -> Iterator[str]:
        for part, _ in self._opened(t):
            if part is not None and part[0] in ("X", "U"):
                yield part[1]

    def _private(self, t: Meaning) -> dict[str, Package]:
        """Unexported method → the package in which alone a type can have it."""
        opened = [(part, package) for part, package in self._opened(t) if part and part[0] == "interface"]
        return {name: package for part, package in opened if package for name, _ in part[1] if not name[0].isupper()}

    def method_set(self, named: Named) -> tuple[dict[str, Selected], bool]:
        """Every method of a pointer to the type, promoted ones included, and whether a library's type is embedded."""
        if named not in self._sets:
            self._sets[named] = ({}, False)  # for types that embed themselves
            self._sets[named] = self._collect(named)
        return self._sets[named]

    def _collect(self, named: Named) -> tuple[dict[str, Selected], bool]:
        found: dict[str, Selected] = {}
        is_open = False
        level: list[Meaning] = [("N", named, tuple(named.parameters()))]
        seen: set[Named] = set()
        for depth in range(MAX_EMBEDDING):
            coming: list[Meaning] = []
            for t in map(pointee, level):
                body = t
                if t is not None and t[0] == "N":
                    if t[1] in seen:
                        continue
                    seen.add(t[1])
                    bindings = dict(zip(t[1].parameters(), t[2], strict=False))
                    for name, funcs in t[1].methods.items():
                        meant = substitute(funcs[0].type(), bindings)
                        found.setdefault(name, Selected("method", meant, funcs, bindings, t[1], depth=depth))
                    body = t[1].underlying_with(t[2])
                elif t == basic("error"):
                    body = ERROR
                if body is None or body[0] in ("X", "U"):
                    is_open = is_open or depth > 0
                elif body[0] == "interface":
                    methods, complete = self.interface_methods(body)
                    is_open |= not complete
                    for name, meant in methods.items():
                        found.setdefault(name, Selected("interface", meant, owner=t, depth=depth))
                elif body[0] == "struct":
                    coming += [field_type for _, field_type, embedded in body[1] if embedded]
            level = coming
        return found, is_open

    def _index(self) -> None:
        self._indexed = True
        for named in self.world.named:
            underlying = named.underlying()
            if named.alias or (underlying is not None and underlying[0] == "interface"):
                continue
            for name, selected in self.method_set(named)[0].items():
                if selected.kind == "method":
                    self._by_method.setdefault(name, []).append(named)

    def implementers(self, t: Meaning) -> list[tuple[Named, bool]]:
        """The corpus types that satisfy an interface, by id, and whether nothing had to be assumed for it."""
        if t not in self._implementers:
            self._implementers[t] = list(self._find_implementers(t))
        return self._implementers[t]

    def _find_implementers(self, t: Meaning) -> Iterator[tuple[Named, bool]]:
        if not self._indexed:
            self._index()
        methods, complete = self.interface_methods(t)
        if not methods:
            return
        private = self._private(t)
        pools = [self._by_method.get(name, []) for name in methods]
        open_pool = [p for p in pools if p]
        candidates = {named for pool in open_pool for named in pool}
        for named in sorted(candidates):
            own, is_open = self.method_set(named)
            present = [name for name in methods if name in own]
            fits = all(matches(own[name].type, methods[name]) for name in present) and all(
                function.file.package is package
                for name, package in private.items()
                for function in (own[name].funcs if name in own else ())
            )
            enough = len(present) * 2 >= len(methods) if is_open else len(present) == len(methods)
            if fits and enough:
                yield named, complete and len(present) == len(methods)

    def concrete(self, t: Meaning, name: str) -> list[tuple[Func, bool]]:
        """The functions that a call of an interface's method can reach, each once, and whether nothing was assumed."""
        found: dict[Func, bool] = {}
        for named, sure in self.implementers(t):
            selected = self.method_set(named)[0].get(name)
            for function in selected.funcs if selected and selected.kind == "method" else ():
                found[function] = found.get(function, False) or sure
        return list(found.items())
