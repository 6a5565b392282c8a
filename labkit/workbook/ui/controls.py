"""Controls: each shows one value of a scenario and hands a changed value on. No rule lives here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from labkit.workbook.leaky import opened
from labkit.workbook.scenarios import BadScenario, Scenario, read_value
from labkit.workbook.words import SAY
from labkit.worlds import WORLDS

__all__ = ["Apply", "Change", "Group", "choice", "legend", "watched"]

Change = Callable[[dict[str, Any]], None]
Apply = Callable[[Change], None]
"""A control calls `apply(change)`; `change` alters the scenario's plain values in place."""
Group = Callable[[Scenario, Apply], list[widgets.Widget]]
Place = Callable[[dict[str, Any]], tuple[Any, Any]]
"""Finds, in a scenario's plain values, the object and the key under which a control's value stands."""

NON_TEXT = "json:"
WHO = {"u-alice (A)": ("u-alice", "A"), "u-bob (B)": ("u-bob", "B")}
DEADLINES = (0, 0.125, 0.25, 0.375, 0.5, 0.75, 1, 2)
"""Seconds to choose from: a model response and a tool's entry take an eighth each."""


def legend(name: str, **words: object) -> widgets.HTML:
    """The heading of a group of controls."""
    return widgets.HTML(f'<div class="lk-legend">{SAY[name].format(**words)}</div>')


def watched(widget: widgets.Widget, change: Callable[[Any], None]) -> widgets.Widget:
    """The widget, calling `change` with each new value."""
    widget.observe(lambda event: change(event["new"]), names="value")
    widget.layout.width = "auto"
    return widget


def choice(label: str, options: Mapping[str, Any], value: Any, choose: Callable[[Any], None]) -> widgets.Widget:
    """A list to choose from."""
    return watched(widgets.Dropdown(options=dict(options), value=value, description=label), choose)


def _assign(place: tuple[Any, Any], value: Any) -> None:
    holder, key = place
    holder[key] = value


def _text(label: str, value: Any, apply: Apply, place: Place,
          kind: type[widgets.Widget] = widgets.Text, **options: Any) -> widgets.Widget:  # fmt: skip
    """A text control; a value that is no text is written `json:…`."""
    written = value if isinstance(value, str) else NON_TEXT + json.dumps(value, ensure_ascii=False)

    def change(text: str) -> None:
        apply(lambda values: _assign(place(values), _read(text)))

    return watched(kind(value=written, description=label, **options), change)


def _read(text: str) -> Any:
    """The value that was written; what cannot be read is kept as its error, so that no old value stays in its place."""
    try:
        return read_value(text[len(NON_TEXT) :]) if text.startswith(NON_TEXT) else text
    except BadScenario as error:
        return error


