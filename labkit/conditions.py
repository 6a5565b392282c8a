"""A condition that the user set in the interface: the model's arguments are compared with it, never changed.

An optional gate, after `arguments`. Where the program can do without the model's help it should: leave the field
out of the tool's arguments and take it from the interface, as it takes the principal from the session.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from labkit.calls import shown
from labkit.gates import Gate, Request, State
from labkit.outcomes import Outcome, compact, refusal

__all__ = ["Condition", "conditions"]


class Condition(NamedTuple):
    """What the user chose: `field` of the arguments of `tool` is `value`, a JSON value."""

    tool: str
    field: str
    value: Any


def conditions(chosen: Iterable[Condition]) -> Gate:
    """A gate that refuses a call whose arguments differ from what the user chose, and names the field.

    Values are compared as JSON: a day is its text, and 1, 1.0, true and "1" are four values.
    """
    wanted = [(condition, compact(condition.value)) for condition in chosen]

    def conditions(request: Request, state: State) -> Outcome | None:
        asked = request.arguments.model_dump(mode="json")
        for (tool, field, _), value in wanted:
            if tool == request.tool.name and compact(asked.get(field)) != value:
                message = f"{field}: the user chose {shown(value, 80)}"
                return refusal(request.call.id, "invalid_arguments", message, field=field)
        return None

    return conditions
