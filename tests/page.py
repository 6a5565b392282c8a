"""What the tests of the page need: reading a panel, and what the engine says it must show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from labkit.workbook.cases import LESSONS, lesson
from labkit.workbook.scenarios import Scenario, make_scenario, play
from labkit.workbook.views import View

(START, ALLOW, ARGUMENTS, IDS, OWNERS, LIMITS, LOOP, ERRORS, RESULTS, PARTS, CANCEL, RACES, PROJECT, PLACES) = map(
    lesson, LESSONS
)
PANELS: dict[str, list[tuple[Scenario, tuple[str, ...]]]] = {
    # the panels of each lesson, from top to bottom: the scenario each starts from, and its sections
    "00_start.ipynb": [(START["one question"], ()), (START["no memory"], ())],
    "01_allowlist.ipynb": [(ALLOW[name], ()) for name in ("unknown", "delete, nearest", "wide")],
    "02_arguments.ipynb": [
        *((ARGUMENTS[name], ("reading",)) for name in ("good", "alone: twice", "missing", "repaired: missing")),
        (ARGUMENTS["condition broken"], ()),
    ],
    "03_call_ids.ipynb": [
        *((IDS[name], ("memory",)) for name in ("three", "numbered afresh")),
        *((IDS[name], ("memory", "deliveries")) for name in ("revoked, swapped", "whoever asks")),
    ],
    "04_ownership.ipynb": [
        (OWNERS["three reads"], ("reads", "deliveries")), (OWNERS["revoked, as offered"], ("reads",)),
        *((OWNERS[name], ("reads", "deliveries")) for name in ("late", "claimed")),
    ],
    "05_limits.ipynb": [
        (LIMITS["rounds"], ("spending",)), (LIMITS["zero, looked late"], ("reads",)),
        (LIMITS["passing"], ("spending",)), (LIMITS["nonsense, then a hit"], ()), (LIMITS["batch, stop"], ()),
    ],
    "06_loop.ipynb": [(LOOP["two lookups"], ("messages",)), (LOOP["needs_user"], ())],
    "07_errors.ipynb": [
        (ERRORS["unknown"], ("hunted",)), (ERRORS["outage, emptied"], ("reads",)),
        (ERRORS["both, budget"], ("spending",)),
    ],
    "08_results.ipynb": [
        *((RESULTS[name], ("fields",)) for name in ("denied", "cut")),
        (RESULTS["direct, denied"], ("fields", "messages")),
    ],
    "09_partial_results.ipynb": [
        (PARTS["stop"], ("spending",)), (PARTS["given up"], ("listed",)), (PARTS["hidden"], ("listed",)),
    ],
    "10_cancellation.ipynb": [(CANCEL[name], ("ends",)) for name in ("cooperative", "middle")],
    "11_concurrency.ipynb": [(RACES["looked late"], ("spending",)), (RACES["two writes"], ("reads",))],
    "13_merchant_project.ipynb": [
        *((PROJECT[name], ("evidence", "reads")) for name in ("hours", "tenantless")),
        (PROJECT["faq, tenantless"], ("deliveries",)),
    ],
    "14_same_name_places.ipynb": [
        (PLACES[name], ("found",)) for name in ("twice, the first", "defaulted", "rebound", "merged")
    ],
}  # fmt: skip
LEDGER = "e => [...e.querySelectorAll('.lk-ledger tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
COUNTERS = "e => [...e.querySelectorAll('[data-counter]')].map(c => [c.dataset.counter, c.textContent])"
ALSO = """e => [...e.querySelectorAll('.lk-also')].map(
    t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent)))"""
STRIP = "e => [...e.querySelectorAll('.lk-row')].map(r => [...r.querySelectorAll('.lk-chip')].map(c => c.textContent))"


def panels(page: Any) -> Any:
    return page.locator(".jp-Notebook .lk-panel:has(.lk-view)")


def seen(panel: Any) -> dict[str, Any]:
    """What the panel shows: ledger rows, counters, gate strip and the tables that only some panels have."""
    return {
        "ledger": panel.evaluate(LEDGER),
        "counters": panel.evaluate(COUNTERS),
        "strip": panel.evaluate(STRIP),
        "also": panel.evaluate(ALSO),
    }


def wanted(scenario: Scenario, at: int | None, also: tuple[str, ...]) -> dict[str, Any]:
    """What the engine says the panel must show."""
    view = View(play(scenario), at, also)
    return {
        "ledger": [list(row) for row in view.ledger],
        "counters": [[counter.name, str(counter.value)] for counter in view.counters],
        "strip": [[str(chip) for chip in chips] for _, chips in view.strip],
        "also": [[list(row) for row in section.filled] for section in (*view.above, *view.below)],
    }


def shows(panel: Any, scenario: Scenario, at: int | None = None, also: tuple[str, ...] = ()) -> None:
    """Wait until the panel shows what the engine says, or fail with both."""
    expected = wanted(scenario, at, also)
    until = time.monotonic() + 5
    while (found := seen(panel)) != expected:
        assert time.monotonic() < until, (found, expected)
        time.sleep(0.01)


def altered(scenario: Scenario, change: Callable[[dict[str, Any]], Any]) -> Scenario:
    values = scenario.model_dump(mode="json")
    change(values)
    return make_scenario(values)


def call(values: dict[str, Any], place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = values["turns"][0]["calls"][place]
    return found


def slider(panel: Any, label: str) -> Any:
    return panel.locator(".widget-slider", has_text=label)


def drag(control: Any, share: float) -> None:
    """Drag a slider's handle to a share of its track."""
    track, before = control.locator(".noUi-base"), None
    track.scroll_into_view_if_needed()
    while (place := track.bounding_box()) != before:  # cells above take their height only as they are drawn
        before = place
        control.page.wait_for_timeout(200)
    size = track.bounding_box()
    target = {"x": size["width"] * share, "y": size["height"] / 2}
    control.locator(".noUi-handle").drag_to(track, target_position=target, force=True)


def quiet(page: Any) -> None:
    """Nothing left this machine and nothing failed in silence."""
    assert page.external == []
    assert page.console_errors == []
