"""What a Go expression stands for, and where functions flow: values, nodes, sources and call sites. No evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from codekb.resolve.go_declared import Func
from codekb.resolve.go_types import Bindings, Meaning

Item: TypeAlias = tuple[Any, ...]
"""Where a function may come from.

Nodes: `("slot", Func, number)` · `("field", owner, name)` · `("var", Var)` · `("result", Func, literal, number)` ·
`("site", number, result)` · `("pending", number, result)`. Sources: `("func", Func, skipped)`, whose first `skipped`
arguments are the receiver of a method expression · `("literal", Func, number)` · `("library", dotted)` ·
`("method", interface, name)`, a method value of an interface · `("loop",)`, the body of a `for` over a function.
"""

Flow: TypeAlias = tuple[Item, ...]
SOURCES = frozenset(("func", "literal", "library", "method", "loop"))


@dataclass(slots=True)
class Value:
    """What an expression stands for.

    `kind`: `value` (something with a type) · `funcs` (declared functions or methods) · `type` · `package` ·
    `interface` (a method of an interface) · `library` (a name outside the corpus) · `builtin` · `unknown`.
    """

    kind: str
    type: Meaning = None
    funcs: list[Func] = field(default_factory=list)
    bindings: Bindings = field(default_factory=dict)
    flow: Flow = ()
    flows: tuple[Flow, ...] = ()  # of each result, where the type is a tuple
    reason: str = ""
    skipped: int = 0  # 1 for a method expression, whose first argument is the receiver
    owner: Any = None  # package of an import, or the type that an interface's method was selected on
    name: str = ""  # of a method, a builtin, or the dotted name in a library
    receiver: Flow = ()

    def all_flows(self) -> tuple[Flow, ...]:
        """The flow of each result."""
        return self.flows or (self.flow,)


@dataclass(slots=True)
class Site:
    """A call through a function value: whatever reaches its node is called here."""

    number: int
    caller: Func
    line: int
    name: str
    arguments: list[Flow]
    reason: str
    found: dict[Item, None] = field(default_factory=dict)


UNKNOWN = Value("unknown")
