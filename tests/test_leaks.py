"""Nothing that is internal, and nothing that is somebody else's, is in any text that leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labkit.workbook.scenarios import make_scenario, play
from labkit.worlds import WORLDS, open_world
from labkit.worlds.merchants import MERCHANTS as RECORDS


def every_call() -> list[dict[str, Any]]:
    """Calls that succeed, find nothing, break, and ask for what is not theirs."""
    asked = [("search_notices", {"query": "读书会", "published_from": None}), ("read_notice", {"notice_id": "D1"}),
             ("read_notice", {"notice_id": "D3"}), ("list_tags", {}), ("get_merchant", {"merchantId": 1001}),
             ("get_merchant", {"merchantId": 1002}), ("get_merchant", {"merchantId": 1001, "fields": ["name"]}),
             ("list_merchants", {"page_token": None, "page_size": 50}),
             ("list_merchants", {"page_token": "x", "page_size": 1}),
             ("get_merchant", {"merchantId": 1001})]  # fmt: skip
    return [
        {"id": f"c{place}", "name": name, "arguments": json.dumps(given)} for place, (name, given) in enumerate(asked)
    ]


@pytest.mark.parametrize("raises", [None, "temporary", "bug", "hang"])
def test_no_text_that_leaves_holds_what_is_internal(raises: str | None) -> None:
    """Results, messages, ledger and report hold no planted marker, no internal field, and none of Bob's or B's data."""
    tools = ("search_notices", "get_merchant", "list_merchants") if raises else ()
    scenario = {"world": ["notices", "merchants"], "turns": [{"calls": every_call()}, {"answer": "done"}],
                "faults": [{"tool": tool, "entry": 1, "raises": raises} for tool in tools]}  # fmt: skip
    played = play(make_scenario(scenario))
    said = [result.text for result in played.run.results] + [message.text for message in played.run.messages]
    kept = [played.run.ledger.to_jsonl(), json.dumps(played.report(), ensure_ascii=False)]
    assert len(played.run.results) == len(every_call())
    for secret in ("CANARY", "internal_note", "owner", "SELECT", "/srv/app", "10.0.0.9", "Bob", "u-bob", "Merchant B"):
        assert [text for text in said + kept if secret in text] == []
    assert [text for text in said if "tenant" in text or "u-alice" in text] == []


def test_a_marker_is_there_to_be_found() -> None:
    """The sweep above looks for something real: each stored merchant holds a marker."""
    assert [record for record in RECORDS if "INTERNAL_FIELD_CANARY" not in record.internal_note] == []


@pytest.mark.parametrize("name", WORLDS)
def test_a_printed_tool_shows_no_record(name: str) -> None:
    """A tool's repr names its function and the reader behind it; of the data it holds nothing is printed."""
    for tool in open_world(name).tools:
        assert len(repr(tool)) < 600
        assert not [word for word in ("CANARY", "internal", "u-bob", "D3", "-0000-0") if word in repr(tool)]
