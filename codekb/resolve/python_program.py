"""All Python files of a corpus as one program: numbering, module-level names, classes and their order."""

from __future__ import annotations

import builtins
from pathlib import PurePath
from typing import Any

from codekb.chunks import Corpus
from codekb.resolve.python_modules import Modules

BUILTINS = frozenset(dir(builtins))


class Function:
    """A function or lambda with its variables as numbers of the whole program (-1: it has none)."""

    __slots__ = (
        "boxes",
        "callers",
        "chunk",
        "defaults",
        "double",
        "flags",
        "guarded",
        "keyword",
        "name_of",
        "named",
        "owner",
        "passed",
        "positional",
        "positional_only",
        "relays",
        "ret",
        "sent",
        "star",
        "yields",
    )  # fmt: skip

    def __init__(self, fact: Any, base: int, chunk_base: int) -> None:
        (
            index,
            positional,
            self.positional_only,
            keyword,
            star,
            double,
            ret,
            yields,
            passed,
            owner,
            flags,
            sent,
            defaults,
            guarded,
            relays,
        ) = fact
        self.chunk = chunk_base + index
        self.positional = [base + var for _, var in positional]
        self.keyword = [base + var for _, var in keyword]
        self.named: dict[str, int] | None = None
        self.boxes: dict[str, int] = {}
        self.star = base + star if star >= 0 else -1
        self.double = base + double if double >= 0 else -1
        self.ret = base + ret
        self.yields = base + yields if yields >= 0 else -1
        self.passed = list(passed)  # a copy, as of the flags
        self.relays = [base + var for var in relays]
        self.callers: list[tuple[Any, int]] = []  # (call, receiver), for what turns out to be passed through
        self.sent = base + sent if sent >= 0 else -1
        self.guarded = [(position, none, base + var) for position, none, var in guarded]
        self.defaults = {position: base + var for position, var in defaults}
        self.owner = chunk_base + owner if owner >= 0 else -1
        self.flags = list(flags)  # a copy: resolving adds to it, and facts are kept and saved
        self.name_of = (positional, keyword, base)

    def at(self, position: int) -> int:
        """The variable of the parameter at this position; keyword-only ones stand after the others."""
        count = len(self.positional)
        return int(self.positional[position] if position < count else self.keyword[position - count])

    def position(self, var: int) -> int:
        """Which parameter a variable is, -1 for none and for `self`."""
        parameters = [*self.positional, *self.keyword]
        found = parameters.index(var) if var in parameters else -1
        return -1 if found == 0 and self.owner >= 0 else found

    def returns_first(self) -> bool:
        """Whether what stands first, as `self` does, comes back."""
        return 0 in self.passed and bool(self.positional)

    def parameter(self, name: str) -> int:
        """The variable of the parameter that a keyword argument fills, -1 for none."""
        if self.named is None:
            positional, keyword, base = self.name_of
            pairs = [*positional[self.positional_only :], *keyword]
            self.named = {name: base + var for name, var in pairs}
        return self.named.get(name, -1)


class Class:
    """A class: its chunk, the variables of its bases and attributes, and, once known, its resolution order."""

    __slots__ = (
        "attrs",
        "base_texts",
        "bases",
        "chunk",
        "fields",
        "library",
        "line",
        "metaclass",
        "mro",
        "name",
        "parents",
        "plain",
        "setters",
        "unknown",
    )

    def __init__(self, fact: Any, base: int, chunk_base: int) -> None:
        index, self.name, bases, attrs, metaclass, self.line, self.fields = fact
        self.chunk = chunk_base + index
        self.bases = [(base + var if var >= 0 else -1, text, line) for var, text, line in bases]
        self.attrs = {name: base + var for name, var in attrs.items() if var >= 0}
        self.plain = frozenset(name for name, var in attrs.items() if var < 0)
        self.metaclass = base + metaclass if metaclass >= 0 else 0
        self.setters: dict[str, int] = {}
        self.parents: list[int] = []  # chunks of base classes inside the corpus
        self.library: list[str] = []  # dotted names of base classes outside
        self.unknown = False  # some base was not resolved
        self.mro: list[int] = []


