"""Lesson 07: what may the model be told?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
FOUR = f"{NOTE}, errors: nothing there, a fault that passes, an unknown fault and a choice are four answers"
TOLD = "CWE-209: an error message that holds sensitive information"
EMPTIED = f"{NOTE}, errors: no hit is not an error, and an error is never 'not found'"
RETRIED = f"{NOTE}, errors: an unknown fault is not retryable"
COUNTS = f"{NOTE}, errors: model requests, executions and downstream attempts are three counts"
LIMITS = {"rounds": 5, "requests": 6, "executions": 4}
DOWN = {"answer": "I cannot look up the hours. / 暂时查不到。"}
HOURS = {"answer": "Test Tea House is open from 9:00 to 18:00. / 测试茶铺 9 点到 18 点营业。"}
NO_SHOP = {"answer": "I found no shop 9999 that you may see. / 没有找到您可以查看的 9999 号商户。"}
NO_LIST = {"answer": "There is no contact list among your notices. / 您的通知里没有联系名单。"}


def _call(name: str, arguments: str) -> dict[str, Any]:
    return {"calls": [{"id": "c1", "name": name, "arguments": arguments}]}


def _run(title: str, source: str, *turns: dict[str, Any], world: str = "merchants", **more: Any) -> dict[str, Any]:
    return {"title": title, "source": source, "world": world, "limits": LIMITS, "turns": list(turns)} | more


def _fault(tool: str, raises: str, *attempts: int, **more: Any) -> list[dict[str, Any]]:
    """At these attempts of every entry, or at every entry itself."""
    met = [{"attempt": n} for n in attempts] or [{}]
    return [{"tool": tool, "raises": raises} | at | more for at in met]


SHOP = _call("get_merchant", '{"merchantId":1001}')
SIGN_UP = _call("search_notices", '{"query":"读书会 报名","published_from":null}')
LIST = _call("search_notices", '{"query":"contact list","published_from":null}')
BRANCHES = _call("search_places", '{"text":"青叶咖啡","mode":"restrict","region":"Tokyo"}')
BRANCH = _call("get_place", '{"place_id":"G3"}')
BUG = _fault("get_merchant", "bug", 1)
OUT = _fault("get_merchant", "temporary", 1, 2)
SEARCH_OUT = _fault("search_notices", "temporary")

ANSWERED = {"executed": 1, "delivered": 1, "stop": "answered", "coverage": "complete", "records": []}
UNSERVED = {"stop": "answered", "coverage": "partial", "records": []}

# 1. What can come of a call, and what is said of it.

CLASSES: dict[str, dict[str, Any]] = {
    "no hit": {
        "scenario": _run("No hit: Alice has no contact list / 没有符合的通知", EMPTIED, LIST, NO_LIST, world="notices"),
        "expect": ANSWERED | {"codes": ["ok"]},
    },
    "not there": {
        "scenario": _run("Nothing there: merchant 9999", FOUR, _call("get_merchant", '{"merchantId":9999}'), NO_SHOP),
        "expect": ANSWERED | {"codes": ["not_found_or_not_accessible"]},
    },
    "passing": {
        "scenario": _run("Out for a moment: the directory is down, then up again", FOUR, SHOP, SHOP, HOURS,
                         faults=_fault("get_merchant", "temporary", 1, 2, entry=1)),
        "expect": {"codes": ["dependency_temporary", "ok"], "replayed": [False, False], "executed": 2, "delivered": 2,
                   "stop": "answered", "coverage": "complete", "records": ["1001"]},
    },
    "unknown": {
        "scenario": _run("Broken inside: the tool raises what nobody foresaw", FOUR, SHOP, DOWN, faults=BUG),
        "expect": {"codes": ["internal_error"], "executed": 1, "delivered": 1, "stop": "terminal_error",
                   "coverage": "partial", "records": []},
    },
    "choose": {
        "scenario": _run("Several fit: two branches of 青叶咖啡 / Aoba Coffee", FOUR, BRANCHES,
                         {"answer": "The one in Ueno. / 上野那家。"}, world="places"),
        "expect": {"codes": ["needs_user"], "executed": 1, "delivered": 1, "stop": "needs_user",
                   "coverage": "partial", "records": ["G1", "G2", "G3"]},
    },
    "wrong input": {
        "scenario": _run("Wrong input: the id is text, then a number", FOUR,
                         _call("get_merchant", '{"merchantId":"1001"}'), SHOP, HOURS),
        "expect": {"codes": ["invalid_arguments", "ok"], "fields": ["merchantId", None], "executed": 1,
                   "delivered": 2, "stop": "answered", "coverage": "complete", "records": ["1001"]},
    },
}  # fmt: skip

# 2. The same faults, said otherwise.

BROKEN: dict[str, dict[str, Any]] = {
    "told": {
        "scenario": _run("Told (broken on purpose): the exception goes to the model", TOLD, SHOP, DOWN, faults=BUG,
                         errors="told"),
        "expect": ANSWERED | {"codes": ["ok"]},
    },
    "hits": {
        "scenario": _run("Up: Alice searches for the sign-up / 查读书会报名", EMPTIED, SIGN_UP,
                         {"answer": "Sign-up closes on 18 September 2026. / 报名 9 月 18 日截止。"}, world="notices"),
        "expect": ANSWERED | {"codes": ["ok"], "records": ["D1", "D2"]},
    },
    "outage": {
        "scenario": _run("Down: the same search, and the service is out", EMPTIED, SIGN_UP,
                         {"answer": "The search is out, so I cannot say. / 搜索暂时不可用，我无法回答。"},
                         world="notices", faults=SEARCH_OUT),
        "expect": UNSERVED | {"codes": ["dependency_temporary"], "executed": 1, "delivered": 1},
    },
    "outage, emptied": {
        "scenario": _run("Emptied (broken on purpose): the outage is answered like no hit", EMPTIED, SIGN_UP,
                         {"answer": "There is no sign-up at the moment. / 目前没有读书会报名。"}, world="notices",
                         faults=SEARCH_OUT, errors="emptied"),
        "expect": ANSWERED | {"codes": ["ok"]},
    },
    "no hit, emptied": {
        "scenario": _run("Emptied, no list (broken on purpose): the search for the contact list is out", EMPTIED,
                         LIST, NO_LIST, world="notices", faults=SEARCH_OUT, errors="emptied"),
        "expect": ANSWERED | {"codes": ["ok"]},
    },
    "retried": {
        "scenario": _run("Retried (broken on purpose): every fault is called a passing one", RETRIED,
                         SHOP, SHOP, SHOP, DOWN, faults=BUG, errors="retried"),
        "expect": UNSERVED | {"codes": ["dependency_temporary"] * 3, "replayed": [False] * 3, "executed": 3,
                              "delivered": 3},
    },
}  # fmt: skip

# 3. Who tries again: the tool, the model, both, both under a budget. The service stays down.

LAYERS: dict[str, dict[str, Any]] = {
    "tool alone": {
        "scenario": _run("The tool tries again: twice for one call", COUNTS, SHOP, DOWN, faults=OUT),
        "expect": UNSERVED | {"codes": ["dependency_temporary"], "executed": 1, "delivered": 1},
    },
    "model alone": {
        "scenario": _run("The model asks again: three times, of a tool that tries once", COUNTS, BRANCH, BRANCH,
                         BRANCH, {"answer": "I cannot look the shop up now. / 现在查不到这家店。"}, world="places",
                         faults=_fault("get_place", "temporary", 1)),
        "expect": UNSERVED | {"codes": ["dependency_temporary"] * 3, "executed": 3, "delivered": 3},
    },
    "both": {
        "scenario": _run("Both try again: the model three times, the tool twice", COUNTS, SHOP, SHOP, SHOP, DOWN,
                         faults=OUT),
        "expect": UNSERVED | {"codes": ["dependency_temporary"] * 3, "executed": 3, "delivered": 3},
    },
    "both, budget": {
        "scenario": _run("Both, two executions: the model three times, the tool twice", COUNTS, SHOP, SHOP, SHOP,
                         DOWN, faults=OUT, limits=LIMITS | {"executions": 2}),
        "expect": UNSERVED | {"codes": ["dependency_temporary"] * 2 + ["budget_exhausted"],
                              "fields": [None, None, "executions"], "executed": 2, "delivered": 3},
    },
}  # fmt: skip

CASES: dict[str, dict[str, Any]] = {**CLASSES, **BROKEN, **LAYERS}
