"""The small programs that share something: how many orders there are and which of them go wrong, counted by hand."""

from __future__ import annotations

from collections import Counter
from functools import partial
from threading import Barrier
from typing import Any

import pytest

from labkit import GATES, Call
from labkit.workbook.interleave import interleave
from labkit.workbook.races import LAWS, NOT_JOINED, Desk, Engine, apart, asking, race, reserving, revoke, together

D1, D2 = (Call(f"c{n}", "read_notice", f'{{"notice_id":"D{n}"}}') for n in (1, 2))
ONE = partial(Engine, "notices", executions=1)
WHOLE = {"audit": lambda engine: not engine.broken}


def counts(program: Any, *, revoked: bool) -> tuple[int, int, int]:
    """Orders of two such tasks; those over budget; those with a start that was not permitted."""
    found = interleave(Desk, {"A": program, "B": program} | ({"Revoke": revoke} if revoked else {}), LAWS)
    return found.orders, found.counts["within budget"], found.counts["permitted"]


@pytest.mark.parametrize(("program", "revoked", "expected"), [
    # Fine is who starts before the other checks: AAA with B's first step in one of 4 places, then B's second; and
    # turned round. That makes 8. Else both check (6 arrangements of AABB), then both start (2): 12 over budget.
    (apart, False, (20, 12, 0)),
    # R before both authorise: 2 orders, no start. R between: A, then AA mixed with RB, 6 and turned round 6; only
    # AAARB is permitted: 10 are not. R after both: in the 12 there are 4 or 5 places for R (4 if one task had both its
    # first steps before the other came, else 5): 2*(2*4+4*5) = 56, all but the last place unpermitted: 44. In the 8
    # there are 4, 4, 3, 2 places, and turned round: 26, of which 2, 2, 1, 0 and again: 10. 2+12+56+26, 10+44+10.
    (apart, True, (96, 56, 64)),
    # 4!/(2! 2!) = 6. With R: before both 2; between, A, then A mixed with RB: 3 and 3, 2 and 2 unpermitted; after both,
    # AABB has 2 places (none too early), ABAB and ABBA 3 each (one too early), and turned round: 16, 4 unpermitted.
    (reserving, False, (6, 0, 0)), (reserving, True, (24, 0, 8)),
    (together, False, (2, 0, 0)), (together, True, (6, 0, 0)),  # 2! and 3!
])  # fmt: skip
def test_two_tasks_and_a_revocation(program: Any, revoked: bool, expected: tuple[int, int, int]) -> None:  # noqa: FBT001
    """What is not in one step with the start need not be true at the start."""
    assert counts(program, revoked=revoked) == expected


def test_one_task_is_revoked_at_each_point() -> None:
    """Between authorise and start it is too late: two of the four places."""
    found = interleave(Desk, {"A": apart, "Revoke": revoke}, LAWS)
    assert found.words == ("AAAR", "AARA", "ARAA", "RA")
    assert [order.number for order in found.broken["permitted"]] == [2, 3]


def test_the_first_orders_that_go_wrong() -> None:
    """Numbers that the lesson names: both check before one starts; the permission goes before the first start."""
    assert interleave(Desk, {"A": apart, "B": apart}, LAWS).broken["within budget"][0][:2] == (3, "AABBAB")
    revoked = interleave(Desk, {"A": apart, "B": apart, "Revoke": revoke}, LAWS).broken
    assert [revoked[law][0][:2] for law in LAWS] == [(6, "AABBABR"), (7, "AABBARB")]


def test_the_engine_starts_one_in_every_order() -> None:
    """Who is admitted first is served; the other is refused in its one step: AAB, ABA, and turned round."""
    laws = WHOLE | {"one start": lambda engine: engine.dispatcher.ledger.executions == 1}
    found = interleave(ONE, {"A": asking(1, D1), "B": asking(2, D2)}, laws)
    assert (found.words, found.broken) == (("AAB", "ABA", "BAB", "BBA"), {})


