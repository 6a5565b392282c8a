"""What stands behind an answer: five kinds of evidence for each claim, each with a verdict and its witnesses.

1. A verdict is `yes` where a witness shows it, `no` where the witness that would show it was there and does not, and
   `unknown` where there is no such witness or it cannot tell. Unknown is never rounded to one of the others.
2. Witnesses are the ledger's events, the spy's reads at the data and the messages of the conversation. What an answer
   says of itself is none.
3. Words are looked for as they stand. That they are found says where they come from, not that they are true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Literal, NamedTuple

from labkit.arguments import BadArguments, read_object
from labkit.ledger import Event
from labkit.loop import Result, Run
from labkit.outcomes import Code, Outcome, compact
from labkit.worlds.spy import Spy

__all__ = [
    "KINDS", "Claim", "Evidence", "Found", "Verdict", "Witness", "asked_with", "collect", "events_of", "last_of",
    "listed", "unbacked", "weakest", "witnesses",
]  # fmt: skip

Verdict = Literal["yes", "no", "unknown"]
KINDS = ("proposal", "authorization", "service entry", "result", "answer")


class Witness(NamedTuple):
    """Where to look: an event or a read of the spy, counted from 1, or a message by its place in `Run.messages`."""

    kind: Literal["event", "read", "message"]
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class Claim(NamedTuple):
    """Words of an answer, and the request that must stand behind them.

    Attributes:
        says: the words, as they stand in the answer.
        tool, asked: the tool, and arguments among those it was asked with, type for type.
        record: the id by which the spy knows what the claim is about.
        code: of the result that carries the claim. With `ok` the words must stand in that result.
        absent: the claim is that there is no such thing.
    """

    says: str
    tool: str
    asked: Mapping[str, Any]
    record: str
    code: Code = "ok"
    absent: bool = False


class Evidence(NamedTuple):
    """One kind of evidence for a claim."""

    kind: str
    verdict: Verdict
    where: tuple[Witness, ...]
    why: str


def collect(claim: Claim, run: Run, spy: Spy | None = None) -> tuple[Evidence, ...]:
    """The evidence of each of `KINDS` for a claim. Without a spy nobody knows whether the data was entered."""
    result = _request(claim, run)
    looks: tuple[Look, ...] = (_proposal, _authorization, partial(_entry, spy=spy), _result, _answer)
    return tuple(Evidence(kind, *look(claim, run, result)) for kind, look in zip(KINDS, looks, strict=True))


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """A chain of evidence is as good as its weakest part: `no` before `unknown` before `yes`."""
    return min(verdicts, key=("no", "unknown", "yes").index, default="unknown")


def listed(where: Iterable[Witness]) -> str:
    """Witnesses in few words: `events 2, 3, read 1`."""
    numbers: dict[str, list[int]] = {}
    for kind, number in sorted(set(where), key=_in_order):
        numbers.setdefault(kind, []).append(number)
    named = (f"{kind}{'s' * (len(of) > 1)} {', '.join(map(str, of))}" for kind, of in numbers.items())
    return "; ".join(named)


def _in_order(witness: Witness) -> tuple[int, int]:
    return ("event", "read", "message").index(witness.kind), witness.number


Found = tuple[Verdict, tuple[Witness, ...], str]
"""A verdict, the witnesses for it, and why in few words."""
Look = Callable[[Claim, Run, Result | None], Found]


def _request(claim: Claim, run: Run) -> Result | None:
    """The request behind a claim: of those that asked for it, the first with the right code, else the last."""
    fit = [result for result in run.results if result.call.name == claim.tool and _asks(claim, result.call.arguments)]
    return next((result for result in fit if result.outcome.code == claim.code), fit[-1] if fit else None)


def _asks(claim: Claim, arguments: Any) -> bool:
    asked = asked_with(arguments)
    return all(name in asked and compact(asked[name]) == compact(value) for name, value in claim.asked.items())


def asked_with(arguments: Any) -> dict[str, Any]:
    """The arguments of a call by name; none for what is no strict JSON object."""
    with suppress(BadArguments):
        return read_object(arguments)
    return {}


def events_of(result: Result, run: Run, *kinds: str) -> list[Event]:
    """The events of these kinds that a request has, in order."""
    place = (result.round, result.position)
    return [event for event in run.ledger if (event.round, event.position) == place and event.kind in kinds]


def witnesses(events: Iterable[Event]) -> tuple[Witness, ...]:
    """Events as witnesses."""
    return tuple(Witness("event", event.seq) for event in events)


def last_of(run: Run, kind: str) -> tuple[Witness, ...]:
    """The last event of a kind as a witness, if there is one."""
    return witnesses([event for event in run.ledger if event.kind == kind][-1:])


def _proposal(claim: Claim, run: Run, result: Result | None) -> Found:
    if result is None:
        return "no", (), "nobody asked for it"
    return "yes", witnesses(events_of(result, run, "requested")), "the model asked for it"


def _authorization(claim: Claim, run: Run, result: Result | None) -> Found:
    if result is None:
        return "no", (), "nothing was asked, so nothing was admitted"
    passed = events_of(result, run, "started", "replayed")
    if not passed:
        refused = events_of(result, run, "rejected", "cancel_requested")
        return "no", witnesses(refused), f"not admitted: {result.outcome.code}"
    held = passed[0].permission in (None, *passed[0].permissions)
    why = f"{passed[0].permission or 'no permission'} needed, and held: {'yes' if held else 'no'}"
    return "yes" if held else "no", witnesses(passed), why


def _entry(claim: Claim, run: Run, result: Result | None, spy: Spy | None) -> Found:
    """The spy knows records and no calls: which call a read that handed out nothing belongs to, only counting tells."""
    if spy is None:
        return "unknown", (), "no spy was at the data"
    if reads := [Witness("read", n) for n, read in enumerate(spy.reads, 1) if claim.record in read.records]:
        return "yes", tuple(reads), f"the data handed out {claim.record}"
    if result is None or not events_of(result, run, "started"):
        return "no", (), "the tool was not entered for it"
    started = [(event.round, event.position) for event in run.ledger if event.kind == "started"]
    nth = 1 + started.index((result.round, result.position))
    whole = len(spy.reads) == run.ledger.executions == len(started)
    if whole and not spy.reads[nth - 1].records:
        return "yes", (Witness("read", nth),), "the data was entered and handed out nothing"
    if whole or all(read.records for read in spy.reads):
        tries = events_of(result, run, "attempted")
        return "no", witnesses(tries), f"the data was not entered for it; attempts: {len(tries)}"
    return "unknown", (), "the spy notes no call: whose read is whose?"


def _result(claim: Claim, run: Run, result: Result | None) -> Found:
    told = events_of(result, run, "delivered") if result else []
    if result is None or not told:
        return "no", (), "no result was delivered"
    read = [n for n, message in enumerate(run.messages) if (message.role, message.call_id) == ("tool", result.call.id)]
    index = next((n for n in read if run.messages[n].text == result.text), None)
    if index is None:
        return "no", witnesses(told), "no message holds what was delivered"
    entered = bool(events_of(result, run, "started"))
    verdict, why = _carried(claim, result, entered=entered)
    return verdict, (*witnesses(told), Witness("message", index)), why


def _carried(claim: Claim, result: Result, *, entered: bool) -> tuple[Verdict, str]:
    """Whether a result carries a claim."""
    outcome = result.outcome
    if outcome.status == "unknown" or (outcome.status == "cancelled" and entered):
        return "unknown", f"{outcome.code}: its end was never seen"
    if claim.absent:
        return _absence(outcome)
    if outcome.code != claim.code:
        return "no", f"the result is {outcome.code}"
    if claim.code != "ok":
        return "yes", f"the result is {claim.code}"
    if compact(claim.says)[1:-1] in result.text:
        return "yes", "the result has these words"
    return ("unknown", "not in what is left of it") if outcome.omitted else ("no", "the result has no such words")


def _absence(outcome: Outcome) -> tuple[Verdict, str]:
    """Only a whole and empty result shows that there is nothing; what is not found may also be another's."""
    if outcome.code == "not_found_or_not_accessible":
        return "unknown", "not there, or another's: the code does not say which"
    if outcome.code != "ok":
        return "no", f"the result is {outcome.code}"
    items = outcome.data.get("items") if isinstance(outcome.data, dict) else outcome.data
    if items == [] and outcome.omitted:
        return "unknown", "nothing is left of it"
    return ("yes", "the result is whole and empty") if items == [] else ("no", "the result is not empty")


def _answer(claim: Claim, run: Run, result: Result | None) -> Found:
    if run.answer is None:
        return "no", last_of(run, "stopped"), f"there is no answer: {run.stop}"
    spoken = run.messages[-1].text == run.answer
    where = (*last_of(run, "answered"), *((Witness("message", len(run.messages) - 1),) if spoken else ()))
    said = claim.says in run.answer
    return "yes" if said else "no", where, "the answer says it" if said else "the answer does not say it"


_NUMBER = re.compile(r"\d+(?:[:.,]\d+)*")


def unbacked(run: Run) -> tuple[str, ...]:
    """Numbers in the answer, each once, that stand neither in what the user said nor in a result that was delivered."""
    told = [message.text for message in run.messages if message.role == "user"]
    told += [result.outcome.body or "" for result in run.results]
    known = {number for text in told for number in _NUMBER.findall(text)}
    return tuple(dict.fromkeys(number for number in _NUMBER.findall(run.answer or "") if number not in known))
