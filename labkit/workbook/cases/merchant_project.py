"""Lesson 13: all of it, on one case."""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit, project"
QUERY = f"{NOTE}: the merchant query from proposal to answer, each step with its evidence"
NAMED = f"{NOTE}: name and hours of 1001 come from a successful result"
TOLD = f"{NOTE}: a failed tool makes the answer say so"
ILLEGAL = f"{NOTE}: an illegal id is refused before the data is entered"
HIDDEN = f"{NOTE}: 1002 of another tenant and 9999 are answered identically"
CLAIMED = f"{NOTE}: nothing is claimed without evidence, and 'unknown' is a verdict"
SECOND = f"{NOTE}: a second read-only tool goes through the same guard"
ORDER = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]

NOT_FOUND = "not_found_or_not_accessible"
OPEN = "测试茶铺 / Test Tea House is open 09:00–18:00. / 营业时间 09:00–18:00。"
NO_SHOP = "I found no shop {0} that you may see. / 没有找到您可以查看的 {0} 号商户。"

ANSWERED = {"stop": "answered", "coverage": "complete"}
ONE = ANSWERED | {"codes": ["ok"], "executed": 1, "delivered": 1}
NO_CALL = {"codes": [], "executed": 0, "delivered": 0, "stop": "answered", "coverage": "unknown", "records": []}
EMPTY = ANSWERED | {"codes": [NOT_FOUND], "executed": 1, "delivered": 1, "records": []}


def _get(merchant: str) -> tuple[str, str]:
    return "get_merchant", f'{{"merchantId":{merchant}}}'


def _faq(query: str) -> tuple[str, str]:
    return "search_faq", f'{{"query":"{query}"}}'


def _run(title: str, source: str, *rounds: list[tuple[str, str]], answer: str = OPEN,
         world: str | list[str] = "merchants", **more: Any) -> dict[str, Any]:  # fmt: skip
    """A run whose model makes the calls of each round in one response, then answers."""
    turns: list[dict[str, Any]] = []
    for calls in rounds:
        first = 1 + sum(len(turn["calls"]) for turn in turns)
        written = [{"id": f"c{n}", "name": name, "arguments": text} for n, (name, text) in enumerate(calls, first)]
        turns.append({"calls": written})
    limits = {"rounds": 3, "requests": 4, "executions": 2}
    return {"title": title, "source": source, "world": world, "limits": limits,
            "turns": [*turns, {"answer": answer}]} | more  # fmt: skip


def _gates(gate: str, instead: str) -> list[str]:
    return [instead if name == gate else name for name in ORDER]


TEA = [_get("1001")]
COERCED: dict[str, Any] = {"gates": _gates("arguments", "arguments_coerced")}
OUT: dict[str, Any] = {"faults": [{"tool": "get_merchant", "attempt": n, "raises": "temporary"} for n in (1, 2)]}

# 1. The runs that the acceptance list looks at.

GOOD: dict[str, dict[str, Any]] = {
    "hours": {
        "scenario": _run("Hours of 1001: when does 测试茶铺 / Test Tea House open? / 几点营业？", QUERY, TEA),
        "expect": ONE | {"records": ["1001"]},
    },
    "down": {
        "scenario": _run("Directory out: when does 1001 open? / 目录中断", TOLD, TEA, **OUT,
                         answer="The directory cannot be reached, so I do not know the hours. / 暂时查不到营业时间。"),
        "expect": {"codes": ["dependency_temporary"], "executed": 1, "delivered": 1, "stop": "answered",
                   "coverage": "partial", "records": []},
    },
    "zero": {
        "scenario": _run("Id 0: when does 0 open? / 0 号几点营业？", ILLEGAL, [_get("0")],
                         answer="0 is no merchant number. / 0 不是商户编号。"),
        "expect": {"codes": ["invalid_arguments"], "fields": ["merchantId"], "executed": 0, "delivered": 1,
                   "stop": "answered", "coverage": "unknown", "records": []},
    },
    "as text": {
        "scenario": _run('Id "1001": the model writes text, is refused, then writes a number', ILLEGAL,
                         [_get('"1001"')], TEA),
        "expect": ANSWERED | {"codes": ["invalid_arguments", "ok"], "fields": ["merchantId", None], "executed": 1,
                              "delivered": 2, "records": ["1001"]},
    },
    "foreign": {
        "scenario": _run("Id 1002 is tenant B's, and Alice of A asks", HIDDEN, [_get("1002")],
                         answer=NO_SHOP.format(1002)),
        "expect": EMPTY,
    },
    "missing": {
        "scenario": _run("Id 9999 does not exist, and Alice asks", HIDDEN, [_get("9999")],
                         answer=NO_SHOP.format(9999)),
        "expect": EMPTY,
    },
    "not asked": {
        "scenario": _run("Not asked: no call, and the model says that it does not know", CLAIMED,
                         answer="I have not looked that up, so I do not know. / 没有查过，所以不知道。"),
        "expect": NO_CALL,
    },
}  # fmt: skip

# 2. For each of them a run beside it that must not be accepted, and one of which nobody can say.

