"""The one door: what each call spends, what is kept, and how outcomes are delivered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from helpers import (
    ALICE,
    Entered,
    Number,
    Ticks,
    broken,
    calls,
    codes,
    finished,
    guard,
    raising,
    tool,
)

from labkit import Call, NotFound, Principal, TemporaryFailure

GOOD, UNKNOWN, BROKEN = Call("1", "look", '{"n":1}'), Call("2", "Look", "{}"), Call("3", "look", "{")
LOCKED, NAMELESS, OTHER = Call("4", "locked", '{"n":1}'), Call("", "look", '{"n":1}'), Call("1", "look", '{"n":2}')


@pytest.mark.parametrize(
    ("call", "code", "requests", "executions"),
    [
        (GOOD, "ok", 1, 1),
        (UNKNOWN, "unknown_tool", 1, 0),
        (BROKEN, "invalid_arguments", 1, 0),
        (LOCKED, "forbidden", 1, 0),
        (NAMELESS, "invalid_call", 1, 0),
        (Call("5", "gone", '{"n":1}'), "not_found_or_not_accessible", 1, 1),
        (Call("5", "down", '{"n":1}'), "dependency_temporary", 1, 1),
        (Call("5", "bug", '{"n":1}'), "internal_error", 1, 1),
    ],
    ids=lambda value: getattr(value, "name", None) and f"{value.name} {value.arguments}",
)
def test_what_a_call_spends(call: Call, code: str, requests: int, executions: int) -> None:
    """Every call spends a request; only an admitted one spends an execution, whatever its outcome."""
    dispatcher = guard(
        tool(arguments=Number), tool(name="locked", arguments=Number, permission="key"),
        tool(raising(NotFound()), "gone", arguments=Number), tool(raising(TemporaryFailure()), "down",
        arguments=Number),
        tool(raising(KeyError()), "bug", arguments=Number),
    )  # fmt: skip
    assert codes(dispatcher.batch([call])) == [code]
    ledger = dispatcher.ledger
    assert (ledger.counts["rounds"], ledger.requests, ledger.executions, ledger.cost) == (
        1,
        requests,
        executions,
        executions,
    )
    assert ledger.executions_of("look") == (executions if call.name == "look" else 0)


def test_replays_conflicts_and_a_cut_off_response_spend_no_execution() -> None:
    """Five requests in two rounds, one execution."""
    dispatcher = guard(tool(arguments=Number))
    assert codes(dispatcher.batch([GOOD, GOOD, OTHER])) == ["ok", "again:ok", "id_conflict"]
    assert codes(dispatcher.batch([GOOD, UNKNOWN], complete=False)) == ["incomplete_response"] * 2
    assert dispatcher.ledger.counts == {
        "rounds": 2, "requested": 5, "rejected": 3, "replayed": 1, "admitted": 1, "executed": 1, "attempts": 0,
        "delivered": 5,
    }  # fmt: skip
    assert broken(finished(dispatcher)) == set()


def test_a_retry_of_a_downstream_is_an_attempt_and_no_execution() -> None:
    """Three attempts inside one execution are counted beside it."""

    def run(arguments: object, context: Any) -> str:
        for _ in range(3):
            context.attempted()
        return "third time lucky"

    dispatcher = guard(tool(run), limits={"executions": 1})
    assert codes(dispatcher.batch(calls("1"))) == ["ok"]
    counts = dispatcher.ledger.counts
    assert (counts["executed"], counts["attempts"]) == (1, 3)


@pytest.mark.parametrize(
    ("limits", "names", "told"),
    [
        ({"requests": 2}, "look look look", "ok ok requests"),
        ({"requests": 0}, "look", "requests"),
        ({"requests": 2}, "nope nope look", "name name requests"),
        ({"executions": 1}, "look dear look", "ok executions executions"),
        ({"executions": 0}, "look", "executions"),
        ({"executions": 1}, "nope look look", "name ok executions"),
        ({"per_tool": {"look": 1}}, "look look dear", "ok tool ok"),
        ({"per_tool": {"look": 0}}, "look dear", "tool ok"),
        ({"cost": 3}, "dear look dear", "ok ok cost"),
        ({"cost": 2.5}, "dear look", "ok cost"),
        ({"cost": 0}, "free look", "ok cost"),
        ({"cost": 0.3}, "tenth tenth tenth tenth", "ok ok ok cost"),
        ({"deadline_s": 0}, "look", "deadline"),
        ({"deadline_s": 2}, "slow slow slow", "ok ok deadline"),
        ({"executions": 1, "cost": 1, "per_tool": {"look": 1}}, "look look", "ok executions"),
    ],
    ids=str,
)
def test_a_refusal_says_which_budget(limits: dict[str, Any], names: str, told: str) -> None:
    """Each limit is exact, zero included, and the refusal's field names the one that is spent."""
    clock = Ticks()

    def slow(arguments: object) -> None:
        clock.now += 1

    offered = [tool(), tool(name="dear", cost=2), tool(name="free", cost=0), tool(name="tenth", cost=0.1),
               tool(Entered(slow), "slow")]  # fmt: skip
    dispatcher = guard(*offered, limits=limits, clock=clock)
    outcomes = dispatcher.batch([Call(str(n), name, "{}") for n, name in enumerate(names.split())])
    assert [outcome.field or outcome.code for outcome in outcomes] == told.split()
    assert {o.code for o in outcomes if o.field not in (None, "name")} == (
        {"budget_exhausted"} if len(outcomes) else set()
    )
    assert broken(finished(dispatcher)) == set()


