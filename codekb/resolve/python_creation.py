"""What runs where a class is defined: `__init_subclass__`, a metaclass, `__set_name__`. Part of the solver."""

from __future__ import annotations

from codekb.resolve.python_overriding import Overriding
from codekb.resolve.python_values import FUNCTION, INSTANCE


class Creation(Overriding):
    """Adds the definition of classes to the solver."""

    def close_definitions(self) -> None:
        """The hooks of every class, called from the place of its definition; what they are given is not followed."""
        classes = self.program.classes
        defined = {name for one in classes.values() for name in one.attrs}
        if defined.isdisjoint(("__init_subclass__", "__set_name__")) and not any(c.metaclass for c in classes.values()):
            return
        for one in classes.values():
            hooks = [self._inherited(one.chunk, "__init_subclass__"), *self._of_metaclass(one.chunk)]
            if "__set_name__" in defined:
                hooks += self._namers(one.chunk)
            owner = self._definer(one.chunk)
            for hook in hooks:
                if hook >= 0:
                    self.sites += 1
                    self.found.append((self.sites, owner, hook, one.line, "class definition"))

    def _inherited(self, chunk: int, name: str, start: int = 1) -> int:
        """The function that a class has from those after the first `start` of its order, -1 for none."""
        classes = self.program.classes
        for one in self.program.mro(chunk)[start:]:
            if name in classes[one].attrs:
                return self._function(classes[one].attrs[name])
        return -1

    def _function(self, var: int) -> int:
        kind, first = self.values.kind, self.values.first
        return next((first[v] for v in self.held(var) if kind[v] == FUNCTION), -1)

    def _of_metaclass(self, chunk: int) -> list[int]:
        """`__new__` and `__init__` of the metaclass that a class has or inherits."""
        meta = self.metaclass(chunk)
        return [self._inherited(meta, name, 0) for name in ("__new__", "__init__")] if meta >= 0 else []

    def _namers(self, chunk: int) -> list[int]:
        """`__set_name__` of the objects that a class body keeps."""
        kind, first = self.values.kind, self.values.first
        held = [v for var in self.program.classes[chunk].attrs.values() for v in self.held(var)]
        kept = dict.fromkeys(first[v] for v in held if kind[v] == INSTANCE)
        return list(dict.fromkeys(self._inherited(one, "__set_name__", 0) for one in kept))

    def _definer(self, chunk: int) -> int:
        """The function or module whose code the definition of a class is."""
        owner = self.program.parents[chunk]
        while self.program.kinds[owner] == "class":
            owner = self.program.parents[owner]
        return owner
