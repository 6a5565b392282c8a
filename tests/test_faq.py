"""World faq answers as its page says: a search by words, for one tenant, with nothing internal in what leaves.

Expected are the entries F1 to F5, written out by hand: F1 and F2 are of merchant 1001, F3 of 2001 (tenant A), F4 of
1002 and F5 of 3001 (tenant B).
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from labkit import Call, Dispatcher, Host, Limits, Outcome, Principal, result_text
from labkit.worlds import World, open_world
from labkit.worlds.faq import FAQ
from labkit.worlds.merchants import MERCHANTS
from labkit.worlds.owners import OWNERS
from labkit.worlds.spy import Read

ALICE = Principal("u-alice", "A", frozenset({"merchant:read"}))
BOB = Principal("u-bob", "B", ALICE.permissions)
NO_TENANT = replace(ALICE, tenant=None)


class Desk:
    """One run over merchants and their FAQ, asked call by call."""

    def __init__(self, principal: Principal = ALICE, **limits: Any) -> None:
        self.world: World = open_world("merchants", "faq")
        self.dispatcher = Dispatcher(
            Host(self.world.tools, principal), Limits(rounds=100, requests=100, **{"executions": 100} | limits)
        )

    def ask(self, name: str, given: object) -> Outcome:
        """The outcome of one call under a new id; ready arguments are written as JSON."""
        text = given if isinstance(given, str) else json.dumps(given)
        return self.dispatcher.batch([Call(f"c{self.dispatcher.round}", name, text)])[0]

    def search(self, query: object) -> Outcome:
        return self.ask("search_faq", {"query": query})


def ids(outcome: Outcome) -> list[str]:
    assert outcome.code == "ok"
    return [entry["id"] for entry in outcome.data]


SEARCHES = [
    (ALICE, "public holidays", ["F1"]), (ALICE, "节假日", ["F1"]), (ALICE, "HOLIDAYS 10:00", ["F1"]),
    (ALICE, "预订", ["F2"]), (ALICE, "parking", ["F3"]), (ALICE, "可以", ["F2"]), (ALICE, "?", ["F1", "F2", "F3"]),
    (ALICE, "step-free", []), (ALICE, "轮椅", []), (ALICE, "holidays parking", []), (ALICE, "没有这个词", []),
    (BOB, "public holidays", ["F4"]), (BOB, "可以", ["F5"]), (BOB, "step-free access", ["F5"]), (BOB, "parking", []),
    (NO_TENANT, "public holidays", []), (replace(ALICE, subject="u-carol"), "parking", ["F3"]),
]  # fmt: skip


@pytest.mark.parametrize(("who", "query", "found"), SEARCHES)
def test_a_search_finds_the_entries_of_the_principals_tenant(who: Principal, query: str, found: list[str]) -> None:
    """All words must occur, in question or answer; no hit is an empty list; nothing else is handed out."""
    desk = Desk(who)
    assert ids(desk.search(query)) == found
    assert desk.world.spy.reads == [Read("faq", who.subject, tuple(found))]


def test_an_entry_shows_four_fields_in_two_languages() -> None:
    """Id, merchant, question and answer leave; tenant and internal note stay."""
    assert Desk().search("parking").data == [
        {"id": "F3", "merchantId": 2001, "question": "有停车位吗？ / Is there parking?",
         "answer": "有三个车位。 / There are three spaces."}
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["INTERNAL_FIELD_CANARY", "internal_note", "1001", "tenant"])
def test_internal_fields_are_neither_searched_nor_sent(word: str) -> None:
    """A word that only an internal field or an id holds finds nothing, and no text holds the marker."""
    desk = Desk()
    assert ids(desk.search(word)) == []
    texts = [result_text(desk.search("?")), result_text(Desk(BOB).search("?"))]
    assert not any(marker in text for text in texts for marker in ("CANARY", "internal_note", '"tenant"'))


def test_every_entry_has_its_marker_and_belongs_to_its_merchants_tenant() -> None:
    """The sample data is whole: each entry is tied to a merchant of its own tenant, in both languages."""
    tenants = {merchant.merchantId: merchant.tenant for merchant in MERCHANTS}
    for entry in FAQ:
        assert tenants[entry.merchantId] == entry.tenant == OWNERS[entry.id]
        assert entry.internal_note == f"INTERNAL_FIELD_CANARY {entry.id}"
        assert all(" / " in text and not text.isascii() for text in (entry.question, entry.answer))
    assert len({entry.id for entry in FAQ}) == len(FAQ) == 5
    assert set(asdict(FAQ[0])) == {"id", "tenant", "merchantId", "question", "answer", "internal_note"}


def test_what_is_blank_at_a_merchant_is_not_filled_in_by_its_faq() -> None:
    """1002 has no name and no hours, and its FAQ gives it none."""
    (entry,) = (entry for entry in FAQ if entry.merchantId == 1002)
    assert not any(character.isdigit() for character in entry.question + entry.answer)


REFUSED = [{}, {"query": 1}, {"query": None}, {"query": ["parking"]}, {"query": "parking", "tenant": "B"},
           {"query": "parking", "merchantId": 1002}, {"q": "parking"}, {"query": ""}, {"query": " \u3000"},
           {"query": "\u200b"}, {"query": "x" * 101}]  # fmt: skip


@pytest.mark.parametrize("given", REFUSED)
def test_a_refused_search_never_touches_the_data(given: object) -> None:
    """A wrong type, a blank or overlong query, a missing or added field: refused before the index is entered."""
    desk = Desk()
    assert desk.ask("search_faq", given).code == "invalid_arguments"
    assert desk.world.spy.entries == 0


@pytest.mark.parametrize("query", ["  parking\t", "\u3000停车位\u3000"])
def test_a_query_is_trimmed_like_every_other(query: str) -> None:
    """White space around the words is nothing to search for."""
    assert ids(Desk().search(query)) == ["F3"]


@pytest.mark.parametrize("held", [set(), {"merchant:write"}, {"merchant"}, {"faq:read"}])
def test_it_takes_the_permission_that_the_merchants_take(held: set[str]) -> None:
    """Whoever may not read merchants may not search their FAQ, and the spy sees no entry."""
    desk = Desk(replace(ALICE, permissions=frozenset(held)))
    assert [desk.search("parking").code, desk.ask("get_merchant", {"merchantId": 1001}).code] == ["forbidden"] * 2
    assert desk.world.spy.entries == 0


def test_it_shares_budgets_and_memory_with_the_first_tool() -> None:
    """Two tools, one guard: executions are counted together, and an id stands for one content whatever the tool."""
    desk = Desk(executions=2)
    first = Call("1", "get_merchant", '{"merchantId":1001}')
    second = Call("2", "search_faq", '{"query":"parking"}')
    third, other = Call("3", "search_faq", '{"query":"reserve"}'), Call("2", "search_faq", '{"query":"reserve"}')
    outcomes = desk.dispatcher.batch([first, second, second, other, third])
    assert [outcome.code for outcome in outcomes] == ["ok", "ok", "ok", "id_conflict", "budget_exhausted"]
    assert [outcome.replayed for outcome in outcomes] == [False, False, True, False, False]
    assert [read.records for read in desk.world.spy.reads] == [("1001",), ("F3",)]


def test_it_only_reads_and_makes_no_attempt_elsewhere() -> None:
    """The index is the application's own: no attempt downstream is recorded, and it writes nothing."""
    desk = Desk()
    desk.search("parking")
    assert desk.dispatcher.ledger.counts["attempts"] == 0
    (tool,) = open_world("faq").tools
    assert (tool.name, tool.permission, tool.writes) == ("search_faq", "merchant:read", False)