def test_what_was_spent_in_fractions_passes_the_audit() -> None:
    """The gate and the audit add up fractions to the same sum."""
    dispatcher = guard(tool(cost=0.01), limits={"cost": 0.01 * 6 + 0.01})
    dispatcher.batch(calls(*"abcdefg"))
    assert broken(finished(dispatcher)) == set()


def test_a_clock_that_moves_between_the_check_and_the_start_breaks_no_law() -> None:
    """What was admitted in time is on record as started in time, on a clock that never stands still."""
    for step in range(1, 40):
        dispatcher = guard(clock=Ticks(1.0), limits={"deadline_s": step})
        dispatcher.batch(calls(*"abcdef"))
        assert broken(finished(dispatcher)) == set(), f"deadline {step}"


@pytest.mark.parametrize("on_limit", ["answer", "stop"])
def test_earlier_results_of_a_batch_are_never_lost(on_limit: Any) -> None:
    """What finished before a refusal is still there, in its place, whatever happens at the limit."""
    dispatcher = guard(tool(Entered(lambda a: a.n), arguments=Number), limits={"executions": 2}, on_limit=on_limit)
    outcomes = dispatcher.batch([Call(str(n), "look", f'{{"n":{n}}}') for n in range(4)])
    rest = ["budget_exhausted", "budget_exhausted" if on_limit == "answer" else "cancelled"]
    assert codes(outcomes) == ["ok", "ok", *rest]
    assert [outcome.data for outcome in outcomes] == [0, 1, None, None]
    assert dispatcher.closed == (None if on_limit == "answer" else "executions_exhausted")
    assert broken(finished(dispatcher)) == set()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
@pytest.mark.parametrize(("writes", "code"), [(False, "cancelled"), (True, "outcome_unknown")])
def test_what_is_no_exception_passes_through_after_the_books_are_closed(
    error: type[BaseException], writes: Any, code: str
) -> None:
    """Ctrl-C inside a tool leaves each request of the batch with an outcome and a delivery, and goes on."""
    dispatcher = guard(tool(), tool(raising(error("stop")), "halt", writes=writes))
    batch = [Call("1", "look", "{}"), Call("2", "halt", "{}"), Call("3", "look", "{}"), Call("", "look", "{}")]
    with pytest.raises(error):
        dispatcher.batch(batch)
    told = [(e.position, e.code) for e in dispatcher.ledger if e.kind == "delivered"]
    assert told == [(1, "ok"), (2, code), (3, "cancelled"), (4, "cancelled")]
    assert (dispatcher.closed, dispatcher.ledger.executions) == ("cancelled", 2)
    assert broken(finished(dispatcher, "cancelled")) == set()


@pytest.mark.parametrize("broken_from", [1, 2, 3])
def test_an_interrupt_while_asking_who_asks_loses_no_request(broken_from: int) -> None:
    """Whoever interrupts `principal()`, and however often, each request has an outcome and a delivery."""
    asked: list[int] = []

    def who() -> Principal:
        asked.append(1)
        if len(asked) >= broken_from:
            raise KeyboardInterrupt
        return ALICE

    dispatcher = guard(who=who)
    with pytest.raises(KeyboardInterrupt):
        dispatcher.batch(calls(*"abc"))
    assert dispatcher.ledger.counts["requested"] == dispatcher.ledger.counts["delivered"] == 3
    assert broken(finished(dispatcher, "cancelled")) == set()


