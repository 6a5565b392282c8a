"""Lesson 04: whose data may this read?"""

from __future__ import annotations

from typing import Any

ARTICLE = "article on checking arguments"
NOTE = "tool-call unit"
HIDDEN = "RFC 9110 section 15.5.4: a server may answer 'not found' to hide that something exists"
OBJECT = "OWASP API1:2023, broken object level authorization"
CLAIM = "CWE-639: whose data it is hangs on a key that the caller may choose"
ORDER = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]

BOB = {"subject": "u-bob", "tenant": "B"}
DEADLINE = "18 September 2026; the earlier date no longer holds. / 9 月 18 日。"
SEARCH = ("search_notices", '{"query":"读书会 报名","published_from":null}')
LIST = ("search_notices", '{"query":"contact list","published_from":null}')
FOR_BOB = ("search_notices", '{"user_id":"u-bob","query":"读书会 报名","published_from":null}')
FOR_ALICE = ("search_notices", '{"user_id":"u-alice","query":"读书会 报名","published_from":null}')
MERCHANTS = [("get_merchant", f'{{"merchantId":{number}}}') for number in (1001, 1002, 9999)]

NOT_FOUND = "not_found_or_not_accessible"
SERVED = {"stop": "answered", "coverage": "complete"}
REFUSED = {"executed": 0, "delivered": 1, "stop": "answered", "coverage": "unknown", "records": []}


def _read(*notices: str) -> list[tuple[str, str]]:
    return [("read_notice", f'{{"notice_id":"{notice}"}}') for notice in notices]


def _calls(calls: list[tuple[str, str]], first: int = 1) -> list[dict[str, Any]]:
    return [{"id": f"c{n}", "name": name, "arguments": text} for n, (name, text) in enumerate(calls, first)]


def _run(title: str, source: str, calls: list[tuple[str, str]], *, world: str = "notices",
         answer: str = "That is all I can see. / 能看到的就这些。", **more: Any) -> dict[str, Any]:  # fmt: skip
    """A run whose model makes all its calls in one response, then answers."""
    limits = {"rounds": 4, "requests": 6, "executions": 6}
    turns = [{"calls": _calls(calls)}, {"answer": answer}]
    return {"title": title, "source": source, "world": world, "limits": limits, "turns": turns} | more


def _revoked(title: str, source: str, **more: Any) -> dict[str, Any]:
    """Alice reads D1; then her permission to read is taken away; then the model reads D2 for her."""
    now = {"subject": "u-alice", "tenant": "A", "permissions": ["notices:search"]}
    turns = [{"calls": _calls(_read("D1"))}, {"calls": _calls(_read("D2"), 2), "principal": now},
             {"answer": "I read the first notice. / 我看了第一条通知。"}]  # fmt: skip
    return _run(title, source, [], turns=turns, **more)


NOTICES = {
    "alice": {
        "scenario": _run("Alice searches for the sign-up / Alice 查报名", f"{NOTE}: each user finds their own notices",
                         [SEARCH], answer=DEADLINE),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["D1", "D2"]},
    },
    "bob": {
        "scenario": _run("Bob makes the same search / Bob 查报名", f"{NOTE}: each user finds their own notices",
                         [SEARCH], principal=BOB, answer="There is the volunteers' list. / 有志愿者名单。"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["D3"]},
    },
    "three reads": {
        "scenario": _run("Alice reads her D2, Bob's D3, and D9, which does not exist", HIDDEN,
                         _read("D2", "D3", "D9")),
        "expect": SERVED | {"codes": ["ok", NOT_FOUND, NOT_FOUND], "executed": 3, "delivered": 3, "records": ["D2"]},
    },
    "forbidden": {
        "scenario": _run("Alice, who may only search, reads D3", f"{NOTE}: permission is judged before the tool runs",
                         _read("D3"), principal={"permissions": ["notices:search"]}),
        "expect": REFUSED | {"codes": ["forbidden"]},
    },
    "nobody": {
        "scenario": _run("Nobody is signed in, and a notice is read", "CWE-306: no reading without knowing who asks",
                         _read("D3"), principal={"subject": ""}),
        "expect": REFUSED | {"codes": ["forbidden"]},
    },
    "not found": {
        "scenario": _run("Alice, who may read, reads D3", HIDDEN, _read("D3")),
        "expect": SERVED | {"codes": [NOT_FOUND], "executed": 1, "delivered": 1, "records": []},
    },
    "empty": {
        "scenario": _run("Alice searches for words that only D3 holds", f"{ARTICLE}: an empty list is a result",
                         [LIST], answer="None of your notices mentions a contact list. / 没有相关通知。"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": []},
    },
    "revoked": {
        "scenario": _revoked("Alice may read in round 1; from round 2 on she may not",
                             f"{NOTE}: permission is the one in force now, not when the tool was offered"),
        "expect": {"codes": ["ok", "forbidden"], "executed": 1, "delivered": 2, "stop": "answered",
                   "coverage": "partial", "records": ["D1"]},
    },
    "revoked, as offered": {
        "scenario": _revoked("Permission is taken as it was when the tools were offered (broken on purpose)",
                             "CWE-367: what was true at the check need not be true at the use",
                             gates=["authorization_offered" if name == "authorization" else name for name in ORDER]),
        "expect": SERVED | {"codes": ["ok", "ok"], "executed": 2, "delivered": 2, "records": ["D1", "D2"],
                            "laws": ["permission_in_force"]},
    },
}  # fmt: skip
"""The guard and the owner filter in place; in the last one the guard is broken."""

