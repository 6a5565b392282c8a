"""The sample worlds answer as their page says, and nothing that is not the principal's own ever leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from labkit import Call, Dispatcher, Host, Limits, Outcome, Principal, result_text
from labkit.worlds import World, open_world

ALICE = Principal("u-alice", "A", frozenset({"notices:search", "notices:read", "merchant:read"}))
BOB = Principal("u-bob", "B", ALICE.permissions)
NO_TENANT = replace(ALICE, tenant=None)


class Desk:
    """One run over fresh worlds, asked call by call."""

    def __init__(self, principal: Principal = ALICE, **limits: Any) -> None:
        self.world: World = open_world("text", "notices", "merchants")
        self.dispatcher = Dispatcher(
            Host(self.world.tools, principal), Limits(rounds=500, requests=500, **{"executions": 500} | limits)
        )

    def batch(self, *calls: tuple[object, object, object]) -> list[Outcome]:
        """The outcomes of calls given as id, name and arguments; ready arguments are written as JSON."""
        return self.dispatcher.batch(
            Call(id_, name, given if isinstance(given, str) else json.dumps(given)) for id_, name, given in calls
        )

    def ask(self, name: str, given: object) -> Outcome:
        """The outcome of one call under a new id."""
        return self.batch((f"c{self.dispatcher.round}", name, given))[0]

    def search(self, query: object, published_from: object = None) -> Outcome:
        return self.ask("search_notices", {"query": query, "published_from": published_from})


def ids(outcome: Outcome) -> list[str]:
    assert outcome.code == "ok"
    return [notice["id"] for notice in outcome.data]


def codes(outcomes: list[Outcome]) -> list[str]:
    return [outcome.code for outcome in outcomes]


# --- text: the examples of the study text ----------------------------------------------------------------------

JAVA = {"text": "Java"}


def test_the_same_id_twice_is_one_execution() -> None:
    """With a budget of one, length("Java") under one id twice gives 4 and 4: the second is the first's answer again."""
    desk = Desk(executions=1)
    first, again = desk.batch(("1", "length", JAVA), ("1", "length", '{ "text" : "Java" }'))
    assert [(one.data, one.replayed) for one in (first, again)] == [({"length": 4}, False), ({"length": 4}, True)]
    assert desk.dispatcher.ledger.executions == 1


def test_the_same_id_for_other_content_is_a_conflict() -> None:
    """The second content gets no result of the first."""
    outcomes = Desk().batch(("1", "length", JAVA), ("1", "length", {"text": "SQL"}), ("1", "upper", JAVA))
    assert codes(outcomes) == ["ok", "id_conflict", "id_conflict"]
    assert [outcome.data for outcome in outcomes] == [{"length": 4}, None, None]


def test_a_budget_of_nothing_allows_nothing() -> None:
    """An empty batch is fine on a budget of zero; one call is refused and names the budget."""
    desk = Desk(executions=0)
    assert desk.batch() == []
    (refused,) = desk.batch(("1", "length", JAVA))
    assert (refused.code, refused.field, desk.dispatcher.ledger.executions) == ("budget_exhausted", "executions", 0)


@pytest.mark.parametrize("name", ["shell", "delete_notices", "Length", "length ", "LENGTH", "", None, 1])
def test_a_tool_that_is_not_offered_is_refused(name: object) -> None:
    """Only an exact name is on the allowlist."""
    assert codes(Desk().batch(("1", name, JAVA))) == ["unknown_tool"]


TEXTS = [("length", "Java", 4), ("length", "", 0), ("length", "读书会", 3), ("length", "😀", 1),
         ("length", "e\u0301", 2), ("length", "👨\u200d👩\u200d👧", 5), ("upper", "java", "JAVA"),
         ("upper", "straße", "STRASSE"), ("upper", "istanbul", "ISTANBUL"),
         ("upper", "读书会 a", "读书会 A")]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "found"), TEXTS)
def test_text_is_measured_in_code_points_and_raised_without_a_locale(name: str, text: str, found: object) -> None:
    """`length` counts code points, `upper` follows Unicode."""
    assert Desk().ask(name, {"text": text}).data == {name: found}


