"""A timeline says when what happened, as picture and in words, from the events of ledgers and what was seen beside."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from helpers import calls, guard, tool

from labkit import Dispatcher, Ledger
from labkit.workbook.cases import lesson
from labkit.workbook.faults import Clock
from labkit.workbook.scenarios import play
from labkit.workbook.timelines import CHAR, MARKS, WIDTH, Bar, Mark, Seen, lanes, timeline
from labkit.workbook.words import SAY


def cancelled(*ids: str, until: float | None = 1.0) -> Ledger:
    """The first call runs from 0 s; at 0.5 s the user cancels it and those behind it. It ends at `until`, or never."""
    clock = Clock()

    def works(arguments: object, context: Any) -> str:
        clock.now = 0.5
        dispatcher.close("cancelled")
        dispatcher.deliver(requests)
        dispatcher.stop("cancelled")
        if until is None:
            raise KeyboardInterrupt
        clock.now = until
        return "done"

    dispatcher = guard(tool(works), clock=clock)
    dispatcher.open_round()
    requests = [dispatcher.admit(call, place) for place, call in enumerate(calls(*ids), 1)]
    try:
        dispatcher.perform(requests[0])
    except KeyboardInterrupt:
        assert until is None
    return dispatcher.ledger


def served() -> Ledger:
    """A call that is requested at 0 s and returns at 0.25 s; then an answer."""
    clock = Clock()

    def works(arguments: object, context: Any) -> str:
        clock.now += 0.25
        return "done"

    dispatcher = guard(tool(works), clock=clock)
    dispatcher.batch(calls("c1"))
    dispatcher.stop("answered")
    return dispatcher.ledger


def test_waiting_and_work_end_apart() -> None:
    """One call, one lane: it holds the run's own events too. The work lasts half a second longer than the waiting."""
    (lane,) = lanes({"A": cancelled("c1")})
    assert (lane.name, [(mark.at, mark.label) for mark in lane.marks]) == ("A", [
        (0.0, "requested look"), (0.0, "started"), (0.5, "cancel requested"), (0.5, "nobody waits: cancelled"),
        (0.5, "delivered"), (0.5, "stopped: cancelled"), (1.0, "late: ok"),
    ])  # fmt: skip
    assert lane.bars == [
        Bar("waited", 0.0, 0.5, "somebody waited 0.5 s"),
        Bar("worked", 0.0, 1.0, "the tool worked 1 s, 0.5 s of it for nobody"),
    ]


def test_several_calls_have_a_lane_each_and_a_queued_one_never_worked() -> None:
    """The run's lane holds what concerns the run; the second call was released and has no bar of work."""
    run, first, second = lanes({"A": cancelled("c1", "c2")})
    assert (run.name, [mark.kind for mark in run.marks], run.bars) == ("A", ["cancel_requested", "stopped"], [])
    assert (first.name, second.name) == ("A 1.1", "A 1.2")
    assert [mark.kind for mark in second.marks] == ["requested", "started", "answered so", "released", "delivered"]
    assert second.bars == [Bar("waited", 0.0, 0.5, "somebody waited 0.5 s")]


def test_an_end_that_was_not_seen_is_drawn_as_open() -> None:
    """A killed tool never returns: its bar goes to the end of what is known, and says that it is no end."""
    (lane,) = lanes({"A": cancelled("c1", until=None)})
    assert lane.bars[1] == Bar("worked", 0.0, 0.5, "the tool works, its end was not seen", open=True)
    assert "the tool works, its end was not seen  (0 – …)" in timeline({"A": cancelled("c1", until=None)}).text
    unfinished = Ledger(cancelled("c1").events[:3])  # requested and started; nothing more was written
    assert lanes({"A": unfinished, "B": served()})[0].bars == [
        Bar("waited", 0.0, 0.25, "somebody waited 0.25 s", open=True),
        Bar("worked", 0.0, 0.25, "the tool works, its end was not seen", open=True),
    ]


