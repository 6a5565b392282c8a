"""A run ends for one reason, and every request of it is answered in order before the model is asked again."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from helpers import (
    ALICE,
    Entered,
    Ticks,
    ask,
    broken,
    codes,
    kinds,
    played,
    raising,
    says,  # fmt: skip
    tool,
)

from labkit import (
    Call,
    Host,
    Limits,
    NeedsUser,
    NotFound,
    Response,
    Run,
    TemporaryFailure,
    audit,
    result_text,
    run,  # fmt: skip
    scripted,
)
from labkit.ledger import StopReason

FIND, LOST, BUG, ASKS = (Call("1", name, "{}") for name in ("look", "lost", "bug", "asks"))
OFFER = (
    tool(Entered(lambda arguments: ["found"])),
    tool(raising(NotFound()), "lost"),
    tool(raising(ValueError("x")), "bug"),
    tool(raising(NeedsUser(found=["a", "b"])), "asks"),
    tool(raising(TemporaryFailure()), "down"),
    tool(raising(ValueError("x")), "writes", writes=True),
    tool(Entered(lambda arguments: {"shown": 1}), "direct", return_direct=True),
    tool(Entered(lambda arguments: "x" * 50), "long", result_chars=20),
)


def named(*names: str) -> list[Call]:
    return [Call(str(place), name, "{}") for place, name in enumerate(names)]


def go(*responses: Any, limits: dict[str, Any] | None = None, **options: Any) -> Run:
    """A run over OFFER; its audit is empty whatever happened."""
    clock = Ticks(0.001) if limits and limits.get("deadline_s") is not None else None
    done = run(says(*responses), Host(OFFER, ALICE, clock), Limits(**(limits or {})), user="please", **options)
    assert audit(done.ledger) == []
    return done


EVER = [named("look")] * 20

REASONS = [
    ("answered", ["hello"], {}, "answer"),
    ("answered", [named("look"), "hello"], {}, "answer"),
    ("answered", [named("direct")], {}, "answer"),
    ("needs_user", [named("asks", "look"), "never said"], {}, "answer"),
    ("rounds_exhausted", EVER, {"rounds": 2}, "answer"),
    ("rounds_exhausted", ["never asked"], {"rounds": 0}, "answer"),
    ("requests_exhausted", [named("look", "look", "look"), "never said"], {"requests": 2}, "stop"),
    ("executions_exhausted", [named("look", "lost"), "never said"], {"executions": 1}, "stop"),
    ("executions_exhausted", [named("look", "lost"), "never said"], {"per_tool": {"lost": 0}}, "stop"),
    ("cost_exhausted", [named("look", "lost"), "never said"], {"cost": 1}, "stop"),
    ("deadline_exceeded", ["never asked"], {"deadline_s": 0}, "answer"),
    ("deadline_exceeded", EVER, {"deadline_s": 0.05, "rounds": 99}, "answer"),
    ("terminal_error", [named("look", "bug"), "never said"], {}, "answer"),
    ("terminal_error", [named("writes"), "never said"], {}, "answer"),
    ("model_failed", [Response(answer=5)], {}, "answer"),  # type: ignore[arg-type]
    ("no_progress", [""], {}, "answer"),
    ("no_progress", ["\u200b \u3164"], {}, "answer"),
    ("no_progress", [Response()], {}, "answer"),
    ("no_progress", [Response(answer="half an ans", complete=False)], {}, "answer"),
    ("no_progress", [named("nope")] * 3 + ["never said"], {}, "answer"),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "responses", "limits", "on_limit"), REASONS)
def test_a_run_ends_for_one_reason_and_the_ledger_says_it(
    reason: str, responses: list, limits: dict, on_limit: Any
) -> None:
    """The reason is the last event, and there is an answer exactly if it is `answered`."""
    done = go(*responses, limits=limits, on_limit=on_limit)
    assert done.stop == done.ledger[-1].code == reason
    assert done.ledger[-1].kind == "stopped"
    assert (done.answer is not None) == (reason == "answered")
    assert done.answer != "never said"
    assert "answered" in kinds(done.ledger) or reason != "answered"


def test_every_stop_reason_is_produced() -> None:
    """The table above misses only `cancelled`, which needs somebody else."""
    assert set(get_args(StopReason)) - {row[0] for row in REASONS} == {"cancelled"}


@pytest.mark.parametrize(
    ("on_limit", "stop", "told"),
    [
        ("stop", "executions_exhausted", "ok budget_exhausted cancelled"),
        ("answer", "answered", "ok budget_exhausted unknown_tool"),
    ],
)
def test_on_limit_ends_the_run_or_answers_the_call(on_limit: Any, stop: str, told: str) -> None:
    """One script: `stop` ends at the breach, `answer` refuses that call and lets the model go on."""
    done = go(named("look", "lost", "nope"), "that is all", limits={"executions": 1}, on_limit=on_limit)
    assert (done.stop, codes(r.outcome for r in done.results)) == (stop, told.split())
    assert done.answer == ("that is all" if on_limit == "answer" else None)
    assert done.coverage == "partial"
    assert "budget_exhausted" in {result.outcome.code for result in done.refused}
    assert len(done.messages) == (6 if on_limit == "answer" else 5)


def test_asking_on_after_the_limit_is_bounded_all_the_same() -> None:
    """With `answer` a model that never gives up ends by rounds, or by making no progress."""
    for done in (
        go(*[named("look", f"more{n}") for n in range(20)], limits={"rounds": 5, "executions": 1}),
        go(*[[Call(str(n), "look", "{}")] for n in range(20)], limits={"rounds": 50, "executions": 1}),
    ):
        assert done.stop in {"rounds_exhausted", "no_progress"}
        assert done.ledger.executions == 1


def test_none_of_the_calls_of_a_cut_off_response_is_executed() -> None:
    """Each is answered `incomplete_response`, and the model may say it again in full."""
    done = go(Response(named("look", "lost"), complete=False), named("look"), "done")
    assert codes(r.outcome for r in done.results) == ["incomplete_response", "incomplete_response", "ok"]
    assert (done.stop, done.ledger.executions) == ("answered", 1)


@pytest.mark.parametrize(
    ("responses", "stop", "rounds"),
    [
        ([named("nope")] * 9, "no_progress", 3),
        ([named("nope", "nada")] * 9, "no_progress", 3),
        ([named("nope"), named("nope"), named("nada"), named("nope"), named("nope"), named("nope")], "no_progress", 6),
        ([named("nope"), named("nope"), named("look"), named("nope"), named("nope"), "done"], "answered", 6),
        ([named("nope", "look")] * 5, "rounds_exhausted", 5),
        ([named("nope"), named("nope"), "sorry"], "answered", 3),
        ([[Call(str(n), "nope", "{}")] for n in range(9)], "no_progress", 3),
        ([[Call(str(n), "look", f'{{"{n}":1}}')] for n in range(9)], "rounds_exhausted", 5),
        ([Response(named("look"), complete=False)] * 9, "no_progress", 3),
    ],
    ids=["same", "same batch", "again later", "something else between", "one served", "gives up", "other ids",
    "other faults",
         "cut off"],
)  # fmt: skip
def test_the_same_refused_call_again_and_again_is_no_progress(responses: list, stop: str, rounds: int) -> None:
    """Three rounds of nothing but the same refusals end the run; other calls or a served one do not."""
    limits = {"rounds": 5} if stop == "rounds_exhausted" else {"rounds": 20}
    done = go(*responses, limits=limits)
    assert (done.stop, done.ledger.counts["rounds"]) == (stop, rounds)


JUNK = {
    "None": None, "text": "hello", "calls are None": Response(None),  # type: ignore[arg-type, list-item]
    "calls are texts": Response(["look"]),  # type: ignore[arg-type, list-item]
    "calls are dicts": Response([{"id": "1"}]), "answer is a number": Response(answer=4),
    "a call without a list": Response(FIND),  # type: ignore[arg-type, list-item]
    "nothing to read": SimpleNamespace(), "no word on completeness": SimpleNamespace(calls=(), answer="four"),
    "completeness is a text": Response(answer="four", complete="no"),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_a_model_that_returns_junk_has_failed(junk: Any) -> None:
    """What is no response is the model's failure, reported to the guarded log; what finished before is kept."""
    rest, logged = iter([Response([FIND]), junk]), list[str]()
    host = Host(OFFER, ALICE, report=lambda reference, error: logged.append(reference))
    done = run(lambda messages: next(rest), host)
    assert (done.stop, done.answer, codes(r.outcome for r in done.results)) == ("model_failed", None, ["ok"])
    assert logged == ["run-1.2"]
    assert broken(done.ledger) == set()


