"""What the tests share: small tools, short runs, and a strategy for hostile scenarios. It holds no expectation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from labkit import Call, Dispatcher, Event, Host, Ledger, Limits, Outcome, Principal, Response, Tool, audit
from labkit.workbook.scenarios import Played, make_scenario, play

ALICE = Principal("u-alice", "A", frozenset({"look"}))
SECRET = "ARGVALUE_77"  # noqa: S105 - it guards nothing
"""Stands in arguments only, so that it must never stand in a ledger."""
CANARY = "CANARY"


class Nothing(BaseModel):
    """No arguments."""


class Number(BaseModel):
    n: int


class Anything(BaseModel):
    """`int | float` first, so that 1, 1.0, true and "1" can all be asked for and stay apart."""

    v: int | float | bool | str | list[Any] | dict[str, Any] | None


@dataclass
class Entered:
    """A tool's function that counts its entries and does what it was told to."""

    act: Callable[[Any], object] = lambda arguments: "done"
    seen: list[Any] = field(default_factory=list)

    def __call__(self, arguments: Any, context: Any) -> object:
        self.seen.append(arguments)
        return self.act(arguments)


def raising(error: BaseException) -> Callable[..., object]:
    """A function that raises `error`, whatever it is given."""

    def raise_it(*given: object) -> object:
        raise error

    return raise_it


def tool(run: Callable[[Any, Any], object] | None = None, name: str = "look", **options: Any) -> Tool:
    """A read without arguments, unless options say otherwise."""
    return Tool(name, options.pop("version", "1"), options.pop("arguments", Nothing), run or Entered(), **options)


def guard(*tools: Tool, who: Any = ALICE, clock: Any = None, report: Any = None, limits: Any = None,
          **options: Any) -> Dispatcher:  # fmt: skip
    """A dispatcher over tools; limits as a dict."""
    more = {} if report is None else {"report": report}
    return Dispatcher(Host(tools or (tool(),), who, clock, **more), Limits(**(limits or {})), **options)


def calls(*ids: Any, name: Any = "look", arguments: Any = "{}") -> list[Call]:
    """One call an id, all alike."""
    return [Call(claimed, name, arguments) for claimed in ids]


def ask(name: str, claimed: Any = "1", **arguments: Any) -> dict[str, Any]:
    """A call as a scenario writes it."""
    return {"id": claimed, "name": name, "arguments": json.dumps(arguments)}


def says(*responses: Sequence[Call] | str | Response) -> Callable[[object], Response]:
    """A model that plays calls, answers or whole responses, then answers with empty text."""
    rest = iter(responses)

    def model(messages: object) -> Response:
        told = next(rest, "")
        if isinstance(told, Response):
            return told
        return Response(answer=told) if isinstance(told, str) else Response(told)

    return model


def codes(outcomes: Iterable[Outcome]) -> list[str]:
    """Codes, a replayed one marked with `again:`."""
    return [("again:" if outcome.replayed else "") + outcome.code for outcome in outcomes]


def kinds(ledger: Ledger, *wanted: str) -> list[str]:
    """Kinds of events in order; with `wanted`, those alone."""
    return [event.kind for event in ledger if not wanted or event.kind in wanted]


def broken(ledger: Ledger) -> set[str]:
    """Names of the broken laws."""
    return {violation.law for violation in audit(ledger)}


def finished(dispatcher: Dispatcher, reason: Any = "no_progress") -> Ledger:
    """Stop the run and hand over its ledger."""
    dispatcher.stop(reason)
    return dispatcher.ledger


def played(*turns: Any, world: Any = "text", **parts: Any) -> Played:
    """Play turns, each a list of calls, an answer, or a whole turn."""
    whole = [
        turn if isinstance(turn, dict) else {"answer" if isinstance(turn, str) else "calls": turn} for turn in turns
    ]
    return play(make_scenario({"world": world, "turns": whole, **parts}))