def test_the_engine_judges_the_permission_at_the_start_and_not_at_the_entry() -> None:
    """R first: both are refused, AB and BA. A first: then its entry, B's refusal and R mix, 3! = 6; and turned round.

    That makes 14. In 3 of each 6 R comes before the entry.
    """
    laws = WHOLE | {
        "at most one start": lambda engine: engine.dispatcher.ledger.executions <= 1,
        "permitted at entry": lambda engine: all(engine.entries),
    }
    found = interleave(ONE, {"A": asking(1, D1), "B": asking(2, D2), "Revoke": revoke}, laws)
    assert (found.orders, list(found.broken), found.counts["permitted at entry"]) == (14, ["permitted at entry"], 6)
    assert Counter(found.replay(word).world.codes for word in found.words) == {
        ("ok", "budget_exhausted"): 3, ("ok", "forbidden"): 3, ("budget_exhausted", "ok"): 3, ("forbidden", "ok"): 3,
        ("forbidden", "forbidden"): 2,
    }  # fmt: skip


@pytest.mark.parametrize(("gates", "words", "twice"), [
    (GATES, ("AAB", "ABAB", "BABA", "BBA"), []),  # the second waits for the first, or comes after it
    (NOT_JOINED, ("AAB", "ABAB", "ABBA", "BAAB", "BABA", "BBA"), [2, 3, 4, 5]),  # all but one after the other
])  # fmt: skip
def test_a_twin_in_flight(gates: Any, words: tuple[str, ...], twice: list[int]) -> None:
    """It shares the outcome; a memory of ended calls alone lets it run again, which the ledger shows."""
    laws = WHOLE | {"one entry": lambda engine: engine.world.spy.entries == 1}
    found = interleave(partial(Engine, "notices", gates=gates), {"A": asking(1, D1), "B": asking(2, D1)}, laws)
    assert found.words == words
    assert [[order.number for order in found.broken.get(law, ())] for law in laws] == [twice, twice]
    assert found.replay(1).world.codes == ("ok", "ok again")


def test_a_call_may_be_written_from_what_was_found_and_wait_for_it() -> None:
    """Without waiting it finds nothing to be written from, in all orders but one."""
    search = Call("c1", "search_notes", '{"query":"Ueno"}')

    def found(engine: Engine) -> Call:
        outcome = engine.requests[1].outcome
        assert outcome is not None
        return Call("c2", "read_note", f'{{"note_id":"{outcome.data[0]["id"]}"}}')

    for after, words in ((0, ("AABB", "AB", "B")), (1, ("AABB",))):
        programs = {"A": asking(1, search), "B": asking(2, found, after=after)}
        assert interleave(partial(Engine, "notes"), programs, WHOLE).words == words


def test_nothing_has_come_of_a_call_that_is_only_admitted() -> None:
    """It is shown by a dash."""
    engine = ONE()
    next(program := asking(1, D1)(engine))
    next(program)
    assert engine.codes == ("–",)


def test_threads_race_for_the_last_execution_and_share_a_twins_outcome() -> None:
    """One of four is served, three are refused; of four equal calls one runs; two reads are inside at once."""
    for _ in range(20):
        four = race(ONE(), *(Call(f"c{n}", D1.name, D1.arguments) for n in range(4)))
        assert sorted(four.codes) == ["budget_exhausted"] * 3 + ["ok"]
        assert (four.world.spy.entries, four.broken) == (1, ())
        twins = race(ONE(), D1, D1, D1, D1)
        assert sorted(twins.codes) == ["ok"] + ["ok again"] * 3
        assert (twins.world.spy.entries, twins.broken) == (1, ())
    both = race(Engine("notices", inside=Barrier(2, timeout=5).wait), D1, D2)
    assert (both.codes, both.entries, both.broken) == (("ok", "ok"), [True, True], ())