def calls(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """Id, tool and arguments of every call."""
    names = [tool.name for tool in opened(*scenario.worlds).tools]
    made: list[widgets.Widget] = [legend("calls")]
    for t, turn in enumerate(scenario.turns):
        for c, call in enumerate(turn.calls):
            name = f"{t + 1}.{c + 1}"
            made += [
                _text(f"{name} id", call.id, apply, _of_call(t, c, "id")),
                _text(f"{name} tool", call.name, apply, _of_call(t, c, "name"), widgets.Combobox, options=names),
                _text(
                    f"{name} arguments", call.arguments, apply, _of_call(t, c, "arguments"), widgets.Textarea, rows=2
                ),
            ]
    return made


def _of_call(turn: int, place: int, field: str) -> Place:
    return lambda values: (values["turns"][turn]["calls"][place], field)


def raw(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """The argument text of the first call, in a large field."""
    text = scenario.turns[0].calls[0].arguments
    field = _text("1.1 arguments", text, apply, _of_call(0, 0, "arguments"), widgets.Textarea, rows=7)
    field.add_class("lk-raw")
    return [legend("raw"), field]


def limits(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """Rounds, requests and executions."""
    return [legend("limits"), *(_slider(scenario, apply, name) for name in ("rounds", "requests", "executions"))]


def every_limit(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """All limits: the three, each tool that is asked for, cost and deadline."""
    tools = {tool.name for tool in opened(*scenario.worlds).tools}
    asked = {call.name: None for turn in scenario.turns for call in turn.calls if call.name in tools}
    per_tool = [
        _steps(f"{name}", scenario.limits.per_tool.get(name), range(7), _of_tool(apply, name)) for name in asked
    ]
    cost = _steps("cost", scenario.limits.cost, range(11), lambda new: apply(_limit("cost", new)))
    deadline = _steps("deadline_s", scenario.limits.deadline_s, DEADLINES,
                      lambda new: apply(_limit("deadline_s", new)))  # fmt: skip
    return [*limits(scenario, apply), *per_tool, cost, deadline]


def _slider(scenario: Scenario, apply: Apply, name: str) -> widgets.Widget:
    value = getattr(scenario.limits, name)
    return watched(widgets.IntSlider(value, 0, max(6, value), description=name), lambda new: apply(_limit(name, new)))


def _limit(name: str, new: Any) -> Change:
    return lambda values: _assign((values["limits"], name), new)


def _of_tool(apply: Apply, name: str) -> Callable[[Any], None]:
    def change(new: int | None) -> None:
        def alter(values: dict[str, Any]) -> None:
            per_tool = {tool: most for tool, most in values["limits"]["per_tool"].items() if tool != name}
            values["limits"]["per_tool"] = per_tool if new is None else per_tool | {name: new}

        apply(alter)

    return change


def _steps(label: str, value: float | None, steps: Any, choose: Callable[[Any], None]) -> widgets.Widget:
    """A list of numbers, the first entry being no limit at all (a list shows nothing for None, so it stands as "")."""
    numbers = sorted({*steps, *(() if value is None else (value,))})
    options = {SAY["no limit"]: "", **{f"{number:g}": number for number in numbers}}
    return choice(label, options, "" if value is None else value, lambda new: choose(None if new == "" else new))


def principal(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """Who asks, and what they may do; again for each later turn that changes it."""
    changed = [(n, turn.principal) for n, turn in enumerate(scenario.turns, 1) if turn.principal]
    places: list[tuple[str, Any, Callable[[dict[str, Any]], Any]]] = [
        ("principal", scenario.principal, lambda values: values["principal"]),
        *((str(n), part, _of_turn(n)) for n, part in changed),
    ]
    return [widget for name, part, find in places for widget in _principal(name, part, scenario, apply, find)]


def _of_turn(number: int) -> Callable[[dict[str, Any]], Any]:
    return lambda values: values["turns"][number - 1]["principal"]


def _principal(name: str, part: Any, scenario: Scenario, apply: Apply,
               find: Callable[[dict[str, Any]], Any]) -> list[widgets.Widget]:  # fmt: skip
    who = (part.subject, part.tenant)
    options = WHO if who in WHO.values() else WHO | {f"{who[0]} ({who[1]})": who}
    heading = legend("principal") if name == "principal" else legend("principal from", round=name)
    round = "" if name == "principal" else f" ({name})"
    made = [heading, choice(f"who asks{round}", options, who, lambda new: apply(
        lambda values: find(values).update(subject=new[0], tenant=new[1])))]  # fmt: skip
    every = sorted(opened(*scenario.worlds).read_permissions)
    held = every if part.permissions is None else part.permissions
    boxes = {right: widgets.Checkbox(right in held, description=right + round, indent=False) for right in every}

    def may(_: object) -> None:
        now = [right for right, box in boxes.items() if box.value]
        apply(lambda values: find(values).update(permissions=now))

    return made + [watched(box, may) for box in boxes.values()]


def offer(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """Which worlds' tools are offered."""
    boxes = {name: widgets.Checkbox(name in scenario.worlds, description=_tools(name), indent=False) for name in WORLDS}

    def change(_: object) -> None:
        now = [name for name, box in boxes.items() if box.value]
        apply(lambda values: values.update(world=now))

    return [legend("offer"), *(watched(box, change) for box in boxes.values())]


def _tools(world: str) -> str:
    return f"{world}: " + ", ".join(tool.name for tool in opened(world).tools)


def condition(scenario: Scenario, apply: Apply) -> list[widgets.Widget]:
    """What the user set in the interface, for each condition of the scenario."""
    made: list[widgets.Widget] = [legend("condition")] if scenario.conditions else []
    for n, part in enumerate(scenario.conditions):

        def place(values: dict[str, Any], n: int = n) -> tuple[Any, Any]:
            return values["conditions"][n], "value"

        made.append(_text(part.field, part.value, apply, place))
    return made
