"""Which places came out of a call is read off its result; each leaky form of the provider leaks as it says."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.workbook.candidates import Candidate, candidates, confirmed, ids
from labkit.workbook.scenarios import Played, make_scenario, play
from labkit.workbook.sections import SECTIONS
from labkit.workbook.ui import panel
from labkit.workbook.views import View

TOKYO = '{"text":"青叶咖啡","mode":"restrict","region":"Tokyo"}'
ANYWHERE = '{"text":"青叶咖啡 梅田","mode":"bias","region":null}'
CHECKED = "电话与街道地址一致，2026-09-01 核对。 Phone number and street address agree, checked 2026-09-01."
STATION = "Aoba Coffee Tokyo Station, 1-99-1 Marunouchi, Chiyoda, Tokyo"


def search(text: str) -> tuple[str, str]:
    return "search_places", text


def get(place: str) -> tuple[str, str]:
    return "get_place", f'{{"place_id":"{place}"}}'


def asked(*calls: tuple[str, str], world: Any = "places", **more: Any) -> Played:
    """A run whose model makes these calls in one response."""
    made = [{"id": str(n), "name": name, "arguments": text} for n, (name, text) in enumerate(calls)]
    return play(make_scenario({"world": world, "turns": [{"calls": made}, {"answer": "done"}]} | more))


def linked(played: Played) -> list[tuple[str, int | None]]:
    """Each place that came out, with the merchant beside it."""
    return [(one.place_id, one.merchant) for result in played.run.results for one in candidates(result)]


# --- reading a result ------------------------------------------------------------------------------------------


def test_a_place_is_read_with_its_merchant_and_the_evidence() -> None:
    """Of one id the result is one place; what is shown of it in English is name and address."""
    (result,) = asked(get("G1")).run.results
    assert candidates(result) == [
        Candidate("G1", "青叶咖啡 东京站店 / Aoba Coffee Tokyo Station",
                  "东京都千代田区丸之内 1-99-1 / 1-99-1 Marunouchi, Chiyoda, Tokyo", "Tokyo", 2001, CHECKED)
    ]  # fmt: skip
    assert candidates(result)[0].where == STATION


def test_every_result_that_holds_places_is_read() -> None:
    """Several found, none found, an id that has expired, one that does not exist, a refusal, another tool's result."""
    calls = (search(TOKYO), search(ANYWHERE), search('{"text":"茶","mode":"bias","region":null}'), get("G0"),
             get("G9"), get(""), ("get_merchant", '{"merchantId":1001}'))  # fmt: skip
    found = [ids(result) for result in asked(*calls, world=["places", "merchants"]).run.results]
    assert [sorted(one) for one in found] == [["G1", "G2", "G3"], ["G4"], [], ["G3"], [], [], []]
    assert linked(asked(get("G4"))) == [("G4", None)]


def test_what_was_confirmed_stands_in_the_conditions() -> None:
    """The value held for place_id; None where nothing, or another field, is held."""
    held = [{"tool": "get_merchant", "field": "merchantId", "value": 2002},
            {"tool": "get_place", "field": "place_id", "value": "G3"}]  # fmt: skip
    base = {"world": ["places", "merchants"], "turns": []}
    assert confirmed(make_scenario(base | {"conditions": held})) == "G3"
    assert confirmed(make_scenario(base | {"conditions": held[:1]})) is None


# --- the table of a panel --------------------------------------------------------------------------------------


def test_the_table_says_which_places_came_and_why_they_are_linked() -> None:
    """One row a place, cut evidence, a dash where nothing came; a refused call has no row."""
    section = SECTIONS["found"](View(asked(get("G1"), get("G4"), get(""), search(ANYWHERE.replace("梅田", "茶")))))
    assert section.columns == ("call", "place", "where it is", "merchant", "evidence")
    assert section.rows == [
        ("1.1", "G1", STATION, "2001", "Phone number and street address agr…"),
        ("1.2", "G4", "Aoba Coffee Umeda, 3-99-1 Umeda, Kita, Osaka", "–", "no entry"),
        ("1.4", "–", "", "", ""),
    ]


