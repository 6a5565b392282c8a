"""The controls of the core lessons in Chromium: each list and field by mouse, and back by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from page import LOOP, PANELS, altered, call, panels, quiet, shows

from labkit.workbook.scenarios import GATES_BY_NAME, play

pytestmark = pytest.mark.browser

Change = Callable[[dict[str, Any]], Any]
REAL = list(GATES_BY_NAME)


def limit(name: str, value: Any) -> Change:
    return lambda values: values["limits"].update({name: value})


def whole(**changes: Any) -> Change:
    return lambda values: values.update(changes)


def ends(tool: str, raises: str) -> Change:
    fault = {"tool": tool, "entry": 1, "attempt": None, "raises": raises, "seconds": 1.0}
    return whole(faults=[fault])


LISTS: dict[str, list[tuple[int, str, str, Change]]] = {
    # panel, label, what is chosen, and what that means for the scenario
    "02_arguments.ipynb": [
        (1, "arguments gate", "in place", whole(gates=REAL)), (3, "arguments gate", "in place", whole(gates=REAL)),
    ],
    "03_call_ids.ipynb": [
        (1, "ids are kept", "for one response", whole(id_scope="response")),
        (2, "order of gates", "the order that holds", whole(gates=REAL)),
        (3, "replay gate", "in place", whole(gates=REAL)),
    ],
    "04_ownership.ipynb": [
        (0, "who asks", "u-bob (B)", lambda values: values["principal"].update(subject="u-bob", tenant="B")),
        (1, "permission gate", "in place", whole(gates=REAL)),
        (2, "owner filter", "in the query", whole(world=["notices"])),
    ],
    "05_limits.ipynb": [
        (0, "get_merchant", "1", limit("per_tool", {"get_merchant": 1})), (0, "cost", "2", limit("cost", 2)),
        (0, "deadline_s", "0.5", limit("deadline_s", 0.5)), (0, "at a limit", "refuse the call, go on",
                                                             whole(on_limit="answer")),
        (1, "budget gate", "in place", whole(gates=REAL)), (3, "requests gate", "in place", whole(gates=REAL)),
        (4, "at a limit", "refuse the call, go on", whole(on_limit="answer")),
    ],
    "06_loop.ipynb": [(1, "at a limit", "stop the run", whole(on_limit="stop"))],
    "07_errors.ipynb": [
        (0, "faults are", "broken: told to the model", whole(errors="told")),
        (1, "faults are", "mapped in one place", whole(errors="mapped")),
        (2, "faults are", "broken: answered as nothing", whole(errors="emptied")),
    ],
    "08_results.ipynb": [(n, "owner filter", "in the query", whole(world=["merchants"])) for n in range(3)],
    "09_partial_results.ipynb": [
        (0, "at a limit", "refuse the call, go on", whole(on_limit="answer")),
        (0, "get_merchant", "3", limit("per_tool", {"get_merchant": 3})),
        (1, "at a limit", "stop the run", whole(on_limit="stop")), (2, "budget gate", "in place", whole(gates=REAL)),
    ],
    "10_cancellation.ipynb": [
        (0, "it ends", "later: it goes on", ends("search_notes", "stubborn")),
        (0, "deadline_s", "1", limit("deadline_s", 1)),
        (1, "it ends", "when nobody waits", ends("revise_plan", "hang")), (1, "it ends", "by itself", whole(faults=[])),
    ],
    "11_concurrency.ipynb": [(0, "budget gate", "in place", whole(gates=REAL))],
    "13_merchant_project.ipynb": [
        (1, "owner filter", "in the query", whole(world=["merchants"])),
        (1, "arguments gate", "broken: makes a number of it",
         whole(gates=["arguments_coerced" if gate == "arguments" else gate for gate in REAL])),
        (1, "faults are", "broken: answered as nothing", whole(errors="emptied")),
        (2, "filter: faq", "in the query", whole(world=["merchants", "faq"])),
        (2, "who asks", "u-bob (B)", lambda values: values["principal"].update(subject="u-bob", tenant="B")),
    ],
    "14_same_name_places.ipynb": [
        *((n, "choosing", "left to the user", whole(world=["places"])) for n in range(3)),
        (3, "filter: places", "left to the user", whole(world=["places", "merchants"])),
        (3, "who asks", "u-bob (B)", lambda values: values["principal"].update(subject="u-bob", tenant="B")),
    ],
}  # fmt: skip


def choose_by_mouse_and_by_keyboard(page: Any, name: str) -> None:
    """Choosing from each list plays the altered scenario; the arrow keys bring the first one back."""
    for place, label, option, change in LISTS.get(name, ()):
        panel, (scenario, also) = panels(page).nth(place), PANELS[name][place]
        chooser = panel.get_by_label(label, exact=True)
        before = chooser.evaluate("e => e.selectedIndex")
        chooser.select_option(label=option)
        shows(panel, altered(scenario, change), also=also)
        moved = chooser.evaluate("e => e.selectedIndex") - before
        chooser.focus()
        for _ in range(abs(moved)):
            page.keyboard.press("ArrowUp" if moved > 0 else "ArrowDown")
        shows(panel, scenario, also=also)


def test_texts_of_arguments_and_of_a_condition_are_typed(open_lesson: Callable[..., Any]) -> None:
    """The raw text is read anew at each change, the user's own setting is compared anew; each back by keyboard."""
    page, name = open_lesson("02_arguments.ipynb"), "02_arguments.ipynb"
    panels(page).nth(len(PANELS[name]) - 1).wait_for()
    changes: tuple[tuple[int, str, Change], ...] = (
        (0, "1.1 arguments", lambda values: call(values).update(arguments=call(values)["arguments"] + "x")),
        (4, "published_from", lambda values: values["conditions"][0].update(value="2026-09-15x")),
    )
    for place, label, change in changes:
        panel, (scenario, also) = panels(page).nth(place), PANELS[name][place]
        panel.get_by_label(label).focus()
        page.keyboard.press("Control+End")
        page.keyboard.type("x")
        shows(panel, altered(scenario, change), also=also)
        page.keyboard.press("Backspace")
        shows(panel, scenario, also=also)
    quiet(page)


