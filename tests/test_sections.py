"""What single lessons show beside the rest is read off the run: each table, against rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.workbook.pages import lower, page, upper
from labkit.workbook.scenarios import make_scenario, play
from labkit.workbook.sections import LONG, SECTIONS
from labkit.workbook.views import View

JAVA, SQL = '{"text":"Java"}', '{"text":"SQL"}'


def rows(name: str, at: int | None = None, **scenario: Any) -> list[tuple[str, ...]]:
    """The rows of one section for a scenario."""
    return list(SECTIONS[name](View(play(make_scenario(scenario)), at, (name,))).rows)


def turn(*calls: tuple[Any, Any, Any]) -> dict[str, Any]:
    return {"calls": [{"id": own, "name": name, "arguments": text} for own, name, text in calls]}


def test_reading_marks_where_it_stopped_and_what_each_reader_takes() -> None:
    """The mark stands before the character; a tool that nobody offers has no reader."""
    calls = turn(("1", "length", '{"text":nul}'), ("2", "shell", "{}"))
    assert rows("reading", world="text", turns=[calls])[:3] == [
        ("1.1", "text", '{"text":nul▮}'),
        ("", "our reader stops at", "character 12, key text"),
        ("", "our reader", "✗ not_json: this is not JSON (at character 12)"),
    ]
    assert [row[0] for row in rows("reading", world="text", turns=[calls])] == ["1.1", "", "", "", ""]


def test_memory_says_what_an_id_stands_for() -> None:
    """A first request runs, an equal one is answered from memory, another is a conflict; a refused one owns nothing."""
    calls = turn(("1", "shell", JAVA), ("1", "length", JAVA), ("1", "length", JAVA), ("1", "length", SQL))
    told = [(row[0], row[1], row[4], row[5]) for row in rows("memory", world="text", turns=[calls])]
    assert told == [
        ("1.1", "1", "is free", "refused: it owns nothing"),
        ("1.2", "1", "is free", "a first request: it runs"),
        ("1.3", "1", "is owned", "the same request again: answered from memory"),
        ("1.4", "1", "is owned", "another request under an owned id: conflict"),
    ]


def test_memory_tells_a_call_that_runs_again_from_a_first_one() -> None:
    """A read that failed owns its id and may run once more under it."""
    calls = turn(*[("1", "get_merchant", '{"merchantId":1001}')] * 2)
    faults = [{"tool": "get_merchant", "entry": 1, "raises": "temporary"}]
    told = [row[4:] for row in rows("memory", world="merchants", faults=faults, turns=[calls])]
    assert told == [("is free", "a first request: it runs"), ("is owned", "it runs again under its id")]


def test_memory_of_one_response_keeps_rounds_apart() -> None:
    """With ids kept for one response, the same id in the next round is another id."""
    turns = [turn(("1", "length", JAVA)), turn(("1", "length", SQL))]
    told = [row[1:2] + row[4:] for row in rows("memory", world="text", id_scope="response", turns=turns)]
    assert told == [("1/1", "is free", "a first request: it runs"), ("2/1", "is free", "a first request: it runs")]


NOTICES = turn(("1", "search_notices", '{"query":"报名","published_from":"2026-09-15"}'))


@pytest.mark.parametrize(
    ("world", "read", "reached"),
    [
        ("notices", [("1", "notices", "u-alice", "D2")], [("D2", "u-alice", "✓ their own")]),
        ("notices_after", [("1", "notices", "u-alice", "D2, D3")], [("D2", "u-alice", "✓ their own")]),
        ("notices_late", [("1", "notices", "u-alice", "D2, D3")],
         [("D2", "u-alice", "✓ their own"), ("D3", "u-bob", "✗ another's")]),
    ],
)  # fmt: skip
def test_reads_and_deliveries_show_what_was_touched_and_whom_it_reached(
    world: str, read: list[Any], reached: list[Any]
) -> None:
    """What the spy saw, and every record that a model got to read, with its owner."""
    assert rows("reads", world=world, turns=[NOTICES]) == read
    assert [(row[2], row[3], row[5]) for row in rows("deliveries", world=world, turns=[NOTICES])] == reached


def test_a_tenants_own_merchant_is_its_own() -> None:
    """Merchants belong to a tenant, notices to a user; the digest of the delivery is that of the text."""
    calls = turn(("1", "get_merchant", '{"merchantId":1001}'), ("2", "get_merchant", '{"merchantId":1002}'))
    told = [(row[1], row[2], row[3], row[5]) for row in rows("deliveries", world="merchants_tenantless", turns=[calls])]
    assert told == [("1.1", "1001", "A", "✓ their own"), ("1.2", "1002", "B", "✗ another's")]


def test_spending_adds_up_to_the_counters() -> None:
    """A response is a round, a call a request; a retry inside the tool is an attempt and no execution."""
    calls = turn(("1", "get_merchant", '{"merchantId":1001}'), ("1", "get_merchant", '{"merchantId":1001}'))
    fault = {"tool": "get_merchant", "entry": 1, "attempt": 1, "raises": "temporary"}
    limits = {"rounds": 3, "requests": 5, "executions": 2}
    assert rows("spending", world="merchants", faults=[fault], limits=limits, turns=[calls, {"answer": "?"}]) == [
        ("1", "a model response", "1", "·", "·", "·"),
        ("1.1", "ok", "·", "1", "1", "2"),
        ("1.2", "ok (replayed)", "·", "1", "·", "·"),
        ("2", "a model response", "1", "·", "·", "·"),
        ("", "in all", "2 of 3", "2 of 5", "1 of 2", "2"),
    ]


def test_messages_stand_beside_the_requests_they_answer() -> None:
    """The whole conversation, each result paired; at each event as much of it as there was."""
    scenario = {"title": "How long is it?", "world": "text", "turns": [turn(("1", "length", JAVA)), {"answer": "4"}]}
    assert [(row[1], row[2], row[4]) for row in rows("messages", **scenario)] == [
        ("user", "", ""), ("assistant", "", ""), ("tool", "1", "✓ its own"), ("assistant", "", ""),
    ]  # fmt: skip
    assert [len(rows("messages", at, **scenario)) for at in range(9)] == [1, 1, 2, 2, 2, 3, 3, 4, 4]


def test_ends_keep_the_four_facts_of_a_cancellation_apart() -> None:
    """Closed at event 7: what was finished stays, what runs ends late, what was never admitted reserved nothing."""
    calls = turn(("1", "search_notes", '{"query":"club"}'), ("2", "read_note", '{"note_id":"N1"}'),
                 ("3", "search_notes", '{"query":"club"}'))  # fmt: skip
    run = {"world": "notes", "turns": [calls], "faults": [{"tool": "read_note", "raises": "stubborn"}]}
    assert rows("ends", **run) == [
        ("1.1", "#7 0.375 s", "#4 0.25 s ok", "#4 0.25 s ok", "spent"),
        ("1.2", "#7 0.375 s", "#8 0.375 s cancelled", "#9 0.375 s late: ok", "spent"),
        ("1.3", "#7 0.375 s", "#11 0.375 s cancelled", "never entered", "none reserved"),
    ]
    assert rows("ends", 6, **run) == [
        ("1.1", "no", "#4 0.25 s ok", "#4 0.25 s ok", "spent"), ("1.2", "no", "not yet", "not yet", "spent"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_follows_the_scrubber_and_stands_in_every_form(name: str) -> None:
    """At every event it shows only what had happened; the twin and the page hold the same cells; markup is text."""
    evil = "<img src=x>"
    calls = turn((evil, "length", '{"text":"<i>"}'), (evil, "length", JAVA), ("3", "search_notices", JAVA))
    played = play(make_scenario({"title": evil, "world": ["text", "notices"], "turns": [calls, {"answer": evil}]}))
    for at in range(len(played.run.ledger) + 1):
        view = View(played, at, (name,))
        section = (view.below if name in LONG else view.above)[0]
        assert section.title in view.text()
        assert "<img" not in page(view) + upper(view) + lower(view)
        assert all(len(row) == len(section.columns) for row in section.rows)
