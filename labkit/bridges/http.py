"""An outcome as an HTTP answer: RFC 9457 problem details, with the code as an extension member."""

from __future__ import annotations

from typing import Any

from labkit.outcomes import CODES, Outcome

__all__ = ["MEDIA_TYPE", "problem_details"]

MEDIA_TYPE = "application/problem+json"


def problem_details(outcome: Outcome) -> dict[str, Any]:
    """The body under `CODES[outcome.code].http`, from the same table and message as the model's text.

    Raises ValueError for an `ok` outcome, which is no problem. Source: RFC 9457, section 3.
    """
    row = CODES[outcome.code]
    if outcome.code == "ok":
        raise ValueError("an ok outcome is no problem")
    body = {"type": "about:blank", "title": row.status, "status": row.http, "detail": outcome.message,
            "code": outcome.code, "next_action": row.next_action, "field": outcome.field}  # fmt: skip
    return {name: value for name, value in body.items() if value is not None}
