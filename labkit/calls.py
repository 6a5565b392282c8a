"""What goes in: a proposed call, who asks, which tools there are, and how much may be spent.

1. Everything here is frozen; a `Call` keeps even wrong types exactly as they arrived.
2. Identity comes from a `Principal` that the application supplies, never from arguments.
3. A limit of zero is a limit. Only `deadline_s` and `cost` may be absent (`None`).
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType, UnionType
from typing import Any, NamedTuple

from pydantic import BaseModel

__all__ = ["NOBODY", "Call", "Context", "Host", "Limits", "Principal", "Tool", "is_blank", "is_invisible", "shown"]


Offer = tuple[str | None, str | None, str | None, float | None]
"""A tool's name, version, permission and cost; of a tool that is not offered only the name it was given."""
Who = tuple[str | None, str | None, tuple[str, ...]]
"""A principal's subject, tenant and permissions, in order."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model proposed it. It has done nothing yet.

    All three fields should be text; whatever came instead is kept, for the gates to refuse.
    """

    id: Any
    name: Any
    arguments: Any


@dataclass(frozen=True)
class Principal:
    """Who the application says is asking: subject, tenant and the permissions in force now.

    Raises:
        TypeError: a subject or tenant that is not text, or permissions given as one text.
    """

    subject: str
    tenant: str | None = None
    permissions: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not isinstance(self.subject, str) or not isinstance(self.tenant, str | None):
            raise TypeError("a principal's subject is text, its tenant is text or None")
        if isinstance(self.permissions, str) or not all(isinstance(name, str) for name in self.permissions):
            raise TypeError("permissions are a collection of texts")
        object.__setattr__(self, "permissions", frozenset(self.permissions))

    @cached_property
    def known_as(self) -> Who:
        """What the ledger keeps of it."""
        return (self.subject, self.tenant, tuple(sorted(self.permissions)))


NOBODY = Principal("")
"""In force when the application cannot say who asks: every call is forbidden."""


class Context(NamedTuple):
    """What a tool is given beside its arguments: who asks, and what is left of the run.

    Attributes:
        principal: who asked when the call was admitted.
        remaining_s: seconds left before the deadline (never negative); None without a deadline.
        cancelled: True once nobody waits for this call any more: a cooperative tool ends.
        attempted: records one attempt at a downstream service; raises `Cancelled` once cancelled, and
            `TemporaryFailure` once the deadline has passed.
    """

    principal: Principal
    remaining_s: Callable[[], float | None]
    cancelled: Callable[[], bool]
    attempted: Callable[[], None]


@dataclass(frozen=True)
class Tool:
    """A tool the application offers.

    Attributes:
        name: the exact name on the allowlist.
        version: changes with the meaning of the tool; part of a call's content.
        arguments: pydantic model of the arguments. It is read strictly and without extra
            fields whatever its own configuration says.
        run: `run(arguments, context)` returns the result, or raises a `Fault`.
        permission: what the principal must hold; None for a tool open to everybody.
        writes: True if a run changes something outside. Such a call never runs twice.
        returns: pydantic model of the result: only its fields leave. None: any JSON value leaves.
        return_direct: the result is the user's answer; the model does not see it first.
        cost: units of `Limits.cost` that one execution spends.
        result_chars: longest result, in characters of JSON, that is passed on whole.

    Raises:
        TypeError, ValueError: a declaration that cannot work, with what is wrong.
    """

    name: str
    version: str
    arguments: type[BaseModel]
    run: Callable[[Any, Context], Any]
    permission: str | None = None
    writes: bool = False
    returns: type[BaseModel] | None = None
    return_direct: bool = False
    cost: float = 1
    result_chars: int = 16_384

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"a tool needs a name, not {self.name!r}")
        if not isinstance(self.version, str):
            raise TypeError(f"{self.name}: version is text, not {self.version!r}")
        for role, model in (("arguments", self.arguments), ("returns", self.returns or BaseModel)):
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                raise TypeError(f"{self.name}: {role} is a pydantic model class, not {model!r}")
        if not callable(self.run):
            raise TypeError(f"{self.name}: run is a function of (arguments, context)")
        check_number(f"{self.name}: cost", self.cost, int | float)
        check_number(f"{self.name}: result_chars", self.result_chars)

    @cached_property
    def offer(self) -> Offer:
        """What the ledger keeps of it."""
        return (self.name, self.version, self.permission, self.cost)


