"""Every order of the steps of small programs is run once, judged, and can be run again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from helpers import Entered, broken, calls, codes, finished, guard, kinds, raising, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.workbook.interleave import NO_DEADLOCK, NO_EXCEPTION, Order, TooMany, Wait, interleave, replay


@dataclass
class Shared:
    """A budget of one, two locks, and what was done."""

    spent: int = 0
    left: str = ""
    right: str = ""
    log: list[str] = field(default_factory=list)


def apart(world: Shared) -> Iterator[str]:
    """Looks, and spends later."""
    yield "check"
    free = world.spent < 1
    yield "reserve"
    world.spent += free


def together(world: Shared) -> Iterator[str]:
    yield "check and reserve"
    world.spent += world.spent < 1


def branching(world: Shared) -> Iterator[str]:
    """Ends early if it is refused."""
    yield "ask"
    if world.spent < 1:
        world.spent += 1
        yield "run"


def logging(name: str, steps: int) -> Callable[[Shared], Iterator[str]]:
    """A program of so many steps, each of which leaves its name and number."""

    def program(world: Shared) -> Iterator[str]:
        for number in range(steps):
            yield str(number)
            world.log.append(f"{name}{number}")

    return program


def several(*steps: int) -> Any:
    return {name: logging(name, count) for name, count in zip("ABCD", steps, strict=False)}


def locking(first: str, second: str) -> Callable[[Shared], Iterator[Wait]]:
    """Takes two locks, one after the other, and releases both."""

    def program(world: Shared) -> Iterator[Wait]:
        yield Wait(f"take {first}", until=lambda world: not getattr(world, first))
        setattr(world, first, "taken")
        yield Wait(f"take {second}", until=lambda world: not getattr(world, second))
        setattr(world, first, "")

    return program


TWO: dict[str, Any] = {"A": apart, "B": apart}
CROSSED: dict[str, Any] = {"A": locking("left", "right"), "B": locking("right", "left")}
JOIN = Wait("join", until=lambda world: "A0" in world.log)
WITHIN = {"within budget": lambda world: world.spent <= 1}


@pytest.mark.parametrize(("steps", "orders"), [((3, 3), 20), ((2, 2, 2), 90), ((4, 2), 15), ((0, 2), 1), ((), 1)])
def test_programs_that_do_not_branch_have_the_multinomial_number_of_orders(steps: tuple[int, ...], orders: int) -> None:
    """Two programs of three steps have 6!/(3! 3!) = 20 orders, three of two steps 6!/(2! 2! 2!) = 90."""
    assert interleave(Shared, several(*steps)).counts == {"orders": orders, "no deadlock": 0, "no exception": 0}


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(0, 4), max_size=4).filter(lambda steps: sum(steps) <= 6))
def test_the_orders_are_all_arrangements_once_each_by_the_alphabet(steps: list[int]) -> None:
    """Whatever the numbers of steps; and in every order each program's own steps stay in their order."""
    own = [(name, [f"{name}{n}" for n in range(count)]) for name, count in zip("ABCD", steps, strict=False)]
    kept = lambda world: all([s for s in world.log if s[0] == name] == mine for name, mine in own)  # noqa: E731 - a law
    found = interleave(Shared, several(*steps), {"own order": kept})
    letters = "".join(name * len(mine) for name, mine in own)
    assert (list(found.words), found.broken) == (sorted({"".join(one) for one in permutations(letters)}), {})


def test_a_budget_checked_and_reserved_apart_is_overspent_in_four_of_six_orders() -> None:
    """By hand: both check before one reserves, unless one task is over before the other begins (1 and 6)."""
    found = interleave(Shared, TWO, WITHIN)
    assert found.words == ("AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA")
    assert [order.number for order in found.broken["within budget"]] == [2, 3, 4, 5]
    assert found.counts == {"orders": 6, "within budget": 4, "no deadlock": 0, "no exception": 0}
    assert found.rows[:2] == [("1", "AABB", ""), ("2", "ABAB", "within budget")]
    assert repr(found) == "6 orders: 'within budget' is broken in 4, first in order 2 (ABAB)"


