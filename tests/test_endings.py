"""Runs that somebody else ends, and calls that are hard to look at."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import pytest
from helpers import ALICE, Anything, Entered, Ticks, broken, calls, codes, guard, kinds, raising, says, tool

from labkit import Call, Dispatcher, Host, Limits, OutOfOrder, Principal, Response, Tool, drive, run

PATIENCE_S = 10


def test_driving_a_stopped_dispatcher_is_refused() -> None:
    """A new user request is a new run: nothing is asked and nothing recorded."""
    dispatcher = guard()
    drive(says("done"), dispatcher)
    events = dispatcher.ledger.events
    with pytest.raises(RuntimeError, match="a new user request is a new run"):
        drive(raising(AssertionError("asked")), dispatcher)
    assert dispatcher.ledger.events == events


@pytest.mark.parametrize(
    ("then", "told"),
    [(calls("1", "2"), ["cancelled", "cancelled"]), ("here is the answer", [])],
    ids=["calls", "answer"],
)
def test_closing_while_the_model_thinks_ends_the_run_without_an_answer(then: Any, told: list[str]) -> None:
    """What the model says after the user has given up starts nothing and is not the answer."""
    thinking, closed, entered = threading.Event(), threading.Event(), Entered()
    dispatcher = guard(tool(entered))

    def model(messages: object) -> Response:
        thinking.set()
        assert closed.wait(PATIENCE_S)
        return says(then)(messages)

    def user_gives_up() -> None:
        assert thinking.wait(PATIENCE_S)
        dispatcher.close("cancelled")
        closed.set()

    user = threading.Thread(target=user_gives_up)
    user.start()
    done = drive(model, dispatcher)
    user.join(PATIENCE_S)
    assert (done.stop, done.answer, codes(r.outcome for r in done.results)) == ("cancelled", None, told)
    assert entered.seen == []
    assert broken(done.ledger) == set()


def test_closing_while_a_tool_runs_ends_the_run_there() -> None:
    """The round is answered, and the model is not asked again."""
    dispatcher = guard(tool(Entered(lambda arguments: dispatcher.close("cancelled"))))
    done = drive(says(calls("1", "2"), "never said"), dispatcher)
    assert (done.stop, codes(r.outcome for r in done.results)) == ("cancelled", ["cancelled", "cancelled"])
    assert kinds(done.ledger, "round_opened", "late") == ["round_opened", "late"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_the_model_leaves_a_whole_ledger(error: type[BaseException]) -> None:
    """The caller sees the interrupt, and the ledger ends as cancelled."""
    dispatcher = guard()
    script = iter([Response(calls("1"))])
    with pytest.raises(error):
        drive(lambda messages: next(script, None) or raising(error())(), dispatcher)
    assert [(e.kind, e.code) for e in dispatcher.ledger][-2:] == [("round_opened", None), ("stopped", "cancelled")]
    assert broken(dispatcher.ledger) == set()


def test_an_interrupt_in_a_tool_leaves_a_whole_ledger() -> None:
    """Each request of the batch is answered before the interrupt goes on."""
    dispatcher = guard(tool(raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        drive(says(calls("1", "2")), dispatcher)
    assert dispatcher.ledger.counts["delivered"] == 2
    assert broken(dispatcher.ledger) == set()


def test_a_gate_order_that_cannot_work_is_raised_to_the_caller() -> None:
    """It is the application's mistake, not the model's; the ledger is whole."""
    dispatcher = guard(gates=[])
    with pytest.raises(OutOfOrder):
        drive(says(calls("1")), dispatcher)
    assert broken(dispatcher.ledger) == set()


def test_a_call_that_cannot_be_shown_does_not_break_the_run() -> None:
    """A name nested too deeply to print is an unknown tool like any other."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    done = run(says([*calls("1"), Call("2", deep, "{}")], "done"), Host([tool()], ALICE))
    assert (done.stop, codes(r.outcome for r in done.results)) == ("answered", ["ok", "unknown_tool"])


def test_rounds_opened_by_hand_are_limited_too() -> None:
    """A dispatcher without a loop keeps its limit of rounds, or the audit would name it."""
    dispatcher = guard(limits={"rounds": 1})
    with suppress(RuntimeError):
        for _ in range(2):
            dispatcher.batch(calls("1"))
    dispatcher.stop("rounds_exhausted")
    assert broken(dispatcher.ledger) == set()


