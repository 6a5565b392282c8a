"""What a guarded call costs. Compare ratios within one run, never microseconds between machines.

python -m bench            everything: five minutes or more and 3 GB, because of the million calls
python -m bench --quick    up to 100,000 calls, in under 30 s
python -m bench --bounds   only what hardly reacts to noise; exit status 1 if a bound is broken
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from bench import imports, memory, targets
from bench.timing import BATCH, CANDIDATES, FLOOR, ROUNDS, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.targets import Target
    from bench.timing import Costs

# calls -> repetitions in each pass
FULL = {1_000: 5, 10_000: 3, 100_000: 1, 1_000_000: 1}
QUICK = {1_000: 5, 10_000: 2, 100_000: 1}
BOUNDS = {1_000: 5, 10_000: 3, 100_000: 1}


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, and say which targets are met."""
    asked = argparse.ArgumentParser(prog="python -m bench", description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    asked.add_argument("--quick", action="store_true", help="no run of a million calls")
    asked.add_argument("--bounds", action="store_true", help="the robust bounds only, for tests")
    options = asked.parse_args(given)
    load = imports.loaded(9 if options.quick or options.bounds else 15)
    kept = memory.traced(10_000)
    if options.bounds:
        costs = measured(BOUNDS, (BATCH, ROUNDS), passes=3)
        checked = [one for one in _all(costs, kept, None, load) if one.robust]
        _print_targets(checked)
        return int(not all(one.met for one in checked))
    resident = memory.resident(100_000)
    costs = measured(QUICK, passes=2) if options.quick else measured(FULL)
    _print_times(costs)
    print("\nbytes kept per call      traced  resident growth")
    print(f"{BATCH:20s} {kept.batch:10,.0f} {'not told' if resident is None else f'{resident:,.0f}':>16s}")
    print(f"{ROUNDS:20s} {kept.rounds:10,.0f}")
    print(f"ledger, per event    {kept.event:10,.0f}")
    print("\nimport, ms above a bare interpreter: min (median)")
    for name, (least, middle) in (("labkit", load.labkit), ("pydantic and one model", load.pydantic)):
        print(f"{name:24s}{least:6.0f} ({middle:.0f})")
    print(f"heavy modules           {', '.join(load.heavy) or 'none'}")
    _print_targets(_all(costs, kept, resident, load))
    return 0


def _all(costs: Costs, kept: memory.Kept, resident: float | None, load: imports.Load) -> list[Target]:
    return [*targets.of_time(costs), *targets.of_memory(kept, resident), *targets.of_import(load)]


def _print_times(costs: Costs) -> None:
    print(f"{'us per call: min (median)':26s}" + "".join(f"{f'n={n:,}':>16s}" for n in costs))
    for name in CANDIDATES:
        cells = [f"{row[name].best:.2f} ({row[name].middle:.2f})" for row in costs.values()]
        print(f"{name:26s}" + "".join(f"{cell:>16s}" for cell in cells))
    for name in (BATCH, ROUNDS):
        cells = [f"{row[name].best / row[FLOOR].best:.2f}" for row in costs.values()]
        print(f"{name + ' / ' + FLOOR:26s}" + "".join(f"{cell:>16s}" for cell in cells))


def _print_targets(found: Sequence[Target]) -> None:
    print(f"\n{'target':68s}{'measured':>10s}{'at most':>10s}")
    for one in found:
        said = "met" if one.met else "NOT MET"
        print(f"{one.name:68s}{one.value:>10,.2f}{one.bound:>10,.2f}  {said}")


if __name__ == "__main__":
    sys.exit(main())
