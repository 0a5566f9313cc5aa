"""Which functions reach which Go variables, fields, parameters and results: a set of constraints and its solution.

Insensitive to the order of statements and to the place of a call: it ends after (places × functions) steps at most.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from codekb.resolve.go_declared import Func
from codekb.resolve.go_select import Selector
from codekb.resolve.go_sink import DISPATCH, FUNCTION_VALUE, Sink, by_number
from codekb.resolve.go_types import holds_function
from codekb.resolve.go_values import SOURCES, Flow, Item, Site

MAX_FUNCTIONS = 400
"""Functions kept for one place: tables of handlers stay below, and more targets than this tell nobody anything."""


class Solver:
    """Collects constraints, then lets the functions flow and reports the calls through values."""

    def __init__(self, sink: Sink, selector: Selector) -> None:
        self.sink = sink
        self.selector = selector
        self.next: dict[Item, dict[Item, None]] = {}
        self.held: dict[Item, dict[Item, None]] = {}
        self.sites: list[Site] = []
        self.waiting: dict[Item, list[Site]] = {}
        self.work: deque[tuple[Item, Item]] = deque()

    def link(self, flow: Iterable[Item], node: Item) -> None:
        """Whatever is in `flow` may also be in `node`."""
        for item in flow:
            if item[0] in SOURCES:
                self._add(node, item)
            elif item != node:
                after = self.next.setdefault(item, {})
                if node not in after:
                    after[node] = None
                    for source in list(self.held.get(item, ())):
                        self._add(node, source)

    def _add(self, node: Item, source: Item) -> None:
        held = self.held.setdefault(node, {})
        if source not in held and len(held) < MAX_FUNCTIONS:
            held[source] = None
            self.work.append((node, source))

    def site(self, caller: Func, flow: Flow, line: int, name: str, arguments: list[Flow], reason: str) -> Site:
        """A call of whatever `flow` holds; its results are the nodes `("site", number, result)`."""
        site = Site(len(self.sites), caller, line, name, arguments, reason)
        self.sites.append(site)
        for item in flow:
            if item[0] in SOURCES:
                self._reach(site, item)
            else:
                self.waiting.setdefault(item, []).append(site)
                for source in list(self.held.get(item, ())):
                    self._reach(site, source)
        return site

    def pass_arguments(self, target: Func, literal: int, arguments: list[Flow], skipped: int = 0) -> None:
        """Arguments into the parameters of a function or literal; `skipped` leading ones are the receiver."""
        taken, _, variadic = target.literal(literal)
        receiver = target.record["receiver"] if literal < 0 else None
        if skipped and receiver and arguments and holds_function(target.types[receiver[0]]):
            self.link(arguments[0], ("slot", target, receiver[0]))
        for i, flow in enumerate(arguments[skipped:]):
            if flow and taken:
                if i >= len(taken) and not variadic:
                    break
                slot = taken[min(i, len(taken) - 1)]
                if holds_function(target.types[slot]):
                    self.link(flow, ("slot", target, slot))

    def _reach(self, site: Site, source: Item) -> None:
        if source in site.found:
            return
        site.found[source] = None
        if source[0] == "func":
            self._enter(site, source[1], -1, source[2])
        elif source[0] == "literal":
            self._enter(site, source[1], source[2], 0)
        elif source[0] == "method":
            for target, _ in self.selector.concrete(source[1], source[2]):
                self._enter(site, target, -1, 0)

    def _enter(self, site: Site, target: Func, literal: int, skipped: int) -> None:
        self.pass_arguments(target, literal, site.arguments, skipped)
        for i, slot in enumerate(target.literal(literal)[1]):
            if holds_function(target.types[slot]):
                self.link((("result", target, literal, i),), ("site", site.number, i))

    def solve(self) -> None:
        """Lets everything flow, then reports every call through a value."""
        while self.work:
            node, source = self.work.popleft()
            for after in list(self.next.get(node, ())):
                self._add(after, source)
            for site in list(self.waiting.get(node, ())):
                self._reach(site, source)
        for site in self.sites:
            self._report(site)

    def _report(self, site: Site) -> None:
        targets: dict[Func, float] = {}
        for source in site.found:
            if source[0] == "func" and not source[1].file.library:
                targets[source[1]] = 1.0
            elif source[0] == "method":
                reached = self.selector.concrete(source[1], source[2])
                for target, _ in reached:
                    targets.setdefault(target, by_number(DISPATCH, len(reached)))
            elif source[0] == "library" and site.reason != "callback":
                self.sink.outside(site.caller, source[1], site.line)
        ceiling = by_number(FUNCTION_VALUE, len(targets))
        chosen = {target: min(confidence, ceiling) for target, confidence in targets.items()}
        self.sink.possible(site.caller, chosen, site.line, site.reason)
        if not site.found and site.reason != "callback":
            self.sink.unknown(site.caller, site.name, site.line)
