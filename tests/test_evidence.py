"""The five kinds of evidence: each verdict and its witnesses, written by hand from the order of a run's events.

A run of one merchant call is: 1 round_opened, 2 requested, 3 started, 4 attempted, 5 returned, 6 delivered,
7 round_opened, 8 answered, 9 stopped; its messages are 0 user, 1 assistant, 2 tool, 3 assistant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from helpers import ask, played

from labkit import Run
from labkit.workbook.evidence import KINDS, Claim, Witness, collect, listed, unbacked, weakest
from labkit.workbook.scenarios import Played
from labkit.workbook.sections import SECTIONS
from labkit.workbook.views import View

OPEN = "It is open 09:00–18:00."
HOURS = Claim("09:00–18:00", "get_merchant", {"merchantId": 1001}, "1001")
NOT_SEEN = Claim("no shop 9999", "get_merchant", {"merchantId": 9999}, "9999", "not_found_or_not_accessible")
GONE = Claim("no shop 9999", "get_merchant", {"merchantId": 9999}, "9999", absent=True)
TEA, MISSING = (ask("get_merchant", f"c{number}", merchantId=number) for number in (1001, 9999))


def run(*turns: Any, world: Any = "merchants", **parts: Any) -> Played:
    return played(*turns, world=world, **parts)


def found(claim: Claim, of: Played, **spy: Any) -> dict[str, tuple[str, str]]:
    """Verdict and witnesses of each kind."""
    told = collect(claim, of.run, **{"spy": of.world.spy} | spy)
    assert tuple(one.kind for one in told) == KINDS
    assert all(one.why for one in told)
    return {one.kind: (one.verdict, listed(one.where)) for one in told}


def verdicts(claim: Claim, of: Played, **spy: Any) -> str:
    """The five verdicts as signs."""
    return "".join({"yes": "+", "no": "-", "unknown": "?"}[told[0]] for told in found(claim, of, **spy).values())


def out(*attempts: int, **more: Any) -> dict[str, Any]:
    return {"faults": [{"tool": "get_merchant", "attempt": n, "raises": "temporary"} | more for n in attempts]}


def test_a_served_query_has_all_five_and_says_where() -> None:
    """Each kind points to the event, read or message that shows it."""
    assert found(HOURS, run([TEA], OPEN)) == {
        "proposal": ("yes", "event 2"),
        "authorization": ("yes", "event 3"),
        "service entry": ("yes", "read 1"),
        "result": ("yes", "event 6; message 2"),
        "answer": ("yes", "event 8; message 3"),
    }


def test_an_answer_without_a_call_has_only_itself() -> None:
    """What an answer says of itself is no evidence of anything before it."""
    assert verdicts(HOURS, run(f"I looked it up. {OPEN}")) == "----+"


def test_what_was_found_and_not_said_is_missing_from_the_answer_alone() -> None:
    """The words must stand in the answer; without an answer the stop is the witness."""
    assert verdicts(HOURS, run([TEA], "It is open.")) == "++++-"
    silent = found(HOURS, run([TEA], limits={"rounds": 1}))
    assert silent["answer"] == ("no", "event 7")


@pytest.mark.parametrize(("arguments", "told"), [
    ('{"merchantId":1001}', "+++++"), ('{ "merchantId" : 1001, "fields": null}', "+++++"),
    ('{"merchantId":1001,"fields":["name"]}', "+++-+"), ('{"merchantId":2001}', "----+"),
    ('{"merchantId":"1001"}', "----+"), ('{"merchantId":1001.0}', "----+"), ('{"merchantId":1001', "----+"),
    ("null", "----+"),
])  # fmt: skip
def test_the_request_is_the_one_that_asked_for_this(arguments: str, told: str) -> None:
    """Arguments are compared type for type; a result for another id, or of other fields, carries nothing."""
    call = {"id": "1", "name": "get_merchant", "arguments": arguments}
    assert verdicts(HOURS, run([call], OPEN)) == told


@pytest.mark.parametrize(("parts", "where"), [
    ({"principal": {"permissions": []}}, "event 3"), ({"limits": {"executions": 0}}, "event 3"),
    ({"limits": {"deadline_s": 0.125}}, "event 3"),
])  # fmt: skip
def test_a_refusal_is_the_witness_that_nothing_was_authorized(parts: dict[str, Any], where: str) -> None:
    """Permission, budget, deadline: the event that refused stands in place of the start."""
    told = found(HOURS, run([TEA], OPEN, **parts))
    assert (told["proposal"][0], told["authorization"]) == ("yes", ("no", where))
    assert (told["service entry"], told["result"][0]) == (("no", ""), "no")


def test_a_start_without_the_permission_is_no_authorization() -> None:
    """A guard that was broken admits the call; the event still shows that the permission was not held."""
    gates = ["request_budget", "call_id", "allowlist", "arguments", "replay", "execution_budget"]
    assert verdicts(HOURS, run([TEA], OPEN, gates=gates, principal={"permissions": []})) == "+-+++"


def test_an_outage_is_a_result_without_an_entry() -> None:
    """Two attempts were made and the data never entered: the claim that it cannot be reached rests on that."""
    down = Claim("cannot be reached", "get_merchant", {"merchantId": 1001}, "1001", "dependency_temporary")
    told = found(down, run([TEA], "It cannot be reached.", **out(1, 2)))
    assert told["service entry"] == ("no", "events 4, 5")
    assert told["result"] == ("yes", "event 7; message 2")
    assert verdicts(HOURS, run([TEA], OPEN, **out(1, 2))) == "++--+"


def test_nothing_found_is_shown_by_its_code_and_absence_is_not() -> None:
    """'Not found, or not yours' carries the claim that nothing was seen; whether there is nothing stays unknown."""
    missing = run([MISSING], "I see no shop 9999.")
    assert found(NOT_SEEN, missing)["service entry"] == ("yes", "read 1")
    assert (verdicts(NOT_SEEN, missing), verdicts(GONE, missing)) == ("+++++", "+++?+")


@pytest.mark.parametrize(("who", "query", "told"), [("A", "step-free", "yes"), ("B", "step-free", "no")])
def test_a_whole_and_empty_list_shows_absence(who: str, query: str, told: str) -> None:
    """The search ran and had no hit."""
    claim = Claim("nothing about it", "search_faq", {"query": query}, "none", absent=True)
    faq = run([ask("search_faq", query=query)], "There is nothing about it.", world="faq", principal={"tenant": who})
    assert found(claim, faq)["result"][0] == told


def test_a_shortened_or_failed_result_shows_no_absence() -> None:
    """What was left out may be it; what failed did not look."""
    page = ask("list_merchants", page_token=None, page_size=2)
    cut = run([page], "no shop", tools={"list_merchants": {"result_chars": 40}})
    claim = Claim("no shop", "list_merchants", {}, "9999", absent=True)
    assert found(claim, cut)["result"][0] == "unknown"
    assert found(claim._replace(absent=False), cut)["result"][0] == "unknown"
    assert found(GONE, run([MISSING], "no shop 9999", **out(1, 2)))["result"][0] == "no"


def test_without_a_witness_it_is_unknown_and_never_guessed() -> None:
    """Nobody stood at the data, so nobody knows whether it was entered."""
    assert verdicts(HOURS, run([TEA], OPEN), spy=None) == "++?++"


def test_the_spy_notes_no_call_so_two_empty_reads_too_few_are_unknown() -> None:
    """One of two calls entered and found nothing, the other met an outage: which was it?"""
    other = ask("get_merchant", "c1002", merchantId=1002)
    mixed = run([MISSING, other], "I see no shop 9999.", **out(1, 2, entry=1))
    assert mixed.world.spy.entries == 1
    assert found(NOT_SEEN, mixed)["service entry"] == ("unknown", "")
    both = run([other, MISSING], "I see no shop 9999.")
    assert found(NOT_SEEN, both)["service entry"] == ("yes", "read 2")


def test_a_read_that_handed_out_something_else_is_not_this_ones() -> None:
    """The directory is out for the first call, and the second entry is another tool's."""
    faq = ask("search_faq", "f", query="holidays")
    mixed = run([TEA, faq], OPEN, world=["merchants", "faq"], **out(1, 2))
    assert found(HOURS, mixed)["service entry"] == ("no", "events 4, 5")
    hits = Claim("side door", "search_faq", {}, "F5")
    assert found(hits, run([faq], "side door", world="faq"))["service entry"][0] == "no"


