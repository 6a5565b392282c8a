"""The loop: rounds until one stop reason. The model proposes; the loop decides when it is over.

1. A run ends for exactly one reason, the last event of its ledger.
2. Every round first checks what is left: cancellation, deadline, rounds, progress.
3. Only a whole response with text and no calls is an answer. Running out of anything never is.
4. Each request is answered in the messages, in order, before the model is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from labkit.calls import Call, Host, Limits, is_blank
from labkit.dispatch import Dispatcher
from labkit.ledger import Ledger, StopReason, bounded
from labkit.outcomes import Outcome, result_text

__all__ = ["Message", "Model", "Response", "Result", "Run", "drive", "run", "scripted"]

SAME_REFUSALS = 3
"""Rounds of the same refused calls after which going on is no progress: once to err, once to repair, once more."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a model said in one round: calls, or an answer; `complete` is False if it was cut off."""

    calls: Sequence[Call] = ()
    answer: str | None = None
    complete: bool = True


class Message(NamedTuple):
    """One message of the conversation: `role` is user, assistant or tool; a tool's answers `call_id`."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: Any = None


Model = Callable[[Sequence[Message]], Response]


class Result(NamedTuple):
    """A request and its outcome. Round and position, from 1, name the request."""

    round: int
    position: int
    call: Call
    outcome: Outcome

    @property
    def text(self) -> str:
        """The string the model reads."""
        return result_text(self.outcome)


@dataclass(frozen=True)
class Run:
    """One user request from first model response to its stop reason.

    Attributes:
        stop: why it ended.
        answer: what the user is told; None unless `stop` is `answered`.
        results: every request of the run with its outcome, in request order.
        messages: the conversation as the model saw it, its last response included.
        ledger: what really happened.
    """

    stop: StopReason
    answer: str | None
    results: tuple[Result, ...]
    messages: tuple[Message, ...]
    ledger: Ledger = field(repr=False)

    @property
    def refused(self) -> tuple[Result, ...]:
        """The requests that were refused; each outcome says why."""
        return tuple(result for result in self.results if result.outcome.status == "rejected")

    @property
    def coverage(self) -> Literal["complete", "partial", "unknown"]:
        """How much of what was asked for stands behind the end of this run.

        unknown: an end was never seen, or no tool was entered at all. partial: the run did not end in an
        answer, a result was shortened, or something asked for was neither served nor served later. A call that
        was refused with `fix_input` asked for nothing yet: it does not count.
        """
        outcomes = [result.outcome for result in self.results]
        if "outcome_unknown" in [outcome.code for outcome in outcomes] or not self.ledger.executions:
            return "unknown"
        missed = any(outcome.omitted for outcome in outcomes)
        served: set[object] = set()
        for result in reversed(self.results):
            if result.outcome.status in ("ok", "not_found"):
                served.add(_content(result))
            elif result.outcome.next_action != "fix_input":
                missed |= _content(result) not in served
        return "partial" if missed or self.stop != "answered" else "complete"


def run(model: Model, host: Host, limits: Limits | None = None, *, user: str = "", **options: Any) -> Run:
    """Run one user request. Options are those of `Dispatcher`. Returns a `Run` on every path but these:

    Raises:
        ValueError, TypeError: limits, tools or options that cannot be meant, before anything ran.
        OutOfOrder: a gate order that cannot work.
        BaseException: what is no `Exception` (Ctrl-C) goes on to the caller, the ledger being whole.
    """
    return drive(model, Dispatcher(host, limits, **options), user=user)


def drive(model: Model, dispatcher: Dispatcher, *, user: str = "") -> Run:
    """The same over a dispatcher that the caller holds, to close it from elsewhere or to read its ledger."""
    results: list[Result] = []
    messages = [Message("user", user)]
    try:
        stop, answer = _rounds(model, dispatcher, messages, results)
    except BaseException:
        dispatcher.stop("cancelled")
        raise
    answer = answer if stop == "answered" else None
    dispatcher.stop(stop)
    return Run(stop, answer, tuple(results), tuple(messages), dispatcher.ledger)


def scripted(responses: Iterable[Response]) -> Model:
    """A model that plays `responses` in order, then answers with empty text."""
    rest = iter(tuple(responses))
    return lambda messages: next(rest, Response(answer=""))


def _rounds(model: Model, dispatcher: Dispatcher, messages: list[Message],
            results: list[Result]) -> tuple[StopReason, str | None]:  # fmt: skip
    refused: list[tuple[object, object]] = []
    repeats = 0
    while True:
        reason = _spent(dispatcher) or ("no_progress" if repeats >= SAME_REFUSALS else None)
        if reason:
            return reason, None
        round = dispatcher.open_round()
        try:
            response = model(_Seen(messages))
            calls, answer = _heard(response)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; the run ends with it
            dispatcher.host.log(f"{dispatcher.ledger.run_id}.{round}", error)
            return "model_failed", None
        messages.append(Message("assistant", answer or "", calls))
        if not calls:
            usable = response.complete and answer is not None and not is_blank(answer)
            return dispatcher.closed or ("answered" if usable else "no_progress"), answer if usable else None
        outcomes = dispatcher.batch(calls, complete=response.complete)
        batch = [Result(round, place, *pair) for place, pair in enumerate(zip(calls, outcomes, strict=True), 1)]
        results += batch
        messages += [Message("tool", result.text, call_id=result.call.id) for result in batch]
        reason, direct = _after(dispatcher, batch)
        if reason:
            return reason, direct
        before, refused = refused, [_content(result) for result in batch if result.outcome.status == "rejected"]
        repeats = 0 if len(refused) < len(batch) else repeats + 1 if refused == before else 1


def _heard(response: Response) -> tuple[tuple[Call, ...], str | None]:
    """A response's calls and answer. Raises TypeError for one that is not made of what a `Response` is made of."""
    calls, answer = tuple(response.calls), response.answer
    if not isinstance(answer, str | None) or not all(isinstance(call, Call) for call in calls):
        raise TypeError("a model returns a Response: Calls, or an answer in text")
    if not isinstance(response.complete, bool):
        raise TypeError("a response is complete, or it is not")
    return calls, answer