def test_the_table_compares_with_what_was_confirmed() -> None:
    """Where an id is held, each place is that one or it is not; what is not delivered yet has no row."""
    held = [{"tool": "get_place", "field": "place_id", "value": "G0"}]
    played = asked(get("G0"), world="places_rebound", conditions=held)
    assert [(row[1], row[-1]) for row in SECTIONS["found"](View(played)).rows] == [("G3", "✗ no")]
    good = asked(get("G3"), conditions=[held[0] | {"value": "G3"}])
    assert [(row[1], row[-1]) for row in SECTIONS["found"](View(good)).rows] == [("G3", "✓ yes")]
    before = next(event.seq for event in good.run.ledger if event.kind == "delivered") - 1
    assert SECTIONS["found"](View(good, before)).rows == []


# --- the leaky forms -------------------------------------------------------------------------------------------


def test_the_first_is_taken_and_changes_from_search_to_search() -> None:
    """One candidate each time, never the same twice in a row, and no question; a single hit stays as it is."""
    played = asked(search(TOKYO), search(TOKYO), search(ANYWHERE), world="places_first")
    first, second, single = (ids(result) for result in played.run.results)
    assert (len(first), len(second), single, played.run.stop) == (1, 1, ["G4"], "answered")
    assert first != second


def test_a_region_is_filled_in_only_where_none_was_given() -> None:
    """Without a region the search is kept to Tokyo; a region that was given is left alone."""
    given = ANYWHERE.replace("null", '"Osaka"')
    found = [ids(result) for result in asked(search(ANYWHERE), search(given), world="places_defaulted").run.results]
    assert found == [[], ["G4"]]


def test_an_expired_id_is_bound_anew_and_an_unknown_one_is_not() -> None:
    """G0 becomes G3 without a question; what never was stays not found."""
    played = asked(get("G0"), get("G9"), world="places_rebound")
    codes = [result.outcome.code for result in played.run.results]
    assert (codes, linked(played)) == (["ok", "not_found_or_not_accessible"], [("G3", 2002)])


@pytest.mark.parametrize(
    ("world", "tenant", "merchants"),
    [
        ("places", "A", [2001, 2001, 2002, None]), ("places", "B", [None] * 4),
        ("places_merged", "A", [2001, 2001, 2002, 2001]), ("places_merged", "B", [None] * 4),
        ("places_split", "A", [None, 2001, 2002, None]), ("places_split", "B", [None] * 4),
        ("places_tenantless", "A", [2001, 2001, 2002, None]), ("places_tenantless", "B", [2001, 2001, 2002, None]),
    ],
)  # fmt: skip
def test_each_reading_of_the_table_links_as_it_says(world: str, tenant: str, merchants: list[int | None]) -> None:
    """Merged guesses for G4, split forgets G1, tenantless tells B; each does no more than that."""
    calls = [get(place) for place in ("G1", "G2", "G3", "G4")]
    played = asked(*calls, world=world, principal={"subject": "u", "tenant": tenant})
    assert linked(played) == list(zip(("G1", "G2", "G3", "G4"), merchants, strict=True))


def test_a_guess_says_that_it_is_one() -> None:
    """The evidence of a merged place is the likeness of its name, and nothing else."""
    (result,) = asked(get("G4"), world="places_merged").run.results
    assert candidates(result)[0].evidence == "名称相近。 The names are alike."


# --- the control -----------------------------------------------------------------------------------------------


def test_each_world_has_its_own_control_and_keeps_the_others_choice() -> None:
    """Places are about choosing, merchants about the owner; altering one leaves the other as it was set."""
    shown = panel(asked(get("G1"), world=["places", "merchants"]).scenario, show=("owner filter",))
    places, merchants = shown.inputs.children[1:]
    assert (places.label, merchants.label) == ("left to the user", "in the query")
    assert (places.description, merchants.description) == ("filter: places", "filter: merchants")
    places.value, merchants.value = "places_first", "merchants_tenantless"
    assert shown.played is not None
    assert shown.played.world.names == ("places_first", "merchants_tenantless")
