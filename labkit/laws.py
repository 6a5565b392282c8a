"""The laws of a ledger. `audit` reads the events alone and trusts no counter, gate or dispatcher."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from labkit.ledger import Event, Ledger, exact
from labkit.outcomes import CODES

__all__ = ["LAWS", "Violation", "audit"]

_SETTLES = {"rejected", "replayed", "returned"}
_REFUSALS = {code for code, row in CODES.items() if row.status == "rejected"}
_HOLDS_ID = {code for code, row in CODES.items() if row.status != "failed"}


class Violation(NamedTuple):
    """A broken law, by name, and the events that break it."""

    law: str
    events: tuple[Event, ...]


class Case(NamedTuple):
    """One request's events, by kind."""

    requested: list[Event]
    outcomes: list[Event]
    started: list[Event]
    returned: list[Event]
    delivered: list[Event]
    released: list[Event]

    @property
    def all(self) -> tuple[Event, ...]:
        return tuple(sorted({e.seq: e for group in self for e in group}.values(), key=lambda e: e.seq))


Broken = Iterator[tuple[Event, ...]]
Cases = dict[tuple[int, int], Case]


def audit(ledger: Ledger) -> list[Violation]:
    """Every broken law of a finished run; an empty list on each run of the real engine."""
    events = ledger.events
    cases: Cases = {}
    for event in events:
        if event.position is not None:
            case = cases.setdefault((event.round, event.position), Case([], [], [], [], [], []))
            if _settles(event):
                case.outcomes.append(event)
            if event.kind in Case._fields:
                getattr(case, event.kind).append(event)
    return [Violation(law.__name__, broken) for law in LAWS for broken in law(events, cases)]


def one_outcome_per_request(events: tuple[Event, ...], cases: Cases) -> Broken:
    """Each request gets exactly one outcome, after it was requested."""
    for case in cases.values():
        one = len(case.requested) == len(case.outcomes) == 1
        if not one or case.outcomes[0].seq < case.requested[0].seq:
            yield case.all


def counted_without_gaps(events: tuple[Event, ...], cases: Cases) -> Broken:
    """Rounds are counted from 1, so are the requests of each, and only the last round may be without one."""
    opened = [event for event in events if event.kind == "round_opened"]
    asked = [event for event in events if event.kind == "requested"]
    for number, event in enumerate(opened, 1):
        places = sorted(request.position or 0 for request in asked if request.round == event.round)
        if event.round != number or places != [*range(1, len(places) + 1)] or not (places or event is opened[-1]):
            yield (event,)
    numbers = {event.round for event in opened}
    if strays := tuple(event for event in asked if event.round not in numbers):
        yield strays


def one_delivery_per_request(events: tuple[Event, ...], cases: Cases) -> Broken:
    """Each request is delivered exactly once, with the outcome it got."""
    for case in cases.values():
        if len(case.delivered) != 1:
            yield case.all
        elif case.outcomes and _answer(case.outcomes[0]) != _answer(case.delivered[0]):
            yield (case.outcomes[0], case.delivered[0])


def delivered_in_request_order(events: tuple[Event, ...], cases: Cases) -> Broken:
    """Deliveries follow the order of the requests."""
    delivered = [event for event in events if event.kind == "delivered"]
    for before, after in pairwise(delivered):
        if (before.round, before.position or 0) > (after.round, after.position or 0):
            yield (before, after)


def returned_once_after_started(events: tuple[Event, ...], cases: Cases) -> Broken:
    """A tool returns only after it was started, and once; a reservation is given back once, if it never ran."""
    for case in cases.values():
        if (case.released and (len(case.released) > 1 or not case.started or case.returned)) or (
            case.returned
            and (len(case.started) != 1 or len(case.returned) != 1 or case.returned[0].seq < case.started[0].seq)
        ):
            yield case.all


def rejected_never_started(events: tuple[Event, ...], cases: Cases) -> Broken:
    """A rejected call was never started and has no tool's outcome; a call starts at most once."""
    for case in cases.values():
        refused = [event for event in case.outcomes if event.kind == "rejected"]
        both = case.started and (refused or any(event.kind == "replayed" for event in case.outcomes))
        if both or len(case.started) > 1 or any(event.code not in _REFUSALS for event in refused):
            yield case.all


def started_as_requested(events: tuple[Event, ...], cases: Cases) -> Broken:
    """What is started is the tool that was asked for, by its exact name."""
    for case in cases.values():
        if case.started and case.requested and case.started[0].tool != case.requested[0].tool:
            yield (case.requested[0], case.started[0])


