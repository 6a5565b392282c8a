"""Lesson 02: the JSON parses: is it a request that can be served?"""

from __future__ import annotations

from typing import Any

ARTICLE = "article on checking arguments"
NOTE = "tool-call unit"
JSON = "RFC 8259"
UNCHANGED = f"{ARTICLE}: do not make the call succeed by changing it"
ORDER = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]
DEEP = '{"query":' + "[" * 64 + "]" * 64 + ',"published_from":null}'
LONG = '{"query":"' + "读" * 4_096 + '","published_from":null}'
HUNDRED = '{"query":"' + " " * 9 + "w" * 100 + '","published_from":null}'


def _run(title: str, source: str, *texts: Any, tool: str = "search_notices", world: str = "notices",
         answer: str = "I could not look that up.", **more: Any) -> dict[str, Any]:  # fmt: skip
    """A run whose model writes one text a round, then answers."""
    turns = [{"calls": [{"id": f"c{n}", "name": tool, "arguments": text}]} for n, text in enumerate(texts, 1)]
    limits = {"rounds": 4, "requests": 6, "executions": 3}
    told = {"title": title, "source": source, "world": world, "limits": limits}
    return told | {"turns": [*turns, {"answer": answer}]} | more


def _refused(title: str, source: str, text: Any, field: str | None = None, **more: Any) -> dict[str, Any]:
    return {"scenario": _run(title, source, text, **more),
            "expect": {"codes": ["invalid_arguments"], "fields": [field], "executed": 0, "delivered": 1,
                       "stop": "answered", "coverage": "unknown", "records": []}}  # fmt: skip


def _served(title: str, source: str, text: Any, records: list[str], **more: Any) -> dict[str, Any]:
    more = {"answer": "This is what I found. / 找到的内容如上。"} | more
    return {"scenario": _run(title, source, text, **more),
            "expect": {"codes": ["ok"], "fields": [None], "executed": 1, "delivered": 1, "stop": "answered",
                       "coverage": "complete", "records": records}}  # fmt: skip


def _gates(instead: str) -> list[str]:
    return [instead if name == "arguments" else name for name in ORDER]


GOOD = '{"query":"读书会 报名","published_from":"2026-09-15"}'
DEADLINE = '{"query":"读书会 报名","published_from":"2026-09-18"}'
TWICE = '{"query":"报名","published_from":"2026-09-15","published_from":null}'
NO_DAY = '{"query":"读书会 报名"}'
FEBRUARY = '{"query":"sign-up","published_from":"2026-02-30"}'
NAN = '{"values":[1,NaN]}'
UNSEEN = '{"query":"\\u200b\\u200b","published_from":null}'
ZERO = '{"query":"报名","published_from":"0"}'

