"""Lesson 08: which fields leave the building?"""

from __future__ import annotations

from typing import Any

ARTICLE = "article on checking arguments"
NOTE = "tool-call unit"
BLANK = f"{NOTE}: blank stays blank, nothing invents it"
PROPERTIES = "OWASP API3:2023, broken object property level authorization: name what leaves, never all but"
MINIMUM = "CWE-213: a result that its maker thinks harmless holds what others must not see"
PAGES = "AIP-158: a page token is opaque, and an empty one is the end of the list"
JSON = "RFC 8259: a date, a decimal, bytes, a set and NaN are no JSON values"

BOB = {"subject": "u-bob", "tenant": "B"}
OPEN = "It is open from 9:00 to 18:00. / 营业时间 9:00 到 18:00。"
CAP = {"list_merchants": {"result_chars": 400}}
DIRECT = {"get_merchant": {"return_direct": True}}

SERVED = {"stop": "answered", "coverage": "complete"}
ONE = SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1}
BOTH = SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["1001", "2001", "2002"]}
PART = {"codes": ["ok"], "executed": 1, "delivered": 1, "stop": "answered", "coverage": "partial"}


def _get(number: int, fields: str = "") -> tuple[str, str]:
    narrowed = f',"fields":{fields}' if fields else ""
    return "get_merchant", f'{{"merchantId":{number}{narrowed}}}'


def _list(size: int, after: str = "null") -> tuple[str, str]:
    return "list_merchants", f'{{"page_token":{after},"page_size":{size}}}'


def _calls(calls: list[tuple[str, str]], first: int = 1) -> list[dict[str, Any]]:
    return [{"id": f"c{n}", "name": name, "arguments": text} for n, (name, text) in enumerate(calls, first)]


def _run(title: str, source: str, calls: list[tuple[str, str]], *, answer: str = OPEN, **more: Any) -> dict[str, Any]:
    """A run whose model makes all its calls in one response, then answers."""
    limits = {"rounds": 4, "requests": 6, "executions": 6}
    turns = [{"calls": _calls(calls)}, {"answer": answer}]
    return {"title": title, "source": source, "world": "merchants", "limits": limits, "turns": turns} | more


def _of_a(last: int) -> list[str]:
    """The records of tenant A as far as this one: 1001, then from 2001 on."""
    return ["1001", *map(str, range(2001, last + 1))]


TWO = [_get(1001), _list(2)]

FIELDS: dict[str, dict[str, Any]] = {
    "two results": {
        "scenario": _run("One merchant, and a page of two / 一家商户，一页两家",
                         f"{NOTE}: only declared fields of a record leave", TWO),
        "expect": BOTH,
    },
    "narrowed": {
        "scenario": _run("Fields: the name; then *; then an internal one",
                         f"{NOTE}: `fields` narrows what may leave, and nothing widens it",
                         [_get(1001, '["name"]'), _get(1001, '["*"]'), _get(1001, '["internal_note"]')],
                         answer="测试茶铺 / Test Tea House"),
        "expect": SERVED | {"codes": ["ok", "invalid_arguments", "invalid_arguments"], "executed": 1, "delivered": 3,
                            "fields": [None, "fields.0", "fields.0"], "records": ["1001"]},
    },
    "one of two": {
        "scenario": _run("One good name beside an internal one, then an invented one; then none",
                         f"{ARTICLE}: arguments are taken as a whole or refused, never repaired",
                         [_get(1001, '["name","internal_note"]'), _get(1001, '["name","nonsense"]'), _get(1001, "[]")],
                         answer="?"),
        "expect": SERVED | {"codes": ["invalid_arguments", "invalid_arguments", "ok"], "executed": 1, "delivered": 3,
                            "fields": ["fields.1", "fields.1", None], "records": ["1001"]},
    },
    "blank": {
        "scenario": _run("Blank: Bob asks for his merchant 1002 / 空白商户", BLANK, [_get(1002)], principal=BOB,
                         answer="No name and no hours on record. / 没有名称和营业时间。"),
        "expect": ONE | {"records": ["1002"]},
    },
    "denied": {
        "scenario": _run("Deny-list: what is known to be internal is dropped (broken on purpose)", PROPERTIES, TWO,
                         world="merchants_denied"),
        "expect": BOTH,
    },
    "nested": {
        "scenario": _run("A page goes out whole, a record does not (broken on purpose)", MINIMUM, TWO,
                         world="merchants_nested"),
        "expect": BOTH,
    },
    "bare": {
        "scenario": _run("Only ids are sent, to be safe (broken on purpose)",
                         f"{NOTE}: what the user asked for is in the result", TWO, world="merchants_bare"),
        "expect": BOTH,
    },
    "filled": {
        "scenario": _run("Filled in: blank 1002 gets the usual hours (broken on purpose)", BLANK, [_get(1002)],
                         principal=BOB, world="merchants_filled", answer="From 10:00 to 20:00. / 10:00 到 20:00。"),
        "expect": ONE | {"records": ["1002"]},
    },
    "dated": {
        "scenario": _run("A date that no field declares is in the result (broken on purpose)", JSON, [_get(1001)],
                         world="merchants_dated"),
        "expect": {"codes": ["internal_error"], "executed": 1, "delivered": 1, "stop": "terminal_error",
                   "coverage": "partial", "records": ["1001"]},
    },
}  # fmt: skip
"""Which fields of a record are in the text that was sent."""

