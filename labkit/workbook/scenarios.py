"""A run described as data: one format for lessons, panels, exercises, tests and the command line.

1. Unknown keys are refused; the three fields of a call may hold any JSON value, since that is the subject.
2. Playing a scenario is a pure function: fresh worlds, a virtual clock, no randomness.
3. Virtual time: each model response and each entry of a tool takes `STEP_S`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pydantic import Field, ValidationError

from labkit import audit
from labkit.calls import Call, Host, Limits, Principal, Tool, shown
from labkit.conditions import Condition, conditions
from labkit.dispatch import Dispatcher
from labkit.gates import GATES, Gate, OutOfOrder
from labkit.laws import Violation
from labkit.loop import Response, Result, Run, drive
from labkit.workbook.broken import BROKEN
from labkit.workbook.faults import STEP_S, Clock, Faults
from labkit.workbook.leaky import LEAKY, opened
from labkit.workbook.mappings import MAPPINGS, Mapping
from labkit.workbook.parts import (
    ConditionPart,
    FaultPart,
    LimitsPart,
    Part,
    PrincipalPart,
    ToolPart,
    TurnPart,
)
from labkit.worlds import WORLDS, World

__all__ = ["STEP_S", "BadScenario", "Played", "Scenario", "play", "read_scenario"]

GATES_BY_NAME: dict[str, Gate] = {gate.__name__: gate for gate in GATES}
"""The real gates by the names that a scenario's `gates` lists; lessons may also list one of `broken`."""


class BadScenario(ValueError):
    """A text that is no scenario; its message is one line that says what to mend."""


class Scenario(Part):
    """A run as data. Only `world` and `turns` are required."""

    title: str = ""
    source: str = ""
    world: str | Sequence[str]
    principal: PrincipalPart = PrincipalPart()
    limits: LimitsPart = LimitsPart()
    on_limit: Literal["stop", "answer"] = "answer"
    id_scope: Literal["run", "response"] = "run"
    turns: Sequence[TurnPart]
    when_turns_run_out: Literal["end", "repeat"] = "end"
    faults: Sequence[FaultPart] = ()
    conditions: Sequence[ConditionPart] = ()
    tools: dict[str, ToolPart] = Field(default_factory=dict)
    errors: Mapping = "mapped"
    gates: Sequence[str] = tuple(GATES_BY_NAME)

    @property
    def worlds(self) -> tuple[str, ...]:
        """Names of the worlds whose tools are offered together."""
        return (self.world,) if isinstance(self.world, str) else tuple(self.world)

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of all checks in their order: the gates, and the user's conditions after the arguments."""
        names = list(self.gates)
        if self.conditions:
            after = next((n for n, name in enumerate(names, 1) if name.startswith("arguments")), len(names))
            names.insert(after, "conditions")
        return tuple(names)

    def with_(self, **changes: Any) -> Scenario:
        """A changed scenario, checked anew. Raises `BadScenario`."""
        return make_scenario(self.model_dump() | changes)


@dataclass(frozen=True)
class Played:
    """A scenario, the run it gave, the broken laws, and what the spy at the data saw."""

    scenario: Scenario
    run: Run
    violations: tuple[Violation, ...]
    world: World

    def report(self) -> dict[str, Any]:
        """What `labkit run` prints, as plain JSON values."""
        run, broken = self.run, [(law, [event.seq for event in events]) for law, events in self.violations]
        return {
            "stop": run.stop,
            "answer": run.answer,
            "results": list(map(_result, run.results)),
            "counts": run.ledger.counts,
            "coverage": run.coverage,
            "violations": [{"law": law, "events": events} for law, events in broken],
            "ledger": [asdict(event) for event in run.ledger],
        }


def _result(result: Result) -> dict[str, Any]:
    call, outcome = result.call, result.outcome
    return {"round": result.round, "position": result.position, "call_id": call.id, "tool": call.name,
            "status": outcome.status, "code": outcome.code, "next_action": outcome.next_action,
            "replayed": outcome.replayed, "field": outcome.field, "text": result.text}  # fmt: skip