class Unspeakable:
    """A value that cannot even be shown."""

    def __repr__(self) -> str:
        raise ValueError("no")


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    "junk", [nested(100_000), Unspeakable(), float("nan"), object()], ids=["deep", "unspeakable", "nan", "object"]
)
@pytest.mark.parametrize("field", ["id", "name", "arguments"])
def test_no_value_of_a_call_breaks_the_batch(field: str, junk: Any) -> None:
    """Whatever stands in a call, it is refused with an outcome, and its neighbours have theirs."""
    strange = Call(**{"id": "2", "name": "look", "arguments": "{}"} | {field: junk})
    refused = {"id": "invalid_call", "name": "unknown_tool", "arguments": "invalid_arguments"}[field]
    dispatcher = guard()
    assert codes(dispatcher.batch([*calls("1"), strange, *calls("3")])) == ["ok", refused, "ok"]
    assert broken(finished(dispatcher)) == set()


def test_a_gates_own_bug_closes_the_books_and_goes_on() -> None:
    """A gate that raises is a bug of the application: it is raised, and no request is left without an outcome."""
    dispatcher = guard(gates=[raising(ZeroDivisionError())])
    with pytest.raises(ZeroDivisionError):
        dispatcher.batch(calls(*"ab"))
    assert [e.code for e in dispatcher.ledger if e.kind == "delivered"] == ["cancelled"] * 2
    assert broken(finished(dispatcher)) == set()


@pytest.mark.parametrize(
    "principal", [raising(OSError("directory down")), lambda: None, lambda: "u-alice", Principal("")], ids=str
)
def test_an_application_that_cannot_say_who_asks_is_asked_by_nobody(principal: Any) -> None:
    """Then every call is forbidden, for a tool that is open to everybody too."""
    dispatcher = guard(who=principal)
    assert codes(dispatcher.batch(calls("1"))) == ["forbidden"]
    assert [event.subject for event in dispatcher.ledger if event.kind == "rejected"] == [""]


def test_permissions_that_are_no_texts_are_refused_or_nobodys() -> None:
    """A principal with junk among its permissions never breaks a batch."""
    dispatcher = guard(
        tool(permission="look"),
        who=lambda: Principal(
            "u",
            "A",
            frozenset(
                {
                    1,  # type: ignore[arg-type]
                    "x",
                }
            ),
        ),
    )  # type: ignore[arg-type]
    assert codes(dispatcher.batch(calls("1"))) == ["forbidden"]


def test_the_failure_to_ask_is_reported_and_a_failing_report_is_ignored() -> None:
    """The guarded log gets the exception; its own failure changes nothing."""
    logged: list[tuple[str, str]] = []

    def report(reference: str, error: BaseException) -> None:
        logged.append((reference, type(error).__name__))
        raise OSError("disk full")

    dispatcher = guard(tool(raising(KeyError("x"))), who=lambda: ALICE, report=report, run_id="run-7")
    assert codes(dispatcher.batch(calls("1"))) == ["internal_error"]
    nobody = guard(who=raising(LookupError()), report=report)
    assert codes(nobody.batch(calls("1"))) == ["forbidden"]
    assert logged == [("run-7.1.1", "KeyError"), ("principal", "LookupError")]


def test_events_carry_seconds_since_the_run_began_if_there_is_a_clock() -> None:
    """The host's clock starts anywhere; the ledger counts from the start of the run."""
    clock = Ticks()
    clock.now = 1_000.5
    timed = guard(clock=clock)
    clock.now = 1_003.0
    timed.batch(calls("1"))
    assert {event.elapsed for event in timed.ledger} == {2.5}
    timeless = guard()
    timeless.batch(calls("1"))
    assert {event.elapsed for event in timeless.ledger} == {None}


def test_a_tool_is_told_who_asks_and_what_time_is_left() -> None:
    """The context gives the principal judged at admission and the rest of the deadline, never below zero."""
    clock, seen = Ticks(), list[Any]()

    def run(arguments: object, context: Any) -> None:
        seen.append((context.principal, context.remaining_s(), context.cancelled()))
        clock.now += 9
        seen.append(context.remaining_s())

    guard(tool(run), clock=clock, limits={"deadline_s": 4}).batch(calls("1"))
    guard(tool(run), clock=clock).batch(calls("1"))
    assert seen == [(ALICE, 4.0, False), 0.0, (ALICE, None, False), None]
