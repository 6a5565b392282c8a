"""A scenario is a run as data: the same text gives the same run, and what is no scenario says why in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from labkit import Ledger, Tool
from labkit.workbook.scenarios import BadScenario, Played, make_scenario, play, read_scenario
from labkit.worlds import WORLDS

# The example of the contract, "Scenarios". Its fault is of a tool that world `text` does not offer: it never happens.
EXAMPLE = r"""{
  "title": "the same id with other content is refused",
  "source": "tool-call unit, special cases: a conflict never returns the old result",
  "world": "text",
  "principal": {"subject": "u-alice", "tenant": null, "permissions": []},
  "limits": {"rounds": 3, "requests": 20, "executions": 2, "per_tool": {"length": 2}, "deadline_s": null, "cost": null},
  "on_limit": "answer",
  "id_scope": "run",
  "turns": [
    {"calls": [{"id": "1", "name": "length", "arguments": "{\"text\":\"Java\"}"},
               {"id": "1", "name": "length", "arguments": "{\"text\":\"SQL\"}"}]},
    {"answer": "4"}
  ],
  "when_turns_run_out": "repeat",
  "faults": [{"tool": "get_merchant", "entry": 1, "raises": "temporary"}],
  "gates": ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]
}"""
GATES = json.loads(EXAMPLE)["gates"]


def call(id_: object = "1", name: object = "length", arguments: object = '{"text":"Java"}') -> dict[str, Any]:
    return {"id": id_, "name": name, "arguments": arguments}


SEARCH = call("s", "search_notices", '{"query":"读书会","published_from":null}')
SHOP = call("m", "get_merchant", '{"merchantId":1001}')


def played(*turns: object, world: object = "text", **rest: object) -> Played:
    return play(make_scenario({"world": world, "turns": list(turns)} | rest))


def codes(found: Played) -> list[str]:
    return [result.outcome.code for result in found.run.results]


def refused(**values: object) -> str:
    """The one line that says why these values are no scenario."""
    with pytest.raises(BadScenario) as caught:
        make_scenario({"world": "text", "turns": []} | values)
    line = str(caught.value)
    assert line.isprintable()
    assert 0 < len(line) <= 300
    return line


def test_the_example_is_answered_with_one_conflict() -> None:
    """The page's example runs one call, refuses the other without the first one's result, and ends answered."""
    report = play(read_scenario(EXAMPLE)).report()
    first, second = report["results"]
    assert json.loads(first["text"]) == {
        "status": "ok", "code": "ok", "next_action": "continue", "data": {"length": 4}
    }  # fmt: skip
    assert [first[key] for key in ("round", "position", "call_id", "tool", "replayed", "field")] == [
        1, 1, "1", "length", False, None
    ]  # fmt: skip
    assert [second[key] for key in ("position", "status", "code", "next_action", "replayed", "field")] == [
        2, "rejected", "id_conflict", "fix_input", False, "id"
    ]  # fmt: skip
    assert "4" not in second["text"]
    assert report["counts"] == {"rounds": 2, "requested": 2, "rejected": 1, "replayed": 0, "admitted": 1,
                                "executed": 1, "attempts": 0, "delivered": 2}  # fmt: skip
    assert [report[key] for key in ("stop", "answer", "coverage", "violations")] == ["answered", "4", "complete", []]
    assert [event["kind"] for event in report["ledger"]][-2:] == ["answered", "stopped"]


def test_what_is_left_out_has_its_default() -> None:
    """Only world and turns are needed: Alice of tenant A reads what is hers, and limits are generous."""
    found = played({"calls": [SEARCH, SHOP, call()]}, world=["text", "notices", "merchants"])
    assert codes(found) == ["ok", "ok", "ok"]
    assert [notice["id"] for notice in found.run.results[0].outcome.data] == ["D1", "D2"]
    limits = found.scenario.limits
    assert (limits.rounds, limits.requests, limits.executions) == (8, 50, 20)
    assert (limits.per_tool, limits.deadline_s, limits.cost) == ({}, None, None)
    assert (found.run.stop, found.run.answer) == ("no_progress", None)


def test_a_scenario_gives_the_same_report_each_time() -> None:
    """Nothing is drawn and no real clock is read."""
    scenario = read_scenario(EXAMPLE)
    assert play(scenario).report() == play(scenario).report()


PLACES = [
    ("x", {"x": 1}), ("principal.x", {"principal": {"x": 1}}), ("limits.x", {"limits": {"x": 1}}),
    ("turns.0.x", {"turns": [{"x": 1}]}), ("turns.0.calls.0.x", {"turns": [{"calls": [call() | {"x": 1}]}]}),
    ("turns.1.principal.x", {"turns": [{}, {"principal": {"x": 1}}]}),
    ("faults.0.x", {"faults": [{"tool": "length", "raises": "bug", "x": 1}]}),
]  # fmt: skip


@pytest.mark.parametrize(("place", "values"), PLACES)
def test_an_unknown_key_is_refused_at_every_level(place: str, values: dict[str, object]) -> None:
    """The refusal names the place."""
    assert refused(**values).startswith(f"{place}:")


WRONG: list[dict[str, object]] = [
    {"world": "nowhere"}, {"world": ["text", "text"]}, {"world": 1}, {"world": None}, {"turns": None}, {"turns": {}},
    {"turns": [1]}, {"turns": [{"calls": {}}]}, {"turns": [{"answer": 4}]}, {"turns": [{"complete": "no"}]},
    {"turns": [{"complete": 0}]}, {"principal": {"subject": 1}}, {"principal": {"permissions": "notices:read"}},
    {"on_limit": "wait"}, {"id_scope": "session"}, {"when_turns_run_out": "stop"}, {"title": None},
    {"faults": [{"tool": "length", "raises": "explode"}]}, {"faults": [{"tool": "shell", "raises": "bug"}]},
    {"faults": [{"tool": "length", "raises": "bug", "entry": 0}]}, {"faults": [{"raises": "bug"}]},
    {"faults": [{"tool": "length", "raises": "bug", "entry": True}]}, {"faults": [{"tool": "length"}]},
    {"faults": [{"tool": "length", "raises": "crash_after_effect"}]},
    {"gates": ["replay", "replay"]}, {"gates": ["speed"]}, {"gates": "replay"}, {"gates": [1]},
    {"world": "x" * 100_000}, {"world": "te\nxt\u202e"}, {"\n" * 1_000: 1}, {"gates": ["\ud7ff" * 5_000]},
]  # fmt: skip


@pytest.mark.parametrize("values", WRONG, ids=[f"{values}"[:60] for values in WRONG])
def test_what_cannot_be_played_is_refused_in_one_line(values: dict[str, object]) -> None:
    """A wrong type, an unknown name or a fault that cannot happen is a bad scenario, told shortly."""
    assert refused(**values)


ODD = [(name, value) for name in ("rounds", "requests", "executions") for value in (-1, True, "3", 2.5, None, [])]
ODD += [("deadline_s", value) for value in (-1, -0.5, True, "3")] + [("cost", value) for value in (-1, True, "3")]
ODD += [("per_tool", value) for value in (1, None, {"length": -1}, {"length": True}, {"length": "3"}, {"shell": 1})]


@pytest.mark.parametrize(("name", "value"), ODD)
def test_an_odd_limit_is_refused_before_anything_runs(name: str, value: object) -> None:
    """A limit is a whole number from zero, or, of seconds and cost, a number from zero; the refusal names it."""
    assert name in refused(limits={name: value})


@pytest.mark.parametrize(("name", "stop"), [("rounds", "rounds_exhausted"), ("deadline_s", "deadline_exceeded")])
def test_zero_is_a_limit(name: str, stop: str) -> None:
    """Zero rounds or seconds ask the model nothing."""
    found = played({"answer": "4"}, limits={name: 0})
    assert (found.run.stop, found.run.answer, len(found.run.results)) == (stop, None, 0)


@pytest.mark.parametrize("name", ["requests", "executions", "cost"])
def test_zero_of_a_budget_refuses_the_call(name: str) -> None:
    """The call is refused and names the budget; on_limit `stop` ends the run there."""
    found = played({"calls": [call()]}, {"answer": "4"}, limits={name: 0})
    stopped = played({"calls": [call()]}, {"answer": "4"}, limits={name: 0}, on_limit="stop")
    assert [(result.outcome.code, result.outcome.field) for result in found.run.results] == [("budget_exhausted", name)]
    assert (found.run.stop, stopped.run.stop) == ("answered", f"{name}_exhausted")
    assert found.run.ledger.executions == 0


ANYTHING: list[object] = [None, True, 0, 1.5, [], {}, "", [["x"]], {"text": "Java"}, "读" * 5_000, "\u202e", 10**30]


@pytest.mark.parametrize("value", ANYTHING, ids=[ascii(value)[:20] for value in ANYTHING])
def test_a_calls_fields_hold_any_json_value(value: object) -> None:
    """Whatever stands for id, name or arguments is kept as it is and refused by the gate that it concerns."""
    found = played({"calls": [call(id_=value), call(name=value), call(arguments=value)]})
    assert codes(found) == ["invalid_call", "unknown_tool", "invalid_arguments"]
    by_id, by_name, _ = found.report()["results"]
    assert (by_id["call_id"], by_name["tool"]) == (value, value)
    assert found.violations == ()
    assert Ledger(found.run.ledger.events) == found.run.ledger


def test_a_field_left_out_of_a_call_is_as_good_as_null() -> None:
    """A call may lack its id, its name or its arguments: that is what a scenario is about."""
    lacking = [{key: part for key, part in call().items() if key != gone} for gone in ("id", "name", "arguments")]
    assert codes(played({"calls": lacking})) == ["invalid_call", "unknown_tool", "invalid_arguments"]


def test_a_response_that_was_cut_off_runs_nothing() -> None:
    """None of its calls is executed, however whole they look, and its text is no answer."""
    found = played({"calls": [call(), call("2")], "complete": False}, {"answer": "4", "complete": False})
    assert codes(found) == ["incomplete_response"] * 2
    assert (found.run.stop, found.run.answer, found.run.ledger.counts["admitted"]) == ("no_progress", None, 0)


def test_a_turns_principal_is_in_force_from_that_turn_on() -> None:
    """A permission that is gone covers neither a new call nor an old one's result."""
    gone = {"calls": [SEARCH], "principal": {"permissions": []}}
    found = played({"calls": [SEARCH]}, gone, {"calls": [SEARCH]}, world="notices")
    assert codes(found) == ["ok", "forbidden", "forbidden"]
    assert found.world.spy.entries == 1


