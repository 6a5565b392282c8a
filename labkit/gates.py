"""The gates: pure decisions about one call, in the one order that holds.

1. A gate sees a `Request` and the `State` of the run, and returns None to let the call pass, or what
   settles it: an `Outcome`, or the earlier `Request` whose outcome it shares.
2. A gate changes nothing but the fact it establishes on the request it judges.
3. Permission is judged before memory, memory before the execution budget, and the reservation comes last.
4. A gate that needs a fact not yet established raises `OutOfOrder` and names the gate that must come first.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from labkit.arguments import BadArguments, read_model
from labkit.calls import Call, Limits, Offer, Principal, Tool, is_invisible
from labkit.ledger import Kind, Ledger, Row, StopReason, asked, bounded, digest, exact, measured
from labkit.outcomes import Code, Outcome, refusal

__all__ = ["GATES", "Gate", "IdScope", "OutOfOrder", "Request", "State"]

IdScope = Literal["run", "response"]
Key = str | tuple[int, str]
T = TypeVar("T")
MAX_ID_CHARS = 128
"""Characters of a call id: several times what any provider sends."""
_PLAIN_ID = re.compile(rf"[!-~]{{1,{MAX_ID_CHARS}}}")


class OutOfOrder(RuntimeError):
    """A gate, or the execution, came before the gate that establishes what it needs."""


class Fact(Generic[T]):
    """What a gate establishes on a request; raises `OutOfOrder` when it is read before that."""

    def __init__(self, gate: str) -> None:
        self.gate = gate

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, request: object, owner: type) -> T:  # a value set on the request comes before this
        raise OutOfOrder(f"nothing has established the call's {self.name} yet: the gate {self.gate!r} must come first")


class Request:
    """One call on its way, and the facts that the gates have established about it so far.

    Attributes:
        call: as it arrived; round and position name it, its id is only what it claims.
        principal, elapsed: in force, and seconds since the run began, when the call was judged.
        key, tool, arguments, content: facts (under what its id is remembered; digest of the canonical
            arguments). Reading one too early raises `OutOfOrder`.
        label, offer, digest, summary: what the ledger says of the call.
        outcome, recorded: what settled it, and the row that says so; None while it is waiting or running.
        original: the call still running whose outcome this one shares.
        started, entered: it was admitted; its tool was called.
    """

    key = Fact[Key]("call_id")
    tool = Fact[Tool]("allowlist")
    arguments = Fact[BaseModel]("arguments")
    content = Fact[bytes]("arguments")
    offer: Offer

    def __init__(self, call: Call, round: int, position: int, principal: Principal,
                 elapsed: float | None = None) -> None:  # fmt: skip
        self.call, self.round, self.position, self.principal, self.elapsed = call, round, position, principal, elapsed
        self.label = bounded(call.id)
        self.digest, self.summary = measured(call.arguments)
        self.outcome: Outcome | None = None
        self.recorded: Row = ()
        self.original: Request | None = None
        self.started = self.entered = False

    def row(self, kind: Kind, elapsed: float | None, code: Code | None = None, content: bytes | None = None,
            gate: str | None = None) -> Row:  # fmt: skip
        """What the ledger keeps of an event of this call."""
        return (kind, gate, elapsed, code, content, self.round, self.position, self.label, self.offer,
                self.principal.known_as, self.digest, self.summary)  # fmt: skip


@dataclass
class State:
    """What gates may look at: the offer, the limits, the ledger's counters, the memory of ids, the time.

    For each id that a started call owns, `owners` holds the row of its start, and `memory` its outcome,
    or the request itself while it runs. `elapsed` gives seconds since the run began.
    """

    tools: Mapping[str, Tool]
    limits: Limits
    ledger: Ledger
    elapsed: Callable[[], float | None]
    id_scope: IdScope = "run"
    owners: dict[Key, Row] = field(default_factory=dict)
    memory: dict[Key, Outcome | Request] = field(default_factory=dict)

    def remaining_s(self) -> float | None:
        """Seconds left before the deadline, never negative; None without one."""
        most = self.limits.deadline_s
        return None if most is None else max(0.0, most - (self.elapsed() or 0.0))


Gate = Callable[[Request, State], Outcome | Request | None]


def request_budget(request: Request, state: State) -> Outcome | None:
    """Every call spends one request, whatever becomes of it."""
    if state.ledger.requests > state.limits.requests:
        return refusal(request.call.id, "budget_exhausted", field="requests")
    return None


def call_id(request: Request, state: State) -> Outcome | None:
    """A result can only be paired with an id that is text: not blank, padded, too long or unreadable."""
    claimed = request.call.id
    if not isinstance(claimed, str) or not (_PLAIN_ID.fullmatch(claimed) or _readable(claimed)):
        return refusal(claimed, "invalid_call", field="id")
    request.key = claimed if state.id_scope == "run" else (request.round, claimed)
    return None


def allowlist(request: Request, state: State) -> Outcome | None:
    """The name is, character for character, that of an offered tool. Likeness is no permission."""
    name = request.call.name
    tool = state.tools.get(name) if isinstance(name, str) else None
    if tool is None:
        return refusal(request.call.id, "unknown_tool", field="name")
    request.tool = tool
    return None


def arguments(request: Request, state: State) -> Outcome | None:
    """The text is strict JSON and what the tool's model says; it is read here and nowhere else."""
    try:
        request.arguments = checked = read_model(request.tool.arguments, request.call.arguments)
    except BadArguments as wrong:
        return refusal(request.call.id, "invalid_arguments", str(wrong), field=wrong.field)
    written = canonical(checked)
    request.content = request.digest = request.digest if written == request.call.arguments.encode() else digest(written)
    return None


