"""Lesson 03: is this the same request again?"""

from __future__ import annotations

from typing import Any

NOTE = "tool-call unit"
ARTICLE = "article on checking arguments"
JSON = "RFC 8259"
SAME = f"{NOTE}, special cases: the same id with the same content is a replay, with other content a conflict"
ORDERS = f"{NOTE}, assignment 6: the same id with A, then B, then A again"
ASKER = f"{NOTE}: a result belongs to whoever asked for it"
ORDER = ["request_budget", "call_id", "allowlist", "arguments", "authorization", "replay", "execution_budget"]
SWAPPED = ["request_budget", "call_id", "allowlist", "arguments", "replay", "authorization", "execution_budget"]
LIMITS = {"rounds": 4, "requests": 8, "executions": 3}
SEARCH = '{"query":"读书会 报名","published_from":null}'
BOB = {"subject": "u-bob", "tenant": "B"}
READS_ONLY = {"permissions": ["notices:read"]}
FOUND = "18 September 2026; the earlier date no longer holds. / 9 月 18 日。"


def _length(call_id: str, text: str) -> dict[str, Any]:
    return {"id": call_id, "name": "length", "arguments": f'{{"text":"{text}"}}'}


def _average(call_id: str, values: str) -> dict[str, Any]:
    return {"id": call_id, "name": "average", "arguments": f'{{"values":[{values}]}}'}


def _search(call_id: str = "c1", text: str = SEARCH) -> dict[str, Any]:
    return {"id": call_id, "name": "search_notices", "arguments": text}


