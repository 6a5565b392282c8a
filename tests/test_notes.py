"""World notes: one's own notes are read, and a plan is written only from the version it is at.

Expected are the records and rules of the page "Worlds" (notes), written out by hand.
"""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from helpers import ask, played

from labkit import Call, Dispatcher, Host, Limits, Outcome, Principal, result_text
from labkit.worlds import Spy, open_world
from labkit.worlds.notes import NOTES, PLANS, tools
from labkit.worlds.spy import Read

ALICE = Principal("u-alice", "A", frozenset({"notes:read", "plans:write"}))
BOB = replace(ALICE, subject="u-bob")
N1 = (
    "读书会的计划记在 P1，目前是第 1 版；改动前先核对版本。 "
    "The reading club's plan is kept as P1, at version 1 for now; check the version before changing it."
)
P1 = (
    "第一场读书会：2026 年 9 月 26 日下午两点，社区图书馆。 "
    "First reading club meeting: 26 September 2026, 2 p.m., community library."
)
NEW = "改到上野。 Moved to Ueno."
CHANGE = {"plan_id": "P1", "expected_version": 1, "text": NEW}
WRITER = {"permissions": ["notes:read", "plans:write"]}


class Desk:
    """One run over a fresh store, asked call by call."""

    def __init__(self, principal: Principal = ALICE, spy: Spy | None = None, offered: Any = None) -> None:
        self.spy = spy or Spy()
        self.dispatcher = Dispatcher(Host(offered or tools(self.spy), principal), Limits(rounds=500, requests=500))

    def ask(self, name: str, given: object, claimed: str | None = None) -> Outcome:
        text = given if isinstance(given, str) else json.dumps(given)
        return self.dispatcher.batch([Call(claimed or f"c{self.dispatcher.round}", name, text)])[0]

    def search(self, query: object) -> Outcome:
        return self.ask("search_notes", {"query": query})

    def revise(self, version: object = 1, text: object = NEW, claimed: str | None = None) -> Outcome:
        return self.ask("revise_plan", {"plan_id": "P1", "expected_version": version, "text": text}, claimed)


# --- notes -----------------------------------------------------------------------------------------------------

SEARCHES = [
    (ALICE, "读书会", ["N1", "N2"]), (ALICE, "reading club", ["N1", "N2"]), (ALICE, "READING 读书会", ["N1", "N2"]),
    (ALICE, "青叶咖啡", ["N2"]), (ALICE, "version P1", ["N1"]), (ALICE, "读书会 没有这个词", []),
    (ALICE, "community library", []), (ALICE, "Bob", []), (BOB, "读书会", ["N3"]), (BOB, "version", []),
    (replace(ALICE, subject="u-carol"), "读书会", []), (replace(ALICE, tenant=None), "读书会", ["N1", "N2"]),
]  # fmt: skip


@pytest.mark.parametrize(("who", "query", "found"), SEARCHES)
def test_a_search_finds_the_principals_own_notes(who: Principal, query: str, found: list[str]) -> None:
    """All words must occur, an empty list is `ok`, and the data hands out nothing else."""
    desk = Desk(who)
    outcome = desk.search(query)
    assert (outcome.code, [note["id"] for note in outcome.data]) == ("ok", found)
    assert desk.spy.reads == [Read("notes", who.subject, tuple(found))]


def test_a_note_shows_its_two_fields_and_no_owner() -> None:
    """Id and content leave, found or read."""
    assert Desk().ask("read_note", {"note_id": "N1"}).data == {"id": "N1", "content": N1}
    assert Desk().search("version").data == [{"id": "N1", "content": N1}]


@pytest.mark.parametrize("text", [record.content for record in NOTES] + [plan.text for plan in PLANS])
def test_what_is_searched_is_in_both_languages(text: str) -> None:
    """Each note, and the plan, names the reading club in Chinese and in English."""
    assert "读书会" in text
    assert "reading club" in text


NAMELESS = ["N3", "N999", "n1", "N1 ", " ", "*", "N1,N3", "P1", "N１", "../N3", "' OR owner='u-bob", "x" * 40]


@pytest.mark.parametrize("note_id", NAMELESS)
def test_a_foreign_note_reads_like_one_that_does_not_exist(note_id: str) -> None:
    """Alice's texts for Bob's N3, for a missing id and for a hostile one are equal, and nothing was handed out."""
    desk = Desk()
    found = desk.ask("read_note", {"note_id": note_id})
    assert found.code == "not_found_or_not_accessible"
    assert result_text(found) == result_text(Desk().ask("read_note", {"note_id": "N4"}))
    assert desk.spy.reads == [Read("notes", "u-alice", ())]
    assert Desk(BOB).ask("read_note", {"note_id": "N3"}).code == "ok"


# --- the plan --------------------------------------------------------------------------------------------------


