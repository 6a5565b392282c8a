"""Lesson 05: when must it stop?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
PRICES = f"{NOTE}, assignment 3: which refusal spends which budget"
ENDS = f"{NOTE}, assignment 5: a model that asks for ever is ended by a limit, never by an answer"
ORDER = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]


def _look(call_id: str, merchant: int) -> dict[str, Any]:
    return {"id": call_id, "name": "get_merchant", "arguments": f'{{"merchantId":{merchant}}}'}


def _upper(call_id: str, text: str) -> dict[str, Any]:
    return {"id": call_id, "name": "upper", "arguments": f'{{"text":"{text}"}}'}


def _turns(*rounds: list[dict[str, Any]], answer: str = "That is all I have. / 就这些。") -> list[dict[str, Any]]:
    return [*({"calls": calls} for calls in rounds), {"answer": answer}]


def _gates(gate: str, instead: str) -> list[str]:
    return [instead if name == gate else name for name in ORDER]


# 1. A model that never stops asking: six rounds, one merchant and one text each. Each case has one narrow limit.

ENDLESS = [{"calls": [_look(f"m{n}", 2000 + n), _upper(f"t{n}", f"tea {n}")]} for n in range(1, 7)]
WIDE = {"rounds": 6, "requests": 12, "executions": 12}


def _endless(title: str, narrow: dict[str, Any], expect: dict[str, Any]) -> dict[str, Any]:
    return {
        "scenario": {"title": f"{title}: the model never stops asking", "source": ENDS, "world": ["merchants", "text"],
                     "limits": WIDE | narrow, "on_limit": "stop", "turns": ENDLESS},
        "expect": expect | {"coverage": "partial"},
    }  # fmt: skip


NARROW = {
    "rounds": _endless(
        "3 rounds", {"rounds": 3},
        {"codes": ["ok"] * 6, "executed": 6, "delivered": 6, "stop": "rounds_exhausted",
         "records": ["2001", "2002", "2003"]},
    ),
    "requests": _endless(
        "5 requests", {"requests": 5},
        {"codes": ["ok"] * 5 + ["budget_exhausted"], "fields": [None] * 5 + ["requests"], "executed": 5,
         "delivered": 6, "stop": "requests_exhausted", "records": ["2001", "2002", "2003"]},
    ),
    "executions": _endless(
        "3 executions", {"executions": 3},
        {"codes": ["ok"] * 3 + ["budget_exhausted"], "fields": [None] * 3 + ["executions"], "executed": 3,
         "delivered": 4, "stop": "executions_exhausted", "records": ["2001", "2002"]},
    ),
    "per tool": _endless(
        "One get_merchant", {"per_tool": {"get_merchant": 1}},
        {"codes": ["ok", "ok", "budget_exhausted", "cancelled"], "fields": [None, None, "tool", None],
         "executed": 2, "delivered": 4, "stop": "executions_exhausted", "records": ["2001"]},
    ),
    "cost": _endless(
        "A cost of 4", {"cost": 4},
        {"codes": ["ok"] * 4 + ["budget_exhausted", "cancelled"], "fields": [None] * 4 + ["cost", None],
         "executed": 4, "delivered": 6, "stop": "cost_exhausted", "records": ["2001", "2002"]},
    ),
    "deadline": _endless(
        "Half a second", {"deadline_s": 0.5},
        {"codes": ["ok", "ok", "budget_exhausted", "cancelled"], "fields": [None, None, "deadline", None],
         "executed": 2, "delivered": 4, "stop": "deadline_exceeded", "records": ["2001"]},
    ),
}  # fmt: skip

# 2. What spends what: each event's price is the difference between a run with it and the run "one" or "two".

LIMITS = {"rounds": 4, "requests": 6, "executions": 2}
A, B, C = _look("a", 1001), _look("b", 2001), _look("c", 2002)
STRAY = {"id": "x", "name": "find_merchant", "arguments": '{"merchantId":2001}'}
TORN = {"id": "x", "name": "get_merchant", "arguments": '{"merchantId":'}


def _out(entry: int, *attempts: int) -> list[dict[str, Any]]:
    """The outside directory is out at these attempts of an entry."""
    return [{"tool": "get_merchant", "entry": entry, "attempt": n, "raises": "temporary"} for n in attempts]


def _priced(title: str, *calls: dict[str, Any], codes: list[str], executed: int, coverage: str = "complete",
            records: tuple[str, ...] = ("1001",), **more: Any) -> dict[str, Any]:  # fmt: skip
    expect = {"codes": codes, "executed": executed, "delivered": len(calls), "stop": "answered",
              "coverage": coverage, "records": list(records)}  # fmt: skip
    return {
        "scenario": {"title": title, "source": PRICES, "world": "merchants", "limits": LIMITS,
                     "turns": _turns([*calls])} | more.pop("scenario", {}),
        "expect": expect | more,
    }  # fmt: skip


PRICED = {
    "one": _priced("One call, and an answer", A, codes=["ok"], executed=1),
    "one, unanswered": _priced(
        "One call, and no response after it", A, codes=["ok"], executed=1, coverage="partial",
        stop="rounds_exhausted", scenario={"limits": LIMITS | {"rounds": 1}},
    ),
    "two": _priced("A second call is served", A, B, codes=["ok", "ok"], executed=2, records=("1001", "2001")),
    "three": _priced(
        "A third call is over the execution budget", A, B, C, codes=["ok", "ok", "budget_exhausted"],
        fields=[None, None, "executions"], executed=2, coverage="partial", records=("1001", "2001"),
    ),
    "unknown": _priced(
        "A second call names a tool that nobody offers", A, STRAY, codes=["ok", "unknown_tool"], executed=1,
    ),
    "torn": _priced(
        "A second call's arguments are cut off", A, TORN, codes=["ok", "invalid_arguments"], executed=1,
    ),
    "replay": _priced(
        "The same call comes twice", A, A, codes=["ok", "ok"], replayed=[False, True], executed=1,
    ),
    "down": _priced(
        "Down at both attempts: a second call fails", A, B,
        codes=["ok", "dependency_temporary"], executed=2, coverage="partial", scenario={"faults": _out(2, 1, 2)},
    ),
    "passing": _priced(
        "Down for a moment: the tool tries the directory again", A, codes=["ok"], executed=1,
        scenario={"faults": _out(1, 1)},
    ),
    "asked again": {
        "scenario": {
            "title": "Asked again under the same id, after both attempts failed",
            "source": f"{NOTE}: requests, executions and attempts at a service are three counts",
            "world": "merchants",
            "limits": LIMITS,
            "turns": _turns([A], [A]),
            "faults": _out(1, 1, 2),
        },
        "expect": {"codes": ["dependency_temporary", "ok"], "replayed": [False, False], "executed": 2,
                   "delivered": 2, "stop": "answered", "coverage": "complete", "records": ["1001"]},
    },
}  # fmt: skip

# 3. Zero, nonsense, the middle of a batch, several rounds, a tool that hangs.

WORDS = ("find_merchant", "merchant_get", "get_shop", "lookup", "getMerchant", "get_merchants", "merchant", "query")
NONSENSE = [
    {"calls": [_look(f"n{n}", 1001) | {"name": WORDS[n]}, _look(f"n{n + 1}", 1001) | {"name": WORDS[n + 1]}]}
    for n in range(0, len(WORDS), 2)
]


def _errs(title: str, source: str, turns: list[dict[str, Any]], expect: dict[str, Any],
          **more: Any) -> dict[str, Any]:  # fmt: skip
    return {
        "scenario": {"title": title, "source": source, "world": "merchants", "on_limit": "stop",
                     "limits": {"rounds": 4, "requests": 3, "executions": 3}, "turns": turns} | more,
        "expect": expect,
    }  # fmt: skip


def _zero(title: str, source: str, expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "scenario": {"title": title, "source": source, "world": "merchants", "turns": _turns([A, B]),
                     "limits": {"rounds": 4, "requests": 6, "executions": 0}} | more,
        "expect": expect | {"delivered": 2, "stop": "answered"},
    }  # fmt: skip


BATCH = {"world": "merchants", "limits": LIMITS, "turns": _turns([A, B, C, A, STRAY])}
FREE = {"gates": _gates("request_budget", "request_budget_free")}

OTHERS = {
    "zero": _zero(
        "Two calls, and zero executions are allowed", f"{NOTE}: a budget of zero allows nothing",
        {"codes": ["budget_exhausted"] * 2, "fields": ["executions"] * 2, "executed": 0, "coverage": "unknown",
         "records": []},
    ),
    "zero, looked late": _zero(
        "Broken on purpose: the budget is looked at after the tool was entered",
        f"{NOTE}: a limit is checked before it is spent",
        {"codes": ["ok", "budget_exhausted"], "executed": 1, "coverage": "partial", "records": ["1001"],
         "laws": ["within_budget"]},
        gates=_gates("execution_budget", "execution_budget_late"),
    ),
    "nonsense": _errs(
        "The model only ever names tools that do not exist", f"{NOTE}: a refusal is not free", NONSENSE,
        {"codes": ["unknown_tool"] * 3 + ["budget_exhausted"], "fields": ["name"] * 3 + ["requests"], "executed": 0,
         "delivered": 4, "stop": "requests_exhausted", "coverage": "unknown", "records": []},
    ),
    "nonsense, free": _errs(
        "Broken on purpose: refusals are free, and the model only errs", f"{NOTE}: a refusal is not free", NONSENSE,
        {"codes": ["unknown_tool"] * 8, "executed": 0, "delivered": 8, "stop": "rounds_exhausted",
         "coverage": "unknown", "records": []},
        **FREE,
    ),
    "nonsense, then a hit": _errs(
        "Broken on purpose: refusals are free, and the seventh call is a good one",
        f"{NOTE}: a refusal is not free", [*NONSENSE[:3], {"calls": [A]}],
        {"codes": ["unknown_tool"] * 6 + ["ok"], "executed": 1, "delivered": 7, "stop": "rounds_exhausted",
         "coverage": "partial", "records": ["1001"], "laws": ["within_budget"]},
        **FREE,
    ),
    "batch, go on": {
        "scenario": BATCH | {
            "title": "What is over the limit is refused, the rest goes on: five calls, two executions",
            "source": f"{NOTE}: one answer per request, also where a limit is hit in the middle of a batch",
        },
        "expect": {"codes": ["ok", "ok", "budget_exhausted", "ok", "unknown_tool"],
                   "replayed": [False, False, False, True, False], "executed": 2, "delivered": 5,
                   "stop": "answered", "coverage": "partial", "records": ["1001", "2001"]},
    },
    "batch, stop": {
        "scenario": BATCH | {
            "title": "The run stops at the limit: five calls, two executions",
            "source": f"{NOTE}: one answer per request, also where a limit is hit in the middle of a batch",
            "on_limit": "stop",
        },
        "expect": {"codes": ["ok", "ok", "budget_exhausted", "cancelled", "cancelled"],
                   "replayed": [False] * 5, "executed": 2, "delivered": 5, "stop": "executions_exhausted",
                   "coverage": "partial", "records": ["1001", "2001"]},
    },
    "six rounds": {
        "scenario": {
            "title": "Six rounds share one set of budgets",
            "source": f"{NOTE}: counts belong to the run, not to the round",
            "world": ["merchants", "text"],
            "limits": {"rounds": 6, "requests": 10, "executions": 5, "per_tool": {"get_merchant": 3}, "deadline_s": 2},
            "turns": _turns([A, _look("b", 9999), STRAY], [A, _look("b", 9999)],
                            [_upper("t1", "tea"), _upper("t2", "house")], [_look("d", 2001)], [A, _look("e", 2002)]),
        },
        "expect": {"codes": ["ok", "not_found_or_not_accessible", "unknown_tool", "ok", "not_found_or_not_accessible",
                             "ok", "ok", "ok", "ok", "budget_exhausted"],
                   "replayed": [False, False, False, True, True, False, False, False, True, False],
                   "fields": [None, None, "name"] + [None] * 6 + ["executions"], "executed": 5, "delivered": 10,
                   "stop": "answered", "coverage": "partial", "records": ["1001", "2001"]},
    },
    "hangs": {
        "scenario": {
            "title": "The tool hangs while the deadline passes",
            "source": f"{NOTE}: when the deadline passes nobody waits any longer, and every request is still answered",
            "world": "merchants",
            "limits": LIMITS | {"deadline_s": 1},
            "turns": _turns([A, B]),
            "faults": [{"tool": "get_merchant", "entry": 1, "raises": "hang"}],
        },
        "expect": {"codes": ["cancelled", "cancelled"], "executed": 1, "delivered": 2, "stop": "deadline_exceeded",
                   "coverage": "partial", "records": []},
    },
}  # fmt: skip

CASES: dict[str, dict[str, Any]] = {**NARROW, **PRICED, **OTHERS}
