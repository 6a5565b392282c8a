"""World faq: questions and answers about the merchants, searched by their words, for one tenant at a time."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, RootModel

from labkit.calls import Context, Tool
from labkit.worlds.notices import Words
from labkit.worlds.spy import Spy

__all__ = ["FAQ", "Entry", "tools"]


@dataclass(frozen=True)
class Entry:
    """An entry as it is stored. `tenant` and `internal_note` never leave, and are never searched."""

    id: str
    tenant: str
    merchantId: int
    question: str
    answer: str
    internal_note: str


FAQ = (
    Entry("F1", "A", 1001,
          "法定节假日几点营业？ / What are the opening hours on public holidays?",
          "法定节假日 10:00–16:00。 / On public holidays 10:00–16:00.", "INTERNAL_FIELD_CANARY F1"),
    Entry("F2", "A", 1001,
          "可以预订座位吗？ / Can I reserve a table?",
          "可以，请提前一天打电话。 / Yes, by telephone, one day ahead.", "INTERNAL_FIELD_CANARY F2"),
    Entry("F3", "A", 2001,
          "有停车位吗？ / Is there parking?",
          "有三个车位。 / There are three spaces.", "INTERNAL_FIELD_CANARY F3"),
    Entry("F4", "B", 1002,
          "法定节假日营业吗？ / Is it open on public holidays?",
          "法定节假日休息。 / It is closed on public holidays.", "INTERNAL_FIELD_CANARY F4"),
    Entry("F5", "B", 3001,
          "轮椅可以进入吗？ / Is there step-free access?",
          "可以，请走侧门。 / Yes, by the side door.", "INTERNAL_FIELD_CANARY F5"),
)  # fmt: skip
"""Holidays are asked about in entries of both tenants; step-free access only in one of tenant B."""


class Search(BaseModel):
    """All words must occur, in the question or the answer."""

    query: Words


class Shown(BaseModel):
    """What may leave of an entry."""

    id: str
    merchantId: int
    question: str
    answer: str


class Hits(RootModel[list[Shown]]):
    pass


@dataclass
class Index:
    """The data layer. Tenant is part of every query, so what is another's is never even read."""

    spy: Spy

    def of_tenant(self, context: Context, words: tuple[str, ...]) -> list[Entry]:
        """The entries of the principal's tenant that hold all words, in the order of their ids."""
        mine = [entry for entry in FAQ if self.belongs(entry, context.principal.tenant)]
        found = [entry for entry in mine if all(_holds(entry, word) for word in words)]
        self.spy.note("faq", context.principal.subject, tuple(entry.id for entry in found))
        return found

    def belongs(self, entry: Entry, tenant: str | None) -> bool:
        """The tenant filter: the first condition of every query."""
        return entry.tenant == tenant

    def search(self, arguments: Search, context: Context) -> list[Entry]:
        return self.of_tenant(context, tuple(arguments.query.split()))


def _holds(entry: Entry, word: str) -> bool:
    return word.casefold() in f"{entry.question} {entry.answer}".casefold()


def tools(spy: Spy, over: type[Index] = Index) -> tuple[Tool, ...]:
    """The world's tool over a fresh index."""
    return (Tool("search_faq", "1", Search, over(spy).search, "merchant:read", returns=Hits),)
