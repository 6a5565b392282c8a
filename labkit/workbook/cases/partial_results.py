"""Lesson 09: the limit is hit in the middle of a batch: what is kept and said?"""

from __future__ import annotations

import json
from typing import Any

NOTE = "tool-call unit"
AIP = "AIP-158, Pagination"
BOTH = f"{NOTE}: a limit for one tool and one for all; what is finished is kept, and each request is answered"
ORDER = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay"]


def _look(merchant: int) -> dict[str, Any]:
    return {"id": f"m{merchant}", "name": "get_merchant", "arguments": json.dumps({"merchantId": merchant})}


TOKENS = (None, "QToxMA==", "QToyMA==", "QTozMA==", "QTo0MA==")
"""What asks for each page of ten, from the first: null, then what the page before gave."""


def _page(call_id: str, token: str | None, size: int = 10) -> dict[str, Any]:
    arguments = json.dumps({"page_token": token, "page_size": size})
    return {"id": call_id, "name": "list_merchants", "arguments": arguments}


def _pages(first: int, last: int) -> list[dict[str, Any]]:
    """One response a page."""
    return [{"calls": [_page(f"p{n}", TOKENS[n - 1])]} for n in range(first, last + 1)]


def _ids(start: int, end: int) -> list[str]:
    """Merchants of tenant A by their place in the list, from 0; the data hands out one more than a page holds."""
    return [str(2000 + n) if n else "1001" for n in range(start, end)]


# 1. One response with four calls: three look-ups, and the beginning of the list. Two look-ups, three executions in all.

BATCH = [*(_look(2010 + n) for n in (1, 2, 3)), _page("list", None, 3)]
TWO_OF_ONE = {"rounds": 5, "requests": 10, "executions": 3, "per_tool": {"get_merchant": 2}}
SCRIPT: list[dict[str, Any]] = [
    {"calls": BATCH},
    {"calls": [_page("more", "QToz", 3)]},
    {"answer": "2011 and 2012 open at 10:00; I could not look up 2013. / 2011 与 2012 10 点开门；2013 未能查询。"},
]
FOUND, SPENT = ["ok", "ok", "budget_exhausted"], "budget_exhausted"


def _batch(title: str, turns: list[dict[str, Any]], on_limit: str, expect: dict[str, Any]) -> dict[str, Any]:
    return {
        "scenario": {"title": title, "source": BOTH, "world": "merchants", "limits": TWO_OF_ONE,
                     "on_limit": on_limit, "turns": turns},
        "expect": expect | {"coverage": "partial"},
    }  # fmt: skip


LISTED = ["1001", "2001", "2002", "2003", "2011", "2012"]
BATCHES = {
    "stop": _batch(
        "Stop at the limit: two look-ups allowed, three executions in all", SCRIPT, "stop",
        {"codes": [*FOUND, "cancelled"], "fields": [None, None, "tool", None], "executed": 2, "delivered": 4,
         "stop": "executions_exhausted", "records": ["2011", "2012"]},
    ),
    "go on": _batch(
        "Go on at the limit: the same script, the model is told and asked again", SCRIPT, "answer",
        {"codes": [*FOUND, "ok", SPENT], "fields": [None, None, "tool", None, "executions"], "executed": 3,
         "delivered": 5, "stop": "answered", "records": LISTED},
    ),
    "never enough": _batch(
        "Never enough: a model that takes no refusal for an answer",
        [{"calls": BATCH}, *({"calls": [_look(2010 + n)]} for n in range(4, 10))], "answer",
        {"codes": [*FOUND, "ok", *[SPENT] * 4], "fields": [None, None, "tool", None, *["executions"] * 4],
         "executed": 3, "delivered": 8, "stop": "rounds_exhausted", "records": LISTED},
    ),
}  # fmt: skip

# 2. All merchants of tenant A: five pages of ten. Most of these runs hold a part, and differ in why.


def _list(title: str, turns: list[dict[str, Any]], expect: dict[str, Any], executions: int = 5,
          source: str = f"{AIP}: only an empty token is the end of a list", **more: Any) -> dict[str, Any]:  # fmt: skip
    limits = {"rounds": 8, "requests": 8, "executions": executions}
    return {
        "scenario": {"title": title, "source": source, "world": "merchants", "limits": limits, "turns": turns} | more,
        "expect": {"stop": "answered", "executed": executions} | expect,
    }


def _claims(count: int = 30) -> dict[str, Any]:
    return {"answer": f"These are all {count}. / 共 {count} 家。"}


