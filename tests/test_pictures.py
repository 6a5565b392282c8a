"""Pictures are drawn from the events of a ledger alone, and say the same in words."""

from __future__ import annotations

from typing import Any

from labkit import Ledger
from labkit.workbook.cases import lesson
from labkit.workbook.pictures import budgets, diagram, graph, steps
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
        assert graph(again) == graph(ledger)
        assert [step.seq for step in steps(again)] == list(range(1, len(ledger) + 1))


def arrows(ledger: Any) -> list[str]:
    """The arrows of a call graph, in order."""
    return [line.strip() for line in graph(ledger).text.splitlines() if "->" in line]


def test_a_call_graph_shows_who_called_whom_with_the_events() -> None:
    """Two calls of round 1, one refused before entry, so that its arrow goes back dotted; then one of round 2."""
    assert arrows(two_rounds()) == [
        "user --> r1",
        'r1 -->|"asks 2"| q1_1["1.1 length"]',
        'q1_1 -->|"starts 3"| t1',
        't1 -->|"1.1 ok 7"| r2',
        'r1 -->|"asks 5"| q1_2["1.2 shell"]',
        'q1_2 -.->|"1.2 unknown_tool 8"| r2',
        'r2 -->|"asks 10"| q2_1["2.1 upper"]',
        'q2_1 -->|"starts 11"| t2',
        't2 -->|"2.1 ok 13"| r3',
        'r3 -->|"answered 15"| over',
    ]


def test_a_call_graph_shows_attempts_downstream_and_how_the_run_ended() -> None:
    """Both attempts stand on one arrow; a run without an answer ends in its stop reason."""
    call = {"id": "1", "name": "get_merchant", "arguments": '{"merchantId":1001}'}
    out = [{"tool": "get_merchant", "attempt": n, "raises": "temporary"} for n in (1, 2)]
    drawn = run_of(world="merchants", faults=out, limits={"rounds": 1}, turns=[{"calls": [call]}])
    assert arrows(drawn)[3:] == [
        't1 -->|"tries 4, 5"| st1[("its service")]',
        't1 -->|"1.1 dependency_temporary 7"| over',
    ]
    assert '  over(["stopped: rounds_exhausted"])' in graph(drawn).text.splitlines()


def test_a_call_graph_of_part_of_a_run_ends_where_it_ends() -> None:
    """Nothing that has not happened yet is drawn; without an event there is only the user."""
    events = two_rounds().events
    assert arrows(events[:3]) == ["user --> r1", 'r1 -->|"asks 2"| q1_1["1.1 length"]', 'q1_1 -->|"starts 3"| t1']
    assert "over" not in graph(events[:3]).text
    assert graph([]).text.splitlines() == ["flowchart LR", '  user(["user"])']


def test_what_a_model_wrote_is_text_in_a_call_graph() -> None:
    """A tool's name cannot end its label or add an arrow; the tool that was really entered is the node."""
    hostile = {"id": "1", "name": 'a"] --> user; click x', "arguments": JAVA}
    (asked,) = (
        line for line in graph(run_of(world="text", turns=[{"calls": [hostile]}])).text.splitlines() if "asks" in line
    )
    assert asked.count('"') == 4
    assert "#34;#93; #45;#45;#62; user#59;" in asked
    tidied = lesson("01_allowlist")["tidied"]
    assert 'q1_2 -->|"starts 6"| t1' in arrows(play(tidied).run.ledger)
