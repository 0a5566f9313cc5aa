"""Facts of each file to values and waiting tasks of the solver: names first, then everything that flows."""

from __future__ import annotations

from typing import Any

from codekb.resolve.python_core import (
    ANNOTATE,
    ATTR,
    CALL,
    DECORATED,
    ENTER,
    ITEM,
    ITERATE,
    NARROW,
    OPERATE,
    PASS_CLASS,
    PROTOCOL,
    RAISE,
    SET_ATTR,
    SET_ITEM,
    SLICE,
    SUPER_FOR,
    SUPER_OF,
    UNPACK,
    Site,
)  # fmt: skip
from codekb.resolve.python_operators import Operators
from codekb.resolve.python_program import Program
from codekb.resolve.python_values import CLASS, FUNCTION, INSTANCE, MODULE


class Loading(Operators):
    """Adds the reading of facts to the solver."""

    def __init__(self, program: Program, level: str) -> None:
        super().__init__(program, level)
        self.call_sites: list[Site] = []
        self.decorated: list[tuple[Site, int]] = []
        self.imported: list[tuple[int, int, int]] = []  # (owner, module, line)

    def load_names(self, number: int, facts: Any) -> None:
        base, chunk_base = self.program.bases[number], self.program.chunk_bases[number]
        of, kinds = self.values.of, self.program.kinds
        definitions = facts["definitions"]
        for var, index in zip(definitions[::2], definitions[1::2], strict=True):
            chunk = chunk_base + index
            self.add(base + var, of(CLASS if kinds[chunk] == "class" else FUNCTION, chunk))
        following = self.next
        copies = facts["copies"]
        for target, source in zip(copies[::2], copies[1::2], strict=True):
            known = following[base + source]
            if known is None:
                following[base + source] = [base + target]
            else:
                known.append(base + target)
            if self.points[base + source]:
                for value in tuple(self.points[base + source] or ()):
                    self.add(base + target, value)
        for fact in facts["imports"]:
            self._import_fact(number, base, fact)
        for level, name, owner, line in facts["stars"]:
            module = self.program.import_target(number, level, name)
            if module is not None:
                self.imported.append((chunk_base + owner, module, line))
        bound = frozenset(facts["bound"])
        for name, var in facts["globals"].items():
            if name not in bound:
                self.name_value(number, name, base + var)
        for target, source in ((d[0], d[2]) for d in facts["decorations"]):
            self.wrapped.add(base + target)
            if self.flow:
                self.wait(base + source, (PASS_CLASS, base + target))
            else:
                self.copy(base + source, base + target)
        waiting = self.waiting
        for target, source, name, places in facts["attrs"]:
            tasks = waiting[base + source]
            if name in self.computed:
                owners = [p if i % 2 else chunk_base + p for i, p in enumerate(places)]
                task: tuple[Any, ...] = (ATTR, name, base + target, owners, set())
            else:
                task = (ATTR, name, base + target, None, None)
            if tasks is None:
                waiting[base + source] = [task]
            else:
                tasks.append(task)

    def _import_fact(self, number: int, base: int, fact: Any) -> None:
        var, level, module_name, name, whole, owner, line = fact
        var += base
        owner += self.program.chunk_bases[number]
        module = self.program.import_target(number, level, module_name)
        if module is None:
            self._import_outside(number, var, level, module_name, name, whole)
            return
        if name is None:
            self.imported.append((owner, module, line))
            if not whole:
                top = self.program.import_target(number, 0, module_name.partition(".")[0])
                if top is not None:
                    module = top
            self.add(var, self.values.of(MODULE, module))
            return
        source = self.program.member(module, name)
        inner = self.program.modules.submodule(module, name) if source < 0 or module == number else None
        if inner is not None:
            self.imported.append((owner, inner, line))
            self.add(var, self.values.of(MODULE, inner))
        else:
            self.imported.append((owner, module, line))
        if source != var:
            self.copy(source, var)

    def _import_outside(self, number: int, var: int, level: int, module: str, name: str | None, whole: bool) -> None:
        if level:
            return
        if name is not None:
            self.add(var, self.library(f"{module}.{name}" if module else name))
            return
        top = module.partition(".")[0]
        inside = self.program.import_target(number, 0, top) if "." in module and not whole else None
        if inside is not None:
            self.add(var, self.values.of(MODULE, inside))
        else:
            self.add(var, self.library(module if whole else top))

    def load_flows(self, number: int, facts: Any) -> None:
        base, chunk_base = self.program.bases[number], self.program.chunk_bases[number]
        self._load_constants(number, facts["consts"])
        self._load_calls(facts, base, chunk_base)
        if self.types:
            self._load_types(facts, base, chunk_base)
            self._load_containers(facts, base, chunk_base)

    def _load_constants(self, number: int, values: list[Any]) -> None:
        self._const_base = -2 - len(self.constants)
        for position, value in enumerate(values):
            self.constants[self._const_base - position] = self.constant(value)

    def _load_calls(self, facts: Any, base: int, chunk_base: int) -> None:
        const = self._const_base + 2
        flow = self.flow
        for result, func, args, kwargs, owner, line, text in facts["calls"]:
            self.sites += 1
            if self.types:
                args = [_shifted(arg, base, const) for arg in args] if args else args
                kwargs = [(name, _shifted(var, base, const)) for name, var in kwargs] if kwargs else kwargs
            site = Site(
                self.sites,
                result + base if result >= 0 else -1,
                func + base,
                args,
                kwargs,
                owner + chunk_base,
                line,
                text,
            )
            self.call_sites.append(site)
            self.wait(site.func, (CALL, site))
        for target, decorator, source, owner, line, text in facts["decorations"]:
            self.sites += 1
            returned = base + target if flow else -1
            if flow and any(self.values.kind[v] == CLASS for v in self.held(base + source)):
                returned = self.new()
                self.wait(returned, (DECORATED, base + source, base + target))
            site = Site(
                self.sites, returned, base + decorator, [base + source], [], owner + chunk_base,
                line, text, "decorator", base + source,
            )  # fmt: skip
            self.call_sites.append(site)
            self.decorated.append((site, base + target))
            self.wait(site.func, (CALL, site))
        raises = facts["raises"]
        for var, owner, line in zip(raises[::3], raises[1::3], raises[2::3], strict=True):
            self.wait(base + var, (RAISE, chunk_base + owner, line))

    def _load_types(self, facts: Any, base: int, chunk_base: int) -> None:
        of = self.values.of
        for fact in facts["functions"]:
            function = self.program.functions[chunk_base + fact[0]]
            if function.owner >= 0 and function.positional and "static" not in function.flags:
                is_class = "class" in function.flags or self._implicit_class(function.chunk)
                self.add(function.positional[0], of(CLASS if is_class else INSTANCE, function.owner))
                if (
                    is_class
                    and "class" not in function.flags
                    and self.program.ids[function.chunk].rpartition(".")[2] != "__new__"
                ):
                    function.flags.append("class")
        self.key_vars.update(base + var for var in facts["keys"])
        annots = facts["annots"]
        for target, klass in zip(annots[::2], annots[1::2], strict=True):
            self.wait(base + klass, (ANNOTATE, base + target))
        narrows = facts["narrows"]
        for target, source, klass, keep in zip(*(narrows[i::4] for i in range(4)), strict=True):
            self.wait(base + source, (NARROW, base + target, base + klass, keep))
        for target, klass, index, first, _ in facts["supers"]:
            if index >= 0:
                self.wait(base + first, (SUPER_FOR, chunk_base + index, base + target))
            else:
                self.wait(base + klass, (SUPER_OF, base + first, base + target))
        for var, name, source, owner, line in facts["set_attrs"]:
            self.wait(base + var, (SET_ATTR, name, base + source if source >= 0 else -1, chunk_base + owner, line))
        for target, var, name, owner, line in facts["protocols"]:
            self.wait(base + var, (PROTOCOL, base + target if target >= 0 else -1, name, chunk_base + owner, line))
        for target, var, owner, line in facts["enters"]:
            self.wait(base + var, (ENTER, base + target, chunk_base + owner, abs(line), line < 0))
        for target, left, name, right, owner, line in facts["operations"]:
            sides = (("left", left, right), ("right", right, left))
            for side, var, other in sides:
                if var >= 0:
                    outer = base + other if other >= 0 else -1
                    self.wait(base + var, (OPERATE, base + target, outer, name, chunk_base + owner, line, side))

    def _implicit_class(self, chunk: int) -> bool:
        return self.program.ids[chunk].rpartition(".")[2] in ("__new__", "__init_subclass__", "__class_getitem__")

    def _load_containers(self, facts: Any, base: int, chunk_base: int) -> None:
        for var, length, items in facts["boxes"]:
            self.load_box(base + var, length, items, base)
        for target, var, key, owner, line in facts["items"]:
            self.wait(base + var, (ITEM, self._key(key, base), base + target, chunk_base + owner, line))
        for target, var, low, high, owner, line in facts["slices"]:
            self.wait(base + var, (SLICE, low, high, base + target, chunk_base + owner, line))
        for var, key, source, owner, line in facts["set_items"]:
            source = base + source if source >= 0 else -1
            self.wait(base + var, (SET_ITEM, self._key(key, base), source, chunk_base + owner, line))
        for target, var, owner, line in facts["iters"]:
            self.wait(base + var, (ITERATE, base + target, chunk_base + owner, line))
        for var, targets, star, owner, line in facts["unpacks"]:
            self.wait(base + var, (UNPACK, [base + t for t in targets], star, chunk_base + owner, line))

    def _key(self, key: Any, base: int) -> Any:
        if key.__class__ is not list:
            return key
        return [key[0], base + key[1], *key[2:]] if key[1] >= 0 else None


def _shifted(arg: Any, base: int, const: int) -> Any:
    """An argument of a file as one of the program: variables from `base` up, constants from `const` down."""
    if arg.__class__ is list:
        return [base + arg[0]] if arg[0] >= 0 else [-1]
    return base + arg if arg >= 0 else arg if arg == -1 else arg + const
