"""Tool calls that went wrong in other projects, played on the real engine: each comes out as its report asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import external
import pytest
from external import Report

from labkit import Outcome, Principal, Response, Run, audit, drive, read_object
from labkit import scripted as script
from labkit.arguments import BadArguments
from labkit.worlds.notices import NOTICES

ROWS = external.rows("reports.jsonl")

# Rows that no test plays yet, each with the reason.
NOT_YET: dict[str, str] = {}

# The kind of fault the strict reader finds in each call's text; None where it finds none.
REASONS: dict[str, list[str | None]] = {
    "R001": ["incomplete"], "R004": ["incomplete"], "R007": ["blank", None], "R009": ["blank"],
    "R010": ["not_object"], "R011": ["not_text"], "R017": ["not_object"], "R020": ["not_text"],
    "R021": ["not_object"] * 5, "R023": ["trailing_text"], "R024": ["trailing_text"], "R026": ["trailing_text"],
    "R028": ["not_json"], "R031": ["not_json"] * 2, "R033": ["not_json"], "R035": ["not_json"] * 2,
    "R041": ["duplicate_key"], "R044": ["surrogate"] * 2, "R047": ["not_json"] * 2, "R090": ["incomplete", None],
}  # fmt: skip

# The field that each outcome names. A fault of the text is no fault of a field.
FIELDS: dict[str, list[str | None]] = {
    "R001": [None], "R014": [None, "query"], "R015": ["published_from"], "R033": [None], "R053": ["id", None],
    "R054": ["id"] * 3, "R057": [None, "id"], "R080": [None, "text", None], "R117": ["user_id"],
    "R126": [None, "executions", "executions"], "R131": ["executions"], "R147": ["published_from"] * 4,
    "R148": ["published_from"] * 4, "R149": ["published_from"] * 3, "R153": ["merchantId"] * 2,
    "R154": ["merchantId"] * 2, "R156": ["text", "query", "text"], "R157": ["status"] * 3, "R158": ["filter"],
    "R159": ["published_to"], "R162": ["status", None], "R167": [None, "query"],
}  # fmt: skip

# What each result holds; notices are named by their ids.
DATA: dict[str, list[object]] = {
    "R007": [None, {"length": 4}], "R014": [["D1", "D2"], None], "R029": [{"length": 18}], "R045": [{"length": 1}],
    "R053": [None, {"length": 3}], "R056": [{"length": 4}, None], "R057": [{"length": 4}, None],
    "R066": [{"length": 4}, {"length": 3}, {"length": 4}], "R073": [{"length": 4}, None, {"upper": "JAVA"}],
    "R080": [{"length": 4}, None, {"upper": "JAVA"}], "R090": [None, {"length": 4}], "R102": [None],
    "R106": [{"length": 4}, {"length": 4}], "R109": [None], "R114": [None, ["D1", "D2"]], "R116": [[]],
    "R120": [None, None], "R126": [{"length": 1}, None, None], "R131": [None], "R152": [[]],
}  # fmt: skip

# What each text must hold, where the report asks for an explanation.
WORDS: dict[str, tuple[str, ...]] = {
    "R109": ("run-1.1.1",), "R142": ('"truncated":true',), "R149": ("YYYY-MM-DD",), "R157": ("open", "closed"),
    "R159": ("published_to",),
}  # fmt: skip

OWN: dict[str, Callable[[Report], tuple[list[str], int]]] = {}


def own(name: str) -> Callable[[Callable[[Report], tuple[list[str], int]]], object]:
    """Register how to play a row that the plain player cannot set up; gives codes and executions."""
    return lambda play: OWN.setdefault(name, play)


def agrees(name: str, codes: list[str], executed: int) -> bool:
    """Whether that is what the row expects; a list inside a list holds alternatives."""
    expect = ROWS[name]["expect"]
    told = [one if isinstance(one, list) else [one] for one in expect["codes"]]
    counts = expect["executed"] if isinstance(expect["executed"], list) else [expect["executed"]]
    return len(codes) == len(told) and all(map(list.__contains__, told, codes)) and executed in counts


def codes_of(run: Run) -> list[str]:
    return [result.outcome.code for result in run.results]


def data_of(outcome: Outcome) -> object:
    data = outcome.data
    return [notice["id"] for notice in data] if isinstance(data, list) else data


def reason_of(text: object) -> str | None:
    try:
        read_object(text)
    except BadArguments as refused:
        return refused.reason
    return None


def kinds_of(run: Run, position: int) -> list[str]:
    return [event.kind for event in run.ledger if event.position == position]


PLAIN = [name for name, row in ROWS.items() if Report(row["given"]).playable() and name not in NOT_YET]
EACH = PLAIN or [pytest.param("", marks=pytest.mark.skip(reason=external.WHY_SKIPPED), id="reports")]


@pytest.mark.parametrize("name", EACH)
def test_a_report_comes_out_as_it_asks(name: str) -> None:
    """Codes, executions, reasons, fields, data and words are those of the report, and the ledger keeps every law."""
    report = Report(ROWS[name]["given"])
    run = report.play()
    outcomes = [result.outcome for result in run.results]
    texts = [result.text for result in run.results]
    assert agrees(name, codes_of(run), len(report.entered))
    assert run.ledger.counts["executed"] == len(report.entered)
    assert [(result.call, outcome.call_id) for result, outcome in zip(run.results, outcomes, strict=True)] == [
        (call, call.id) for call in report.calls()
    ]
    assert audit(run.ledger) == []
    assert all(kinds_of(run, place) == ["requested", "rejected", "delivered"]
               for place, outcome in enumerate(outcomes, 1) if outcome.status == "rejected")  # fmt: skip
    assert report.entered or report.world.spy.entries == 0
    assert not any("CANARY" in text or "10.0.0.9" in text for text in texts)
    if name in REASONS:
        assert [reason_of(result.call.arguments) for result in run.results] == REASONS[name]
    if name in FIELDS:
        assert [outcome.field for outcome in outcomes] == FIELDS[name]
    if name in DATA:
        assert [data_of(outcome) for outcome in outcomes] == DATA[name]
    assert all(word in text for word in WORDS.get(name, ()) for text in texts)


def plain(name: str) -> tuple[Report, Run]:
    """A row, played; skips the test where there are no rows."""
    external.file("reports.jsonl")
    report = Report(ROWS[name]["given"])
    return report, report.play()


def test_an_exception_is_told_to_the_guarded_log_alone() -> None:
    """R109: what the tool raised reaches the log whole, and neither text nor answer holds any of it."""
    report, run = plain("R109")
    assert [str(error) for error in report.logged] == ["RuntimeError: db host 10.0.0.9 INTERNAL_CANARY"]
    assert (run.stop, run.answer) == ("terminal_error", None)
    assert "CANARY" not in "".join(message.text for message in run.messages) + run.ledger.to_jsonl()


def test_a_foreign_notice_and_a_missing_one_cannot_be_told_apart() -> None:
    """R120: the two texts that leave are equal in every byte."""
    _, run = plain("R120")
    assert run.results[0].text.encode() == run.results[1].text.encode()


def test_a_date_leaves_as_iso_text_where_a_field_declares_it() -> None:
    """R137: a day that the tool returns as a date is text in JSON."""
    _, run = plain("R137")
    assert run.results[0].outcome.data == {"id": "D1", "published_on": "2026-09-10", "content": NOTICES[0].content}


def test_megabytes_are_cut_to_the_limit_in_whole_characters() -> None:
    """R142: the text is valid JSON, says that and how much was left out, and what is left is a prefix."""
    _, run = plain("R142")
    told = json.loads(run.results[0].text)
    content = told["data"]["content"]
    whole = 3 * 400_000
    assert ("报名😀" * 400_000).startswith(content)
    assert (told["truncated"], told["omitted"]) == (True, whole - len(content))
    envelope = '{"id":"D1","published_on":"2026-09-10","content":""}'
    assert told["size"] == whole + len(envelope)
    assert len(run.results[0].text) < 17_000


def test_a_refused_call_and_a_served_one_differ_in_the_ledger_alone() -> None:
    """R162 and R167: proposed and rejected, or proposed, started and returned, with the code in the event."""
    for name, refused, served in (("R162", 1, 2), ("R167", 2, 1)):
        _, run = plain(name)
        assert kinds_of(run, refused) == ["requested", "rejected", "delivered"]
        assert kinds_of(run, served) == ["requested", "started", "returned", "delivered"]
        settled = {event.position: event.code for event in run.ledger if event.kind in ("rejected", "returned")}
        assert settled == {refused: "invalid_arguments", served: "ok"}


@own("R062")
def in_two_runs(report: Report) -> tuple[list[str], int]:
    first, second = (drive(script([Response([call])]), report.dispatcher()) for call in report.calls())
    assert [run.results[0].outcome.data for run in (first, second)] == [{"length": 4}, {"length": 3}]
    assert [len(run.results) for run in (first, second)] == [1, 1]
    return codes_of(first) + codes_of(second), len(report.entered)


@own("R085")
def finished_in_the_other_order(report: Report) -> tuple[list[str], int]:
    dispatcher = report.dispatcher()
    dispatcher.open_round()
    first, second = (dispatcher.admit(call, place) for place, call in enumerate(report.calls(), 1))
    for request in (second, first):
        dispatcher.perform(request)
    outcomes = dispatcher.deliver([first, second])
    assert [(outcome.call_id, outcome.data) for outcome in outcomes] == [("c1", {"length": 4}), ("c2", {"length": 2})]
    return [outcome.code for outcome in outcomes], len(report.entered)


@own("R088")
def with_a_result_that_nobody_asked_for(report: Report) -> tuple[list[str], int]:
    dispatcher = report.dispatcher()
    dispatcher.open_round()
    request = dispatcher.admit(report.calls()[0], 1)
    (foreign,) = report.given["context"]["results"]
    before = len(dispatcher.ledger)
    with pytest.raises(ValueError, match="c7"):
        dispatcher.settle(request, Outcome(foreign["id"], "ok", foreign["value"]))
    assert len(dispatcher.ledger) == before
    assert dispatcher.perform(request).data == {"length": 4}
    return [outcome.code for outcome in dispatcher.deliver([request])], len(report.entered)


@own("R092")
def cancelled_from_outside(report: Report) -> tuple[list[str], int]:
    def cancel(tool: str) -> None:
        raise asyncio.CancelledError

    report.meanwhile, dispatcher = cancel, report.dispatcher()
    with pytest.raises(asyncio.CancelledError):
        drive(script(report.responses()), dispatcher)
    assert audit(dispatcher.ledger) == []
    assert dispatcher.ledger[-1].code == "cancelled"
    return [str(event.code) for event in dispatcher.ledger if event.kind == "delivered"], len(report.entered)


@own("R098")
def stopped_while_the_first_runs(report: Report) -> tuple[list[str], int]:
    dispatcher = report.dispatcher()
    report.meanwhile = lambda tool: dispatcher.close("cancelled")
    run = drive(script(report.responses()), dispatcher)
    assert report.entered == ["search_notices"]
    assert (run.stop, run.answer, audit(run.ledger)) == ("cancelled", None, [])
    return codes_of(run), len(report.entered)


@own("R123")
def permission_taken_away_after_the_proposal(report: Report) -> tuple[list[str], int]:
    now = [report.principal()]
    dispatcher = report.dispatcher(lambda: now[0])

    def model(messages: object) -> Response:
        now[0] = Principal("u-alice", "A", now[0].permissions - {"notices:search"})
        return Response(report.calls() if len(now) == 1 and not dispatcher.ledger.requests else [])

    run = drive(model, dispatcher)
    assert report.world.spy.entries == 0
    return codes_of(run), len(report.entered)


@own("R130")
def odd_limits(report: Report) -> tuple[list[str], int]:
    odd = [float("nan") if value == "NaN" else value for value in report.given["budget"].pop("executions_each_of")]
    for value in odd:
        with pytest.raises((TypeError, ValueError), match="executions is a whole number from 0"):
            report.dispatcher(executions=value)
    zero = report.dispatcher(executions=0)
    assert zero.batch([]) == []
    assert [outcome.code for outcome in zero.batch(report.calls())] == ["budget_exhausted"]
    return ["config_error"], len(report.entered)


@own("R134")
def out_of_rounds(report: Report) -> tuple[list[str], int]:
    """The contract names this stop `rounds_exhausted`: the third response is never asked for, so its call never is."""
    run = report.play()
    assert (run.stop, run.answer, run.coverage) == ("rounds_exhausted", None, "partial")
    assert [result.outcome.data for result in run.results] == [{"length": 1}, {"length": 1}]
    return [*codes_of(run), "budget_exhausted"], len(report.entered)


@pytest.mark.parametrize("name", OWN)
def test_a_report_with_a_setting_of_its_own_comes_out_as_it_asks(name: str) -> None:
    """Two runs, another order of ends, a foreign result, cancellation, lost rights and odd limits are answered too."""
    external.file("reports.jsonl")
    codes, executed = OWN[name](Report(ROWS[name]["given"]))
    assert agrees(name, codes, executed)


def test_each_report_is_played_or_named_as_not_yet() -> None:
    """No report is forgotten, and no table speaks of a report that is not played."""
    external.file("reports.jsonl")
    assert len(ROWS) == 67
    assert sorted([*PLAIN, *OWN, *NOT_YET]) == sorted(ROWS)
    assert set(PLAIN) >= set().union(REASONS, FIELDS, DATA, WORDS)