def rebuilt(events: Iterable[Event]) -> Ledger:
    """A ledger of edited events, numbered anew."""

    return Ledger(replace(event, seq=place) for place, event in enumerate(events, 1))


class Ticks:
    """A clock under the test's hand; each reading moves it on by `step`."""

    def __init__(self, step: float = 0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        told = self.now
        self.now += self.step
        return told


TOOLS = ["length", "upper", "average", "search_notices", "read_notice", "list_tags", "get_merchant", "list_merchants"]
_IDS = ["1", "1", "2", "3", "call_1", None, 0, 7, 1.5, True, "", " ", "\u200b", " 1", "1\n", "a\nb", "x" * 128,
"x" * 129,
        "=1+1", "\u202ex", ["1"], {"id": "1"}]  # fmt: skip
_NAMES = [
    "Length",
    "length ",
    "lеngth",
    "ｌength",
    "functions.length",
    "get",
    "",
    None,
    5,
    ["length"],
    {"name": "length"},
    True,
]
_GOOD = [
    ("length", {"text": SECRET}), ("upper", {"text": f"{SECRET} ß"}), ("average", {"values": [1, 2]}),
    ("average", {"values": [1.0, 2]}), ("average", {"values": [10**400, 1]}),
    ("search_notices", {"query": "读书会", "published_from": None}),
    ("search_notices", {"query": f" {SECRET} ", "published_from": "2026-09-16"}),
    ("read_notice", {"notice_id": "D1"}), ("read_notice", {"notice_id": "D3"}), ("read_notice", {"notice_id": SECRET}),
    ("list_tags", {}), ("get_merchant", {"merchantId": 1001}), ("get_merchant", {"merchantId": 1002,
     "fields": ["name"]}),
    ("get_merchant", {"merchantId": 9999}), ("list_merchants", {"page_token": None, "page_size": 3}),
    ("list_merchants", {"page_token": SECRET, "page_size": 50}),
]  # fmt: skip
_BAD = ["", " ", "null", "[]", "{", "{}x", '{"text":"a","text":"b"}', '{"text":1}',
'{"text":"' + SECRET + '","extra":1}',
        '{"values":[NaN]}', '{"values":[1e999]}', '{"values":[' + "9" * 400 + ".0]}", "[" * 70 + "]" * 70,
        "```json\n{}\n```",
        '"{}"', '{"' + SECRET + '":1}', '{"text":"\\ud800"}', '{"text":"\\u0000"}', '{"merchantId":true}',
        '{"merchantId":1001.0}', '{"query":"\u200b","published_from":null}', '{"text":"' + "y" * 5000 + '"}',
        None, 0, True, {"text": SECRET}, [SECRET], ""]  # fmt: skip


_small = st.integers(0, 4)
_written = st.sampled_from([
    json.dumps, lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, indent=1, separators=("\t, ", " :\n")),
])  # fmt: skip
_good_call = st.builds(
    lambda claimed, pair, write: {"id": claimed, "name": pair[0], "arguments": write(pair[1])},
    st.sampled_from(_IDS[:5]), st.sampled_from(_GOOD), _written,
)  # fmt: skip
_bad_call = st.builds(
    lambda claimed, name, text: {"id": claimed, "name": name, "arguments": text},
    st.sampled_from(_IDS), st.sampled_from(TOOLS + _NAMES), st.sampled_from(_BAD + ["{}"] * 4),
)  # fmt: skip
_odd_call = st.builds(lambda call, claimed: call | {"id": claimed}, _good_call, st.sampled_from(_IDS))
_call = st.one_of(_good_call, _good_call, _good_call, _odd_call, _bad_call)
_who = st.fixed_dictionaries({}, optional={
    "subject": st.sampled_from(["u-alice", "u-carol", ""]), "tenant": st.sampled_from(["A", "B", None]),
    "permissions": st.sampled_from([None, [], ["notices:read"], ["merchant:read", "notices:search"]]),
})  # fmt: skip
_turn = st.one_of(
    st.fixed_dictionaries(
        {"calls": st.lists(_call, min_size=1, max_size=4)},
        optional={"complete": st.sampled_from([True, True, False]), "principal": _who},
    ),
    st.fixed_dictionaries(
        {"answer": st.sampled_from(["four", "", "\u200b", None])}, optional={"complete": st.booleans()}
    ),
)
_limits = st.fixed_dictionaries({}, optional={
    "rounds": _small, "requests": st.integers(0, 6), "executions": _small,
    "per_tool": st.dictionaries(st.sampled_from(TOOLS), st.integers(0, 2), max_size=3),
    "deadline_s": st.sampled_from([None, 0, 0.125, 0.3, 0.5, 1, 5]), "cost": st.sampled_from([None, 0, 1, 2.5, 4]),
})  # fmt: skip
_fault = st.fixed_dictionaries(
    {"tool": st.sampled_from(TOOLS), "raises": st.sampled_from(["temporary", "bug", "hang"])},
    optional={"entry": st.sampled_from([None, 1, 2])},
)
hostile = st.fixed_dictionaries(
    {"world": st.just(["text", "notices", "merchants"]), "turns": st.lists(_turn, max_size=5)},
    optional={
        "principal": _who, "limits": _limits, "on_limit": st.sampled_from(["stop", "answer"]),
        "id_scope": st.sampled_from(["run", "response"]), "when_turns_run_out": st.sampled_from(["end", "repeat"]),
        "faults": st.lists(_fault, max_size=3),
    },
)  # fmt: skip
"""Scenarios as plain values: everything a model, a principal, a tool and a limit may do wrong at once."""


