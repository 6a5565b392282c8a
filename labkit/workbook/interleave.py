"""Every order in which the steps of small programs can follow each other, run and judged one after another.

1. A program is a generator over a world: each `yield "label"` heads the step below it, which runs to the next
   `yield` or to the end without interruption. Above its first `yield` a program does not touch the world.
2. Each order runs in a fresh world. Orders are numbered from 1, depth first: at each place the first program that
   can go on goes on first. Nothing is drawn, slept or threaded, so a number or a word (`ABAB`) replays an order.
3. `yield Wait("label", until=condition)` heads a step that can begin only while the condition holds. That all wait,
   or that one raises, ends the order there and is a broken law.
4. More than a million orders, or a thousand steps of one program, are refused. A step that never ends goes unnoticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from math import factorial, prod
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from labkit.calls import shown
from labkit.workbook.pictures import Diagram

__all__ = ["NO_DEADLOCK", "NO_EXCEPTION", "Found", "Order", "Replay", "TooMany", "Wait", "interleave", "replay"]

MAX_ORDERS = 1_000_000
"""Orders that are run at most: about a minute of small programs, and some 100 MB for their words."""
MAX_STEPS = 1_000
"""Steps of one program: far beyond what can be interleaved, near enough to refuse an endless one at once."""
NO_DEADLOCK, NO_EXCEPTION = "no deadlock", "no exception"
"""The laws that are always judged."""
W = TypeVar("W")


class TooMany(ValueError):
    """More orders, or more steps of one program, than are run."""


class Wait(NamedTuple):
    """Heads a step that can begin only while `until(world)` is true. The condition looks and changes nothing."""

    label: str
    until: Callable[[Any], object]

    def __str__(self) -> str:
        return self.label


class Order(NamedTuple):
    """An order by number, and by word: the first letter of the program of each step; and how it broke a law."""

    number: int
    word: str
    why: str


Programs = Mapping[str, Callable[[W], Iterator[str | Wait]]]
Laws = Mapping[str, Callable[[W], object]]


@dataclass(frozen=True, repr=False)
class Found(Generic[W]):
    """What became of every order.

    Attributes:
        orders, words: how many there are; the word of each: that of order number n is `words[n - 1]`.
        laws, breaches: every law that was judged; by number, how an order broke which law.
        replay: `replay(order, *show)` runs one of them again, as the function of this name does.
    """

    orders: int
    words: tuple[str, ...]
    laws: tuple[str, ...]
    breaches: Mapping[int, Mapping[str, str]]
    replay: Callable[..., Replay[W]]

    COLUMNS = ("order", "steps", "breaks")

    @cached_property
    def broken(self) -> dict[str, list[Order]]:
        """By law, the orders that break it; a law that holds in every order is not in it."""
        found = {law: [Order(n, self.words[n - 1], why[law]) for n, why in self.breaches.items() if law in why]
                 for law in self.laws}  # fmt: skip
        return {law: orders for law, orders in found.items() if orders}

    @property
    def counts(self) -> dict[str, int]:
        """How many orders there are, and how many of them break each law."""
        return {"orders": self.orders} | {law: len(self.broken.get(law, ())) for law in self.laws}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Number, word and broken laws of every order."""
        return [(str(n), word, ", ".join(self.breaches.get(n, ()))) for n, word in enumerate(self.words, 1)]

    def __repr__(self) -> str:
        told = [f"{law!r} is broken in {len(orders):,}, first in order {orders[0].number:,} ({orders[0].word})"
                for law, orders in self.broken.items()]  # fmt: skip
        return f"{self.orders:,} order{'s' * (self.orders != 1)}: {'; '.join(told) or 'every law holds in each'}"


