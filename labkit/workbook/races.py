"""Small programs that share something, to be run in every order or by real threads.

`Desk` is a model. `Engine` is the real dispatcher: a call is admitted in one step, under a lock, and then performed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Barrier
from typing import Any

from labkit import GATES, Call, Dispatcher, Host, Limits, Outcome, Principal, Request, State, Tool, audit
from labkit.gates import Gate, replay
from labkit.workbook.interleave import Wait
from labkit.worlds import open_world

__all__ = ["LAWS", "NOT_JOINED", "Desk", "Engine", "apart", "asking", "race", "reserving", "revoke", "together"]

PATIENCE_S = 10  # only ever reached when something is wrong


@dataclass
class Desk:
    """A budget of one, a permission, and for each start so far whether it was permitted at that moment."""

    budget: int = 1
    permitted: bool = True
    starts: list[bool] = field(default_factory=list)
    started = property(lambda desk: len(desk.starts))
    free = property(lambda desk: desk.started < desk.budget)

    def start(self) -> None:
        self.starts.append(self.permitted)


LAWS: Mapping[str, Callable[[Desk], bool]] = {
    "within budget": lambda desk: desk.started <= desk.budget,
    "permitted": lambda desk: all(desk.starts),
}


def apart(desk: Desk) -> Iterator[str]:
    """A task that looks, looks again, and starts."""
    yield "authorise"
    if desk.permitted:
        yield "check budget"
        if desk.free:
            yield "start"
            desk.start()


def reserving(desk: Desk) -> Iterator[str]:
    """A task that takes what is free in the step that finds it free."""
    yield "authorise"
    if desk.permitted:
        yield "check budget and start"
        if desk.free:
            desk.start()


def together(desk: Desk) -> Iterator[str]:
    """A task that is judged and started in one step."""
    yield "authorise, check budget and start"
    if desk.permitted and desk.free:
        desk.start()


def revoke(world: Desk | Engine) -> Iterator[str]:
    """Somebody takes the permission away."""
    yield "revoke"
    world.permitted = False


class Engine:
    """One round of the real dispatcher for u-alice, who holds every permission of these worlds until it is revoked.

    `requests`: what was admitted, by position. `entries`: for each entry of a tool, whether it was permitted then.
    """

    def __init__(self, *worlds: str, executions: int = 20, gates: Sequence[Gate] = GATES,
                 inside: Callable[[], object] = lambda: None) -> None:  # fmt: skip
        self.world, self.permitted, self.inside = open_world(*worlds), True, inside
        self.requests, self.entries = dict[int, Request](), list[bool]()
        held = frozenset([tool.permission for tool in self.world.tools if tool.permission])
        tools = [replace(tool, run=self._noting(tool)) for tool in self.world.tools]
        host = Host(tools, lambda: Principal("u-alice", "A", held if self.permitted else frozenset()))
        self.dispatcher = Dispatcher(host, Limits(executions=executions), gates=gates)
        self.dispatcher.open_round()

    def _noting(self, tool: Tool) -> Callable[[Any, Any], Any]:
        def run(arguments: Any, context: Any) -> Any:
            self.entries.append(self.permitted)
            self.inside()
            return tool.run(arguments, context)

        return run

    @property
    def codes(self) -> tuple[str, ...]:
        """What became of each request, in request order; `again` marks an outcome that was shared."""
        outcomes = [self.requests[place].outcome for place in sorted(self.requests)]
        return tuple([one.code + " again" * one.replayed if one else "–" for one in outcomes])

    @cached_property
    def broken(self) -> tuple[str, ...]:
        """Deliver in request order, stop, and audit (once): the laws that are broken."""
        self.dispatcher.deliver([self.requests[place] for place in sorted(self.requests)])
        self.dispatcher.stop("no_progress")
        return tuple([law for law, _ in audit(self.dispatcher.ledger)])


def asking(place: int, call: Call | Callable[[Engine], Call], after: int = 0) -> Callable[[Engine], Iterator[Any]]:
    """A program: the call at this position, begun once request number `after`, if given, has its outcome."""

    def program(engine: Engine) -> Iterator[str | Wait]:
        yield Wait("admit", until=lambda engine: not after or getattr(engine.requests.get(after), "outcome", None))
        written = call if isinstance(call, Call) else call(engine)
        request = engine.requests[place] = engine.dispatcher.admit(written, place)
        if request.outcome is None:
            label = "take its outcome" if request.original else "perform"
            yield Wait(label, until=lambda engine: request.original is None or request.original.outcome)
            engine.dispatcher.perform(request)

    return program


def race(engine: Engine, *calls: Call) -> Engine:
    """Bring the calls at the same moment, each from a thread of its own, and wait for all of them."""
    line = Barrier(len(calls), timeout=PATIENCE_S)

    def run(place: int, call: Call) -> Outcome:
        line.wait()
        request = engine.requests[place] = engine.dispatcher.admit(call, place)
        return request.outcome or engine.dispatcher.perform(request)

    with ThreadPoolExecutor(len(calls)) as threads:
        list(threads.map(run, range(1, len(calls) + 1), calls))
    return engine


def _ended(request: Request, state: State) -> Outcome | None:
    """A memory that is filled when a call ends: it finds nothing of one that still runs."""
    return earlier if isinstance(earlier := replay(request, state), Outcome) else None


NOT_JOINED: tuple[Gate, ...] = tuple(_ended if gate is replay else gate for gate in GATES)
