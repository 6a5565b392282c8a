"""Memory: the same call again is answered from it, anything else under the same id is a conflict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers import ALICE, Anything, Entered, broken, calls, codes, finished, guard, tool

from labkit import Call, Dispatcher, Host, NotFound, Principal, TemporaryFailure, result_text

LOOK_1 = {"id": "1", "name": "look", "arguments": '{"v":1}'}
BOB = Principal("u-bob", "A", ALICE.permissions)
ALICE_OF_B = Principal("u-alice", "B", ALICE.permissions)
RICHER = Principal("u-alice", "A", ALICE.permissions | {"more"})


@pytest.mark.parametrize(
    ("second", "who", "code", "entries"),
    [
        ({}, ALICE, "again:ok", 1),
        ({"arguments": ' { "v" : 1 }\n'}, ALICE, "again:ok", 1),
        ({"arguments": '{"\\u0076":1}'}, ALICE, "again:ok", 1),
        ({}, RICHER, "again:ok", 1),
        ({"arguments": '{"v":1.0}'}, ALICE, "id_conflict", 1),
        ({"arguments": '{"v":true}'}, ALICE, "id_conflict", 1),
        ({"arguments": '{"v":"1"}'}, ALICE, "id_conflict", 1),
        ({"arguments": '{"v":[1]}'}, ALICE, "id_conflict", 1),
        ({"arguments": '{"v":null}'}, ALICE, "id_conflict", 1),
        ({"name": "peek"}, ALICE, "id_conflict", 1),
        ({}, BOB, "id_conflict", 1),
        ({}, ALICE_OF_B, "id_conflict", 1),
        ({}, Principal("u-alice", "A"), "forbidden", 1),
        ({"id": "1 "}, ALICE, "invalid_call", 1),
        ({"id": "2"}, ALICE, "ok", 2),
    ],
    ids=str,
)
def test_replay_wants_the_same_id_content_and_principal(second: dict, who: Principal, code: str, entries: int) -> None:
    """Equal content under one id is answered from memory; anything else under it is a conflict that returns nothing."""
    entered, now = Entered(lambda arguments: "secret of the first"), [ALICE]
    tools = [tool(entered, name, arguments=Anything, permission="look") for name in ("look", "peek")]
    dispatcher = guard(*tools, who=lambda: now[0])
    assert codes(dispatcher.batch([Call(**LOOK_1)])) == ["ok"]
    now[0] = who
    (outcome,) = dispatcher.batch([Call(**LOOK_1 | second)])
    assert codes([outcome]) == [code]
    assert outcome.data == (None if code in {"id_conflict", "forbidden", "invalid_call"} else "secret of the first")
    assert len(entered.seen) == entries
    assert broken(finished(dispatcher)) == set()


def test_key_order_is_not_content_and_nested_types_are() -> None:
    """Objects are equal whatever the order of their keys, at any depth; numbers of another type are not."""
    dispatcher = guard(tool(arguments=Anything))
    texts = [
        '{"v":{"a":[1,{"x":1,"y":2}],"b":2}}',
        '{"v":{"b":2,"a":[1,{"y":2,"x":1}]}}',
        '{"v":{"a":[1,{"x":1.0,"y":2}],"b":2}}',
    ]
    outcomes = dispatcher.batch([Call("1", "look", text) for text in texts])
    assert codes(outcomes) == ["ok", "again:ok", "id_conflict"]


def test_another_version_of_the_tool_is_other_content() -> None:
    """What a name meant before is not what it means now."""
    dispatcher = guard(tool(version="1"))
    dispatcher.batch([Call("1", "look", "{}")])
    newer = Dispatcher(Host([tool(version="2")], ALICE))
    newer.state.owners |= dispatcher.state.owners
    newer.state.memory |= dispatcher.state.memory
    assert codes(newer.batch([Call("1", "look", "{}")])) == ["id_conflict"]


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (Call("1", "Look", "{}"), "unknown_tool"),
        (Call("1", "look", "{"), "invalid_arguments"),
        (Call("1", "locked", "{}"), "forbidden"),
    ],
)
def test_a_refused_call_does_not_own_its_id(refused: Call, code: str) -> None:
    """The id of a refused call is free for a repaired one."""
    dispatcher = guard(tool(), tool(name="locked", permission="key"))
    assert codes(dispatcher.batch([refused, Call("1", "look", "{}")])) == [code, "ok"]


def test_a_refused_call_for_want_of_budget_does_not_own_its_id() -> None:
    """What the budget refused was never started."""
    dispatcher = guard(limits={"executions": 0})
    assert codes(dispatcher.batch([Call("1", "look", "{}")])) == ["budget_exhausted"]
    assert (dispatcher.state.owners, dispatcher.state.memory) == ({}, {})


@pytest.mark.parametrize(
    ("error", "writes", "told", "entries"),
    [
        (TemporaryFailure(), False, "dependency_temporary ok", 2),
        (ValueError(), False, "internal_error ok", 2),
        (NotFound(), False, "not_found_or_not_accessible again:not_found_or_not_accessible", 1),
        (TemporaryFailure(), True, "dependency_temporary again:dependency_temporary", 1),
        (ValueError(), True, "outcome_unknown again:outcome_unknown", 1),
    ],
    ids=str,
)
def test_a_failed_read_may_run_again_and_a_write_never(error: Exception, writes: Any, told: str, entries: int) -> None:
    """A failed read runs again at the cost of an execution; a write has one chance, whatever its end."""

    def act(arguments: object) -> str:
        if len(entered.seen) == 1:
            raise error
        return "fine"

    entered = Entered(act)
    dispatcher = guard(tool(entered, writes=writes), limits={"executions": 2})
    assert codes(dispatcher.batch([Call("1", "look", "{}")] * 2)) == told.split()
    assert (len(entered.seen), dispatcher.ledger.executions) == (entries, entries)
    assert broken(finished(dispatcher)) == set()


def test_a_failed_read_without_an_execution_left_is_refused() -> None:
    """Running again is not free, and the failure is not given back as if it were a result."""

    def fail(arguments: object) -> None:
        raise TemporaryFailure

    dispatcher = guard(tool(Entered(fail)), limits={"executions": 1})
    assert codes(dispatcher.batch([Call("1", "look", "{}")] * 2)) == ["dependency_temporary", "budget_exhausted"]


@pytest.mark.parametrize(("scope", "told"), [("run", "id_conflict again:ok"), ("response", "ok id_conflict")])
def test_ids_are_kept_apart_by_response_only_where_that_is_set(scope: Any, told: str) -> None:
    """With `response`, an id means something new in each response, and the same within one."""
    dispatcher = guard(tool(arguments=Anything), id_scope=scope)
    one, two = Call("1", "look", '{"v":1}'), Call("1", "look", '{"v":2}')
    assert codes(dispatcher.batch([one, one, two])) == ["ok", "again:ok", "id_conflict"]
    assert codes(dispatcher.batch([two, one])) == told.split()
    assert broken(finished(dispatcher)) == set()


def test_replays_of_a_shortened_result_say_so_too() -> None:
    """What was answered once is answered again, the omission included."""
    dispatcher = guard(tool(Entered(lambda arguments: list(range(100))), result_chars=100))
    first, second = dispatcher.batch(calls("1", "1"))
    assert codes([first, second]) == ["ok", "again:ok"]
    assert result_text(first) == result_text(second)
    assert json.loads(result_text(second))["truncated"] is True
