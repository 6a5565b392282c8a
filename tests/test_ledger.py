"""The ledger only grows, rebuilds from its events, and holds nothing it should not."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from typing import Any

import pytest
from helpers import ALICE, SECRET, Anything, Entered, Ticks, ask, calls, finished, guard, kinds, played, tool

from labkit import Call, Event, Ledger, Outcome
from labkit.ledger import MAX_CLAIM

FIELDS = ["seq", "run_id", "kind", "round", "position", "call_id", "tool", "version", "permission", "cost",
"gate", "code", "subject",
          "tenant", "permissions", "digest", "summary", "content", "elapsed"]  # fmt: skip


def talk() -> Ledger:
    """A served call and a refused one in round 1, an answer in round 2, on a clock."""
    return played([ask("length", "a", text=SECRET), ask("shout", "b")], "four").run.ledger


def test_the_ledger_of_a_small_run_event_by_event() -> None:
    """What is recorded of one served call, one refused call and an answer, in order."""
    told = [(e.seq, e.kind, e.round, e.position, e.call_id, e.tool, e.gate, e.code) for e in talk()]
    assert told == [
        (1, "round_opened", 1, None, None, None, None, None),
        (2, "requested", 1, 1, "a", "length", None, None),
        (3, "started", 1, 1, "a", "length", None, None),
        (4, "returned", 1, 1, "a", "length", None, "ok"),
        (5, "requested", 1, 2, "b", "shout", None, None),
        (6, "rejected", 1, 2, "b", "shout", "allowlist", "unknown_tool"),
        (7, "delivered", 1, 1, "a", "length", None, "ok"),
        (8, "delivered", 1, 2, "b", "shout", None, "unknown_tool"),
        (9, "round_opened", 2, None, None, None, None, None),
        (10, "answered", 2, None, None, None, None, None),
        (11, "stopped", 2, None, None, None, None, "answered"),
    ]  # fmt: skip


def test_an_event_carries_the_offer_the_principal_and_the_shape_of_the_arguments() -> None:
    """Declaration, identity, limits and time are on record; the two results have no content in common."""
    ledger = talk()
    opened, requested, started, returned = ledger.events[:4]
    assert [field.name for field in dataclasses.fields(Event)] == FIELDS
    assert json.loads(opened.summary or "")["id_scope"] == "run"
    assert json.loads(opened.summary or "")["limits"]["executions"] == 20
    assert (requested.summary, started.summary) == (f"{len(json.dumps({'text': SECRET}))} characters", "text: text")
    assert (started.version, started.permission, started.cost) == ("1", None, 1)
    assert (started.subject, started.tenant, started.permissions) == ("u-alice", "A", ())
    assert (returned.content is None, started.content) == (False, None)
    assert ledger[6].content == returned.content
    assert (opened.elapsed, started.elapsed, returned.elapsed) == (0.0, 0.125, 0.25)


def test_events_cannot_be_changed() -> None:
    """An event is frozen, and a list made of the events is nobody's way in."""
    ledger = talk()
    with pytest.raises(dataclasses.FrozenInstanceError):
        ledger[0].kind = "stopped"  # type: ignore[misc]
    with pytest.raises(TypeError):
        ledger[0] = ledger[1]  # type: ignore[index]
    with pytest.raises(TypeError):
        del ledger[0]  # type: ignore[attr-defined]
    assert isinstance(ledger.events, tuple)
    with pytest.raises(TypeError):
        hash(ledger)


def test_counters_follow_each_event() -> None:
    """At every prefix the counters are those of the events so far."""
    ledger = talk()
    so_far = [Ledger(ledger.events[:n]).counts for n in range(len(ledger) + 1)]
    assert [counts["admitted"] for counts in so_far] == [0, 0, 0] + [1] * 9
    assert [counts["delivered"] for counts in so_far] == [0] * 7 + [1, 2, 2, 2, 2]
    assert ledger.counts == {"rounds": 2, "requested": 2, "rejected": 1, "replayed": 0, "admitted": 1, "executed": 1,
                             "attempts": 0, "delivered": 2}  # fmt: skip
    assert list(ledger.counts) == list(so_far[0])


