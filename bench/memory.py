"""Bytes kept per call, without the request objects that the fake model made."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import NamedTuple

from bench.sample import in_one_batch, in_rounds, proposed

ROOT = Path(__file__).parents[1]
RESIDENT = Path("/proc/self/statm")  # Linux: the second number is resident pages


class Kept(NamedTuple):
    """Bytes by the interpreter's own account; `event` is the ledger alone, by event."""

    batch: float
    event: float
    rounds: float


def traced(n: int) -> Kept:
    """What one batch, its ledger alone, and a run in rounds of 100 keep alive."""
    calls = proposed(n)
    in_one_batch(calls[:200])
    in_rounds(calls[:200])
    gc.collect()
    tracemalloc.start()
    try:
        before = _now()
        dispatcher, outcomes = in_one_batch(calls)
        batch = (_now() - before) / n
        ledger = dispatcher.ledger
        del dispatcher, outcomes
        event = (_now() - before) / len(ledger)
        del ledger
        before = _now()
        told = in_rounds(calls)
        rounds = (_now() - before) / n
        del told
    finally:
        tracemalloc.stop()
    return Kept(batch, event, rounds)


def _now() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def resident(n: int) -> float | None:
    """Growth of a fresh process per call of one batch; None where the system does not tell."""
    if not RESIDENT.exists():
        return None
    command = [sys.executable, "-c", f"from bench.memory import grown; print(grown({n}))"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return float(told.stdout)


def grown(n: int) -> float:
    """Resident growth of this process per call of one batch, in bytes."""
    from resource import getpagesize  # noqa: PLC0415 - not on every system

    calls = proposed(n)
    in_one_batch(calls[:200])
    gc.collect()
    before = int(RESIDENT.read_text().split()[1])
    kept = in_one_batch(calls)
    gc.collect()
    after = int(RESIDENT.read_text().split()[1])
    del kept
    return (after - before) * getpagesize() / n