def test_a_preset_brings_its_sections(open_lesson: Callable[..., Any]) -> None:
    """Choosing another run shows its conversation; stepping back shows none, for it is not over."""
    page = open_lesson("06_loop.ipynb")
    panel = panels(page).first
    panel.wait_for()
    panel.get_by_label("start from").select_option(label=LOOP["two at once"].title)
    shows(panel, LOOP["two at once"], also=("messages",))
    panel.locator(".widget-slider", has_text="event").locator(".noUi-handle").focus()
    page.keyboard.press("ArrowLeft")
    shows(panel, LOOP["two at once"], len(play(LOOP["two at once"]).run.ledger) - 1, also=("messages",))
    quiet(page)


def test_prices_are_ticked_and_compared(open_lesson: Callable[..., Any]) -> None:
    """Boxes are ticked by mouse and by keyboard; the prices come when they are asked for."""
    page = open_lesson("05_limits.ipynb")
    grid = page.locator(".jp-Notebook .lk-grid").first
    grid.wait_for()
    line = grid.locator(".lk-line").nth(1)
    line.get_by_label("requests").click()
    line.get_by_label("executions").focus()
    page.keyboard.press("Space")
    assert grid.locator("[data-score]").count() == 0
    grid.get_by_role("button").click()
    grid.locator("[data-score]").wait_for()
    cells = grid.locator("tbody tr").nth(1).locator("td").all_text_contents()
    assert cells[1:5] == ["✓ 0", "✓ 1", "✓ 1", "✗ 1 (you: no)"]
    quiet(page)


def test_the_chart_is_drawn_in_both_themes(open_lesson: Callable[..., Any]) -> None:
    """JupyterLab draws the declared chart by itself, with nothing fetched from elsewhere."""
    page = open_lesson("05_limits.ipynb")
    panels(page).nth(len(PANELS["05_limits.ipynb"]) - 1).wait_for()
    chart = page.locator(".jp-Notebook .vega-embed svg, .jp-Notebook .vega-embed canvas").first
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.evaluate("t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})", theme)
        chart.scroll_into_view_if_needed()
        chart.wait_for()
        assert chart.bounding_box()["width"] > 300
    quiet(page)