def test_places_are_those_of_any_sequence() -> None:
    """From the front, from the back, and no further; slices are of the events."""
    ledger = talk()
    assert (ledger[0].seq, ledger[10].seq, ledger[-1].seq, ledger[-11].seq, len(ledger)) == (1, 11, 11, 1, 11)
    assert [event.seq for event in ledger.events[2:4]] == [3, 4]
    assert list(ledger) == list(ledger.events)
    for place in (11, -12):
        with pytest.raises(IndexError):
            ledger[place]


def test_equal_means_the_same_events_of_the_same_run() -> None:
    """Two runs of one script are equal; another name, another event or another type is not."""
    first, second = talk(), talk()
    assert first == second
    assert first != Ledger(first.events[:-1])
    assert first != Ledger(dataclasses.replace(event, run_id="run-2") for event in first)
    assert first != list(first.events)


@pytest.mark.parametrize("name", [None, 5, "", "nope", ["x"], "length"])
def test_a_ledger_is_rebuilt_whatever_the_model_claimed(name: Any) -> None:
    """The events alone hold all there is to know, a missing name included."""
    dispatcher = guard(tool(name="length"), run_id="run-9", clock=Ticks(0.5))
    dispatcher.batch([Call(name, name, name), Call("1", name, "{}")])
    ledger = finished(dispatcher)
    assert Ledger.from_jsonl(ledger.to_jsonl()) == ledger
    assert Ledger(ledger.events) == ledger
    assert Ledger(ledger.events).run_id == "run-9"


def test_an_empty_ledger() -> None:
    """Nothing happened, and it can still be written, read, counted and shown."""
    assert Ledger.from_jsonl(Ledger().to_jsonl()) == Ledger() == Ledger(())
    assert (len(Ledger()), Ledger().cost, Ledger().executions_of("look"), set(Ledger().counts.values())) == (
        0,
        0,
        0,
        {0},
    )
    assert list(Ledger().table().columns) == FIELDS


@pytest.mark.parametrize(
    ("change", "said"),
    [({"seq": 3}, "event 3 of run-1 cannot be event 2"), ({"run_id": "x"}, "event 2 of x cannot be event 2 of run-1"),
     ({"kind": "guessed"}, "no such kind: 'guessed'")],
)  # fmt: skip
def test_events_that_do_not_follow_on_are_refused(change: dict[str, Any], said: str) -> None:
    """A gap, another run or an unknown kind is no ledger."""
    first, second, *_ = talk()
    with pytest.raises(ValueError, match=said):
        Ledger([first, dataclasses.replace(second, **change)])


GOOD_LINE = json.loads(talk().to_jsonl().split("\n")[1])


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "5", "null", " ", '"text"', json.dumps({"seq": 2}), "[" * 100_000,
     *(json.dumps(GOOD_LINE | change) for change in (
         {"extra": 1}, {"permissions": None}, {"permissions": 5}, {"digest": "no hex"}, {"digest": 5}, {"content": [1]},
         {"kind": "guessed"}, {"kind": None}, {"seq": 7}, {"seq": "2"}, {"run_id": "other"},
     ))],
    ids=lambda line: line[-60:],
)  # fmt: skip
def test_a_line_that_is_no_event_is_named(line: str) -> None:
    """Reading back says which line cannot be read."""
    lines = talk().to_jsonl().split("\n")
    lines[1] = line
    with pytest.raises(ValueError, match=r"\b(line|event) 2\b"):
        Ledger.from_jsonl("\n".join(lines))


def test_blank_lines_are_passed_over_and_one_event_is_one_line() -> None:
    """A text that holds line breaks stays on its line."""
    dispatcher = guard()
    dispatcher.batch(calls("a\nb\u2028c\ud800"))
    text = dispatcher.ledger.to_jsonl()
    assert text.encode("ascii").count(b"\n") == len(dispatcher.ledger)
    assert Ledger.from_jsonl(text.replace("\n", "\n\n")) == dispatcher.ledger


def test_the_table_has_a_row_an_event_and_a_column_a_field() -> None:
    """The DataFrame shows the events as they are."""
    ledger = talk()
    table = ledger.table()
    assert list(table.columns) == FIELDS
    assert list(table["kind"]) == kinds(ledger)
    assert list(table["code"])[3:6] == ["ok", None, "unknown_tool"]


