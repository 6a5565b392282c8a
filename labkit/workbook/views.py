"""What a reader is shown of a run: rows, text and diagrams, computed from the run and its ledger. No widget.

A `View` is a run up to one of its events, so that a scrubber only has to ask for another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from labkit.laws import LAWS
from labkit.ledger import Event, Ledger
from labkit.loop import Result
from labkit.workbook.leaky import LEAKY
from labkit.workbook.pictures import Diagram, Step, diagram, steps
from labkit.workbook.scenarios import GATES_BY_NAME, Played
from labkit.workbook.sections import LONG, SECTIONS, Section
from labkit.workbook.texts import aligned, name_of, visible
from labkit.workbook.words import GATE, SAY, SYMBOL

__all__ = ["Chip", "Counter", "View", "visible"]


MOST = 12
"""Ids of records that a summary names one by one."""


@dataclass(frozen=True)
class Chip:
    """One decision: a word, and a state that says how to read it."""

    word: str
    state: str

    def __str__(self) -> str:
        return f"{SYMBOL[self.state]} {self.word}"


@dataclass(frozen=True)
class Counter:
    """A counter with what is left of its budget; `limit` is None where there is none."""

    name: str
    value: int
    limit: int | None
    note: str


class View:
    """What is to be seen of a played scenario at event `at` (all of it if left out), `also` by `SECTIONS`."""

    def __init__(self, played: Played, at: int | None = None, also: tuple[str, ...] = ()) -> None:
        self.played, self.all, self.also = played, played.run.ledger, also
        self.at = len(self.all) if at is None else max(0, min(at, len(self.all)))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return self.all.events[: self.at]

    @cached_property
    def requests(self) -> dict[tuple[int, int], dict[str, Event]]:
        """The events of each request so far, by kind. What settled it is also there as `outcome`."""
        found: dict[tuple[int, int], dict[str, Event]] = {}
        for event in self.events:
            if event.position is not None:
                mine = found.setdefault((event.round, event.position), {})
                mine[event.kind] = event
                if event.kind in ("rejected", "replayed", "returned", "cancel_requested"):
                    mine.setdefault("outcome", event)
        return found

    @property
    def proposed(self) -> list[tuple[str, ...]]:
        """Call, id, tool and arguments as the model wrote them."""
        return [(name_of(result.round, result.position), visible(result.call.id, 40), visible(result.call.name, 40),
                 visible(result.call.arguments)) for result in self.played.run.results]  # fmt: skip

    @property
    def strip(self) -> list[tuple[str, list[Chip]]]:
        """One row a request so far: a chip a gate, then whether the tool was entered and the result delivered."""
        return [(f"{name_of(*place)} {visible(events['requested'].tool, 24)}", self._chips(events))
                for place, events in self.requests.items()]  # fmt: skip

    def _chips(self, events: dict[str, Event]) -> list[Chip]:
        outcome, gates = events.get("outcome"), self.played.scenario.checks
        stopped_at = outcome.gate if outcome and outcome.kind != "returned" else None
        chips, state = [], "passed" if "started" in events or stopped_at else "not reached"
        for gate in gates:
            if gate not in GATE and state == "passed" and gate != stopped_at:
                chips.append(Chip(SAY["broken gate"].format(gate=GATE[gate.rpartition("_")[0]]), "broken guard"))
            elif gate == stopped_at and outcome:
                replayed = outcome.kind == "replayed"
                chips.append(Chip("replayed", "replayed") if replayed else self._stop(outcome))
                state = "not reached"
            else:
                chips.append(Chip(GATE.get(gate, gate), state))
        stand_ins = [gate if gate in GATE else gate.rpartition("_")[0] for gate in gates]
        for place, gate in enumerate(GATES_BY_NAME):
            if gate not in stand_ins:
                chips.insert(place, Chip(SAY["no gate"].format(gate=GATE[gate]), "removed"))
        if outcome and outcome.kind in ("rejected", "cancel_requested") and not outcome.gate:
            chips.append(Chip(str(outcome.code), "stopped"))
        entered, delivered = "started" in events and "released" not in events, "delivered" in events
        return [*chips, _yes_no("entered", entered), _yes_no("delivered", delivered)]

    def _stop(self, outcome: Event) -> Chip:
        """Which gate stopped the call, with which code, and of a budget, which one."""
        gate = outcome.gate or ""
        results = {(result.round, result.position): result.outcome for result in self.played.run.results}
        settled = results.get((outcome.round, outcome.position or 0))
        word = SAY["stopped by budget" if outcome.code == "budget_exhausted" else "stopped by"]
        name = GATE.get(gate, GATE.get(gate.rpartition("_")[0], gate))
        return Chip(word.format(gate=name, code=outcome.code, field=settled and settled.field), "stopped")

    @property
    def counts(self) -> dict[str, int]:
        return Ledger(self.events).counts

    @property
    def counters(self) -> list[Counter]:
        """The four counters that always appear together."""
        counts, limits = self.counts, self.played.scenario.limits
        executed, requested, delivered = counts["executed"], counts["requested"], counts["delivered"]
        entered = SAY["time"] if executed == 1 else SAY["times" if executed else "never"].format(count=executed)
        answered = SAY["all requests" if delivered == requested else "per request"]
        return [
            _budget("requested", requested, limits.requests),
            _budget("admitted", counts["admitted"], limits.executions),
            Counter("executed", executed, None, entered),
            Counter("delivered", delivered, None, answered.format(count=delivered, requests=requested)),
        ]

    @property
    def summary(self) -> list[str]:
        """How the run stands, in short sentences: stop, answer, coverage, audit, and what the spy at the data saw."""
        run, spy, counts = self.played.run, self.played.world.spy, self.counts
        lines = [SAY["beside"].format(**counts)]
        if self.at < len(self.all):
            return lines
        broken = {law for law, _ in self.played.violations}
        answer = SAY["no answer"] if run.answer is None else SAY["answer"].format(answer=visible(run.answer))
        lines.append(
            f"{SAY['stop'].format(stop=run.stop)} · {answer} · {SAY['coverage'].format(coverage=run.coverage)}"
        )
        lines += [
            SAY["laws broken"].format(law=law.__name__, sentence=(law.__doc__ or "").split("\n")[0])
            for law in LAWS
            if law.__name__ in broken
        ] or [SAY["laws kept"]]
        lines += [SAY["leaky"].format(how=SAY[name]) for name in self.played.world.names if name in LEAKY]
        if self.played.world.names != ("text",):
            entries = SAY["data once"] if spy.entries == 1 else SAY["data" if spy.entries else "data never"]
            handed = SAY["records"].format(records=_some(sorted(spy.records)))
            lines.append(f"{entries.format(entries=spy.entries)} · {handed}")
        return lines

    @property
    def results(self) -> list[tuple[str, ...]]:
        """Call, id, status, code, next action and the string the model reads, for what was delivered so far."""
        done = {place for place, events in self.requests.items() if "delivered" in events}
        return [_delivered(result) for result in self.played.run.results if (result.round, result.position) in done]

    @property
    def ledger(self) -> list[tuple[str, ...]]:
        """Every event so far, in the order of `LEDGER_COLUMNS`."""
        return [_logged(event) for event in self.events]

    LEDGER_COLUMNS = ("#", "s", "call", "id", "event", "tool", "gate", "code", "arguments", "digest")
    RESULT_COLUMNS = ("call", "id", "status", "code", "next action", "what the model reads")
    PROPOSED_COLUMNS = ("call", "id", "tool", "arguments, as text")

    @property
    def steps(self) -> list[Step]:
        """The run as arrows and notes of a sequence diagram."""
        return steps(self.events)

    @property
    def above(self) -> list[Section]:
        """What this lesson shows beside the rest, above the results."""
        return [SECTIONS[name](self) for name in self.also if name not in LONG]

    @property
    def below(self) -> list[Section]:
        """What it shows below the ledger: a line for each message, or for each event that spends something."""
        return [SECTIONS[name](self) for name in self.also if name in LONG]

    def text(self) -> str:
        """The whole view as plain text: the twin of the panel."""
        strip = [(name, *map(str, chips)) for name, chips in self.strip]
        counters = [f"{c.name} {c.value} ({c.note})" for c in self.counters]
        blocks = [
            [self.played.scenario.title],
            [SAY["proposed"], *aligned([self.PROPOSED_COLUMNS, *self.proposed])],
            [SAY["strip"], *aligned(strip)],
            [SAY["counters"], "  " + " · ".join(counters), *(f"  {line}" for line in self.summary)],
            *map(_block, self.above),
            [SAY["results"], *aligned([self.RESULT_COLUMNS, *self.results])],
            [SAY["ledger"], *aligned([self.LEDGER_COLUMNS, *self.ledger])],
            *map(_block, self.below),
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block != [""])

    def diagram(self) -> Diagram:
        """The run as a sequence diagram that a notebook draws by itself."""
        return diagram(self.events)


def _some(names: list[str]) -> str:
    """The first of many names, and how many there are."""
    return ", ".join(names[:MOST]) + (f", … ({len(names)})" if len(names) > MOST else "") or "–"


def _block(section: Section) -> list[str]:
    return [section.title, *aligned([section.columns, *section.filled])]


def _yes_no(word: str, yes: bool) -> Chip:  # noqa: FBT001 - the fact itself
    return Chip(SAY[word if yes else f"not {word}"], "passed" if yes else "not reached")


def _delivered(result: Result) -> tuple[str, ...]:
    outcome, status = result.outcome, result.outcome.status
    code = f"{outcome.code} (replayed)" if outcome.replayed else outcome.code
    return (name_of(result.round, result.position), visible(result.call.id, 24), f"{SYMBOL[status]} {status}", code,
            outcome.next_action, visible(result.text))  # fmt: skip


def _logged(event: Event) -> tuple[str, ...]:
    elapsed = "" if event.elapsed is None else f"{event.elapsed:g}"
    shape = visible(event.summary, 48) if event.position else ""
    return (str(event.seq), elapsed, name_of(event.round, event.position), visible(event.call_id, 24), event.kind,
            visible(event.tool, 32), GATE.get(event.gate or "", event.gate or ""), event.code or "", shape,
            (event.digest or "")[:6])  # fmt: skip


def _budget(name: str, value: int, limit: Any) -> Counter:
    note = SAY["left"] if value <= limit else SAY["over"]
    return Counter(name, value, limit, note.format(left=limit - value, over=value - limit, limit=limit))
