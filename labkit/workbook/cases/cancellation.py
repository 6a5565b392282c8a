"""Lesson 10: it was cancelled: has it stopped?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
ENDS = f"{NOTE}: a request to cancel, the end of the waiting and the end of the work are kept apart"
WRITES = f"{NOTE}: a write whose end was not seen is unknown, and one looks before any retry"
FIRST = f"{NOTE}: the first outcome stays; what comes after it is recorded and not delivered"
MCP = "Model Context Protocol, cancellation: whoever receives it may ignore it, and may have finished already"
LIBPQ = "PostgreSQL, libpq: that a cancel was sent is no guarantee that it has any effect"
FUTURES = "Python, concurrent.futures: a call that runs cannot be cancelled, one that still waits can"

ALICE = {"permissions": ["notes:read", "plans:write"]}
LIMITS = {"rounds": 4, "requests": 6, "executions": 6}
MOVED = "27 September 2026, 3 p.m., Aoba Coffee in Ueno. / 改到 9 月 27 日下午三点，上野青叶咖啡。"
CLUB, UENO = '{"query":"reading club"}', '{"query":"Ueno"}'
REVISE = f'{{"plan_id":"P1","expected_version":1,"text":"{MOVED}"}}'
FOUND = {"answer": "Two of your notes are about the reading club. / 有两条读书会笔记。"}
DONE = {"answer": "The plan is changed. / 计划已改。"}

CANCELLED = {"stop": "cancelled", "executed": 1, "delivered": 1}


def _search(id: str, arguments: str = CLUB) -> dict[str, Any]:  # noqa: A002 - the field's name
    return {"id": id, "name": "search_notes", "arguments": arguments}


def _revise(id: str, arguments: str = REVISE) -> dict[str, Any]:  # noqa: A002
    return {"id": id, "name": "revise_plan", "arguments": arguments}


def _fault(tool: str, raises: str) -> list[dict[str, Any]]:
    return [{"tool": tool, "raises": raises, "entry": 1}]


def _run(title: str, source: str, *turns: Any, **more: Any) -> dict[str, Any]:
    """A run of turns, each a list of calls or a whole turn; the user gives up as soon as a tool hangs."""
    whole = [{"calls": turn} if isinstance(turn, list) else turn for turn in turns]
    return {"title": title, "source": source, "world": "notes", "principal": ALICE, "limits": LIMITS,
            "turns": whole} | more  # fmt: skip


READS: dict[str, dict[str, Any]] = {
    "cooperative": {
        "scenario": _run("Cooperative: a search that ends when nobody waits", ENDS, [_search("c1")], FOUND,
                         faults=_fault("search_notes", "hang")),
        "expect": CANCELLED | {"codes": ["cancelled"], "coverage": "partial", "records": []},
    },
    "stubborn": {
        "scenario": _run("Stubborn: a search that goes on and returns", MCP, [_search("c1")], FOUND,
                         faults=_fault("search_notes", "stubborn")),
        "expect": CANCELLED | {"codes": ["cancelled"], "coverage": "partial", "records": ["N1", "N2"]},
    },
    "undisturbed": {
        "scenario": _run("Undisturbed: nobody cancels the search", ENDS, [_search("c1")], FOUND),
        "expect": {"codes": ["ok"], "executed": 1, "delivered": 1, "stop": "answered", "coverage": "complete",
                   "records": ["N1", "N2"]},
    },
}  # fmt: skip

WRITTEN: dict[str, dict[str, Any]] = {
    "cooperative write": {
        "scenario": _run("Cooperative write: it ends before it has written", WRITES, [_revise("c1")], DONE,
                         faults=_fault("revise_plan", "hang")),
        "expect": CANCELLED | {"codes": ["outcome_unknown"], "coverage": "unknown", "records": []},
    },
    "stubborn write": {
        "scenario": _run("Stubborn write: it writes all the same", LIBPQ, [_revise("c1")], DONE,
                         faults=_fault("revise_plan", "stubborn")),
        "expect": CANCELLED | {"codes": ["outcome_unknown"], "coverage": "unknown", "records": ["P1"]},
    },
    "middle": {
        "scenario": _run("The middle of three: a write between two searches, cancelled while it runs", FUTURES,
                         [_search("c1"), _revise("c2"), _search("c3", UENO)], DONE,
                         faults=_fault("revise_plan", "stubborn")),
        "expect": {"codes": ["ok", "outcome_unknown", "cancelled"], "executed": 2, "delivered": 3,
                   "stop": "cancelled", "coverage": "unknown", "records": ["N1", "N2", "P1"]},
    },
    "deadline": {
        "scenario": _run("Deadline: nobody cancels, the time is up while a write runs", WRITES, [_revise("c1")], DONE,
                         faults=_fault("revise_plan", "stubborn"), limits=LIMITS | {"deadline_s": 1}),
        "expect": {"codes": ["outcome_unknown"], "executed": 1, "delivered": 1, "stop": "deadline_exceeded",
                   "coverage": "unknown", "records": ["P1"]},
    },
    "lost": {
        "scenario": _run("Lost answer: nobody cancels, the connection breaks after the write", WRITES,
                         [_revise("c1")], DONE, faults=_fault("revise_plan", "crash_after_effect")),
        "expect": {"codes": ["outcome_unknown"], "executed": 1, "delivered": 1, "stop": "terminal_error",
                   "coverage": "unknown", "records": ["P1"]},
    },
    "stale": {
        "scenario": _run("Stale write: refused at once, before anybody could cancel", WRITES,
                         [_revise("c1", REVISE.replace(":1,", ":2,"))], DONE,
                         faults=_fault("revise_plan", "stubborn")),
        "expect": {"codes": ["needs_user"], "executed": 1, "delivered": 1, "stop": "needs_user",
                   "coverage": "partial", "records": ["P1"]},
    },
    "not permitted": {
        "scenario": _run("No permission: the write is refused, so there is nothing to cancel", WRITES,
                         [_revise("c1")], {"answer": "I may not change the plan. / 我无权修改计划。"},
                         principal={"permissions": ["notes:read"]}, faults=_fault("revise_plan", "stubborn")),
        "expect": {"codes": ["forbidden"], "executed": 0, "delivered": 1, "stop": "answered", "coverage": "unknown",
                   "records": []},
    },
}  # fmt: skip

DELIVERED: dict[str, dict[str, Any]] = {
    "delivered": {
        "scenario": _run("Delivered in round 1, cancelled in round 2", FIRST, [_search("c1")],
                         [_search("c2", UENO), _search("c3")], FOUND,
                         faults=[{"tool": "search_notes", "raises": "hang", "entry": 2}]),
        "expect": {"codes": ["ok", "cancelled", "cancelled"], "executed": 2, "delivered": 3, "stop": "cancelled",
                   "coverage": "partial", "records": ["N1", "N2"]},
    },
}  # fmt: skip

CASES: dict[str, dict[str, Any]] = {**READS, **WRITTEN, **DELIVERED}
