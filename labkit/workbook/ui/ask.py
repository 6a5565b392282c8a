"""Predict, then run: the reader answers first; what happened is then read off the run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import ipywidgets as widgets

from labkit.workbook.pages import failed, table
from labkit.workbook.questions import Question
from labkit.workbook.scenarios import Scenario, play
from labkit.workbook.ui.frame import Frame
from labkit.workbook.words import SAY

__all__ = ["Ask", "check", "predict"]


class Ask(Frame):
    """Questions, each about a scenario; the answers stay hidden until every one has been answered."""

    def __init__(self, pairs: Sequence[tuple[Scenario, Question]]) -> None:
        self._asked = [(question, question.answer(play(scenario))) for scenario, question in pairs]
        self.choices = [
            widgets.Dropdown(
                options=[(SAY["choose"], ""), *((option, option) for option in question.options)],
                description=question.text,
                style={"description_width": "initial"},
                layout={"width": "auto"},
            )
            for question, _ in self._asked
        ]
        self.reveal = widgets.Button(description=SAY["reveal"], button_style="primary")
        self.shown = widgets.HTML()
        self.reveal.on_click(self._reveal)
        super().__init__([*self.choices, self.reveal, self.shown])
        self.add_class("lk-asks")

    def _reveal(self, _: object) -> None:
        try:
            guesses = [choice.value for choice in self.choices]
            self.shown.value = self._compared(guesses) if all(guesses) else f"<p>{escape(SAY['first'])}</p>"
        except Exception as error:  # noqa: BLE001 - a click must never fail in silence
            self.shown.value = failed(SAY["broke"].format(error=error))

    def _compared(self, guesses: Sequence[str]) -> str:
        rows = [(question.text, guess, fact, "✓" if guess == fact else "✗", question.why)
                for (question, fact), guess in zip(self._asked, guesses, strict=True)]  # fmt: skip
        right = SAY["score"].format(right=sum(row[3] == "✓" for row in rows), all=len(rows))
        columns = (SAY["question"], SAY["guess"], SAY["fact"], "", SAY["why"])
        return f'<div class="lk-head" data-score="{right}">{escape(right)}</div>{table(columns, rows)}'

    def twin(self) -> tuple[str, str]:
        lines, items = [], ""
        for question, _ in self._asked:
            lines.append(f"{question.text}  [{' | '.join(question.options)}]")
            items += f"<li>{escape(question.text)} <i>{escape(' / '.join(question.options))}</i></li>"
        rows = [(question.text, fact, question.why) for question, fact in self._asked]
        answers = table((SAY["question"], SAY["fact"], SAY["why"]), rows)
        html = f"<ol>{items}</ol><details><summary>{escape(SAY['answers'])}</summary>{answers}</details>"
        text = "\n".join(
            [*lines, "", SAY["answers"], *(f"  {text} {fact}. {why}".rstrip() for text, fact, why in rows)]
        )
        return text, html


def predict(scenario: Scenario, *questions: Question) -> Ask:
    """Questions about what one scenario will do."""
    return Ask([(scenario, question) for question in questions])


def check(*pairs: tuple[Scenario, Question]) -> Ask:
    """Checks of understanding, each about a scenario of its own."""
    return Ask(pairs)
