"""Every group of controls by name: inputs from `controls`, and here the guard, which may be broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from itertools import pairwise
from typing import Any

import ipywidgets as widgets

from labkit.workbook.broken import BROKEN
from labkit.workbook.leaky import LEAKY
from labkit.workbook.scenarios import GATES_BY_NAME, Scenario
from labkit.workbook.texts import visible
from labkit.workbook.ui import controls
from labkit.workbook.ui.controls import Apply, Group, choice, legend
from labkit.workbook.words import GATE, SAY

__all__ = ["GROUPS", "replaced"]


def _gate(gate: str) -> Group:
    broken = [name for name in BROKEN if name.rpartition("_")[0] == gate]

    def make(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
        options = {SAY["in place"]: gate, SAY["removed"]: "", **{SAY[name]: name for name in broken}}
        value = next((name for name in scenario.gates if name in options.values()), "")

        def choose(new: str) -> None:
            apply(lambda values: values.update(gates=replaced(values["gates"], gate, new)))

        return [legend("guard"), choice(SAY["gate"].format(gate=GATE[gate]), options, value, choose)]

    return make


def replaced(gates: list[str], gate: str, new: str) -> list[str]:
    """The list with `gate`, or what stands in for it, replaced by `new`; an empty `new` removes it."""
    order = list(GATES_BY_NAME)

    def stands_for(name: str) -> str:
        return name if name in order else name.rpartition("_")[0]

    rest = [name for name in gates if stands_for(name) != gate]
    place = next((n for n, name in enumerate(gates) if stands_for(name) == gate),
                 sum(order.index(stands_for(name)) < order.index(gate) for name in rest))  # fmt: skip
    return [*rest[:place], *([new] if new else []), *rest[place:]]


def order(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """The order of the gates: the one that holds, or two neighbours swapped."""
    right = list(GATES_BY_NAME)
    options: dict[str, list[str]] = {SAY["order holds"]: right}
    for place, (first, second) in enumerate(pairwise(right)):
        name = SAY["swapped"].format(first=GATE[first], second=GATE[second])
        options[name] = [*right[:place], second, first, *right[place + 2 :]]
    value = list(scenario.gates)
    options |= {} if value in options.values() else {SAY["as given"]: value}
    return [legend("guard"), choice(SAY["order"], options, value,
            lambda new: apply(lambda values: values.update(gates=list(new))))]  # fmt: skip


def owner_filter(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """Where the data's owner is looked at, or who chooses a place, for each world that has a leaky form."""
    made: list[widgets.Widget] = []
    for place, name in enumerate(scenario.worlds):
        base = name.partition("_")[0]
        leaky = [world for world in LEAKY if world.partition("_")[0] == base]

        def choose(new: str, place: int = place) -> None:
            def change(values: dict[str, Any]) -> None:
                now = values["world"]
                worlds = [now] if isinstance(now, str) else list(now)
                values["world"] = [*worlds[:place], new, *worlds[place + 1 :]]

            apply(change)

        if leaky:
            label, kept = ("choosing", "left to the user") if base == "places" else ("owner filter", "in the query")
            options = {SAY[kept]: base, **{SAY[world]: world for world in leaky}}
            said = SAY["filter of"].format(world=base) if len(scenario.worlds) > 1 else SAY[label]
            made.append(choice(said, options, name, choose))
    return [legend("guard"), *made]


def _setting(key: str, label: str, values: tuple[str, ...]) -> Group:
    options = {SAY[f"{label} {value}"]: value for value in values}

    def make(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
        return [legend("policy"), choice(SAY[label], options, getattr(scenario, key),
                lambda new: apply(lambda kept: kept.update({key: new})))]  # fmt: skip

    return make


def fault(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """How a tool ends: the one with the first scripted fault, or else that of the first call."""
    asked = scenario.turns[0].calls[0].name if scenario.turns and scenario.turns[0].calls else None
    first: dict[str, Any] = {"tool": asked, "entry": 1, "raises": ""}
    first |= scenario.faults[0].model_dump() if scenario.faults else {}
    options = {SAY[f"fault {kind}"]: kind for kind in ("", "hang", "stubborn")}
    options |= {} if first["raises"] in options.values() else {SAY["as given"]: first["raises"]}

    def choose(kind: str) -> None:
        apply(lambda values: values.update(faults=[first | {"raises": kind}] if kind else []))

    named = legend("fault", tool=escape(visible(first["tool"], 24)))
    return [named, choice(SAY["it ends"], options, first["raises"], choose)]


GROUPS: dict[str, Callable[[Scenario, Apply], list[Any]]] = {
    "principal": controls.principal, "offer": controls.offer, "calls": controls.calls, "raw": controls.raw,
    "limits": controls.limits, "every limit": controls.every_limit, "condition": controls.condition,
    "order": order, "owner filter": owner_filter, "fault": fault,
    "on limit": _setting("on_limit", "on limit", ("answer", "stop")),
    "errors": _setting("errors", "errors", ("mapped", "told", "emptied", "retried")),
    "id scope": _setting("id_scope", "id scope", ("run", "response")),
    **{f"gate {name}": _gate(name) for name in GATES_BY_NAME},
}  # fmt: skip
"""What a panel can offer to alter, by name."""
