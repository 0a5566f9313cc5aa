"""Names of one Python file while it is walked: scopes, and a variable number for every version of a name.

A name that is assigned anew gets a new variable; where branches and loops meet, their versions flow into one.
So the resolvers see which value a name has at each place, without ever looking at the syntax again.
"""

from __future__ import annotations

import builtins
import re
from typing import Any

from codekb.parsing.python_chunks import Found

NOTHING = -1
"""The variable of a value that can never be called or looked into; numbers below it are constants."""
MAX_CONSTANT = 40
"""Longer strings are not kept as constants: they are prose, not keys."""
BUILTINS = frozenset(dir(builtins))
_DECLARED = re.compile(r"^[ \t]*(?:global|nonlocal)[ \t]+([\w, \t]+)", re.M)


class Scope:
    """One module, class, function or lambda body: the versions of its names."""

    __slots__ = (
        "around", "cells", "dead", "env", "first", "globals", "guard", "guarded", "index", "kind", "log", "loops",
        "nonlocals", "owner", "params", "passed", "relays", "ret", "returned", "sent", "versions", "yielded",
    )  # fmt: skip

    def __init__(self, kind: str, index: int, owner: int, around: Scope | None) -> None:
        self.kind = kind
        self.index = index
        self.owner = owner  # the chunk that calls made here belong to
        self.around = around
        self.env: dict[str, int] = {}
        self.versions: dict[str, list[int]] = {}
        self.cells: dict[str, int] = {}
        self.log: list[tuple[str, int | None]] = []
        self.loops: list[Loop] = []
        self.dead = False
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.params: dict[int, int] = {}  # variable of a parameter → its position
        self.passed: set[int] = set()  # positions of parameters that are returned as they came
        self.returned: list[tuple[int, tuple[int, bool] | None]] = []  # (variable, the guard there) of each `return`
        self.relays: set[int] = set()  # results of calls that are returned at once
        self.ret = NOTHING
        self.yielded = NOTHING
        self.sent = NOTHING  # what a `yield` expression gives
        self.first = NOTHING
        self.guard: tuple[int, bool] | None = (
            None  # (position, is None) of the parameter that was tested on the way here
        )
        self.guarded: dict[tuple[int, bool], int] = {}  # results that are only returned under such a test


class Loop:
    """What a loop body still needs: the first variable made inside, names read from before, names at its exits."""

    __slots__ = ("exits", "mark", "phis", "start")

    def __init__(self, start: int, mark: int) -> None:
        self.start = start
        self.mark = mark
        self.phis: dict[str, int] = {}
        self.exits: list[dict[str, int]] = []


