"""What the methods of containers and generators do: `append`, `update`, `get`, `items`, `send`, …"""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_core import SPREAD, Site
from codekb.resolve.python_library import Library
from codekb.resolve.python_values import GENERATOR

_LIST_METHODS = frozenset(["append", "extend", "insert", "sort", "reverse", "appendleft", "extendleft", "popleft"])
_DICT_METHODS = frozenset(["keys", "values", "items", "get", "setdefault", "popitem", "update", "fromkeys"])


class BoxMethods(Library):
    """Adds methods of containers to the solver."""

    def box_call(self, site: Site, value: int, name: str) -> None:
        if site.line > 0 and site.owner >= 0 and (name in _LIST_METHODS or name in _DICT_METHODS):
            owner = "list" if name in _LIST_METHODS else "dict"
            self.outside.append((site.owner, f"builtins.{owner}.{name}", site.line))
        if not self.types:
            return
        if self.values.kind[value] == GENERATOR:
            if name in ("send", "asend"):
                self.copy(self.given(site, 0), self.program.functions[self.values.first[value]].sent)
            if site.result >= 0 and name in ("send", "__next__", "__anext__", "asend"):
                self.copy(self.element(value, -1, -1), site.result)
            return
        box = self.boxes[self.values.first[value]]
        first = self.given(site, 0)
        if name in ("append", "add", "appendleft", "put", "put_nowait", "push"):
            box.length = -1
            if self.storable(first):
                self.put(box, None, first)
        elif name == "insert":
            box.length = -1
            self.put(box, None, self.given(site, 1))
        elif name in ("extend", "extendleft"):
            self.wait(first, (SPREAD, box, "*"))
        elif name == "update":
            self.wait(first, (SPREAD, box, "**"))
            for key, var in site.kwargs:
                self.put(box, key, var)
        elif name == "sort":
            self.callback(site, self.given(site, -1, "key"), [box.every])
        elif site.result >= 0:
            self._box_result(site, value, name)

    def _box_result(self, site: Site, value: int, name: str) -> None:
        box = self.boxes[self.values.first[value]]
        result = site.result
        if name in ("get", "pop", "setdefault", "__getitem__", "popleft", "popitem", "get_nowait", "move_to_end"):
            key = self._key_of(site)
            if key.__class__ is list:
                self.keyed(self.values.first[value], key[1], result)
            else:
                self.take(box, key, result)
            default = self.given(site, 1, "default")
            if default >= 0:
                self.copy(default, result)
                if name == "setdefault":
                    self.put(box, None if key.__class__ is list else key, default)
        elif name == "items":
            self._tuples(site, [-1, box.every])
        elif name in ("values", "__iter__", "copy", "keys"):
            if name == "copy":
                self.add(result, value)
            elif name != "keys":
                self.give_box(site, box.every)

    def _key_of(self, site: Site) -> Any:
        arg = site.args[0] if site.args else -1
        if arg.__class__ is not int or arg == -1:
            return None
        if arg >= 0:
            return ["var", arg]
        return self.values.first[self.constants[arg]]