TEXTS = {
    "good": _served("A text that can be served", f"{ARTICLE}: both fields, one day or null", GOOD, ["D2"]),
    "cut": _refused("Cut off inside a text", f"{ARTICLE}: incomplete JSON is never completed",
                    '{"query":"读书会 报'),
    "empty": _refused("Empty: no text at all", f"{ARTICLE}: empty text is not an empty object", ""),
    "trailing": _refused("A friendly word after the object", f"{JSON}: one value and nothing after it",
                         GOOD + " Thanks!"),
    "fence": _refused("Wrapped in a code fence", f"{ARTICLE}: nothing is unwrapped", f"```json\n{GOOD}\n```"),
    "quotes": _refused("Single quotes, as Python prints a dict", f"{JSON} section 7: texts have double quotes",
                       "{'query':'报名','published_from':None}"),
    "twice": _refused("A key occurs twice", f"{JSON} section 4: readers disagree about which one counts", TWICE,
                      "published_from"),
    "escaped twice": _refused("A key occurs twice, once in disguise",
                              f"{JSON} section 7: \\u0071 is another spelling of q",
                              '{"query":"报名","\\u0071uery":"*","published_from":null}', "query"),
    "nan": _refused("NaN among the numbers", f"{JSON} section 6: NaN and Infinity are no JSON", NAN,
                    tool="average", world="text"),
    "overflow": _refused("A number too large to be one", f"{ARTICLE}: what overflows to infinity is no number",
                         '{"values":[1e999]}', "values", tool="average", world="text"),
    "half pair": _refused("Half a character", "RFC 7493: no half surrogate pairs",
                          '{"query":"\\ud83d","published_from":null}'),
    "nul": _refused("The character U+0000 inside a text", f"{ARTICLE}: control characters are no words",
                    '{"query":"报名\\u0000","published_from":null}', "query"),
    "deep": _refused("Sixty-five levels of nesting", f"{JSON} section 9: a reader may limit depth", DEEP, "query"),
    "long": _refused("More than 4,096 characters", f"{JSON} section 9: a reader may limit size", LONG),
    "encoded twice": _refused("JSON inside a JSON text", f"{ARTICLE}: nothing is decoded a second time",
                              '"{\\"query\\":\\"报名\\",\\"published_from\\":null}"'),
    "list": _refused("A list instead of an object", f"{ARTICLE}: arguments are an object", f"[{GOOD}]"),
    "null": _refused("The word null", f"{ARTICLE}: null is not an empty object", "null", tool="list_tags"),
    "no text": _refused("A ready object, no text", f"{ARTICLE}: arguments arrive as text",
                        {"query": "报名", "published_from": None}),
}  # fmt: skip
"""Whether the text is one JSON object; all but the first stop before the tool's own model is asked."""

FIELDS = {
    "missing": _refused("published_from is left out", f"{ARTICLE}: a missing field is not null", NO_DAY,
                        "published_from"),
    "both missing": _refused("An empty object for a search", f"{ARTICLE}: both fields are required", "{}", "query"),
    "user": _refused("The model adds user_id", f"{ARTICLE}: who asks is no argument",
                     '{"query":"报名","published_from":null,"user_id":"u-bob"}', "user_id"),
    "number": _refused("A number where words belong", f"{ARTICLE}: types are strict, 7 is not '7'",
                       '{"query":7,"published_from":null}', "query"),
    "spaces": _refused("A query of nothing but spaces", f"{ARTICLE}: blank after trimming is blank",
                       '{"query":"   ","published_from":null}', "query"),
    "unseen": _refused("A query of zero-width spaces", f"{ARTICLE}: blank to a reader is blank", UNSEEN, "query"),
    "101": _refused("A query of 101 letters", f"{ARTICLE}: 1 to 100 characters after trimming",
                    '{"query":"' + "w" * 101 + '","published_from":null}', "query"),
    "100": _served("A query of 100 letters and nine spaces", f"{ARTICLE}: trimmed first, then measured", HUNDRED, []),
    "february": _refused("30 February", f"{ARTICLE}: no such day, and no nearest one", FEBRUARY, "published_from"),
    "compact": _refused("A day without hyphens", f"{ARTICLE}: YYYY-MM-DD and no other form",
                        '{"query":"报名","published_from":"20260915"}', "published_from"),
    "week": _refused("A day by its week", f"{ARTICLE}: YYYY-MM-DD and no other form",
                     '{"query":"报名","published_from":"2026-W38-2"}', "published_from"),
    "time": _refused("A day with a time", f"{ARTICLE}: YYYY-MM-DD and no other form",
                     '{"query":"报名","published_from":"2026-09-15T00:00:00Z"}', "published_from"),
    "zero": _refused("The text 0 for a day", f"{ARTICLE}: YYYY-MM-DD and no other form", ZERO, "published_from"),
    "empty day": _refused("An empty text for null", f"{ARTICLE}: empty text is not null",
                          '{"query":"报名","published_from":""}', "published_from"),
    "tags": _served("list_tags takes exactly {}", f"{ARTICLE}: a tool without arguments", "{}", [], tool="list_tags"),
    "tags and more": _refused("list_tags with an argument nobody declared", f"{ARTICLE}: no extra fields",
                              '{"all":true}', "all", tool="list_tags"),
    "text id": _refused("A number written as text", f"{NOTE}: merchantId is an integer, \"1001\" is none",
                        '{"merchantId":"1001"}', "merchantId", tool="get_merchant", world="merchants"),
    "true id": _refused("true for 1", f"{NOTE}: true is no integer", '{"merchantId":true}', "merchantId",
                        tool="get_merchant", world="merchants"),
    "float id": _refused("1001.0 for 1001", f"{NOTE}: a float is no integer", '{"merchantId":1001.0}',
                         "merchantId", tool="get_merchant", world="merchants"),
    "id zero": _refused("The id zero", f"{NOTE}: an id counts from 1", '{"merchantId":0}', "merchantId",
                        tool="get_merchant", world="merchants"),
}  # fmt: skip
"""Whether the object is what the tool takes."""

