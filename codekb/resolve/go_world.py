"""The declarations of a Go corpus: packages, files, named types, functions, and what a written name means where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from codekb.parsing.go_refs import PREDECLARED
from codekb.resolve.go_declared import File, Func, Import, Named, Package, Var
from codekb.resolve.go_library import library_facts
from codekb.resolve.go_modules import Modules
from codekb.resolve.go_types import Meaning, basic, substitute

Names = Mapping[str, Meaning]
"""Type parameters and local types in scope."""


class World:
    """All packages of a corpus, read from the facts that the parser kept."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        go = {path: f for path, f in sorted(facts.items()) if path.endswith(".go") and isinstance(f, dict)}
        mods = {p: f for p, f in facts.items() if p.rpartition("/")[2] == "go.mod" and isinstance(f, str)}
        self.files = [File(path, f) for path, f in go.items()]
        imported = [target for file in self.files for _, target, _ in file.facts["imports"]]
        own = len(self.files)
        self.files += [File(path, f, library=True) for path, f in library_facts(imported)]
        self.library: dict[str, Package] = {}
        self.instances: dict[tuple[Meaning, Meaning], None] = {}  # type parameter, type written for it
        self.packages: dict[tuple[str, str], Package] = {}
        self.named: list[Named] = []
        self.functions: list[Func] = []
        for file in self.files:
            self._place(file)
        self.modules = Modules(mods, [f for f, _ in self.packages], imported)
        self.main = self._importable()
        for file in self.files:
            self._imports(file)
            self._declare(file)
        for function in self.functions:
            self._method(function)
        for function in self.functions:
            self._signature(function)
        del self.files[own:]

    def _place(self, file: File) -> None:
        key = (file.path.rpartition("/")[0], file.facts["package"])
        if file.library:
            file.package = self.library[key[0]] = Package(*key)
        else:
            file.package = self.packages.setdefault(key, Package(*key))
        file.package.files.append(file)

    def _importable(self) -> dict[str, Package]:
        """Folder → the package that an import of it means: not its external tests, not stray main programs."""
        found: dict[str, Package] = {}
        for (folder, name), package in sorted(self.packages.items()):
            if name.endswith("_test") and all(f.path.endswith("_test.go") for f in package.files):
                continue
            best = found.get(folder)
            if best is None or (best.name == "main", -len(best.files)) > (name == "main", -len(package.files)):
                found[folder] = package
        return found

    def _imports(self, file: File) -> None:
        for alias, path, line in file.facts["imports"]:
            folder = None if file.library else self.modules.folder(path, file.package.folder)
            found = self.library.get(path) if file.library else self.main.get(folder or "")
            entry = Import(path, line, found if folder is not None or file.library else None)
            if alias == ".":
                file.dot_imports.append(entry)
            elif alias == "_":
                file.others.append(entry)
            elif alias:
                file.imports[alias] = entry
            else:
                for name in [entry.package.name] if entry.package else library_names(path):
                    file.imports.setdefault(name, entry)

    def _declare(self, file: File) -> None:
        package = file.package
        for chunk_id, name, line, tparams, written, alias in file.facts["types"]:
            named = self.name_type(chunk_id, name, file, (tparams, written, alias), line)
            package.types.setdefault(name, []).append(named)
            if not file.library:
                self.named.append(named)
        by_id = {}
        for record in file.facts["funcs"]:
            function = Func(record, file)
            self.functions.append(function)
            by_id[function.id] = function
        variables = {id_ for _, _, _, id_ in file.facts["vars"] if id_}
        file.code = self.functions[-1]
        for function in by_id.values():
            if function.id not in variables and not function.record["receiver"] and function.name:
                package.funcs.setdefault(function.name, []).append(function)
        for name, written, line, id_ in file.facts["vars"]:
            var = Var(name, file, written, line)
            var.function = by_id.get(id_)
            package.vars.setdefault(name, []).append(var)
        self._values(file)

    def _values(self, file: File) -> None:
        """Which expression each package-level variable starts with."""
        for op in file.facts["funcs"][-1]["ops"]:
            if op[0] == "var":
                for i, target in enumerate(op[1]):
                    whole = len(op[1]) == len(op[2])
                    found = [v for v in file.package.vars.get(target[1], ()) if v.file is file]
                    if found and op[2]:
                        found[-1].value = (op[2][i], 0) if whole else (op[2][0], i)

    def name_type(self, chunk_id: str, name: str, file: File, written: tuple[Any, Any, bool], line: int) -> Named:
        """A new named type of this world."""
        named = Named("" if file.library else chunk_id, name, file, written, line)
        named.world = self
        return named

    def _method(self, function: Func) -> None:
        receiver = function.record["receiver"]
        if receiver:
            owners = function.file.package.types.get(receiver[1], [])
            owners = [o for o in owners if o.file.built & function.file.built] or owners
            for owner in owners:
                target = self.aliased(owner)
                target.methods.setdefault(function.name, []).append(function)
                function.owner = function.owner or target

    def aliased(self, named: Named) -> Named:
        """The type that an alias stands for, where it is one of the corpus."""
        for _ in range(8):
            found = named.underlying() if named.alias else None
            if found is None or found[0] != "N":
                return named
            named = found[1]
        return named

    def _signature(self, function: Func) -> None:
        record, receiver = function.record, function.record["receiver"]
        names = function.names
        if receiver and function.owner:
            names.update(zip(receiver[3], function.owner.parameters(), strict=False))
        names.update((name, ("T", name, function)) for name, _ in record["tparams"])
        for name, tparams, written, alias in record["types"]:
            local = self.name_type("", name, function.file, (tparams, written, alias), record["line"])
            local.names = names
            names[name] = ("N", local, ())
        function.types = [self.meaning(written, function.file, names) for _, written, _ in record["slots"]]

    def find_types(self, file: File, name: str) -> list[Named]:
        """The types that a bare name means in a file."""
        found = file.package.types.get(name)
        if found is None:
            found = [t for i in file.dot_imports if i.package for t in i.package.types.get(name, ())]
        return found

    def _elsewhere(self, file: File) -> str:
        """The package that a type unknown to the file must come from: a library's own, or one imported with a dot."""
        if file.library:
            return file.package.folder
        return next((entry.path for entry in file.dot_imports if entry.package is None), "")

    def meaning(self, written: Any, file: File, names: Names) -> Meaning:
        """What a type written in a file means there."""
        if isinstance(written, str):
            return self._named(written, file, names, ())
        if not isinstance(written, tuple | list) or not written:
            return None
        tag = written[0]
        if tag in ("*", "[]", "chan", "map"):
            return (tag, *(self.meaning(part, file, names) for part in written[1:]))
        if tag == "func":
            taken, given = (tuple(self.meaning(t, file, names) for t in written[i]) for i in (1, 2))
            return ("func", taken, given, written[3])
        if tag == "struct":
            return ("struct", tuple((f[0], self.meaning(f[1], file, names), f[2]) for f in written[1]))
        if tag == "interface":
            methods = tuple((m[0], self.meaning(m[1], file, names)) for m in written[1])
            return ("interface", methods, tuple(self.meaning(e[0], file, names) for e in written[2]))
        if tag == "inst" and isinstance(written[1], str):
            arguments = tuple(self.meaning(a, file, names) for a in written[2])
            return self._named(written[1], file, names, arguments)
        return None

    def _named(self, name: str, file: File, names: Names, arguments: tuple[Meaning, ...]) -> Meaning:
        if name in names:
            known = names[name]
            return ("N", known[1], arguments) if arguments and known and known[0] == "N" else known
        left, _, right = name.rpartition(".")
        if left:
            entry = file.imports.get(left)
            package = (entry.package or self.library.get(entry.path)) if entry else None
            found = package.types.get(right, []) if package else []
            if not found and (package is None or entry is None or entry.package is None):
                return ("X", f"{entry.path if entry else left}.{right}", arguments)
        else:
            found = self.find_types(file, right)
        if not found:
            if name in PREDECLARED and not left:
                return basic(name)
            return ("X", f"{self._elsewhere(file)}.{name}", arguments) if not left and self._elsewhere(file) else None
        best = preferred(found, file)[0]
        if best.alias:
            target = best.underlying()
            return substitute(target, dict(zip(best.parameters(), arguments, strict=False)))
        self.instances.update((pair, None) for pair in zip(best.parameters(), arguments, strict=False))
        return ("N", best, arguments)


def preferred(found: Iterable[Any], file: File) -> list[Any]:
    """Of several declarations of one name: those of the same file, else those built for the same platforms."""
    several = list(found)
    if len(several) > 1:
        several = [d for d in several if d.file is file] or [d for d in several if d.file.built & file.built] or several
        several.sort(key=lambda d: not d.file.built & 1)
    return several


def library_names(path: str) -> list[str]:
    """The names that a package outside the corpus may go by: its last segment, without version and `go` affixes.

    >>> library_names("gopkg.in/yaml.v3"), library_names("example.com/go-redis/v9")
    (['yaml'], ['redis', 'go_redis', 'go-redis'])
    """
    parts = path.split("/")
    last = parts[-1]
    if len(parts) > 1 and last[:1] == "v" and last[1:].isdigit():
        last = parts[-2]
    stem, _, version = last.rpartition(".")
    if stem and (version[:1] == "v" or version == "go"):
        last = stem
    bare = last.removeprefix("go-").removesuffix("-go").removesuffix(".go")
    return list(dict.fromkeys([bare.replace("-", "_"), last.replace("-", "_"), last]))