def test_a_replay_is_authorized_again_and_read_once() -> None:
    """The second request was answered from memory: its permission was judged, the data was entered once."""
    first = run([TEA, TEA], OPEN)
    assert found(HOURS, first)["proposal"] == ("yes", "event 2")
    assert first.world.spy.entries == 1
    failed_first = run([TEA], [TEA], OPEN, **out(1, 2, entry=1))
    assert found(HOURS, failed_first)["proposal"] == ("yes", "event 9")
    assert verdicts(HOURS, failed_first) == "+++++"


def test_a_hanging_tool_leaves_its_result_unknown() -> None:
    """It was entered, nobody waits any longer, and its end was never seen."""
    hangs = run([TEA], OPEN, faults=[{"tool": "get_merchant", "raises": "hang"}])
    assert verdicts(HOURS, hangs) == "++-?-"


def test_a_result_that_the_model_did_not_read_is_none() -> None:
    """Another text under the id, or no message: what was delivered stands nowhere in the conversation."""
    good = run([TEA], OPEN)
    user, asked, told, answer = good.run.messages
    for messages in ((user, asked, told._replace(text=told.text.replace("18:00", "20:00")), answer),
                     (user, asked, answer)):  # fmt: skip
        altered: Run = replace(good.run, messages=messages)
        (result,) = (one for one in collect(HOURS, altered) if one.kind == "result")
        assert (result.verdict, result.where) == ("no", (Witness("event", 6),))