def test_a_new_request_has_fresh_counts() -> None:
    """Limits are for one run: the same host begins again with everything unspent."""
    host = Host([tool()], ALICE)
    for _ in range(2):
        done = run(says(calls("1"), "done"), host, Limits(executions=1))
        assert (codes(r.outcome for r in done.results), done.stop) == (["ok"], "answered")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Limits(rounds=-1), ValueError),
        (lambda: Limits(requests=True), TypeError),
        (lambda: Limits(executions=1.0), TypeError),
        (lambda: Limits(executions="3"), TypeError),
        (lambda: Limits(per_tool={"look": -1}), ValueError),
        (lambda: Limits(per_tool=[("look", 1)]), TypeError),
        (lambda: Limits(deadline_s=float("nan")), ValueError),
        (lambda: Limits(deadline_s=True), TypeError),
        (lambda: Limits(cost=float("inf")), ValueError),
        (lambda: Limits(cost=-0.1), ValueError),
        (lambda: Limits(cost=10**400), (ValueError, TypeError)),
        (lambda: Principal(None), TypeError),
        (lambda: Principal("u", 5), TypeError),
        (lambda: Principal("u", None, "read"), TypeError),
        (lambda: Tool("", "1", Anything, print), ValueError),
        (lambda: Tool(None, "1", Anything, print), ValueError),
        (lambda: Tool("t", 1, Anything, print), TypeError),
        (lambda: Tool("t", "1", dict, print), TypeError),
        (lambda: Tool("t", "1", Anything, print, returns=dict), TypeError),
        (lambda: Tool("t", "1", Anything(v=1), print), TypeError),
        (lambda: Tool("t", "1", Anything, None), TypeError),
        (lambda: Tool("t", "1", Anything, print, cost=-1), ValueError),
        (lambda: Tool("t", "1", Anything, print, result_chars=1.5), TypeError),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(make: Any, error: Any) -> None:
    """Limits, principals and tools are judged when they are made."""
    with pytest.raises(error):
        make()


def test_limits_cannot_be_changed_and_are_told_as_plain_values() -> None:
    """Neither the mapping that was given nor the one inside can be altered later."""
    given = {"look": 1}
    limits = Limits(per_tool=given)
    given["look"] = 99
    with pytest.raises(TypeError):
        limits.per_tool["look"] = 99  # type: ignore[index]
    assert limits.as_dict() == {"rounds": 8, "requests": 50, "executions": 20, "per_tool": {"look": 1},
    "deadline_s": None,
                                "cost": None}  # fmt: skip


def test_a_dispatcher_over_no_tools_refuses_every_name() -> None:
    """An empty allowlist allows nothing."""
    assert codes(Dispatcher(Host([], ALICE)).batch(calls("1"))) == ["unknown_tool"]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"tools": [tool(), tool()]}, "two tools"),
        ({"limits": Limits(per_tool={"peek": 1})}, "per_tool limits 'peek'"),
        ({"limits": Limits(deadline_s=1)}, "a deadline needs a host with a clock"),
        ({"id_scope": "session"}, "not an option"),
        ({"on_limit": "continue"}, "not an option"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(parts: dict[str, Any], said: str) -> None:
    """Each wrong declaration is a ValueError that says what is wrong."""
    tools, limits = parts.pop("tools", [tool()]), parts.pop("limits", None)
    with pytest.raises(ValueError, match=said):
        Dispatcher(Host(tools, ALICE), limits, **parts)


def test_closing_cancels_what_waits_in_request_order() -> None:
    """The ledger of a closed run does not depend on chance."""
    dispatcher = guard()
    dispatcher.open_round()
    for place, call in enumerate(calls(*"abcdefghijkl"), 1):
        dispatcher.admit(call, place)
    dispatcher.close("cancelled")
    cancelled = [event.position for event in dispatcher.ledger if event.kind == "cancel_requested" and event.position]
    assert cancelled == list(range(1, 13))


def test_a_batch_holds_calls_and_nothing_else() -> None:
    """What is no `Call` is the caller's mistake, and nothing of the batch is recorded."""
    dispatcher = guard()
    with pytest.raises(TypeError, match="Calls and nothing else"):
        dispatcher.batch([*calls("1"), {"id": "2"}])  # type: ignore[list-item]
    assert kinds(dispatcher.ledger) == []


def test_no_attempt_begins_past_the_deadline() -> None:
    """A tool that retries a service ends with the deadline: a passing fault, and the last attempt is on record."""
    clock = Ticks()

    def find(arguments: object, context: Any) -> None:
        while True:
            context.attempted()
            clock.now += 1

    dispatcher = guard(tool(find), clock=clock, limits={"deadline_s": 2.5})
    assert codes(dispatcher.batch(calls("1"))) == ["dependency_temporary"]
    assert dispatcher.ledger.counts["attempts"] == 3
