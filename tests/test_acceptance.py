"""The acceptance list of the merchant query: green on the good runs, and red at exactly the item that is broken."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import ask, played

from labkit.workbook.acceptance import ACCEPTANCE, CLAIMS, accept, evidence_count, evidence_of, turns_red
from labkit.workbook.cases import lesson
from labkit.workbook.evidence import collect, listed
from labkit.workbook.scenarios import Played, play

CASES = lesson("13_merchant_project")
RUNS = ("hours", "down", "zero", "as text", "foreign", "missing", "not asked")
ITEMS = tuple(ACCEPTANCE)
GOOD = {name: play(CASES[name]) for name in RUNS}


def verdict(item: str, run: str, of: Played) -> str:
    """The verdict of one item with one run in place of the good one."""
    return next(one.verdict for one in accept(GOOD | {run: of}) if one.item == item)


def test_every_item_is_accepted_on_the_good_runs_with_its_witnesses() -> None:
    """The witnesses are those of a single call: 2 requested, 3 started or rejected, 6 delivered, 8 answered."""
    assert [(one.item, one.run, one.verdict, listed(one.where)) for one in accept(GOOD)] == [
        ("name and hours of 1001", "hours", "yes", "events 2, 3, 6, 8; read 1; messages 2, 3"),
        ("a failed tool is told", "down", "yes", "event 7; message 3"),
        ("illegal id 0", "zero", "yes", "event 3"),
        ('illegal id "1001"', "as text", "yes", "event 3"),
        ("foreign id 1002", "foreign", "yes", "event 6; read 1"),
        ("missing id 9999", "missing", "yes", "event 6; read 1"),
        ("nothing without evidence", "hours", "yes", "message 3"),
    ]


BESIDE = [
    ("hours", "neighbour's", 0, "no"), ("down", "emptied", 1, "no"), ("zero", "let through", 2, "no"),
    ("as text", "coerced", 3, "no"), ("foreign", "tenantless", 4, "no"), ("missing", "breaks", 5, "no"),
    ("not asked", "claimed", 6, "no"), ("not asked", "guessed", 6, "unknown"), ("hours", "other question", 0, "no"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "broken", "place", "told"), BESIDE)
def test_a_broken_run_turns_exactly_its_item(run: str, broken: str, place: int, told: str) -> None:
    """One run is exchanged; the other items keep their verdict."""
    verdicts = [one.verdict for one in accept(GOOD | {run: play(CASES[broken])})]
    assert verdicts == [told if n == place else "yes" for n in range(len(ITEMS))]


def test_a_run_that_was_not_played_proves_nothing() -> None:
    """An item without its run is unknown, and so is the last of none."""
    assert {one.verdict for one in accept({})} == {"unknown"}
    left = [one.verdict for one in accept({"hours": GOOD["hours"]})]
    assert left == ["yes", *["unknown"] * 5, "yes"]


PROVED_BY_NOTHING = [("illegal id 0", "zero"), ("foreign id 1002", "foreign"), ("missing id 9999", "missing"),
                     ("a failed tool is told", "down")]  # fmt: skip


@pytest.mark.parametrize(("item", "run"), PROVED_BY_NOTHING)
def test_a_run_about_something_else_proves_nothing(item: str, run: str) -> None:
    """A check that was never put to the test is unknown: a good run of 1001, and one without any call."""
    assert verdict(item, run, GOOD["hours"]) == "unknown"
    assert verdict(item, run, GOOD["not asked"]) == "unknown"


def test_an_own_record_is_no_test_of_a_foreign_one() -> None:
    """Bob of B asks for 1002, which is his."""
    assert verdict("foreign id 1002", "foreign", play(CASES["foreign"].with_(principal={"tenant": "B"}))) == "unknown"


TEA = ask("get_merchant", merchantId=1001)
DOWN: list[dict[str, Any]] = [{"tool": "get_merchant", "attempt": n, "raises": "temporary"} for n in (1, 2)]


@pytest.mark.parametrize(("answer", "told"), [
    ("The directory cannot be reached.", "yes"), ("暂时查不到。", "yes"), ("I do not know.", "yes"),
    ("There is no shop of this name.", "no"), ("没有找到。", "no"), ("It is open from 09:00.", "no"),
    ("Please come back tomorrow.", "unknown"),
])  # fmt: skip
def test_an_answer_after_an_outage_admits_it_or_is_to_be_read(answer: str, told: str) -> None:
    """Words that admit pass, words that deny and numbers from nowhere do not, and others are for a person."""
    assert verdict("a failed tool is told", "down", played([TEA], answer, world="merchants", faults=DOWN)) == told


def test_a_run_that_ends_without_an_answer_pretends_nothing() -> None:
    """The tool breaks inside, and nobody asks the model for a line."""
    bug = played([TEA], "Open.", world="merchants", faults=[{"tool": "get_merchant", "raises": "bug"}])
    assert verdict("a failed tool is told", "down", bug) == "yes"


@pytest.mark.parametrize("errors", ["emptied", "told", "retried"])
def test_a_fault_that_is_said_otherwise_is_seen_by_the_spy(errors: str) -> None:
    """An outage answered like nothing is found out; the other mappings leave an outage as it is."""
    told = played([TEA], "The directory cannot be reached.", world="merchants", faults=DOWN, errors=errors)
    assert verdict("a failed tool is told", "down", told) == ("no" if errors == "emptied" else "yes")


@pytest.mark.parametrize(("given", "told"), [(0, "yes"), ("0", "unknown"), (1, "unknown"), (False, "unknown")])
def test_the_illegal_id_is_the_one_of_the_list(given: object, told: str) -> None:
    """Zero is not "0" and not false."""
    run = played([ask("get_merchant", merchantId=given)], "no number", world="merchants")
    assert verdict("illegal id 0", "zero", run) == told


def test_an_illegal_id_that_is_refused_for_another_reason_is_not_accepted() -> None:
    """Without the permission nobody looks at ids: the check was of something else."""
    run = play(CASES["zero"].with_(limits={"requests": 0}))
    assert run.run.results[0].outcome.code == "budget_exhausted"
    assert verdict("illegal id 0", "zero", run) == "no"


def test_what_the_answers_claim_is_found_in_them() -> None:
    """Each claim that a panel shows is made by the answer of some case, and has all its evidence in one of them."""
    plays = [play(scenario) for scenario in CASES.values()]
    for name, claim in CLAIMS.items():
        said = [one for one in plays if claim.says in (one.run.answer or "")]
        best = [sum(part.verdict == "yes" for part in collect(claim, one.run, one.world.spy)) for one in said]
        assert max(best) == {"unreachable": 4, "1001 not seen": 3}.get(name, 5)


def test_questions_read_their_answers_off_the_run() -> None:
    """One kind of evidence, how many there are, and which items turn red: never typed in."""
    down, claimed = GOOD["down"], play(CASES["claimed"])
    assert evidence_of("?", CLAIMS["unreachable"], "service entry").answer(down) == "no"
    assert evidence_of("?", CLAIMS["hours"], "answer").answer(claimed) == "yes"
    assert evidence_count("?", CLAIMS["hours"], 0, 1, 5).answer(claimed) == "1"
    assert turns_red("?", GOOD, "not asked", "none", "nothing without evidence").answer(claimed) == ITEMS[6]
    assert turns_red("?", GOOD, "not asked", "none", ITEMS[6]).answer(play(CASES["guessed"])) == "none"