def within_budget(events: tuple[Event, ...], cases: Cases) -> Broken:
    """No limit is exceeded at any point of the run; a request beyond its limit is not served."""
    limits, spent = _setting(events, "limits"), dict[str, Fraction | int]()
    beyond: set[tuple[int, int | None]] = set()
    for event in events if limits else ():
        amounts: dict[str, Fraction | int] = {}
        if event.kind == "round_opened":
            amounts = {"rounds": 1}
        elif event.kind == "requested":
            spent["requests"] = spent.get("requests", 0) + 1
            if spent["requests"] > limits["requests"]:
                beyond.add((event.round, event.position))
        elif event.kind in ("started", "released"):
            sign = 1 if event.kind == "started" else -1
            amounts = {"executions": sign, f"tool {event.tool}": sign, "cost": sign * exact(event.cost or 0)}
        allowed = limits | {f"tool {tool}": count for tool, count in limits["per_tool"].items()}
        over = False
        for name, amount in amounts.items():
            spent[name] = spent.get(name, 0) + amount
            over |= amount > 0 and allowed.get(name) is not None and spent[name] > exact(allowed[name])
        too_late = limits["deadline_s"] is not None and (event.elapsed or 0) >= limits["deadline_s"]
        served = event.kind in ("started", "replayed") and (event.round, event.position) in beyond
        if over or served or (event.kind == "started" and too_late):
            yield (event,)


def nothing_after_stopped(events: tuple[Event, ...], cases: Cases) -> Broken:
    """After the run stopped nothing happens but the record of what came too late."""
    stops = [event.seq for event in events if event.kind == "stopped"]
    for event in events:
        if stops and event.seq > stops[0] and event.kind not in ("late", "stopped"):
            yield (event,)


def faithful_replay(events: tuple[Event, ...], cases: Cases) -> Broken:
    """A replay carries the outcome of an earlier call of the same id, content and principal."""
    scope, seen = _setting(events, "id_scope"), dict[tuple[Any, ...], set[tuple[Any, ...]]]()
    for event in events:
        content = (*_content(event), *_answer(event))
        if event.kind == "replayed" and content not in seen.get(_id(event, scope), ()):
            yield (event,)
        elif event.kind in ("returned", "cancel_requested"):
            seen.setdefault(_id(event, scope), set()).add(content)


def one_content_per_id(events: tuple[Event, ...], cases: Cases) -> Broken:
    """An id starts again only for the same content, and only after a failure."""
    scope, owner = _setting(events, "id_scope"), dict[tuple[Any, ...], Event]()
    ended: dict[tuple[int, int | None], Event] = {}
    for event in events:
        if event.kind in ("returned", "released"):
            ended[event.round, event.position] = event
        elif event.kind == "started":
            first = owner.setdefault(_id(event, scope), event)
            end = ended.get((first.round, first.position))
            again = end is not None and end.kind == "returned" and end.code not in _HOLDS_ID
            if first is not event and not (again and _content(first) == _content(event)):
                yield (first, event)
            owner[_id(event, scope)] = event


def permission_in_force(events: tuple[Event, ...], cases: Cases) -> Broken:
    """Nothing is started or replayed for a principal who lacks the permission at that moment."""
    for event in events:
        if event.kind in ("started", "replayed") and event.permission not in (None, *event.permissions):
            yield (event,)


def one_stop_at_the_end(events: tuple[Event, ...], cases: Cases) -> Broken:
    """A run stops exactly once."""
    stops = tuple(event for event in events if event.kind == "stopped")
    if len(stops) != 1:
        yield stops


def answered_only_if_stopped_so(events: tuple[Event, ...], cases: Cases) -> Broken:
    """There is an answer exactly if the run stopped with the reason `answered`."""
    told = [event for event in events if event.kind == "answered"]
    reasons = [event for event in events if event.kind == "stopped" and event.code == "answered"]
    if len(told) != len(reasons):
        yield (*told, *reasons)


LAWS: tuple[Callable[[tuple[Event, ...], Cases], Broken], ...] = (
    counted_without_gaps,
    one_outcome_per_request, one_delivery_per_request, delivered_in_request_order, returned_once_after_started,
    rejected_never_started,
    started_as_requested, within_budget, nothing_after_stopped, faithful_replay, one_content_per_id,
    permission_in_force, one_stop_at_the_end, answered_only_if_stopped_so,
)  # fmt: skip


def _settles(event: Event) -> bool:
    return event.kind in _SETTLES or (event.kind == "cancel_requested" and event.code is not None)


def _answer(event: Event) -> tuple[str | None, str | None]:
    return event.code, event.content


def _content(event: Event) -> tuple[str | None, ...]:
    """What makes two calls the same: tool, arguments, and who asks."""
    return (event.tool, event.version, event.digest, event.subject, event.tenant)


def _id(event: Event, scope: str | None) -> tuple[Any, ...]:
    return (event.call_id, event.round if scope == "response" else None)


def _setting(events: tuple[Event, ...], name: str) -> Any:
    opened = next((event.summary for event in events if event.kind == "round_opened"), None)
    return json.loads(opened)[name] if opened else None
