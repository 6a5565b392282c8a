"""Lesson 06: how do results get back, and how does a run end?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
ENDS = f"{NOTE}: a run ends for one reason, and a limit is never an answer"
SEARCH = '{"query":"读书会 报名","published_from":null}'
JAVA = '{"text":"Java"}'
LIMITS = {"rounds": 4, "requests": 6, "executions": 4}
FOUR = {"answer": "Java has four letters. / Java 有四个字母。"}
FOUND = {"answer": "Until 18 September 2026. / 9 月 18 日截止。"}
DEADLINE = "Until when can I sign up for the reading club? / 读书会报名什么时候截止？"


def _call(id: Any, name: str, arguments: str) -> dict[str, Any]:  # noqa: A002 - the field's name
    return {"id": id, "name": name, "arguments": arguments}


def _read(id: str, notice: str) -> dict[str, Any]:  # noqa: A002
    return _call(id, "read_notice", f'{{"notice_id":"{notice}"}}')


def _run(title: str, source: str, *turns: dict[str, Any], world: Any = "notices", **more: Any) -> dict[str, Any]:
    return {"title": title, "source": source, "world": world, "limits": LIMITS, "turns": list(turns)} | more


SEARCHES = {"calls": [_call("c1", "search_notices", SEARCH)]}
LENGTH = {"calls": [_call("c1", "length", JAVA)]}
TWO = {"calls": [_call("c1", "length", JAVA), _call("c2", "length", '{"text":"SQL"}')]}

CASES: dict[str, dict[str, Any]] = {
    "two lookups": {
        "scenario": _run(DEADLINE, f"{NOTE}: look up, look up again, then answer", SEARCHES,
                         {"calls": [_read("c2", "D2")]}, FOUND),
        "expect": {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "stop": "answered", "coverage": "complete",
                   "records": ["D1", "D2"]},
    },
    "two at once": {
        "scenario": _run("Two notices are read in one response", f"{NOTE}: each result belongs to one request",
                         {"calls": [_read("c1", "D1"), _read("c2", "D2")]}, FOUND),
        "expect": {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "stop": "answered", "records": ["D1", "D2"]},
    },
    "one id, two requests": {
        "scenario": _run("Two requests of one response claim the same id", f"{NOTE}: round and place name a request",
                         {"calls": [_read("c1", "D1"), _read("c1", "D2")]}, FOUND),
        "expect": {"codes": ["ok", "id_conflict"], "executed": 1, "delivered": 2, "stop": "answered",
                   "coverage": "complete", "records": ["D1"]},
    },
    "repaired": {
        "scenario": _run("A refused call is written again, and served", f"{NOTE}: a refusal is an answer to act on",
                         {"calls": [_call("c1", "serch_notices", SEARCH)]}, SEARCHES, FOUND),
        "expect": {"codes": ["unknown_tool", "ok"], "executed": 1, "stop": "answered", "coverage": "complete"},
    },
    "calls and words": {
        "scenario": _run("A response with a call and an answer in it", f"{NOTE}: words beside a call are no answer yet",
                         SEARCHES | {"answer": "It closes on the 20th, I think."}, FOUND),
        "expect": {"codes": ["ok"], "executed": 1, "stop": "answered", "coverage": "complete"},
    },
    "claimed": {
        "scenario": _run("The search is forbidden, and the model says it found something",
                         f"{NOTE}: 'the model said it found it' is no evidence of an execution", SEARCHES,
                         {"answer": "I searched, and found it: 20 September. / 找到了：9 月 20 日。"},
                         principal={"subject": "u-alice", "tenant": "A", "permissions": []}),
        "expect": {"codes": ["forbidden"], "executed": 0, "stop": "answered", "coverage": "unknown", "records": []},
    },
    "cut off": {
        "scenario": _run("A response is cut off after two calls, then comes whole",
                         f"{NOTE}: of a response that was cut off no call may run", TWO | {"complete": False}, TWO,
                         {"answer": "4 and 3"}, world="text"),
        "expect": {"codes": ["incomplete_response", "incomplete_response", "ok", "ok"], "executed": 2, "delivered": 4,
                   "stop": "answered", "coverage": "complete"},
    },
    "cut-off answer": {
        "scenario": _run("The answer itself is cut off", f"{NOTE}: half a sentence is no answer", SEARCHES,
                         {"answer": "Until 18 Sep", "complete": False}),
        "expect": {"codes": ["ok"], "executed": 1, "stop": "no_progress", "coverage": "partial"},
    },
    "needs_user": {
        "scenario": _run("Two branches fit: the user must choose / 两家门店都符合，请用户选择",
                         f"{NOTE}: of several candidates none is chosen by the program",
                         {"calls": [_call("c1", "search_places",
                                          '{"text":"青叶咖啡","mode":"restrict","region":"Tokyo"}')]},
                         {"answer": "The one at Tokyo Station."}, world="places"),
        "expect": {"codes": ["needs_user"], "executed": 1, "delivered": 1, "stop": "needs_user", "coverage": "partial"},
    },
    "rounds_exhausted": {
        "scenario": _run("The model never stops asking", ENDS, LENGTH, world="text", when_turns_run_out="repeat",
                         limits=LIMITS | {"rounds": 3}),
        "expect": {"codes": ["ok", "ok", "ok"], "replayed": [False, True, True], "executed": 1,
                   "stop": "rounds_exhausted", "coverage": "partial"},
    },
    "requests_exhausted": {
        "scenario": _run("Two calls, and one request is allowed", ENDS, TWO, FOUR, world="text", on_limit="stop",
                         limits=LIMITS | {"requests": 1}),
        "expect": {"codes": ["ok", "budget_exhausted"], "executed": 1, "delivered": 2, "stop": "requests_exhausted",
                   "coverage": "partial"},
    },
    "executions_exhausted": {
        "scenario": _run("Two calls, and one execution is allowed", ENDS, TWO, FOUR, world="text", on_limit="stop",
                         limits=LIMITS | {"executions": 1}),
        "expect": {"codes": ["ok", "budget_exhausted"], "executed": 1, "delivered": 2,
                   "stop": "executions_exhausted", "coverage": "partial"},
    },
    "cost_exhausted": {
        "scenario": _run("Two calls of one unit each, and one unit may be spent", ENDS, TWO, FOUR, world="text",
                         on_limit="stop", limits=LIMITS | {"cost": 1}),
        "expect": {"codes": ["ok", "budget_exhausted"], "executed": 1, "delivered": 2, "stop": "cost_exhausted",
                   "coverage": "partial"},
    },
    "deadline_exceeded": {
        "scenario": _run("Time is up before the next round", ENDS, LENGTH, world="text", when_turns_run_out="repeat",
                         limits=LIMITS | {"deadline_s": 0.25}),
        "expect": {"codes": ["ok"], "executed": 1, "delivered": 1, "stop": "deadline_exceeded", "coverage": "partial"},
    },
    "terminal_error": {
        "scenario": _run("The tool breaks inside", f"{NOTE}: an unknown fault ends the run", SEARCHES,
                         {"answer": "Found it."}, faults=[{"tool": "search_notices", "raises": "bug"}]),
        "expect": {"codes": ["internal_error"], "executed": 1, "delivered": 1, "stop": "terminal_error",
                   "coverage": "partial", "records": []},
    },
    "cancelled": {
        "scenario": _run("The tool hangs and the user gives up", f"{NOTE}: who waits no longer gets no answer",
                         SEARCHES, {"answer": "Found it."}, faults=[{"tool": "search_notices", "raises": "hang"}]),
        "expect": {"codes": ["cancelled"], "executed": 1, "delivered": 1, "stop": "cancelled", "coverage": "partial"},
    },
    "model_failed": {
        "scenario": _run("The model's service breaks in round 2", f"{NOTE}: what was done stays done, and is told",
                         SEARCHES, {"fails": True}),
        "expect": {"codes": ["ok"], "executed": 1, "delivered": 1, "stop": "model_failed", "coverage": "partial",
                   "records": ["D1", "D2"]},
    },
    "no_progress": {
        "scenario": _run("The same refused call, again and again", f"{NOTE}: a model that only errs comes to an end",
                         {"calls": [_call("c1", "shell", "{}")]}, world="text", when_turns_run_out="repeat"),
        "expect": {"codes": ["unknown_tool"] * 3, "executed": 0, "delivered": 3, "stop": "no_progress",
                   "coverage": "unknown"},
    },
    "nothing said": {
        "scenario": _run("A response with neither a call nor an answer", f"{NOTE}: silence is no answer", SEARCHES,
                         {"answer": " \u200b "}),
        "expect": {"codes": ["ok"], "executed": 1, "stop": "no_progress", "coverage": "partial"},
    },
}  # fmt: skip
