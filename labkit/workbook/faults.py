"""Scripted faults and virtual time: what a scenario does to its tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol

from labkit.calls import Context, Tool
from labkit.dispatch import Dispatcher
from labkit.outcomes import Cancelled, TemporaryFailure

__all__ = ["STEP_S", "Clock", "Faults"]

STEP_S = 0.125
"""Virtual seconds of a model response and of a tool's entry: a power of two, so that sums stay exact."""


@dataclass
class Clock:
    """Virtual seconds: they pass only when told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class Fault(Protocol):
    """What happens at the nth entry of a tool (at every one if `entry` is None), or at its nth downstream attempt."""

    @property
    def tool(self) -> str: ...

    @property
    def entry(self) -> int | None: ...

    @property
    def attempt(self) -> int | None: ...

    @property
    def raises(self) -> str: ...

    @property
    def seconds(self) -> float: ...


class Faults:
    """Scripted faults, wrapped around the tools."""

    def __init__(self, faults: Sequence[Fault], clock: Clock) -> None:
        self._faults, self._clock = faults, clock
        self._entries: dict[str, int] = {}
        self.dispatcher: Dispatcher

    def around(self, tool: Tool) -> Tool:
        def run(arguments: Any, context: Context) -> object:
            self._clock.now += STEP_S
            entry = self._entries[tool.name] = self._entries.get(tool.name, 0) + 1
            mine = [fault for fault in self._faults if fault.tool == tool.name and fault.entry in (None, entry)]
            tries = count(1)

            def attempted() -> None:
                context.attempted()
                now = next(tries)
                for fault in mine:
                    if fault.attempt == now:
                        self._befall(fault, tool, arguments, context)

            whole = [fault for fault in mine if fault.attempt is None]
            for fault in whole:
                if fault.raises != "stubborn":
                    self._befall(fault, tool, arguments, context)
            found = tool.run(arguments, context._replace(attempted=attempted))
            if any(fault.raises == "stubborn" for fault in whole):
                self._wait(context)  # the work is done, and takes no notice of who still waits
            return found

        return replace(tool, run=run)

    def _befall(self, fault: Fault, tool: Tool, arguments: Any, context: Context) -> None:
        kind = fault.raises
        if kind == "slow":
            self._clock.now += fault.seconds
            return
        if kind == "temporary":
            raise TemporaryFailure("downstream 10.0.0.9 timed out INTERNAL_CANARY")
        if kind == "bug":
            try:
                raise KeyError("/srv/app/secret.key INTERNAL_CANARY")
            except KeyError as cause:
                raise RuntimeError("SELECT * FROM merchants WHERE note='INTERNAL_CANARY'") from cause
        if kind == "crash_after_effect":
            tool.run(arguments, context)
            raise ConnectionResetError("the answer was lost INTERNAL_CANARY")
        self._wait(context)
        if kind == "hang":
            raise Cancelled

    def _wait(self, context: Context) -> None:
        """Work that never ends by itself: until the deadline if there is one, else until the user gives up."""
        remaining = context.remaining_s()
        self._clock.now += remaining or 0.0
        self.dispatcher.close("cancelled" if remaining is None else "deadline_exceeded")