Events = list[Event]
Edit = Callable[[Events], Events]


def _is(event: Event, kind: str, round: int, position: int | None) -> bool:
    return (event.kind, event.round, event.position) == (kind, round, position)


def at(events: Events, *which: Any) -> int:
    """Where the event of this kind, round and position is."""
    return next(n for n, event in enumerate(events) if _is(event, *which))


def change(*which: Any, **fields: object) -> Edit:
    """Change fields of the events of this kind, round and position."""
    return lambda events: [replace(event, **fields) if _is(event, *which) else event for event in events]


def of_request(round: int, position: int, **fields: object) -> Edit:
    """Change every event of one request."""
    return lambda events: [replace(e, **fields) if (e.round, e.position) == (round, position) else e for e in events]


def drop(*which: Any) -> Edit:
    return lambda events: [event for event in events if not _is(event, *which)]


def twice(*which: Any) -> Edit:
    return lambda events: [event for event in events for _ in range(1 + _is(event, *which))]


def before(kind: str, round: int, position: int | None, other: str, of_round: int, of_position: int | None) -> Edit:
    """Move one event to just before another."""

    def edit(events: Events) -> Events:
        moved = events[at(events, kind, round, position)]
        rest = [e for e in events if e is not moved]
        place = at(rest, other, of_round, of_position)
        return [*rest[:place], moved, *rest[place:]]

    return edit


def as_kind(kind: str, round: int, position: int | None, *new: str) -> Edit:
    """Put events of other kinds in the place of one."""

    def edit(events: Events) -> Events:
        place = at(events, kind, round, position)
        return [*events[:place], *(replace(events[place], kind=other) for other in new), *events[place + 1 :]]

    return edit


def last(*which: Any, **fields: object) -> Edit:
    """Copy one event to the very end."""
    return lambda events: [*events, replace(events[at(events, *which)], **fields)]


def limit(**limits: object) -> Edit:
    """Change the limits that the run says it is bound to."""

    def edit(events: Events) -> Events:
        told = json.loads(events[0].summary or "")
        told["limits"] |= limits
        return [replace(events[0], summary=json.dumps(told)), *events[1:]]

    return edit


def both(*edits: Edit) -> Edit:
    """One edit after another."""
    return lambda events: reduce(lambda done, edit: edit(done), edits, events)
