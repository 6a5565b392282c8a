"""Lesson 00: from a request to an answer."""

NOTE = "tool-call unit"
SEARCH = '{"query":"读书会 报名","published_from":null}'
JAVA = '{"text":"Java"}'
LIMITS = {"rounds": 4, "requests": 6, "executions": 3}
LOOK = {"calls": [{"id": "call-1", "name": "search_notices", "arguments": SEARCH}]}

CASES = {
    "one question": {
        "scenario": {
            "title": "Until when can I sign up for the reading club? / 读书会报名什么时候截止？",
            "source": f"{NOTE}: a request, its result and the final answer are three different things",
            "world": "notices",
            "limits": LIMITS,
            "turns": [
                LOOK,
                {"answer": "18 September 2026; the earlier date no longer holds. / 9 月 18 日。"},
            ],
        },
        "expect": {"codes": ["ok"], "executed": 1, "delivered": 1, "stop": "answered", "coverage": "complete",
                   "records": ["D1", "D2"]},
    },
    "one good, one misspelt": {
        "scenario": {
            "title": "Two calls in one response; the second tool name is misspelt",
            "source": f"{NOTE}: a refused call gets an answer too, and nothing runs for it",
            "world": "text",
            "limits": LIMITS,
            "turns": [
                {"calls": [{"id": "a", "name": "length", "arguments": JAVA},
                           {"id": "b", "name": "uper", "arguments": JAVA}]},
                {"answer": "Java has four letters."},
            ],
        },
        "expect": {"codes": ["ok", "unknown_tool"], "executed": 1, "delivered": 2, "stop": "answered"},
    },
    "same id twice": {
        "scenario": {
            "title": "The same request arrives twice, and only one execution is allowed",
            "source": f"{NOTE}: same id twice with length(Java) and budget 1 gives 4, 4 and one execution",
            "world": "text",
            "limits": {"rounds": 4, "requests": 6, "executions": 1},
            "turns": [
                {"calls": [{"id": "1", "name": "length", "arguments": JAVA},
                           {"id": "1", "name": "length", "arguments": '{ "text": "Java" }'}]},
                {"answer": "4"},
            ],
        },
        "expect": {"codes": ["ok", "ok"], "replayed": [False, True], "executed": 1, "delivered": 2,
                   "stop": "answered", "coverage": "complete"},
    },
    "nothing asked, all claimed": {
        "scenario": {
            "title": "The model says it looked, and asked for nothing",
            "source": f"{NOTE}: 'the model said it found it' is no evidence of an execution",
            "world": "notices",
            "limits": LIMITS,
            "turns": [{"answer": "I searched the notices: sign-up closes on 20 September. / 9 月 20 日截止。"}],
        },
        "expect": {"codes": [], "executed": 0, "stop": "answered", "coverage": "unknown", "records": []},
    },
    "the tool fails": {
        "scenario": {
            "title": "The tool is entered and breaks inside",
            "source": f"{NOTE}: a failure is an outcome, spends its execution, and tells the model nothing internal",
            "world": "notices",
            "limits": LIMITS,
            "turns": [
                LOOK,
                {"answer": "I found it."},
            ],
            "faults": [{"tool": "search_notices", "entry": 1, "raises": "bug"}],
        },
        "expect": {"codes": ["internal_error"], "executed": 1, "delivered": 1, "stop": "terminal_error",
                   "coverage": "partial", "records": []},
    },
    "asks for ever": {
        "scenario": {
            "title": "The model never stops asking",
            "source": f"{NOTE}: a run ends by a limit, and a limit is never an answer",
            "world": "text",
            "limits": {"rounds": 3, "requests": 6, "executions": 3},
            "turns": [{"calls": [{"id": "1", "name": "length", "arguments": JAVA}]}],
            "when_turns_run_out": "repeat",
        },
        "expect": {"codes": ["ok", "ok", "ok"], "replayed": [False, True, True], "executed": 1, "delivered": 3,
                   "stop": "rounds_exhausted", "coverage": "partial"},
    },
    "no memory": {
        "scenario": {
            "title": "Broken on purpose: the guard that remembers ids is gone",
            "source": f"{NOTE}: without a memory of ids the same request runs again",
            "world": "text",
            "limits": LIMITS,
            "turns": [
                {"calls": [{"id": "1", "name": "length", "arguments": JAVA},
                           {"id": "1", "name": "length", "arguments": JAVA}]},
                {"answer": "4"},
            ],
            "gates": ["request_budget", "call_id", "allowlist", "arguments", "authorization", "execution_budget"],
        },
        "expect": {"codes": ["ok", "ok"], "replayed": [False, False], "executed": 2, "delivered": 2,
                   "stop": "answered", "laws": ["one_content_per_id"]},
    },
}  # fmt: skip
