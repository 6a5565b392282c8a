"""What `import labkit` costs in processor time, in fresh interpreters that take turns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
HEAVY = ("asyncio", "pandas", "numpy", "ipywidgets")
LABKIT = "import labkit"
PYDANTIC = "import pydantic\nclass One(pydantic.BaseModel): x: int"


class Load(NamedTuple):
    """Milliseconds, each (min, median) of the repetitions, and which heavy modules came along."""

    labkit: tuple[float, float]
    pydantic: tuple[float, float]
    heavy: list[str]


def loaded(repetitions: int) -> Load:
    """Import labkit, and pydantic with one model, in turn."""
    times: dict[str, list[float]] = {LABKIT: [], PYDANTIC: []}
    for _ in range(repetitions + 1):
        for code, some in times.items():
            some.append(1e3 * float(_told(f"from time import process_time as t\na = t()\n{code}\nprint(t() - a)")))
    ours, theirs = ((min(some[1:]), median(some[1:])) for some in times.values())  # the first fills the file cache
    heavy = _told(f"import sys, labkit\nprint(*[name for name in {HEAVY!r} if name in sys.modules])")
    return Load(ours, theirs, heavy.split())


def _told(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours
