"""A ledger leaves as OpenTelemetry spans under the names of the GenAI conventions."""

from labkit import Ledger
from labkit.bridges.otel import spans
from labkit.workbook.cases import lesson
from labkit.workbook.scenarios import play

START = lesson("00_start")


def test_only_what_was_executed_is_a_span() -> None:
    """A refused call is an event of the run, never a span: nothing was executed for it."""
    run, executed = spans(play(START["one good, one misspelt"]).run.ledger)
    assert (run["name"], run["attributes"]["labkit.stop_reason"]) == ("invoke_agent", "answered")
    assert executed["name"] == "execute_tool length"
    assert executed["attributes"] == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "length", "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "a", "labkit.round": 1, "labkit.position": 1,
    }  # fmt: skip
    assert (executed["start_s"], executed["end_s"]) == (0.125, 0.25)
    (refused,) = run["events"]
    assert refused["name"] == "labkit.rejected"
    assert refused["attributes"]["error.type"] == "unknown_tool"
    assert refused["attributes"]["gen_ai.tool.name"] == "uper"


def test_a_failed_execution_carries_its_code() -> None:
    """`error.type` of a span is the outcome's code, and no text of the exception is anywhere."""
    found = spans(play(START["the tool fails"]).run.ledger)
    assert found[1]["attributes"]["error.type"] == "internal_error"
    assert "CANARY" not in repr(found)


def test_an_empty_ledger_is_a_run_without_times() -> None:
    """A run that never began has its span and nothing else."""
    (run,) = spans(Ledger())
    assert (run["start_s"], run["end_s"], run["events"]) == (None, None, [])
