"""Guards that do not hold, for lessons that break them on purpose. Nothing but a scenario's `gates` names them."""

from __future__ import annotations

import json
import unicodedata
from calendar import monthrange
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from labkit.arguments import BadArguments, read_model, read_object
from labkit.gates import canonical, execution_budget
from labkit.ledger import asked, digest
from labkit.outcomes import Outcome, refusal
from labkit.workbook.readers import alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

    from labkit.calls import Tool
    from labkit.gates import Gate, Request, State

__all__ = ["BROKEN", "READINGS"]


def _allowlist(find: Callable[[str, dict[str, Tool]], Tool | None]) -> Gate:
    def gate(request: Request, state: State) -> Outcome | None:
        tool = find(str(request.call.name), dict(state.tools))
        if tool is None:
            return refusal(request.call.id, "unknown_tool", field="name")
        request.tool, request.offer = tool, tool.offer
        return None

    return gate


def _tidied(name: str, tools: dict[str, Tool]) -> Tool | None:
    """Trims, folds case and look-alike letters, and drops a prefix, 'to be helpful'."""
    plain = unicodedata.normalize("NFKC", name).strip().casefold().replace("-", "_")
    return tools.get(plain.rpartition(".")[2])


def _nearest(name: str, tools: dict[str, Tool]) -> Tool | None:
    """Takes the offered name that looks most like what the model wrote."""
    close = get_close_matches(name, tools, n=1, cutoff=0.4)
    return tools[close[0]] if close else None


def _arguments(read: Callable[[Tool, Any], BaseModel]) -> Gate:
    def gate(request: Request, state: State) -> Outcome | None:
        try:
            checked = read(request.tool, request.call.arguments)
        except (BadArguments, ValidationError) as wrong:
            field = wrong.field if isinstance(wrong, BadArguments) else str(wrong.errors()[0]["loc"][:1])
            return refusal(request.call.id, "invalid_arguments", str(wrong)[:200], field=field)
        request.arguments, request.content = checked, digest(canonical(checked))
        request.digest = request.content
        return None

    return gate


def _pydantic(tool: Tool, text: Any) -> BaseModel:
    """Strict pydantic alone."""
    return alone(tool).model_validate_json(text)


def _repaired(tool: Tool, text: Any) -> BaseModel:
    """Makes the call succeed by changing it: the nearest day, null for what is missing or empty, a fence dropped."""
    try:
        values = json.loads(str(text).strip().removeprefix("```json").removesuffix("```") or "{}")
        values = json.loads(values) if isinstance(values, str) else values
    except ValueError:
        return read_model(tool.arguments, text)
    if isinstance(values, dict) and "published_from" in tool.arguments.model_fields:
        values["published_from"] = _nearest_day(values.get("published_from"))
    return read_model(tool.arguments, json.dumps(values))


def _coerced(tool: Tool, text: Any) -> BaseModel:
    """Makes a number of an id that is one or looks like one, and asks no more of it."""
    values = read_object(text)
    if not str(values.get("merchantId")).isdecimal():
        return read_model(tool.arguments, text)
    checked = read_model(tool.arguments, json.dumps(values | {"merchantId": 1}))
    return checked.model_copy(update={"merchantId": int(values["merchantId"])})


def _nearest_day(day: Any) -> Any:
    parts = day.split("-") if isinstance(day, str) else []
    if len(parts) == 3 and all(part.isdecimal() for part in parts):
        year, month, number = map(int, parts)
        if 1 <= month <= 12 and number:
            return f"{year:04}-{month:02}-{min(number, monthrange(year, month)[1]):02}"
    return day or None


def _offered(request: Request, state: State) -> Outcome | None:
    """Takes the permissions that were in force when the tools were offered, not now."""
    needed, first = request.tool.permission, next(event for event in state.ledger if event.kind == "requested")
    missing = needed is not None and needed not in first.permissions
    return refusal(request.call.id, "forbidden") if missing else None


def _replay(same: Callable[[Request, Any], bool]) -> Gate:
    """A memory that takes two calls for the same if `same` says so; anything else it lets through."""

    def gate(request: Request, state: State) -> Outcome | None:
        for key, owner in state.owners.items():
            earlier = state.memory[key]
            if isinstance(earlier, Outcome) and same(request, owner):
                return earlier._replace(call_id=request.call.id, replayed=True)
        return None

    return gate


def _late(request: Request, state: State) -> Outcome | None:
    """Looks at the budget after the tool was entered: what stops a call is an earlier one that was over."""
    over = state.ledger.executions > state.limits.executions
    return refusal(request.call.id, "budget_exhausted", field="executions") if over else None


def _free(request: Request, state: State) -> Outcome | None:
    """Counts only the requests that were served: refusals are free, for ever."""
    served = state.ledger.requests - state.ledger.count("rejected")
    return refusal(request.call.id, "budget_exhausted", field="requests") if served > state.limits.requests else None


def _emptied(request: Request, state: State) -> Outcome | None:
    """Answers what is over the budget with an empty last page: to whoever reads it, the list is over."""
    over = execution_budget(request, state)
    return over and Outcome(request.call.id, "ok", '{"items":[],"next_page_token":""}')


READINGS: dict[str, Callable[[Tool, Any], BaseModel]] = {
    "arguments_pydantic": _pydantic, "arguments_repaired": _repaired, "arguments_coerced": _coerced,
}  # fmt: skip
"""What each broken arguments gate makes of a text; it raises as pydantic or our reader do."""
BROKEN: dict[str, Gate] = {
    "allowlist_tidied": _allowlist(_tidied),
    "allowlist_nearest": _allowlist(_nearest),
    **{name: _arguments(read) for name, read in READINGS.items()},
    "authorization_offered": _offered,
    "replay_id": _replay(lambda request, owner: owner[7] == request.label),
    "replay_content": _replay(lambda request, owner: asked(owner)[::2] == (request.offer, request.content)),
    "replay_anyone": _replay(
        lambda request, owner: (owner[7], *asked(owner)[::2]) == (request.label, request.offer, request.content)
    ),
    "execution_budget_late": _late,
    "execution_budget_emptied": _emptied,
    "request_budget_free": _free,
}
"""Broken gates by name. The part before the last underscore is the gate each stands in for."""

for _name, _gate in BROKEN.items():
    _gate.__name__ = _name