@pytest.mark.parametrize(
    "claimed", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "\r=1", "a\r=1", '=HYPERLINK("http://x")']
)
def test_no_cell_of_a_csv_is_a_formula(claimed: str) -> None:
    """What a model claimed, as id or as name, is never run by a spreadsheet."""
    dispatcher = guard()
    dispatcher.batch([Call(claimed, "look", "{}"), Call("1", claimed, "{}")])
    table = dispatcher.ledger.table()
    written = list(csv.reader(io.StringIO(table.to_csv(index=False))))
    assert not [cell for row in written for cell in row if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}]
    assert not claimed.isprintable() or f"'{claimed}" in set(table["call_id"]) & set(table["tool"])


def test_ordinary_texts_are_not_changed_in_the_table() -> None:
    """Only what would be run is marked."""
    dispatcher = guard()
    dispatcher.batch(calls("a=b", "读"))
    assert {"a=b", "读"} <= set(dispatcher.ledger.table()["call_id"])


@pytest.mark.parametrize(
    "big", ["x" * 2_000_000, "\u202e" * 2_000_000, ["x" * 2_000_000], {"k": ["y"] * 100_000}, 10**4000], ids=type
)
def test_labels_are_bounded_whatever_was_claimed(big: Any) -> None:
    """Two megabytes as id, name and arguments leave a short label that a reader can see."""
    dispatcher = guard()
    dispatcher.batch([Call(big, big, big)])
    ledger = finished(dispatcher)
    for event in ledger.events[1:3]:
        assert 0 < len(event.call_id or "") <= MAX_CLAIM * 7
        assert (event.call_id or "").isprintable()
        assert event.call_id == event.tool
    assert len(ledger.to_jsonl()) < 20_000


def test_values_of_arguments_and_results_never_enter() -> None:
    """Not as text, not as key, not as refused text, not from the result, not from a fault's candidates."""
    dispatcher = guard(tool(Entered(lambda arguments: {"found": SECRET}), arguments=Anything))
    texts = [f'{{"v":"{SECRET}"}}', f'{{"v":{{"{SECRET}":1}}}}', f'{{"{SECRET}":1}}', SECRET, {SECRET: 1}]
    dispatcher.batch([Call(str(n), "look", text) for n, text in enumerate(texts)])
    (request,) = [dispatcher.admit(Call("9", "look", '{"v":1}'), 6)]
    dispatcher.settle(request, Outcome("9", "ok", f'"{SECRET}"'))
    dispatcher.settle(request, Outcome("9", "ok", f'"{SECRET} too late"'))
    assert SECRET not in dispatcher.ledger.to_jsonl()
    assert kinds(dispatcher.ledger, "late") == ["late"]


def test_digests_show_sameness_of_contents() -> None:
    """Equal arguments written differently have one digest once they are read, and two before."""
    dispatcher = guard(tool(arguments=Anything), who=ALICE)
    dispatcher.batch([Call("1", "look", '{"v":1}'), Call("2", "look", '{ "v": 1 }'), Call("3", "look", '{"v":2}')])
    requested, started = ([e.digest for e in dispatcher.ledger if e.kind == kind] for kind in ("requested", "started"))
    assert len(set(requested)) == 3
    assert started[0] == started[1] != started[2]
    assert {len(digest or "") for digest in requested} == {16}


@pytest.mark.parametrize("claimed", [10**5000, type("list", (), {})()], ids=["an endless number", "not what it seems"])
def test_an_id_that_cannot_even_be_shown_is_named_by_its_type(claimed: object) -> None:
    """Whatever came as an id, the ledger holds a bounded text for it and the call is answered."""
    dispatcher = guard()
    dispatcher.batch(calls(claimed))
    assert {event.call_id for event in dispatcher.ledger if event.position} == {type(claimed).__name__}
    assert Ledger.from_jsonl(dispatcher.ledger.to_jsonl()) == dispatcher.ledger


@pytest.mark.parametrize("cost", ["NaN", "Infinity", '"dear"', "[1]"])
def test_an_event_whose_cost_is_no_number_is_no_event(cost: str) -> None:
    """A ledger that is read back can always be added up."""
    dispatcher = guard()
    dispatcher.batch(calls("1"))
    text = dispatcher.ledger.to_jsonl().replace('"cost": 1,', f'"cost": {cost},')
    with pytest.raises(ValueError, match="line 2 is no event"):
        Ledger.from_jsonl(text)