@pytest.mark.parametrize(("programs", "words"), [
    ({"A": together, "B": together}, ("AB", "BA")),  # looks and spends in one step
    ({"A": branching, "B": branching}, ("AAB", "ABA", "BAB", "BBA")),  # who asks second is refused: one step
    ({"A": logging("A", 2), "B": lambda world: iter([JOIN])}, ("AAB", "ABA")),  # B goes on once A took its first step
])  # fmt: skip
def test_programs_that_look_and_spend_in_one_step_or_branch_or_wait(programs: Any, words: tuple[str, ...]) -> None:
    """Only the orders that can be are run, and none of these overspends."""
    found = interleave(Shared, programs, WITHIN)
    assert (found.words, found.broken) == (words, {})
    assert repr(found) == f"{len(words)} orders: every law holds in each"


def test_a_law_of_every_step_is_broken_by_what_is_mended_before_the_end() -> None:
    """It says after which step; the same law at the end holds."""
    laws = {"mended": lambda world: world.log[-1:] != ["A0"], "never mended": lambda world: not world.log}
    found = interleave(Shared, several(2, 1), {"at the end": laws["mended"]}, laws)
    whys = [order.why for law in laws for order in found.broken[law]]  # in AAB, ABA, BAA; then again
    assert (whys, found.counts["at the end"]) == ([f"after step {step}" for step in (1, 1, 2, 1, 1, 1)], 0)


def test_a_number_a_word_and_an_order_found_replay_the_same_steps() -> None:
    """Step by step, with what the reader wants to see of the world; inside the search and without it."""
    found, show = interleave(Shared, TWO, WITHIN), ("spent", "spent.real")
    for again in (found.replay(2, *show), found.replay("ABAB", *show), replay(Shared, TWO, 2, *show),
                  found.replay(found.broken["within budget"][0], *show)):  # fmt: skip
        assert (again.columns, again.rows) == (("#", "program", "step", *show), [
            ("1", "A", "check", "0", "0"), ("2", "B", "check", "0", "0"),
            ("3", "A", "reserve", "1", "1"), ("4", "B", "reserve", "2", "2")])  # fmt: skip
        assert (again.word, again.world, again.broken) == ("ABAB", Shared(spent=2), {})


@pytest.mark.parametrize("programs", [TWO, {"A": branching, "B": branching, "C": apart}, CROSSED])
def test_each_number_replays_an_order_of_its_own(programs: Any) -> None:
    """Numbers and words go together one by one, also where orders end early."""
    words = interleave(Shared, programs).words
    assert len(set(words)) == len(words)
    for ways in (range(1, len(words) + 1), words):
        assert [replay(Shared, programs, way).word for way in ways] == list(words)


@pytest.mark.parametrize(("order", "told"), [
    ("", "'' is no order: after 0 steps it goes on with A or B"), ("AAA", "after 2 steps it goes on with B"),
    ("ABx", "'ABx' is no order: after 2 steps it goes on with A or B"), ("AABBA", "after 4 steps it is over"),
    (0, "no order 0"), (-1, "no order -1"), (7, "no order 7"),
])  # fmt: skip
def test_what_is_no_order_is_refused_with_what_was_possible(order: Any, told: str) -> None:
    """A learner's wrong schedule fails legibly."""
    with pytest.raises(ValueError, match=told):
        interleave(Shared, TWO).replay(order)


