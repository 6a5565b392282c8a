"""Questions to a reader whose right answers are read off a run, never typed in. No widget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labkit.workbook.scenarios import Played, Scenario, play

__all__ = ["COUNTED", "Question", "Spend", "code_of", "count", "left", "records", "stop_reason"]

COUNTED = {"rounds": "rounds", "requests": "requested", "executions": "executed", "attempts": "attempts"}
"""What an event may spend, and the counter of the ledger that says so."""


@dataclass(frozen=True)
class Question:
    """A question with its options; `fact` reads the right one off the run, `why` explains it afterwards."""

    text: str
    options: tuple[str, ...]
    fact: Callable[[Played], str]
    why: str = ""

    def answer(self, played: Played) -> str:
        """The right option. Raises ValueError if the run says something that is not offered as an option."""
        answer = self.fact(played)
        if answer not in self.options:
            raise ValueError(f"the run says {answer!r}, which is no option of {self.text!r}")
        return answer


@dataclass(frozen=True)
class Spend:
    """An event whose price is read off two runs: one in which it happens, and one that lacks it."""

    text: str
    scenario: Scenario
    without: Scenario
    why: str = ""

    def spent(self) -> dict[str, int]:
        """What the event spends, by the names of `COUNTED`."""
        here, there = (play(scenario).run.ledger.counts for scenario in (self.scenario, self.without))
        return {name: here[counter] - there[counter] for name, counter in COUNTED.items()}


def code_of(text: str, call: int, *options: str, why: str = "") -> Question:
    """The outcome code of the nth call of the run, counted from 1."""
    return Question(text, options, lambda played: played.run.results[call - 1].outcome.code, why)


def count(text: str, counter: str, *options: int, why: str = "") -> Question:
    """One of the ledger's counters: requested, admitted, executed, delivered, rejected, replayed, rounds, attempts."""
    return Question(text, tuple(map(str, options)), lambda played: str(played.run.ledger.counts[counter]), why)


def left(text: str, budget: str, *options: int, why: str = "") -> Question:
    """What is left of the `requests` or `executions` budget when the run is over, never below zero."""

    def fact(played: Played) -> str:
        spent = {"requests": played.run.ledger.requests, "executions": played.run.ledger.executions}[budget]
        return str(max(0, getattr(played.scenario.limits, budget) - spent))

    return Question(text, tuple(map(str, options)), fact, why)


def stop_reason(text: str, *options: str, why: str = "") -> Question:
    """Why the run ended."""
    return Question(text, options, lambda played: played.run.stop, why)


def records(text: str, *options: str, why: str = "") -> Question:
    """Which records the data handed out, as the spy saw it: ids joined by commas, or `none`."""
    return Question(text, options, lambda played: ", ".join(sorted(played.world.spy.records)) or "none", why)