MEANS = [("[2,4]", "3"), ("[2.0,4.0]", "3.0"), ("[1,2]", "1.5"), ("[0.1,0.2,0.3]", "0.2"), ("[1e308,1e308]", "1e+308"),
         ("[1e16,1.0,-1e16]", "0.3333333333333333"), ("[9007199254740993]", "9007199254740993"),
         ("[9007199254740993,9007199254740995]", "9007199254740994"), (f"[1{'0' * 400}]", f"1{'0' * 400}"),
         (f"[1{'0' * 400},-1{'0' * 400}]", "0"), ("[-0.5,0.5]", "0.0")]  # fmt: skip


@pytest.mark.parametrize(("values", "mean"), MEANS)
def test_the_mean_is_exact_and_rounded_once(values: str, mean: str) -> None:
    """No sum overflows or loses a small part, and integers stay integers."""
    found = Desk().ask("average", f'{{"values":{values}}}')
    assert repr(found.data["average"]) == mean


@pytest.mark.parametrize("values", ["[]", "[NaN]", "[1e999]", '["1"]', "[true]", "[null]", "1", "[[1]]"])
def test_a_mean_of_anything_else_is_refused(values: str) -> None:
    """A mean needs at least one finite number, and nothing but numbers."""
    assert Desk().ask("average", f'{{"values":{values}}}').code == "invalid_arguments"


# --- notices ---------------------------------------------------------------------------------------------------