class Replay(Generic[W]):
    """One order as it runs.

    Attributes:
        world: as the steps so far left it.
        broken: law -> how it was broken; of a replay, why it could not go on.
        rows, columns: place, program and label of each step, and what was to be shown of the world after it.
    """

    def __init__(self, world: W, programs: Programs[W], steps: int, always: Laws[W] | None = None,
                 path: Sequence[int] = (), broken: Mapping[str, str] | None = None) -> None:  # fmt: skip
        self.world, self.names, self.waited = world, tuple(programs), False
        self.columns, self.rows = tuple[str, ...](("#", "program", "step")), list[tuple[str, ...]]()
        self.taken, self.broken = list[int](), dict(broken or {})
        self._most, self._always = steps, always
        self._bodies = [program(world) for program in programs.values()]
        self.heads: list[Any] = [self._checked(n, next(body, _END)) for n, body in enumerate(self._bodies)]
        for place in path:  # the beginning of an earlier order: what comes of it is known
            self.heads[place] = next(self._bodies[place], _END)
        self.taken += path

    @property
    def word(self) -> str:
        return "".join([self.names[place][0] for place in self.taken])

    def diagram(self) -> Diagram:
        """A lane a program, time running down."""
        lines = ["sequenceDiagram", *(f"  participant P{n} as {name}" for n, name in enumerate(self.names))]
        for place, (number, _, label, *values) in zip(self.taken, self.rows, strict=True):
            seen = ", ".join(f"{name} {value}" for name, value in zip(self.columns[3:], values, strict=True))
            lines.append(f"  Note over P{place}: {number} {label}" + f" ({seen})" * bool(seen))
        lines += [f"  Note over P0,P{len(self.names) - 1}: {why}" for why in self.broken.values()]
        drawn = ("".join(c if c.isalnum() or c in " _.,:()/" else f"#{ord(c)};" for c in line) for line in lines)
        return Diagram("\n".join(drawn))

    def ready(self) -> list[int]:
        """The programs that can go on, by place. None: the order is over, and a deadlock is noted if it is one."""
        can, waiting = list[int](), list[int]()
        for place, head in enumerate(self.heads):
            try:
                if head is not _END:
                    (can if isinstance(head, str) or head.until(self.world) else waiting).append(place)
            except Exception as error:  # noqa: BLE001 - a condition is part of its program
                self._fail(place, "before", error)
                return []
        if waiting and not can:
            self.broken[NO_DEADLOCK] = " and ".join(f"{self.names[n]} waits before {self.heads[n]}" for n in waiting)
        return can

    def take(self, place: int) -> None:
        """Let a program take its next step, and judge the laws that hold at every step."""
        if self.heads[place] is _END:
            raise ValueError(f"{self.names[place]} did not do the same again: it keeps something outside its world")
        self.taken.append(place)
        try:
            head = next(self._bodies[place], _END)
        except Exception as error:  # noqa: BLE001 - a program may raise anything; this is where it ends
            self._fail(place, f"in step {len(self.taken)},", error)
        else:
            self.heads[place] = self._checked(place, head)
        if self._always:
            self.judge(self._always, f"after step {len(self.taken)}")

    def judge(self, laws: Laws[W], when: str) -> None:
        """Note which laws the world breaks now and did not break before."""
        for name, law in laws.items():
            if name not in self.broken and not law(self.world):
                self.broken[name] = when

    def _checked(self, place: int, head: object) -> object:
        name = self.names[place]
        if head is not _END and self.taken.count(place) >= self._most:
            raise TooMany(f"{name} took {self._most:,} steps and has not ended: let it Wait, not ask again")
        if head is not _END and not isinstance(head, str):
            self.waited = True
            if not isinstance(head, Wait):
                raise TypeError(f"{name} yields the heading of a step, text or Wait, not {head!r:.60}")
        return head

    def _fail(self, place: int, where: str, error: Exception) -> None:
        self.broken[NO_EXCEPTION] = f"{self.names[place]} raised {shown(repr(error), 120)} {where} {self.heads[place]}"
        self.heads = [_END] * len(self.heads)


def interleave(
    make_world: Callable[[], W], programs: Programs[W], laws: Laws[W] | None = None, always: Laws[W] | None = None,
    *, at_most: int = MAX_ORDERS, steps: int = MAX_STEPS,
) -> Found[W]:  # fmt: skip
    """Run the programs in every order of their steps, and say which orders break which law.

    Args:
        make_world: gives each order its own fresh world.
        programs: by name. Their names differ in the first letter, for it spells the orders' words.
        laws, always: what must be true of the world at the end of each order that comes to its end; after every step.
        at_most, steps: orders in all (a million or less), steps of one program, beyond which the search is refused.

    Raises:
        TooMany: too many orders or steps. If each program takes as many steps whichever of them goes first, and
            none waits, the orders are taken to be as many as the multinomial coefficient, and refused before they
            are run. That is seen, not proved: a program that ends early only if interrupted looks as if it did
            not branch. In every other case orders are counted while they run.
        ValueError, TypeError: programs, laws or worlds that cannot work. What a law raises comes through as it is.
    """
    laws, always = laws or {}, always or {}
    names = (*laws, *always, NO_DEADLOCK, NO_EXCEPTION)
    if len(set(names)) < len(names) or not 0 < at_most <= MAX_ORDERS:
        raise ValueError(f"laws have different names (not {', '.join(names)}), and at_most is 1 to {MAX_ORDERS:,}")
    _refuse_at_once(make_world, programs, at_most, steps)
    words, breaches = list[str](), dict[int, dict[str, str]]()
    for order in _orders(make_world, programs, steps, always):
        if len(words) == at_most:
            raise TooMany(f"more than {at_most:,} orders; {words[-1]} was the last that was run. {_SMALLER}")
        if not {NO_DEADLOCK, NO_EXCEPTION} & order.broken.keys():
            order.judge(laws, "at the end")
        words.append(order.word)
        if order.broken:
            breaches[len(words)] = order.broken
    return Found(len(words), tuple(words), names, breaches, partial(replay, make_world, programs, steps=steps))


