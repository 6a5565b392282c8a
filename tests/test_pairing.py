"""Each result that is not the true one of its request is named, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from helpers import ALICE, Entered, ask, before, change, drop, guard, hostile, played, raising, rebuilt, says, tool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit import Call, Host, Message, Mispairing, NeedsUser, Outcome, Run, drive, mispaired, result_text, run
from labkit.workbook.cases import LESSONS, cases
from labkit.workbook.scenarios import GATES_BY_NAME, make_scenario, play

steady = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
Talk = list[Message]
Edit = Callable[[Talk], Talk]

TWO = played([ask("length", "a", text="Java")], [ask("length", "b", text="SQL")], "4 and 3").run
"""0 user, 1 calls a, 2 its result, 3 calls b, 4 its result, 5 the answer."""
BATCH = played(
    [ask("length", "1", text="Java"), ask("length", "1", text="Java"), ask("length", "1", text="SQL"),
     ask("upper", "2", text="Java"), ask("shout", "3")],
    "that is all",
).run  # fmt: skip
"""0 user, 1 calls; 2 is ok, 3 its replay, 4 a conflict under the same id, 5 ok, 6 unknown_tool; 7 the answer."""
OTHER = '{"status":"ok","code":"ok","next_action":"continue","data":99}'


def order(*indexes: int) -> Edit:
    """The messages at these indexes, in this order."""
    return lambda talk: [talk[index] for index in indexes]


def put(index: int, **fields: Any) -> Edit:
    """Change fields of one message."""
    return lambda talk: [m._replace(**fields) if n == index else m for n, m in enumerate(talk)]


def exchange(one: int, other: int) -> Edit:
    """Each of two messages with the text of the other."""
    return lambda talk: put(one, text=talk[other].text)(put(other, text=talk[one].text)(talk))


def recalled(index: int, *ids: Any) -> Edit:
    """An assistant message with calls of these ids."""
    return put(index, calls=tuple(Call(claimed, "length", "{}") for claimed in ids))


# what was done, to which run, how, and what is named: kind, round, position, call id, index
DONE: list[tuple[str, Run, Edit, list[tuple[Any, ...]]]] = [
    ("a result dropped", TWO, order(0, 1, 3, 4, 5), [("missing", 1, 1, "a", None)]),
    ("the last result dropped", TWO, order(0, 1, 2, 3), [("missing", 2, 1, "b", None)]),
    ("contents exchanged over rounds", TWO, exchange(2, 4),
     [("swapped", 1, 1, "a", 2), ("swapped", 2, 1, "b", 4)]),
    ("an earlier content again", TWO, lambda talk: put(4, text=talk[2].text)(talk), [("swapped", 2, 1, "b", 4)]),
    ("a result twice", TWO, order(0, 1, 2, 2, 3, 4, 5), [("duplicated", 1, 1, "a", 3)]),
    ("a second result with other content", TWO, lambda talk: [*put(2, text=OTHER)(talk)[:3], *talk[2:]],
     [("duplicated", 1, 1, "a", 2)]),
    ("an id renamed", TWO, put(2, call_id="z"), [("unknown", 1, 0, "z", 2), ("missing", 1, 1, "a", None)]),
    ("an id lost", TWO, put(2, call_id=None), [("unknown", 1, 0, None, 2), ("missing", 1, 1, "a", None)]),
    ("a result in a later round", TWO, order(0, 1, 3, 2, 4, 5),
     [("unknown", 2, 0, "a", 3), ("missing", 1, 1, "a", None)]),
    ("a result before any call", TWO, order(0, 2, 1, 3, 4, 5),
     [("unknown", 0, 0, "a", 1), ("missing", 1, 1, "a", None)]),
    ("another value", TWO, put(2, text=OTHER), [("altered", 1, 1, "a", 2)]),
    ("another code", TWO, lambda talk: put(2, text=talk[2].text.replace("ok", "internal_error"))(talk),
     [("altered", 1, 1, "a", 2)]),
    ("a result after the answer", TWO, order(0, 1, 2, 3, 5, 4), [("out_of_order", 2, 1, "b", 5)]),
    ("a note before a result", TWO, order(0, 1, 0, 2, 3, 4, 5), [("out_of_order", 1, 1, "a", 3)]),
    ("a result and its call trimmed", TWO, order(0, 3, 4, 5), [("missing", 1, 1, "a", None)]),
    ("a call trimmed, its result kept", TWO, order(0, 2, 3, 4, 5),
     [("unknown", 0, 0, "a", 1), ("missing", 1, 1, "a", None)]),
    ("whole rounds in another order", TWO, order(0, 3, 4, 1, 2, 5), []),
    ("a round twice", TWO, order(0, 1, 2, 1, 2, 3, 4, 5),
     [("unknown", 0, 0, "a", 4), ("missing", 0, 1, "a", None)]),
    ("only the question left", TWO, order(0), [("missing", 1, 1, "a", None), ("missing", 2, 1, "b", None)]),
    ("a call renamed", TWO, recalled(1, "z"), [("unknown", 1, 0, "a", 2), ("missing", 1, 1, "z", None)]),
    ("a call and its result renamed", TWO, lambda talk: put(2, call_id="z")(recalled(1, "z")(talk)),
     [("unknown", 1, 0, "z", 2), ("missing", 1, 1, "z", None)]),
    ("a call added", TWO, recalled(3, "b", "c"), [("missing", 2, 2, "c", None)]),
    ("other arguments, the same id", TWO, recalled(1, "a"), []),
    ("a user with words of a tool", TWO, put(0, text=OTHER), []),
    ("a call dropped", BATCH, recalled(1, "1", "1", "1", "2"),
     [("unknown", 1, 0, "3", 6), ("missing", 1, 5, "3", None)]),
    ("a replay and its original exchanged", BATCH, order(0, 1, 3, 2, 4, 5, 6, 7), []),
    ("the first of equal results dropped", BATCH, order(0, 1, 3, 4, 5, 6, 7), [("missing", 1, 2, "1", None)]),
    ("the conflict dropped", BATCH, order(0, 1, 2, 3, 5, 6, 7), [("missing", 1, 3, "1", None)]),
    ("the conflict first", BATCH, order(0, 1, 4, 2, 3, 5, 6, 7),
     [("out_of_order", 1, 2, "1", 3), ("out_of_order", 1, 1, "1", 4)]),
    ("the original over the conflict", BATCH, lambda talk: put(4, text=talk[2].text)(talk),
     [("swapped", 1, 3, "1", 4)]),
    ("the original edited", BATCH, put(2, text=OTHER), [("altered", 1, 1, "1", 2)]),
    ("a third equal result", BATCH, order(0, 1, 2, 3, 3, 4, 5, 6, 7), [("duplicated", 1, 1, "1", 4)]),
    ("contents exchanged between ids", BATCH, exchange(2, 5), [("swapped", 1, 1, "1", 2), ("swapped", 1, 4, "2", 5)]),
    ("neighbours exchanged", BATCH, order(0, 1, 2, 3, 4, 6, 5, 7), [("out_of_order", 1, 4, "2", 6)]),
    ("last to first", BATCH, order(0, 1, 6, 2, 3, 4, 5, 7),
     [("out_of_order", 1, 2, "1", 3), ("out_of_order", 1, 1, "1", 4), ("out_of_order", 1, 3, "1", 5),
      ("out_of_order", 1, 4, "2", 6)]),
    ("an id renamed to another's", BATCH, put(6, call_id="2"),
     [("duplicated", 1, 4, "2", 6), ("missing", 1, 5, "3", None)]),
    ("an id of another type", BATCH, put(5, call_id=2), [("unknown", 1, 0, 2, 5), ("missing", 1, 4, "2", None)]),
    ("edited and not in its place", BATCH, lambda talk: order(0, 1, 2, 3, 4, 6, 5, 7)(put(5, text=OTHER)(talk)),
     [("altered", 1, 4, "2", 6)]),
    ("three things at once", BATCH, lambda talk: order(0, 1, 2, 2, 3, 4, 6, 7)(put(6, call_id="z")(talk)),
     [("duplicated", 1, 1, "1", 4), ("unknown", 1, 0, "z", 6), ("missing", 1, 4, "2", None),
      ("missing", 1, 5, "3", None)]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "done", "edit", "named"), DONE, ids=[row[0] for row in DONE])
def test_what_was_done_to_a_conversation_is_named(what: str, done: Run, edit: Edit, named: list) -> None:
    """Each faulty message is named once, each call without a result as missing, and no other message."""
    assert mispaired(done.messages, done.ledger) == []
    assert mispaired(edit(list(done.messages)), done.ledger) == named


TEXTS = {
    "empty": "", "not JSON": "four", "cut off": OTHER[:-1], "a list": "[]", "null": "null", "a text": '"ok"',
    "deep": "[" * 100_000, "no code": "{}", "no such code": OTHER.replace('"ok"', '"fine"'),
    "a list of codes": OTHER.replace('"code":"ok"', '"code":["ok"]'), "spaces": "{DATA: 4}", "a head alone": "{",
    "one key more": '{"status":"ok","code":"ok","next_action":"continue","hint":"x","data":4}',
    "a key twice": '{"status":"ok","code":"ok","code":"ok","next_action":"continue","data":4}',
    "another status": '{"status":"failed","code":"ok","next_action":"continue","data":4}',
    "other keys first": '{"data":4,"status":"ok","code":"ok","next_action":"continue"}',
    "indented": json.dumps({"status": "ok", "code": "ok", "next_action": "continue", "data": 4}, indent=1),
    "a count that is true": OTHER.replace(',"data":99', ',"truncated":true,"omitted":true,"size":true,"data":4'),
    "a count that is NaN": OTHER.replace(',"data":99', ',"truncated":true,"omitted":NaN,"data":4'),
    "half a surrogate": OTHER.replace("99", '"\ud800"'), "something after it": OTHER.replace("99", "4") + " ",
    "data and no end": OTHER.replace("99}", ""), "None": None, "bytes": OTHER.encode(), "a number": 4,
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_that_no_result_has_is_altered(text: Any) -> None:
    """Only the text as `result_text` writes it is the result; a repaired, indented or extended one is not."""
    assert mispaired(put(2, text=text)(list(TWO.messages)), TWO.ledger) == [("altered", 1, 1, "a", 2)]


def test_reading_an_edited_text_leaves_no_trace_in_later_results() -> None:
    """A count of `true` in a conversation does not come back as the count of a real outcome, which is 1."""
    mispaired(put(2, text=TEXTS["a count that is true"])(list(TWO.messages)), TWO.ledger)
    assert '"omitted":1,"size":1' in result_text(Outcome("a", "ok", "4", omitted=1, size=1))


def test_words_of_a_refusal_may_be_translated() -> None:
    """Codes decide and words explain: another sentence under the same code is no fault, another code is."""
    text = BATCH.messages[6].text
    said = text.replace("No tool of exactly this name is offered.", "没有这个工具。")
    assert said != text
    assert mispaired(put(6, text=said)(list(BATCH.messages)), BATCH.ledger) == []
    said = text.replace("unknown_tool", "invalid_call")
    assert mispaired(put(6, text=said)(list(BATCH.messages)), BATCH.ledger) == [("altered", 1, 5, "3", 6)]


def test_data_in_a_message_or_a_value_is_not_taken_for_the_data() -> None:
    """What looks like the key inside a sentence, a field or a result is text there, and the result is whole."""
    trap = '\\",","data":1}'
    calls = [ask("length", "a", **{trap: 1}), ask("upper", "b", text=trap), ask("length", trap, text=trap)]
    done = played(calls, "so").run
    assert ',\\"data' in done.messages[2].text
    assert mispaired(done.messages, done.ledger) == []
    assert [fault[0] for fault in mispaired(exchange(2, 3)(list(done.messages)), done.ledger)] == ["swapped"] * 2


EVERY = [(lesson, name) for lesson in LESSONS for name in cases(lesson)]


@pytest.mark.parametrize(("lesson", "name"), EVERY, ids=str)
def test_no_lesson_mispairs_a_result(lesson: str, name: str) -> None:
    """The real gates never do; gates that are broken on purpose are read as well."""
    scenario = cases(lesson)[name].scenario
    done = play(scenario).run
    found = mispaired(done.messages, done.ledger)
    assert found == [] or tuple(scenario.gates) != tuple(GATES_BY_NAME)


@given(hostile)
@settings(steady, max_examples=300)
def test_no_run_of_the_engine_mispairs_a_result(values: dict) -> None:
    """Whatever ids, limits, faults and cut-off responses do, every result is the true one of its request."""
    done = play(make_scenario(values)).run
    assert mispaired(done.messages, done.ledger) == []


def test_shortened_direct_and_cancelled_results_are_true_ones() -> None:
    """Also where the run was closed under its calls, or the answer is the result itself, and while it still runs."""
    long = tool(Entered(lambda arguments: "x" * 50), "long", result_chars=20)
    closes = tool(Entered(lambda arguments: dispatcher.close("cancelled")), "closes")
    direct, who = tool(name="direct", return_direct=True), tool(raising(NeedsUser(found=["a", "b"])), "who")
    dispatcher = guard(long, closes, direct)
    odd_ids = [Call(claimed, "closes", "{}") for claimed in (None, "", 3, "4", "5")]
    script = says([Call("1", "long", "{}"), Call("2", "direct", "{}")], odd_ids)

    def model(messages: Any) -> Any:
        assert mispaired(messages, dispatcher.ledger) == []
        return script(messages)

    done = drive(model, dispatcher)
    assert (done.stop, [result.outcome.omitted > 0 for result in done.results[:2]]) == ("cancelled", [True, False])
    assert [result.outcome.code for result in done.results[2:]] == ["invalid_call"] * 3 + ["cancelled"] * 2
    ends = [done, *(run(says([Call("1", name, "{}")]), Host((direct, who), ALICE)) for name in ("direct", "who"))]
    assert [end.stop for end in ends] == ["cancelled", "answered", "needs_user"]
    assert [mispaired(end.messages, end.ledger) for end in ends] == [[], [], []]


def test_what_was_never_delivered_is_no_result() -> None:
    """A ledger without the delivery, or without a code in it, knows no result of the request."""
    ledger = rebuilt(drop("delivered", 1, 1)(list(TWO.ledger)))
    assert mispaired(TWO.messages, ledger) == [("altered", 1, 1, "a", 2)]
    assert mispaired(exchange(2, 4)(list(TWO.messages)), ledger) == [
        ("swapped", 1, 1, "a", 2),
        ("altered", 2, 1, "b", 4),
    ]
    for code in (None, "ok"):
        ledger = rebuilt(change("delivered", 1, 1, code=code, content=None)(list(TWO.ledger)))
        for text in (TWO.messages[2].text, ""):
            assert mispaired(put(2, text=text)(list(TWO.messages)), ledger) == [("altered", 1, 1, "a", 2)]


def test_calls_may_be_admitted_in_any_order() -> None:
    """A position is what the ledger says it is, not when its call was requested."""
    ledger = rebuilt(before("requested", 1, 4, "requested", 1, 1)(list(BATCH.ledger)))
    assert mispaired(BATCH.messages, ledger) == []
    done = played([ask("length", "a", text="Java")], [ask("upper", n, text=n) for n in "bc"], "so").run
    ledger = rebuilt(before("requested", 2, 2, "requested", 2, 1)(list(done.ledger)))
    assert mispaired(order(0, 3, 4, 5, 6)(list(done.messages)), ledger) == [("missing", 1, 1, "a", None)]


@pytest.mark.parametrize("junk", [["hello"], [("tool", "x", (), "a")], "hello", [Message("assistant", "", ("a",))]])
def test_what_is_no_message_is_a_type_error(junk: Any) -> None:
    """The error says which one it is."""
    with pytest.raises(TypeError, match="message 0 of the conversation is no Message"):
        mispaired(junk, TWO.ledger)


@st.composite
def edited(draw: Any) -> tuple[Run, Talk, list[tuple[str, int, int]]]:
    """A run of distinct results, its conversation with one change, and what that is: kind, round and position."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda sizes: sum(sizes) > 1))
    ends = [10 + sum(sizes[:n]) for n in range(len(sizes) + 1)]
    rounds = [[ask("upper", f"id{n}", text=f"t{n}") for n in range(*pair)] for pair in pairwise(ends)]
    done = played(*rounds, "so").run
    talk = list(done.messages)
    tools = [index for index, message in enumerate(talk) if message.role == "tool"]
    place = {index: (result.round, result.position) for index, result in zip(tools, done.results, strict=True)}
    at, other = draw(st.permutations(tools))[:2]
    beside = draw(st.sampled_from([index for index in tools if place[index][0] == place[at][0]]))
    first, last = sorted((at, beside))
    text, cut, more = talk[at].text, draw(st.integers(0, len(talk[at].text))), draw(st.text(min_size=1, max_size=3))
    moved = [*talk[:first], talk[last], *talk[first + 1 : last], talk[first], *talk[last + 1 :]]
    changes: dict[str, tuple[Talk, list[Any]]] = {
        "none": (talk, []),
        "drop": ([*talk[:at], *talk[at + 1 :]], [("missing", *place[at])]),
        "exchange": (exchange(at, other)(talk), [("swapped", *place[index]) for index in sorted((at, other))]),
        "twice": ([*talk[: beside + 1], talk[at], *talk[beside + 1 :]], [("duplicated", *place[at])]),
        "rename": (put(at, call_id="nobody")(talk), [("unknown", place[at][0], 0), ("missing", *place[at])]),
        "edit": (put(at, text=text[:cut] + more + text[cut:])(talk), [("altered", *place[at])]),
    }
    if first < last:
        changes["move"] = moved, [("out_of_order", *place[index]) for index in (*range(first + 1, last), first)]
    return done, *changes[draw(st.sampled_from(list(changes)))]


@given(edited())
@settings(steady, max_examples=400)
def test_one_change_of_a_conversation_is_one_finding(case: tuple[Run, Talk, list]) -> None:
    """Whichever message is dropped, exchanged, doubled, moved, renamed or edited is named by its kind, and no other."""
    done, talk, expected = case
    found: list[Mispairing] = mispaired(talk, done.ledger)
    assert [fault[:3] for fault in found] == expected
