"""What comes out: one table of codes, the outcome of a call, and the text the model reads.

1. Status and next action follow from the code, in `CODES` and nowhere else.
2. Branch on codes. Messages are words for a reader and may be translated.
3. Only declared fields leave; what is not JSON is the tool's bug; JSON is never cut in the middle.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter
from pydantic_core import SchemaSerializer, SchemaValidator

__all__ = ["CODES", "Cancelled", "Code", "Fault", "NeedsUser", "NextAction", "NotFound", "Outcome",
           "Status", "TemporaryFailure", "project", "result_text"]  # fmt: skip

Status = Literal["ok", "not_found", "rejected", "failed", "cancelled", "unknown"]
NextAction = Literal["continue", "stop", "fix_input", "retry_with_budget", "ask_user", "reconcile"]
Code = Literal["ok", "not_found_or_not_accessible", "incomplete_response", "invalid_call", "unknown_tool",
               "invalid_arguments", "forbidden", "id_conflict", "budget_exhausted", "dependency_temporary",
               "internal_error", "needs_user", "cancelled", "outcome_unknown"]  # fmt: skip


class Row(NamedTuple):
    """What a code means: `http` is the status under which RFC 9457 problem details carry it."""

    status: Status
    next_action: NextAction
    entered: Literal["yes", "no", "maybe"]
    http: int
    message: str | None


CODES: dict[Code, Row] = {
    "ok": Row("ok", "continue", "yes", 200, None),
    "not_found_or_not_accessible": Row("not_found", "stop", "yes", 404, "Not found, or not accessible to this user."),
    "incomplete_response": Row("rejected", "fix_input", "no", 400, "The response was cut off; none of its calls ran."),
    "invalid_call": Row("rejected", "fix_input", "no", 400, "The call has no usable id."),
    "unknown_tool": Row("rejected", "fix_input", "no", 400, "No tool of exactly this name is offered."),
    "invalid_arguments": Row("rejected", "fix_input", "no", 400, "The arguments are not what the tool takes."),
    "forbidden": Row("rejected", "stop", "no", 403, "The user may not use this tool."),
    "id_conflict": Row("rejected", "fix_input", "no", 409, "This id already belongs to another call: use a new id."),
    "budget_exhausted": Row("rejected", "stop", "no", 429, "The {field} budget of this run is spent."),
    "dependency_temporary": Row("failed", "retry_with_budget", "yes", 503, "A service is unavailable for the moment."),
    "internal_error": Row("failed", "stop", "yes", 500, "The tool failed. Reference: {reference}."),
    "needs_user": Row("failed", "ask_user", "yes", 409, "Several candidates fit: the user must choose."),
    "cancelled": Row("cancelled", "stop", "maybe", 503, "The run was closed before this call ended."),
    "outcome_unknown": Row("unknown", "reconcile", "yes", 500, "It may have happened: look before any retry."),
}


class Outcome(NamedTuple):
    """What the application answers for one call; it cannot be changed.

    Attributes:
        call_id: the id exactly as the call claimed it.
        body: the projected result as JSON text; `data` reads it. None where there is no result.
        field: the argument or budget that was at fault, if one was.
        replayed: True for an earlier outcome given again; the tool was not entered.
        omitted, size: whole items left out of `body`, and its length in characters before that.
    """

    call_id: Any
    code: Code
    body: str | None = None
    message: str | None = None
    field: str | None = None
    replayed: bool = False
    omitted: int = 0
    size: int = 0

    @property
    def status(self) -> Status:
        return CODES[self.code].status

    @property
    def next_action(self) -> NextAction:
        return CODES[self.code].next_action

    @property
    def data(self) -> Any:
        """The projected result, read afresh: nobody can change what was answered."""
        return None if self.body is None else json.loads(self.body)


def refusal(
    call_id: object, code: Code, message: str = "", *, field: str | None = None, reference: str = ""
) -> Outcome:
    """An outcome without a result; without a message of its own it carries its code's."""
    message = message or (CODES[code].message or "").format(field=field, reference=reference)
    return Outcome(call_id, code, None, message, field)


def served(call_id: object, code: Code, found: object, returns: type[BaseModel] | None, limit: int) -> Outcome:
    """An outcome with what a tool found, projected and at most `limit` characters long. Raises as `project` does."""
    if found is None and code != "ok":
        return refusal(call_id, code)
    body, message = project(returns, found), CODES[code].message
    size = len(body)
    if size <= limit:
        return Outcome(call_id, code, body, message)
    body, omitted = shorten(body, limit)
    return Outcome(call_id, code, body, message, omitted=omitted, size=size)


