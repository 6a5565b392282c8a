"""Worlds that leak, for lessons that break ownership on purpose. Nothing but a scenario's `world` names them."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from labkit.outcomes import NotFound, compact
from labkit.workbook.fields import GROWN
from labkit.worlds import WORLDS, Opener, World, merchants, notices, open_world

if TYPE_CHECKING:
    from labkit.calls import Context, Tool
    from labkit.worlds import Spy

__all__ = ["LEAKY", "opened"]


class _Late(notices.Reader):
    """Whatever fits is read, and handed to the model; the owner is filtered on the page that shows the answer."""

    def belongs(self, notice: notices.Notice, subject: str) -> bool:
        return True


class _After(_Late):
    """Whatever fits is read; what is not the asker's is dropped before it is returned."""

    def search(self, arguments: notices.Search, context: Context) -> list[notices.Notice]:
        return [notice for notice in super().search(arguments, context) if notice.owner == context.principal.subject]

    def read(self, arguments: notices.Read, context: Context) -> notices.Notice:
        found = super().read(arguments, context)
        if found.owner != context.principal.subject:
            raise NotFound
        return found


class _Told(_After):
    """The same, but 'not yours' is answered in other words than 'not there'."""

    def read(self, arguments: notices.Read, context: Context) -> notices.Notice:
        found = _Late.read(self, arguments, context)
        mine = found.owner == context.principal.subject
        return found if mine else replace(found, content="This notice belongs to somebody else. / 这条通知属于别人。")


class _ClaimingSearch(notices.Search):
    """A search in which the model says for whom it asks."""

    user_id: str


class _Claimed(notices.Reader):
    """The owner is taken from the arguments: a well-filtered query, for whomever the model names."""

    def search(self, arguments: notices.Search, context: Context) -> list[notices.Notice]:
        asks = replace(context.principal, subject=arguments.user_id)  # type: ignore[attr-defined]  # as `_claiming` says
        return super().search(arguments, context._replace(principal=asks))


def _claiming(spy: Spy) -> tuple[Tool, ...]:
    search, *others = notices.tools(spy, _Claimed)
    return (replace(search, arguments=_ClaimingSearch), *others)


class _Tenantless(merchants.Directory):
    """A merchant is found by its id alone, whoever asks."""

    def belongs(self, record: merchants.Merchant, tenant: str | None) -> bool:
        return True


class _ByHand(merchants.Directory):
    """A program that picks the fields by itself: what `part` makes of a record is sent as it is."""

    def part(self, record: merchants.Merchant) -> dict[str, Any]:
        return {name: getattr(record, name) for name in merchants.Public.model_fields}

    def get(self, arguments: merchants.Get, context: Context) -> dict[str, Any]:
        found = self.of_tenant(context, arguments.merchantId)
        if not found:
            raise NotFound
        part = self.part(found[0])
        return {name: value for name, value in part.items() if arguments.fields is None or name in arguments.fields}

    def page(self, arguments: merchants.ListPage, context: Context) -> Any:
        page: dict[str, Any] = super().page(arguments, context)
        return page | {"items": [self.part(record) for record in page["items"]]}


class _Denied(_ByHand):
    """Drops the fields that were internal when this was written; the records have grown since."""

    def __init__(self, spy: Spy) -> None:
        super().__init__(spy, GROWN)

    def part(self, record: merchants.Merchant) -> dict[str, Any]:
        return {name: value for name, value in asdict(record).items() if name not in ("tenant", "internal_note")}


class _Nested(_ByHand):
    """Picks the fields of one record, and sends a page with whatever is in its list and around it."""

    def page(self, arguments: merchants.ListPage, context: Context) -> Any:
        page: dict[str, Any] = merchants.Directory.page(self, arguments, context)
        query = {"tenant": context.principal.tenant, "page_size": arguments.page_size}
        return page | {"items": [asdict(record) for record in page["items"]], "query": query}


class _Bare(_ByHand):
    """Nothing internal can leave, since next to nothing leaves."""

    def part(self, record: merchants.Merchant) -> dict[str, Any]:
        return {"merchantId": record.merchantId}


class _Filled(_ByHand):
    """What is blank is filled in, so that it looks complete."""

    def part(self, record: merchants.Merchant) -> dict[str, Any]:
        usual = {"name": f"商户 {record.merchantId} / Merchant {record.merchantId}", "hours": "10:00–20:00"}
        return {name: value or usual[name] for name, value in super().part(record).items()}


class _Cut(_ByHand):
    """A page is made to fit by cutting its text."""

    def page(self, arguments: merchants.ListPage, context: Context) -> Any:
        return compact(super().page(arguments, context))[:300]


class _Dated(_ByHand):
    """Adds a date, which is no JSON and which no field declares."""

    def part(self, record: merchants.Merchant) -> dict[str, Any]:
        return super().part(record) | {"updated": date(2026, 9, 1)}


def _by_hand(over: type[_ByHand]) -> Opener:
    """The merchants' tools over this directory, without the list of what may leave."""
    return lambda spy: tuple(replace(tool, returns=None) for tool in merchants.tools(spy, over))


LEAKY: dict[str, Opener] = {
    "notices_late": partial(notices.tools, over=_Late),
    "notices_after": partial(notices.tools, over=_After),
    "notices_told": partial(notices.tools, over=_Told),
    "notices_claimed": _claiming,
    "merchants_tenantless": partial(merchants.tools, over=_Tenantless),
    "merchants_denied": _by_hand(_Denied),
    "merchants_nested": _by_hand(_Nested),
    "merchants_bare": _by_hand(_Bare),
    "merchants_filled": _by_hand(_Filled),
    "merchants_cut": _by_hand(_Cut),
    "merchants_dated": _by_hand(_Dated),
}
"""Leaky worlds by name. The part before the underscore is the world each stands in for."""


def opened(*names: str) -> World:
    """Open worlds afresh, leaky ones among them. Raises ValueError for a name that no world has."""
    return open_world(*names, known={**WORLDS, **LEAKY})
