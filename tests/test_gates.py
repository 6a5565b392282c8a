"""The order of the gates is the lesson: each one removed, and each two neighbours swapped, changes a named scenario."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import ALICE, Entered, ask, broken, codes, finished, guard, played, tool

from labkit import (
    GATES,
    Call,
    Ledger,
    Limits,
    OutOfOrder,
    Principal,
    Request,
    State,
)
from labkit.gates import Gate, arguments, authorization, execution_budget, replay
from labkit.workbook.scenarios import BadScenario

NAMES = ("request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget")
LENGTH = ask("length", text="Java")
READ = ask("read_notice", notice_id="D1")
NO_PERMISSION: dict[str, Any] = {"permissions": []}

SCENARIOS: dict[str, dict[str, Any]] = {
    "one call too many": {"turns": [[LENGTH, ask("length", "2", text="SQL")]], "limits": {"requests": 1}},
    "one call": {"turns": [[LENGTH]]},
    "a read without permission": {"turns": [[READ]], "world": "notices", "principal": NO_PERMISSION},
    "the same id with other content": {"turns": [[LENGTH, ask("length", text="SQL")]]},
    "one execution too many": {"turns": [[LENGTH, ask("length", "2", text="SQL")]], "limits": {"executions": 1}},
    "a call without an id over the limit": {"turns": [[LENGTH | {"id": ""}]], "limits": {"requests": 0}},
    "an unknown tool without an id": {"turns": [[{"id": "", "name": "size", "arguments": "{}"}]]},
    "bad arguments without permission": {"turns": [[READ | {"arguments": "{}"}]], "world": "notices",
                                         "principal": NO_PERMISSION},
    "permission revoked before the replay": {
        "turns": [{"calls": [READ]}, {"calls": [READ], "principal": NO_PERMISSION}], "world": "notices"},
    "a replay when executions are spent": {"turns": [[LENGTH, LENGTH]], "limits": {"executions": 1}},
}  # fmt: skip


def without(name: str) -> tuple[str, ...]:
    return tuple(gate for gate in NAMES if gate != name)


def swapped(first: str) -> tuple[str, ...]:
    place = NAMES.index(first)
    return (*NAMES[:place], NAMES[place + 1], first, *NAMES[place + 2 :])


# change, scenario, codes in the right order, codes with the change (or the gate that must come first), laws then broken
REMOVED = [
    ("request_budget", "one call too many", "ok budget_exhausted", "ok ok", {"within_budget"}),
    ("call_id", "one call", "ok", "call_id", set()),
    ("allowlist", "one call", "ok", "allowlist", set()),
    ("arguments", "one call", "ok", "arguments", set()),
    ("authorization", "a read without permission", "forbidden", "ok", {"permission_in_force"}),
    ("replay", "the same id with other content", "ok id_conflict", "ok ok", {"one_content_per_id"}),
    ("execution_budget", "one execution too many", "ok budget_exhausted", "ok ok", {"within_budget"}),
]
SWAPPED = [
    ("request_budget", "a call without an id over the limit", "budget_exhausted", "invalid_call", set()),
    ("call_id", "an unknown tool without an id", "invalid_call", "unknown_tool", set()),
    ("allowlist", "one call", "ok", "allowlist", set()),
    ("arguments", "bad arguments without permission", "invalid_arguments", "forbidden", set()),
    ("authorization", "permission revoked before the replay", "ok forbidden", "ok again:ok", {"permission_in_force"}),
    ("replay", "a replay when executions are spent", "ok again:ok", "ok budget_exhausted", set()),
]
CHANGES = [(f"without {row[0]}", without(row[0]), *row[1:]) for row in REMOVED]
CHANGES += [(f"{row[0]} after its follower", swapped(row[0]), *row[1:]) for row in SWAPPED]


@pytest.mark.parametrize(
    ("change", "order", "scenario", "right", "changed", "laws"), CHANGES, ids=[c[0] for c in CHANGES]
)
def test_each_gate_removed_or_swapped_changes_a_scenario(
    change: str, order: tuple[str, ...], scenario: str, right: str, changed: str, laws: set[str]
) -> None:
    """The right order gives the codes on the left; the changed one gives other codes, or says what must come first."""
    parts = dict(SCENARIOS[scenario])
    turns = parts.pop("turns")
    good = played(*turns, **parts)
    assert codes(r.outcome for r in good.run.results) == right.split()
    assert good.violations == ()
    if changed in NAMES:
        with pytest.raises(BadScenario, match=f"the gate '{changed}' must come first"):
            played(*turns, gates=order, **parts)
    else:
        other = played(*turns, gates=order, **parts)
        assert codes(r.outcome for r in other.run.results) == changed.split()
        assert broken(other.run.ledger) == laws


def test_every_gate_and_every_pair_of_neighbours_is_tried() -> None:
    """The gates are the seven of the design, and no removal and no swap is missing above."""
    assert tuple(gate.__name__ for gate in GATES) == NAMES
    assert [row[0] for row in REMOVED] == list(NAMES)
    assert [row[0] for row in SWAPPED] == list(NAMES[:-1])


def test_a_revoked_permission_leaves_the_data_untouched() -> None:
    """A refused call does not enter the data; with the gate removed the spy sees it entered."""
    parts = dict(SCENARIOS["a read without permission"])
    turns = parts.pop("turns")
    assert played(*turns, **parts).world.spy.entries == 0
    assert played(*turns, gates=without("authorization"), **parts).world.spy.records == {"D1"}


def judged(*, claimed: Any = "1", name: Any = "look", text: Any = "{}", who: Principal = ALICE) -> Request:
    return Request(Call(claimed, name, text), 1, 1, who)


def state(**limits: Any) -> State:
    return State({"look": tool(permission="look")}, Limits(**limits), Ledger(), lambda: 0.0)


def through(request: Request, at: State, *gates: Gate) -> Request:
    assert [gate(request, at) for gate in gates] == [None] * len(gates)
    return request


@pytest.mark.parametrize(
    ("gate", "first"),
    [(arguments, "allowlist"), (authorization, "allowlist"), (replay, "call_id"), (execution_budget, "allowlist")],
)
def test_a_gate_that_comes_too_early_says_which_must_come_first(gate: Gate, first: str) -> None:
    """A fact that nothing has established yet is no reason to guess."""
    with pytest.raises(OutOfOrder, match=f"the gate '{first}' must come first"):
        gate(judged(), state())


def test_replay_before_the_arguments_are_read_is_out_of_order() -> None:
    """Memory compares content, so the arguments come first, whether or not the id is known already."""
    order = [GATES[n] for n in (0, 1, 2, 5, 3, 4, 6)]
    dispatcher = guard(gates=order)
    with pytest.raises(OutOfOrder, match="the gate 'arguments' must come first"):
        dispatcher.batch([Call("1", "look", "{}"), Call("1", "look", "{}")])
    assert broken(finished(dispatcher)) == set()


def test_a_request_has_no_other_facts() -> None:
    """A name that is no fact is an ordinary missing attribute."""
    with pytest.raises(AttributeError, match="password"):
        judged().password  # noqa: B018


def test_a_run_without_gates_is_out_of_order_and_its_ledger_is_whole() -> None:
    """Nothing is entered when no gate has established anything."""
    entered = Entered()
    dispatcher = guard(tool(entered), gates=[])
    with pytest.raises(OutOfOrder):
        dispatcher.batch([Call("1", "look", "{}"), Call("2", "look", "{}")])
    assert entered.seen == []
    assert broken(finished(dispatcher)) == set()


@pytest.mark.parametrize(
    "limits", [{}, {"executions": 0}, {"per_tool": {"look": 0}}, {"cost": 0}, {"deadline_s": 0}], ids=str
)
@pytest.mark.parametrize(
    "parts",
    [{}, {"claimed": ""}, {"name": "Look"}, {"text": "{"}, {"who": Principal("u")}, {"claimed": "known"},
     {"claimed": "other"}, {"claimed": "running"}],
    ids=str,
)  # fmt: skip
def test_gates_are_pure(parts: dict[str, Any], limits: dict[str, Any]) -> None:
    """Asked twice each gate says the same, and the state is as it was."""
    at = state(**limits)
    dispatcher = guard(tool(permission="look"))
    dispatcher.batch([Call("known", "look", "{}")])
    (started,) = dispatcher.state.owners.values()
    at.owners |= {"known": started, "other": (*started[:10], b"other", *started[11:]), "running": started}
    at.memory |= {"known": dispatcher.state.memory["known"], "running": judged(claimed="running")}
    request = judged(**parts)
    request.offer = started[8]
    memory, events = dict(at.memory), at.ledger.events
    for gate in GATES:
        verdicts = [gate(request, at) for _ in range(2)]
        assert verdicts[0] == verdicts[1]
        assert (at.memory, at.ledger.events, request.outcome, request.started) == (memory, events, None, False)
        if verdicts[0] is not None:
            break


@pytest.mark.parametrize(
    "claimed",
    [None, 7, True, 1.0, b"1", ["1"], {"id": "1"}, "", " ", "\u3000", "\u200b", "\u2060\ufeff", " 1", "1 ",
    "\u200b1", "1\u200b",
     "1\n", "a\nb", "a\x00b", "a\x7fb", "a\x85b", "a\u2028b", "\ud800", "a\udfffb", "x" * 129, "号" * 129],
    ids=repr,
)  # fmt: skip
def test_an_id_that_cannot_be_paired_is_invalid(claimed: Any) -> None:
    """Not text, blank to a reader, padded, too long or unreadable: refused, naming the id, with nothing entered."""
    entered = Entered()
    dispatcher = guard(tool(entered))
    (outcome,) = dispatcher.batch([Call(claimed, "look", "{}")])
    assert (outcome.code, outcome.field, outcome.call_id) == ("invalid_call", "id", claimed)
    assert entered.seen == []
    assert broken(finished(dispatcher)) == set()


@pytest.mark.parametrize("claimed", ["1", "0", "x" * 128, "号" * 128, "调用-1", "a b", "call_é", "=1+1", "None"])
def test_an_id_that_a_reader_can_see_is_kept_as_it_is(claimed: str) -> None:
    """Up to 128 characters of any script are an id."""
    (outcome,) = guard().batch([Call(claimed, "look", "{}")])
    assert (outcome.code, outcome.call_id) == ("ok", claimed)


@pytest.mark.parametrize(
    "name",
    ["l\u043eok", "\uff4cook", "Look", "LOOK", "look ", " look", "look\n", "lo\u200bok", "loo", "looks",
    "functions.look", "look()",
     "", "__class__", "look\x00", "\ud800", None, 5, True, ["look"], {"look": "look"}, ("look",), b"look"],
    ids=repr,
)  # fmt: skip
def test_likeness_is_no_permission(name: Any) -> None:
    """A name that is not, character for character, on the allowlist is unknown, and nothing is entered."""
    entered = Entered()
    dispatcher = guard(tool(entered))
    (outcome,) = dispatcher.batch([Call("1", name, "{}")])
    assert (outcome.code, outcome.field) == ("unknown_tool", "name")
    assert entered.seen == []
    assert broken(finished(dispatcher)) == set()
