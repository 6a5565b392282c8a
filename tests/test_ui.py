"""Panels without a browser: each control alters the scenario, the view follows, and no error is lost."""

from __future__ import annotations

import sys
from typing import Any

import ipywidgets as widgets
import pytest
from page import ALLOW, START

from labkit.workbook.pages import lower, page, upper
from labkit.workbook.questions import Spend, code_of, count, left, records, stop_reason
from labkit.workbook.scenarios import GATES_BY_NAME, Scenario, make_scenario, play
from labkit.workbook.ui import Panel, check, panel, predict, spends
from labkit.workbook.ui.groups import GROUPS, replaced
from labkit.workbook.views import View
from labkit.workbook.words import SAY

GUARDS = [f"gate {name}" for name in GATES_BY_NAME]


def control(shown: Panel, label: str) -> Any:
    """The control with this label."""
    return next(widget for widget in shown.inputs.children if getattr(widget, "description", None) == label)


def agrees(shown: Panel, *also: str) -> None:
    """Model, live HTML and twin are the same run."""
    assert shown.played is not None
    view = View(shown.played, also=also)
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
        widget = control(shown, label) if label != "arguments" else control(shown, "allowlist gate")
        before, old = shown.played, widget.value
        widget.value = value if label != "arguments" else "allowlist_nearest"
        agrees(shown)
        assert shown.played.scenario != before.scenario
        widget.value = old
        agrees(shown)
        assert shown.played.run.ledger == before.run.ledger


LEAK = make_scenario({
    "world": "notices_late", "principal": {"permissions": ["notices:search"]},
    "conditions": [{"tool": "search_notices", "field": "published_from", "value": None}],
    "turns": [{"calls": [{"id": "1", "name": "search_notices",
                          "arguments": '{"query":"报名","published_from":null}'}] * 2},
              {"principal": {"permissions": []}, "answer": "?"}],
})  # fmt: skip


MEMORY_FIRST = [*list(GATES_BY_NAME)[:4], "replay", "authorization", "execution_budget"]


@pytest.mark.parametrize(
    ("group", "label", "value", "where", "becomes"),
    [
        ("raw", "1.1 arguments", "{", "turns.0.calls.0.arguments", "{"),
        ("every limit", "cost", 1, "limits.cost", 1),
        ("every limit", "deadline_s", 0.25, "limits.deadline_s", 0.25),
        ("every limit", "search_notices", 1, "limits.per_tool", {"search_notices": 1}),
        ("principal", "who asks (2)", ("u-bob", "B"), "turns.1.principal",
         {"subject": "u-bob", "tenant": "B", "permissions": []}),
        ("principal", "notices:read (2)", True, "turns.1.principal.permissions", ["notices:read"]),
        ("principal", "notices:read", True, "principal.permissions", ["notices:read", "notices:search"]),
        ("condition", "published_from", "2026-09-15", "conditions.0.value", "2026-09-15"),
        ("owner filter", "owner filter", "notices", "world", ["notices"]),
        ("on limit", "at a limit", "stop", "on_limit", "stop"),
        ("id scope", "ids are kept", "response", "id_scope", "response"),
        ("order", "order of gates", MEMORY_FIRST, "gates", MEMORY_FIRST),
        ("gate replay", "replay gate", "replay_id", "gates",
         [*list(GATES_BY_NAME)[:5], "replay_id", "execution_budget"]),
    ],
)  # fmt: skip
def test_a_control_alters_just_its_value(group: str, label: str, value: Any, where: str, becomes: Any) -> None:
    """Each control writes to its place in the scenario and nowhere else, and the old value brings the old run back."""
    shown = panel(LEAK, show=(group,), also=("memory", "deliveries"))
    widget = control(shown, label)
    before, old = shown.played, widget.value
    widget.value = value
    agrees(shown, "memory", "deliveries")
    found, wanted = shown.played.scenario.model_dump(mode="json"), before.scenario.model_dump(mode="json")
    *path, last = (int(part) if part.isdecimal() else part for part in where.split("."))
    holders = []
    for values in (found, wanted):
        for part in path:
            values = values[part]  # noqa: PLW2901 - walks down
        holders.append(values)
    assert holders[0][last] == becomes
    holders[0][last] = holders[1][last]
    assert found == wanted
    widget.value = old
    assert shown.played.run.ledger == before.run.ledger


