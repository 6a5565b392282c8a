"""The page a person sees: the first lessons in JupyterLab in Chromium, every control by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from page import ALLOW, START, altered, call, drag, panels, quiet, shows, slider

pytestmark = pytest.mark.browser


def test_texts_sliders_and_presets_by_keyboard(open_lesson: Callable[..., Any]) -> None:
    """Id, tool, arguments, limits, preset and scrubber can be changed with keys alone."""
    page = open_lesson("00_start.ipynb")
    panel, scenario = panels(page).first, START["one question"]
    panel.wait_for()
    for label, text, field in (("1.1 id", " ", "id"), ("1.1 tool", "x", "name"), ("1.1 arguments", "]", "arguments")):
        panel.get_by_label(label).focus()
        page.keyboard.press("Control+End")
        page.keyboard.type(text)
        page.keyboard.press("Tab")
        changed = altered(scenario, lambda v, field=field, text=text: call(v).update({field: call(v)[field] + text}))
        shows(panel, changed)
        panel.get_by_label(label).focus()
        page.keyboard.press("Control+End")
        page.keyboard.press("Backspace")
        page.keyboard.press("Tab")
        shows(panel, scenario)
    for label in ("rounds", "requests", "executions"):
        slider(panel, label).locator(".noUi-handle").focus()
        page.keyboard.press("Home")
        shows(panel, altered(scenario, lambda v, label=label: v["limits"].update({label: 0})))
        for _ in range(scenario.model_dump()["limits"][label]):
            page.keyboard.press("ArrowRight")
        shows(panel, scenario)
    slider(panel, "event").locator(".noUi-handle").focus()
    for at in (7, 6, 5):
        page.keyboard.press("ArrowLeft")
        shows(panel, scenario, at)
    panel.get_by_label("start from").focus()
    page.keyboard.press("ArrowDown")
    shows(panel, START["one good, one misspelt"])
    quiet(page)


def test_sliders_presets_and_scrubber_by_mouse(open_lesson: Callable[..., Any]) -> None:
    """Limits and scrubber follow the pointer; a preset is chosen from its list."""
    page = open_lesson("00_start.ipynb")
    panel, scenario = panels(page).first, START["one question"]
    panel.wait_for()
    for label in ("rounds", "requests", "executions"):
        drag(slider(panel, label), 0)
        shows(panel, altered(scenario, lambda v, label=label: v["limits"].update({label: 0})))
        drag(slider(panel, label), scenario.model_dump()["limits"][label] / 6)
        shows(panel, scenario)
    drag(slider(panel, "event"), 0.5)
    shows(panel, scenario, 4)
    drag(slider(panel, "event"), 0)
    shows(panel, scenario, 0)
    panel.get_by_label("1.1 id").click()
    page.keyboard.type("z")
    panel.get_by_label("start from").select_option(label=START["asks for ever"].title)
    shows(panel, START["asks for ever"])
    quiet(page)


def test_guard_offer_and_principal(open_lesson: Callable[..., Any]) -> None:
    """The guard is broken and mended, the offer and the permissions are changed, by mouse and by keyboard."""
    page = open_lesson("01_allowlist.ipynb")
    guard, offer = panels(page).nth(1), panels(page).nth(2)
    offer.wait_for()
    broken, wide = ALLOW["delete, nearest"], ALLOW["wide"]
    guard.get_by_label("allowlist").select_option(label="in place")
    shows(guard, altered(broken, lambda v: v.update(gates=ALLOW["delete"].gates)))
    guard.get_by_label("allowlist").focus()
    page.keyboard.press("End")
    shows(guard, broken)
    for place, world in ((1, "notices"), (2, "merchants")):
        box = offer.locator("input[type=checkbox]").nth(place)
        left = [name for name in wide.worlds if name != world]
        box.click()
        shows(offer, altered(wide, lambda v, left=left: v.update(world=left)))
        box.focus()
        page.keyboard.press("Space")
        shows(offer, wide)
    every = ["merchant:read", "notices:read", "notices:search"]
    searching = offer.locator("label", has_text="notices:search").locator("input")
    searching.click()
    shows(offer, altered(wide, lambda v: v["principal"].update(permissions=every[:2])))
    searching.focus()
    page.keyboard.press("Space")
    shows(offer, altered(wide, lambda v: v["principal"].update(permissions=every)))
    offer.get_by_label("who asks").select_option(label="u-bob (B)")
    shows(offer, altered(wide, lambda v: v["principal"].update(subject="u-bob", tenant="B", permissions=every)))
    quiet(page)


HOSTILE = {
    "markup": "<img src=x onerror=\"document.body.dataset.owned='1'\"><b>bold</b>",
    "script": "</td></table><script>document.body.dataset.owned='1'</script>",
    "bidi and zero width": "a\u202ereversed\u2066\u200b\u00adz",
    "two megabytes": "<i>" + "好" * 700_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_a_model_is_shown_and_never_interpreted(text: str, open_lesson: Callable[..., Any]) -> None:
    """Markup, script, bidi, zero-width and huge text in id, name and arguments are shown as text, cut and visible."""
    page = open_lesson("00_start.ipynb")
    panel = panels(page).first
    panel.wait_for()
    for label, field in (("1.1 id", "id"), ("1.1 tool", "name"), ("1.1 arguments", "arguments")):
        panel.get_by_label(label).fill(text)
        panel.get_by_label(label).press("Tab")
        shows(panel, altered(START["one question"], lambda v, field=field: call(v).update({field: text})))
        panel.get_by_label("start from").select_option(index=1)
        shows(panel, START["one good, one misspelt"])
        panel.get_by_label("start from").select_option(index=0)
        shows(panel, START["one question"])
    assert page.evaluate("document.body.dataset.owned") is None
    assert panel.locator("img, script, i, td b").count() == 0
    quiet(page)


def test_what_cannot_be_played_is_said_in_the_panel(open_lesson: Callable[..., Any]) -> None:
    """An input that is no value shows why, and the next good input shows its run again."""
    page = open_lesson("01_allowlist.ipynb")
    panel = page.locator(".jp-Notebook .lk-panel:has(.lk-view)").first
    panel.wait_for()
    panel = page.locator(".jp-Notebook .lk-panel:has(.lk-controls)").first
    panel.get_by_label("1.1 tool").fill("json:{")
    panel.get_by_role("alert").wait_for()
    assert panel.locator(".lk-view").count() == 0
    panel.get_by_label("1.1 tool").fill("json:null")
    shows(panel, altered(ALLOW["unknown"], lambda v: call(v).update(name=None)))
    quiet(page)


def test_predictions_stay_hidden_until_all_are_made(open_lesson: Callable[..., Any]) -> None:
    """The reader answers first; then each guess stands beside what the ledger says."""
    page = open_lesson("00_start.ipynb")
    asked = page.locator(".jp-Notebook .lk-asks").first
    asked.wait_for()
    asked.get_by_role("button").click()
    asked.get_by_text("Choose an answer to every question first.").wait_for()
    assert asked.locator("[data-score]").count() == 0
    for place, option in enumerate(("unknown_tool", "2", "2", "5")):
        asked.locator("select").nth(place).select_option(label=option)
    asked.get_by_role("button").focus()
    page.keyboard.press("Enter")
    asked.locator("[data-score]").wait_for()
    assert asked.locator("[data-score]").get_attribute("data-score") == "3 of 4 right"
    quiet(page)


def test_every_control_has_a_name_for_a_screen_reader(open_lesson: Callable[..., Any]) -> None:
    """Sliders too: each is found by its role and the label that stands beside it."""
    page = open_lesson("00_start.ipynb")
    panel = panels(page).first
    panel.wait_for()
    for label in ("rounds", "requests", "executions", "event"):
        assert panel.get_by_role("slider", name=label).count() == 1
    for label in ("start from", "1.1 id", "1.1 tool", "1.1 arguments"):
        assert panel.get_by_label(label).count() == 1


def test_a_broken_field_is_not_forgotten_when_another_is_changed(open_lesson: Callable[..., Any]) -> None:
    """As long as one input is no value nothing is shown as if it were."""
    page = open_lesson("01_allowlist.ipynb")
    panel = page.locator(".jp-Notebook .lk-panel:has(.lk-controls)").first
    panel.locator(".lk-view").wait_for()
    panel.get_by_label("1.1 tool").fill("json:{")
    panel.get_by_role("alert").wait_for()
    panel.get_by_label("1.2 id").fill("other")
    page.wait_for_timeout(500)
    assert panel.get_by_role("alert").count() == 1
    assert panel.locator(".lk-view").count() == 0
