"""Text of any origin made fit to be shown: visible, on one line, cut and counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from labkit.calls import shown
from labkit.workbook.words import SAY

__all__ = ["aligned", "name_of", "visible"]

LONGEST = 160
"""Characters of a model's text that are shown at once."""


def visible(value: object, limit: int = LONGEST) -> str:
    """Text of any origin on one line: what cannot be seen is written out, what is too long is cut and counted."""
    text = value if isinstance(value, str) else "" if value is None else repr(value)
    end = "" if len(text) <= limit else SAY["cut"].format(length=len(text))
    return shown(text[:limit], limit) + end


def name_of(round: int, position: int | None) -> str:
    """A request by round and place, as `1.2`; a round alone as `1`."""
    return f"{round}.{position}" if position else f"{round}" if round else ""


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned text. Wide (East Asian) characters may shift a column; no text is lost."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] for row in rows)
    return ["  " + "  ".join(cells).rstrip() for cells in padded]