def test_a_revision_from_the_current_version_is_the_next_one() -> None:
    """Version 1 becomes 2 and 2 becomes 3; the owner never leaves."""
    desk = Desk()
    assert desk.revise().data == {"plan_id": "P1", "version": 2, "text": NEW}
    back = "  改回。 Back again. "
    assert desk.revise(2, back).data == {"plan_id": "P1", "version": 3, "text": back}
    assert desk.spy.reads == [Read("plans", "u-alice", ("P1",))] * 2


@pytest.mark.parametrize("version", [2, 3, 999, 10**400])
def test_a_version_that_is_not_the_current_one_is_refused_with_nothing_written(version: int) -> None:
    """The refusal asks the user and tells the plan as it is; afterwards version 1 is still the one to revise."""
    desk = Desk()
    refused = desk.revise(version)
    assert (refused.code, refused.next_action) == ("needs_user", "ask_user")
    assert refused.data == {"plan_id": "P1", "version": 1, "text": P1}
    assert desk.revise(1, "再改。 Once more.").data == {"plan_id": "P1", "version": 2, "text": "再改。 Once more."}


def test_a_stale_version_is_refused_by_the_world() -> None:
    """The same change under a new id is a second change: version 1 is past, and what was written first stays."""
    desk = Desk()
    first, second = desk.revise(), desk.revise(1, "别的。 Something else.")
    assert (first.code, second.code) == ("ok", "needs_user")
    assert second.data == {"plan_id": "P1", "version": 2, "text": NEW}


def test_a_replayed_revision_writes_nothing() -> None:
    """The same id and content give the first answer again; the plan is entered once and stays at version 2."""
    desk = Desk()
    first, again = desk.revise(claimed="w"), desk.revise(claimed="w")
    assert (first.code, again.code, again.replayed, again.body) == ("ok", "ok", True, first.body)
    assert desk.spy.entries == 1
    assert desk.revise(1).data["version"] == 2


def test_a_refused_revision_is_not_tried_again_under_its_id() -> None:
    """A write has one chance: its refusal is replayed even once the version it waited for has come."""
    desk = Desk()
    codes = [desk.revise(2, claimed="w").code, desk.revise(1).code, desk.revise(2, claimed="w").code]
    assert codes == ["needs_user", "ok", "needs_user"]
    assert desk.revise(1).data["version"] == 2


def test_a_stale_version_ends_the_run_by_asking_the_user() -> None:
    """In one response the first change is made and the second refused; no round follows in which to guess."""
    changes = [ask("revise_plan", "1", **CHANGE), ask("revise_plan", "2", **CHANGE)]
    found = played(changes, [ask("revise_plan", "3", **CHANGE | {"expected_version": 2})], world="notes",
                   principal=WRITER)  # fmt: skip
    assert [result.outcome.code for result in found.run.results] == ["ok", "needs_user"]
    assert (found.run.stop, found.violations) == ("needs_user", ())


def test_a_change_whose_answer_was_lost_happened_once() -> None:
    """It is unknown to the run and not repeated; asked with the old version, the world tells what was written."""
    write = ask("revise_plan", "w", **CHANGE)
    found = played([write, write], world="notes", principal=WRITER,
                   faults=[{"tool": "revise_plan", "raises": "crash_after_effect"}])  # fmt: skip
    assert [result.outcome.code for result in found.run.results] == ["outcome_unknown", "outcome_unknown"]
    assert (found.run.stop, found.violations) == ("terminal_error", ())
    looked = Desk(offered=found.world.tools).revise(1)
    assert (looked.code, looked.data) == ("needs_user", {"plan_id": "P1", "version": 2, "text": NEW})


class Dawdling(Spy):
    """Stands between looking and writing, and takes its time."""

    def note(self, reader: str, subject: str, records: tuple[str, ...]) -> None:
        time.sleep(0.005)
        super().note(reader, subject, records)


def test_of_runs_racing_for_one_version_exactly_one_writes() -> None:
    """Eight runs over one store revise version 1 at once: one makes version 2, seven are told of it."""
    spy = Dawdling()
    offered = tools(spy)
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda n: Desk(offered=offered).revise(1, f"第 {n} 稿 / draft {n}"), range(8)))
    assert sorted(outcome.code for outcome in made) == ["needs_user"] * 7 + ["ok"]
    assert len({outcome.body for outcome in made}) == 1
    assert made[0].data["version"] == 2


def test_a_world_opened_again_begins_afresh() -> None:
    """What was written in one opening is not in the next."""
    assert [Desk().revise().data["version"] for _ in range(2)] == [2, 2]


