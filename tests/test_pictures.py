"""Pictures are drawn from the events of a ledger alone, and say the same in words."""

from __future__ import annotations

from typing import Any

from labkit import Ledger
from labkit.workbook.cases import lesson
from labkit.workbook.pictures import budgets, diagram, steps
from labkit.workbook.scenarios import make_scenario, play

JAVA = '{"text":"Java"}'


def run_of(**scenario: Any) -> Ledger:
    return play(make_scenario(scenario)).run.ledger


def two_rounds(**limits: Any) -> Ledger:
    """Round 1: two calls, one refused. Round 2: one call. Then an answer."""

    def turn(*calls: tuple[str, str]) -> dict[str, Any]:
        return {"calls": [{"id": own, "name": name, "arguments": JAVA} for own, name in calls]}

    turns = [turn(("1", "length"), ("2", "shell")), turn(("3", "upper")), {"answer": "4"}]
    return run_of(world="text", turns=turns, limits={"rounds": 4, "requests": 6, "executions": 2} | limits)


def test_budgets_are_counted_after_each_round() -> None:
    """A refused call spends a request and no execution; an answer spends a round. Numbers by hand."""
    assert budgets(two_rounds()).text.splitlines() == [
        "round  rounds  requests  executions",
        "    0     0/4       0/6         0/2",
        "    1     1/4       2/6         1/2",
        "    2     2/4       3/6         2/2",
        "    3     3/4       3/6         2/2",
    ]  # fmt: skip


def test_only_limits_that_were_set_are_drawn_and_zero_is_used_up() -> None:
    """Cost, deadline and a tool's own limit appear where they are set; of nothing everything is used."""
    drawn = budgets(two_rounds(cost=5, deadline_s=1, per_tool={"length": 2, "average": 0}))
    assert drawn.text.splitlines()[0].split() == [
        "round", "rounds", "requests", "executions", "cost", "length", "average", "deadline_s"
    ]  # fmt: skip
    values = drawn.spec["data"]["values"]
    assert {row["used"] for row in values if row["budget"].startswith("average")} == {100}
    assert [row["used"] for row in values if row["budget"].startswith("cost")] == [0, 20, 40, 40]


def test_a_chart_is_declared_and_carries_its_numbers_as_text() -> None:
    """JupyterLab draws Vega-Lite by itself; whoever does not reads the table. No address is fetched for data."""
    bundle = budgets(two_rounds())._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "text/plain"}
    assert set(bundle["application/vnd.vegalite.v5+json"]["data"]) == {"values"}
    assert budgets(Ledger()).text == "round"


def test_a_ledger_read_back_from_a_file_gives_the_same_picture() -> None:
    """The picture needs nothing but the exported lines."""
    for scenario in lesson("06_loop").values():
        ledger = play(scenario).run.ledger
        again = Ledger.from_jsonl(ledger.to_jsonl())
        assert diagram(again) == diagram(ledger)
        assert budgets(again) == budgets(ledger)
        assert [step.seq for step in steps(again)] == list(range(1, len(ledger) + 1))
