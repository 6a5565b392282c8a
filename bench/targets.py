"""The targets, each next to what was measured. `robust` ones hardly react to noise: the tests hold those."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bench.timing import BATCH, FLOOR, ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.imports import Load
    from bench.memory import Kept
    from bench.timing import Costs


class Target(NamedTuple):
    """One bound: what is measured must be at most `bound`."""

    name: str
    value: float
    bound: float
    robust: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.bound


def of_time(costs: Costs) -> Iterator[Target]:
    """G1, G3 and G4, as far as the sizes were measured."""
    if 10_000 in costs and FLOOR in costs[10_000]:
        ratio = costs[10_000][BATCH].best / costs[10_000][FLOOR].best
        yield Target("must: one batch of 10,000, times floor c2", ratio, 6)
        yield Target("goal: the same", ratio, 4)
    for name, small, large, bound, robust, label in _GROWTH:
        if {small, large} <= costs.keys():
            growth = costs[large][name].best / costs[small][name].best
            yield Target(f"{label}: {name}, cost per call at {large:,} over {small:,}", growth, bound, robust)


_GROWTH = (
    (BATCH, 1_000, 10_000, 1.15, False, "must"),
    (BATCH, 10_000, 100_000, 1.5, True, "on the way"),
    (BATCH, 10_000, 1_000_000, 1.5, False, "must"),
    (BATCH, 10_000, 1_000_000, 1.25, False, "goal"),
    (BATCH, 10_000, 1_000_000, 1.15, False, "stretch"),
    (ROUNDS, 1_000, 10_000, 1.15, False, "must"),
    (ROUNDS, 1_000, 10_000, 1.5, True, "on a busy machine"),
    (ROUNDS, 1_000, 10_000, 1.05, False, "stretch"),
    (ROUNDS, 1_000, 100_000, 1.15, False, "goal"),
    (ROUNDS, 1_000, 1_000_000, 1.15, False, "goal"),
)


def of_memory(kept: Kept, resident: float | None) -> Iterator[Target]:
    """G5, by the interpreter's account and by the system's."""
    yield Target("must: bytes kept per call, one batch, traced", kept.batch, 1_100, robust=True)
    yield Target("stretch: the same", kept.batch, 850)
    if resident is not None:
        yield Target("must: the same, resident growth", resident, 1_100)
    yield Target("must: bytes kept per event of the ledger", kept.event, 180, robust=True)


def of_import(load: Load) -> Iterator[Target]:
    """G6: against pydantic with one model."""
    ratio = load.labkit[0] / load.pydantic[0]
    yield Target("must: import labkit over pydantic and one model", ratio, 1.3)
    yield Target("the same on a busy machine", ratio, 1.5, robust=True)
    yield Target("must: heavy modules loaded by it", len(load.heavy), 0, robust=True)
