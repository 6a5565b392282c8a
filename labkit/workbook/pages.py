"""A view as static HTML and SVG: what a panel shows live and a committed notebook keeps. No widget, no script.

All text of a run passes `html.escape` after `visible`, so nothing a model wrote is ever interpreted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from labkit.workbook.pictures import LANES, Step
from labkit.workbook.sections import Section
from labkit.workbook.texts import visible
from labkit.workbook.views import Chip, Counter, View
from labkit.workbook.words import EVENT, SAY, SYMBOL

__all__ = ["failed", "lower", "page", "svg", "table", "upper"]

LANE_X, ROW_Y, HEAD_Y = 170, 22, 34
"""Pixels of the sequence diagram: distance of lanes, height of a step, height of the heading."""


ONE_LINE = 60
"""Characters of a cell beyond which the live page may give it a height of its own, with the rest to scroll to."""


def page(view: View) -> str:
    """The whole view as static HTML that reads well without any style: the twin of the panel."""
    proposed = section("proposed", table(view.PROPOSED_COLUMNS, view.proposed))
    return f'<div class="labkit">{_title(view)}{proposed}{_strip_and_results(view)}{lower(view)}</div>'


def upper(view: View) -> str:
    """Title, gate strip, counters and results."""
    return _title(view) + _strip_and_results(view)


def _title(view: View) -> str:
    return f'<div class="lk-title"><b>{escape(visible(view.played.scenario.title))}</b></div>'


def _strip_and_results(view: View) -> str:
    summary = "".join(map(_line, view.summary))
    return (
        _strip(view.strip)
        + f'<div class="lk-counters">{"".join(map(_counter, view.counters))}</div>'
        + f'<div class="lk-summary">{summary}</div>'
        + '<div class="lk-reads">'
        + "".join(map(_also, view.above))
        + section("results", _results(view))
        + "</div>"
    )


def lower(view: View) -> str:
    """Event ledger and sequence diagram."""
    now = SAY["now"].format(at=view.at, of=len(view.all))
    return (
        f'<div class="lk-view" data-at="{view.at}" data-of="{len(view.all)}" data-stop="{view.played.run.stop}">'
        + section("ledger", table(view.LEDGER_COLUMNS, view.ledger, "lk-ledger", titles=EVENT), now)
        + "".join(map(_also, view.below))
        + f"<details><summary>{escape(SAY['sequence'])}</summary>{svg(view.steps)}</details></div>"
    )


def failed(sentence: str) -> str:
    """What a panel shows in place of a view that could not be made."""
    return f'<div class="lk-wrong" role="alert">✗ {escape(sentence)}</div>'


def section(name: str, content: str, note: str = "") -> str:
    """Content under its heading."""
    return _headed(SAY[name], content, note)


def _headed(title: str, content: str, note: str = "") -> str:
    return f'<div class="lk-head">{escape(title)} <small>{escape(note)}</small></div>{content}'


def _also(shown: Section) -> str:
    return _headed(shown.title, table(shown.columns, shown.filled, "lk-also"))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "lk-table",
          titles: dict[str, str] | None = None) -> str:  # fmt: skip
    """A table whose cells hold text only; `titles` explain a word where the pointer rests."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    lines = "".join(f"<tr>{''.join(_cell(cell, titles or {}) for cell in row)}</tr>" for row in rows)
    rows_of = f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody>"
    return f'<div class="lk-scroll"><table class="{kind}">{rows_of}</table></div>'


def _results(view: View) -> str:
    """One row of facts a result, and below it the text, which has the whole width to be read in."""
    *columns, last = view.RESULT_COLUMNS
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    rows = "".join(
        f"<tr>{''.join(_cell(cell, {}) for cell in facts)}</tr>"
        f'<tr class="lk-text"><td></td><td colspan="{len(facts) - 1}" title="{escape(last)}">{_long(text)}</td></tr>'
        for *facts, text in view.results
    )
    lines = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="lk-scroll"><table class="lk-results">{lines}</table></div>'


def _long(text: str) -> str:
    return escape(text) if len(text) <= ONE_LINE else f'<div class="lk-long">{escape(text)}</div>'


def _cell(text: str, titles: dict[str, str]) -> str:
    title = f' title="{escape(titles[text])}"' if text in titles else ""
    return f"<td{title}>{_long(text)}</td>"


def _line(text: str) -> str:
    return f"<div{' class=lk-broken' if text.startswith('✗') else ''}>{escape(text)}</div>"


def _strip(rows: list[tuple[str, list[Chip]]]) -> str:
    lines = "".join(
        f'<div class="lk-row"><b>{escape(name)}</b> {" ".join(map(_chip, chips))}</div>' for name, chips in rows
    )
    return section("strip", f'<div class="lk-strip">{lines}</div>')


def _chip(chip: Chip) -> str:
    return f'<span class="lk-chip lk-{chip.state.replace(" ", "-")}">{escape(str(chip))}</span>'


def _counter(counter: Counter) -> str:
    bar = ""
    if counter.limit is not None:
        share = min(100, 100 * counter.value // counter.limit) if counter.limit else 100
        bar = f'<div class="lk-bar"><div style="width:{share}%"></div></div>'
    return (f'<div class="lk-counter">{counter.name} <b data-counter="{counter.name}">{counter.value}</b>'
            f"{bar} <small>{escape(counter.note)}</small></div>")  # fmt: skip


def svg(steps: Sequence[Step]) -> str:
    """The sequence diagram, drawn from the ledger's events."""
    width, height = LANE_X * len(LANES), HEAD_Y + ROW_Y * (len(steps) + 1)
    lanes = "".join(
        f'<text x="{_x(lane)}" y="16" class="lk-lane">{lane}</text>'
        f'<line x1="{_x(lane)}" x2="{_x(lane)}" y1="22" y2="{height - 8}" class="lk-life"/>'
        for lane in LANES
    )
    drawn = "".join(_draw(step, HEAD_Y + ROW_Y * (row + 1)) for row, step in enumerate(steps))
    return (f'<svg class="lk-svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-label="{escape(SAY["sequence"])}">{lanes}{drawn}</svg>')  # fmt: skip


def _draw(step: Step, y: int) -> str:
    label = escape(f"{step.seq}. {SYMBOL[step.state] + ' ' if step.state != 'passed' else ''}{step.label}")
    x1 = _x(step.source)
    if step.target is None:
        return f'<text x="{x1 + 8}" y="{y - 4}" class="lk-note lk-{step.state}">{label}</text>'
    x2 = _x(step.target)
    tip = 7 if x2 < x1 else -7
    return (f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" class="lk-arrow lk-{step.state}"/>'
            f'<path d="M{x2} {y}l{tip} -4v8z" class="lk-tip lk-{step.state}"/>'
            f'<text x="{(x1 + x2) // 2}" y="{y - 4}" class="lk-label">{label}</text>')  # fmt: skip


def _x(lane: str) -> int:
    return LANE_X // 2 + LANE_X * LANES.index(lane)