def read_scenario(text: str | bytes) -> Scenario:
    """Read a scenario from JSON text (UTF-8). Raises `BadScenario` with one line that says what to mend.

    Unlike arguments it may hold any JSON text, half surrogates and U+0000 included: they are what a call may hold.
    """
    try:
        value = read_value(text.decode() if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise BadScenario(f"not UTF-8 text (byte {error.start})") from None
    if not isinstance(value, dict):
        raise BadScenario("a scenario is a JSON object")
    return make_scenario(value)


def read_value(text: str) -> Any:
    """Read any one JSON value. Raises `BadScenario`."""
    try:
        return json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise BadScenario("not a JSON text: nested too deep") from None
    except ValueError as error:
        raise BadScenario(f"not a JSON text: {shown(str(error), 200)}") from None


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return read


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise ValueError(f"{shown(number, 20)} is no finite number")
    return float(number)


def make_scenario(values: dict[str, Any]) -> Scenario:
    """A scenario from plain values. Raises `BadScenario` for anything that could not be played."""
    try:
        scenario = Scenario.model_validate(values)
        _prepared(scenario, opened(*scenario.worlds), Clock())
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(shown(str(part), 40) for part in fault["loc"])
        raise BadScenario(f"{where}: {shown(fault['msg'], 200)}") from None
    except (ValueError, TypeError) as error:
        raise BadScenario(shown(str(error), 300)) from None
    return scenario


def play(scenario: Scenario) -> Played:
    """Play a scenario on the real engine. Raises `BadScenario` if its gates are in an order that cannot work."""
    world, clock = opened(*scenario.worlds), Clock()
    dispatcher, model = _prepared(scenario, world, clock)
    try:
        run = drive(model, dispatcher, user=scenario.title)
    except OutOfOrder as error:
        raise BadScenario(f"gates: {error}") from None
    return Played(scenario, run, tuple(audit(run.ledger)), world)


def _prepared(scenario: Scenario, world: World, clock: Clock) -> tuple[Dispatcher, _ScriptedModel]:
    model = _ScriptedModel(scenario, world, clock)
    faulty = Faults(scenario.faults, clock)
    mapped = MAPPINGS[scenario.errors]
    tools = [mapped(faulty.around(_set(tool, scenario))) for tool in world.tools]
    host = Host(tools, lambda: model.principal, clock)
    limits = Limits(**scenario.limits.model_dump())
    faulty.dispatcher = dispatcher = Dispatcher(
        host, limits, gates=[_gate(name, scenario) for name in _once(scenario.checks)], id_scope=scenario.id_scope,
        on_limit=scenario.on_limit,
    )  # fmt: skip
    for name in scenario.tools:
        if name not in dispatcher.state.tools:
            raise ValueError(f"tools: this world has no tool {name!r}")
    for fault in scenario.faults:
        tool = dispatcher.state.tools.get(fault.tool)
        if tool is None and fault.tool not in {known.name for known in opened(*WORLDS, *LEAKY).tools}:
            raise ValueError(f"faults: no world has a tool {fault.tool!r}")
        if tool is not None and fault.raises == "crash_after_effect" and not tool.writes:
            raise ValueError(f"faults: {fault.tool!r} only reads, so it has no effect to crash after")
    return dispatcher, model


def _set(tool: Tool, scenario: Scenario) -> Tool:
    """The tool with what the scenario sets of it."""
    part = scenario.tools.get(tool.name)
    return replace(tool, **part.model_dump(exclude_none=True)) if part else tool


def _once(names: Sequence[str]) -> Sequence[str]:
    if len(set(names)) < len(names):
        raise ValueError("gates: the same gate is named twice")
    return names


def _gate(name: str, scenario: Scenario) -> Gate:
    if name == "conditions" and scenario.conditions:
        return conditions(Condition(**part.model_dump()) for part in scenario.conditions)
    if name not in GATES_BY_NAME | BROKEN:
        raise ValueError(f"gates: there is no gate {name!r}: choose from {', '.join(GATES_BY_NAME | BROKEN)}")
    return (GATES_BY_NAME | BROKEN)[name]


class _ScriptedModel:
    """Plays the turns, and puts each turn's principal in force."""

    def __init__(self, scenario: Scenario, world: World, clock: Clock) -> None:
        self._scenario, self._world, self._clock, self._turn = scenario, world, clock, 0
        self.principal = self._known(scenario.principal)

    def __call__(self, messages: object) -> Response:
        turns = self._scenario.turns
        self._clock.now += STEP_S
        if self._turn >= len(turns) and (self._scenario.when_turns_run_out == "end" or not turns):
            return Response(answer="")
        turn = turns[min(self._turn, len(turns) - 1)]
        self._turn += 1
        if turn.principal:
            self.principal = self._known(turn.principal)
        if turn.fails:
            raise ConnectionError("the model's service closed the connection INTERNAL_CANARY")
        calls = [Call(call.id, call.name, call.arguments) for call in turn.calls]
        return Response(calls, turn.answer, turn.complete)

    def _known(self, part: PrincipalPart) -> Principal:
        permissions = self._world.read_permissions if part.permissions is None else frozenset(part.permissions)
        return Principal(part.subject, part.tenant, permissions)
