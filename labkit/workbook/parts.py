"""What a scenario is made of: each part as it stands in the file. Unknown keys are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["CallPart", "ConditionPart", "FaultPart", "LimitsPart", "Part", "PrincipalPart", "ToolPart", "TurnPart"]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CallPart(Part):
    """A proposed call. A field left out is as good as null."""

    id: Any = None
    name: Any = None
    arguments: Any = None


class PrincipalPart(Part):
    """Who asks. What is left out is Alice's, of tenant A, with every read permission of the worlds."""

    subject: str = "u-alice"
    tenant: str | None = "A"
    permissions: Sequence[str] | None = None


class LimitsPart(Part):
    """As `labkit.Limits`, which judges the values."""

    rounds: Any = 8
    requests: Any = 50
    executions: Any = 20
    per_tool: dict[str, Any] = Field(default_factory=dict)
    deadline_s: Any = None
    cost: Any = None


class TurnPart(Part):
    """One model response; `principal` is in force from here on. One that `fails` never comes: the model raises."""

    calls: Sequence[CallPart] = ()
    answer: str | None = None
    complete: bool = True
    fails: bool = False
    principal: PrincipalPart | None = None


class FaultPart(Part):
    """What happens at the nth entry of a tool, counted from 1; without `entry`, at every one.

    With `attempt` it happens at the nth downstream attempt of that entry, inside the tool. `hang` and `stubborn` last
    until nobody waits any longer: the first then ends, the second goes on and returns. `slow` takes `seconds` more.
    """

    tool: str
    entry: int | None = Field(default=None, ge=1)
    attempt: int | None = Field(default=None, ge=1)
    raises: Literal["temporary", "bug", "hang", "stubborn", "slow", "crash_after_effect"]
    seconds: float = Field(default=1.0, gt=0, allow_inf_nan=False)


class ConditionPart(Part):
    """A field that the user set in the interface: a call that differs is refused (`labkit.conditions`)."""

    tool: str
    field: str
    value: Any


class ToolPart(Part):
    """What is set of a tool: as in `labkit.Tool`, which judges the values."""

    return_direct: bool | None = None
    result_chars: int | None = None
    cost: int | float | None = None