def test_a_direct_return_is_an_answer_without_a_last_word_of_the_model() -> None:
    """The result is the answer: its event is the witness."""
    direct = run([TEA], tools={"get_merchant": {"return_direct": True}})
    assert found(HOURS, direct)["answer"] == ("yes", "event 7")


def test_a_tool_open_to_everybody_needs_no_permission() -> None:
    """Authorization is then that every gate let the call pass."""
    length = run([ask("length", text="Java")], "4", world="text", principal={"permissions": []})
    told = collect(Claim("4", "length", {"text": "Java"}, "none"), length.run)
    assert [one.verdict for one in told] == ["yes", "yes", "unknown", "yes", "yes"]


def test_a_chain_is_as_good_as_its_weakest_part() -> None:
    """No before unknown before yes; of nothing nothing is known."""
    assert weakest(["yes", "unknown", "no"]) == "no"
    assert weakest(["yes", "unknown"]) == "unknown"
    assert weakest(["yes", "yes"]) == "yes"
    assert weakest([]) == "unknown"


def test_witnesses_are_listed_by_kind_and_number() -> None:
    """Each once, events first."""
    told = [Witness("message", 3), Witness("event", 12), Witness("event", 2), Witness("event", 2), Witness("read", 1)]
    assert listed(told) == "events 2, 12; read 1; message 3"
    assert (listed([]), str(told[0])) == ("", "message 3")


@pytest.mark.parametrize(("answer", "loose"), [
    ("09:00–18:00", ()), ("1001 opens at 09:00", ()), ("It opens at 9:00", ("9:00",)), ("18:00 or 20:00", ("20:00",)),
    ("It is open.", ()), ("20:00, 20:00", ("20:00",)), ("7 days", ()), ("2026-09-01", ("2026", "09", "01")),
    ("١٢", ("١٢",)),
])  # fmt: skip
def test_a_number_stands_in_the_question_or_in_a_result(answer: str, loose: tuple[str, ...]) -> None:
    """Compared whole: 9:00 is not 09:00. The question names the 7."""
    assert unbacked(run([TEA], answer, title="7 days a week?").run) == loose


def test_the_section_shows_a_column_for_each_claim_of_the_answer() -> None:
    """It is told at the end, since the spy keeps no time; an answer that claims nothing known has no column."""
    good = run([TEA], OPEN)
    assert SECTIONS["evidence"](View(good))[1:] == (
        ("the answer says", "09:00–18:00"),
        [("proposal", "✓ event 2"), ("authorization", "✓ event 3"), ("service entry", "✓ read 1"),
         ("result", "✓ event 6; message 2"), ("answer", "✓ event 8; message 3")],
    )  # fmt: skip
    assert SECTIONS["evidence"](View(good, 4)).rows == [("…", "told when the run is over")]
    assert [row[1] for row in SECTIONS["evidence"](View(run(OPEN))).rows][:4] == ["✗"] * 4
    assert SECTIONS["evidence"](View(run([TEA], "Yes."))).rows == []
