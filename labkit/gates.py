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
from typing import Literal, NoReturn

from pydantic import BaseModel

from labkit.arguments import BadArguments, read_model
from labkit.calls import Call, Limits, Principal, Tool, is_invisible
from labkit.ledger import Ledger, digest, exact
from labkit.outcomes import Outcome, refusal

__all__ = ["GATES", "Gate", "IdScope", "OutOfOrder", "Request", "State"]

IdScope = Literal["run", "response"]
MAX_ID_CHARS = 128
"""Characters of a call id: several times what any provider sends."""
_PLAIN_ID = re.compile(rf"[!-~]{{1,{MAX_ID_CHARS}}}")


class OutOfOrder(RuntimeError):
    """A gate, or the execution, came before the gate that establishes what it needs."""


_ESTABLISHED_BY = {"id": "call_id", "tool": "allowlist", "arguments": "arguments", "content": "arguments"}


class Request:
    """One call on its way, and the facts that the gates have established about it so far.

    Attributes:
        call: as it arrived; round and position name it, its id is only what it claims.
        principal, elapsed: in force, and seconds since the run began, when the call was judged.
        id, tool, arguments, content: facts (the last is the digest of the canonical arguments). Reading
            one too early raises `OutOfOrder`.
        label, offer, who, digest, summary: what the ledger says of the call.
        outcome: what settled it; None while it is waiting or running. `recorded` is its place in the ledger.
        original: the call still running whose outcome this one shares.
        started, entered: it was admitted; its tool was called.
    """

    __slots__ = ("arguments", "call", "content", "digest", "elapsed", "entered", "id", "label", "offer", "original",
                 "outcome", "position", "principal", "recorded", "round", "started", "summary", "tool",
                 "who")  # fmt: skip

    id: str
    tool: Tool
    arguments: BaseModel
    content: bytes

    def __init__(
        self, call: Call, round: int, position: int, principal: Principal, elapsed: float | None = None
    ) -> None:  # fmt: skip
        self.call, self.round, self.position, self.principal = call, round, position, principal
        self.label: str | None = None
        self.offer = self.who = self.summary = ""
        self.digest = b""
        self.outcome: Outcome | None = None
        self.original: Request | None = None
        self.elapsed = elapsed
        self.recorded = -1
        self.started = self.entered = False

    def __getattr__(self, name: str) -> NoReturn:  # only reached for a fact that is not there yet
        gate = _ESTABLISHED_BY.get(name)
        if gate is None:
            raise AttributeError(name)
        raise OutOfOrder(f"nothing has established the call's {name} yet: the gate {gate!r} must come first")


Owner = tuple[bytes, str, Principal, Outcome | Request]


@dataclass
class State:
    """What gates may look at: the offer, the limits, the ledger's counters, the memory of ids, the time.

    `memory` holds, for each id that a started call owns, what it asked for (digest, offer, principal)
    and its outcome, or the request itself while it runs. `elapsed` gives seconds since the run began.
    """

    tools: Mapping[str, Tool]
    limits: Limits
    ledger: Ledger
    elapsed: Callable[[], float | None]
    id_scope: IdScope = "run"
    memory: dict[str | tuple[int, str], Owner] = field(default_factory=dict)

    def key(self, request: Request) -> str | tuple[int, str]:
        """Under which key a request's id is remembered."""
        return request.id if self.id_scope == "run" else (request.round, request.id)

    def remaining_s(self) -> float | None:
        """Seconds left before the deadline, never negative; None without one."""
        if self.limits.deadline_s is None:
            return None
        return max(0.0, self.limits.deadline_s - (self.elapsed() or 0.0))


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
    request.id = claimed
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
        return refusal(request.call.id, "invalid_arguments", message=str(wrong), field=wrong.field)
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
    key, asked = state.key(request), request.content
    owner = state.memory.get(key)
    if owner is None:
        return None
    content, offer, principal, earlier = owner
    same_principal = (principal.subject, principal.tenant) == (request.principal.subject, request.principal.tenant)
    if content != asked or offer != request.offer or not same_principal:
        return refusal(request.call.id, "id_conflict", field="id")
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


GATES: tuple[Gate, ...] = (
    request_budget, call_id, allowlist, arguments, authorization, replay, execution_budget,
)  # fmt: skip


def canonical(checked: BaseModel) -> bytes:
    """One text for equal arguments: as the model orders its fields, keys sorted where objects lie inside."""
    written: bytes = checked.__pydantic_serializer__.to_json(checked, warnings=False)
    return json.dumps(json.loads(written), sort_keys=True).encode() if b"{" in written[1:] else written


def _readable(text: str) -> bool:
    """Not empty or too long, nothing invisible at either end, no control character or half surrogate inside."""
    if not 0 < len(text) <= MAX_ID_CHARS or is_invisible(text[0]) or is_invisible(text[-1]):
        return False
    return {"Cc", "Cs", "Zl", "Zp"}.isdisjoint(map(unicodedata.category, text))