def test_turns_that_run_out_end_or_repeat() -> None:
    """`end` answers with empty text; `repeat` plays the last turn until a limit or the lack of progress ends it."""
    again = played({"calls": [call()]}, when_turns_run_out="repeat")
    assert (again.run.stop, again.run.ledger.counts["rounds"], again.run.ledger.counts["replayed"]) == (
        "rounds_exhausted", 8, 7
    )  # fmt: skip
    stuck = played({"calls": [call(name="shell")]}, when_turns_run_out="repeat", limits={"rounds": 50})
    assert stuck.run.stop == "no_progress"
    assert 1 < stuck.run.ledger.counts["rounds"] < 50
    assert played({"calls": [call()]}).run.stop == "no_progress"
    assert played(when_turns_run_out="repeat").run.stop == "no_progress"


FAULTS = [  # raises, entry, codes of three calls in three rounds, stop
    ("temporary", 1, ["dependency_temporary", "ok", "ok"], "answered"),
    ("temporary", 2, ["ok", "dependency_temporary", "ok"], "answered"),
    ("temporary", None, ["dependency_temporary"] * 3, "answered"),
    ("bug", 2, ["ok", "internal_error"], "terminal_error"),
    ("hang", 3, ["ok", "ok", "cancelled"], "cancelled"),
]