def test_a_deadlock_is_found_replayed_and_drawn() -> None:
    """Two locks taken crosswise: whoever gets both first is done; if each has one, both wait for ever."""
    found = interleave(Shared, CROSSED, {"never": lambda world: False})
    assert found.words == ("AABB", "AB", "BA", "BBAA")
    why = "A waits before take right and B waits before take left"
    assert found.broken[NO_DEADLOCK] == [Order(2, "AB", why), Order(3, "BA", why)]
    assert [order.number for order in found.broken["never"]] == [1, 4]  # the laws of the end are judged at an end
    again = replay(Shared, {"A;": CROSSED["A"], "B": CROSSED["B"]}, "AB", "left")
    assert again.broken == {NO_DEADLOCK: why.replace("A", "A;")}
    assert again.diagram().text.splitlines() == [
        "sequenceDiagram", "  participant P0 as A#59;", "  participant P1 as B",
        "  Note over P0: 1 take left (left taken)", "  Note over P1: 2 take right (left taken)",
        "  Note over P0,P1: A#59; waits before take right and B waits before take left",
    ]  # fmt: skip


def test_an_exception_ends_its_order_and_is_a_broken_law() -> None:
    """It says who raised what where, shortly, and replays; also in a condition. What a law raises comes through."""

    def reader(world: Shared) -> Iterator[str]:
        yield "read"
        if not world.log:
            raise KeyError("x" * 10_000)

    found = interleave(Shared, {"A": logging("A", 1), "R": reader}, {"never": lambda world: False})
    assert (found.words, found.broken["never"]) == (("AR", "R"), [Order(1, "AR", "at the end")])
    (order,) = found.broken[NO_EXCEPTION]
    assert (order.why[:22], order.why[-20:], len(order.why)) == ("R raised KeyError('xxx", "xxx… in step 1, read", 145)
    assert found.replay(order).broken == {NO_EXCEPTION: order.why}
    waits = {"A": logging("A", 1), "B": lambda world: iter([Wait("join", until=lambda world: world.log[0])])}
    why = "B raised IndexError('list index out of range') before join"
    assert interleave(Shared, waits).broken == {NO_EXCEPTION: [Order(1, "", why)]}
    with pytest.raises(ZeroDivisionError):
        interleave(Shared, TWO, {"broken itself": raising(ZeroDivisionError())})


def test_an_endless_program_is_refused_by_name() -> None:
    """A thousand steps are run, one more is not."""
    assert interleave(Shared, several(1_000)).orders == 1
    with pytest.raises(TooMany, match=r"^B took 1,000 steps and has not ended: let it Wait"):
        interleave(Shared, {"A": apart, "B": lambda world: iter(lambda: "poll", "")})
    with pytest.raises(TooMany, match="A took 3 steps"):
        interleave(Shared, several(4), steps=3)


def test_more_than_a_million_orders_are_refused_before_they_are_run() -> None:
    """24!/(12! 12!) = 2,704,156: one order is run for each program that goes first, and it says what to do."""
    made: list[Shared] = []
    told = r"^2,704,156 orders \(steps: A 12, B 12\), and at most 1,000,000 are run\. Take fewer programs, or join"
    with pytest.raises(TooMany, match=told):
        interleave(lambda: made.append(Shared()) or made[-1], several(12, 12))
    assert len(made) == 2
    with pytest.raises(TooMany, match=r"more than 10\*\*15 orders"):
        interleave(Shared, several(100, 100))
    with pytest.raises(TooMany, match=r"^6 orders"):
        interleave(Shared, TWO, at_most=5)
    assert interleave(Shared, TWO, at_most=6).orders == 6


def test_orders_that_cannot_be_foreseen_are_counted_while_they_run() -> None:
    """Four steps and four would be 70 orders, four and three 35; waiting and branching leave few, which are run."""
    chained = {"A": logging("A", 4), "B": lambda world: iter([Wait("go", lambda world: len(world.log) == 4), *"123"])}
    assert interleave(Shared, chained, at_most=1).words == ("AAAABBBB",)
    fickle = {"B": lambda world: (n for n in "1234" if n == "1" or not world.log), "A": logging("A", 3)}
    assert interleave(Shared, fickle, at_most=13).orders == 13  # 0 to 3 of B, A, then B's last in 3 places; or all of B
    with pytest.raises(TooMany, match="more than 3 orders; BAB was the last that was run"):
        interleave(Shared, {"A": branching, "B": branching}, at_most=3)


