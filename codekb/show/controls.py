"""The controls of the explorer, one for each switch of a search. They know no search; `explorer` joins the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from codekb.resolve.edges import RELATIONS
from codekb.show.checks import Checks

ALIASES = {"hybrid": "method", "steer": "boost"}
"""Other words for a control in `show=`."""

LABEL = {"description_width": "initial"}
BESIDE = {"method": "Search by", "around": "Graph around"}
"""Labels set beside their buttons by hand: ipywidgets puts them above."""

DRAWN = ("calls", "inherits", "overrides")
"""Relations drawn at first: the ones that say most and crowd least."""

MAX_RESULTS = 50
"""More than this is no list that anybody reads; the label says so, since the box corrects a larger number."""

NONE = ""
"""The value of an entry that stands for None, which ipywidgets shows as an empty box."""

GRAPH_MODES = {
    "off": NONE,
    "one hop: callees and callers": "one_hop",
    "typed walk, two hops": "typed",
    "propagated scores": "propagate",
}
RESOLVERS = {
    "flow (default)": "flow",
    "type": "type",
    "import": "import",
    "name (tutorial)": "name",
}


@dataclass(frozen=True, slots=True)
class Choices:
    """What a corpus and an installation offer to choose from."""

    namespaces: Sequence[str] = ()
    priors: Sequence[str] = ()


def build_controls(choices: Choices, preset: Mapping[str, Any]) -> dict[str, widgets.Widget]:
    """Every control by the name of the search's argument that it sets, at its preset value.

    Raises TypeError for a preset that is no control, ValueError for a value that a control does not offer.
    """
    made = {
        "method": widgets.ToggleButtons(options=["hybrid", "dense", "keyword"], value="hybrid"),
        "k": widgets.BoundedIntText(value=10, min=1, max=MAX_RESULTS, description=f"Results (1–{MAX_RESULTS})"),
        "namespace": widgets.Combobox(
            options=tuple(n for n in choices.namespaces if n), placeholder="all folders", description="Only in"
        ),
        "include_tests": widgets.Checkbox(value=True, description="tests too", indent=False),
        "text": widgets.Dropdown(options=["enriched", "body", "structure"], description="Text searched"),
        "scorer": widgets.Dropdown(options=["bm25", "overlap"], description="Keyword score"),
        "fusion": widgets.Dropdown(
            options={"default": NONE, "ranks (RRF)": "rrf", "scores": "scores"}, description="Join lists by"
        ),
        "priors": _priors(choices.priors),
        "graph": widgets.Dropdown(options=GRAPH_MODES, description="Expand over the graph"),
        "related": widgets.BoundedIntText(value=0, min=0, max=30, description="Related functions listed"),
        "boost": widgets.Text(placeholder="concepts, by commas", description="Boost"),
        "suppress": widgets.Text(placeholder="concepts, by commas", description="Suppress"),
        "strength": widgets.FloatSlider(
            value=0.3, min=0, max=1, step=0.05, description="Strength", readout_format=".2f"
        ),
        "resolver": widgets.Dropdown(options=RESOLVERS, description="Edges drawn, resolved by"),
        "relations": Checks(RELATIONS, DRAWN, "Relations drawn:"),
        "around": widgets.ToggleButtons(options={"the results": "results", "the selected": "selected"}),
    }
    for name, control in made.items():
        if isinstance(control, Checks):
            continue
        control.style = {"button_width": "auto"} if name in BESIDE else LABEL
        control.layout = widgets.Layout(**{"width": "auto", **_extra(name)})
        if hasattr(control, "continuous_update"):
            control.continuous_update = False
    _apply(made, preset)
    return made


def _extra(name: str) -> dict[str, str]:
    wide = {"namespace": "230px", "boost": "250px", "suppress": "250px", "strength": "250px", "k": "150px"}
    return {"width": wide[name]} if name in wide else {}


def _priors(names: Sequence[str]) -> widgets.Widget:
    """All or none where the priors have no names, else a box each."""
    if not names:
        return widgets.Checkbox(value=True, description="code-aware ranking", indent=False)
    return Checks(names, names, "Priors:")


def _apply(made: Mapping[str, widgets.Widget], preset: Mapping[str, Any]) -> None:
    values = dict(preset)
    if "hybrid" in values:
        values.setdefault("method", "hybrid" if values.pop("hybrid") else "dense")
    for name, value in values.items():
        if name not in made:
            raise TypeError(f"no control {name!r} in the explorer; there are {', '.join(made)}")
        try:
            made[name].value = _to_widget(made[name], value)
        except Exception as error:
            options = getattr(made[name], "options", None)
            offered = f"; it offers {list(options)}" if options else ""
            raise ValueError(f"{name}={value!r} does not fit the control {name!r}{offered}: {error}") from error


def _to_widget(control: widgets.Widget, value: Any) -> Any:
    if isinstance(control, Checks):
        if isinstance(value, bool):
            return tuple(control.options) if value else ()
        return tuple(value)
    if isinstance(control, widgets.Dropdown) and value is None:
        return NONE
    if isinstance(control, widgets.Text) and not isinstance(value, str):
        return "" if value is None else ", ".join(value)
    return value


def field(name: str, control: widgets.Widget) -> widgets.Widget:
    """A control with its label, in one line."""
    if name not in BESIDE:
        return control
    return widgets.HBox([widgets.Label(BESIDE[name]), control], layout=widgets.Layout(align_items="center"))


def search_arguments(made: Mapping[str, widgets.Widget]) -> dict[str, Any]:
    """The state of the controls as keyword arguments of `KnowledgeBase.search`."""
    value = {name: control.value for name, control in made.items()}
    arguments = {n: value[n] for n in ("method", "k", "text", "scorer", "include_tests", "related", "strength")}
    arguments["graph"] = value["graph"] or None
    arguments["namespace"] = value["namespace"].strip() or None
    arguments["boost"], arguments["suppress"] = _concepts(value["boost"]), _concepts(value["suppress"])
    if value["fusion"]:
        arguments["fusion"] = value["fusion"]
    chosen = value["priors"]
    everything = not isinstance(chosen, bool) and len(chosen) == len(made["priors"].options)
    arguments["priors"] = chosen if isinstance(chosen, bool) else everything or tuple(chosen)
    return arguments


def _concepts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def names_shown(show: Sequence[str], made: Mapping[str, widgets.Widget]) -> list[str]:
    """`show=` as control names, aliases resolved. Raises ValueError for a name that is no control."""
    names = [ALIASES.get(name, name) for name in show]
    unknown = [name for name in names if name not in made]
    if unknown:
        raise ValueError(f"show={unknown} names no control; there are {', '.join([*made, *ALIASES])}")
    return list(dict.fromkeys(names))
