"""Every guard that is broken on purpose makes a difference that a named case shows."""

from __future__ import annotations

import pytest

from labkit.workbook.broken import BROKEN
from labkit.workbook.cases import LESSONS, cases
from labkit.workbook.leaky import LEAKY
from labkit.workbook.scenarios import GATES_BY_NAME, Scenario, make_scenario, play
from labkit.workbook.words import SAY

EVERY = [(lesson, name, case.scenario) for lesson in LESSONS for name, case in cases(lesson).items()]
REAL = tuple(GATES_BY_NAME)


def mended(scenario: Scenario) -> Scenario:
    """The same scenario with every guard in place."""
    return scenario.with_(gates=REAL, world=[name.partition("_")[0] for name in scenario.worlds])


def shown(scenario: Scenario) -> tuple[object, ...]:
    """What a reader may see of a run."""
    played = play(scenario)
    outcomes = [(result.outcome.code, result.outcome.replayed, result.text) for result in played.run.results]
    return outcomes, played.run.ledger.counts, played.world.spy.records, played.violations


@pytest.mark.parametrize("name", [*BROKEN, *LEAKY])
def test_each_broken_guard_is_in_a_case_and_has_words(name: str) -> None:
    """No broken guard is dead, and a reader is told in words how it is broken."""
    assert any(name in scenario.gates or name in scenario.worlds for _, _, scenario in EVERY)
    assert SAY[name].startswith("broken: ")


BROKEN_CASES = [(lesson, name) for lesson, name, scenario in EVERY
                if tuple(scenario.gates) != REAL or any(world in LEAKY for world in scenario.worlds)]  # fmt: skip


@pytest.mark.parametrize(("lesson", "name"), BROKEN_CASES)
def test_putting_the_guard_back_changes_the_case(lesson: str, name: str) -> None:
    """The harm that a case shows is the broken guard's: with every guard in place the run is another."""
    scenario = cases(lesson)[name].scenario
    assert shown(scenario) != shown(mended(scenario))
    assert play(mended(scenario)).violations == ()


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