def replay(make_world: Callable[[], W], programs: Programs[W], order: int | str | Order, *show: str,
           steps: int = MAX_STEPS) -> Replay[W]:  # fmt: skip
    """Run one order, given by word or by number (then those before it are run as well).

    Args:
        show: attributes of the world for the rows, dotted if they lie deeper (`ledger.executions`).

    Raises:
        ValueError: there is no such order; of a word it says where it goes wrong, and what was possible there.
    """
    _check(programs)
    if isinstance(order, int):
        numbered = next(islice(_orders(make_world, programs, steps), max(0, order - 1), None), None)
        if numbered is None or order < 1:
            raise ValueError(f"there is no order {order:,}: they are numbered from 1 to as many as there are")
        order = numbered.word
    word, run = order if isinstance(order, str) else order.word, Replay(make_world(), programs, steps)
    run.columns += show
    for place, letter in enumerate((*word, ""), 1):
        can = {run.names[program][0]: program for program in run.ready()}
        if letter not in can and (letter or can):
            there = f"goes on with {' or '.join(can)}" if can else "is over"
            raise ValueError(f"{shown(word, 80)!r} is no order: after {place - 1} steps it {there}")
        if letter:
            step = (str(place), run.names[can[letter]], str(run.heads[can[letter]]))
            run.take(can[letter])
            run.rows.append((*step, *(shown(str(attrgetter(name)(run.world)), 60) for name in show)))
    return run


def _orders(make_world: Callable[[], W], programs: Programs[W], steps: int,
            always: Laws[W] | None = None) -> Iterator[Replay[W]]:  # fmt: skip
    """Every order, run to its end. A generator cannot be copied: each order runs from the start."""
    ahead: list[tuple[list[int], dict[str, str]]] = [([], {})]  # how each order yet to run begins, laws broken by then
    while ahead:
        path, broken = ahead.pop()
        order = Replay(make_world(), programs, steps, always, path[:-1], broken)
        for place in path[-1:]:
            order.take(place)
        while can := order.ready():
            ahead += [([*order.taken, other], dict(order.broken)) for other in reversed(can[1:])]
            order.take(can[0])
        yield order


def _check(programs: Programs[Any]) -> None:
    """Raise ValueError for programs that cannot work. Each is begun once, in a world that has nothing in it."""
    if len({name[0] for name in programs if name}) < len(programs):
        raise ValueError(f"programs need names that differ in the first letter, not {', '.join(map(repr, programs))}")
    for name, program in programs.items():
        try:
            next(program(object()), _END)
        except Exception as error:
            raise ValueError(f"{name} must be a generator that touches its world only below its first yield, the"
                             f" heading of its first step ({shown(repr(error), 120)})") from error  # fmt: skip


def _refuse_at_once(make_world: Callable[[], W], programs: Programs[W], at_most: int, steps: int) -> None:
    """Raise `TooMany` if the programs do not seem to branch or wait, and have too many orders."""
    _check(programs)
    names = [*programs]
    turned = ({name: programs[name] for name in names[n:] + names[:n]} for n in range(len(names) or 1))
    runs = [next(_orders(make_world, each, steps)) for each in turned]
    if len({id(run.world) for run in runs}) < len(runs):
        raise ValueError("make_world gave the same world twice: each order needs a fresh one")
    taken = Counter(runs[0].word)
    orders = factorial(taken.total()) // prod(map(factorial, taken.values()))
    if orders > at_most and not any(run.waited or Counter(run.word) != taken for run in runs):
        number = f"{orders:,}" if orders < 10**15 else "more than 10**15"
        told = ", ".join(f"{name} {taken[name[0]]:,}" for name in names)
        raise TooMany(f"{number} orders (steps: {told}), and at most {at_most:,} are run. {_SMALLER}")


_END = object()
_SMALLER = "Take fewer programs, or join steps between which nothing can go wrong."
