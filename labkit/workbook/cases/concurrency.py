"""Lesson 11: two at once: what may overlap?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
SEVERAL = f"{NOTE}, assignment 9: several tools in one round, which of them may overlap"
BUDGET = f"{NOTE}, assignment 8: the budget changes between permission and start"
TWICE = f"{NOTE}: two results, one execution"
ALICE = {"subject": "u-alice", "tenant": "A", "permissions": ["notes:read", "plans:write"]}
LATE = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget_late"]
TEXTS = {1: "周六两点。 Saturday, 2 p.m.", 2: "改到三点。 Moved to 3 p.m."}


def _read(call_id: str, note: str) -> dict[str, Any]:
    return {"id": call_id, "name": "read_note", "arguments": f'{{"note_id":"{note}"}}'}


def _revise(call_id: str, version: int, text: int) -> dict[str, Any]:
    written = f'{{"plan_id":"P1","expected_version":{version},"text":"{TEXTS[text]}"}}'
    return {"id": call_id, "name": "revise_plan", "arguments": written}


def _case(title: str, source: str, *rounds: list[dict[str, Any]], codes: list[str], records: list[str],
          executed: int = 2, stop: str = "answered", coverage: str = "complete", laws: tuple[str, ...] = (),
          replayed: tuple[bool, ...] = (False, False), **more: Any) -> dict[str, Any]:  # fmt: skip
    turns = [*({"calls": calls} for calls in rounds), {"answer": "That is done. / 好了。"}]
    return {
        "scenario": {"title": title, "source": source, "world": "notes", "principal": ALICE, "turns": turns} | more,
        "expect": {"codes": codes, "executed": executed, "delivered": 2, "stop": stop, "coverage": coverage,
                   "records": records, "replayed": list(replayed), "laws": list(laws)},
    }  # fmt: skip


ONE: dict[str, Any] = {"limits": {"rounds": 3, "requests": 6, "executions": 1}}

CASES = {
    # 1. The last execution: a second call comes while one is left.
    "looked late": _case(
        "Broken on purpose: the budget is looked at after the entry; two reads, one execution", BUDGET,
        [_read("c1", "N1"), _read("c2", "N2")],
        codes=["ok", "ok"], records=["N1", "N2"], laws=("within_budget",), gates=LATE, **ONE,
    ),
    "last execution": _case(
        "Reserved before start: two reads, one execution", BUDGET, [_read("c1", "N1"), _read("c2", "N2")],
        codes=["ok", "budget_exhausted"], records=["N1"], executed=1, coverage="partial", **ONE,
    ),
    "twin": _case(
        "One call, twice: the same id and content, one execution", TWICE, [_read("c1", "N1"), _read("c1", "N1")],
        codes=["ok", "ok"], records=["N1"], executed=1, replayed=(False, True), **ONE,
    ),
    # 2. Two calls in one response, or one after the other.
    "reads": _case(
        "Two reads in one response", SEVERAL, [_read("c1", "N1"), _read("c2", "N2")],
        codes=["ok", "ok"], records=["N1", "N2"],
    ),
    "read and write": _case(
        "A read and a write that does not touch what is read", SEVERAL, [_read("c1", "N1"), _revise("c2", 1, 1)],
        codes=["ok", "ok"], records=["N1", "P1"],
    ),
    "two writes": _case(
        "Two writes: both expect version 1", SEVERAL, [_revise("c1", 1, 1), _revise("c2", 1, 2)],
        codes=["ok", "needs_user"], records=["P1"], stop="needs_user", coverage="partial",
    ),
    "chained": _case(
        "Chained writes: the second expects what the first will write", SEVERAL,
        [_revise("c1", 1, 1), _revise("c2", 2, 2)], codes=["ok", "ok"], records=["P1"],
    ),
    "chained, turned": _case(
        "Turned round: the write that expects version 2 comes first", SEVERAL,
        [_revise("c2", 2, 2), _revise("c1", 1, 1)],
        codes=["needs_user", "ok"], records=["P1"], stop="needs_user", coverage="partial",
    ),
    "two rounds": _case(
        "Two rounds: the model reads version 2 before it writes on", SEVERAL,
        [_revise("c1", 1, 1)], [_revise("c2", 2, 2)], codes=["ok", "ok"], records=["P1"],
    ),
}  # fmt: skip