def test_a_model_that_raises_has_failed() -> None:
    """The exception goes to the guarded log, not to the caller and not into the messages."""
    logged: list[BaseException] = []
    done = run(raising(OSError("CANARY")), Host(OFFER, ALICE, report=lambda reference, error: logged.append(error)))
    assert done.stop == "model_failed"
    assert [type(error) for error in logged] == [OSError]
    assert "CANARY" not in repr(done.messages) + done.ledger.to_jsonl()


@pytest.mark.parametrize(
    ("names", "stop", "answer"),
    [
        ("direct", "answered", '{"shown":1}'),
        ("direct direct", "answered", '{"shown":1}\n{"shown":1}'),
        ("direct look", "no_progress", None),
        ("direct nope", "no_progress", None),
    ],
)
def test_a_result_that_is_returned_directly_is_the_answer(names: str, stop: str, answer: str | None) -> None:
    """Only where every result of the batch is meant for the user does the model not see it first."""
    done = go(named(*names.split()))
    assert (done.stop, done.answer) == (stop, answer)


@pytest.mark.parametrize(
    ("responses", "limits", "coverage"),
    [
        (["just talk"], {}, "unknown"),
        ([named("nope"), "sorry"], {}, "unknown"),
        ([named("look"), "done"], {}, "complete"),
        ([named("look", "lost"), "done"], {}, "complete"),
        ([named("look", "nope"), "done"], {}, "complete"),
        ([named("look", "down"), "done"], {}, "partial"),
        ([named("look", "lost"), "done"], {"executions": 1}, "partial"),
        ([named("long"), "done"], {}, "partial"),
        ([named("look")], {}, "partial"),
        ([named("look", "bug"), "done"], {}, "partial"),
        ([named("look", "writes"), "done"], {}, "unknown"),
        ([named("direct")], {}, "complete"),
    ],
)
def test_coverage_says_how_much_stands_behind_the_end(responses: list, limits: dict, coverage: str) -> None:
    """Complete only if the run was answered and all that was asked for was served, whole."""
    assert go(*responses, limits=limits).coverage == coverage


