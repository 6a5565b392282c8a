"""What the user set in the interface is compared with the arguments; nothing is changed to fit it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from labkit import GATES, Call, Dispatcher, Host, OutOfOrder, Principal, Tool
from labkit.conditions import Condition, conditions
from labkit.gates import Gate
from labkit.workbook.scenarios import BadScenario, make_scenario, play


class Asked(BaseModel):
    day: str | None = None
    number: int | float | bool = 0
    names: list[str] = []


def outcome(text: str, *chosen: Condition, gates: tuple[Gate, ...] | None = None) -> Any:
    """The outcome of one call of a tool under some conditions."""
    tool = Tool("look", "1", Asked, lambda arguments, context: arguments.model_dump())
    order = gates or (*GATES[:4], conditions(chosen), *GATES[4:])
    return Dispatcher(Host([tool], Principal("u")), gates=order).batch([Call("1", "look", text)])[0]


@pytest.mark.parametrize(
    ("text", "chosen", "code"),
    [
        ('{"day":"2026-09-15"}', ("day", "2026-09-15"), "ok"), ('{"day":"2026-09-16"}', ("day", "2026-09-15"), None),
        ('{"day":null}', ("day", None), "ok"), ('{}', ("day", None), "ok"), ('{"day":""}', ("day", None), None),
        ('{"number":1}', ("number", 1), "ok"), ('{"number":true}', ("number", 1), None),
        ('{"number":1.0}', ("number", 1), None), ('{"names":["a","b"]}', ("names", ["a", "b"]), "ok"),
        ('{"names":["b","a"]}', ("names", ["a", "b"]), None), ('{"day":"x"}', ("no such field", "x"), None),
        ('{"day":"x"}', ("no such field", None), "ok"),
    ],
)  # fmt: skip
def test_values_are_compared_as_json_with_their_types(text: str, chosen: tuple[str, Any], code: str | None) -> None:
    """A call that agrees passes; one that differs in value or type is refused and names the field."""
    found = outcome(text, Condition("look", *chosen))
    assert found.code == (code or "invalid_arguments")
    assert found.field == (None if code else chosen[0])


def test_the_refusal_says_what_the_user_chose_and_other_tools_are_free() -> None:
    """The first condition that differs is told; a condition of another tool is none of this call's business."""
    chosen = (Condition("other", "day", "x"), Condition("look", "number", 2), Condition("look", "day", "y"))
    assert outcome('{"day":"z","number":1}', *chosen).message == "number: the user chose 2"
    long = outcome("{}", Condition("look", "day", "好" * 500))
    assert len(long.message) < 120


def test_a_condition_needs_the_arguments_first() -> None:
    """Placed before the arguments were read it says which gate must come first."""
    with pytest.raises(OutOfOrder, match="'arguments' must come first"):
        outcome("{}", gates=(*GATES[:3], conditions([Condition("look", "day", None)]), *GATES[3:]))


def test_a_scenario_holds_conditions_and_says_what_is_wrong_with_one() -> None:
    """Conditions stand right after the arguments, also after a broken guard; unknown keys are refused."""
    chosen = {"tool": "length", "field": "text", "value": "SQL"}
    call = {"id": "1", "name": "length", "arguments": '{"text":"Java"}'}
    base = {"world": "text", "turns": [{"calls": [call]}], "conditions": [chosen]}
    scenario = make_scenario(base)
    assert scenario.checks[3:5] == ("arguments", "conditions")
    played = play(scenario)
    assert (played.run.results[0].outcome.code, played.run.ledger[2].gate) == ("invalid_arguments", "conditions")
    broken = [name.replace("arguments", "arguments_repaired") for name in scenario.gates]
    assert make_scenario(base | {"gates": broken}).checks[4] == "conditions"
    with pytest.raises(BadScenario, match=r"conditions\.0\.extra"):
        make_scenario(base | {"conditions": [chosen | {"extra": 1}]})
    with pytest.raises(BadScenario, match="there is no gate 'conditions'"):
        make_scenario({"world": "text", "turns": [], "gates": ["conditions"]})
