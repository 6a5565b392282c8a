"""Threads on one dispatcher: what races for the same thing is decided once, and nobody waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from helpers import ALICE, Anything, Entered, broken, calls, codes, finished, guard, kinds, tool

from labkit import GATES, Call, Cancelled, Dispatcher, Outcome, Principal, Request, State

PATIENCE_S = 10
"""Longest a test waits for another thread: only ever reached when something is wrong."""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


class Slow:
    """A tool's function that says when it was entered, and ends when it is let go."""

    def __init__(self, found: object = "done") -> None:
        self.entered, self.go, self.found = threading.Event(), threading.Event(), found
        self.contexts: list[Any] = []

    def __call__(self, arguments: object, context: Any) -> object:
        self.contexts.append(context)
        self.entered.set()
        assert self.go.wait(PATIENCE_S)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def admitted(dispatcher: Dispatcher, *proposed: Call) -> list[Request]:
    dispatcher.open_round()
    return [dispatcher.admit(call, place) for place, call in enumerate(proposed, 1)]


def test_of_threads_racing_for_the_last_execution_exactly_one_wins(pool: ThreadPoolExecutor) -> None:
    """A thousand times, four threads ask for what is left for one: one enters, three are refused."""
    together = threading.Barrier(4)

    def race(dispatcher: Dispatcher, call: Call, place: int) -> Request:
        together.wait(PATIENCE_S)
        request = dispatcher.admit(call, place)
        if request.outcome is None:
            dispatcher.perform(request)
        return request

    for limits in ({"executions": 1}, {"per_tool": {"look": 1}}, {"cost": 1}, {"executions": 1, "cost": 9}) * 250:
        entered = Entered()
        dispatcher = guard(tool(entered), limits=limits)
        dispatcher.open_round()
        racing = [pool.submit(race, dispatcher, call, n) for n, call in enumerate(calls(*"abcd"), 1)]
        requests = [one.result(PATIENCE_S) for one in racing]
        outcomes = dispatcher.deliver(requests)
        assert sorted(codes(outcomes)) == ["budget_exhausted"] * 3 + ["ok"]
        assert (len(entered.seen), dispatcher.ledger.executions) == (1, 1)
        assert broken(finished(dispatcher)) == set()


def test_equal_calls_racing_enter_the_tool_once(pool: ThreadPoolExecutor) -> None:
    """Two hundred times, four threads bring the same call: one runs it, three share its outcome."""
    together = threading.Barrier(4)

    def race(dispatcher: Dispatcher, call: Call, place: int) -> Request:
        together.wait(PATIENCE_S)
        request = dispatcher.admit(call, place)
        dispatcher.perform(request)
        return request

    for _ in range(200):
        entered = Entered()
        dispatcher = guard(tool(entered))
        dispatcher.open_round()
        racing = [pool.submit(race, dispatcher, call, n) for n, call in enumerate(calls(*"aaaa"), 1)]
        outcomes = dispatcher.deliver([one.result(PATIENCE_S) for one in racing])
        assert sorted(codes(outcomes)) == ["again:ok"] * 3 + ["ok"]
        assert len(entered.seen) == 1
        assert broken(finished(dispatcher)) == set()


@pytest.mark.parametrize(
    ("found", "told"),
    [("late", ["ok", "again:ok"]), (ValueError(), ["internal_error", "again:internal_error"])],
    ids=str,
)
def test_a_twin_of_a_running_call_waits_for_its_outcome(
    pool: ThreadPoolExecutor, found: object, told: list[str]
) -> None:
    """The second of two equal calls is not refused and does not run: it gets what the first gets, a failure too."""
    slow = Slow(found)
    dispatcher = guard(tool(slow))
    requests = admitted(dispatcher, *calls("a", "a"))
    first = pool.submit(dispatcher.perform, requests[0])
    assert slow.entered.wait(PATIENCE_S)
    second = pool.submit(dispatcher.perform, requests[1])
    assert not second.done()
    slow.go.set()
    assert codes([first.result(PATIENCE_S), second.result(PATIENCE_S)]) == told
    dispatcher.deliver(requests)
    assert len(slow.contexts) == 1
    assert broken(finished(dispatcher)) == set()


