"""Lesson 01: which tools may run."""

from __future__ import annotations

from typing import Any

ARTICLE = "article on checking arguments"
NOTE = "tool-call unit"
JAVA = '{"text":"Java"}'
SEARCH = '{"query":"读书会 报名","published_from":null}'


def _names(*names: Any) -> list[dict[str, Any]]:
    return [{"id": f"c{n}", "name": name, "arguments": JAVA} for n, name in enumerate(names, 1)]


def _without(gate: str, instead: str) -> list[str]:
    gates = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]
    return [instead if name == gate else name for name in gates]


LIMITS = {"rounds": 4, "requests": 12, "executions": 6}
DELETE = {"calls": [{"id": "c1", "name": "delete_notice", "arguments": '{"notice_id":"D1"}'}]}
STRAY = {"calls": [{"id": "c1", "name": "length", "arguments": JAVA},
                   {"id": "c2", "name": "search_notices", "arguments": SEARCH}]}  # fmt: skip

CASES = {
    "unknown": {
        "scenario": {
            "title": "One offered tool, one that nobody offered",
            "source": f"{NOTE}: the tool 'shell' is refused",
            "world": "text",
            "limits": LIMITS,
            "turns": [{"calls": _names("length", "shell")}, {"answer": "4"}],
        },
        "expect": {"codes": ["ok", "unknown_tool"], "executed": 1, "delivered": 2, "stop": "answered"},
    },
    "almost": {
        "scenario": {
            "title": "Almost right: misspelt, prefixed, other case, padded",
            "source": f"{ARTICLE}: a name is compared character for character; likeness is no permission",
            "world": "text",
            "limits": LIMITS,
            "turns": [{"calls": _names("lenght", "functions.length", "Length", "length ")}, {"answer": "?"}],
        },
        "expect": {"codes": ["unknown_tool"] * 4, "executed": 0, "delivered": 4, "coverage": "unknown"},
    },
    "look-alikes": {
        "scenario": {
            "title": "Names that look the same: a Cyrillic е, full width, a zero-width space",
            "source": f"{ARTICLE}: what looks equal to a reader need not be equal",
            "world": "text",
            "limits": LIMITS,
            "turns": [{"calls": _names("l\u0435ngth", "ｌｅｎｇｔｈ", "len\u200bgth")}, {"answer": "?"}],
        },
        "expect": {"codes": ["unknown_tool"] * 3, "executed": 0, "delivered": 3},
    },
    "no text": {
        "scenario": {
            "title": "Names that are no text, and names a program would find by attribute",
            "source": f"{NOTE}: a tool is found in the list that is offered and nowhere else",
            "world": "text",
            "limits": LIMITS,
            "turns": [{"calls": _names(None, 7, {"name": "length"}, "__class__", "run")}, {"answer": "?"}],
        },
        "expect": {"codes": ["unknown_tool"] * 5, "executed": 0, "delivered": 5},
    },
    "tidied": {
        "scenario": {
            "title": "Broken on purpose: the name is tidied before it is compared",
            "source": f"{ARTICLE}: do not make the call succeed by changing it",
            "world": "text",
            "limits": LIMITS,
            "turns": [{"calls": _names("functions.length", "Length", "ｌｅｎｇｔｈ")}, {"answer": "4"}],
            "gates": _without("allowlist", "allowlist_tidied"),
        },
        "expect": {"codes": ["ok", "ok", "ok"], "executed": 3, "delivered": 3, "laws": ["started_as_requested"]},
    },
    "delete": {
        "scenario": {
            "title": "The model asks to delete a notice; no such tool is offered",
            "source": f"{ARTICLE}: the tool delete_notices is refused and the data never entered",
            "world": "notices",
            "limits": LIMITS,
            "turns": [DELETE, {"answer": "There is no tool to delete a notice with."}],
        },
        "expect": {"codes": ["unknown_tool"], "executed": 0, "records": [], "stop": "answered"},
    },
    "delete, nearest": {
        "scenario": {
            "title": "Broken on purpose: the nearest name is taken, and delete becomes read",
            "source": f"{ARTICLE}: the nearest name is another request than the one the model made",
            "world": "notices",
            "limits": LIMITS,
            "turns": [DELETE, {"answer": "The notice is deleted."}],
            "gates": _without("allowlist", "allowlist_nearest"),
        },
        "expect": {"codes": ["ok"], "executed": 1, "records": ["D1"], "stop": "answered", "coverage": "complete",
                   "laws": ["started_as_requested"]},
    },
    "narrow": {
        "scenario": {
            "title": "A letter-counting assistant whose model also searches the notices: only text is offered",
            "source": f"{NOTE}: offer what the task needs",
            "world": "text",
            "limits": LIMITS,
            "turns": [STRAY, {"answer": "4"}],
        },
        "expect": {"codes": ["ok", "unknown_tool"], "executed": 1, "records": []},
    },
    "wide": {
        "scenario": {
            "title": "The same calls, with every world's tools offered",
            "source": f"{NOTE}: what is offered can be called, whatever the task was",
            "world": ["text", "notices", "merchants"],
            "limits": LIMITS,
            "turns": [STRAY, {"answer": "4"}],
        },
        "expect": {"codes": ["ok", "ok"], "executed": 2, "records": ["D1", "D2"]},
    },
    "wide, not permitted": {
        "scenario": {
            "title": "Everything offered, to somebody who may not search",
            "source": f"{ARTICLE}: the allowlist says which tools exist, permission says who may use them",
            "world": ["text", "notices", "merchants"],
            "principal": {"subject": "u-alice", "tenant": "A", "permissions": []},
            "limits": LIMITS,
            "turns": [STRAY, {"answer": "4"}],
        },
        "expect": {"codes": ["ok", "forbidden"], "executed": 1, "records": []},
    },
}  # fmt: skip
