"""Microseconds per call: candidates and sizes take turns in one process, A B A B, with the collector on.

The clock is the processor time of this process, so that what else the machine does disturbs less.
"""

from __future__ import annotations

import gc
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from bench.sample import Count, check, floor, in_one_batch, in_rounds, proposed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labkit import Call

Costs = dict[int, dict[str, "Cost"]]
FLOOR, BATCH, ROUNDS = "floor c2", "one batch", "rounds of 100"


class Cost(NamedTuple):
    """Microseconds per call over some repetitions."""

    best: float
    middle: float


def _floor(calls: Sequence[Call]) -> float:
    began = process_time()
    events, results = floor(calls)
    took = process_time() - began
    check(calls, len(events) // 4, [call_id for call_id, _ in results])
    return took


def _batch(calls: Sequence[Call]) -> float:
    began = process_time()
    dispatcher, outcomes = in_one_batch(calls)
    took = process_time() - began
    check(calls, Count.entries, [one.call_id for one in outcomes if one.code == "ok"], dispatcher.ledger)
    return took


def _rounds(calls: Sequence[Call]) -> float:
    began = process_time()
    told = in_rounds(calls)
    took = process_time() - began
    check(calls, Count.entries, [one.outcome.call_id for one in told.results if one.outcome.code == "ok"], told.ledger)
    return took


CANDIDATES: dict[str, Callable[[Sequence[Call]], float]] = {FLOOR: _floor, BATCH: _batch, ROUNDS: _rounds}


def measured(sizes: dict[int, int], names: Sequence[str] = tuple(CANDIDATES), passes: int = 5) -> Costs:
    """Costs by number of calls; `sizes` gives the repetitions of each size in every pass.

    The calls are made before, and what came of a run is freed before the next.
    """
    times: dict[int, dict[str, list[float]]] = {n: {name: [] for name in names} for n in sizes}
    for number in range(passes + 1):
        for n, repetitions in sizes.items():
            calls = proposed(n if number else 1_000)  # what is done once, such as filling caches, is no cost per call
            for name in list(names) * (repetitions if number else 1):
                Count.entries = 0
                gc.collect()
                took = CANDIDATES[name](calls) / n * 1e6
                if number:
                    times[n][name].append(took)
    return {n: {name: Cost(min(some), median(some)) for name, some in of.items()} for n, of in times.items()}