BAD: dict[str, dict[str, Any]] = {
    "neighbour's": {
        "scenario": _run("Neighbour's: asked for 1001, the model looks at 2001 and tells of 1001", NAMED,
                         [_get("2001")], answer="测试茶铺 / Test Tea House is open 10:00–20:00. / 10:00–20:00。"),
        "expect": ONE | {"records": ["2001"]},
    },
    "emptied": {
        "scenario": _run("Emptied (broken on purpose): the outage at 1001 is answered like nothing", TOLD, TEA,
                         answer=NO_SHOP.format(1001), errors="emptied", **OUT),
        "expect": ONE | {"records": []},
    },
    "let through": {
        "scenario": _run("Let through (broken on purpose): id 0 reaches the directory", ILLEGAL, [_get("0")],
                         answer=NO_SHOP.format(0), **COERCED),
        "expect": EMPTY,
    },
    "coerced": {
        "scenario": _run('Coerced (broken on purpose): "1001" is made a number', ILLEGAL, [_get('"1001"')], **COERCED),
        "expect": ONE | {"records": ["1001"]},
    },
    "tenantless": {
        "scenario": _run("Tenantless (broken on purpose): 1002 is found by its id alone", HIDDEN, [_get("1002")],
                         answer=NO_SHOP.format(1002), world="merchants_tenantless"),
        "expect": ONE | {"records": ["1002"]},
    },
    "breaks": {
        "scenario": _run("Breaks: the tool breaks inside where it finds no 9999", HIDDEN, [_get("9999")],
                         answer=NO_SHOP.format(9999), faults=[{"tool": "get_merchant", "raises": "bug"}]),
        "expect": {"codes": ["internal_error"], "executed": 1, "delivered": 1, "stop": "terminal_error",
                   "coverage": "partial", "records": []},
    },
    "claimed": {
        "scenario": _run("Claimed: no call, and the model says that it looked", CLAIMED,
                         answer="I looked it up: 测试茶铺 / Test Tea House is open 09:00–18:00. / 查到了。"),
        "expect": NO_CALL,
    },
    "guessed": {
        "scenario": _run("Guessed: no call, and a sentence in which there is no number", CLAIMED,
                         answer="Yes, there is parking behind the house. / 有，店后有停车位。"),
        "expect": NO_CALL,
    },
}  # fmt: skip

# 3. A second tool under the same guard: one response asks both.

BOTH = [*TEA, _faq("public holidays")]
WORLDS: list[str] = ["merchants", "faq"]
HOLIDAY = "On public holidays 10:00–16:00. / 法定节假日 10:00–16:00。"


def _both(title: str, *, answer: str = f"{OPEN} {HOLIDAY}", **more: Any) -> dict[str, Any]:
    return _run(title, SECOND, BOTH, **{"answer": answer, "world": WORLDS} | more)


TWO = ANSWERED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2}

FAQ: dict[str, dict[str, Any]] = {
    "both": {
        "scenario": _both("Both: the record and the FAQ of 1001 in one response / 一次查两处"),
        "expect": TWO | {"records": ["1001", "F1"]},
    },
    "both, down": {
        "scenario": _both("Both, directory out: of 1001 only the FAQ answers", **OUT,
                          answer=f"The directory cannot be reached: the usual hours I do not know. {HOLIDAY}"),
        "expect": {"codes": ["dependency_temporary", "ok"], "executed": 2, "delivered": 2, "stop": "answered",
                   "coverage": "partial", "records": ["F1"]},
    },
    "both, one left": {
        "scenario": _both("Both, and one execution is allowed", answer=OPEN,
                          limits={"rounds": 3, "requests": 4, "executions": 1}),
        "expect": {"codes": ["ok", "budget_exhausted"], "fields": [None, "executions"], "executed": 1, "delivered": 2,
                   "stop": "answered", "coverage": "partial", "records": ["1001"]},
    },
    "both, forbidden": {
        "scenario": _both("Both, and Alice has no permission", answer="You may not see this. / 您无权查看。",
                          principal={"permissions": []}),
        "expect": {"codes": ["forbidden"] * 2, "executed": 0, "delivered": 2, "stop": "answered",
                   "coverage": "unknown", "records": []},
    },
    "blank": {
        "scenario": _run("Blank: a search for nothing but a wide space", SECOND, [_faq("\u3000")], world=WORLDS,
                         answer="I do not know what to look for. / 不知道要查什么。"),
        "expect": {"codes": ["invalid_arguments"], "fields": ["query"], "executed": 0, "delivered": 1,
                   "stop": "answered", "coverage": "unknown", "records": []},
    },
    "no hit": {
        "scenario": _run("No hit: step-free access is in tenant B's FAQ only", SECOND, [_faq("step-free access")],
                         world=WORLDS, answer="Your FAQ says nothing about it. / 您的常见问题里没有提到。"),
        "expect": ONE | {"records": []},
    },
    "faq, tenantless": {
        "scenario": _both("Every tenant's FAQ is searched for 1001 (broken on purpose)",
                          world=["merchants", "faq_tenantless"]),
        "expect": TWO | {"records": ["1001", "F1", "F4"]},
    },
    "other question": {
        "scenario": _both("Other question: asked for today's hours of 1001, the model tells those of holidays",
                          answer="测试茶铺 / Test Tea House is open 10:00–16:00. / 营业时间 10:00–16:00。"),
        "expect": TWO | {"records": ["1001", "F1"]},
    },
}  # fmt: skip

CASES: dict[str, dict[str, Any]] = {**GOOD, **BAD, **FAQ}
