"""The hunt finds what was planted wherever it gets out, and in what is committed it finds nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labkit.calls import Context, Principal
from labkit.outcomes import TemporaryFailure
from labkit.workbook.cases import LESSONS, cases, lesson
from labkit.workbook.faults import Clock, Faults
from labkit.workbook.hunt import MARKERS, found_in, hunt, texts
from labkit.workbook.parts import FaultPart
from labkit.workbook.scenarios import Played, make_scenario, play
from labkit.workbook.sections import SECTIONS
from labkit.workbook.views import View
from labkit.worlds import open_world
from labkit.worlds.merchants import MERCHANTS
from labkit.worlds.places import PLACES

ERRORS = lesson("07_errors")
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
ON_PURPOSE = {
    "07_errors": ('"told"', {"INTERNAL_CANARY", "SELECT * FROM merchants"}),
    "08_results": ("", {"INTERNAL_FIELD_CANARY", "internal_note"}),  # the fields of a record are its subject
}
"""Lessons that show on purpose what got out: in the cells that name this, exactly these markers."""

FIELDS = {"INTERNAL_FIELD_CANARY", "internal_note", "-0000-0"}


def raised(kind: str) -> str:
    """All that a scripted fault says, with its cause."""
    (part,) = (FaultPart.model_validate({"tool": "get_merchant", "raises": kind}),)
    tool = Faults([part], Clock()).around(open_world("merchants").tools[0])
    context = Context(Principal("u-alice"), lambda: None, lambda: False, lambda: None)
    with pytest.raises((RuntimeError, TemporaryFailure)) as caught:
        tool.run(tool.arguments(merchantId=1001), context)
    return f"{caught.value!r} {caught.value.__cause__!r}"


def one(result: Any, markers: tuple[str, ...] = tuple(MARKERS), **more: Any) -> list[tuple[str, str]]:
    """Hunt in a run whose one call carries `result` in its arguments' refusal or as it is."""
    call = {"id": "c1", "name": "upper", "arguments": json.dumps({"text": result})}
    return hunt(play(make_scenario({"world": "text", "turns": [{"calls": [call]}, {"answer": "?"}]} | more)), markers)


def test_every_marker_is_there_to_be_found() -> None:
    """Each word that is hunted stands in what a fault raises or in what a world keeps inside."""
    inside = raised("bug") + raised("temporary") + repr(MERCHANTS) + repr(PLACES)
    assert found_in(inside) == list(MARKERS)
    assert set(found_in(raised("bug") + raised("temporary"))) == MARKERS.keys() - FIELDS


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_in_a_result_is_found_wherever_the_result_goes(marker: str) -> None:
    """It is in the text, over HTTP, in message, report, panel and reprs; ledger, spans and diagram hold no results."""
    assert {place for place, found in one(marker) if found == marker} == {
        "result 1.1", "HTTP body 1.1", "repr 1.1", "message 2 (tool)", "report", "panel as text", "panel as HTML",
        "repr of run",
    }  # fmt: skip


def test_nothing_is_found_where_nothing_is() -> None:
    """An ordinary run is clean, and so are the run's ledger, its spans and its picture."""
    assert one("tea") == []


def test_a_marker_in_an_id_is_found_in_the_ledger_too() -> None:
    """What a call claims as its id is kept: ledger, table, spans and diagram are searched."""
    call = {"id": "10.0.0.9", "name": "upper", "arguments": '{"text":"tea"}'}
    played = play(make_scenario({"world": "text", "turns": [{"calls": [call]}, {"answer": "10.0.0.9"}]}))
    places = {place for place, _ in hunt(played)}
    assert {"ledger as JSONL", "ledger as CSV", "spans", "diagram", "answer", "message 3 (assistant)"} <= places


def test_the_exception_of_refused_arguments_is_searched() -> None:
    """A refusal echoes a name that the model invented: it is found in the text and in the exception."""
    call = {"id": "c1", "name": "upper", "arguments": '{"internal_note":1}'}
    found = hunt(play(make_scenario({"world": "text", "turns": [{"calls": [call]}, {"answer": "?"}]})))
    assert {("result 1.1", "internal_note"), ("exception 1.1", "internal_note")} <= set(found)


@pytest.mark.parametrize("text", ["a SECRET", "a secret", "a \\u0073ecret", "a &#115;ecret"])
def test_case_and_escapes_hide_nothing(text: str) -> None:
    """Large or small letters, escaped as in JSON or in HTML: found. A word that is not there is not."""
    assert found_in(text, ["Secret", "other"]) == ["Secret"]


def test_a_marker_that_is_escaped_in_the_ledger_is_found() -> None:
    """JSON lines escape what is not ASCII; a Chinese marker is found in them all the same."""
    assert ("ledger as JSONL", "爱丽丝") in one("tea", ("爱丽丝",), principal={"subject": "爱丽丝"})


@pytest.mark.parametrize(("name", "scenario"), ERRORS.items(), ids=list(ERRORS))
def test_mapped_faults_tell_nothing(name: str, scenario: Any) -> None:
    """Of every case of lesson 07 nothing gets out once faults are mapped in one place."""
    assert hunt(play(scenario.with_(errors="mapped"))) == []


def test_only_told_faults_tell() -> None:
    """Of the broken mappings it is the first that lets exceptions out: word, SQL and path, as they stand."""
    assert {name for name, scenario in ERRORS.items() if hunt(play(scenario))} == {"told"}
    assert {marker for _, marker in hunt(play(ERRORS["told"]))} == {
        "INTERNAL_CANARY", "SELECT * FROM merchants", "/srv/app/secret.key",
    }  # fmt: skip


BROKEN_MAPPINGS = [(lesson, name) for lesson in LESSONS for name, case in cases(lesson).items()
                   if case.scenario.errors != "mapped"]  # fmt: skip


def shown(played: Played) -> list[tuple[str, str]]:
    return [(result.outcome.code, result.text) for result in played.run.results]


@pytest.mark.parametrize(("lesson", "name"), BROKEN_MAPPINGS)
def test_mapping_faults_in_one_place_changes_the_case(lesson: str, name: str) -> None:
    """The harm that a case shows is that of its broken mapping."""
    scenario = cases(lesson)[name].scenario
    assert shown(play(scenario)) != shown(play(scenario.with_(errors="mapped")))


def test_the_section_says_what_came_out_and_where() -> None:
    """One row a marker, or one that says how many texts were searched; before the run is over it says nothing."""
    told, mapped = play(ERRORS["told"]), play(ERRORS["unknown"])
    assert [row[0] for row in SECTIONS["hunted"](View(told)).rows] == [
        "✗ a word in every exception", "✗ the SQL of a query", "✗ the path of a file",
    ]  # fmt: skip
    assert SECTIONS["hunted"](View(mapped)).rows == [("✓ nothing of it", f"{len(texts(mapped))} texts were searched")]
    assert SECTIONS["hunted"](View(told, at=1)).rows == [("…", "told when the run is over")]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_stored_output_tells_what_is_inside(notebook: Path) -> None:
    """No lesson's stored output holds a marker, but where one is shown on purpose: there it must be found."""
    sign, shown_there = ON_PURPOSE.get(notebook.stem, (None, set()))
    found: set[str] = set()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        here = found_in(json.dumps(cell.get("outputs", [])))
        assert here == [] or (sign is not None and sign in "".join(cell["source"])), cell["id"]
        found.update(here)
    assert found == shown_there