class _Seen(Sequence[Message]):
    """The conversation as the model may look at it: it grows, and cannot be changed from there."""

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, place: Any) -> Any:
        found = self._messages[place]
        return tuple(found) if isinstance(place, slice) else found


def _spent(dispatcher: Dispatcher) -> StopReason | None:
    """Why no further round may begin."""
    late, last = dispatcher.state.remaining_s() == 0, dispatcher.state.limits.rounds
    over: StopReason | None = "rounds_exhausted" if dispatcher.round >= last else None
    return dispatcher.closed or ("deadline_exceeded" if late else over)


def _after(dispatcher: Dispatcher, batch: list[Result]) -> tuple[StopReason | None, str | None]:
    """Why the run ends with this batch, and the answer if its results are one."""
    codes = {result.outcome.code for result in batch}
    reason = dispatcher.closed or next((_ENDS[code] for code in _ENDS if code in codes), None)
    if reason:
        return reason, None
    tools = [dispatcher.state.tools.get(result.call.name) for result in batch if result.outcome.code == "ok"]
    if len(tools) == len(batch) and all(tool and tool.return_direct for tool in tools):
        return "answered", "\n".join(result.outcome.body or "" for result in batch)
    return None, None


_ENDS: dict[str, StopReason] = {
    "outcome_unknown": "terminal_error", "internal_error": "terminal_error", "needs_user": "needs_user"
}  # fmt: skip


def _content(result: Result) -> tuple[object, object]:
    """What was asked for, whoever asked under whichever id."""
    name, text = result.call.name, result.call.arguments
    return bounded(name), text if isinstance(text, str) else (type(text), bounded(text))
