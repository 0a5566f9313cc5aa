"""What builtins and well-known library functions do with functions and containers that they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codekb.resolve.python_core import CALL, COLLECT, ITERATE, RETURN_CLASS, SPREAD, UNPACK, Site
from codekb.resolve.python_known import (
    CALLED_ALONE,
    CALLED_ON_ELEMENTS,
    CALLED_WITH_REST,
    COLLECTING,
    DICTS,
    KEYED,
    MAPPED,
    PARAMETER,
    RETURNED,
    SAME,
    THREADS,
)  # fmt: skip
from codekb.resolve.python_values import (
    BOX,
    GENERATOR,
    INSTANCE,
    LIBRARY_OBJECT,
    MODULE,
    PARTIAL,
)  # fmt: skip
from codekb.resolve.python_wrapping import Wrapping


class Library(Wrapping):
    """Adds models of the library to the solver. What has no model is only recorded as external."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.unmodelled: set[str] = set()
        self.partials: list[tuple[int, list[Any], list[Any]]] = []
        self.models: dict[str, Callable[[Site], None]] = {
            "builtins.next": self._next, "builtins.anext": self._next, "builtins.type": self._type,
            "builtins.property": self._property, "builtins.staticmethod": self._static,
            "builtins.classmethod": self._class_method, "functools.partial": self._partial,
            "functools.partialmethod": self._partial, "functools.reduce": self._reduce,
            "collections.defaultdict": self._default_dict, "typing.cast": self._cast,
            "types.MethodType": self._bind_method,
            "importlib.import_module": self._import, "builtins.__import__": self._import,
            "itertools.chain": self._chain, "asyncio.gather": self._gather, "functools.wraps": self._wraps,
            "itertools.chain.from_iterable": self._flatten, "operator.call": self._call_first,
        }  # fmt: skip

    def callback(self, site: Site, function: int, args: list[Any], result: int = -1) -> None:
        """The library calls `function` on behalf of the place that passes it."""
        if function >= 0:
            self.wait(function, (CALL, self.site(site.owner, site.line, site.text, args, "callback", result)))

    def elements(self, source: int, site: Site) -> int:
        var = self.new()
        self.wait(source, (ITERATE, var, site.owner, site.line))
        return var

    def give_box(self, site: Site, every: int = -1) -> Any:
        """The call returns a new container."""
        value = self.make_box()
        box = self.boxes[self.values.first[value]]
        self.put(box, None, every)
        if site.result >= 0:
            self.add(site.result, value)
        return box

    def library_call(self, site: Site, name: str) -> None:
        if site.decorated >= 0:
            self.copy(site.decorated, site.result)
            return
        if not self.types:
            return
        if name in self.unmodelled:
            return
        model = self.models.get(name)
        tail = name.rpartition(".")[2]
        if model is not None:
            model(site)
        elif name.endswith(".__new__"):
            self._new(site)
        elif name in THREADS:
            self._thread(site)
        elif name in COLLECTING:
            self._collect(site, tail)
        elif name in DICTS:
            self._dict(site)
        elif self.flow and (name in MAPPED or tail in MAPPED):
            self._map(site, star=tail == "starmap")
        elif name in KEYED:
            self._keyed(site, name)
        elif name in CALLED_ON_ELEMENTS:
            self._filter(site, *CALLED_ON_ELEMENTS[name])
        elif self.flow and self._calls_argument(site, name, tail):
            pass
        elif name in RETURNED and site.result >= 0:
            self.add(site.result, self.values.of(LIBRARY_OBJECT, RETURNED[name]))
        elif name not in SAME and name not in RETURNED and tail not in SAME and not tail[:1].isupper():
            self.unmodelled.add(name)
        if name in SAME or tail in SAME:
            self.copy(self.given(site, 0), site.result)
        if tail[:1].isupper() and site.result >= 0:
            self.add(site.result, self.values.of(LIBRARY_OBJECT, name))

    def _calls_argument(self, site: Site, name: str, tail: str) -> bool:
        key = name if name in CALLED_WITH_REST or name in CALLED_ALONE else tail if name.count(".") > 1 else ""
        if key in CALLED_WITH_REST:
            position = CALLED_WITH_REST[key]
            rest = site.args[position + 1 :]
            if key == "apply" or key == "apply_async":
                rest = [[rest[0]]] if rest and rest[0].__class__ is int and rest[0] >= 0 else []
            self.callback(site, self.given(site, position, "func"), rest)
        elif key in CALLED_ALONE:
            self.callback(site, self.given(site, CALLED_ALONE[key], PARAMETER.get(key, "")), [])
        return key in CALLED_WITH_REST or key in CALLED_ALONE

    def _thread(self, site: Site) -> None:
        args = self.given(site, 3, "args")
        self.callback(site, self.given(site, 1, "target"), [[args]] if args >= 0 else [])

    def _map(self, site: Site, *, star: bool) -> None:
        result = self.new()
        sources = [a for a in site.args[1:] if a.__class__ is int]
        args: list[Any] = [self.elements(a, site) for a in sources if a >= 0]
        self.callback(site, self.given(site, 0, "func"), [args] if star and args else args, result)
        self.give_box(site, result)

    def _keyed(self, site: Site, name: str) -> None:
        source = self.given(site, 0)
        every = self.elements(source, site)
        self.callback(site, self.given(site, -1, "key"), [every])
        if name in ("builtins.min", "builtins.max"):
            if len(site.args) > 1:
                for arg in site.args:
                    if arg.__class__ is int:
                        self.copy(arg, site.result)
            else:
                self.copy(every, site.result)
        else:
            self.give_box(site, every)

    def _filter(self, site: Site, function: int, source: int) -> None:
        every = self.elements(self.given(site, source), site)
        self.callback(site, self.given(site, function, "key"), [every])
        self.give_box(site, every)

    def _collect(self, site: Site, tail: str) -> None:
        source = self.given(site, 0)
        if tail == "enumerate" or tail == "zip":
            every = [self.elements(a, site) if a.__class__ is int and a >= 0 else -1 for a in site.args]
            self._tuples(site, [-1, *every] if tail == "enumerate" else every)
            return
        if tail == "iter" and len(site.args) + len(site.kwargs) > 1:
            result = self.new()
            self.callback(site, source, [], result)
            self.give_box(site, result)
        elif source < 0:
            self.give_box(site)
        else:
            self.wait(source, (COLLECT, site, tail))

    def _tuples(self, site: Site, parts: list[int]) -> None:
        inner = self.make_box(len(parts))
        for position, part in enumerate(parts):
            self.put(self.boxes[self.values.first[inner]], position, part)
        var = self.new()
        self.add(var, inner)
        self.give_box(site, var)

    def on_collect(self, task: tuple[Any, ...], values: list[int]) -> None:
        """`list(x)` and its like: a container is passed on, of anything else the elements are collected."""
        _, site, tail = task
        for value in values:
            sort = self.values.kind[value]
            if sort == BOX or (sort == GENERATOR and tail == "iter"):
                if site.result >= 0:
                    self.add(site.result, value)
            elif sort == INSTANCE and tail in ("iter", "aiter"):
                self.method(value, f"__{tail}__", [], site.owner, site.line, "iteration", site.result)
            else:
                self.give_box(site, self.element(value, site.owner, site.line))

    def _dict(self, site: Site) -> None:
        box = self.give_box(site)
        for name, var in site.kwargs:
            if name is None:
                self.wait(var, (SPREAD, box, "**"))
            else:
                self.put(box, name, var)
        self.wait(self.given(site, 0), (SPREAD, box, "**"))

    def _next(self, site: Site) -> None:
        if site.result >= 0 or site.args:
            target = site.result if site.result >= 0 else self.new()
            self.wait(self.given(site, 0), (UNPACK, None, target, site.owner, site.line))
            self.copy(self.given(site, 1), target)

    def _partial(self, site: Site) -> None:
        function = self.given(site, 0, "func")
        if function >= 0 and site.result >= 0 and self.flow:
            self.partials.append((function, site.args[1:], site.kwargs))
            self.add(site.result, self.values.of(PARTIAL, len(self.partials) - 1))

    def partial_call(self, site: Site, number: int) -> None:
        if number in site.partials:  # it reached itself: `f = partial(f, x)` in a loop
            return
        function, args, kwargs = self.partials[number]
        inner = self.renamed(site, "partial")
        inner.partials = site.partials | {number}
        inner.args = [*args, *site.args]
        inner.kwargs = [*kwargs, *site.kwargs]
        self.wait(function, (CALL, inner))

    def _reduce(self, site: Site) -> None:
        every = self.elements(self.given(site, 1), site)
        so_far = self.new()
        self.copy(every, so_far)
        self.copy(self.given(site, 2), so_far)
        self.callback(site, self.given(site, 0), [so_far, every], so_far)
        self.copy(so_far, site.result)

    def _default_dict(self, site: Site) -> None:
        result = self.new()
        self.callback(site, self.given(site, 0), [], result)
        box = self.give_box(site, result)
        self.wait(self.given(site, 1), (SPREAD, box, "**"))

    def _cast(self, site: Site) -> None:
        self.copy(self.given(site, 1), site.result)
        if site.result >= 0:
            self.wait(self.given(site, 0), (RETURN_CLASS, site.result, -1))

    def _import(self, site: Site) -> None:
        arg = site.args[0] if site.args else -1
        if arg.__class__ is int and arg < -1 and site.result >= 0 and site.owner >= 0:
            name = self.values.first[self.constants[arg]]
            module = self.program.modules.find(str(name), self.program.file_of[site.owner])
            self.add(site.result, self.library(str(name)) if module is None else self.values.of(MODULE, module))

    def _chain(self, site: Site) -> None:
        box = self.give_box(site)
        for arg in site.args:
            if arg.__class__ is int and arg >= 0:
                self.put(box, None, self.elements(arg, site))
            elif arg.__class__ is list:
                self.put(box, None, self.elements(self.elements(arg[0], site), site))

    def _flatten(self, site: Site) -> None:
        self.give_box(site, self.elements(self.elements(self.given(site, 0), site), site))

    def _gather(self, site: Site) -> None:
        box = self.give_box(site)
        for position, arg in enumerate(site.args):
            if arg.__class__ is int and arg >= 0:
                self.put(box, position, arg)
            elif arg.__class__ is list:
                self.put(box, None, self.elements(arg[0], site))

    def _wraps(self, site: Site) -> None:
        if site.result >= 0:
            self.add(site.result, self.library("functools.wraps.decorator"))

    def _call_first(self, site: Site) -> None:
        self.callback(site, self.given(site, 0), site.args[1:], site.result)

    # methods of containers and generators
