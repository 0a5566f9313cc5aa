"""Check boxes that act as one control: all in sight, a click toggles one. The controls are in `controls`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import traitlets


class Checks(widgets.HBox):  # type: ignore[misc]
    """A label and one box an option; `value` is the tuple of the ticked options, in the order of the options.

    Setting `value` ticks exactly those. Raises traitlets.TraitError for a value that is no option.
    """

    value = traitlets.Tuple()

    def __init__(self, options: Sequence[str], value: Sequence[str], description: str) -> None:
        self.options = tuple(options)
        self.description = description
        self.boxes = {
            name: widgets.Checkbox(description=name, indent=False, layout=widgets.Layout(width="auto"))
            for name in self.options
        }
        super().__init__([widgets.Label(description), *self.boxes.values()], value=tuple(value))
        self.layout = widgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="0 10px")
        for box in self.boxes.values():
            box.observe(self._ticked, "value")

    @traitlets.validate("value")
    def _known(self, proposal: Any) -> tuple[str, ...]:
        unknown = [name for name in proposal["value"] if name not in self.options]
        if unknown:
            raise traitlets.TraitError(f"{self.description} offers no {unknown[0]!r}")
        return tuple(name for name in self.options if name in proposal["value"])

    @traitlets.observe("value")
    def _tick(self, change: Any) -> None:
        for name, box in self.boxes.items():
            box.value = name in change["new"]

    def _ticked(self, change: Any) -> None:
        name = change["owner"].description
        if change["new"] != (name in self.value):
            self.value = tuple(n for n in self.options if (n in self.value) != (n == name))
