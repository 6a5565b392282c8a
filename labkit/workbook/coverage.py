"""How far a list was read: the pages of a run, each with the token it was asked with and the one it brought.

1. Only an empty token is the end of a list (AIP-158): not a short page, not an empty one, not the last one that came.
2. What was left out of a shortened page is on no later page: the next token leads past it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.arguments import read_object

if TYPE_CHECKING:
    from labkit.loop import Run

__all__ = ["Page", "pages"]


class Page(NamedTuple):
    """A page that came back.

    Attributes:
        round, position: the request that asked for it.
        asked: the token it was asked with; None or empty for the beginning of the list.
        items: what it holds.
        omitted: how many items were left out of it, for want of room.
        token: what asks for the page after it; empty at the end of the list.
    """

    round: int
    position: int
    asked: str | None
    items: list[Any]
    omitted: int
    token: str


def pages(run: Run) -> list[Page]:
    """The pages that came back, in request order: every `ok` result with `items` and a `next_page_token`."""
    found = []
    for result in run.results:
        data = result.outcome.data if result.outcome.code == "ok" else None
        if isinstance(data, dict) and {"items", "next_page_token"} <= data.keys():
            asked = read_object(result.call.arguments).get("page_token")
            found.append(Page(result.round, result.position, asked, data["items"], result.outcome.omitted,
                              data["next_page_token"]))  # fmt: skip
    return found
