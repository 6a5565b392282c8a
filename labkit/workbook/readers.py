"""Three readers of the same argument text, side by side: ours, strict pydantic alone, and the standard library.

The other two are written as careful people write them. What they let through is what the strict reader is for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from labkit.arguments import BadArguments, read_model
from labkit.calls import Tool
from labkit.workbook.texts import visible
from labkit.workbook.words import SAY

__all__ = ["READERS", "Stop", "alone", "in_force", "stop_of"]


class _Search(BaseModel):
    """`search_notices` as one writes it with pydantic alone."""

    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    published_from: date | None


_WRITTEN: dict[str, type[BaseModel]] = {"search_notices": _Search}


def alone(tool: Tool) -> type[BaseModel]:
    """A strict pydantic model of a tool's arguments that refuses extra fields: good practice, without our reader."""
    base = _WRITTEN.get(tool.name, tool.arguments)
    return type(base.__name__, (base,), {"model_config": ConfigDict(strict=True, extra="forbid")})


def in_force(read: Callable[[Tool, Any], BaseModel], tool: Tool, text: Any) -> str:
    """What a guard that was put in place of the real one hands to the tool."""
    try:
        return _took(read(tool, text))
    except (BadArguments, ValidationError) as wrong:
        return f"✗ {visible(str(wrong), 120)}"


def ours(tool: Tool, text: Any) -> str:
    try:
        return _took(read_model(tool.arguments, text))
    except BadArguments as wrong:
        return f"✗ {wrong.reason}: {wrong}"


def pydantic_alone(tool: Tool, text: Any) -> str:
    try:
        return _took(alone(tool).model_validate_json(text))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        return f"✗ {where + ': ' if where else ''}{visible(fault['msg'], 120)}"


def standard_library(tool: Tool, text: Any) -> str:
    """`json.loads`, then `date.fromisoformat` for what is a date."""
    try:
        read = json.loads(text)
        if isinstance(read, dict) and isinstance(read.get("published_from"), str):
            read["published_from"] = date.fromisoformat(read["published_from"])
    except (ValueError, TypeError, RecursionError) as error:
        return f"✗ {visible(str(error), 120)}"
    return f"✓ {visible(_written(read), 120)}"


READERS: dict[str, Callable[[Tool, Any], str]] = {
    "ours": ours, "pydantic alone": pydantic_alone, "standard library": standard_library,
}  # fmt: skip
"""What each reader makes of a text: `✓` and the values it would hand to the tool, or `✗` and why not."""


def _took(model: BaseModel) -> str:
    return f"✓ {visible(_written(dict(model)), 120)}"


def _written(values: Any) -> str:
    """Values as Python writes them, days as their text."""
    if not isinstance(values, dict):
        return repr(values)
    return str({name: str(value) if isinstance(value, date) else value for name, value in values.items()})


class Stop(NamedTuple):
    """Where the strict reader stopped.

    Attributes:
        reason, message: of the refusal.
        position: index of the character, where the text is no JSON; else None.
        key: the last key that was read before it.
        field: the field at fault, where the text could be read that far.
    """

    reason: str
    message: str
    position: int | None
    key: str | None
    field: str | None

    def __str__(self) -> str:
        parts = {"at character": self.position and self.position + 1, "key": self.key, "field": self.field}
        if self.position == 0:
            parts["at character"] = 1
        return ", ".join(f"{SAY[name]} {visible(value, 40)}" for name, value in parts.items() if value is not None)


def stop_of(tool: Tool, text: Any) -> Stop | None:
    """Where and why the strict reader stops in a text; None if it takes it."""
    try:
        read_model(tool.arguments, text)
    except BadArguments as wrong:
        key = None if wrong.position is None else _last_key(text[: wrong.position])
        return Stop(wrong.reason, str(wrong), wrong.position, key, wrong.field)
    return None


def _last_key(text: str) -> str | None:
    """The last complete `"key":` in a beginning of JSON text; keys inside texts do not count."""
    strings = re.finditer(r'"((?:[^"\\]|\\.)*)"(\s*:)?', text, re.DOTALL)
    return next((found[1] for found in reversed(list(strings)) if found[2]), None)