@pytest.mark.parametrize(("raises", "entry", "expected", "stop"), FAULTS)
def test_a_fault_happens_at_its_entry(raises: str, entry: int | None, expected: list[str], stop: str) -> None:
    """Entries are counted from one; without a number each entry fails."""
    turns = [{"calls": [SHOP | {"id": f"m{place}"}]} for place in range(3)]
    found = played(*turns, {"answer": "done"}, world="merchants",
                   faults=[{"tool": "get_merchant", "entry": entry, "raises": raises}])  # fmt: skip
    assert (codes(found), found.run.stop, found.violations) == (expected, stop, ())


def test_a_read_that_failed_runs_again_under_its_id() -> None:
    """After a passing fault the same call is entered anew and costs a second execution."""
    found = played({"calls": [SHOP]}, {"calls": [SHOP]}, {"answer": "done"}, world="merchants",
                   faults=[{"tool": "get_merchant", "entry": 1, "raises": "temporary"}])  # fmt: skip
    assert codes(found) == ["dependency_temporary", "ok"]
    assert (found.run.ledger.counts["executed"], found.run.coverage) == (2, "complete")


def test_a_hang_lasts_until_the_deadline() -> None:
    """The call that hangs and the one behind it are cancelled, and the run says why it ended."""
    found = played({"calls": [SHOP, SHOP | {"id": "n"}]}, world="merchants", limits={"deadline_s": 10},
                   faults=[{"tool": "get_merchant", "entry": 1, "raises": "hang"}])  # fmt: skip
    assert (codes(found), found.run.stop) == (["cancelled", "cancelled"], "deadline_exceeded")
    assert (found.world.spy.entries, found.violations) == (0, ())


def test_a_crash_after_the_effect_leaves_the_outcome_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that happened and was not seen to end is neither failed nor repeated."""

    class Nothing(BaseModel):
        pass

    written: list[str] = []
    tool = Tool("write", "1", Nothing, lambda arguments, entry: written.append("x"), writes=True)
    monkeypatch.setitem(WORLDS, "shelf", lambda spy: (tool,))
    write = call("w", "write", "{}")
    found = played({"calls": [write, write]}, world="shelf", faults=[{"tool": "write", "raises": "crash_after_effect"}])
    assert (codes(found), written) == (["outcome_unknown", "outcome_unknown"], ["x"])
    assert (found.run.stop, found.run.coverage, found.violations) == ("terminal_error", "unknown", ())


def test_a_gate_may_be_missing() -> None:
    """Without memory the same id runs twice; that is what a lesson wants to show."""
    turn = {"calls": [call(), call()]}
    whole, broken = played(turn), played(turn, gates=[name for name in GATES if name != "replay"])
    assert [found.run.ledger.counts["executed"] for found in (whole, broken)] == [1, 2]


ORDERS = [[], ["replay", *GATES[:5], "execution_budget"], ["arguments", "allowlist"], GATES[::-1], GATES[1:2]]


@pytest.mark.parametrize("gates", ORDERS)
def test_an_order_that_cannot_work_names_the_gate_that_must_come_first(gates: list[str]) -> None:
    """A gate that comes before the fact it needs is a bad scenario, told in one line."""
    with pytest.raises(BadScenario, match="must come first") as caught:
        played({"calls": [call()]}, gates=gates)
    assert "\n" not in str(caught.value)
