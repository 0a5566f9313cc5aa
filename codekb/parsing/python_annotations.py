"""What annotations and `isinstance` say about a variable. Annotations are read, not run: they make no calls."""

from __future__ import annotations

import ast

from codekb.parsing.python_expr import Expressions
from codekb.parsing.python_facts import dotted
from codekb.parsing.python_scopes import NOTHING, Scope

_TRANSPARENT = frozenset(
    {"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "Awaitable"}
)
_COLLECTIONS = frozenset(
    [
        "list",
        "List",
        "set",
        "Set",
        "frozenset",
        "FrozenSet",
        "tuple",
        "Tuple",
        "Sequence",
        "MutableSequence",
        "Iterable",
        "Iterator",
        "Collection",
        "AbstractSet",
        "MutableSet",
        "Generator",
        "AsyncIterator",
        "AsyncIterable",
        "AsyncGenerator",
        "deque",
        "Deque",
        "Reversible",
        "KeysView",
        "ValuesView",
    ]
)
_MAPPINGS = frozenset(
    ["dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", "ChainMap", "ItemsView"]
)
_PRODUCERS = frozenset({"Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"})
_IGNORED = frozenset({"Callable", "Literal", "TypeVar", "Concatenate"})
_SIMPLE = frozenset(
    {
        "int",
        "str",
        "float",
        "bool",
        "bytes",
        "None",
        "object",
        "complex",
        "Any",
        "bytearray",
        "type",
        "NoReturn",
        "Never",
    }
)


class Annotations(Expressions):
    """Adds to the walk of expressions what a declared or tested type makes known."""

    def annotate(self, var: int, node: ast.expr) -> bool:
        """`var` holds an instance of what the annotation names. Whether anything was named."""
        if isinstance(node, ast.Constant):
            inner = _parsed(node.value)
            if inner is None:
                return False
            outer, self.line_shift = self.line_shift, node.lineno - 1 + self.line_shift
            found = self.annotate(var, inner)
            self.line_shift = outer
            return found
        if isinstance(node, ast.BinOp):
            left = self.annotate(var, node.left)
            return self.annotate(var, node.right) or left
        if isinstance(node, ast.Subscript):
            return self._annotate_generic(var, node)
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        if isinstance(node, ast.Name) and node.id in _SIMPLE:
            return False
        klass = self._own_class() if dotted(node).rpartition(".")[2] == "Self" else self.expr(node)
        if klass < 0:
            return False
        self.annots += (var, klass)
        return True

    def _own_class(self) -> int:
        scope: Scope | None = self.scope
        while scope is not None and scope.kind != "class":
            scope = scope.around
        index = scope.index if scope is not None else -1
        pairs = zip(self.definitions[::2], self.definitions[1::2], strict=True)
        return next((var for var, i in pairs if i == index), NOTHING)

    def _annotate_generic(self, var: int, node: ast.Subscript) -> bool:
        tail = dotted(node.value).rpartition(".")[2]
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if tail in _IGNORED:
            return False
        if tail in _TRANSPARENT:
            named = [self.annotate(var, one) for one in inner[: 1 if tail == "Annotated" else None]]
            return any(named)
        if tail in ("type", "Type"):
            klass = self.expr(inner[0]) if isinstance(inner[0], ast.Name | ast.Attribute) else NOTHING
            self.copy(var, klass)
            return klass >= 0
        if tail in _COLLECTIONS or tail in _MAPPINGS:
            return self._annotate_collection(var, tail, inner)
        klass = self.expr(node.value)
        if klass >= 0:
            self.annots += (var, klass)
        return klass >= 0

    def _annotate_collection(self, var: int, tail: str, inner: list[ast.expr]) -> bool:
        if not inner:  # `tuple[()]`
            return False
        parts = []
        for part in inner:
            element = self.new()
            parts.append(element if self.annotate(element, part) else NOTHING)
        if tail in _MAPPINGS:
            items = [[None, parts[1]]] if len(parts) > 1 and parts[1] >= 0 else []
        elif tail in ("tuple", "Tuple") and not (isinstance(inner[-1], ast.Constant) and inner[-1].value is ...):
            items = [[position, part] for position, part in enumerate(parts) if part >= 0]
        else:
            items = [[None, parts[0]]] if parts[0] >= 0 else []
        if items:
            self.copy(var, self.box(items))
        return bool(items)

    def annotate_result(self, scope: Scope, node: ast.expr) -> None:
        """The declared result; of a generator, what it yields."""
        if isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] in _PRODUCERS:
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            element = self.new()
            if self.annotate(element, first):
                self.copy(scope.ret, self.box([[None, element]]))
            return
        self.annotate(scope.ret, node)

    # isinstance

    def narrowed(self, var: int, klass: int) -> int:
        """The value of `var` where it is known to be an instance of `klass`."""
        result = self.new()
        self.annots += (result, klass)
        if var >= 0:
            self.narrows += (result, var, klass, 1)
        return result

    def narrow_by(self, test: ast.expr) -> list[tuple[str, int]]:
        """Names that hold a narrower value where `test` is true; the names with their variables before."""
        changed: list[tuple[str, int]] = []
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                changed += self.narrow_by(part)
        elif tested := self._tested(test):
            changed += self._narrow(*tested)
        return changed

    def _tested(self, test: ast.expr) -> tuple[str, ast.expr] | None:
        """The local name and the classes of `isinstance(name, classes)`."""
        if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"):
            return None
        if len(test.args) == 2 and isinstance(test.args[0], ast.Name) and self._local(test.args[0].id):
            return test.args[0].id, test.args[1]
        return None

    def _narrow(self, name: str, kinds: ast.expr, *, keep: bool = True) -> list[tuple[str, int]]:
        before = self.scope.env.get(name)
        if before is None:
            return []
        uses, references = len(self.uses), len(self.found[self.scope.owner].references)
        options: list[int] = []
        for kind in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
            klass = self.expr(kind) if isinstance(kind, ast.Name | ast.Attribute) else NOTHING
            if klass < 0:
                options = []
                break
            if keep:
                options.append(self.narrowed(before, klass))
            elif before >= 0:
                options = [self.new()]
                self.narrows += (options[0], before, klass, 0)
                before = options[0]
        del self.uses[uses:], self.found[self.scope.owner].references[references:]
        if not options:
            return []
        before = self.scope.env[name]
        self.scope.log.append((name, before))
        self.scope.env[name] = self._union(options)
        return [(name, before)]

    def narrow_not(self, test: ast.expr) -> None:
        """What holds where `test` is false: `if not isinstance(x, C): return` narrows what follows."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow_by(test.operand)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            for part in test.values:
                self.narrow_not(part)
        elif tested := self._tested(test):
            self._narrow(*tested, keep=False)


def _parsed(text: object) -> ast.expr | None:
    if not isinstance(text, str):
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