CASES = TEXTS | FIELDS | {
    "alone: twice": _served("Two days, the last wins (strict pydantic alone)", f"{JSON} section 4", TWICE,
                            ["D1", "D2"], gates=_gates("arguments_pydantic")),
    "alone: nan": {
        "scenario": _run("NaN reaches the tool, which breaks (strict pydantic alone)", f"{JSON} section 6", NAN,
                         tool="average", world="text", gates=_gates("arguments_pydantic")),
        "expect": {"codes": ["internal_error"], "executed": 1, "stop": "terminal_error", "coverage": "partial"},
    },
    "alone: unseen": _served("An invisible query finds nothing, and says ok (strict pydantic alone)",
                             f"{ARTICLE}: blank to a reader is blank", UNSEEN, [],
                             gates=_gates("arguments_pydantic")),
    "alone: zero": _served("0 is the first of January 1970 (strict pydantic alone)",
                           f"{ARTICLE}: YYYY-MM-DD and no other form", ZERO, ["D1", "D2"],
                           gates=_gates("arguments_pydantic")),
    "repaired: missing": _served(
        "The missing day becomes null (changed until it passes)", UNCHANGED,
        NO_DAY, ["D1", "D2"], gates=_gates("arguments_repaired"),
        answer="Sign-up closes on 20 September. / 9 月 20 日。"),
    "repaired: february": _served(
        "30 February becomes the 28th (changed until it passes)", UNCHANGED,
        FEBRUARY, ["D1", "D2"], gates=_gates("arguments_repaired")),
    "repaired: empty day": _served(
        "An empty text becomes null (changed until it passes)", UNCHANGED,
        '{"query":"报名","published_from":""}', ["D1", "D2"], gates=_gates("arguments_repaired")),
    "mended by the model": {
        "scenario": _run("The model reads the refusal and writes the field itself",
                         f"{ARTICLE}: say which field, and why",
                         NO_DAY, GOOD, answer="18 September 2026. / 9 月 18 日。"),
        "expect": {"codes": ["invalid_arguments", "ok"], "fields": ["published_from", None], "executed": 1,
                   "stop": "answered", "coverage": "complete", "records": ["D2"]},
    },
    "wrong question": _served(
        "Valid, served, and the wrong question: the sign-up deadline as day of publication",
        f"{ARTICLE}: a valid request may still not be the user's", DEADLINE, [],
        answer="There is no notice about the reading club. / 没有读书会的通知。"),
    "condition kept": _served(
        "The model asks for the day that the user chose", f"{ARTICLE}: compare with what the user set",
        GOOD, ["D2"], conditions=[{"tool": "search_notices", "field": "published_from", "value": "2026-09-15"}]),
    "condition broken": {
        "scenario": _run("The model asks for another day than the user chose",
                         f"{ARTICLE}: compare with what the user set", DEADLINE,
                         GOOD, answer="18 September 2026. / 9 月 18 日。",
                         conditions=[{"tool": "search_notices", "field": "published_from", "value": "2026-09-15"}]),
        "expect": {"codes": ["invalid_arguments", "ok"], "fields": ["published_from", None], "executed": 1,
                   "stop": "answered", "coverage": "complete", "records": ["D2"]},
    },
}  # fmt: skip
