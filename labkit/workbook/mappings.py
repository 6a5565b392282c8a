"""How what a tool raises is told: mapped by the engine, or broken on purpose before the engine sees it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from labkit.calls import Context, Tool
from labkit.outcomes import Cancelled, Fault, TemporaryFailure, project

__all__ = ["MAPPINGS", "Mapping"]

Mapping = Literal["mapped", "told", "emptied", "retried"]


def _mapped(tool: Tool) -> Tool:
    """Every fault reaches the engine, which maps it in one place."""
    return tool


def _told(tool: Tool) -> Tool:
    """The exception's text is handed to the model, its causes too, 'so that it can help itself'."""

    def run(arguments: Any, context: Context) -> Any:
        try:
            return json.loads(project(tool.returns, tool.run(arguments, context)))
        except Fault:
            raise
        except Exception as error:  # noqa: BLE001 - the mistake that is shown
            return {"error": " <- ".join(map(repr, _chain(error)))}

    return replace(tool, run=run, returns=None)


def _chain(error: BaseException | None) -> list[BaseException]:
    return [error, *_chain(error.__cause__ or error.__context__)] if error else []


def _emptied(tool: Tool) -> Tool:
    """Whatever fails is answered like something that is not there."""

    def run(arguments: Any, context: Context) -> Any:
        try:
            return json.loads(project(tool.returns, tool.run(arguments, context)))
        except Cancelled:
            raise
        except Exception:  # noqa: BLE001 - the mistake that is shown
            return []

    return replace(tool, run=run, returns=None)


def _retried(tool: Tool) -> Tool:
    """Every fault is taken for a passing one: try again."""

    def run(arguments: Any, context: Context) -> Any:
        try:
            return tool.run(arguments, context)
        except Fault:
            raise
        except Exception as error:
            raise TemporaryFailure from error

    return replace(tool, run=run)


MAPPINGS: dict[str, Callable[[Tool], Tool]] = {
    "mapped": _mapped, "told": _told, "emptied": _emptied, "retried": _retried,
}  # fmt: skip
"""Ways to treat a fault, by the name that a scenario's `errors` gives; only the first one holds."""