LONG: dict[str, dict[str, Any]] = {
    "long": {
        "scenario": _run("Ten merchants, and 400 characters may leave",
                         f"{NOTE}: what is too long loses whole items, and says how many", [_list(10)], tools=CAP,
                         answer="Four of the ten: / 十家中的四家：测试茶铺 …"),
        "expect": PART | {"records": _of_a(2010)},
    },
    "cut": {
        "scenario": _run("Cut off after 300 characters (broken on purpose)",
                         f"{NOTE}: JSON is never cut in the middle", [_list(10)], tools=CAP, world="merchants_cut",
                         answer="There are three merchants. / 共有三家商户。"),
        "expect": ONE | {"records": _of_a(2010)},
    },
    "next page": {
        "scenario": _run("Too long twice: a page of ten, then the next page of ten", PAGES, [], tools=CAP,
                         turns=[{"calls": _calls([_list(10)])}, {"calls": _calls([_list(10, '"QToxMA=="')], 2)},
                                {"answer": "Eight merchants. / 八家商户。"}]),
        "expect": PART | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": _of_a(2020)},
    },
    "smaller pages": {
        "scenario": _run("Smaller pages: four, then the next four", PAGES, [], tools=CAP,
                         turns=[{"calls": _calls([_list(4)])}, {"calls": _calls([_list(4, '"QTo0"')], 2)},
                                {"answer": "The first eight merchants. / 前八家商户。"}]),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": _of_a(2008)},
    },
}  # fmt: skip
"""A result that is too long."""

RETURNED: dict[str, dict[str, Any]] = {
    "modelled": {
        "scenario": _run("The model reads the result, and errs in its answer",
                         f"{NOTE}: a model's sentence about a result is not the result", [_get(1001)],
                         answer="It is open until 20:00. / 营业到 20:00。"),
        "expect": ONE | {"records": ["1001"]},
    },
    "direct": {
        "scenario": _run("Direct: the result is the answer", f"{NOTE}: a direct result goes to the user as it is",
                         [_get(1001)], tools=DIRECT, answer="It is open until 20:00. / 营业到 20:00。"),
        "expect": ONE | {"records": ["1001"]},
    },
    "mixed": {
        "scenario": _run("Mixed: a direct tool beside one that is not",
                         f"{NOTE}: in a mixed batch the model must see every result", TWO, tools=DIRECT),
        "expect": BOTH,
    },
    "direct, one fails": {
        "scenario": _run("Two direct calls, and one finds nothing",
                         f"{NOTE}: only results are an answer, and a refusal or a failure is none",
                         [_get(1001), _get(9999)], tools=DIRECT, answer="1001 is there, 9999 is not. / 没有 9999。"),
        "expect": SERVED | {"codes": ["ok", "not_found_or_not_accessible"], "executed": 2, "delivered": 2,
                            "records": ["1001"]},
    },
    "direct, long": {
        "scenario": _run("Direct and too long: four of ten go to the user",
                         f"{NOTE}: a run that was shortened is partial, also without a model to say so", [_list(10)],
                         tools={"list_merchants": {"result_chars": 400, "return_direct": True}}),
        "expect": PART | {"records": _of_a(2010)},
    },
    "direct, denied": {
        "scenario": _run("Direct over a deny-list: the user reads it (broken on purpose)", PROPERTIES, [_get(1001)],
                         tools=DIRECT, world="merchants_denied"),
        "expect": ONE | {"records": ["1001"]},
    },
}  # fmt: skip
"""Who reads a result: the model, or the user at once."""

CASES: dict[str, dict[str, Any]] = FIELDS | LONG | RETURNED
