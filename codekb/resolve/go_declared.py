"""What a Go corpus declares: packages, files, imports, variables, functions, named types. No lookup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codekb.resolve.go_build import configurations
from codekb.resolve.go_types import Meaning, holds_function, substitute

if TYPE_CHECKING:
    from codekb.resolve.go_world import World


class Package:
    """One Go package: its files and everything declared at its top level, by name."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder = folder
        self.name = name
        self.files: list[File] = []
        self.types: dict[str, list[Named]] = {}
        self.funcs: dict[str, list[Func]] = {}
        self.vars: dict[str, list[Var]] = {}

    def declares(self, name: str) -> bool:
        """Whether the package declares this name."""
        return name in self.funcs or name in self.types or name in self.vars


class File:
    """One source file: its package, its imports, and the platforms it is built for."""

    def __init__(self, path: str, facts: Mapping[str, Any], library: bool = False) -> None:
        self.path = path
        self.facts = facts
        self.library = library  # what is known of a package outside the corpus
        self.package: Package
        self.imports: dict[str, Import] = {}
        self.dot_imports: list[Import] = []
        self.others: list[Import] = []  # imported for their effects
        self.code: Func  # the package-level code
        self.built = configurations(path, facts["build"])


class Import:
    """One import of one file. `package` is None where it lies outside the corpus."""

    def __init__(self, path: str, line: int, package: Package | None) -> None:
        self.path = path
        self.line = line
        self.package = package


class Var:
    """One package-level variable or constant; `function` is the function that its literal is, if it is one."""

    def __init__(self, name: str, file: File, written: Any, line: int) -> None:
        self.name = name
        self.file = file
        self.written = written
        self.line = line
        self.function: Func | None = None
        self.value: tuple[Any, int] | None = None  # expression and which of its results
        self.type: Meaning = None
        self.typed = False


class Func:
    """One function, method or function variable, or the package-level code of a file."""

    def __init__(self, record: Mapping[str, Any], file: File) -> None:
        self.record = record
        self.file = file
        self.id: str = record["id"]
        self.name: str = record["name"]
        self.owner: Named | None = None
        self.names: dict[str, Meaning] = {}
        self.types: list[Meaning] = []  # of its slots, once signatures are read

    def literal(self, number: int) -> tuple[list[int], list[int], bool]:
        """Parameter slots, result slots, variadic: of a function literal, or of the function itself for -1."""
        r = self.record
        found = (r["params"], r["results"], r["variadic"]) if number < 0 else r["literals"][number]
        return found[0], found[1], found[2]

    def type(self, number: int = -1) -> Meaning:
        """The function type of the function, or of one of its literals."""
        taken, given, variadic = self.literal(number)
        return ("func", tuple(self.types[i] for i in taken), tuple(self.types[i] for i in given), variadic)


class Named:
    """One named type; a local one has no chunk id."""

    def __init__(self, chunk_id: str, name: str, file: File, written: tuple[Any, Any, bool], line: int) -> None:
        self.id = chunk_id
        self.name = name
        self.file = file
        self.line = line
        self.tparams: list[tuple[str, Any]] = list(written[0])
        self.written = written[1]
        self.alias = written[2]
        self.names: dict[str, Meaning] = {}
        self.methods: dict[str, list[Func]] = {}
        self.world: World
        self._underlying: Meaning = None
        self._state = 0  # 0 not read, 1 being read, 2 read
        self._holds: bool | None = None

    def parameters(self) -> list[Meaning]:
        """Its type parameters as types."""
        return [("T", name, self) for name, _ in self.tparams]

    def underlying(self) -> Meaning:
        """What the type is defined as, through other named types; None while it is being read."""
        if self._state == 0:
            self._state = 1
            scope = {**self.names, **{name: ("T", name, self) for name, _ in self.tparams}}
            found = self.world.meaning(self.written, self.file, scope)
            if found is not None and found[0] == "N" and not self.alias:
                found = found[1].underlying_with(found[2])
            self._underlying, self._state = found, 2
        return self._underlying if self._state == 2 else None

    def underlying_with(self, arguments: tuple[Meaning, ...]) -> Meaning:
        """The underlying type with type arguments filled in."""
        found = self.underlying()
        return substitute(found, dict(zip(self.parameters(), arguments, strict=False))) if arguments else found

    def may_hold_function(self) -> bool:
        """See `holds_function`; False while a recursive type asks about itself."""
        if self._holds is None:
            self._holds = False
            self._holds = holds_function(self.underlying())
        return self._holds

    def __lt__(self, other: Named) -> bool:
        return (self.id, self.name) < (other.id, other.name)
