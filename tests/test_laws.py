"""The laws hold on every run of the engine, and `audit` sees each of them broken."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from helpers import (
    CANARY,
    SECRET,
    Edit,
    Entered,
    as_kind,
    ask,
    before,
    both,
    broken,
    calls,
    change,
    drop,
    guard,
    hostile,
    last,
    limit,
    of_request,
    played,
    rebuilt,
    tool,
    twice,
)  # fmt: skip
from hypothesis import HealthCheck, given, settings

from labkit import Event, Ledger
from labkit.laws import LAWS
from labkit.workbook.scenarios import make_scenario, play

steady = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@given(hostile)
@settings(steady, max_examples=2_000)
def test_every_run_of_the_engine_keeps_every_law(values: dict) -> None:
    """Whatever model, principal, tools and limits do, the audit of the run is empty and each request has its result."""
    shown = play(make_scenario(values))
    run = shown.run
    assert shown.violations == ()
    rounds = run.ledger.counts["rounds"]
    turns = [values["turns"][min(n, len(values["turns"]) - 1)] if values["turns"] else {} for n in range(rounds)]
    if values.get("when_turns_run_out", "end") == "end":
        turns = [turn if n < len(values["turns"]) else {} for n, turn in enumerate(turns)]
    asked = [
        (n, place, repr([call["id"], call["name"], call["arguments"]]))
        for n, turn in enumerate(turns, 1)
        for place, call in enumerate(turn.get("calls", ()), 1)
    ]
    told = [(r.round, r.position, repr([r.call.id, r.call.name, r.call.arguments])) for r in run.results]
    assert told == asked
    assert [repr(r.outcome.call_id) for r in run.results] == [repr(r.call.id) for r in run.results]
    kinds = [event.kind for event in run.ledger]
    assert kinds.count("stopped") == 1
    assert kinds[-1] == "stopped"
    assert run.ledger[-1].code == run.stop
    assert (run.answer is not None) == (run.stop == "answered")


@given(hostile)
@settings(steady, max_examples=800)
def test_the_counters_agree_and_nothing_secret_is_kept(values: dict) -> None:
    """Each request is settled in one way, and no argument, owner or planted secret is in the ledger."""
    run = play(make_scenario(values)).run
    counts, events = run.ledger.counts, run.ledger.events
    started = {(e.round, e.position) for e in events if e.kind == "started"}
    cancelled = [
        e for e in events if e.kind == "cancel_requested" and e.position and (e.round, e.position) not in started
    ]
    settled = counts["rejected"] + counts["replayed"] + counts["admitted"] + len(cancelled)
    assert counts["requested"] == settled == counts["delivered"] == len(run.results)
    assert counts["executed"] <= counts["admitted"]
    kept, read = run.ledger.to_jsonl(), "".join(result.text for result in run.results)
    assert not [word for word in (SECRET, CANARY, "SELECT", "u-bob", "D1", "Tea House") if word in kept]
    assert not [word for word in (CANARY, "SELECT", "/srv/", "u-bob", "owner", "志愿者") if word in read]
    assert all(json.loads(result.text)["code"] == result.outcome.code for result in run.results)


@given(hostile)
@settings(steady, max_examples=500)
def test_a_ledger_is_rebuilt_from_its_events(values: dict) -> None:
    """The events alone, and the same events written and read as JSON lines, give an equal ledger."""
    ledger = play(make_scenario(values)).run.ledger
    assert Ledger.from_jsonl(ledger.to_jsonl()) == ledger
    assert Ledger(ledger.events) == ledger


TALK = played(
    [ask("length", "a", text="Java"), ask("upper", "b", text="Java"), ask("shout", "c")],
    [ask("length", "a", text="Java")],
    "four",
    limits={"rounds": 3, "requests": 4, "executions": 2, "cost": 2, "deadline_s": 60},
).run.ledger
"""1.1 and 1.2 ran, 1.3 was refused, 2.1 is 1.1 again, and 3 answered."""
NOTICES = played(
    [ask("read_notice", "a", notice_id="D1")], [ask("read_notice", "a", notice_id="D1")], world="notices"
).run.ledger
"""1.1 ran, 2.1 is 1.1 again, and 3 was no progress."""
FAILED = played(
    [ask("length", "a", text="Java")], [ask("length", "a", text="Java")],
    faults=[{"tool": "length", "entry": 1, "raises": "temporary"}],
).run.ledger  # fmt: skip
"""1.1 failed for the moment, 2.1 ran under the same id, and 3 was no progress."""


def closed_run() -> Ledger:
    """1.1 was running and 1.2 had not begun when the run was closed; what 1.1 returned came too late."""

    def close(arguments: object) -> str:
        running.close("cancelled")
        return "too late"

    running = guard(tool(Entered(close)), limits={"executions": 2})
    running.open_round()
    requests = [running.admit(call, place) for place, call in enumerate(calls("a", "b"), 1)]
    for request in requests:
        running.perform(request)
    running.deliver(requests)
    running.stop("cancelled")
    return running.ledger


def without(gone: Callable[[Event], bool]) -> Edit:
    """Every event that is said to be gone is dropped."""
    return lambda events: [event for event in events if not gone(event)]


CLOSED = closed_run()
LATE = next(event for event in CLOSED if event.kind == "late")

# law -> what was planted, in which run, how, and the laws that are broken beside it
PLANTED: list[tuple[str, str, Ledger, Edit, set[str]]] = [
    ("one_outcome_per_request", "no outcome", TALK, drop("returned", 1, 2), set()),
    ("one_outcome_per_request", "rejected twice", TALK, twice("rejected", 1, 3), set()),
    ("one_outcome_per_request", "never requested", TALK, drop("requested", 1, 2), {"counted_without_gaps"}),
    ("one_outcome_per_request", "rejected before the request", TALK, before("rejected", 1, 3, "requested", 1,
     3), set()),
    ("one_outcome_per_request", "returned and cancelled", TALK,
     as_kind("returned", 1, 2, "returned", "cancel_requested"), set()),
    ("counted_without_gaps", "the first round was never opened", TALK, drop("round_opened", 1, None), set()),
    ("counted_without_gaps", "a round in the middle was never opened", TALK, drop("round_opened", 2, None), set()),
    ("counted_without_gaps", "all of a round is gone", TALK, without(lambda event: event.round == 2), set()),
    ("counted_without_gaps", "all of a round's only request is gone", TALK,
     without(lambda event: (event.round, event.position) == (2, 1)), set()),
    ("counted_without_gaps", "all of the first request is gone", TALK,
     without(lambda event: (event.round, event.position) == (1, 1)), {"faithful_replay"}),
    ("one_delivery_per_request", "not delivered", TALK, drop("delivered", 1, 2), set()),
    ("one_delivery_per_request", "delivered twice", TALK, twice("delivered", 1, 2), set()),
    ("one_delivery_per_request", "delivered with another's content", TALK, change("delivered", 1, 2,
     content="00" * 8), set()),
    ("one_delivery_per_request", "the late result delivered", CLOSED,
     change("delivered", 1, 1, code=LATE.code, content=LATE.content), set()),
    ("delivered_in_request_order", "out of order in a round", TALK, before("delivered", 1, 2, "delivered", 1,
     1), set()),
    ("delivered_in_request_order", "out of order over rounds", TALK, before("delivered", 1, 3, "round_opened",
     3, None), set()),
    ("returned_once_after_started", "never started", TALK, drop("started", 1, 2), set()),
    ("returned_once_after_started", "returned before it started", TALK, before("returned", 1, 2, "started", 1,
     2), set()),
    ("returned_once_after_started", "returned twice", TALK, twice("returned", 1, 2), {"one_outcome_per_request"}),
    ("rejected_never_started", "a refused call started", TALK, as_kind("rejected", 1, 3, "started", "rejected"),
     {"within_budget"}),
    ("rejected_never_started", "refused as ok", TALK,
     both(change("rejected", 1, 3, code="ok"), change("delivered", 1, 3, code="ok")), set()),
    ("rejected_never_started", "a replay started", FAILED, as_kind("returned", 2, 1, "replayed"), {"faithful_replay"}),
    ("rejected_never_started", "started twice", FAILED, twice("started", 1, 1),
     {"returned_once_after_started", "one_content_per_id"}),
    ("started_as_requested", "another tool than was asked for", TALK, change("started", 1, 2, tool="length"), set()),
    ("within_budget", "one execution too many", TALK, limit(executions=1), set()),
    ("within_budget", "one too many for the tool", TALK, limit(per_tool={"upper": 0}), set()),
    ("within_budget", "cost overspent", TALK, limit(cost=1.5), set()),
    ("within_budget", "one round too many", TALK, limit(rounds=2), set()),
    ("within_budget", "a call beyond the requests ran", TALK, limit(requests=1), set()),
    ("within_budget", "a call beyond the requests was replayed", TALK, limit(requests=3), set()),
    ("within_budget", "started at the deadline", TALK, change("started", 1, 2, elapsed=60.0), set()),
    ("within_budget", "overspent at a prefix, given back later", CLOSED, limit(executions=1), set()),
    ("nothing_after_stopped", "delivered after the end", TALK, before("stopped", 3, None, "delivered", 2, 1), set()),
    ("nothing_after_stopped", "started after the end", FAILED, last("started", 2, 1),
     {"rejected_never_started", "returned_once_after_started", "one_content_per_id"}),
    ("nothing_after_stopped", "a round after the end", TALK, both(limit(rounds=4), last("round_opened", 3,
     None)), {"counted_without_gaps"}),
    ("nothing_after_stopped", "answered after the end", TALK, before("stopped", 3, None, "answered", 3, None), set()),
    ("faithful_replay", "other content came back", TALK,
     both(change("replayed", 2, 1, content="00" * 8), change("delivered", 2, 1, content="00" * 8)), set()),
    ("faithful_replay", "another code came back", TALK,
     both(change("replayed", 2, 1, code="internal_error"), change("delivered", 2, 1, code="internal_error")), set()),
    ("faithful_replay", "replay of other arguments", TALK, change("replayed", 2, 1, digest="00" * 8), set()),
    ("faithful_replay", "replay of another tool", TALK, change("replayed", 2, 1, tool="upper"), set()),
    ("faithful_replay", "replay of another version", TALK, change("replayed", 2, 1, version="2"), set()),
    ("faithful_replay", "replay to another subject", TALK, change("replayed", 2, 1, subject="u-bob"), set()),
    ("faithful_replay", "replay to another tenant", TALK, change("replayed", 2, 1, tenant="B"), set()),
    ("faithful_replay", "replay of an id that never ran", TALK, change("replayed", 2, 1, call_id="z"), set()),
    ("one_content_per_id", "two contents under one id", TALK, change("started", 1, 2, call_id="a"), set()),
    ("one_content_per_id", "the same again after a success", NOTICES, as_kind("replayed", 2, 1, "started",
     "returned"), set()),
    ("one_content_per_id", "other content after a failure", FAILED, change("started", 2, 1, digest="00" * 8), set()),
    ("permission_in_force", "started under no permission", NOTICES, change("started", 1, 1, permissions=()), set()),
    ("permission_in_force", "replayed under a revoked permission", NOTICES,
     change("replayed", 2, 1, permissions=("notices:search",)), set()),
    ("one_stop_at_the_end", "no end", NOTICES, drop("stopped", 3, None), set()),
    ("one_stop_at_the_end", "two ends", NOTICES, twice("stopped", 3, None), set()),
    ("answered_only_if_stopped_so", "answered, but stopped otherwise", TALK,
     change("stopped", 3, None, code="rounds_exhausted"), set()),
    ("answered_only_if_stopped_so", "stopped as answered without an answer", TALK, drop("answered", 3, None), set()),
]  # fmt: skip


@pytest.mark.parametrize(("law", "what", "run", "edit", "beside"), PLANTED, ids=[f"{p[0]}: {p[1]}" for p in PLANTED])
def test_audit_names_a_planted_violation(law: str, what: str, run: Ledger, edit: Edit, beside: set[str]) -> None:
    """One edit of a real run's events breaks exactly the laws it should."""
    assert broken(run) == set()
    assert broken(rebuilt(edit(list(run.events)))) == {law} | beside


def test_every_law_has_a_planted_violation() -> None:
    """No law goes untried."""
    assert {law.__name__ for law in LAWS} == {planted[0] for planted in PLANTED}


def test_a_late_result_is_the_one_thing_allowed_after_the_end() -> None:
    """What comes after the run has stopped is recorded, and breaks no law."""
    assert broken(rebuilt(before("late", 1, 1, "stopped", 1, None)(list(CLOSED.events)))) == set()
    events = [event for event in CLOSED if event.kind != "late"]
    assert broken(rebuilt([*events, LATE])) == set()


@pytest.mark.parametrize(
    ("run", "edit"),
    [
        (FAILED, of_request(2, 1, tool="upper")),
        (FAILED, of_request(2, 1, subject="u-bob")),
        (TALK, as_kind("returned", 1, 1, "returned", "released")),
        (CLOSED, twice("released", 1, 2)),
    ],
    ids=["other tool after a failure", "other principal after a failure", "gave back what ran", "gave back twice"],
)
def test_audit_sees_an_id_reused_and_a_reservation_given_back_wrongly(run: Ledger, edit: Edit) -> None:
    """An id belongs to its tool and principal too, and only what never ran is given back, once."""
    assert broken(rebuilt(edit(list(run.events)))) != set()