def test_another_content_under_the_id_of_a_running_call_is_a_conflict_at_once(pool: ThreadPoolExecutor) -> None:
    """A running call owns its id: nobody waits to be told so."""
    slow = Slow()
    dispatcher = guard(tool(slow, arguments=Anything))
    requests = admitted(dispatcher, Call("a", "look", '{"v":1}'))
    running = pool.submit(dispatcher.perform, requests[0])
    assert slow.entered.wait(PATIENCE_S)
    requests.append(dispatcher.admit(Call("a", "look", '{"v":2}'), 2))
    assert codes([requests[1].outcome]) == ["id_conflict"]
    slow.go.set()
    running.result(PATIENCE_S)
    dispatcher.deliver(requests)
    assert broken(finished(dispatcher)) == set()


@pytest.mark.parametrize(("writes", "code"), [(False, "cancelled"), (True, "outcome_unknown")])
def test_closing_while_a_call_runs(pool: ThreadPoolExecutor, writes: Any, code: str) -> None:
    """A running read is `cancelled`, a write `outcome_unknown`; its late result is recorded, never delivered."""
    slow = Slow("a result nobody waits for")
    dispatcher = guard(tool(slow, writes=writes), tool(name="next"))
    requests = admitted(dispatcher, *calls("a"), *calls("b", name="next"), *calls("a"))
    running = pool.submit(dispatcher.perform, requests[0])
    assert slow.entered.wait(PATIENCE_S)
    twin = pool.submit(dispatcher.perform, requests[2])
    dispatcher.close("cancelled")
    assert slow.contexts[0].cancelled()
    with pytest.raises(Cancelled):
        slow.contexts[0].attempted()
    assert twin.result(PATIENCE_S).code == "cancelled"
    outcomes = dispatcher.deliver(requests)
    assert codes(outcomes) == [code, "cancelled", "cancelled"]
    ledger = finished(dispatcher, "cancelled")
    slow.go.set()
    assert running.result(PATIENCE_S) == outcomes[0]
    assert [(e.position, e.code) for e in ledger if e.kind == "late"] == [(1, "ok")]
    assert [e.position for e in ledger if e.kind == "released"] == [2]
    assert (ledger.counts["admitted"], ledger.executions) == (2, 1)
    assert not any("nobody waits" in str(outcome) for outcome in outcomes)
    assert broken(ledger) == set()


def test_completion_in_any_order_is_delivered_in_request_order() -> None:
    """The second call ends first; the first is delivered first."""
    dispatcher = guard(tool(arguments=Anything))
    dispatcher.open_round()
    first, second = (dispatcher.admit(call, n) for n, call in enumerate(calls("c1", "c2", arguments='{"v":1}'), 1))
    dispatcher.perform(second)
    dispatcher.perform(first)
    assert [outcome.call_id for outcome in dispatcher.deliver([first, second])] == ["c1", "c2"]
    assert [e.call_id for e in dispatcher.ledger if e.kind == "returned"] == ["c2", "c1"]
    assert [e.call_id for e in dispatcher.ledger if e.kind == "delivered"] == ["c1", "c2"]
    assert broken(finished(dispatcher)) == set()


def test_a_permission_revoked_while_a_call_waits_for_its_turn_is_seen(pool: ThreadPoolExecutor) -> None:
    """Nothing slips between check and start: who asks is judged as of the reservation, not of the queue before it."""
    now, judging, go, asked = [ALICE], threading.Event(), threading.Event(), threading.Event()

    def hold(request: Request, state: State) -> None:
        if request.call.id == "a":
            judging.set()
            assert go.wait(PATIENCE_S)

    def who() -> Principal:
        if judging.is_set():
            asked.set()
        return now[0]

    dispatcher = guard(tool(permission="look"), who=who, gates=(hold, *GATES))
    dispatcher.open_round()
    first, second = calls("a", "b")
    one = pool.submit(dispatcher.admit, first, 1)
    assert judging.wait(PATIENCE_S)
    two = pool.submit(dispatcher.admit, second, 2)
    asked.wait(0.1)  # either it asks before its turn comes, or not yet
    now[0] = Principal("u-alice", "A")
    go.set()
    one.result(PATIENCE_S)
    assert codes([two.result(PATIENCE_S).outcome or dispatcher.perform(two.result())]) == ["forbidden"]


def test_a_queued_call_is_cancelled_without_entry_and_gives_its_reservation_back() -> None:
    """What provably never entered the tool costs nothing."""
    entered = Entered()
    dispatcher = guard(tool(entered, cost=2), limits={"executions": 1, "cost": 2})
    requests = admitted(dispatcher, *calls("a"))
    assert (dispatcher.ledger.executions, dispatcher.ledger.cost, dispatcher.ledger.executions_of("look")) == (1, 2, 1)
    dispatcher.close("cancelled")
    assert dispatcher.perform(requests[0]).code == "cancelled"
    assert (dispatcher.ledger.executions, dispatcher.ledger.cost, dispatcher.ledger.executions_of("look")) == (0, 0, 0)
    assert entered.seen == []
    dispatcher.deliver(requests)
    assert broken(finished(dispatcher, "cancelled")) == set()


def test_a_call_that_arrives_after_closing_is_cancelled_unread() -> None:
    """Nothing is judged any more, and each call has its outcome all the same."""
    dispatcher = guard()
    dispatcher.close("cancelled")
    assert codes(dispatcher.batch(calls("1", "", None))) == ["cancelled"] * 3
    assert kinds(dispatcher.ledger, "started", "rejected") == []
    assert broken(finished(dispatcher, "cancelled")) == set()


def test_closing_twice_is_closing_once() -> None:
    """The first reason stays."""
    dispatcher = guard()
    dispatcher.close("deadline_exceeded")
    dispatcher.close("cancelled")
    assert dispatcher.closed == "deadline_exceeded"
    assert kinds(dispatcher.ledger) == ["cancel_requested"]


def test_a_tool_that_hears_of_the_cancellation_ends_and_its_end_is_late(pool: ThreadPoolExecutor) -> None:
    """A cooperative tool stops at its next attempt; the answer was given already."""

    def run(arguments: object, context: Any) -> None:
        context.attempted()
        dispatcher.close("cancelled")
        context.attempted()

    dispatcher = guard(tool(run))
    assert codes(dispatcher.batch(calls("1"))) == ["cancelled"]
    assert dispatcher.ledger.counts["attempts"] == 1
    assert kinds(dispatcher.ledger, "late") == ["late"]
    assert broken(finished(dispatcher, "cancelled")) == set()


def test_the_first_settle_wins() -> None:
    """A second outcome is recorded as late and changes nothing."""
    dispatcher = guard()
    (request,) = admitted(dispatcher, *calls("a"))
    first, second = Outcome("a", "ok", "1"), Outcome("a", "internal_error")
    assert dispatcher.settle(request, first) is first
    assert dispatcher.settle(request, second) is first
    assert dispatcher.perform(request) is first
    assert dispatcher.deliver([request]) == [first]
    assert kinds(dispatcher.ledger, "returned", "late") == ["returned", "late"]
    assert broken(finished(dispatcher)) == set()


def test_an_outcome_for_another_call_is_refused_and_nothing_is_recorded() -> None:
    """Results are paired by call, never by luck."""
    dispatcher = guard()
    (request,) = admitted(dispatcher, *calls("a"))
    events = dispatcher.ledger.events
    with pytest.raises(ValueError, match="an outcome for 'b' cannot settle 'a'"):
        dispatcher.settle(request, Outcome("b", "ok", "1"))
    assert (dispatcher.ledger.events, request.outcome) == (events, None)


def test_signals_out_of_turn_are_refused_and_nothing_is_recorded() -> None:
    """Performing twice at once, delivering what has no outcome, going on after the end: each is a clear error."""
    dispatcher = guard(tool(Entered(lambda a: dispatcher.perform(request))))
    (request,) = admitted(dispatcher, *calls("a"))
    events = dispatcher.ledger.events
    with pytest.raises(RuntimeError, match="no outcome yet"):
        dispatcher.deliver([request])
    assert dispatcher.ledger.events == events
    assert dispatcher.perform(request).code == "internal_error"
    dispatcher.deliver([request])
    ledger = finished(dispatcher)
    events = ledger.events
    for signal in (lambda: dispatcher.stop("cancelled"), dispatcher.open_round, lambda: dispatcher.batch(calls("b")),
                   lambda: dispatcher.admit(*calls("b"), 2)):  # fmt: skip
        with pytest.raises(RuntimeError, match="this run has stopped"):
            signal()
    dispatcher.close("cancelled")
    assert ledger.events == events


def test_a_run_that_stops_with_a_call_open_never_enters_its_tool() -> None:
    """No tool is entered after `stopped`, also if nobody closed the run before."""
    entered = Entered()
    dispatcher = guard(tool(entered))
    (request,) = admitted(dispatcher, *calls("a"))
    try:
        dispatcher.stop("cancelled")
        dispatcher.perform(request)
    except RuntimeError:
        pass
    after = kinds(dispatcher.ledger)
    assert not dispatcher.stopped or entered.seen == []
    assert "returned" not in after[after.index("stopped") :] if "stopped" in after else True