def test_what_failed_first_and_was_served_later_is_not_missing() -> None:
    """A second try under the same id makes the coverage complete."""
    turn = [ask("length", text="Java")]
    done = played(turn, turn, "4", faults=[{"tool": "length", "entry": 1, "raises": "temporary"}])
    assert codes(r.outcome for r in done.run.results) == ["dependency_temporary", "ok"]
    assert done.run.coverage == "complete"


def test_what_was_served_first_and_refused_later_is_missing() -> None:
    """A permission that is gone by the second ask leaves that ask unserved."""
    turn = {"calls": [ask("search_notices", query="报名", published_from=None)]}
    gone = turn | {"principal": {"permissions": []}}
    done = played(turn, gone, {"answer": "?"}, world="notices")
    assert codes(r.outcome for r in done.run.results) == ["ok", "forbidden"]
    assert done.run.coverage == "partial"


def test_the_user_is_asked_with_what_was_found() -> None:
    """A run that needs the user keeps the candidates and every other result."""
    done = go(named("look", "asks", "look"))
    assert (done.stop, done.answer) == ("needs_user", None)
    assert [result.outcome.data for result in done.results] == [["found"], ["a", "b"], ["found"]]


def test_finished_results_survive_the_limit_hit_in_mid_batch() -> None:
    """Three calls with two executions: both finished results are in the run, and in the messages."""
    for on_limit in ("stop", "answer"):
        done = go(named("look", "lost", "direct"), "partly", limits={"executions": 2}, on_limit=on_limit)
        assert codes(r.outcome for r in done.results) == ["ok", "not_found_or_not_accessible", "budget_exhausted"]
        assert [m.text for m in done.messages if m.role == "tool"] == [result.text for result in done.results]
        assert done.coverage == "partial"


def test_messages_pair_each_call_with_one_result_in_order() -> None:
    """What the model sees: the user, its own words, and one tool message a call with that call's id."""
    seen: list[list[Any]] = []
    script = says(named("lost", "look", "nope"), [Call(None, "look", "{}")], "done")

    def model(messages: Any) -> Response:
        seen.append(list(messages))
        return script(messages)

    done = run(model, Host(OFFER, ALICE), user="please")
    roles = ["user", "assistant", "tool", "tool", "tool", "assistant", "tool", "assistant"]
    assert [message.role for message in done.messages] == roles
    assert [message.call_id for message in done.messages if message.role == "tool"] == ["0", "1", "2", None]
    assert [json.loads(m.text)["code"] for m in done.messages if m.role == "tool"] == [
        "not_found_or_not_accessible", "ok", "unknown_tool", "invalid_call",
    ]  # fmt: skip
    assert (done.messages[0].text, done.messages[1].calls, done.messages[-1].text) == (
        "please",
        tuple(named("lost", "look", "nope")),
        "done",
    )
    assert seen == [list(done.messages[:1]), list(done.messages[:5]), list(done.messages[:7])]
    assert [(r.round, r.position) for r in done.results] == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert done.results[0].text == result_text(done.results[0].outcome)


def test_a_scripted_model_answers_with_empty_text_when_its_script_ends() -> None:
    """And an empty answer is no progress."""
    done = run(scripted([Response([FIND])]), Host(OFFER, ALICE))
    assert (done.stop, done.ledger.counts["rounds"]) == ("no_progress", 2)
