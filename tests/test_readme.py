"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_says_what_the_text_says() -> None:
    """The ten lines answer 4, refuse the conflict, stop as answered and break no law."""
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(code, {"__name__": "readme"})  # noqa: S102 - our own page
    assert '"data":{"length":4}' in told.getvalue()
    assert "id_conflict" in told.getvalue()
    assert told.getvalue().rstrip().endswith("answered []")


def test_the_scenario_on_the_command_line_runs() -> None:
    """What the page pipes into `labkit run` gives the answer that tells nothing."""
    (scenario,) = re.findall(r"echo '(.*?)' \|", README, flags=re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-m", "labkit", "run", "-"], input=scenario.encode(), capture_output=True, check=True
    )
    (result,) = json.loads(ran.stdout)["results"]
    assert result["code"] == "not_found_or_not_accessible"


def test_every_link_leads_somewhere() -> None:
    """A file that the page points to is there."""
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_list_of_gates_is_the_list() -> None:
    """The order on the page is the order in the engine."""
    from labkit import GATES  # noqa: PLC0415 - only here

    (shown,) = re.findall(r"GATES = \((.*?)\)", README)
    assert shown.split(", ") == [gate.__name__ for gate in GATES]
