"""Reading arguments: strict JSON first, then the tool's own model. Nothing is repaired.

1. The text is measured before it is parsed: at most 4,096 characters and 16 KiB of UTF-8.
2. It holds one JSON object (RFC 8259) and nothing else: no duplicate key, no NaN or Infinity and no
   number that overflows to one, no lone surrogate, no U+0000, no more than 64 levels.
3. The model is applied strictly and without extra fields, whatever its configuration says.
4. A refusal says what and where in at most 300 characters and never echoes a long value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any

import jiter
from pydantic import BaseModel, PlainSerializer, PlainValidator, ValidationError

from labkit.calls import shown

__all__ = ["MAX_BYTES", "MAX_CHARS", "MAX_DEPTH", "BadArguments", "Day", "read_json", "read_model", "read_object"]

MAX_CHARS = 4_096
"""Characters of argument text: far above any real call, far below what could stall a parser."""
MAX_BYTES = 16 * 1024
"""Bytes of the same text in UTF-8."""
MAX_DEPTH = 64
"""Levels of nesting, the outermost object being the first."""
MAX_MESSAGE = 300
"""Characters of a refusal, so that it can always be shown and sent whole."""
_FLOAT_DIGITS = 308
_MAX_NAME = 40
_MAX_FAULTS = 3

_WRONG = {  # how the parser begins its message -> our reason and sentence
    "EOF": ("incomplete", "the text ends before the JSON does"),
    "Detected duplicate key": ("duplicate_key", "a key occurs twice"),
    "trailing characters": ("trailing_text", "something follows the JSON value"),
    "recursion limit": ("too_deep", f"more than {MAX_DEPTH} levels of nesting"),
    "unexpected end of hex escape": ("surrogate", "an escape is cut off, or half a surrogate pair"),
    "lone": ("surrogate", "half a surrogate pair"),
    "control character": ("not_json", "a raw control character inside a text"),
    "key must be a string": ("not_json", "a key is not a text in double quotes"),
    "number out of range": ("not_json", "a number has too many digits"),
    "trailing comma": ("not_json", "a comma with nothing after it"),
}


class BadArguments(ValueError):
    """Arguments that were refused, nothing having run.

    Attributes:
        reason: a stable word for the kind of fault.
        field: the field at fault (dotted path), where the text could be read that far.
        position: index of the character at which reading stopped, where the text is not JSON.
    """

    def __init__(self, reason: str, message: str, *, field: str | None = None, position: int | None = None) -> None:
        super().__init__(message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…")
        self.reason, self.field, self.position = reason, field, position


def _read_day(value: object) -> date:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError("a calendar day is text of the form YYYY-MM-DD")
    return date.fromisoformat(value)


Day = Annotated[date, PlainValidator(_read_day, json_schema_input_type=str), PlainSerializer(date.isoformat)]
"""A calendar day for a tool's model: RFC 3339 full-date and no other form.

