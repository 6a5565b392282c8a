"""Every guard that is broken on purpose makes a difference that a named case shows."""

from __future__ import annotations

import pytest

from labkit.workbook.broken import BROKEN
from labkit.workbook.cases import LESSONS, cases
from labkit.workbook.leaky import LEAKY
from labkit.workbook.scenarios import GATES_BY_NAME, Scenario, play
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