SEARCHES = [
    (ALICE, "读书会 报名", None, ["D1", "D2"]), (ALICE, "reading club", None, ["D1", "D2"]),
    (ALICE, "sign-up 读书会", None, ["D1", "D2"]), (ALICE, "读书会 没有这个词", None, []),
    (ALICE, "读书会 报名", "2026-09-10", ["D1", "D2"]), (ALICE, "读书会 报名", "2026-09-15", ["D2"]),
    (ALICE, "读书会 报名", "2026-09-16", ["D2"]), (ALICE, "读书会 报名", "2026-09-18", []),
    (BOB, "读书会 报名", None, ["D3"]), (BOB, "读书会 报名", "2026-09-18", []),
    (replace(ALICE, subject="u-carol"), "读书会 报名", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("who", "query", "published_from", "found"), SEARCHES)
def test_a_search_finds_the_principals_own_notices(
    who: Principal, query: str, published_from: str | None, found: list[str]
) -> None:
    """All words must occur, the day is inclusive, an empty list is `ok`, and the data hands out nothing else."""
    desk = Desk(who)
    assert ids(desk.search(query, published_from)) == found
    assert desk.world.spy.records == frozenset(found)


def test_a_found_notice_shows_its_three_fields_and_no_owner() -> None:
    """Id, day and content leave."""
    (notice,) = Desk().search("读书会", "2026-09-16").data
    assert sorted(notice) == ["content", "id", "published_on"]
    assert (notice["id"], notice["published_on"]) == ("D2", "2026-09-16")
    assert Desk().ask("read_notice", {"notice_id": "D2"}).data == notice


REFUSED = [
    ("search_notices", {"query": 123, "published_from": None}, "invalid_arguments"),
    ("search_notices", {"query": "读书会", "published_from": "2026-02-30"}, "invalid_arguments"),
    ("search_notices", {"query": "读书会"}, "invalid_arguments"),
    ("search_notices", {"published_from": None}, "invalid_arguments"),
    ("search_notices", {"query": "读书会", "published_from": None, "user_id": "u-bob"}, "invalid_arguments"),
    ("search_notices", {"query": "读书会", "published_from": None, "owner": "u-bob"}, "invalid_arguments"),
    ("read_notice", {"notice_id": "D3", "user_id": "u-bob"}, "invalid_arguments"),
    ("read_notice", {"notice_id": 3}, "invalid_arguments"), ("read_notice", {}, "invalid_arguments"),
    ("get_merchant", {"merchantId": 1002, "tenant": "B"}, "invalid_arguments"), ("delete_notices", {}, "unknown_tool"),
    ("get_merchant", {"merchantId": 0}, "invalid_arguments"),
    ("get_merchant", {"merchantId": True}, "invalid_arguments"),
    ("list_merchants", {"page_token": None, "page_size": 0}, "invalid_arguments"),
    ("list_merchants", {"page_size": 10}, "invalid_arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "code"), REFUSED)
def test_a_refused_call_never_touches_the_data(name: str, given: object, code: str) -> None:
    """A wrong type, an impossible day, a missing, foreign or added field: refused before any reader is entered."""
    desk = Desk()
    assert desk.ask(name, given).code == code
    assert desk.world.spy.entries == 0


# A timestamp written as text is the trap: pydantic's date also takes whole days in seconds or milliseconds.
@pytest.mark.parametrize("day", ["0", "86400", "-86400", "1789084800", "1789084800000", "00000000", "+0", "", " "])
def test_a_number_in_a_text_is_no_day(day: str) -> None:
    """Only `YYYY-MM-DD` is a calendar day."""
    assert Desk().search("读书会", day).code == "invalid_arguments"


@pytest.mark.parametrize("call", [("search_notices", {"query": "读书会", "published_from": None}),
                                  ("read_notice", {"notice_id": "D1"}), ("list_tags", {}),
                                  ("get_merchant", {"merchantId": 1001}),
                                  ("list_merchants", {"page_token": None, "page_size": 10})])  # fmt: skip
def test_without_the_permission_nothing_is_read(call: tuple[str, object]) -> None:
    """Whoever lacks the tool's permission is refused, and the spy sees no entry."""
    desk = Desk(replace(ALICE, permissions=frozenset({"notices", "merchant:write"})))
    assert desk.ask(*call).code == "forbidden"
    assert desk.world.spy.entries == 0


QUERIES = [("  读书会\t", True), ("\u3000报名\u3000", True), ("x" * 100, True), ("x" * 101, False),
           (" " * 60 + "😀" * 100 + " " * 60, True), ("", False), (" \t\n", False), ("\u200b", False),
           ("\u3164 \u2060", False)]  # fmt: skip


@pytest.mark.parametrize(("query", "taken"), QUERIES)
def test_a_query_is_trimmed_then_judged(query: str, taken: bool) -> None:  # noqa: FBT001 - a column
    """One to 100 characters remain after trimming, and something a reader can see is among them."""
    outcome = Desk().search(query)
    assert (outcome.code, outcome.field) == (("ok", None) if taken else ("invalid_arguments", "query"))
    assert query.strip() not in ("读书会", "报名") or ids(outcome) == ["D1", "D2"]


def test_a_foreign_notice_reads_like_one_that_does_not_exist() -> None:
    """Alice's texts for Bob's D3 and for D999 are equal in every byte, and nobody's record was handed out."""
    desk = Desk()
    foreign, missing = (desk.ask("read_notice", {"notice_id": name}) for name in ("D3", "D999"))
    assert foreign.code == "not_found_or_not_accessible"
    assert result_text(foreign).encode() == result_text(missing).encode()
    assert desk.world.spy.records == frozenset()
    assert Desk(BOB).ask("read_notice", {"notice_id": "D3"}).code == "ok"


def test_tags_take_exactly_the_empty_object() -> None:
    """`{}` lists the tags; blank, null, a list, a text and any field are refused."""
    assert Desk().ask("list_tags", " { } ").code == "ok"
    others = ["", "  ", "null", "[]", '"{}"', "{}{}", '{"filter":"报名"}', '{"":null}']
    assert [given for given in others if Desk().ask("list_tags", given).code != "invalid_arguments"] == []


# --- merchants -------------------------------------------------------------------------------------------------

TEA = {"merchantId": 1001, "name": "测试茶铺 / Test Tea House", "hours": "09:00–18:00"}
MERCHANTS = [
    (ALICE, {"merchantId": 1001}, TEA), (ALICE, {"merchantId": 1001, "fields": None}, TEA),
    (BOB, {"merchantId": 1002}, {"merchantId": 1002, "name": "", "hours": ""}),
    (ALICE, {"merchantId": 1001, "fields": ["hours"]}, {"hours": "09:00–18:00"}),
    (ALICE, {"merchantId": 1001, "fields": ["hours", "merchantId"]}, {"merchantId": 1001, "hours": "09:00–18:00"}),
]  # fmt: skip


@pytest.mark.parametrize(("who", "given", "found"), MERCHANTS)
def test_a_merchant_shows_its_public_fields_and_what_is_blank_stays_blank(
    who: Principal, given: object, found: object
) -> None:
    """Three fields leave, or those of them that were asked for; nothing is invented for a blank one."""
    assert Desk(who).ask("get_merchant", given).data == found


@pytest.mark.parametrize("who", [ALICE, NO_TENANT], ids=["tenant A", "no tenant"])
def test_a_foreign_merchant_and_a_missing_one_are_answered_alike(who: Principal) -> None:
    """The texts for 1002 of tenant B and for 9999 are equal in every byte."""
    desk = Desk(who)
    foreign, missing = (desk.ask("get_merchant", {"merchantId": number}) for number in (1002, 9999))
    assert foreign.code == "not_found_or_not_accessible"
    assert result_text(foreign).encode() == result_text(missing).encode()
    assert desk.world.spy.records == frozenset()


@pytest.mark.parametrize("wanted", ["*", "internal_note", "tenant", "Name", "name,internal_note", "__dict__", "", None])
def test_fields_can_only_narrow(wanted: object) -> None:
    """An unknown, internal or wildcard field gains nothing, alone or beside a public one."""
    for fields in ([wanted], ["name", wanted], wanted if wanted is not None else "name"):
        outcome = Desk().ask("get_merchant", {"merchantId": 1001, "fields": fields})
        assert (outcome.code, outcome.data) == ("invalid_arguments", None)


def pages(desk: Desk) -> tuple[list[list[int]], list[str]]:
    """The ids on each page of ten, and the tokens that led on."""
    tokens, found = [""], []
    while len(found) < 10:
        page = desk.ask("list_merchants", {"page_token": tokens[-1], "page_size": 10}).data
        found.append([item["merchantId"] for item in page["items"]])
        if not page["next_page_token"]:
            break
        tokens.append(page["next_page_token"])
    return found, tokens[1:]


@pytest.mark.parametrize(("who", "own"), [(ALICE, 1001), (BOB, 1002)], ids=["tenant A", "tenant B"])
def test_a_tenant_has_five_pages_of_its_own(who: Principal, own: int) -> None:
    """Tokens lead through fifty different merchants and end empty; null begins like an empty token."""
    desk = Desk(who)
    found, tokens = pages(desk)
    everyone = [number for page in found for number in page]
    assert [len(page) for page in found] == [10] * 5
    assert len(set(everyone)) == 50
    assert own in everyone
    assert not any(token.isdigit() for token in tokens)
    first = desk.ask("list_merchants", {"page_token": None, "page_size": 10}).data
    assert [item["merchantId"] for item in first["items"]] == found[0]


def test_no_merchant_is_on_the_pages_of_two_tenants() -> None:
    """What A may list and what B may list have nothing in common, and who has no tenant lists nothing."""
    of_a, of_b = ({number for page in pages(Desk(who))[0] for number in page} for who in (ALICE, BOB))
    assert of_a & of_b == set()
    assert pages(Desk(NO_TENANT))[0] == [[]]


def test_a_token_that_was_not_given_leads_nowhere() -> None:
    """Another tenant's token and any altered one are refused like each other, and hand out no record."""
    own, foreign = pages(Desk(ALICE))[1][0], pages(Desk(BOB))[1][0]
    altered = [foreign, f"{own}x", own[:-1], f" {own}", f"{own}\n", own.swapcase(), "10", "A:10", "😀", "=", "x" * 100]
    desk = Desk()
    answers = [desk.ask("list_merchants", {"page_token": token, "page_size": 10}) for token in altered]
    assert {outcome.code for outcome in answers} == {"not_found_or_not_accessible"}
    assert len({result_text(outcome) for outcome in answers}) == 1
    assert desk.world.spy.records == frozenset()
