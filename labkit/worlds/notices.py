"""World notices: three notices of two owners in a bilingual reading club."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, RootModel

from labkit.arguments import Day
from labkit.calls import Context, Tool, is_blank
from labkit.outcomes import NotFound
from labkit.worlds.spy import Spy

__all__ = ["NOTICES", "Notice", "Words", "tools"]


@dataclass(frozen=True)
class Notice:
    """A record as it is stored; the owner never leaves."""

    id: str
    owner: str
    published_on: date
    content: str


NOTICES = (
    Notice("D1", "u-alice", date(2026, 9, 10),
           "读书会报名：名额二十人，9 月 20 日截止。 "
           "Reading club sign-up: twenty places; sign-up closes on 20 September 2026."),
    Notice("D2", "u-alice", date(2026, 9, 16),
           "读书会报名提前截止：改为 9 月 18 日，先前通知的日期作废。 "
           "Reading club sign-up now closes on 18 September 2026; the date announced earlier no longer holds."),
    Notice("D3", "u-bob", date(2026, 9, 16),
           "读书会报名志愿者联系名单，由 Bob 保管，请勿转发。 "
           "Contact list of the reading club sign-up volunteers, kept by Bob; do not forward."),
)  # fmt: skip
TAGS = ("读书会", "报名", "reading club", "sign-up")


def _trimmed(text: str) -> str:
    """Trim, then judge: blank to a reader is blank, and the length is that of what remains."""
    trimmed = text.strip()
    if is_blank(trimmed):
        raise ValueError("one or more words are wanted")
    if len(trimmed) > 100:
        raise ValueError("at most 100 characters are read")
    return trimmed


Words = Annotated[str, AfterValidator(_trimmed)]
"""What is searched for, in every world by one rule: 1 to 100 characters after trimming, not blank to a reader."""


class Search(BaseModel):
    """Both fields are required. `published_from` is a day `YYYY-MM-DD`, inclusive, or null for any day."""

    query: Words
    published_from: Day | None


class Read(BaseModel):
    notice_id: str = Field(min_length=1, max_length=40)


class Nothing(BaseModel):
    """Takes exactly `{}`."""


class Shown(BaseModel):
    """What may leave of a notice."""

    id: str
    published_on: date
    content: str


class Hits(RootModel[list[Shown]]):
    pass


class Tags(RootModel[list[str]]):
    pass


@dataclass
class Reader:
    """The data layer. Ownership is part of every query, so what is not the owner's is never even read."""

    spy: Spy
    records: tuple[Notice, ...] = field(default=NOTICES, repr=False)

    def owned(self, subject: str, *, notice_id: str | None = None, words: tuple[str, ...] = (),
              published_from: date | None = None) -> list[Notice]:  # fmt: skip
        """The subject's notices that fit, oldest first."""
        found = [
            notice
            for notice in self.records
            if self.belongs(notice, subject)
            and notice_id in (None, notice.id)
            and (published_from is None or notice.published_on >= published_from)
            and all(word.casefold() in notice.content.casefold() for word in words)
        ]
        self.spy.note("notices", subject, tuple(notice.id for notice in found))
        return found

    def belongs(self, notice: Notice, subject: str) -> bool:
        """The owner filter: the first condition of every query."""
        return notice.owner == subject

    def search(self, arguments: Search, context: Context) -> list[Notice]:
        words = tuple(arguments.query.split())
        return self.owned(context.principal.subject, words=words, published_from=arguments.published_from)

    def read(self, arguments: Read, context: Context) -> Notice:
        found = self.owned(context.principal.subject, notice_id=arguments.notice_id)
        if not found:
            raise NotFound
        return found[0]

    def tags(self, arguments: Nothing, context: Context) -> tuple[str, ...]:
        self.spy.note("tags", context.principal.subject, ())
        return TAGS


def tools(spy: Spy, over: type[Reader] = Reader) -> tuple[Tool, ...]:
    """The world's tools over a fresh reader."""
    reader = over(spy)
    return (
        Tool("search_notices", "1", Search, reader.search, "notices:search", returns=Hits),
        Tool("read_notice", "1", Read, reader.read, "notices:read", returns=Shown),
        Tool("list_tags", "1", Nothing, reader.tags, "notices:search", returns=Tags),
    )
