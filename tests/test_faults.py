"""Scripted faults, settings of tools and broken mappings do what the scenario says, in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Run
from labkit.workbook.scenarios import BadScenario, make_scenario, play

CALL = {"id": "1", "name": "get_merchant", "arguments": '{"merchantId":1001}'}
BASE = {"world": "merchants", "turns": [{"calls": [CALL]}, {"answer": "?"}]}


def run_of(**changes: Any) -> Run:
    return play(make_scenario(BASE | changes)).run


def fault(raises: str, **more: Any) -> list[dict[str, Any]]:
    return [{"tool": "get_merchant", "raises": raises} | more]


def test_a_fault_at_a_downstream_attempt_is_met_inside_the_tool() -> None:
    """The first attempt fails, the tool tries once more: one execution, two attempts; twice failed is told."""
    call = {"id": "1", "name": "get_merchant", "arguments": '{"merchantId":1001}'}
    fault = {"tool": "get_merchant", "entry": 1, "attempt": 1, "raises": "temporary"}
    base = {"world": "merchants", "turns": [{"calls": [call]}, {"answer": "?"}]}
    once = play(make_scenario(base | {"faults": [fault]})).run
    assert (once.results[0].outcome.code, once.ledger.counts["attempts"], once.ledger.counts["executed"]) == (
        "ok",
        2,
        1,
    )
    twice = play(make_scenario(base | {"faults": [fault, fault | {"attempt": 2}]})).run
    assert (twice.results[0].outcome.code, twice.ledger.counts["attempts"]) == ("dependency_temporary", 2)
    late = play(make_scenario(base | {"faults": [fault], "limits": {"deadline_s": 0.25}})).run
    assert (late.results[0].outcome.code, late.ledger.counts["attempts"]) == ("dependency_temporary", 0)


def test_a_model_that_fails_ends_the_run_and_tells_nothing_of_its_own() -> None:
    """A turn that fails is a model that raises; its text reaches nobody."""
    call = {"id": "1", "name": "length", "arguments": '{"text":"Java"}'}
    run = play(make_scenario({"world": "text", "turns": [{"calls": [call]}, {"fails": True}]})).run
    assert (run.stop, run.answer, run.ledger.counts["executed"]) == ("model_failed", None, 1)
    assert "CANARY" not in run.ledger.to_jsonl() + "".join(message.text for message in run.messages)


def test_slow_takes_its_seconds_and_returns() -> None:
    """A model response and an entry take an eighth each; two seconds are added, and a deadline may pass in them."""
    assert run_of(faults=fault("slow", seconds=2)).ledger[-1].elapsed == 2.375
    late = run_of(faults=fault("slow", seconds=2), limits={"deadline_s": 1})
    assert (late.stop, late.results[0].outcome.code) == ("deadline_exceeded", "dependency_temporary")


@pytest.mark.parametrize(("kind", "code"), [("hang", "cancelled"), ("stubborn", "ok")])
def test_what_comes_after_the_end_is_late(kind: str, code: str) -> None:
    """Nobody waits any longer; a cooperative tool ends, a stubborn one returns: recorded as late, not delivered."""
    run = run_of(faults=fault(kind))
    assert (run.stop, run.results[0].outcome.code) == ("cancelled", "cancelled")
    assert [event.code for event in run.ledger if event.kind == "late"] == [code]


@pytest.mark.parametrize(
    ("errors", "raises", "code"),
    [
        ("mapped", "bug", "internal_error"), ("mapped", "temporary", "dependency_temporary"),
        ("told", "bug", "ok"), ("told", "temporary", "dependency_temporary"), ("emptied", "bug", "ok"),
        ("emptied", "temporary", "ok"), ("retried", "bug", "dependency_temporary"),
    ],
)  # fmt: skip
def test_a_broken_mapping_says_something_else_than_what_happened(errors: str, raises: str, code: str) -> None:
    """Told: the planted text reaches the model. Emptied: an outage is an empty result. Retried: a bug is retryable."""
    run = run_of(errors=errors, faults=fault(raises))
    assert run.results[0].outcome.code == code
    assert ("CANARY" in run.results[0].text) == ((errors, raises) == ("told", "bug"))


def test_settings_of_a_tool_reach_it_and_wrong_ones_are_refused() -> None:
    """A direct result is the answer, a small cap shortens, a cost is spent; an unknown tool or value is named."""
    direct = run_of(tools={"get_merchant": {"return_direct": True}})
    assert (direct.stop, direct.answer) == ("answered", direct.results[0].outcome.body)
    assert run_of(tools={"get_merchant": {"result_chars": 40}}).results[0].outcome.omitted > 0
    assert run_of(tools={"get_merchant": {"cost": 3}}).ledger.cost == 3
    for wrong, said in (({"shell": {}}, "no tool 'shell'"), ({"get_merchant": {"colour": 1}}, "colour"),
                        ({"get_merchant": {"cost": -1}}, "cost")):  # fmt: skip
        with pytest.raises(BadScenario, match=said):
            run_of(tools=wrong)