def test_a_panel_shows_its_sections_and_refuses_others() -> None:
    """Sections come with the view, live and in the twin."""
    shown = panel(LEAK, also=("deliveries", "spending"))
    agrees(shown, "deliveries", "spending")
    assert "D3" in shown.upper.value
    assert SAY["spending"] in shown.lower.value
    with pytest.raises(ValueError, match="there are no sections 'colours'"):
        panel(LEAK, also=("colours",))


def test_a_table_of_prices_is_filled_by_prediction_first() -> None:
    """The prices are differences of two runs; nothing is told before the reader asks."""
    without = LEAK.with_(turns=[{"calls": []}, {"answer": "?"}])
    one = LEAK.with_(turns=[{"calls": LEAK.model_dump()["turns"][0]["calls"][:1]}, {"answer": "?"}])
    row = Spend("a served call", one, without, "It is entered.")
    assert row.spent() == {"rounds": 1, "requests": 1, "executions": 1, "attempts": 0}
    grid = spends(row, row)
    assert grid.shown.value == ""
    for box in grid.boxes[0][:3]:
        box.value = True
    grid.reveal.click()
    assert "5 of 8 right" in grid.shown.value
    text, html = grid.twin()
    assert "a served call" in text
    assert "<td>1</td><td>1</td><td>1</td><td>0</td><td>It is entered.</td>" in html
    with pytest.raises(ValueError, match="a table needs a row"):
        spends()


def test_a_change_of_a_control_that_is_gone_is_not_taken_for_the_new_ones() -> None:
    """After another preset was loaded an old slider has no say; the button brings the preset back as it was."""
    shown = panel(START["one question"], START["one good, one misspelt"])
    old = control(shown, "executions")
    shown.preset.value = 1
    old.value = 0
    assert shown.played.run.ledger == play(START["one good, one misspelt"]).run.ledger
    assert shown.reset.disabled
    control(shown, "executions").value = 0
    assert not shown.reset.disabled
    shown.reset.click()
    assert shown.played.run.ledger == play(START["one good, one misspelt"]).run.ledger
    assert control(shown, "executions").value == 3
    assert shown.reset.disabled


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
    control(shown, "allowlist gate").value = ""
    assert "allowlist" in shown.upper.value
    assert 'role="alert"' in shown.upper.value
    control(shown, "allowlist gate").value = "allowlist"
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


def test_how_a_tool_ends_is_chosen_and_a_scripted_fault_keeps_its_place() -> None:
    """The control belongs to the tool with the fault; an ending it does not offer stays as it was given."""
    faults = [{"tool": "length", "entry": 2, "raises": "temporary"}]
    shown = panel(START["same id twice"].with_(faults=faults), show=("fault",))
    chooser = control(shown, "it ends")
    assert (chooser.value, [*chooser.options][-1]) == ("temporary", SAY["as given"])
    for kind, code in (("hang", "ok"), ("", "ok")):  # the second entry never comes: the second call is a replay
        chooser.value = kind
        assert shown.played is not None
        assert [fault.entry for fault in shown.played.scenario.faults] == ([2] if kind else [])
        assert shown.played.run.results[0].outcome.code == code
    assert "How length ends" in shown.inputs.children[0].value
    plain = panel(START["same id twice"], show=("fault",))
    control(plain, "it ends").value = "stubborn"
    assert plain.played is not None
    assert plain.played.run.results[0].outcome.code == "cancelled"
    assert [event.code for event in plain.played.run.ledger if event.kind == "late"] == ["ok"]


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