pydantic's own `date` also reads a number written as text ("0" is 1970-01-01), even strictly.
"""


def read_object(text: object) -> dict[str, Any]:
    """Read argument text as one strict JSON object. Raises `BadArguments`."""
    return _read_bytes(_measured(text))


def read_model(model: type[BaseModel], text: object) -> BaseModel:
    """Read argument text as one strict JSON object that is what `model` says. Raises `BadArguments`.

    The same bytes are read twice: the parser alone refuses duplicate keys, and pydantic takes a
    date or a Decimal from JSON only when it reads the JSON itself.
    """
    raw = _measured(text)
    _read_bytes(raw)
    try:
        checked: BaseModel = model.__pydantic_validator__.validate_json(raw, strict=True, extra="forbid")
        if len(raw) > _FLOAT_DIGITS:  # an exact integer may still overflow in a field that wants a float
            _walk((model.__pydantic_serializer__.to_python(checked),))
        return checked
    except BadArguments:
        raise
    except ValidationError as error:
        raise _described(error) from None
    except Exception as error:  # a validator of the model itself broke: the call cannot be judged
        raise BadArguments("unreadable", "the tool could not check these arguments") from error


def read_json(raw: bytes) -> Any:
    """Read UTF-8 bytes as one strict JSON value of any type. Raises `BadArguments`."""
    try:
        value = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise _located(raw, str(error)) from None
    try:
        _walk((value,))
    except BadArguments as wrong:
        wrong.field = _at_fault(value)
        raise
    return value


def _at_fault(value: Any) -> str | None:
    """The outermost key under which `_walk` meets what it refuses."""
    for key, item in value.items() if isinstance(value, dict) else ():
        try:
            _walk((key, item), 1)
        except BadArguments:
            return shown(key, _MAX_NAME)
    return None


def _measured(text: object) -> bytes:
    if not isinstance(text, str):
        raise BadArguments("not_text", f"arguments are JSON text, not a ready value ({type(text).__name__})")
    if len(text) > MAX_CHARS:
        raise BadArguments("too_long", f"{len(text):,} characters: at most {MAX_CHARS:,} are read")
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        raise BadArguments("surrogate", f"half a surrogate pair at character {error.start + 1}",
                           position=error.start) from None  # fmt: skip
    if len(raw) > MAX_BYTES:
        raise BadArguments("too_long", f"{len(raw):,} bytes: at most {MAX_BYTES:,} are read")
    return raw


def _read_bytes(raw: bytes) -> dict[str, Any]:
    value = read_json(raw)
    if not isinstance(value, dict):
        raise BadArguments("not_object", f"a JSON object is wanted, not {_json_type(value)}")
    return value


def _walk(parts: Iterable[Any], depth: int = 0) -> None:
    """Refuse what the parser lets through: U+0000, infinities, too many levels (it stops at 200 by itself)."""
    if depth > MAX_DEPTH:
        raise BadArguments("too_deep", _WRONG["recursion limit"][1])
    for part in parts:
        kind = type(part)
        if kind is str:
            if "\0" in part:
                raise BadArguments("nul", "the character U+0000 is not text")
        elif kind is dict:
            _walk((*part, *part.values()), depth + 1)
        elif kind is list:
            _walk(part, depth + 1)
        elif kind is float and not math.isfinite(part):
            raise BadArguments("not_finite", "a number is too large to be finite")


def _located(raw: bytes, error: str) -> BadArguments:
    found = re.search(r" at line (\d+) column (\d+)$", error)
    line, column = map(int, found.groups()) if found else (1, 0)
    lines = raw.split(b"\n")
    before = b"\n".join([*lines[: line - 1], lines[line - 1][: max(column - 1, 0)]])
    position = len(before.decode(errors="replace")) - (column == 0 and line > 1)  # column 0: the line end itself
    if not raw.strip():
        return BadArguments("blank", "the text is empty or blank", position=0)
    unnamed = ("not_json", "this is not JSON")
    reason, sentence = next((told for start, told in _WRONG.items() if error.startswith(start)), unnamed)
    if reason == "incomplete":
        position = len(raw.decode(errors="replace"))
    key = re.match(r'Detected duplicate key "(.*)" at line', error, re.DOTALL)
    field = shown(key[1], _MAX_NAME) if key else None
    sentence = f"the key {field} occurs twice" if key else sentence
    return BadArguments(reason, f"{sentence} (at character {position + 1})", field=field, position=position)


def _described(error: ValidationError) -> BadArguments:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    named = [(".".join(shown(str(part), _MAX_NAME) for part in fault["loc"]), fault) for fault in faults]
    message = "; ".join(
        f"{name or 'arguments'}: {shown(fault['msg'].removeprefix('Value error, '), 120)}"
        for name, fault in named[:_MAX_FAULTS]
    )
    more = len(faults) - _MAX_FAULTS
    return BadArguments("schema", message + (f"; and {more} more" if more > 0 else ""), field=named[0][0] or None)


def _json_type(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "null")
