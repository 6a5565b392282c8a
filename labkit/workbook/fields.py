"""Which fields a result has: a list of what must be kept beside a list of what must not leave. No widget.

1. What is judged is the string that was sent, read again; never the object before it.
2. What must be kept must be there as it is stored: deleting, masking and filling in do not pass.
3. A list of what must not leave knows only what its writer knew, so what stands on neither list is told as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel

from labkit.arguments import BadArguments, read_object
from labkit.calls import Call, Host, Principal, Tool
from labkit.dispatch import Dispatcher
from labkit.outcomes import result_text
from labkit.worlds.merchants import MERCHANTS, Merchant

if TYPE_CHECKING:
    from labkit.loop import Result

__all__ = ["GROWN", "MUST_KEEP", "MUST_NOT", "Grown", "Judged", "Verdict", "judged", "paths", "sent"]

MUST_KEEP = {
    "get_merchant": ("merchantId", "name", "hours"),
    "list_merchants": ("items[].merchantId", "items[].name", "items[].hours", "next_page_token"),
}
"""The fields that a result of each tool must have, unless the call asked for fewer."""
MUST_NOT = ("tenant", "internal_note", "INTERNAL_FIELD_CANARY")
"""Names and markers that must not leave, as far as they were known when this list was written."""

Verdict = Literal["kept", "changed", "missing", "must not leave", "on no list"]


@dataclass(frozen=True)
class Grown(Merchant):
    """A merchant's record some months later: it has one more internal attribute, which its `repr` leaves out."""

    risk_note: str = field(default="slow payer / 付款拖延", repr=False)


GROWN = tuple(Grown(**asdict(record)) for record in MERCHANTS)
"""The merchants after their records have grown."""


class Judged(NamedTuple):
    """A field of a result by its path, the first value found there (None if it is missing), and the verdict."""

    path: str
    value: Any
    verdict: Verdict


class _Nothing(BaseModel):
    pass


def sent(found: object, returns: type[BaseModel] | None = None, result_chars: int = 20_000) -> str:
    """The string that a model reads if a tool finds this: through the real dispatcher and the real converter."""
    tool = Tool("look", "1", _Nothing, lambda arguments, context: found, returns=returns, result_chars=result_chars)
    (outcome,) = Dispatcher(Host([tool], Principal("u-alice"))).batch([Call("c1", "look", "{}")])
    return result_text(outcome)


def paths(data: Any) -> tuple[str, ...]:
    """Every path at which a JSON value holds something, in order; the items of a list share one, as `items[].name`.

    An empty list or object is something; the value itself has the path "".
    """
    return tuple(dict.fromkeys(path for path, _ in _leaves(data, "")))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    inside: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        inside = [(f"{path}.{name}" if path else name, item) for name, item in value.items()]
    elif isinstance(value, list):
        inside = [(f"{path}[]", item) for item in value]
    if not inside:
        yield path, value
    for where, item in inside:
        yield from _leaves(item, where)


def judged(result: Result) -> list[Judged]:
    """Each field of a result, then what is missing; nothing for what is no result, or of a tool not in `MUST_KEEP`."""
    if result.outcome.code != "ok" or result.call.name not in MUST_KEEP:
        return []
    asked, data = _asked(result.call.arguments), json.loads(result.text)["data"]
    wanted = asked.get("fields")
    must = [path for path in MUST_KEEP[result.call.name] if wanted is None or path in wanted]
    found: dict[str, list[Any]] = {}
    for path, value in _leaves(data, "") if data != {} else ():
        found.setdefault(path, []).append(value)
    stored = _stored(asked, data)
    told = [Judged(path, values[0], _verdict(path, values, must, stored)) for path, values in found.items()]
    return told + [Judged(path, None, "missing") for path in must if path not in found and not _empty(path, found)]


def _asked(arguments: Any) -> dict[str, Any]:
    try:
        return read_object(arguments)
    except BadArguments:  # a gate that was broken on purpose let it pass
        return {}


def _empty(path: str, found: dict[str, list[Any]]) -> bool:
    """True for a field of a list's items if that list is there and has no items."""
    return found.get(path.partition("[]")[0]) == [[]]


def _stored(asked: dict[str, Any], data: Any) -> dict[str, list[Any]]:
    """The values that the records of a result have in the store, by path."""
    known = {record.merchantId: asdict(record) for record in MERCHANTS}
    items = data.get("items") if isinstance(data, dict) else None
    if isinstance(items, list):
        ids = [item.get("merchantId") for item in items if isinstance(item, dict)]
        records = [known[number] for number in ids if number in known]
        return {f"items[].{name}": [record[name] for record in records] for name in MUST_KEEP["get_merchant"]}
    return {name: [value] for name, value in known.get(asked.get("merchantId", 0), {}).items()}


def _verdict(path: str, values: list[Any], must: list[str], stored: dict[str, list[Any]]) -> Verdict:
    if any(word in text for word in MUST_NOT for text in (path, *map(str, values))):
        return "must not leave"
    if path not in must:
        return "kept" if any(_empty(one, {path: values}) for one in must) else "on no list"
    return "kept" if stored.get(path, values) == values else "changed"