LEAKS = {
    "late": {
        "scenario": _run("The page filters, after the model has read everything (broken on purpose)", OBJECT,
                         [SEARCH], world="notices_late", answer=DEADLINE),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["D1", "D2", "D3"]},
    },
    "after": {
        "scenario": _run("The tool reads everything, then drops what is not hers (broken on purpose)",
                         f"{NOTE}: ownership is part of the query",
                         [SEARCH, *_read("D3", "D9")], world="notices_after", answer=DEADLINE),
        "expect": SERVED | {"codes": ["ok", NOT_FOUND, NOT_FOUND], "executed": 3, "delivered": 3,
                            "records": ["D1", "D2", "D3"]},
    },
    "told": {
        "scenario": _run("'Not yours' is told apart from 'not there' (broken on purpose)",
                         "CWE-204: an answer that differs tells what it should hide",
                         _read("D2", "D3", "D9"), world="notices_told"),
        "expect": SERVED | {"codes": ["ok", "ok", NOT_FOUND], "executed": 3, "delivered": 3,
                            "records": ["D2", "D3"]},
    },
}  # fmt: skip
"""The guard in place and the owner filter in the wrong one."""

CLAIMS = {
    "smuggled": {
        "scenario": _run("Alice's model adds user_id: u-bob to a search", f"{ARTICLE}: who asks is no argument",
                         [FOR_BOB]),
        "expect": REFUSED | {"codes": ["invalid_arguments"], "fields": ["user_id"]},
    },
    "smuggled tenant": {
        "scenario": _run("Alice's model adds tenant: B to a merchant query", f"{ARTICLE}: who asks is no argument",
                         [("get_merchant", '{"merchantId":1002,"tenant":"B"}')], world="merchants"),
        "expect": REFUSED | {"codes": ["invalid_arguments"], "fields": ["tenant"]},
    },
    "claimed": {
        "scenario": _run("The tool takes user_id, and Alice's model writes u-bob (broken on purpose)", CLAIM,
                         [FOR_BOB], world="notices_claimed"),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["D3"]},
    },
    "claimed, honest": {
        "scenario": _run("The tool takes user_id, and Alice's model writes u-alice (broken on purpose)", CLAIM,
                         [FOR_ALICE], world="notices_claimed", answer=DEADLINE),
        "expect": SERVED | {"codes": ["ok"], "executed": 1, "delivered": 1, "records": ["D1", "D2"]},
    },
    "tenant A": {
        "scenario": _run("Alice of tenant A asks for merchants 1001, 1002 and 9999",
                         f"{NOTE}: 1002 of another tenant and 9999 are answered identically",
                         MERCHANTS, world="merchants"),
        "expect": SERVED | {"codes": ["ok", NOT_FOUND, NOT_FOUND], "executed": 3, "delivered": 3,
                            "records": ["1001"]},
    },
    "tenant B": {
        "scenario": _run("Bob of tenant B asks for the same three", f"{NOTE}: blank stays blank, nothing invents it",
                         MERCHANTS, world="merchants", principal=BOB,
                         answer="1002 is yours; it has no name and no hours on record. / 1002 没有名称和营业时间。"),
        "expect": SERVED | {"codes": [NOT_FOUND, "ok", NOT_FOUND], "executed": 3, "delivered": 3,
                            "records": ["1002"]},
    },
    "tenantless": {
        "scenario": _run("A merchant is found by its id alone, and Bob of tenant B asks (broken on purpose)", OBJECT,
                         MERCHANTS, world="merchants_tenantless", principal=BOB),
        "expect": SERVED | {"codes": ["ok", "ok", NOT_FOUND], "executed": 3, "delivered": 3,
                            "records": ["1001", "1002"]},
    },
}  # fmt: skip
"""Identity that came with the call, and the same for tenants."""

CASES: dict[str, dict[str, Any]] = NOTICES | LEAKS | CLAIMS
