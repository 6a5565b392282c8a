"""A table to fill by prediction: which event spends which budget. The prices are read off runs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import ipywidgets as widgets

from labkit.workbook.pages import failed, table
from labkit.workbook.questions import COUNTED, Spend
from labkit.workbook.texts import aligned
from labkit.workbook.ui.frame import Frame
from labkit.workbook.words import SAY

__all__ = ["Grid", "spends"]


class Grid(Frame):
    """A row an event, a box a budget; the prices stay hidden until the reader asks for them."""

    def __init__(self, rows: Sequence[Spend]) -> None:
        self._priced = [(row, row.spent()) for row in rows]
        self.boxes = [[widgets.Checkbox(False, description=name, indent=False, layout={"width": "96px"})  # noqa: FBT003
                       for name in COUNTED] for _ in rows]  # fmt: skip
        lines = [widgets.HBox([widgets.HTML(escape(row.text)), *boxes], layout={"flex_flow": "row wrap"})
                 for row, boxes in zip(rows, self.boxes, strict=True)]  # fmt: skip
        for line in lines:
            line.add_class("lk-line")
        self.reveal = widgets.Button(description=SAY["reveal"], button_style="primary")
        self.shown = widgets.HTML()
        self.reveal.on_click(self._reveal)
        super().__init__([widgets.HTML(escape(SAY["spends"])), *lines, self.reveal, self.shown])
        self.add_class("lk-grid")

    def _reveal(self, _: object) -> None:
        try:
            ticked = any(box.value for boxes in self.boxes for box in boxes)
            self.shown.value = self._compared() if ticked else f"<p>{escape(SAY['nothing ticked'])}</p>"
        except Exception as error:  # noqa: BLE001 - a click must never fail in silence
            self.shown.value = failed(SAY["broke"].format(error=error))

    def _compared(self) -> str:
        right, rows = 0, []
        for (row, spent), boxes in zip(self._priced, self.boxes, strict=True):
            cells = []
            for box, amount in zip(boxes, spent.values(), strict=True):
                hit = box.value == (amount > 0)
                right += hit
                guess = SAY["yes" if box.value else "no"]
                cells.append(f"✓ {amount}" if hit else SAY["you ticked"].format(mark="✗", amount=amount, guess=guess))
            rows.append((row.text, *cells, row.why))
        score = SAY["score"].format(right=right, all=len(rows) * len(COUNTED))
        return f'<div class="lk-head" data-score="{score}">{escape(score)}</div>{table(self._columns, rows)}'

    @property
    def _columns(self) -> tuple[str, ...]:
        return (SAY["event named"], *COUNTED, SAY["why"])

    def twin(self) -> tuple[str, str]:
        rows = [(row.text, *map(str, spent.values()), row.why) for row, spent in self._priced]
        asked = "".join(f"<li>{escape(row.text)}</li>" for row, _ in self._priced)
        answers = f"<details><summary>{escape(SAY['answers'])}</summary>{table(self._columns, rows)}</details>"
        text = [SAY["spends"], *(f"  {row.text}" for row, _ in self._priced), "", SAY["answers"]]
        html = f"<p>{escape(SAY['spends'])}</p><ul>{asked}</ul>{answers}"
        return "\n".join([*text, *aligned([self._columns, *rows])]), html


def spends(*rows: Spend) -> Grid:
    """A table to fill by prediction, one row an event. Raises ValueError without a row."""
    if not rows:
        raise ValueError("a table needs a row")
    return Grid(rows)