@pytest.mark.parametrize("version", [1, 2])
def test_a_foreign_plan_is_answered_like_a_missing_one(version: int) -> None:
    """Bob asking for Alice's P1, at whatever version, and for P9 gets texts equal in every byte."""
    desk = Desk(BOB)
    foreign, missing = (
        desk.ask("revise_plan", CHANGE | {"plan_id": name, "expected_version": version}) for name in ("P1", "P9")
    )
    assert foreign.code == "not_found_or_not_accessible"
    assert result_text(foreign) == result_text(missing)
    assert desk.spy.reads == [Read("plans", "u-bob", ())] * 2


@pytest.mark.parametrize("plan_id", ["p1", "P1 ", " ", "*", "N1", "P１", "../P1", "P1\n", "' OR 1=1 --", "x" * 40])
def test_a_hostile_plan_id_finds_and_writes_nothing(plan_id: str) -> None:
    """An id is compared character for character."""
    desk = Desk()
    assert desk.ask("revise_plan", CHANGE | {"plan_id": plan_id}).code == "not_found_or_not_accessible"
    assert desk.spy.records == frozenset()
    assert desk.revise(1).code == "ok"


# --- permissions and arguments ---------------------------------------------------------------------------------

CALLS = [("search_notes", {"query": "读书会"}, "notes:read"), ("read_note", {"note_id": "N1"}, "notes:read"),
         ("revise_plan", CHANGE, "plans:write")]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "permission"), CALLS)
def test_each_tool_asks_for_its_own_permission(name: str, given: object, permission: str) -> None:
    """Reading does not allow writing nor the other way round; who is refused touches no data."""
    desk = Desk(replace(ALICE, permissions=ALICE.permissions - {permission}))
    assert (desk.ask(name, given).code, desk.spy.entries) == ("forbidden", 0)
    assert Desk(replace(ALICE, permissions=frozenset({permission}))).ask(name, given).code == "ok"


def test_a_scenario_that_names_no_permissions_may_only_read() -> None:
    """The default principal reads notes and is refused the write, with the plan untouched."""
    world = open_world("notes")
    assert world.read_permissions == frozenset({"notes:read"})
    assert [tool.name for tool in world.tools if tool.writes] == ["revise_plan"]
    found = played([ask("read_note", "r", note_id="N1"), ask("revise_plan", "w", **CHANGE)], "done", world="notes")
    assert [result.outcome.code for result in found.run.results] == ["ok", "forbidden"]
    assert found.world.spy.records == frozenset({"N1"})


REFUSED = [
    ("search_notes", {"query": ""}, "query"), ("search_notes", {"query": " \u3000\u200b"}, "query"),
    ("search_notes", {"query": "x" * 101}, "query"), ("search_notes", {"query": 1}, "query"),
    ("search_notes", {}, "query"), ("search_notes", {"query": "读书会", "owner": "u-bob"}, "owner"),
    ("read_note", {"note_id": ""}, "note_id"), ("read_note", {"note_id": "x" * 41}, "note_id"),
    ("read_note", {"note_id": None}, "note_id"), ("read_note", {"note_id": ["N1"]}, "note_id"),
    ("revise_plan", CHANGE | {"expected_version": "1"}, "expected_version"),
    ("revise_plan", CHANGE | {"expected_version": 1.0}, "expected_version"),
    ("revise_plan", CHANGE | {"expected_version": True}, "expected_version"),
    ("revise_plan", CHANGE | {"expected_version": None}, "expected_version"),
    ("revise_plan", CHANGE | {"expected_version": 0}, "expected_version"),
    ("revise_plan", {"plan_id": "P1", "text": NEW}, "expected_version"),
    ("revise_plan", CHANGE | {"plan_id": ""}, "plan_id"), ("revise_plan", CHANGE | {"plan_id": "x" * 41}, "plan_id"),
    ("revise_plan", CHANGE | {"plan_id": 1}, "plan_id"), ("revise_plan", CHANGE | {"text": ""}, "text"),
    ("revise_plan", CHANGE | {"text": " \n\u200b"}, "text"), ("revise_plan", CHANGE | {"text": "字" * 301}, "text"),
    ("revise_plan", CHANGE | {"text": None}, "text"), ("revise_plan", CHANGE | {"version": 1}, "version"),
    ("revise_plan", CHANGE | {"subject": "u-alice"}, "subject"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "field"), REFUSED)
def test_a_refused_call_names_the_field_and_never_touches_the_data(name: str, given: object, field: str) -> None:
    """Blank, long, missing, added or of the wrong type: refused before any reader is entered."""
    desk = Desk()
    refused = desk.ask(name, given)
    assert (refused.code, refused.field, desk.spy.entries) == ("invalid_arguments", field, 0)


def test_limits_are_what_they_say() -> None:
    """A query keeps 100 characters after trimming, and a plan 300 as they came, all of them escaped."""
    assert Desk().search(" " * 60 + "😀" * 100 + " " * 60).code == "ok"
    assert Desk().revise(1, "😀" * 300).data["text"] == "😀" * 300