def _rounds(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    """One call a round."""
    return [{"calls": [call]} for call in calls]


def _then(who: dict[str, Any], *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """Alice's search, then these calls of somebody who is in force from there on, one a round."""
    first, *later = _rounds(*calls)
    return [*_rounds(_search()), first | {"principal": who}, *later]


def _case(title: str, source: str, turns: list[dict[str, Any]], expect: dict[str, Any], *, world: str = "text",
          answer: str = "4", **more: Any) -> dict[str, Any]:  # fmt: skip
    told = {"title": title, "source": source, "world": world, "limits": LIMITS}
    ends = {"delivered": len(expect["codes"]), "stop": "answered"}
    return {"scenario": told | {"turns": [*turns, {"answer": answer}]} | more, "expect": ends | expect}


def _gates(instead: str | None) -> list[str]:
    return [name for gate in ORDER if (name := instead if gate == "replay" else gate)]


JAVA, SQL = _length("1", "Java"), _length("1", "SQL")

CASES = {
    # 1. First, again, conflict.
    "three": _case(
        "Three requests under one id: Java, Java again, SQL", SAME, [{"calls": [JAVA, JAVA, SQL]}],
        {"codes": ["ok", "ok", "id_conflict"], "replayed": [False, True, False], "executed": 1,
         "fields": [None, None, "id"]},
        answer="Java has 4 letters. / Java 有 4 个字母。",
    ),
    "A, B, A": _case(
        "Under one id: Java, then SQL, then Java again", ORDERS, _rounds(JAVA, SQL, JAVA),
        {"codes": ["ok", "id_conflict", "ok"], "replayed": [False, False, True], "executed": 1},
        answer="Java has 4 letters. / Java 有 4 个字母。",
    ),
    "a new id": _case(
        "After a conflict the model asks again, under an id of its own", SAME,
        _rounds(JAVA, SQL, _length("2", "SQL")),
        {"codes": ["ok", "id_conflict", "ok"], "replayed": [False, False, False], "executed": 2,
         "coverage": "complete"},
        answer="Java has 4 letters, SQL has 3. / Java 4 个字母，SQL 3 个。",
    ),
    "two ids": _case(
        "Two ids with equal arguments", f"{NOTE}, small questions: different ids with equal arguments",
        _rounds(JAVA, _length("2", "Java")),
        {"codes": ["ok", "ok"], "replayed": [False, False], "executed": 2, "coverage": "complete"},
    ),
    # 2. What the same content is.
    "spelling": _case(
        "One search in three spellings: white space, key order, escapes, a padded query",
        f"{JSON} sections 2, 4 and 7: neither white space nor key order nor escapes are content",
        [{"calls": [
            _search(),
            _search(text='{ "published_from": null,\n  "query": "\\u8bfb\\u4e66\\u4f1a 报名" }'),
            _search(text='{"query":"  读书会 报名 ","published_from":null}'),
        ]}],
        {"codes": ["ok"] * 3, "replayed": [False, True, True], "executed": 1, "records": ["D1", "D2"],
         "coverage": "complete"},
        world="notices", answer=FOUND,
    ),
    "1 and 1.0": _case(
        "Under one id: the average of 1, of 1.0, of true, of the text 1",
        f"{NOTE}: types are kept apart; {JSON} section 6 leaves open whether 1 and 1.0 are one number",
        [{"calls": [_average("1", value) for value in ("1", "1.0", "true", '"1"')]}],
        {"codes": ["ok", "id_conflict", "invalid_arguments", "invalid_arguments"],
         "replayed": [False] * 4, "executed": 1},
        answer="1",
    ),
    "1 and 1.0, two ids": _case(
        "The average of 1 and the average of 1.0, each under an id of its own",
        f"{NOTE}: types are kept apart", [{"calls": [_average("1", "1"), _average("2", "1.0")]}],
        {"codes": ["ok", "ok"], "replayed": [False, False], "executed": 2, "coverage": "complete"},
        answer="1",
    ),
    # 3. Who owns an id.
    "refused first": _case(
        "An id is used by two refused calls before it is used by a good one",
        f"{NOTE}: a refused call was never started and owns nothing",
        [{"calls": [JAVA | {"name": "lenght"}, JAVA | {"arguments": '{"txt":"Java"}'}, JAVA, JAVA]}],
        {"codes": ["unknown_tool", "invalid_arguments", "ok", "ok"], "replayed": [False, False, False, True],
         "executed": 1},
    ),
    "failed first": _case(
        "A search fails for a moment; another one comes under its id, then the same again, twice",
        f"{NOTE}: a failed read may run again under its id, and that run is not free",
        [{"calls": [_search(), _search(text='{"query":"sign-up","published_from":null}')]},
         *_rounds(_search(), _search())],
        {"codes": ["dependency_temporary", "id_conflict", "ok", "ok"], "replayed": [False, False, False, True],
         "executed": 2, "records": ["D1", "D2"]},
        world="notices", answer=FOUND, faults=[{"tool": "search_notices", "entry": 1, "raises": "temporary"}],
    ),
    # 4. Servers that number calls afresh in each response.
    "numbered afresh": _case(
        "A server that begins again with id 1 in each response",
        f"{NOTE}: some servers reuse ids in each response", _rounds(JAVA, SQL),
        {"codes": ["ok", "id_conflict"], "replayed": [False, False], "executed": 1},
        answer="Java has 4 letters. / Java 有 4 个字母。",
    ),
    "numbered afresh, set": _case(
        "The same server, and ids are kept for one response",
        f"{NOTE}: how long an id lives is a setting of the host", _rounds(JAVA, SQL),
        {"codes": ["ok", "ok"], "replayed": [False, False], "executed": 2, "coverage": "complete"},
        answer="Java has 4 letters, SQL has 3. / Java 4 个字母，SQL 3 个。", id_scope="response",
    ),
    "sent again": _case(
        "Another server sends the same call once more in the next response", SAME, _rounds(JAVA, JAVA),
        {"codes": ["ok", "ok"], "replayed": [False, True], "executed": 1, "coverage": "complete"},
    ),
    "sent again, set": _case(
        "The same call once more in the next response, and ids are kept for one response",
        f"{NOTE}: how long an id lives is a setting of the host", _rounds(JAVA, JAVA),
        {"codes": ["ok", "ok"], "replayed": [False, False], "executed": 2, "coverage": "complete"},
        id_scope="response",
    ),
    # 5. Who asks.
    "another asks": _case(
        "The account changes in mid-run: Bob asks under Alice's id, then under his own", ASKER,
        _then(BOB, _search(), _search("c2")),
        {"codes": ["ok", "id_conflict", "ok"], "replayed": [False, False, False], "executed": 2,
         "records": ["D1", "D2", "D3"]},
        world="notices", answer="There is a contact list. / 有一份联系名单。",
    ),
    "revoked": _case(
        "Alice may search; then she may not, and the same call comes again",
        f"{NOTE}: permission is judged before memory", _then(READS_ONLY, _search()),
        {"codes": ["ok", "forbidden"], "replayed": [False, False], "executed": 1, "records": ["D1", "D2"],
         "coverage": "partial"},
        world="notices", answer="The search is no longer permitted. / 已无搜索权限。",
    ),
    "revoked, swapped": _case(
        "Memory is asked before permission (broken on purpose)",
        f"{NOTE}: a cached result must not outlive the permission", _then(READS_ONLY, _search()),
        {"codes": ["ok", "ok"], "replayed": [False, True], "executed": 1, "records": ["D1", "D2"],
         "laws": ["permission_in_force"]},
        world="notices", answer=FOUND, gates=SWAPPED,
    ),
    # 6. Memories that do not hold.
    "nothing remembered": _case(
        "Nothing is remembered (broken on purpose)", SAME, [{"calls": [JAVA, JAVA, SQL]}],
        {"codes": ["ok"] * 3, "replayed": [False] * 3, "executed": 3, "laws": ["one_content_per_id"]},
        gates=_gates(None),
    ),
    "by id alone": _case(
        "Found by id alone (broken on purpose): the old answer goes to another question", SAME,
        [{"calls": [JAVA, SQL]}],
        {"codes": ["ok", "ok"], "replayed": [False, True], "executed": 1, "laws": ["faithful_replay"]},
        answer="Java has 4 letters, and so has SQL. / Java 和 SQL 都有 4 个字母。", gates=_gates("replay_id"),
    ),
    "whoever asks": _case(
        "Whoever asks (broken on purpose): Bob asks under Alice's id", ASKER, _then(BOB, _search()),
        {"codes": ["ok", "ok"], "replayed": [False, True], "executed": 1, "records": ["D1", "D2"],
         "laws": ["faithful_replay"]},
        world="notices", answer=FOUND, gates=_gates("replay_anyone"),
    ),
    "by content alone": _case(
        "Found by arguments alone (broken on purpose): Bob asks the same under an id of his own",
        f"{ASKER}; another id is another request", _then(BOB, _search("c2")),
        {"codes": ["ok", "ok"], "replayed": [False, True], "executed": 1, "records": ["D1", "D2"],
         "laws": ["faithful_replay"]},
        world="notices", answer=FOUND, gates=_gates("replay_content"),
    ),
    "by content, after a failure": _case(
        "Found by arguments alone (broken on purpose): a new try gets the old failure",
        f"{NOTE}: another id is another request", _rounds(_search("c1"), _search("c2")),
        {"codes": ["dependency_temporary"] * 2, "replayed": [False, True], "executed": 1, "records": [],
         "coverage": "partial", "laws": ["faithful_replay"]},
        world="notices", answer="The search does not answer. / 搜索没有回应。", gates=_gates("replay_content"),
        faults=[{"tool": "search_notices", "entry": 1, "raises": "temporary"}],
    ),
}  # fmt: skip
