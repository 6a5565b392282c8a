"""Fields of a result are judged from the text that was sent: kept, changed, missing, not to leave, on no list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from labkit.workbook.fields import GROWN, MUST_KEEP, MUST_NOT, judged, paths, sent
from labkit.workbook.scenarios import make_scenario, play
from labkit.workbook.sections import SECTIONS
from labkit.workbook.views import View
from labkit.worlds.merchants import MERCHANTS, Page, Public

GET = ("get_merchant", '{"merchantId":1001}')
LIST = ("list_merchants", '{"page_token":null,"page_size":2}')


def verdicts(call: tuple[str, Any], world: str = "merchants", **more: Any) -> dict[str, str]:
    """Path -> verdict for the result of one call."""
    turn = {"calls": [{"id": "c1", "name": call[0], "arguments": call[1]}]}
    played = play(make_scenario({"world": world, "turns": [turn, {"answer": "."}]} | more))
    return {told.path: told.verdict for told in judged(played.run.results[0])}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"a": 1, "b": {"c": None}}, ("a", "b.c")),
        ({"items": [{"a": 1}, {"a": 2, "b": [[3]]}], "next": ""}, ("items[].a", "items[].b[][]", "next")),
        ([{"a": 1}, 2], ("[].a", "[]")),
        ({"items": [], "more": {}}, ("items", "more")),
        ("text", ("",)),
        ({}, ("",)),
    ],
)
def test_paths_name_every_place_that_holds_something(data: Any, found: tuple[str, ...]) -> None:
    """Objects are joined by dots, lists are marked once for all of their items, what is empty counts as something."""
    assert paths(data) == found


def test_the_real_tools_keep_what_must_be_kept_and_nothing_else() -> None:
    """One record and a page have exactly the fields of the must-keep list."""
    assert verdicts(GET) == {"merchantId": "kept", "name": "kept", "hours": "kept"}
    assert verdicts(LIST) == dict.fromkeys(MUST_KEEP["list_merchants"], "kept")


@pytest.mark.parametrize(
    ("world", "call", "wrong"),
    [
        ("merchants_denied", GET, {"risk_note": "on no list"}),
        ("merchants_denied", LIST, {"items[].risk_note": "on no list"}),
        ("merchants_nested", GET, {}),
        ("merchants_nested", LIST, {"items[].tenant": "must not leave", "items[].internal_note": "must not leave",
                                    "query.tenant": "must not leave", "query.page_size": "on no list"}),
        ("merchants_bare", GET, {"name": "missing", "hours": "missing"}),
        ("merchants_bare", LIST, {"items[].name": "missing", "items[].hours": "missing"}),
        ("merchants_filled", GET, {}),
        ("merchants_cut", GET, {}),
        ("merchants_cut", LIST, {}),
        ("merchants_cut", ("list_merchants", '{"page_token":null,"page_size":9}'),
         {"": "on no list"} | dict.fromkeys(MUST_KEEP["list_merchants"], "missing")),
    ],
)  # fmt: skip
def test_a_broken_projection_is_told_by_its_fields(world: str, call: tuple[str, Any], wrong: dict[str, str]) -> None:
    """What leaks, what is missing and what nobody declared; the fields that are right are not blamed."""
    assert {path: verdict for path, verdict in verdicts(call, world).items() if verdict != "kept"} == wrong


def test_blank_is_kept_and_what_is_filled_in_is_changed() -> None:
    """1002 has no name and no hours: sent blank they are kept, sent with words they are not what is stored."""
    asked, bob = ("get_merchant", '{"merchantId":1002}'), {"subject": "u-bob", "tenant": "B"}
    assert verdicts(asked, principal=bob) == {"merchantId": "kept", "name": "kept", "hours": "kept"}
    filled = {"merchantId": "kept", "name": "changed", "hours": "changed"}
    assert verdicts(asked, "merchants_filled", principal=bob) == filled


def test_only_what_was_asked_for_must_be_kept() -> None:
    """A narrowed result lacks nothing, one narrowed to nothing neither, and a refusal has no fields."""
    assert verdicts(("get_merchant", '{"merchantId":1001,"fields":["hours"]}')) == {"hours": "kept"}
    assert verdicts(("get_merchant", '{"merchantId":1001,"fields":[]}')) == {}
    assert verdicts(("get_merchant", '{"merchantId":1001,"fields":["*"]}')) == {}
    assert verdicts(("get_merchant", '{"merchantId":9999}')) == {}


def test_an_empty_page_and_a_shortened_one_lack_nothing() -> None:
    """A page without items has no item to be incomplete; items that were dropped are counted elsewhere."""
    nobody = {"subject": "u-eve", "tenant": None}
    assert verdicts(LIST, principal=nobody) == {"items": "kept", "next_page_token": "kept"}
    short = {"list_merchants": {"result_chars": 150}}
    assert verdicts(LIST, tools=short) == dict.fromkeys(MUST_KEEP["list_merchants"], "kept")


def test_other_tools_are_not_judged_and_broken_arguments_break_nothing() -> None:
    """There are lists for the merchants alone; a call that only a broken gate lets through is judged all the same."""
    assert verdicts(("length", '{"text":"x"}'), "text") == {}
    gates = ["request_budget", "call_id", "allowlist", "arguments_repaired", "authorization", "replay",
             "execution_budget"]  # fmt: skip
    fenced = ("get_merchant", '```json{"merchantId":1001}```')
    assert verdicts(fenced, gates=gates) == {"merchantId": "kept", "name": "kept", "hours": "kept"}


def test_a_record_that_has_grown_is_sent_as_before() -> None:
    """With a list of what may leave, one more internal attribute changes no text, alone or inside a page."""
    for record, grown in zip(MERCHANTS, GROWN, strict=True):
        assert sent(grown, Public) == sent(record, Public)
    pages = [{"items": list(records), "next_page_token": ""} for records in (MERCHANTS, GROWN)]
    assert sent(pages[0], Page) == sent(pages[1], Page)
    assert "slow payer" not in repr(GROWN[0])


class Note(BaseModel):
    text: str


def test_sent_is_the_text_of_the_real_converter() -> None:
    """It is projected, shortened and refused as the result of any tool is."""
    assert json.loads(sent({"text": "a", "owner": "b"}, Note))["data"] == {"text": "a"}
    assert json.loads(sent(["a"] * 9, result_chars=9))["omitted"] == 7
    assert json.loads(sent({"text": {"a": 1}}, Note))["code"] == "internal_error"
    assert json.loads(sent({1, 2}))["code"] == "internal_error"


def test_the_must_not_list_is_real_and_older_than_the_grown_records() -> None:
    """Each of its words is in a stored record, and none of them is about the attribute that came later."""
    stored = [f"{vars(record)}" for record in MERCHANTS]
    assert all(word in text for word in MUST_NOT for text in stored)
    assert not any(word in "risk_note slow payer" for word in MUST_NOT)


@pytest.mark.parametrize(
    ("world", "told"),
    [
        ("merchants", [("1.1", "✓ kept", "name, hours", "")]),
        ("merchants_bare", [("1.1", "✗ missing", "name, hours", "")]),
        ("merchants_filled", [("1.1", "✗ changed", "name", '"商户 1002 / Merchant 1002"'),
                              ("1.1", "✗ changed", "hours", '"10:00–20:00"')]),
    ],
)  # fmt: skip
def test_the_section_shows_fields_once_they_are_delivered(world: str, told: list[Any]) -> None:
    """One row for what was kept and one for what is missing; each other field has its own, and its first value."""
    asked = {"id": "c1", "name": "get_merchant", "arguments": '{"merchantId":1002,"fields":["name","hours"]}'}
    scenario = {"world": world, "principal": {"subject": "u-bob", "tenant": "B"}, "turns": [{"calls": [asked]}]}
    played = play(make_scenario(scenario))
    delivered = next(event.seq for event in played.run.ledger if event.kind == "delivered")
    assert SECTIONS["fields"](View(played)).rows == told
    assert SECTIONS["fields"](View(played, delivered - 1)).rows == []  # nothing has left yet
