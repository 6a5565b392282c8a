"""What is measured: one small tool, called n times by the engine and by the least code that could do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jiter
from pydantic import BaseModel

from labkit import Call, Dispatcher, Host, Limits, Principal, Response, Tool, run, scripted

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUND = 100
"""Calls in one response of `in_rounds`."""


class Text(BaseModel):
    text: str


class Length(BaseModel):
    length: int


class Count:
    """How often the tool was entered."""

    entries = 0


def length(arguments: Text, context: object) -> dict[str, int]:
    """The tool: how many characters a text has."""
    Count.entries += 1
    return {"length": len(arguments.text)}


HOST = Host([Tool("length", "1", Text, length, returns=Length)], Principal("u-alice", "A"))


def proposed(n: int) -> list[Call]:
    """n calls with ids of their own, as a model would send them."""
    return [Call(f"c{i}", "length", '{"text":"Java"}') for i in range(n)]


@dataclass(slots=True)
class Noted:
    """One event of the floor."""

    seq: int
    kind: str
    call_id: str
    tool: str
    detail: Any


def floor(calls: Sequence[Call]) -> tuple[list[Noted], list[tuple[str, Any]]]:
    """Floor c2: strict parse as a gate, validation of the same bytes, the function, four events. No guard."""
    events: list[Noted] = []
    results: list[tuple[str, Any]] = []
    for call in calls:
        raw = call.arguments.encode()
        events.append(Noted(len(events), "requested", call.id, call.name, None))
        jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)
        arguments = Text.model_validate_json(raw, strict=True)
        events.append(Noted(len(events), "started", call.id, call.name, None))
        result = length(arguments, None)
        events.append(Noted(len(events), "returned", call.id, call.name, None))
        results.append((call.id, result))
        events.append(Noted(len(events), "delivered", call.id, call.name, None))
    return events, results


def limits(n: int) -> Limits:
    """Room for n calls and nothing more."""
    return Limits(rounds=n // ROUND + 2, requests=n, executions=n)


def in_one_batch(calls: Sequence[Call]) -> tuple[Dispatcher, list[Any]]:
    """The whole guard with its full ledger, every call in one response."""
    dispatcher = Dispatcher(HOST, limits(len(calls)))
    return dispatcher, dispatcher.batch(calls)


def in_rounds(calls: Sequence[Call]) -> Any:
    """The same through `labkit.run`: messages, results, rounds of 100 calls, and an answer."""
    rounds = [Response(calls[at : at + ROUND]) for at in range(0, len(calls), ROUND)]
    return run(scripted([*rounds, Response(answer="done")]), HOST, limits(len(calls)))


def check(calls: Sequence[Call], entries: int, answered: Sequence[str], ledger: Any = None) -> None:
    """Raise unless n calls are n executions and n results, paired by id, in order."""
    wrong = entries != len(calls) or list(answered) != [call.id for call in calls]
    counts = ledger.counts if ledger is not None else {}
    if wrong or any(counts[name] != len(calls) for name in ("requested", "executed", "delivered") if counts):
        raise AssertionError(f"{len(calls)} calls, {entries} executions, {len(answered)} results: {counts}")
