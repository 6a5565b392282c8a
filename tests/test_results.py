"""What a tool finds, and how it fails, becomes one outcome: declared fields only, whole JSON, no exception text."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from helpers import CANARY, Entered, calls, finished, guard, raising, tool
from pydantic import BaseModel, ConfigDict, RootModel

from labkit import CODES, Cancelled, Fault, NeedsUser, NotFound, Outcome, TemporaryFailure, result_text
from labkit.outcomes import refusal


def outcome_of(found: object = None, *, error: BaseException | None = None, **options: Any) -> Outcome:
    """What one call of a tool that finds or raises this is answered with."""
    run = Entered(lambda arguments: found) if error is None else raising(error)
    dispatcher = guard(tool(run, **options))
    (outcome,) = dispatcher.batch(calls("1"))
    assert json.loads(result_text(outcome))["code"] == outcome.code
    return outcome


def bug() -> Exception:
    """An exception with planted secrets in its text, its cause and its notes."""
    try:
        raise KeyError(f"/srv/secret {CANARY}")
    except KeyError as cause:
        error = RuntimeError(f"note='{CANARY}' at 10.0.0.9")
        error.__cause__ = cause
        error.add_note(CANARY)
        return error


class Choice(NeedsUser):
    """A fault whose declared code is junk."""

    code = "surprise"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("error", "read", "write"),
    [
        (NotFound(CANARY), "not_found_or_not_accessible", "not_found_or_not_accessible"),
        (TemporaryFailure(CANARY), "dependency_temporary", "dependency_temporary"),
        (NeedsUser(CANARY), "needs_user", "needs_user"),
        (Cancelled(CANARY), "cancelled", "outcome_unknown"),
        (Fault(CANARY), "internal_error", "outcome_unknown"),
        (bug(), "internal_error", "outcome_unknown"),
        (RecursionError(CANARY), "internal_error", "outcome_unknown"),
        (MemoryError(CANARY), "internal_error", "outcome_unknown"),
        (StopIteration(CANARY), "internal_error", "outcome_unknown"),
        (Choice(CANARY), "internal_error", "internal_error"),
    ],
    ids=repr,
)
def test_a_fault_becomes_a_code_and_its_text_stays_inside(error: Exception, read: str, write: str) -> None:
    """What a tool raises decides the code; no text of it reaches the outcome, the ledger or the model."""
    for writes, code in ((False, read), (True, write)):
        logged: list[BaseException] = []
        dispatcher = guard(tool(raising(error), writes=writes), report=lambda reference, e, to=logged: to.append(e))
        (outcome,) = dispatcher.batch(calls("1"))
        assert outcome.code == code
        assert CANARY not in repr(outcome) + result_text(outcome) + finished(dispatcher).to_jsonl()
        assert error in logged


def test_an_internal_error_names_a_reference_that_the_guarded_log_has_too() -> None:
    """The model can quote a reference, and somebody with the log can look it up."""
    logged: dict[str, BaseException] = {}
    error = bug()
    dispatcher = guard(tool(raising(error)), report=logged.__setitem__, run_id="run-3")
    dispatcher.open_round()
    dispatcher.batch([])
    (outcome,) = dispatcher.batch(calls("1"))
    assert outcome.message == "The tool failed. Reference: run-3.2.1."
    assert logged == {"run-3.2.1": error}


def test_what_a_fault_found_is_projected_like_a_result() -> None:
    """Candidates to choose from go to the user; their undeclared fields do not."""
    found = [{"name": "Ueno", "note": CANARY}, {"name": "Tokyo", "note": CANARY}]
    outcome = outcome_of(error=NeedsUser(found=found), returns=Names)
    assert (outcome.code, outcome.data) == ("needs_user", [{"name": "Ueno"}, {"name": "Tokyo"}])
    assert outcome.message == CODES["needs_user"].message


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]
NO_JSON = {
    "datetime": datetime(2026, 9, 1, tzinfo=UTC), "date": date(2026, 9, 1), "Decimal": Decimal("1.5"), "bytes": b"x",
    "NaN": float("nan"), "infinity": float("inf"), "set": {1}, "tuple": (1, 2), "surrogate": "\ud800",
    "cycle": CYCLE, "deep": DEEP, "object": object(), "number as key": {1: 2}, "type": int,
    "too many digits": 10**5000,
}  # fmt: skip


@pytest.mark.parametrize("found", NO_JSON.values(), ids=NO_JSON)
@pytest.mark.parametrize(
    "nest", [lambda x: x, lambda x: [x], lambda x: {"a": {"b": x}}], ids=["bare", "listed", "deeper"]
)
def test_a_result_that_is_not_json_is_the_tools_bug(found: object, nest: Any) -> None:
    """Nothing is converted on the way out: the outcome is `internal_error` without data, on a write too."""
    for writes in (False, True):
        outcome = outcome_of(nest(found), writes=writes)
        assert (outcome.code, outcome.data) == ("internal_error", None)


@pytest.mark.parametrize("found", [None, 0, -1.5, True, "", "読", [], {}, [None, {"a": [1.0]}], 10**400], ids=str)
def test_any_json_value_is_a_result(found: object) -> None:
    """Empty is `ok`, and values come back with their types."""
    outcome = outcome_of(found)
    assert (outcome.code, repr(outcome.data)) == ("ok", repr(found))


class Name(BaseModel):
    name: str


class Names(RootModel[list[Name]]):
    pass


class Open(BaseModel):
    """A model that would let extra fields in, and keep them."""

    model_config = ConfigDict(extra="allow")
    name: str


class Shelf(BaseModel):
    top: Open
    rest: list[Open] = []


class Record(Name):
    """What is stored: the public part and more."""

    note: str = CANARY


class Stored:
    """A record as an object; only attributes."""

    name, note = "Ueno", CANARY


KNOWN = {"name": "Ueno"}
MORE = {"name": "Ueno", "note": CANARY}


@pytest.mark.parametrize(
    ("returns", "found", "data"),
    [
        (Name, MORE, KNOWN),
        (Name, Stored(), KNOWN),
        (Name, Record(name="Ueno"), KNOWN),
        (Names, [MORE, Stored()], [KNOWN, KNOWN]),
        (Open, MORE, KNOWN),
        (Open, Open(**MORE), KNOWN),
        (Shelf, {"top": MORE, "rest": [MORE], "note": CANARY}, {"top": KNOWN, "rest": [KNOWN]}),
        (Shelf, {"top": Open(**MORE)}, {"top": KNOWN}),
        (Shelf, Shelf(top=Open(**MORE), rest=[Open(**MORE)]), {"top": KNOWN, "rest": [KNOWN]}),
    ],
    ids=repr,
)
def test_only_declared_fields_leave(returns: type[BaseModel], found: object, data: object) -> None:
    """What `returns` does not name stays inside: of dicts, objects and models, at any depth."""
    outcome = outcome_of(found, returns=returns)
    assert (outcome.code, outcome.data) == ("ok", data)
    assert CANARY not in result_text(outcome)


class Number(BaseModel):
    value: float | None


class Constants(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")
    value: float


class Loose(BaseModel):
    value: Any


class Day(BaseModel):
    value: date


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    ("returns", "found"),
    [
        (Name, {"other": 1}), (Name, {"name": 5}), (Name, None), (Name, {"name": "\ud800"}), (Number,
        {"value": float("nan")}),
        (Number, {"value": float("-inf")}), (Constants, {"value": float("nan")}), (Loose, {"value": float("nan")}),
        (Loose, {"value": Decimal(1)}), (Loose, {"value": b"x"}), (Loose, {"value": {1}}), (Loose, {"value": Stored()}),
        (Loose, {"value": datetime(2026, 9, 1, tzinfo=UTC)}), (Name, Name.model_construct(name=[CANARY])),
    ],
    ids=repr,
)  # fmt: skip
def test_a_result_that_is_not_what_was_declared_is_the_tools_bug(returns: type[BaseModel], found: object) -> None:
    """A wrong type, a missing field or a value that is no JSON is never passed on in another shape."""
    outcome = outcome_of(found, returns=returns)
    assert (outcome.code, outcome.body) == ("internal_error", None)


def test_a_declared_field_decides_how_it_is_written() -> None:
    """A date that a field declares is JSON, and so is a number that may be missing."""
    assert outcome_of({"value": date(2026, 9, 1)}, returns=Day).data == {"value": "2026-09-01"}
    assert outcome_of({"value": None}, returns=Number).data == {"value": None}


ITEMS = [f"item {n:03}" for n in range(100)]


@pytest.mark.parametrize(
    ("found", "limit", "part"),
    [
        (ITEMS, 200, lambda data: data),
        ({"items": ITEMS, "next_page_token": "t"}, 200, lambda data: data["items"]),
        ({"page": {"items": ITEMS}, "title": "all"}, 300, lambda data: data["page"]["items"]),
    ],
    ids=["list", "page", "nested"],
)
def test_over_the_limit_whole_items_are_dropped(found: Any, limit: int, part: Any) -> None:
    """The first items are kept whole, the rest is counted, and everything around them stays."""
    outcome = outcome_of(found, result_chars=limit)
    kept = part(outcome.data)
    assert 0 < len(kept) < 100
    assert kept == ITEMS[: len(kept)]
    told = json.loads(result_text(outcome))
    assert (told["truncated"], told["omitted"]) == (True, 100 - len(kept))
    assert told["size"] == len(json.dumps(found, separators=(",", ":")))
    assert len(outcome.body or "") <= limit
    assert isinstance(found, list) or set(outcome.data) == set(found)


def test_a_text_over_the_limit_ends_with_a_whole_character() -> None:
    """A long text loses characters from its end, never half of one, and the JSON around it stays whole."""
    outcome = outcome_of({"text": "😀" * 1_000, "id": 7}, result_chars=100)
    kept = outcome.data["text"]
    assert outcome.data["id"] == 7
    assert 0 < len(kept) < 100
    assert set(kept) == {"😀"}
    assert (outcome.omitted, outcome.size) == (1_000 - len(kept), len('{"text":"","id":7}') + 1_000)


def test_escapes_are_not_cut() -> None:
    """A text that needs two characters of JSON for each of its own still parses."""
    outcome = outcome_of('"\n' * 500, result_chars=51)
    assert outcome.data == ('"\n' * 500)[: len(outcome.data)]
    assert 0 < len(outcome.data) <= 25


@pytest.mark.parametrize("found", [{str(n): n for n in range(100)}, 10**200, {"a": [], "b": 10**99}], ids=str)
def test_what_has_no_items_to_drop_is_left_out_whole(found: object) -> None:
    """An object or a number cannot be shortened: nothing of it is passed on, and the text says so."""
    outcome = outcome_of(found, result_chars=20)
    told = json.loads(result_text(outcome))
    assert (told["data"], told["truncated"], told["size"] > 20) == (None, True, True)
    assert told["omitted"] >= 1


def test_at_the_limit_nothing_is_dropped() -> None:
    """`result_chars` is the longest JSON that is passed on whole."""
    assert outcome_of("x" * 98, result_chars=100).omitted == 0
    assert outcome_of("x" * 99, result_chars=100).omitted > 0


def test_an_answered_result_cannot_be_changed() -> None:
    """Whoever alters what `data` gave alters a copy."""
    outcome = outcome_of({"a": [1]})
    outcome.data["a"].append(2)
    assert outcome.data == {"a": [1]}
    with pytest.raises(AttributeError):
        outcome.code = "internal_error"  # type: ignore[misc]


def test_not_there_and_not_yours_read_the_same() -> None:
    """One code, one text: nothing tells the two apart."""
    texts = {result_text(outcome_of(error=NotFound(reason))) for reason in ("no such row", "owner is u-bob")}
    assert len(texts) == 1


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_text_that_is_whole_json(code: Any) -> None:
    """Status and next action come from the one table."""
    told = json.loads(result_text(refusal("1", code, field="cost", reference="r")))
    row = CODES[code]
    assert (told["status"], told["code"], told["next_action"]) == (row.status, code, row.next_action)
    assert "{" not in told.get("message", "")