def authorization(request: Request, state: State) -> Outcome | None:
    """The principal in force now, not when the tool was offered, holds the tool's permission."""
    needed, principal = request.tool.permission, request.principal
    if not principal.subject or (needed is not None and needed not in principal.permissions):
        return refusal(request.call.id, "forbidden")
    return None


def replay(request: Request, state: State) -> Outcome | Request | None:
    """Same id and same content: the earlier outcome. Same id, other content or principal: a conflict.

    Only a started call owns its id. A read that failed may run again; a write never does.
    """
    key, content = request.key, request.content
    owner = state.owners.get(key)
    if owner is None:
        return None
    if asked(owner) != (request.offer, request.principal.known_as[:2], content):
        return refusal(request.call.id, "id_conflict", field="id")
    earlier = state.memory[key]
    if isinstance(earlier, Request):
        return earlier
    if earlier.status == "failed" and not request.tool.writes:
        return None
    return earlier._replace(replayed=True)


def execution_budget(request: Request, state: State) -> Outcome | None:
    """There is an execution left in every budget, before the tool is entered."""
    limits, ledger, tool = state.limits, state.ledger, request.tool
    spent = None
    if ledger.executions >= limits.executions:
        spent = "executions"
    elif limits.per_tool and ledger.executions_of(tool.name) >= limits.per_tool.get(tool.name, limits.executions):
        spent = "tool"
    elif limits.cost is not None and ledger.cost + exact(tool.cost) > exact(limits.cost):
        spent = "cost"
    elif limits.deadline_s is not None and (request.elapsed or 0) >= limits.deadline_s:
        spent = "deadline"
    return refusal(request.call.id, "budget_exhausted", field=spent) if spent else None


BREACH: dict[str | None, StopReason] = {
    "requests": "requests_exhausted", "executions": "executions_exhausted", "tool": "executions_exhausted",
    "cost": "cost_exhausted", "deadline": "deadline_exceeded",
}  # fmt: skip
"""The reason why a run stops at a budget, where it does."""
GATES: tuple[Gate, ...] = (request_budget, call_id, allowlist, arguments, authorization, replay, execution_budget)


def canonical(checked: BaseModel) -> bytes:
    """One text for equal arguments: as the model orders its fields, keys sorted where objects lie inside."""
    written: bytes = checked.__pydantic_serializer__.to_json(checked, warnings=False)
    return written if written.rfind(b"{") == 0 else json.dumps(json.loads(written), sort_keys=True).encode()


def _readable(text: str) -> bool:
    """Not empty or too long, nothing invisible at either end, no control character or half surrogate inside."""
    framed = 0 < len(text) <= MAX_ID_CHARS and not (is_invisible(text[0]) or is_invisible(text[-1]))
    return framed and {"Cc", "Cs", "Zl", "Zp"}.isdisjoint(map(unicodedata.category, text))