class Names:
    """Reading and binding names; the base of the walk. `copies` is flat: destination, source, destination, …"""

    def __init__(self, text: str) -> None:
        self.count = 0
        self.copies: list[int] = []
        self.found: list[Found] = []
        self.globals: dict[str, int] = {}
        self.consts: dict[Any, int] = {}
        self.const_values: list[Any] = []
        self.strong: dict[tuple[int, Any], int] = {}
        self.fixed: set[int] = set()  # variables that stand for one definition or import
        self.bound: set[str] = set()  # names that the module itself binds
        self.parts: dict[int, list[int]] = {}  # variable where versions of a name meet → these versions
        self.shared: set[str] = set()  # names that some nested scope declares global or nonlocal
        if "global" in text or "nonlocal" in text:
            for declared in _DECLARED.findall(text):
                self.shared.update(name.strip() for name in declared.split(","))
        self.module = Scope("module", 0, 0, None)
        self.scope = self.module

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def const(self, value: Any) -> int:
        """A negative number below NOTHING for a string or integer."""
        if value.__class__ is str:
            if len(value) > MAX_CONSTANT:
                return NOTHING
        elif value.__class__ is not int:
            return NOTHING
        known = self.consts.get(value)
        if known is None:
            known = self.consts[value] = -2 - len(self.consts)
            self.const_values.append(value)
        return known

    def copy(self, target: int, source: int) -> None:
        if source >= 0 and target >= 0 and source != target:
            self.copies += (target, source)

    def cell(self, name: str) -> int:
        """The variable of a module-level name as functions see it."""
        var = self.globals.get(name)
        if var is None:
            var = self.globals[name] = self.count
            self.count += 1
        return var

    # reading

    def read(self, name: str) -> int:
        scope = self.scope
        env = scope.env
        if name in env:
            var = env[name]
            if scope.loops and var < scope.loops[-1].start:
                return self._read_in_loop(scope, name, var)
            return var
        if scope.kind == "module" or name in scope.globals:
            return self.cell(name)
        return self._read_around(scope, name)

    def _read_around(self, scope: Scope, name: str) -> int:
        outer = scope.around
        inline = scope.kind == "class"
        while outer is not None and outer is not self.module:
            if outer.kind == "class":
                if inline and name in outer.env and outer.owner == scope.owner:
                    return outer.env[name]
            elif inline:  # a class body runs where it stands
                if name in outer.env:
                    return outer.env[name]
                inline = False
                continue
            elif name in outer.versions:
                return self._closure(outer, name)
            outer = outer.around
        if inline and name in self.module.env:
            return self.module.env[name]
        return self.cell(name)

    def _closure(self, scope: Scope, name: str) -> int:
        """One variable for all versions of an enclosing function's name."""
        var = scope.cells.get(name)
        if var is None:
            values = list(dict.fromkeys(scope.versions[name]))
            live = [v for v in values if v >= 0]
            if len(live) == 1 and name not in self.shared:
                var = live[0]
            elif not live and len(values) == 1 and name not in self.shared:
                var = values[0]
            else:
                var = self.new()
                for value in live:
                    self.copy(var, value)
            scope.cells[name] = var
        return var

    def _read_in_loop(self, scope: Scope, name: str, var: int) -> int:
        open_loops = [loop for loop in scope.loops if var < loop.start and name not in loop.phis]
        if not open_loops:
            return var
        phi = self.new()
        self.copy(phi, var)
        self.parts[phi] = [var]
        for loop in open_loops:
            loop.phis[name] = phi
        scope.env[name] = phi
        return phi

    # binding

    def bind(self, name: str, var: int) -> None:
        scope = self.scope
        if name in scope.globals:
            self.copy(self.cell(name), var)
            return
        if name in scope.nonlocals:
            self._bind_outside(scope, name, var)
            return
        if scope is self.module:
            self.bound.add(name)
        if name in self.shared and scope.kind != "class":
            cell = self.cell(name) if scope is self.module else scope.cells.setdefault(name, self.count)
            if cell == self.count:
                self.count += 1
            self.copy(cell, var)
            var = cell
        scope.log.append((name, scope.env.get(name)))
        scope.env[name] = var
        versions = scope.versions.get(name)
        if versions is None:
            scope.versions[name] = [var]
        else:
            versions.append(var)

    def _bind_outside(self, scope: Scope, name: str, var: int) -> None:
        outer = scope.around
        while outer is not None and outer is not self.module:
            if outer.kind != "class" and name in outer.versions:
                self.copy(self._closure(outer, name), var)
                return
            outer = outer.around

    # branches and loops

    def undo(self, mark: int) -> dict[str, int]:
        """Take back the bindings since `mark`; what the names had become."""
        scope = self.scope
        env = scope.env
        changed: dict[str, int] = {}
        for name, old in reversed(scope.log[mark:]):
            if name not in changed:
                changed[name] = env.get(name, NOTHING)
            if old is None:
                env.pop(name, None)
            else:
                env[name] = old
        del scope.log[mark:]
        self.strong.clear()
        return changed

    def merge(self, branches: list[dict[str, int]], *, open_end: bool) -> None:
        """Bind each changed name to the union of its versions; `open_end`: no branch may have been taken."""
        scope = self.scope
        names = dict.fromkeys(name for branch in branches for name in branch)
        for name in names:
            old = scope.env.get(name)
            before = NOTHING if old is None else old
            options = [branch.get(name, before) for branch in branches]
            if open_end:
                options.append(before)
            scope.log.append((name, old))
            scope.env[name] = self._union(options)

    def _union(self, options: list[int]) -> int:
        live = list(dict.fromkeys(v for v in options if v >= 0))
        if len(live) == 1:
            return live[0]
        if not live:
            return options[0] if len(set(options)) == 1 else NOTHING
        phi = self.new()
        self.parts[phi] = live
        for var in live:
            self.copies += (phi, var)
        return phi

    def origins(self, var: int) -> list[int]:
        """The versions that meet in a variable, itself where none do."""
        if var not in self.parts:
            return [var]
        seen, found = {var}, [var]
        for one in found:  # grows while it is read
            new = [part for part in self.parts.get(one, ()) if part not in seen]
            seen.update(new)
            found += new
        return [one for one in found if one not in self.parts]

    def enter_loop(self) -> int:
        scope = self.scope
        scope.loops.append(Loop(self.count, len(scope.log)))
        return len(scope.log)

    def leave_loop(self, mark: int) -> None:
        scope = self.scope
        loop = scope.loops.pop()
        ends = [] if scope.dead else [{name: scope.env.get(name, NOTHING) for name in loop.phis}]
        for end in [*ends, *loop.exits]:
            for name, phi in loop.phis.items():
                again = end.get(name, NOTHING)
                self.copy(phi, again)
                if again >= 0:
                    self.parts[phi].append(again)
        dead, scope.dead = scope.dead, False
        changed = self.undo(mark)
        self.merge([*([] if dead else [changed]), *loop.exits], open_end=True)

    def exit_loop(self) -> None:
        """At `break` and `continue`: the names as they are now reach the end of the loop."""
        scope = self.scope
        if scope.loops:
            loop = scope.loops[-1]
            names = [name for name, _ in scope.log[loop.mark :]]
            loop.exits.append({name: scope.env.get(name, NOTHING) for name in names})
        scope.dead = True
