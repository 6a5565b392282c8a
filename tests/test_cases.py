"""Every lesson's scenarios come out as their hand-written expectations say."""

import pytest

from labkit.workbook.cases import LESSONS, Case, cases
from labkit.workbook.scenarios import play

EVERY = [(lesson, name) for lesson in LESSONS for name in cases(lesson)]


@pytest.mark.parametrize(("lesson", "name"), EVERY, ids=str)
def test_case_comes_out_as_expected(lesson: str, name: str) -> None:
    """The run gives the codes, counts and records that were written by hand."""
    case = cases(lesson)[name]
    assert case.differences(play(case.scenario)) == {}


@pytest.mark.parametrize(("lesson", "name"), EVERY, ids=str)
def test_case_says_what_it_shows_and_whence(lesson: str, name: str) -> None:
    """A case has a title to choose it by, a source, and an expectation about every request."""
    case = cases(lesson)[name]
    assert case.scenario.title
    assert case.scenario.source
    assert len(case.expect["codes"]) == case.expect.get("delivered", len(case.expect["codes"]))


def test_a_wrong_expectation_is_told() -> None:
    """A difference names what was expected and what was found."""
    case = cases("00_start")["same id twice"]
    played = play(case.scenario)
    case = Case(case.scenario, case.expect | {"executed": 2})
    assert case.differences(played) == {"executed": (2, 1)}
