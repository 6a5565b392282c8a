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
from functools import partial
from operator import attrgetter
from typing import Literal

from labkit.calls import NOBODY, Call, Context, Host, Limits
from labkit.gates import BREACH, GATES, Gate, IdScope, Request, State
from labkit.ledger import NO_CALL, Kind, Ledger, Row, StopReason, bounded, digest, settings_text, shape
from labkit.outcomes import Cancelled, Code, NeedsUser, NotFound, Outcome, TemporaryFailure, refusal, served

__all__ = ["Dispatcher"]


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
        if id_scope not in ("run", "response") or on_limit not in ("stop", "answer"):
            raise ValueError(f"not an option: id_scope {id_scope!r} with on_limit {on_limit!r}")
        self.host, self.on_limit, self.gates = host, on_limit, tuple(gates)
        self.ledger = Ledger(run_id=run_id)
        self.state = State(host.offered(limits), limits, self.ledger, self.elapsed, id_scope)
        self.round, self._round_is_new = 0, False
        self.closed: StopReason | None = None
        self.stopped = False
        self._clock, self._began = host.clock, host.clock() if host.clock else 0.0
        self._settings = settings_text(limits, id_scope)
        self._open: set[Request] = set()
        self._due: set[Request] = set()
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
        self._note("round_opened", summary=self._settings)
        return self.round

    def batch(self, calls: Iterable[Call], *, complete: bool = True) -> list[Outcome]:
        """Answer every call of one response, in order: one outcome a call, earlier ones never lost.

        A new round is opened unless one is waiting for its calls. `complete` is False for a response that
        was cut off: none of its calls is executed.

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
        rows: list[Row] = []
        raised: BaseException | None = None
        for position, call in enumerate(calls, 1):
            request: Request | None = None
            try:
                request = self._admit(call, position, complete)
                outcome = request.outcome or self.perform(request)
                if outcome.code == "budget_exhausted" and self.on_limit == "stop":
                    self.close(BREACH[outcome.field])
            except BaseException as error:  # noqa: BLE001 - raised again below, when the books are closed
                raised = raised or error
                request = request or next((one for one in self._open if one.call is call), None)
                self.close("cancelled")
                request = request or self._admit(call, position, complete)
                outcome = request.outcome or self._cancel(request)
            outcomes.append(outcome)
            rows.append(request.recorded)
        self._deliver(rows)
        if raised is not None:
            raise raised
        return outcomes

    def admit(self, call: Call, position: int, *, complete: bool = True) -> Request:
        """Run a call through every gate. The request returned is settled, or started and to be performed.

        Whoever admits calls also delivers them: `batch` does both.
        """
        with self._lock:
            request = self._admit(call, position, complete)
            self._due.add(request)
            return request

    def _admit(self, call: Call, position: int, complete: bool) -> Request:  # noqa: FBT001 - private
        with self._lock:
            self._must_run()
            state, name = self.state, call.name
            principal = NOBODY if self.closed else self.host.now()
            request = Request(call, self.round, position, principal, self.elapsed())
            tool = state.tools.get(name) if type(name) is str else None
            request.offer = tool.offer if tool else (bounded(name), None, None, None)
            self._open.add(request)
            self.ledger.append(request.row("requested", request.elapsed))
            if self.closed:
                self._cancel(request)
                return request
            if not complete:
                self._settle("rejected", request, refusal(call.id, "incomplete_response"))
                return request
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
            row = request.row("started", request.elapsed)
            state.owners[request.key], state.memory[request.key] = row, request
            request.started = True
            self.ledger.append(row)
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
            return self._settle("returned", request, outcome)

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
            return self._settle("returned", request, outcome)

    def deliver(self, requests: Sequence[Request]) -> list[Outcome]:
        """Hand over outcomes. Raises RuntimeError unless they are the next of the admitted calls, and settled."""
        with self._lock:
            outcomes = [request.outcome for request in requests if request.outcome is not None]
            if len(outcomes) < len(requests):
                raise RuntimeError("a call that has no outcome yet cannot be delivered")
            if sorted(self._due, key=_PLACE)[: len(requests)] != list(requests):
                raise RuntimeError("calls are delivered once each, in request order")
            self._due.difference_update(requests)
            self._deliver(request.recorded for request in requests)
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
                for request in sorted(self._open, key=_PLACE):
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
        """Record a downstream attempt of a tool. Raises `Cancelled`, or past the deadline `TemporaryFailure`."""
        with self._lock:
            if request.outcome is not None or self.state.remaining_s() == 0:
                raise Cancelled if request.outcome is not None else TemporaryFailure
            self.ledger.append(request.row("attempted", self.elapsed()))

    def _enter(self, request: Request) -> Outcome:
        """Run the tool. The only place that catches what a tool raises."""
        tool, claimed = request.tool, request.call.id
        context = Context(request.principal, self.state.remaining_s, lambda: request.outcome is not None,
                          partial(self.attempt, request))  # fmt: skip
        code: Code = "ok"
        returned = False
        try:
            try:
                found = tool.run(request.arguments, context)
            except (NotFound, TemporaryFailure, NeedsUser) as fault:
                self._log(request, fault)
                code, found = fault.code, fault.found
            returned = True
            return served(claimed, code, found, tool.returns, tool.result_chars)
        except Exception as error:  # noqa: BLE001 - a tool may raise anything; this is where it ends
            reference = self._log(request, error)
            code = "cancelled" if isinstance(error, Cancelled) else "internal_error"
            return refusal(claimed, "outcome_unknown" if tool.writes and not returned else code, reference=reference)

    def _settle(self, kind: Kind, request: Request, outcome: Outcome, gate: str | None = None) -> Outcome:
        """Record an outcome and return the one that counts: the first."""
        content = None if outcome.body is None else digest(outcome.body.encode())
        late = request.outcome
        row = request.row("late" if late else kind, self.elapsed(), outcome.code, content, gate)
        self.ledger.append(row)
        if late:
            return late
        request.outcome, request.recorded = outcome, row
        self._open.discard(request)
        if request.started:
            self.state.memory[request.key] = outcome
        if self._joined:
            self._settled.notify_all()
        return outcome

    def _cancel(self, request: Request) -> Outcome:
        code: Code = "outcome_unknown" if request.entered and request.tool.writes else "cancelled"
        outcome = self._settle("cancel_requested", request, refusal(request.call.id, code))
        if request.started and not request.entered:
            self.ledger.append(request.row("released", self.elapsed()))
        return outcome

    def _deliver(self, rows: Iterable[Row]) -> None:
        with self._lock:
            for row in rows:
                self.ledger.deliver(row, self.elapsed())

    def _note(self, kind: Kind, *, code: StopReason | None = None, summary: str | None = None) -> None:
        row = (kind, None, self.elapsed(), code, None, self.round, None, None, *NO_CALL, None, summary)
        self.ledger.append(row)

    def _log(self, request: Request, error: Exception) -> str:
        reference = f"{self.ledger.run_id}.{request.round}.{request.position}"
        self.host.log(reference, error)
        return reference

    def _must_run(self) -> None:
        if self.stopped:
            raise RuntimeError("this run has stopped: a new user request is a new run")


_PLACE = attrgetter("round", "position")