def result_text(outcome: Outcome) -> str:
    """The one string that the model reads for an outcome: compact JSON, always whole."""
    head = _head(outcome.code, outcome.message, outcome.field, outcome.omitted, outcome.size)
    return head if outcome.body is None else f'{head[:-1]},"data":{outcome.body}}}'


@lru_cache(maxsize=256)
def _head(code: Code, message: str | None, field: str | None, omitted: int, size: int) -> str:
    said = {"status": CODES[code].status, "code": code, "next_action": CODES[code].next_action,
            "message": message, "field": field, "truncated": omitted > 0 or None, "omitted": omitted or None,
            "size": size or None}  # fmt: skip
    return compact({name: value for name, value in said.items() if value is not None})


class Fault(Exception):
    """What a tool raises to say how it failed; `found` is projected like a result.

    The exception's own text never leaves. Anything else a tool raises is its bug.
    """

    code: Code = "internal_error"

    def __init__(self, *args: object, found: object = None) -> None:
        super().__init__(*args)
        self.found = found


class NotFound(Fault):
    """There is no such thing, or it is not the principal's: one answer for both."""

    code = "not_found_or_not_accessible"


class TemporaryFailure(Fault):
    """A dependency is down for now. From a tool that writes: the write provably did not happen."""

    code = "dependency_temporary"


class NeedsUser(Fault):
    """Several candidates fit (`found`); only the user can choose."""

    code = "needs_user"


class Cancelled(Fault):
    """The tool ended early because nobody waits for it."""

    code = "cancelled"


@lru_cache(maxsize=1)  # built when the first result needs it: a tenth of the cost of `import labkit`
def _any_json() -> TypeAdapter[JsonValue]:
    return TypeAdapter(JsonValue, config=ConfigDict(strict=True, allow_inf_nan=False))


def project(returns: type[BaseModel] | None, result: object) -> str:
    """The part of a tool's result that may leave, as JSON text.

    Only fields of `returns` that the tool set are kept. Raises whatever pydantic or json raise
    (ValueError, TypeError) for a result that is not what was declared, or not JSON: a date that
    no field declares, a Decimal, bytes, NaN, half a surrogate pair.
    """
    if returns is None:
        body = compact(_any_json().validate_python(result))
        body.encode()
        return body
    validator, serializer, has_any = _readers(returns)
    kept = validator.validate_python(_plain(result), from_attributes=True, extra="ignore")
    body = serializer.to_json(kept, exclude_unset=True, warnings=False).decode()
    if "null" in body or "N" in body:  # pydantic may write NaN as null or as it is: let json refuse it
        compact(serializer.to_python(kept, mode="json", exclude_unset=True))
    if has_any:  # what no field declares must be JSON as it stands
        compact(serializer.to_python(kept, exclude_unset=True))
    return body


@lru_cache(maxsize=256)
def _readers(model: type[BaseModel]) -> tuple[SchemaValidator, SchemaSerializer, bool]:
    has_any = "'type': 'any'" in str(model.__pydantic_core_schema__)
    return model.__pydantic_validator__, model.__pydantic_serializer__, has_any  # type: ignore[return-value]


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _plain(value: Any) -> Any:
    """Models as plain objects, so that what they hold is checked like everything else."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        flat = _SCALARS.issuperset(map(type, value.values()))
        return value if flat else {key: _plain(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_plain(item) for item in value]
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in value.model_fields_set & kind.model_fields.keys()}
    return value


def shorten(body: str, limit: int) -> tuple[str, int]:
    """Drop whole items from the end of the longest list or text until `body` fits `limit`.

    Returns the body and how many items (of a list) or characters (of a text) were left out.
    """
    root, omitted = {"data": json.loads(body)}, 0
    while len(body) > limit:
        holder, key = max(_sequences(root), key=lambda place: len(compact(place[0][place[1]])), default=(root, "data"))
        items = holder[key]
        if not items or not isinstance(items, list | str):
            return "null", omitted + 1
        kept = holder[key] = _beginning(items, limit - len(compact(root["data"])) + len(compact(items)))
        omitted += len(items) - len(kept)
        body = compact(root["data"])
    return body, omitted


def _beginning(items: Any, room: int) -> Any:
    """As many of the first items as take at most `room` characters of JSON, but not all."""
    fits = bisect_right(range(len(items)), room, key=lambda keep: len(compact(items[:keep])))
    return items[: max(fits - 1, 0)]


def _sequences(holder: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where the lists and texts are, at any depth of objects."""
    here = [(holder, key) for key, item in holder.items() if isinstance(item, list | str)]
    return here + [place for item in holder.values() if isinstance(item, dict) for place in _sequences(item)]


compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON text of a value; raises ValueError or TypeError for what is not JSON."""