def test_runs_share_one_axis_and_what_was_seen_is_marked_as_that() -> None:
    """B began at 0.75 s; what was seen beside the ledgers stands in its lane, after what happened by then."""
    first, second = lanes({"A": cancelled("c1"), "B": served()}, [Seen("A", 0.75, "lock held")], {"B": 0.75})
    assert [mark.kind for mark in first.marks[-2:]] == ["seen", "late"]
    assert first.marks[-2] == Mark(0.75, "seen", "lock held")
    assert [(mark.at, mark.label) for mark in second.marks[2:]] == [
        (1.0, "returned: ok"), (1.0, "delivered"), (1.0, "answered"), (1.0, "stopped: answered"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="there is no lane 'C' to see anything in: A"):
        lanes({"A": served()}, [Seen("C", 0.1, "lock held")])


def test_the_text_says_the_same_as_the_picture() -> None:
    """One line a mark, by time, with its sign; then the bars."""
    assert timeline({"A": served()}).text.splitlines() == [
        "  s     lane     what happened",
        "  0     A     ●  requested look",
        "  0     A     ▶  started",
        "  0.25  A     ■  returned: ok",
        "  0.25  A     ▲  delivered",
        "  0.25  A     ⌂  answered",
        "  0.25  A     ▬  stopped: answered",
        "  A  somebody waited 0.25 s  (0 – 0.25)",
        "  A  the tool worked 0.25 s  (0 – 0.25)",
    ]
    for case in lesson("10_cancellation").values():
        drawn = timeline({"A": play(case).run.ledger})
        words = [row["what"] for layer in drawn.spec["layer"] for row in layer["data"]["values"] if "what" in row]
        assert words
        assert all(word in drawn.text for word in words)


def test_marks_differ_by_shape_and_sign_and_none_lies_over_anothers_word() -> None:
    """Nothing hangs on colour; marks of one moment stand below each other, in their order."""
    assert len({look.shape for look in MARKS.values()}) == len({look.sign for look in MARKS.values()}) == len(MARKS)
    assert all(f"mark {kind}" in SAY for kind in MARKS if kind != "seen")
    spec = timeline({"A": cancelled("c1", "c2"), "B": served()}, began={"B": 0.4}).spec
    points, last = spec["layer"][4]["data"]["values"], spec["layer"][4]["encoding"]["x"]["scale"]["domain"][1]
    for one, other in pairwise(sorted(points, key=lambda point: (point["row"], point["at"]))):
        if one["row"] == other["row"]:
            assert one["lane"] == other["lane"]
            assert (other["at"] - one["at"]) * WIDTH / last > CHAR * len(one["what"])
    for one, other in pairwise(points):
        if (one["lane"], one["at"]) == (other["lane"], other["at"]):
            assert one["row"] < other["row"]
    assert all(point["at"] * WIDTH / last + CHAR * len(point["what"]) < WIDTH for point in points)


def test_the_chart_is_declared_and_fetches_nothing() -> None:
    """JupyterLab draws it; every layer carries its own numbers, and a name is text, never an expression."""
    evil = "'];alert(1)//\u202e"
    bundle = timeline({evil: served()})._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "text/plain"}
    spec = bundle["application/vnd.vegalite.v5+json"]
    assert all(set(layer["data"]) == {"values"} for layer in spec["layer"])
    assert "\u202e" not in bundle["text/plain"]
    expression = spec["layer"][1]["encoding"]["y"]["axis"]["labelExpr"]
    assert expression == '["\'];alert(1)//\\\\u202e"][indexof([0], datum.value)]'


def test_a_ledger_read_back_gives_the_same_picture_and_one_without_times_none() -> None:
    """The exported lines are enough. Where the host had no clock there is nothing to draw."""
    ledger = cancelled("c1", "c2")
    assert timeline({"A": Ledger.from_jsonl(ledger.to_jsonl())}) == timeline({"A": ledger})
    assert timeline({"A": Ledger()}).text.split() == ["s", "lane", "what", "happened"]
    dispatcher: Dispatcher = guard()
    dispatcher.batch(calls("c1"))
    with pytest.raises(ValueError, match="give the host of the run a clock"):
        timeline({"A": dispatcher.ledger})
