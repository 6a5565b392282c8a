"""Which places came out of a call, what is known of each, and whether it is the one that was confirmed. No widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from labkit.loop import Result
    from labkit.workbook.scenarios import Scenario

__all__ = ["Candidate", "candidates", "confirmed", "ids"]


class Candidate(NamedTuple):
    """A place as the model reads it; `merchant` and `evidence` are None where no table entry came with it."""

    place_id: str
    name: str
    address: str
    region: str
    merchant: int | None
    evidence: str | None

    @property
    def where(self) -> str:
        """Name and address, in English."""
        return f"{_english(self.name)}, {_english(self.address)}"


def candidates(result: Result) -> list[Candidate]:
    """The places in a result, in its order: those of a search, of one id, or in place of an id that has expired."""
    data = result.outcome.data
    found = data.get("candidates", [data]) if isinstance(data, dict) else data or []
    return [_read(place) for place in found if "place_id" in place]


def ids(result: Result) -> list[str]:
    """The ids of those places, in the order of the result."""
    return [place.place_id for place in candidates(result)]


def confirmed(scenario: Scenario) -> str | None:
    """The id that the user confirmed, as the scenario's conditions hold it; None if there is none."""
    held = [part.value for part in scenario.conditions if part.field == "place_id"]
    return str(held[0]) if held else None


def _read(place: dict[str, Any]) -> Candidate:
    merchant = place["merchant"] or {"merchantId": None, "evidence": None}
    return Candidate(place["place_id"], place["name"], place["address"], place["region"],
                     merchant["merchantId"], merchant["evidence"])  # fmt: skip


def _english(text: str) -> str:
    return text.rpartition(" / ")[2]
