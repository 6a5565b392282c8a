"""World places: like names stay apart, a region that only biases decides nothing, and ids double and expire.

Expected are the records and rules of the page "Worlds" (places), written out by hand.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from helpers import ask, played

from labkit import Call, Dispatcher, Host, Limits, Outcome, Principal, result_text
from labkit.worlds import Spy, open_world
from labkit.worlds.places import MAPPING, PLACES, tools
from labkit.worlds.spy import Read

ALICE = Principal("u-alice", "A")
OF_B = Principal("u-bob", "B")
SEEDS = range(40)
"""Enough seeds for a thing that happens in half of them to be missed once in 10^12."""

CHECKED = "电话与街道地址一致，2026-09-01 核对。 Phone number and street address agree, checked 2026-09-01."
CONFIRMED = (
    "店主书面确认此编号也是东京站店，2026-09-03。 "
    "The owner confirmed in writing that this id, too, is the Tokyo Station branch, 2026-09-03."
)
STATION = {"name": "青叶咖啡 东京站店 / Aoba Coffee Tokyo Station", "region": "Tokyo",
           "address": "东京都千代田区丸之内 1-99-1 / 1-99-1 Marunouchi, Chiyoda, Tokyo"}  # fmt: skip
UENO = {"name": "青叶咖啡 上野店 / Aoba Coffee Ueno", "region": "Tokyo",
        "address": "东京都台东区上野 7-99-1 / 7-99-1 Ueno, Taito, Tokyo"}  # fmt: skip
UMEDA = {"name": "青叶咖啡 梅田店 / Aoba Coffee Umeda", "region": "Osaka",
         "address": "大阪市北区梅田 3-99-1 / 3-99-1 Umeda, Kita, Osaka"}  # fmt: skip
SHOWN: dict[str, dict[str, Any]] = {
    "G1": {"place_id": "G1", **STATION, "merchant": {"merchantId": 2001, "evidence": CHECKED}},
    "G2": {"place_id": "G2", **STATION, "merchant": {"merchantId": 2001, "evidence": CONFIRMED}},
    "G3": {"place_id": "G3", **UENO, "merchant": {"merchantId": 2002, "evidence": CHECKED}},
    "G4": {"place_id": "G4", **UMEDA, "merchant": None},
}


class Desk:
    """One run over a fresh provider, asked call by call."""

    def __init__(self, principal: Principal = ALICE, **seed: int) -> None:
        self.spy = Spy()
        self.dispatcher = Dispatcher(Host(tools(self.spy, **seed), principal), Limits(rounds=500, requests=500))

    def ask(self, name: str, given: object) -> Outcome:
        text = given if isinstance(given, str) else json.dumps(given)
        return self.dispatcher.batch([Call(f"c{self.dispatcher.round}", name, text)])[0]

    def search(self, text: object, region: object = None, mode: object = "bias") -> Outcome:
        return self.ask("search_places", {"text": text, "region": region, "mode": mode})

    def get(self, place_id: object) -> Outcome:
        return self.ask("get_place", {"place_id": place_id})


def ids(outcome: Outcome) -> list[str]:
    return [place["place_id"] for place in outcome.data]


# --- searching -------------------------------------------------------------------------------------------------

SEARCHES = [
    # text, region, mode -> code, ids in the region (or all, without one), ids outside it
    ("青叶咖啡", "Tokyo", "restrict", "needs_user", {"G1", "G2", "G3"}, set()),
    ("Aoba Coffee", "Tokyo", "bias", "needs_user", {"G1", "G2", "G3"}, {"G4"}),
    ("Aoba Coffee", None, "bias", "needs_user", {"G1", "G2", "G3", "G4"}, set()),
    ("aoba 青叶咖啡", "Osaka", "bias", "needs_user", {"G4"}, {"G1", "G2", "G3"}),
    ("青叶咖啡", "Osaka", "restrict", "ok", {"G4"}, set()),
    ("青叶咖啡", "Kyoto", "bias", "needs_user", set(), {"G1", "G2", "G3", "G4"}),
    ("青叶咖啡", "Kyoto", "restrict", "ok", set(), set()),
    ("上野", "Tokyo", "restrict", "ok", {"G3"}, set()),
    ("ueno", " tokyo ", "restrict", "ok", {"G3"}, set()),
    ("上野", "Osaka", "bias", "ok", set(), {"G3"}),
    ("上野", "Osaka", "restrict", "ok", set(), set()),
    ("梅田", "Tokyo", "bias", "ok", set(), {"G4"}),
    ("梅田", "Tokyo", "restrict", "ok", set(), set()),
    ("Taito Aoba", None, "bias", "ok", {"G3"}, set()),
    ("东京站店", None, "bias", "needs_user", {"G1", "G2"}, set()),
    ("青叶咖啡 没有这个词", None, "bias", "ok", set(), set()),
    ("03-0000-0201", None, "bias", "ok", set(), set()),
    ("G3", None, "bias", "ok", set(), set()),
    ("5-99-1", None, "bias", "ok", set(), set()),
]


@pytest.mark.parametrize(("text", "region", "mode", "code", "near", "far"), SEARCHES)
def test_a_search_finds_what_fits_and_chooses_nothing(
    text: str, region: str | None, mode: str, code: str, near: set[str], far: set[str]
) -> None:
    """All words occur in name and address; the region comes first or alone; of several the user chooses."""
    for seed in SEEDS:
        desk = Desk(seed=seed)
        found = desk.search(text, region, mode)
        assert found.code == code
        assert (set(ids(found)[: len(near)]), set(ids(found)[len(near) :])) == (near, far)
        assert [SHOWN[place["place_id"]] for place in found.data] == found.data
        assert desk.spy.reads == [Read("places", "u-alice", tuple(ids(found)))]
        assert desk.dispatcher.ledger.counts["attempts"] == 1


def test_a_choice_of_places_is_the_users() -> None:
    """With two branches of one name the run ends by asking, whatever the model would have done next."""
    search = ask("search_places", text="青叶咖啡", region="Tokyo", mode="restrict")
    found = played([search], [ask("get_place", "2", place_id="G1")], world="places")
    (result,) = found.run.results
    assert (result.outcome.next_action, found.run.stop, found.violations) == ("ask_user", "needs_user", ())


# region, mode -> the ids that come first with one seed or another
FIRST = [("Tokyo", "restrict", {"G1", "G2", "G3"}), ("Tokyo", "bias", {"G1", "G2", "G3"}), ("Osaka", "bias", {"G4"}),
         ("Kyoto", "bias", {"G1", "G2", "G3", "G4"}), (None, "bias", {"G1", "G2", "G3", "G4"})]  # fmt: skip


@pytest.mark.parametrize(("region", "mode", "heads"), FIRST)
def test_the_order_of_candidates_says_nothing_and_their_ids_stay(
    region: str | None, mode: str, heads: set[str]
) -> None:
    """The same ids come in another order by seed and by the next search; a seed repeats its own orders."""
    orders = set()
    for seed in SEEDS:
        desk = Desk(seed=seed)
        first, second, third = (ids(desk.search("青叶咖啡", region, mode)) for _ in range(3))
        assert first != second != third
        assert set(first) == set(second) == set(third)
        again = Desk(seed=seed)
        assert [ids(again.search("青叶咖啡", region, mode)) for _ in range(2)] == [first, second]
        orders.add(tuple(first))
    assert len(orders) > 1
    assert len(set(map(frozenset, orders))) == 1
    assert {order[0] for order in orders} == heads


def test_playing_a_scenario_twice_gives_the_same_order() -> None:
    """The seed is fixed unless another is asked for."""
    search = ask("search_places", text="青叶咖啡", region=None, mode="bias")
    first, second = (played([search], world="places").run.results[0].text for _ in range(2))
    assert first == second
    assert ids(Desk().search("青叶咖啡")) == [place["place_id"] for place in json.loads(first)["data"]]


# --- arguments -------------------------------------------------------------------------------------------------

GIVEN = {"text": "上野", "region": "Tokyo", "mode": "restrict"}
REFUSED = [
    ({"region": None}, "region"), ({"region": ""}, "region"), ({"region": "\u200b"}, "region"),
    ({"region": "x" * 101}, "region"), ({"region": 1}, "region"), ({"region": ["Tokyo"]}, "region"),
    ({"region": "", "mode": "bias"}, "region"), ({"mode": "Restrict"}, "mode"), ({"mode": ""}, "mode"),
    ({"mode": None}, "mode"), ({"mode": None, "region": None}, "mode"), ({"text": ""}, "text"),
    ({"text": " \t\n"}, "text"), ({"text": "\u3164 \u2060"}, "text"), ({"text": "x" * 101}, "text"),
    ({"text": 3}, "text"), ({"text": None}, "text"), ({"merchantId": 2001}, "merchantId"), ({"seed": 1}, "seed"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "field"), REFUSED)
def test_a_search_that_is_refused_names_the_field_and_asks_nobody(change: dict[str, object], field: str) -> None:
    """Restricting without a region, a blank or long text, another mode, an added field."""
    desk = Desk()
    refused = desk.ask("search_places", GIVEN | change)
    assert (refused.code, refused.field, desk.spy.entries) == ("invalid_arguments", field, 0)


@pytest.mark.parametrize("missing", ["text", "region", "mode"])
def test_nothing_of_a_search_is_defaulted(missing: str) -> None:
    """No region was given only where the call says null; a region or mode left out is a fault."""
    refused = Desk().ask("search_places", {name: value for name, value in GIVEN.items() if name != missing})
    assert (refused.code, refused.field) == ("invalid_arguments", missing)


@pytest.mark.parametrize("text", ["  上野\t", "\u3000上野\u3000", " " * 60 + "上野" + " " * 60, "UENO 上野"])
def test_a_text_is_trimmed_before_it_is_judged(text: str) -> None:
    """What counts is what remains."""
    assert ids(Desk().search(text)) == ["G3"]
    assert Desk().search(" " * 60 + "😀" * 100 + " " * 60).code == "ok"


# --- one place -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place_id", SHOWN)
def test_a_place_shows_its_public_fields_and_no_phone(place_id: str) -> None:
    """Id, name, address, region, and the merchant with the evidence, or null where the table has no entry."""
    desk = Desk()
    found = desk.get(place_id)
    assert (found.code, found.data) == ("ok", SHOWN[place_id])
    assert "0000" not in result_text(found)
    assert desk.spy.reads == [Read("places", "u-alice", (place_id,))]
    assert desk.dispatcher.ledger.counts["attempts"] == 1


def test_two_ids_of_one_place_are_neither_merged_nor_split() -> None:
    """G1 and G2 are both shown, each under its own id; that they are one merchant is what the evidence of each says."""
    first, second = sorted(Desk().search("东京站店").data, key=lambda place: str(place["place_id"]))
    assert (first, second) == (SHOWN["G1"], SHOWN["G2"])
    assert first["merchant"]["evidence"] != second["merchant"]["evidence"]
    assert [Desk().get(place_id).data["place_id"] for place_id in ("G1", "G2")] == ["G1", "G2"]


def test_an_expired_id_leads_back_to_confirmation() -> None:
    """A single current id bears the old name, at another address, and still it is asked about, not put in its place."""
    desk = Desk()
    found = desk.get("G0")
    assert (found.code, found.next_action) == ("needs_user", "ask_user")
    assert found.data == {"expired": "G0", "candidates": [SHOWN["G3"]]}
    assert "5-99-1" not in result_text(found)
    assert desk.spy.reads == [Read("places", "u-alice", ("G3",))]
    assert played([ask("get_place", place_id="G0")], "done", world="places").run.stop == "needs_user"


HOSTILE = ["G9", "g3", "G3 ", " ", "*", "G0,G3", "G3\n", "../G3", "G３", "' OR 1=1 --", "x" * 40, "2002", "\u202eG3"]


@pytest.mark.parametrize("place_id", HOSTILE)
def test_an_id_that_does_not_exist_is_not_found(place_id: str) -> None:
    """An id is compared character for character; no answer differs and nothing is handed out."""
    desk = Desk()
    found = desk.get(place_id)
    assert found.code == "not_found_or_not_accessible"
    assert result_text(found) == result_text(Desk().get("G99"))
    assert desk.spy.reads == [Read("places", "u-alice", ())]


@pytest.mark.parametrize("place_id", ["", "x" * 41, 3, None, True, ["G3"], {"id": "G3"}])
def test_what_is_no_id_is_refused(place_id: object) -> None:
    """An id is text of 1 to 40 characters."""
    desk = Desk()
    refused = desk.get(place_id)
    assert (refused.code, refused.field, desk.spy.entries) == ("invalid_arguments", "place_id", 0)


# --- the table -------------------------------------------------------------------------------------------------


def test_the_table_links_ids_to_merchants_of_one_tenant_with_evidence() -> None:
    """Three ids have an entry; the expired one and the one outside the region have none."""
    assert [(link.place_id, link.tenant, link.merchantId, link.evidence) for link in MAPPING] == [
        ("G1", "A", 2001, CHECKED), ("G2", "A", 2001, CONFIRMED), ("G3", "A", 2002, CHECKED)
    ]  # fmt: skip
    reader = replace(ALICE, permissions=frozenset({"merchant:read"}))
    desk = Dispatcher(Host(open_world("merchants").tools, reader))
    calls = [Call(str(n), "get_merchant", json.dumps({"merchantId": n})) for n in (2001, 2002)]
    assert [outcome.code for outcome in desk.batch(calls)] == ["ok", "ok"]


def test_what_the_evidence_claims_is_so() -> None:
    """Ids of one merchant agree in name, address and phone; ids of different ones do not."""
    stored = {place.id: (place.name, place.address, place.region, place.phone) for place in PLACES}
    assert stored["G1"] == stored["G2"]
    assert len(set(stored.values())) == 4
    assert [place.id for place in PLACES if place.expired] == ["G0"]


@pytest.mark.parametrize("who", [OF_B, Principal("u-carol"), Principal("u-dora", "")])
def test_the_table_is_its_tenants_own(who: Principal) -> None:
    """Places are open to everybody; which merchant of tenant A one of them is, only tenant A learns."""
    desk = Desk(who)
    answers = [desk.search("青叶咖啡").data, [desk.get("G1").data], desk.get("G0").data["candidates"]]
    for found in answers:
        assert found == [SHOWN[place["place_id"]] | {"merchant": None} for place in found]


def test_places_ask_for_no_permission() -> None:
    """Both tools are open to everybody, and neither writes."""
    world = open_world("places")
    assert [(tool.name, tool.permission, tool.writes) for tool in world.tools] == [
        ("search_places", None, False), ("get_place", None, False)
    ]  # fmt: skip
    assert world.read_permissions == frozenset()


@pytest.mark.parametrize("text", [f"{place.name} {place.address}" for place in PLACES])
def test_what_is_searched_is_in_both_languages(text: str) -> None:
    """Each name and address holds Chinese and English."""
    assert any("\u4e00" <= character <= "\u9fff" for character in text)
    assert any(character.isascii() and character.isalpha() for character in text)
