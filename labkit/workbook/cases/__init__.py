"""The lessons' scenarios, each with hand-written expectations and their source; every one is a test by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from labkit.workbook.scenarios import Played, Scenario, make_scenario

__all__ = ["LESSONS", "Case", "cases", "lesson"]

LESSONS = (
    "00_start", "01_allowlist", "02_arguments", "03_call_ids", "04_ownership", "05_limits", "06_loop",
    "07_errors", "08_results", "09_partial_results", "10_cancellation", "11_concurrency", "13_merchant_project",
    "14_same_name_places",
)  # fmt: skip
"""Lessons that have cases, in order."""


@dataclass(frozen=True)
class Case:
    """A scenario and what must come of it, written by hand.

    `expect` may name: codes and fields (in request order), replayed (which of them),
    executed, delivered, stop, coverage,
    records (that the data handed out), laws (that the run breaks, for guards broken on purpose).
    """

    scenario: Scenario
    expect: dict[str, Any]

    def differences(self, played: Played) -> dict[str, tuple[Any, Any]]:
        """What came out otherwise: name -> (expected, found)."""
        run = played.run
        found = {
            "codes": [result.outcome.code for result in run.results],
            "fields": [result.outcome.field for result in run.results],
            "replayed": [result.outcome.replayed for result in run.results],
            "executed": run.ledger.counts["executed"],
            "delivered": run.ledger.counts["delivered"],
            "stop": run.stop,
            "coverage": run.coverage,
            "records": sorted(played.world.spy.records),
            "laws": sorted({broken.law for broken in played.violations}),
        }
        wanted = {"laws": []} | self.expect
        return {name: (value, found[name]) for name, value in wanted.items() if found[name] != value}


@cache  # a lesson's scenarios are built and checked once
def cases(name: str) -> dict[str, Case]:
    """The cases of a lesson by name, such as `cases("01_allowlist")`. Raises ValueError for a lesson without."""
    if name not in LESSONS:
        raise ValueError(f"there is no lesson {name!r}: choose from {', '.join(LESSONS)}")
    written = import_module(f"labkit.workbook.cases.{name[3:]}").CASES
    return {key: Case(make_scenario(entry["scenario"]), entry["expect"]) for key, entry in written.items()}


def lesson(name: str) -> dict[str, Scenario]:
    """The scenarios of a lesson by name."""
    return {key: case.scenario for key, case in cases(name).items()}
