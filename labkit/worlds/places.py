"""World places: an outside provider of shops whose names repeat, and the table that links its ids to our merchants.

1. Nothing is chosen for the user: several candidates are several, whatever their order, and `bias` only orders them.
2. A provider id is all that is known of a place: two ids are one place only where the table has evidence for both.
3. An id that has expired leads back to confirmation, even if a single current id bears the same name.
4. The order of candidates means nothing, so it is turned at every search; the seed makes playing repeatable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, Literal

from pydantic import BaseModel, Field, RootModel, ValidationInfo, field_validator

from labkit.calls import Context, Tool
from labkit.outcomes import NeedsUser, NotFound
from labkit.worlds.notices import Words
from labkit.worlds.spy import Spy

__all__ = ["MAPPING", "PLACES", "SEED", "Link", "Place", "tools"]

SEED = 2026
"""Decides the order of candidates where nobody gives another seed."""


@dataclass(frozen=True)
class Place:
    """One entry as the provider stores it. `phone` never leaves; an expired id is never found by a search."""

    id: str
    name: str
    address: str
    region: str
    phone: str
    expired: bool = False


@dataclass(frozen=True)
class Link:
    """A provider id, the merchant of a tenant that it was found to be, and why this is believed."""

    place_id: str
    tenant: str
    merchantId: int
    evidence: str


PLACES = (
    Place("G0", "青叶咖啡 上野店 / Aoba Coffee Ueno", "东京都台东区上野 5-99-1 / 5-99-1 Ueno, Taito, Tokyo", "Tokyo",
          "03-0000-0200", expired=True),
    Place("G1", "青叶咖啡 东京站店 / Aoba Coffee Tokyo Station",
          "东京都千代田区丸之内 1-99-1 / 1-99-1 Marunouchi, Chiyoda, Tokyo", "Tokyo", "03-0000-0101"),
    Place("G2", "青叶咖啡 东京站店 / Aoba Coffee Tokyo Station",
          "东京都千代田区丸之内 1-99-1 / 1-99-1 Marunouchi, Chiyoda, Tokyo", "Tokyo", "03-0000-0101"),
    Place("G3", "青叶咖啡 上野店 / Aoba Coffee Ueno", "东京都台东区上野 7-99-1 / 7-99-1 Ueno, Taito, Tokyo", "Tokyo",
          "03-0000-0201"),
    Place("G4", "青叶咖啡 梅田店 / Aoba Coffee Umeda", "大阪市北区梅田 3-99-1 / 3-99-1 Umeda, Kita, Osaka", "Osaka",
          "06-0000-0301"),
)  # fmt: skip
"""G1 and G2 are one shop under two ids; G0 is an id that has expired."""

MAPPING = (
    Link("G1", "A", 2001, "电话与街道地址一致，2026-09-01 核对。 "
         "Phone number and street address agree, checked 2026-09-01."),
    Link("G2", "A", 2001, "店主书面确认此编号也是东京站店，2026-09-03。 "
         "The owner confirmed in writing that this id, too, is the Tokyo Station branch, 2026-09-03."),
    Link("G3", "A", 2002, "电话与街道地址一致，2026-09-01 核对。 "
         "Phone number and street address agree, checked 2026-09-01."),
)  # fmt: skip
"""G0 and G4 have no entry: nothing says which merchant they are, and a like name is no evidence."""


class Search(BaseModel):
    """All three are required. `region` is null where the user gave none; `mode` stands before it for its check."""

    text: Words
    mode: Literal["bias", "restrict"]
    region: Words | None

    @field_validator("region")
    @classmethod
    def _given_to_restrict(cls, region: str | None, info: ValidationInfo) -> str | None:
        if region is None and info.data.get("mode") == "restrict":
            raise ValueError("the mode restrict needs a region")
        return region


class Get(BaseModel):
    place_id: str = Field(min_length=1, max_length=40)


class Mapped(BaseModel):
    """The merchant that a place was found to be: never without the evidence."""

    merchantId: int
    evidence: str


class Shown(BaseModel):
    """What may leave of a place. `merchant` is null where the principal's tenant has no entry for this id."""

    place_id: str
    name: str
    address: str
    region: str
    merchant: Mapped | None


class Candidates(RootModel[list[Shown]]):
    pass


class Expired(BaseModel):
    """An id that holds no longer, and the current ids of the same name, one of which the user may confirm."""

    expired: str
    candidates: list[Shown]


class Found(RootModel[Shown | Expired]):
    pass


def _shown(place: Place, tenant: str | None) -> dict[str, Any]:
    """A place with its entry in the table, as far as the table is this tenant's."""
    links = [link for link in MAPPING if link.place_id == place.id and link.tenant == tenant]
    return {"place_id": place.id, "name": place.name, "address": place.address, "region": place.region,
            "merchant": links[0] if links else None}  # fmt: skip


@dataclass
class Provider:
    """The outside service. It knows no owner and no merchant; each question to it is one downstream attempt."""

    spy: Spy
    seed: int
    turns: Iterator[int] = field(default_factory=count)

    def search(self, arguments: Search, context: Context) -> list[dict[str, Any]]:
        context.attempted()
        words = arguments.text.casefold().split()
        near: list[Place] = []
        far: list[Place] = []
        for place in PLACES:
            inside = arguments.region is None or place.region.casefold() == arguments.region.casefold()
            said = f"{place.name} {place.address}".casefold()
            if not place.expired and all(word in said for word in words):
                (near if inside else far).append(place)
        turn = next(self.turns)
        fit = self._turned(near, turn) + (self._turned(far, turn) if arguments.mode == "bias" else [])
        found = self._handed_out(fit, context)
        if len(found) > 1:
            raise NeedsUser(found=found)
        return found

    def get(self, arguments: Get, context: Context) -> dict[str, Any]:
        context.attempted()
        asked = [place for place in PLACES if place.id == arguments.place_id]
        named = [place for place in PLACES if not place.expired and place.name in {old.name for old in asked}]
        expired = any(place.expired for place in asked)
        found = self._handed_out(named if expired else asked, context)
        if not asked:
            raise NotFound
        if expired:
            raise NeedsUser(found={"expired": arguments.place_id, "candidates": found})
        return found[0]

    def _turned(self, places: list[Place], turn: int) -> list[Place]:
        """Shuffled by the seed, then turned on by one each time: two searches in a row never agree in their order."""
        Random(self.seed).shuffle(places)  # noqa: S311 - it hides nothing
        start = turn % len(places) if places else 0
        return places[start:] + places[:start]

    def _handed_out(self, places: list[Place], context: Context) -> list[dict[str, Any]]:
        self.spy.note("places", context.principal.subject, tuple(place.id for place in places))
        return [_shown(place, context.principal.tenant) for place in places]


def tools(spy: Spy, seed: int = SEED) -> tuple[Tool, ...]:
    """The world's tools over a fresh provider."""
    provider = Provider(spy, seed)
    return (
        Tool("search_places", "1", Search, provider.search, returns=Candidates),
        Tool("get_place", "1", Get, provider.get, returns=Found),
    )
