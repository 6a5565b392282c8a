"""Lesson 14: which of the two shops is meant?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
CHOICE = f"{NOTE}, same-name places: of several candidates none is chosen by the program"
ORDER = f"{NOTE}, same-name places: what is confirmed is an id, never a place in a list"
REGION = f"{NOTE}, same-name places: a bias is a wish, a restriction is a condition"
DEFAULT = f"{NOTE}, same-name places: a default region is no user choice"
CONFIRMED = f"{NOTE}, same-name places: a confirmation is a new request, and the call is compared with it"
EXPIRED = f"{NOTE}, same-name places: an id that has expired leads back to confirmation"
EVIDENCE = f"{NOTE}, same-name places: two ids are one place only where there is evidence for both"
TENANT = "OWASP API1:2023, broken object level authorization"

BOB = {"subject": "u-bob", "tenant": "B"}
WHICH = "Which Aoba Coffee? / 您说的是哪一家青叶咖啡？"
STATION = "It is at 1-99-1 Marunouchi, by Tokyo Station. / 在丸之内 1-99-1，东京站旁。"
UENO = "Aoba Coffee Ueno is at 7-99-1 Ueno. / 青叶咖啡上野店在上野 7-99-1。"
UMEDA = "Yes, at 3-99-1 Umeda, Osaka. / 有，在大阪梅田 3-99-1。"
NONE = "No, there is none at Umeda. / 没有，梅田没有这家店。"
HOURS = "It is open from 10:00 to 20:00. / 营业时间 10:00–20:00。"
UNKNOWN = "There it is; its hours I do not know. / 店在那里；营业时间我不知道。"
BOTH = "Both are there; their hours I do not know. / 两家都在；营业时间我不知道。"

Call = tuple[str, str]

SERVED = {"stop": "answered", "coverage": "complete"}
ASKED = {"stop": "needs_user", "coverage": "partial"}


def _search(text: str, region: str | None = None, mode: str = "bias") -> Call:
    where = "null" if region is None else f'"{region}"'
    return "search_places", f'{{"text":"{text}","mode":"{mode}","region":{where}}}'


def _get(place: str) -> Call:
    return "get_place", f'{{"place_id":"{place}"}}'


def _hours(merchant: int) -> Call:
    return "get_merchant", f'{{"merchantId":{merchant}}}'


def _chose(**fields: Any) -> list[dict[str, Any]]:
    """What the user chose in the interface, by the field of the arguments that must say the same."""
    tools = {"region": "search_places", "place_id": "get_place", "merchantId": "get_merchant"}
    return [{"tool": tools[field], "field": field, "value": value} for field, value in fields.items()]


def _run(title: str, source: str, *rounds: list[Call], answer: str, world: Any = "places",
         **more: Any) -> dict[str, Any]:  # fmt: skip
    """A run whose model makes these calls round by round, then answers; ids count upwards."""
    ids = (f"c{n}" for n in range(1, 20))
    turns = [{"calls": [{"id": next(ids), "name": name, "arguments": text} for name, text in calls]}
             for calls in rounds]  # fmt: skip
    limits = {"rounds": 6, "requests": 8, "executions": 8}
    return {"title": title, "source": source, "world": world, "limits": limits,
            "turns": [*turns, {"answer": answer}]} | more  # fmt: skip


IN_TOKYO = _search("青叶咖啡", "Tokyo", "restrict")
TWICE = [IN_TOKYO] * 2
NOT_IN_TOKYO = _search("青叶咖啡 梅田", "Tokyo", "restrict")
ANYWHERE = _search("青叶咖啡 梅田")

CHOOSING: dict[str, dict[str, Any]] = {
    "asked": {
        "scenario": _run(f"Several shops fit: {WHICH}", CHOICE, [_search("青叶咖啡")], answer=STATION),
        "expect": ASKED | {"codes": ["needs_user"], "executed": 1, "delivered": 1,
                           "records": ["G1", "G2", "G3", "G4"]},
    },
    "twice": {
        "scenario": _run("Two equal searches in one response, for the shop in Ueno", ORDER, TWICE, answer=UENO),
        "expect": ASKED | {"codes": ["needs_user"] * 2, "executed": 2, "delivered": 2,
                           "records": ["G1", "G2", "G3"]},
    },
    "twice, the first": {
        "scenario": _run("The first is taken, and Ueno is meant (broken on purpose)", ORDER, TWICE,
                         answer=STATION, world="places_first"),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["G1", "G2", "G3"]},
    },
    "bias": {
        "scenario": _run("Bias to Tokyo: the search may look elsewhere", REGION, [_search("青叶咖啡", "Tokyo")],
                         answer=STATION),
        "expect": ASKED | {"codes": ["needs_user"], "executed": 1, "delivered": 1,
                           "records": ["G1", "G2", "G3", "G4"]},
    },
    "restrict": {
        "scenario": _run("Restrict to Tokyo: nothing from elsewhere", REGION, [IN_TOKYO], answer=STATION),
        "expect": ASKED | {"codes": ["needs_user"], "executed": 1, "delivered": 1, "records": ["G1", "G2", "G3"]},
    },
    "outside": {
        "scenario": _run("One hit, with a bias to Tokyo: it is in Osaka", REGION, [_search("梅田", "Tokyo")],
                         answer=UMEDA),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["G4"]},
    },
    "nothing inside": {
        "scenario": _run("No hit, restricted to Tokyo", f"{NOTE}: an empty list is a result",
                         [_search("梅田", "Tokyo", "restrict")], answer="There is none in Tokyo. / 东京没有。"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": []},
    },
}  # fmt: skip
"""Several candidates, their order, and what a region decides."""

REGIONS: dict[str, dict[str, Any]] = {
    "no region": {
        "scenario": _run("No region chosen: is there one at Umeda? / 梅田有青叶咖啡吗？", DEFAULT, [ANYWHERE],
                         answer=UMEDA, conditions=_chose(region=None)),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["G4"]},
    },
    "the model's region": {
        "scenario": _run("The model adds a region: is there one at Umeda? / 梅田有青叶咖啡吗？", DEFAULT,
                         [NOT_IN_TOKYO], [ANYWHERE], answer=UMEDA, conditions=_chose(region=None)),
        "expect": SERVED | {"codes": ["invalid_arguments", "ok"], "fields": ["region", None], "executed": 1,
                            "delivered": 2, "records": ["G4"]},
    },
    "the model's region, unchecked": {
        "scenario": _run("Nobody compares the region that the model added (condition left out)", DEFAULT,
                         [NOT_IN_TOKYO], answer=NONE),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": []},
    },
    "defaulted": {
        "scenario": _run("The program adds a region, inside the tool (broken on purpose)", DEFAULT, [ANYWHERE],
                         answer=NONE, conditions=_chose(region=None), world="places_defaulted"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": []},
    },
}  # fmt: skip
"""The user chose no region; somebody else did."""

CONFIRMING: dict[str, dict[str, Any]] = {
    "confirmed": {
        "scenario": _run("G3 was confirmed: when is it open? / 已确认 G3：几点营业？", CONFIRMED, [_get("G3")],
                         [_hours(2002)], answer=HOURS, world=["places", "merchants"],
                         conditions=_chose(place_id="G3", merchantId=2002)),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["2002", "G3"]},
    },
    "another id": {
        "scenario": _run("The model takes G1, and G3 was confirmed", CONFIRMED, [_get("G1")], [_get("G3")],
                         answer=UENO, conditions=_chose(place_id="G3")),
        "expect": SERVED | {"codes": ["invalid_arguments", "ok"], "fields": ["place_id", None], "executed": 1,
                            "delivered": 2, "records": ["G3"]},
    },
    "another id, unchecked": {
        "scenario": _run("Nobody compares: G3 was confirmed, the model takes G1 (condition left out)", CONFIRMED,
                         [_get("G1")], answer=STATION),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["G1"]},
    },
    "another merchant": {
        "scenario": _run("G3, and the hours of another shop's merchant", CONFIRMED, [_get("G3")], [_hours(2001)],
                         [_hours(2002)], answer=HOURS, world=["places", "merchants"],
                         conditions=_chose(place_id="G3", merchantId=2002)),
        "expect": SERVED | {"codes": ["ok", "invalid_arguments", "ok"], "fields": [None, "merchantId", None],
                            "executed": 2, "delivered": 3, "records": ["2002", "G3"]},
    },
    "expired": {
        "scenario": _run("G0 was confirmed, and has expired since", EXPIRED, [_get("G0")], answer=UENO,
                         conditions=_chose(place_id="G0")),
        "expect": ASKED | {"codes": ["needs_user"], "executed": 1, "delivered": 1, "records": ["G3"]},
    },
    "rebound": {
        "scenario": _run("The expired G0 is silently bound anew (broken on purpose)", EXPIRED, [_get("G0")],
                         answer=UENO, conditions=_chose(place_id="G0"), world="places_rebound"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["G3"]},
    },
}  # fmt: skip
"""The user has chosen; the next run holds the choice."""

MERCHANTS: dict[str, dict[str, Any]] = {
    "three ids": {
        "scenario": _run("Three ids, one by one: which merchant is each?", EVIDENCE,
                         [_get("G1"), _get("G2"), _get("G4")], answer=UNKNOWN),
        "expect": SERVED | {"codes": ["ok"] * 3, "executed": 3, "delivered": 3, "records": ["G1", "G2", "G4"]},
    },
    "no merchant": {
        "scenario": _run("G4 was confirmed, the table has no merchant, the model guesses one", EVIDENCE, [_get("G4")],
                         [_hours(2001)], answer=UNKNOWN, world=["places", "merchants"],
                         conditions=_chose(place_id="G4", merchantId=None)),
        "expect": SERVED | {"codes": ["ok", "invalid_arguments"], "fields": [None, "merchantId"], "executed": 1,
                            "delivered": 2, "records": ["G4"]},
    },
    "merged": {
        "scenario": _run("Like names are merged: when is G4 open? (broken on purpose)", EVIDENCE, [_get("G4")],
                         [_hours(2001)], answer=HOURS, world=["places_merged", "merchants"],
                         conditions=_chose(place_id="G4")),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["2001", "G4"]},
    },
    "split": {
        "scenario": _run("One id a merchant: G1 was confirmed (broken on purpose)", EVIDENCE, [_get("G1")],
                         answer=UNKNOWN, conditions=_chose(place_id="G1"), world="places_split"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["G1"]},
    },
    "tenant B": {
        "scenario": _run("Bob of tenant B looks at G1 and G3", TENANT, [_get("G1"), _get("G3")], answer=BOTH,
                         principal=BOB),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["G1", "G3"]},
    },
    "tenantless": {
        "scenario": _run("One table for all: Bob of tenant B looks at G1 and G3 (broken on purpose)", TENANT,
                         [_get("G1"), _get("G3")], answer=BOTH, principal=BOB, world="places_tenantless"),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["G1", "G3"]},
    },
}  # fmt: skip
"""Which merchant an id was found to be, by what evidence, and for whom."""

CASES: dict[str, dict[str, Any]] = CHOOSING | REGIONS | CONFIRMING | MERCHANTS
