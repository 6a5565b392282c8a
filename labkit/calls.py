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
from types import MappingProxyType
from typing import Any, Protocol

from pydantic import BaseModel

__all__ = ["NOBODY", "Call", "Context", "Host", "Limits", "Principal", "Tool", "is_blank", "is_invisible", "shown"]


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


NOBODY = Principal("")
"""In force when the application cannot say who asks: every call is forbidden."""


class Context(Protocol):
    """What a tool is given beside its arguments: who asks, and what is left of the run."""

    @property
    def principal(self) -> Principal: ...

    def remaining_s(self) -> float | None:
        """Seconds left before the deadline (never negative); None without a deadline."""

    def cancelled(self) -> bool:
        """True once nobody waits for this call any more: a cooperative tool ends."""

    def attempted(self) -> None:
        """Record one attempt at a downstream service; raises `Cancelled` once cancelled."""


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
        check_number(f"{self.name}: cost", self.cost)
        check_count(f"{self.name}: result_chars", self.result_chars)


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
        for name in ("rounds", "requests", "executions"):
            check_count(name, getattr(self, name))
        if not isinstance(self.per_tool, Mapping):
            raise TypeError(f"per_tool maps tool names to counts, not {self.per_tool!r}")
        for tool, count in self.per_tool.items():
            check_count(f"per_tool[{tool!r}]", count)
        for name in ("deadline_s", "cost"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name))
        object.__setattr__(self, "per_tool", MappingProxyType(dict(self.per_tool)))

    def as_dict(self) -> dict[str, Any]:
        """The limits as plain JSON values, in the order of the fields."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {"per_tool": dict(self.per_tool)}


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

    def now(self) -> Principal:
        """The principal in force at this moment."""
        if isinstance(self.principal, Principal):
            return self.principal
        try:
            principal = self.principal()
            if not isinstance(principal, Principal):
                raise TypeError(f"not a Principal: {type(principal).__name__}")
        except Exception as error:  # noqa: BLE001 - whatever the host raises: nobody is asking then
            self.log("principal", error)
            return NOBODY
        return principal

    def log(self, reference: str, error: BaseException) -> None:
        """Hand an exception to the guarded log."""
        with suppress(Exception):
            self.report(reference, error)


def check_count(name: str, value: object) -> None:
    """Raise unless `value` is a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number from 0, not {value!r}")
    if value < 0:
        raise ValueError(f"{name} is a whole number from 0, not {value!r}")


def check_number(name: str, value: object) -> None:
    """Raise unless `value` is a finite number from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is a number from 0, not {value!r}")
    if not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{name} is a finite number from 0, not {value!r}")


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


_UNSEEN = {"Cc", "Cf", "Cn", "Zl", "Zp", "Zs"}
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))  # variation selectors
)
