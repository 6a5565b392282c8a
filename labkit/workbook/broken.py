"""Guards that do not hold, for lessons that break them on purpose. Nothing but a scenario's `gates` names them."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches
from typing import TYPE_CHECKING

from labkit.outcomes import Outcome, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from labkit.calls import Tool
    from labkit.gates import Gate, Request, State

__all__ = ["BROKEN"]


def _allowlist(find: Callable[[str, dict[str, Tool]], Tool | None], name: str) -> Gate:
    def gate(request: Request, state: State) -> Outcome | None:
        tool = find(str(request.call.name), dict(state.tools))
        if tool is None:
            return refusal(request.call.id, "unknown_tool", field="name")
        request.tool, request.offer = tool, tool.offer
        return None

    gate.__name__ = name
    return gate


def _tidied(name: str, tools: dict[str, Tool]) -> Tool | None:
    """Trims, folds case and look-alike letters, and drops a prefix, 'to be helpful'."""
    plain = unicodedata.normalize("NFKC", name).strip().casefold().replace("-", "_")
    return tools.get(plain.rpartition(".")[2])


def _nearest(name: str, tools: dict[str, Tool]) -> Tool | None:
    """Takes the offered name that looks most like what the model wrote."""
    close = get_close_matches(name, tools, n=1, cutoff=0.4)
    return tools[close[0]] if close else None


BROKEN: dict[str, Gate] = {
    "allowlist_tidied": _allowlist(_tidied, "allowlist_tidied"),
    "allowlist_nearest": _allowlist(_nearest, "allowlist_nearest"),
}
"""Broken gates by name. The part before the last underscore is the gate each stands in for."""
