"""Panels without a browser: each control alters the scenario, the view follows, and no error is lost."""

from __future__ import annotations

import sys
from typing import Any

import ipywidgets as widgets
import pytest
from page import ALLOW, START

from labkit.workbook.pages import lower, page, upper
from labkit.workbook.questions import code_of, count, left, records, stop_reason
from labkit.workbook.scenarios import GATES_BY_NAME, Scenario, play
from labkit.workbook.ui import Panel, check, panel, predict
from labkit.workbook.ui.groups import GROUPS, replaced
from labkit.workbook.views import View
from labkit.workbook.words import SAY

GUARDS = [f"gate {name}" for name in GATES_BY_NAME]


def control(shown: Panel, label: str) -> Any:
    """The control with this label."""
    return next(widget for widget in shown.inputs.children if getattr(widget, "description", None) == label)


def agrees(shown: Panel) -> None:
    """Model, live HTML and twin are the same run."""
    assert shown.played is not None
    view = View(shown.played)
    assert (shown.upper.value, shown.lower.value) == (upper(view), lower(view))
    bundle = shown._repr_mimebundle_()
    assert (bundle["text/plain"], bundle["text/html"]) == (view.text(), page(view))
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize("presets", [list(START.values()), list(ALLOW.values())], ids=["00", "01"])
def test_every_preset_shows_its_run(presets: list[Scenario]) -> None:
    """Choosing a preset plays it: model, live view and twin agree."""
    shown = panel(*presets, show=("offer", "principal", "calls", "limits", *GUARDS))
    for place, scenario in enumerate(presets):
        shown.preset.value = place
        agrees(shown)
        assert shown.played.run.ledger == play(scenario).run.ledger


def test_every_control_alters_the_run() -> None:
    """Each control in turn changes the scenario that is played, and back."""
    for label, value in {
        "1.1 id": "", "1.1 tool": "shell", "1.1 arguments": "{", "rounds": 1, "requests": 0, "executions": 0,
        "who asks": ("u-bob", "B"), "notices:search": False, "merchants: get_merchant, list_merchants": True,
        "arguments": "",
    }.items():  # fmt: skip
        shown = panel(START["one question"], show=("offer", "principal", "calls", "limits", *GUARDS))
        widget = control(shown, label) if label != "arguments" else control(shown, "allowlist")
        before, old = shown.played, widget.value
        widget.value = value if label != "arguments" else "allowlist_nearest"
        agrees(shown)
        assert shown.played.scenario != before.scenario
        widget.value = old
        agrees(shown)
        assert shown.played.run.ledger == before.run.ledger


def test_the_scrubber_shows_an_earlier_moment_and_a_new_run_shows_all() -> None:
    """Stepping back changes the view only; the next run starts at its end."""
    shown = panel(START["one question"])
    shown.scrubber.value = 3
    assert shown.lower.value == lower(View(shown.played, 3))
    control(shown, "executions").value = 0
    agrees(shown)


@pytest.mark.parametrize(
    ("label", "text"),
    [("1.1 tool", "json:{"), ("1.1 id", "json:NaN x"), ("1.1 arguments", "json:"), ("1.1 id", "json:" + "[" * 5000)],
)
def test_an_input_that_is_no_value_is_said_in_the_panel(label: str, text: str) -> None:
    """The error stands where the view was, nothing else is shown, and a good input brings the view back."""
    shown = panel(START["one question"])
    control(shown, label).value = text
    control(shown, "executions").value = 2
    assert 'role="alert"' in shown.upper.value
    assert "not a JSON text" in shown.upper.value
    assert shown.lower.value == ""
    control(shown, label).value = "json:7"
    agrees(shown)


def test_a_guard_that_cannot_work_is_said_in_the_panel() -> None:
    """Without the allowlist no argument can be read: the panel says which gate must come first."""
    shown = panel(ALLOW["unknown"], show=("gate allowlist",))
    control(shown, "allowlist").value = ""
    assert "allowlist" in shown.upper.value
    assert 'role="alert"' in shown.upper.value
    control(shown, "allowlist").value = "allowlist"
    agrees(shown)


def test_a_bug_inside_a_handler_is_said_in_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever breaks, the reader sees that it broke, as text."""
    shown = panel(START["one question"])

    def broken(scenario: Scenario) -> None:
        raise RuntimeError("<b>boom</b>")

    monkeypatch.setattr(sys.modules[Panel.__module__], "play", broken)
    control(shown, "executions").value = 0
    assert "&lt;b&gt;boom&lt;/b&gt;" in shown.upper.value
    assert shown.played is None
    assert "<b>boom</b>" in shown._repr_mimebundle_()["text/plain"]


def test_every_control_has_a_label_and_every_group_some_controls() -> None:
    """No input is without a text label, in any group."""
    for group in GROUPS:
        chosen = {"tool": "search_notices", "field": "published_from", "value": None}
        made = panel(ALLOW["wide"].with_(conditions=[chosen]), show=(group,)).inputs.children
        inputs = [widget for widget in made if not isinstance(widget, widgets.HTML)]
        assert inputs
        assert all(widget.description for widget in inputs)


@pytest.mark.parametrize("arguments", [((), {}), ((START["one question"],), {"show": ("colours",)})])
def test_a_panel_that_cannot_be_is_refused(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    """Without a scenario, or with controls that do not exist, there is a clear error."""
    with pytest.raises(ValueError, match=r"a panel needs a scenario|no controls 'colours'"):
        panel(*arguments[0], **arguments[1])


@pytest.mark.parametrize(
    ("gates", "gate", "new", "after"),
    [
        (["call_id", "allowlist", "replay"], "allowlist", "", ["call_id", "replay"]),
        (["call_id", "replay"], "allowlist", "allowlist_nearest", ["call_id", "allowlist_nearest", "replay"]),
        (["call_id", "allowlist_tidied"], "allowlist", "allowlist", ["call_id", "allowlist"]),
        (["replay", "allowlist"], "allowlist", "allowlist_nearest", ["replay", "allowlist_nearest"]),
    ],
)
def test_a_gate_is_replaced_where_it_stands(gates: list[str], gate: str, new: str, after: list[str]) -> None:
    """The order of the other gates is kept, and a removed gate returns to its place."""
    assert replaced(gates, gate, new) == after


def test_predictions_are_compared_with_the_run() -> None:
    """Every answer is read off the run; nothing is told until each question is answered."""
    case = START["one good, one misspelt"]
    asked = predict(case, code_of("second?", 2, "ok", "unknown_tool"), left("left?", "executions", 2, 3))
    asked.reveal.click()
    assert asked.shown.value == f"<p>{SAY['first']}</p>"
    asked.choices[0].value, asked.choices[1].value = "unknown_tool", "3"
    asked.reveal.click()
    assert "1 of 2 right" in asked.shown.value
    assert "unknown_tool" in asked._repr_mimebundle_()["text/html"]


def test_a_question_without_the_right_option_is_a_bug_of_the_lesson() -> None:
    """A lesson whose options miss the truth fails when it is built, not in the reader's hands."""
    with pytest.raises(ValueError, match="which is no option"):
        check((START["one question"], count("rounds?", "rounds", 5, 6)))


def test_questions_read_every_kind_of_fact() -> None:
    """Stop reason, records handed out and counters are facts of the run."""
    played = play(START["one question"])
    assert stop_reason("", "answered").answer(played) == "answered"
    assert records("", "D1, D2").answer(played) == "D1, D2"
    assert count("", "delivered", 1).answer(played) == "1"
    assert records("", "none").answer(play(START["same id twice"])) == "none"