class Program:
    """The facts of every file, with variables and chunks numbered through. Chunks are numbers into `ids`."""

    def __init__(self, corpus: Corpus) -> None:
        self.facts: list[Any] = []
        paths = []
        for path, facts in sorted(_facts_of(corpus).items()):
            paths.append(path)
            self.facts.append(facts)
        root = PurePath(corpus.root).name if corpus.root else ""
        self.modules = Modules(paths, root, inside=any(map(_relative_at_root, paths, self.facts)))
        self.ids: list[str] = []
        self.kinds: list[str] = []
        self.parents: list[int] = []
        self.file_of: list[int] = []
        self.bases: list[int] = []
        self.chunk_bases: list[int] = []
        self.functions: dict[int, Function] = {}
        self.classes: dict[int, Class] = {}
        self.count = 0
        for number, facts in enumerate(self.facts):
            self._add(number, facts)
        self._stars: dict[int, list[int]] = {}
        self._exports: dict[tuple[int, str], int] = {}
        self._bound = [frozenset(facts.get("bound", ())) for facts in self.facts]

    def _add(self, number: int, facts: Any) -> None:
        base, chunk_base = self.count, len(self.ids)
        self.bases.append(base)
        self.chunk_bases.append(chunk_base)
        self.ids += facts["ids"]
        self.kinds += facts["kinds"]
        self.parents += [chunk_base + parent if parent >= 0 else -1 for parent in facts["parents"]]
        self.file_of += [number] * len(facts["ids"])
        self.count += facts.get("count", 0)
        for fact in facts.get("functions", ()):
            function = Function(fact, base, chunk_base)
            self.functions[function.chunk] = function
        for fact in facts.get("classes", ()):
            one = Class(fact, base, chunk_base)
            self.classes[one.chunk] = one
        for fact in facts.get("functions", ()):
            for flag in fact[10]:
                if flag.startswith("of:") and fact[9] >= 0:
                    self.classes[chunk_base + fact[9]].setters[flag[3:]] = chunk_base + fact[0]

    # names

    def import_target(self, number: int, level: int, name: str) -> int | None:
        """The module that file `number` imports under this name."""
        if level:
            return self.modules.relative(number, level, name)
        return self.modules.find(name, number)

    def stars(self, module: int) -> list[int]:
        """Modules of the corpus that `module` imports with a star, the last one first."""
        known = self._stars.get(module)
        if known is None:
            found = [
                self.import_target(module, level, name) for level, name, _, _ in self.facts[module].get("stars", ())
            ]
            known = self._stars[module] = [m for m in reversed(found) if m is not None and m < len(self.facts)]
        return known

    def member(self, module: int, name: str, seen: frozenset[int] = frozenset()) -> int:
        """The variable of a module-level name, through star imports; -1 where the module does not bind it."""
        if module >= len(self.facts) or module in seen:
            return -1
        if name in self._bound[module]:
            return self.bases[module] + int(self.facts[module]["globals"][name])
        key = (module, name)
        if key in self._exports:
            return self._exports[key]
        found = -1
        for other in self.stars(module):
            exported = self.facts[other].get("exported")
            if name in exported if exported is not None else not name.startswith("_"):
                found = self.member(other, name, seen | {module})
                if found >= 0:
                    break
        if not seen:
            self._exports[key] = found
        return found

    # classes

    def mro(self, chunk: int) -> list[int]:
        """C3 linearisation over the classes of the corpus; depth first where the bases contradict each other."""
        one = self.classes[chunk]
        if not one.mro:
            one.mro = [chunk]  # stands while it is computed: a class that inherits from itself ends here
            sequences = [list(self.mro(parent)) for parent in one.parents]
            one.mro = [chunk, *_merge([*sequences, list(one.parents)], chunk)]
        return one.mro

    def library_base(self, chunk: int) -> str:
        """The first library class among the ancestors, `""` without one."""
        return next((name for c in self.mro(chunk) for name in self.classes[c].library), "")

    def fields(self, chunk: int) -> list[str]:
        """What a generated `__init__` takes, bases first; `*` stands before the keyword-only ones."""
        return list(dict.fromkeys(name for one in reversed(self.mro(chunk)) for name in self.classes[one].fields))

    def is_subclass(self, chunk: int, other: int) -> bool:
        return other in self.mro(chunk)


def _relative_at_root(path: str, facts: Any) -> bool:
    """Whether a file at the root imports relatively, which only a module of a package can."""
    if "/" in path:
        return False
    return any(fact[1] for fact in facts.get("imports", ())) or any(fact[0] for fact in facts.get("stars", ()))


def _merge(sequences: list[list[int]], own: int) -> list[int]:
    result: list[int] = []
    sequences = [[c for c in s if c != own] for s in sequences]
    while sequences := [s for s in sequences if s]:
        head = next((s[0] for s in sequences if not any(s[0] in other[1:] for other in sequences)), None)
        if head is None:
            return result + list(dict.fromkeys(c for s in sequences for c in s if c not in result))
        result.append(head)
        sequences = [[c for c in s if c != head] for s in sequences]
    return result


def _facts_of(corpus: Corpus) -> dict[str, Any]:
    """What the parser kept, by path; files whose facts are missing are parsed again from their module chunk."""
    from codekb.parsing.python import parse

    paths: dict[str, str] = {}
    known: dict[str, Any] = {}
    for chunk in corpus:
        if chunk.path not in known:
            known[chunk.path] = None
        if chunk.kind == "module":
            paths[chunk.path] = chunk.code
    for path in known:
        facts = corpus.facts.get(path)
        if facts is None:
            facts = parse(path, paths.get(path, "")).facts
        known[path] = facts
    return {path: facts for path, facts in known.items() if facts}