LISTS = {
    "to the end": _list(
        "To the end: five pages, five executions", [*_pages(1, 5), _claims(50)],
        {"codes": ["ok"] * 5, "delivered": 5, "coverage": "complete", "records": _ids(0, 50)},
    ),
    "cut": _list(
        "Cut off by the budget: five pages, three executions; the run stops", [*_pages(1, 5), _claims(50)],
        {"codes": ["ok"] * 3 + [SPENT], "fields": [None] * 3 + ["executions"], "delivered": 4,
         "stop": "executions_exhausted", "coverage": "partial", "records": _ids(0, 31)},
        executions=3, on_limit="stop", source=f"{NOTE}: the end of the budget is not the end of the list",
    ),
    "none": _list(
        "No execution at all: the first page is refused", [*_pages(1, 5), _claims(50)],
        {"codes": [SPENT], "fields": ["executions"], "delivered": 1, "stop": "executions_exhausted",
         "coverage": "unknown", "records": []},
        executions=0, on_limit="stop", source=f"{NOTE}: nothing found is not the same as nothing there",
    ),
    "cut, claimed": _list(
        "Called complete: the budget cuts the list off, and the model says: these are all", [*_pages(1, 4), _claims()],
        {"codes": ["ok"] * 3 + [SPENT], "delivered": 4, "coverage": "partial", "records": _ids(0, 31)},
        executions=3, source=f"{NOTE}: a limit must not be reported as completion",
    ),
    "given up": _list(
        "Given up: no limit is hit, the model asks for two pages and no more", [*_pages(1, 2), _claims(20)],
        {"codes": ["ok"] * 2, "executed": 2, "delivered": 2, "coverage": "complete", "records": _ids(0, 21)},
    ),
    "lost token": _list(
        "Token miscopied: the fourth page is asked for with one sign missing",
        [*_pages(1, 3), {"calls": [_page("p4", "QTozMA=")]}, _claims()],
        {"codes": ["ok"] * 3 + ["not_found_or_not_accessible"], "executed": 4, "delivered": 4,
         "coverage": "complete", "records": _ids(0, 31)},
    ),
    "shortened": _list(
        "Shortened: five pages, each with room for six of its ten", [*_pages(1, 5), _claims()],
        {"codes": ["ok"] * 5, "delivered": 5, "coverage": "partial", "records": _ids(0, 50)},
        tools={"list_merchants": {"result_chars": 600}},
        source=f"{NOTE}: a shortened result says so, and what was left out is not on the next page",
    ),
    "unanswered": _list(
        "Unanswered: all five pages came, and no response is left for an answer", [*_pages(1, 5), _claims(50)],
        {"codes": ["ok"] * 5, "delivered": 5, "stop": "rounds_exhausted", "coverage": "partial",
         "records": _ids(0, 50)},
        limits={"rounds": 5, "requests": 8, "executions": 5},
        source=f"{NOTE}: why a run ended and how far a list goes are two facts",
    ),
    "hidden": _list(
        "Broken on purpose: over the budget the list is over", [*_pages(1, 2), _claims(10)],
        {"codes": ["ok"] * 2, "delivered": 2, "coverage": "complete", "records": _ids(0, 11),
         "laws": ["rejected_never_started"]},
        executions=1, gates=[*ORDER, "execution_budget_emptied"],
        source=f"{NOTE}: a limit must not be reported as completion",
    ),
    "continued": _list(
        "Continued: a new request begins at the stored token", [*_pages(4, 5), _claims(50)],
        {"codes": ["ok"] * 2, "executed": 2, "delivered": 2, "coverage": "complete", "records": _ids(30, 50)},
        executions=3, source=f"{NOTE}: a new user request is a new run with fresh counts",
    ),
}  # fmt: skip

# 3. Counting: five pages asked for at once (their tokens are known from earlier), three executions, one outage.

COUNTS = {
    "five at once": _list(
        "Five pages at once: three executions, and the service is down at the second",
        [{"calls": [_page(f"p{n}", token) for n, token in enumerate(TOKENS, 1)]}, _claims(20)],
        {"codes": ["ok", "dependency_temporary", "ok", SPENT, SPENT], "fields": [None] * 3 + ["executions"] * 2,
         "delivered": 5, "coverage": "partial", "records": _ids(0, 11) + _ids(20, 31)},
        executions=3, source=f"{NOTE}: requested, admitted, executed, delivered and found are five counts",
        faults=[{"tool": "list_merchants", "entry": 2, "attempt": n, "raises": "temporary"} for n in (1, 2)],
    ),
}  # fmt: skip

CASES: dict[str, dict[str, Any]] = {**BATCHES, **LISTS, **COUNTS}
