"""The one door: admit, perform, settle, deliver. Nothing else writes a call's events.

1. Every call is requested, gets exactly one outcome and is delivered once, in request order, on every path:
   an exception that passes through (Ctrl-C, a gate's bug) first closes the books.
2. Admission happens under one lock; its last act is the `started` event, which is the reservation.
3. A tool is entered outside the lock, once, and only after the closed flag was read again.
4. The first settle wins. A later one is recorded as `late` and changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Literal

from labkit.calls import NOBODY, Call, Host, Limits
from labkit.gates import GATES, Gate, IdScope, Request, State
from labkit.ledger import Kind, Ledger, StopReason, bounded, digest, offer_text, settings_text, shape, who_text
from labkit.outcomes import (
    CODES,
    Cancelled,
    Code,
    NeedsUser,
    NotFound,
    Outcome,
    TemporaryFailure,
    project,
    refusal,  # fmt: skip
    shorten,
)

__all__ = ["Dispatcher"]


class Entry:
    """The `Context` of one execution."""

    __slots__ = ("_dispatcher", "_request", "principal")

    def __init__(self, dispatcher: Dispatcher, request: Request) -> None:
        self._dispatcher, self._request, self.principal = dispatcher, request, request.principal

    def remaining_s(self) -> float | None:
        return self._dispatcher.state.remaining_s()

    def cancelled(self) -> bool:
        return self._request.outcome is not None

    def attempted(self) -> None:
        self._dispatcher.attempt(self._request)


class Dispatcher:
    """Admits, performs and settles the calls of one run, and keeps its ledger.

    Args:
        host, limits: the application and what the run may spend.
        gates: the checks, in order.
        id_scope: "run", or "response" for servers that number calls afresh in each response.
        on_limit: "answer" refuses what is over a limit and goes on; "stop" closes the run there.

    Raises:
        ValueError: two tools of one name, a per-tool limit for a tool that is not offered, a
            deadline without a clock, or an option that does not exist.
    """

    def __init__(
        self, host: Host, limits: Limits | None = None, *, gates: Sequence[Gate] = GATES,
        id_scope: IdScope = "run", on_limit: Literal["stop", "answer"] = "answer", run_id: str = "run-1",
    ) -> None:  # fmt: skip
        limits = limits or Limits()
        tools = {tool.name: tool for tool in host.tools}
        unknown = [name for name in limits.per_tool if name not in tools]
        if len(tools) != len(host.tools):
            raise ValueError("two tools have the same name")
        if unknown:
            raise ValueError(f"per_tool limits {unknown[0]!r}, which is not offered")
        if limits.deadline_s is not None and host.clock is None:
            raise ValueError("a deadline needs a host with a clock")
        if id_scope not in ("run", "response") or on_limit not in ("stop", "answer"):
            raise ValueError(f"not an option: id_scope {id_scope!r} with on_limit {on_limit!r}")
        self.host, self.on_limit, self.gates = host, on_limit, tuple(gates)
        self.ledger = Ledger(run_id=run_id)
        self.state = State(tools, limits, self.ledger, self.elapsed, id_scope)
        self.round = 0
        self.closed: StopReason | None = None
        self.stopped = False
        self._round_is_new = False
        self._clock = host.clock
        self._began = host.clock() if host.clock else 0.0
        self._who = (NOBODY, who_text(NOBODY))
        self._offers = {name: offer_text(tool) for name, tool in tools.items()}
        self._open: set[Request] = set()
        self._due: dict[tuple[int, int], Request] = {}
        self._lock = threading.RLock()
        self._settled = threading.Condition(self._lock)
        self._joined = False

    def elapsed(self) -> float | None:
        """Seconds since the run began, on the host's clock; None without one."""
        return None if self._clock is None else self._clock() - self._began

    def open_round(self) -> int:
        """Begin the next model response and return its number. Raises RuntimeError if no round is left."""
        self._must_run()
        if self.round >= self.state.limits.rounds:
            raise RuntimeError("no round is left")
        self.round, self._round_is_new = self.round + 1, True
        self._note("round_opened", summary=settings_text(self.state.limits, self.state.id_scope))
        return self.round

    def batch(self, calls: Iterable[Call], *, complete: bool = True) -> list[Outcome]:
        """Answer every call of one response, in order: one outcome a call, earlier ones never lost.

        Args:
            calls: the response's calls. A new round is opened unless one is waiting for its calls.
            complete: False for a response that was cut off: none of its calls is executed.

        Raises:
            TypeError: what is no `Call`; RuntimeError: no round is left. Nothing was recorded then.
            BaseException: what passed through on the way (never what a call says or a tool raises as an
                Exception), once each call of the batch has its outcome and the ledger is whole.
        """
        calls = tuple(calls)
        if not all(isinstance(call, Call) for call in calls):
            raise TypeError("a batch holds Calls and nothing else")
        if not self._round_is_new:
            self.open_round()
        self._round_is_new = False
        outcomes: list[Outcome] = []
        places: list[int] = []
        raised: BaseException | None = None
        for position, call in enumerate(calls, 1):
            request: Request | None = None
            try:
                request = self._admit(call, position, complete)
                outcome = request.outcome or self.perform(request)
                if outcome.code == "budget_exhausted" and self.on_limit == "stop":
                    self.close(_BREACH[outcome.field])
            except BaseException as error:  # noqa: BLE001 - raised again below, when the books are closed
                raised = raised or error
                request = request or next((one for one in self._open if one.call is call), None)
                self.close("cancelled")
                request = request or self._admit(call, position, complete)
                outcome = request.outcome or self._cancel(request)
            outcomes.append(outcome)
            places.append(request.recorded)
        self._deliver(places)
        if raised is not None:
            raise raised
        return outcomes

    def admit(self, call: Call, position: int, *, complete: bool = True) -> Request:
        """Run a call through every gate. The request returned is settled, or started and to be performed.

        Whoever admits calls also delivers them: `batch` does both.
        """
        with self._lock:
            request = self._admit(call, position, complete)
            self._due[request.round, position] = request
            return request

    def _admit(self, call: Call, position: int, complete: bool) -> Request:  # noqa: FBT001 - private
        with self._lock:
            self._must_run()
            principal = NOBODY if self.closed else self.host.now()
            request = Request(call, self.round, position, principal, self.elapsed())
            self._describe(request)
            self._open.add(request)
            self._record("requested", request)
            if self.closed:
                self._cancel(request)
                return request
            if not complete:
                self._settle("rejected", request, refusal(call.id, "incomplete_response"))
                return request
            state = self.state
            for gate in self.gates:
                verdict = gate(request, state)
                if verdict is None:
                    continue
                if isinstance(verdict, Outcome):
                    self._settle("replayed" if verdict.replayed else "rejected", request, verdict, gate.__name__)
                else:
                    request.original, self._joined = verdict, True
                return request
            request.summary = shape(request.arguments)
            state.memory[state.key(request)] = (request.content, request.offer, principal, request)
            request.started = True
            self._record("started", request)
            return request

    def perform(self, request: Request) -> Outcome:
        """Enter the tool of an admitted call, once, and settle the call with what came of it.

        A call that equals one still running waits for that one's outcome instead: perform that one first,
        or in another thread.
        """
        with self._lock:
            original = request.original
            if original is not None:
                self._settled.wait_for(lambda: original.outcome is not None or request.outcome is not None)
                if request.outcome is None and original.outcome is not None:
                    return self._settle("replayed", request, original.outcome._replace(replayed=True), "replay")
            if request.outcome is not None:
                return request.outcome
            if request.entered or not request.started:
                raise RuntimeError("a call is performed once, after it was admitted")
            request.entered = True
        try:
            outcome = self._enter(request)
        except BaseException:
            self.close("cancelled")
            raise
        with self._lock:
            return self._end(request, outcome)

    def settle(self, request: Request, outcome: Outcome) -> Outcome:
        """Pair a started call with its outcome and return the one that counts: the first.

        Raises, recording nothing: ValueError for an outcome that belongs to another call, RuntimeError for a
        call that was never started.
        """
        if outcome.call_id != request.call.id:
            raise ValueError(f"an outcome for {bounded(outcome.call_id)!r} cannot settle {bounded(request.call.id)!r}")
        with self._lock:
            if not request.started:
                raise RuntimeError("only a started call is settled from outside")
            return self._end(request, outcome)

    def deliver(self, requests: Sequence[Request]) -> list[Outcome]:
        """Hand over outcomes. Raises RuntimeError unless they are the next of the admitted calls, and settled."""
        with self._lock:
            outcomes = [request.outcome for request in requests if request.outcome is not None]
            if len(outcomes) < len(requests):
                raise RuntimeError("a call that has no outcome yet cannot be delivered")
            if [self._due[place] for place in sorted(self._due)[: len(requests)]] != list(requests):
                raise RuntimeError("calls are delivered once each, in request order")
            for request in requests:
                del self._due[request.round, request.position]
            self._deliver([request.recorded for request in requests])
        return outcomes

    def close(self, reason: StopReason) -> None:
        """Stop the run: no tool is entered any more, and no call waits any longer.

        A call not yet entered gives its reservation back. One that runs is answered `cancelled`, a write
        `outcome_unknown`; what it returns later is recorded as `late`.
        """
        with self._lock:
            if self.closed is None:
                self.closed = reason
                self._note("cancel_requested")
                for request in sorted(self._open, key=lambda one: (one.round, one.position)):
                    self._cancel(request)

    def stop(self, reason: StopReason) -> None:
        """Write the last event of the run. Raises RuntimeError if it was written, or a call is not delivered yet."""
        with self._lock:
            self._must_run()
            if self.ledger.count("delivered") < self.ledger.requests:
                raise RuntimeError("a call is still open: close the run and deliver every call before it stops")
            if reason == "answered":
                self._note("answered")
            self._note("stopped", code=reason)
            self.closed, self.stopped = self.closed or reason, True

    def attempt(self, request: Request) -> None:
        """Record a downstream attempt of a running tool; raises `Cancelled` if nobody waits for it."""
        with self._lock:
            if request.outcome is not None:
                raise Cancelled
            self._record("attempted", request)

    def _enter(self, request: Request) -> Outcome:
        """Run the tool. The only place that catches what a tool raises."""
        tool, claimed = request.tool, request.call.id
        code: Code = "ok"
        returned = False
        try:
            try:
                found = tool.run(request.arguments, Entry(self, request))
            except (NotFound, TemporaryFailure, NeedsUser) as fault:
                self.host.log(self._reference(request), fault)
                code, found = fault.code, fault.found
            returned = True
            if code != "ok" and found is None:
                return refusal(claimed, code)
            body = project(tool.returns, found)
            if len(body) <= tool.result_chars:
                return Outcome(claimed, code, body, CODES[code].message)
            short, omitted = shorten(body, tool.result_chars)
            return Outcome(claimed, code, short, CODES[code].message, omitted=omitted, size=len(body))
        except Exception as error:  # noqa: BLE001 - a tool may raise anything; this is where it ends
            reference = self._reference(request)
            self.host.log(reference, error)
            code = "cancelled" if isinstance(error, Cancelled) else "internal_error"
            code = "outcome_unknown" if tool.writes and not returned else code
            return refusal(claimed, code, reference=reference)

    def _end(self, request: Request, outcome: Outcome) -> Outcome:
        if request.outcome is None:
            return self._settle("returned", request, outcome)
        self._record("late", request, outcome)
        return request.outcome

    def _settle(self, kind: Kind, request: Request, outcome: Outcome, gate: str | None = None) -> Outcome:
        request.outcome = outcome
        self._open.discard(request)
        if request.started:
            self.state.memory[self.state.key(request)] = (request.content, request.offer, request.principal, outcome)
        request.recorded = self._record(kind, request, outcome, gate)
        if self._joined:
            self._settled.notify_all()
        return outcome

    def _cancel(self, request: Request) -> Outcome:
        code: Code = "outcome_unknown" if request.entered and request.tool.writes else "cancelled"
        outcome = self._settle("cancel_requested", request, refusal(request.call.id, code))
        if request.started and not request.entered:
            self._record("released", request)
        return outcome

    def _deliver(self, places: Iterable[int]) -> None:
        with self._lock:
            for place in places:
                self.ledger.deliver(place, self.elapsed())

    def _describe(self, request: Request) -> None:
        """What the ledger may say of a call before anything of it is checked: bounded, without values."""
        name, text = request.call.name, request.call.arguments
        is_text = type(text) is str
        offer = self._offers.get(name) if type(name) is str else None
        request.offer = offer or offer_text(bounded(name))
        request.label = bounded(request.call.id)
        if request.principal is not self._who[0]:
            self._who = (request.principal, who_text(request.principal))
        request.who = self._who[1]
        request.summary = f"{len(text)} characters" if is_text else type(text).__name__
        written = text if is_text else f"{type(text).__name__} {bounded(text)}"
        request.digest = digest(written.encode(errors="surrogatepass"))

    def _record(self, kind: Kind, request: Request, outcome: Outcome | None = None, gate: str | None = None) -> int:
        code = content = None
        elapsed = request.elapsed  # of the admission: one reading of the clock decides and is recorded
        if outcome is not None:
            code, body = outcome.code, outcome.body
            content = None if body is None else digest(body.encode())
        if self._clock is not None and kind not in ("requested", "started"):
            elapsed = self.elapsed()
        return self.ledger.append((kind, request.round, request.position, request.label, request.offer, gate, code,
                                   request.who, request.digest, request.summary, content, elapsed))  # fmt: skip

    def _note(self, kind: Kind, *, code: StopReason | None = None, summary: str | None = None) -> None:
        row = (kind, self.round, None, None, None, None, code, None, None, summary, None, self.elapsed())
        self.ledger.append(row)

    def _reference(self, request: Request) -> str:
        return f"{self.ledger.run_id}.{request.round}.{request.position}"

    def _must_run(self) -> None:
        if self.stopped:
            raise RuntimeError("this run has stopped: a new user request is a new run")


_BREACH: dict[str | None, StopReason] = {
    "requests": "requests_exhausted", "executions": "executions_exhausted", "tool": "executions_exhausted",
    "cost": "cost_exhausted", "deadline": "deadline_exceeded",
}  # fmt: skip
