"""An outcome over HTTP says what the model reads, from the same table."""

import json

import pytest

from labkit import CODES, Outcome, result_text
from labkit.bridges.http import problem_details
from labkit.outcomes import refusal

# The statuses that the contract names, by hand.
STATUS = {
    "not_found_or_not_accessible": 404, "incomplete_response": 400, "invalid_call": 400, "unknown_tool": 400,
    "invalid_arguments": 400, "forbidden": 403, "id_conflict": 409, "budget_exhausted": 429,
    "dependency_temporary": 503, "internal_error": 500, "needs_user": 409, "cancelled": 503, "outcome_unknown": 500,
}  # fmt: skip


@pytest.mark.parametrize("code", CODES.keys() - {"ok"})
def test_every_problem_has_its_status_and_the_words_of_the_tool_text(code: str) -> None:
    """Status by the table; code, next action and sentence as the model reads them; no result, no call id."""
    outcome = refusal("c1", code, field="f", reference="r")
    body, told = problem_details(outcome), json.loads(result_text(outcome))
    assert body["status"] == STATUS[code]
    assert (body["code"], body["next_action"], body["detail"], body["field"]) == (
        told["code"], told["next_action"], told["message"], told["field"],
    )  # fmt: skip
    assert body.keys() == {"type", "title", "status", "detail", "code", "next_action", "field"}


def test_an_ok_outcome_is_no_problem() -> None:
    """What succeeded is not told as a problem."""
    with pytest.raises(ValueError, match="no problem"):
        problem_details(Outcome("c1", "ok", "1"))