@dataclass(frozen=True)
class Limits:
    """What one run may spend. Each limit is checked before it is spent; zero allows nothing.

    Attributes:
        rounds: model responses.
        requests: calls in those responses, refused and replayed ones included.
        executions: admitted calls, whatever came of them.
        per_tool: executions by tool name.
        deadline_s: seconds from the start of the run, on the host's clock. None: no deadline.
        cost: sum of `Tool.cost` over executions. None: not limited.

    Raises:
        TypeError, ValueError: a limit that is no whole number from 0 (`deadline_s` and `cost`:
            no finite number from 0). `True` and `"3"` are not numbers.
    """

    rounds: int = 8
    requests: int = 50
    executions: int = 20
    per_tool: Mapping[str, int] = field(default_factory=dict)
    deadline_s: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.per_tool, Mapping):
            raise TypeError(f"per_tool maps tool names to counts, not {self.per_tool!r}")
        counts = {"rounds": self.rounds, "requests": self.requests, "executions": self.executions}
        for name, count in (counts | {f"per_tool[{tool!r}]": n for tool, n in self.per_tool.items()}).items():
            check_number(name, count)
        for name, most in (("deadline_s", self.deadline_s), ("cost", self.cost)):
            check_number(name, 0 if most is None else most, int | float)
        object.__setattr__(self, "per_tool", MappingProxyType(dict(self.per_tool)))

    def as_dict(self) -> dict[str, Any]:
        """The limits as plain JSON values, in the order of the fields."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"per_tool": dict(self.per_tool)}


@dataclass(frozen=True)
class Host:
    """The application around a run.

    Attributes:
        tools: what is offered; names are unique.
        principal: who asks, or a function that says who asks *now*. If it fails, nobody asks.
        clock: seconds from any start, never going back; needed for a deadline.
        report: `report(reference, exception)`, the guarded log. Its own failures are ignored.
    """

    tools: Sequence[Tool]
    principal: Principal | Callable[[], Principal] = NOBODY
    clock: Callable[[], float] | None = None
    report: Callable[[str, BaseException], object] = lambda reference, error: None

    def offered(self, limits: Limits) -> dict[str, Tool]:
        """The tools by name. Raises ValueError for two of one name, or limits that cannot hold here."""
        tools = {tool.name: tool for tool in self.tools}
        if len(tools) != len(self.tools):
            raise ValueError("two tools have the same name")
        if unknown := [name for name in limits.per_tool if name not in tools]:
            raise ValueError(f"per_tool limits {unknown[0]!r}, which is not offered")
        if limits.deadline_s is not None and self.clock is None:
            raise ValueError("a deadline needs a host with a clock")
        return tools

    def now(self) -> Principal:
        """The principal in force at this moment."""
        try:
            principal = self.principal if isinstance(self.principal, Principal) else self.principal()
            if isinstance(principal, Principal):
                return principal
            raise TypeError(f"not a Principal: {type(principal).__name__}")
        except Exception as error:  # noqa: BLE001 - whatever the host raises: nobody is asking then
            self.log("principal", error)
            return NOBODY

    def log(self, reference: str, error: BaseException) -> None:
        """Hand an exception to the guarded log."""
        with suppress(Exception):
            self.report(reference, error)


def check_number(name: str, value: object, kinds: type | UnionType = int) -> None:
    """Raise unless `value` is a finite number from 0 of one of these kinds; `True` is none."""
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError(f"{name} is a {'whole' if kinds is int else 'finite'} number from 0, not {value!r}")
    if not 0 <= value <= sys.float_info.max:  # type: ignore[operator]  # a number, as just seen
        raise ValueError(f"{name} is a {'whole' if kinds is int else 'finite'} number from 0, not {value!r}")


def is_invisible(character: str) -> bool:
    """True for a character that a reader cannot see: space, control, format, filler."""
    return character.isspace() or character in _FILLERS or unicodedata.category(character) in _UNSEEN


def is_blank(text: str) -> bool:
    """True for text in which a reader sees nothing, the empty text included."""
    return all(map(is_invisible, text))


def shown(text: str, limit: int) -> str:
    """`text` on one line, cut to `limit` characters, with what cannot be seen made visible."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(c if c == " " or (c.isprintable() and not is_invisible(c)) else f"\\u{ord(c):04x}" for c in cut)


_UNSEEN = {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp", "Zs"}
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))  # variation selectors
)