SAME, ELSEWHERE = Shared(), iter([2, 2, 2, 2, 0])


@pytest.mark.parametrize(("make", "programs", "options", "told"), [
    (Shared, {"A": lambda world: iter([world.spent])}, {}, "A must be a generator that touches its world only below"),
    (Shared, {"A": lambda world: None}, {}, "A must be a generator"),
    (Shared, {"A": lambda world: iter(["x", None])}, {}, "A yields the heading of a step, text or Wait, not None"),
    (Shared, {"task 1": apart, "task 2": apart}, {}, "differ in the first letter, not 'task 1', 'task 2'"),
    (lambda: SAME, TWO, {}, "the same world twice"),
    (Shared, {"B": apart, "A": lambda world: iter("x" * next(ELSEWHERE))}, {}, "A did not do the same again"),
    (Shared, TWO, {"laws": WITHIN, "always": WITHIN}, "laws have different names"),
    (Shared, TWO, {"laws": {NO_DEADLOCK: bool}}, "laws have different names"),
    (Shared, TWO, {"at_most": 1_000_001}, "at_most is 1 to 1,000,000"),
])  # fmt: skip
def test_what_would_give_a_wrong_count_is_refused(make: Any, programs: Any, options: Any, told: str) -> None:
    """Steps outside the steps, worlds that are not fresh, memory elsewhere, names that cannot be told apart."""
    with pytest.raises((ValueError, TypeError), match=told):
        interleave(make, programs, **options)


def test_the_result_does_not_hang_on_the_hash_seed() -> None:
    """Two processes that hash differently find the same orders in the same places."""
    code = "from test_interleave import *; f = interleave(Shared, TWO, WITHIN); print(f.rows, f.broken)"
    run, here = [sys.executable, "-c", code], Path(__file__).parent
    (told,) = {subprocess.check_output(run, cwd=here, env={"PYTHONHASHSEED": seed}) for seed in "12"}
    assert told.startswith(b"[('1', 'AABB', ''), ('2', 'ABAB', 'within budget'),")


class Guarded:
    """The real engine, with a read that may be executed once."""

    def __init__(self) -> None:
        self.entered, self.requests = Entered(), dict[int, Any]()
        self.dispatcher = guard(tool(self.entered), limits={"executions": 1})
        self.dispatcher.open_round()

    def ended(self) -> list[str]:
        """Deliver, stop and audit: the codes, and every law that is broken."""
        requests = [self.requests[place] for place in sorted(self.requests)]
        return codes(self.dispatcher.deliver(requests)) + sorted(broken(finished(self.dispatcher)))


def calling(place: int, claimed: str) -> Callable[[Guarded], Iterator[str | Wait]]:
    """One call: admitted in one step; performed in another, once a twin that it joins has its outcome."""

    def program(world: Guarded) -> Iterator[str | Wait]:
        yield "admit"
        request = world.requests[place] = world.dispatcher.admit(*calls(claimed), place)
        if request.outcome is None:
            yield Wait("perform", until=lambda world: getattr(request.original, "outcome", "mine"))
            world.dispatcher.perform(request)

    return program


@pytest.mark.parametrize(("ids", "other", "words"), [
    ("ab", "budget_exhausted", ("AAB", "ABA", "BAB", "BBA")), ("aa", "again:ok", ("AAB", "ABAB", "BABA", "BBA"))
])  # fmt: skip
def test_the_engine_starts_one_call_in_every_order(ids: str, other: str, words: tuple[str, ...]) -> None:
    """Admission is one step: the last execution is reserved once. A twin in flight is joined, a later one replayed."""
    laws = {
        "one start": lambda world: kinds(world.dispatcher.ledger, "started") == ["started"],
        "one entry": lambda world: len(world.entered.seen) == 1,
        "whole books": lambda world: world.ended() in (["ok", other], [other, "ok"]),
    }
    found = interleave(Guarded, {"A": calling(1, ids[0]), "B": calling(2, ids[1])}, laws)
    assert (found.words, found.broken) == (words, {})
