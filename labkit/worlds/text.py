"""World text: three functions that need no data and no permission."""

from __future__ import annotations

from fractions import Fraction

from pydantic import BaseModel, Field

from labkit.calls import Context, Tool
from labkit.worlds.spy import Spy

__all__ = ["tools"]


class Text(BaseModel):
    text: str


class Values(BaseModel):
    """`int | float` keeps 1 and 1.0 apart and large integers exact."""

    values: list[int | float] = Field(min_length=1)


class Length(BaseModel):
    length: int


class Upper(BaseModel):
    upper: str


class Average(BaseModel):
    average: int | float


def length(arguments: Text, context: Context) -> dict[str, int]:
    """Number of Unicode code points; not bytes, not what a reader would count as one character."""
    return {"length": len(arguments.text)}


def upper(arguments: Text, context: Context) -> dict[str, str]:
    """Upper case by the Unicode default rules, whatever the locale."""
    return {"upper": arguments.text.upper()}


def average(arguments: Values, context: Context) -> dict[str, int | float]:
    """The mean, computed exactly and rounded once; beyond the range of a float it is the nearest integer."""
    mean = sum(map(Fraction, arguments.values), Fraction()) / len(arguments.values)
    if mean.denominator == 1 and all(isinstance(value, int) for value in arguments.values):
        return {"average": mean.numerator}
    try:
        return {"average": float(mean)}
    except OverflowError:
        return {"average": round(mean)}


def tools(spy: Spy) -> tuple[Tool, ...]:
    """The world's tools; there is no data to spy on."""
    return (
        Tool("length", "1", Text, length, returns=Length),
        Tool("upper", "1", Text, upper, returns=Upper),
        Tool("average", "1", Values, average, returns=Average),
    )
