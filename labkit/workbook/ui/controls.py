"""Controls: each shows one value of a scenario and hands a changed value on. No rule lives here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from labkit.workbook.broken import BROKEN
from labkit.workbook.scenarios import GATES_BY_NAME, BadScenario, Scenario, read_value
from labkit.workbook.words import GATE, SAY
from labkit.worlds import WORLDS, open_world

__all__ = ["GROUPS", "controls"]

Change = Callable[[dict[str, Any]], None]
Apply = Callable[[Change], None]
"""A control calls `apply(change)`; `change` alters the scenario's plain values in place."""

NON_TEXT = "json:"
WHO = {"u-alice (A)": ("u-alice", "A"), "u-bob (B)": ("u-bob", "B")}


def controls(scenario: Scenario, groups: tuple[str, ...], apply: Apply) -> list[widgets.Widget]:
    """The widgets of the named groups for a scenario."""
    return [widget for group in groups for widget in GROUPS[group](scenario, apply)]


def _text(label: str, value: Any, apply: Apply, place: Callable[[dict[str, Any]], tuple[Any, Any]],
          kind: type[widgets.Widget] = widgets.Text, **options: Any) -> widgets.Widget:  # fmt: skip
    """A text control; a value that is no text is written `json:…`."""
    written = value if isinstance(value, str) else NON_TEXT + json.dumps(value, ensure_ascii=False)

    def change(text: str) -> None:
        apply(lambda values: _assign(place(values), _read(text)))

    return _watched(kind(value=written, description=label, **options), change)


def _read(text: str) -> Any:
    """The value that was written; what cannot be read is kept as its error, so that no old value stays in its place."""
    try:
        return read_value(text[len(NON_TEXT) :]) if text.startswith(NON_TEXT) else text
    except BadScenario as error:
        return error


def _assign(place: tuple[Any, Any], value: Any) -> None:
    holder, key = place
    holder[key] = value


def _watched(widget: widgets.Widget, change: Callable[[Any], None]) -> widgets.Widget:
    widget.observe(lambda event: change(event["new"]), names="value")
    widget.layout.width = "auto"
    return widget


def _legend(name: str) -> widgets.HTML:
    return widgets.HTML(f'<div class="lk-legend">{SAY[name]}</div>')


def _calls(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    names = [tool.name for tool in open_world(*scenario.worlds).tools]
    made: list[widgets.Widget] = [_legend("calls")]
    for t, turn in enumerate(scenario.turns):
        for c, call in enumerate(turn.calls):

            def place(field: str, t: int = t, c: int = c) -> Callable[[dict[str, Any]], tuple[Any, Any]]:
                return lambda values: (values["turns"][t]["calls"][c], field)

            name = f"{t + 1}.{c + 1}"
            made += [
                _text(f"{name} id", call.id, apply, place("id")),
                _text(f"{name} tool", call.name, apply, place("name"), widgets.Combobox, options=names),
                _text(f"{name} arguments", call.arguments, apply, place("arguments"), widgets.Textarea, rows=2),
            ]
    return made


def _limits(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    made: list[widgets.Widget] = [_legend("limits")]
    for name in ("rounds", "requests", "executions"):
        value = getattr(scenario.limits, name)

        def change(new: int, name: str = name) -> None:
            apply(lambda values: _assign((values["limits"], name), new))

        made.append(_watched(widgets.IntSlider(value, 0, max(6, value), description=name), change))
    return made


def _principal(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    who = (scenario.principal.subject, scenario.principal.tenant)
    held = scenario.principal.permissions
    options = WHO if who in WHO.values() else WHO | {f"{who[0]} ({who[1]})": who}

    def asks(new: tuple[str, str | None]) -> None:
        apply(lambda values: values["principal"].update(subject=new[0], tenant=new[1]))

    made = [_legend("principal"), _watched(widgets.Dropdown(options=options, value=who, description="who asks"), asks)]
    every = sorted(open_world(*scenario.worlds).read_permissions)
    boxes = {name: widgets.Checkbox(held is None or name in held, description=name, indent=False) for name in every}

    def may(_: object) -> None:
        now = [name for name, box in boxes.items() if box.value]
        apply(lambda values: values["principal"].update(permissions=now))

    return made + [_watched(box, may) for box in boxes.values()]


def _offer(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    boxes = {name: widgets.Checkbox(name in scenario.worlds, description=_tools(name), indent=False) for name in WORLDS}

    def offer(_: object) -> None:
        now = [name for name, box in boxes.items() if box.value]
        apply(lambda values: values.update(world=now))

    return [_legend("offer"), *(_watched(box, offer) for box in boxes.values())]


def _tools(world: str) -> str:
    return f"{world}: " + ", ".join(tool.name for tool in open_world(world).tools)


def _gate(gate: str) -> Callable[[Scenario, Apply], list[widgets.Widget]]:
    broken = [name for name in BROKEN if name.rpartition("_")[0] == gate]

    def make(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
        options = {SAY["in place"]: gate, SAY["removed"]: "", **{SAY[name]: name for name in broken}}
        value = next((name for name in scenario.gates if name in options.values()), "")

        def choose(new: str) -> None:
            apply(lambda values: values.update(gates=replaced(values["gates"], gate, new)))

        chooser = widgets.Dropdown(options=options, value=value, description=GATE[gate])
        return [_legend("guard"), _watched(chooser, choose)]

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


GROUPS: dict[str, Callable[[Scenario, Apply], list[widgets.Widget]]] = {
    "principal": _principal, "offer": _offer, "calls": _calls, "limits": _limits,
    **{f"gate {name}": _gate(name) for name in GATE},
}  # fmt: skip
"""What a panel can offer to alter, by name."""
