"""Worlds that leak, for lessons that break ownership on purpose. Nothing but a scenario's `world` names them."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from labkit.outcomes import NeedsUser, NotFound, compact
from labkit.workbook.fields import GROWN
from labkit.worlds import WORLDS, Opener, World, faq, merchants, notices, open_world, places

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


class _EveryTenants(faq.Index):
    """An entry is found by its words alone, whoever asks."""

    def belongs(self, entry: faq.Entry, tenant: str | None) -> bool:
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
        page = super().page(arguments, context)
        return page if len(compact(page)) <= 300 else compact(page)[:300]


class _Dated(_ByHand):
    """Adds a date, which is no JSON and which no field declares."""

    def part(self, record: merchants.Merchant) -> dict[str, Any]:
        return super().part(record) | {"updated": date(2026, 9, 1)}


def _by_hand(over: type[_ByHand]) -> Opener:
    """The merchants' tools over this directory, without the list of what may leave."""
    return lambda spy: tuple(replace(tool, returns=None) for tool in merchants.tools(spy, over))


class _First(places.Provider):
    """Of several candidates the first is taken, so that the user need not be asked."""

    def search(self, arguments: places.Search, context: Context) -> list[dict[str, Any]]:
        try:
            return super().search(arguments, context)
        except NeedsUser as several:
            return list(several.found[:1])  # type: ignore[index]  # a list of candidates


class _Defaulted(places.Provider):
    """Where the user gave no region, the search is restricted to the program's own."""

    def search(self, arguments: places.Search, context: Context) -> list[dict[str, Any]]:
        own = {} if arguments.region else {"region": "Tokyo", "mode": "restrict"}
        return super().search(arguments.model_copy(update=own), context)


class _Rebound(places.Provider):
    """For an id that has expired the current one of that name is returned, and nobody is told."""

    def get(self, arguments: places.Get, context: Context) -> dict[str, Any]:
        try:
            return super().get(arguments, context)
        except NeedsUser as expired:
            return dict(expired.found["candidates"][0])  # type: ignore[index]  # as `places.Expired` says


class _Linked(places.Provider):
    """A program that reads the table of merchants in a way of its own: `link` says what a place was found to be."""

    def link(self, place: dict[str, Any], tenant: str | None) -> Any:
        raise NotImplementedError

    def _handed_out(self, found: list[places.Place], context: Context) -> list[dict[str, Any]]:
        tenant = context.principal.tenant
        return [place | {"merchant": self.link(place, tenant)} for place in super()._handed_out(found, context)]


class _Merged(_Linked):
    """A place without an entry is taken for the first one in the table whose name begins alike."""

    def link(self, place: dict[str, Any], tenant: str | None) -> Any:
        names = {one.id: one.name.split()[0] for one in places.PLACES}
        alike = [link for link in places.MAPPING if link.tenant == tenant and names[link.place_id] in place["name"]]
        guessed = [replace(link, evidence="名称相近。 The names are alike.") for link in alike[:1]]
        return place["merchant"] or next(iter(guessed), None)


class _Split(_Linked):
    """A merchant has one id in this table, so that a second one takes the place of the first."""

    def link(self, place: dict[str, Any], tenant: str | None) -> Any:
        last = {(link.tenant, link.merchantId): link for link in places.MAPPING}
        return next(
            (link for (of, _), link in last.items() if (of, link.place_id) == (tenant, place["place_id"])), None
        )


class _ForAll(_Linked):
    """The table is read without asking whose it is."""

    def link(self, place: dict[str, Any], tenant: str | None) -> Any:
        return next((link for link in places.MAPPING if link.place_id == place["place_id"]), None)


def _provided(over: type[places.Provider]) -> Opener:
    """The places' tools over this provider."""

    def tools(spy: Spy) -> tuple[Tool, ...]:
        provider = over(spy, places.SEED)
        search, get = places.tools(spy)
        return replace(search, run=provider.search), replace(get, run=provider.get)

    return tools


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
    "places_first": _provided(_First),
    "places_defaulted": _provided(_Defaulted),
    "places_rebound": _provided(_Rebound),
    "places_merged": _provided(_Merged),
    "places_split": _provided(_Split),
    "places_tenantless": _provided(_ForAll),
    "faq_tenantless": partial(faq.tools, over=_EveryTenants),
}
"""Leaky worlds by name. The part before the underscore is the world each stands in for."""


def opened(*names: str) -> World:
    """Open worlds afresh, leaky ones among them. Raises ValueError for a name that no world has."""
    return open_world(*names, known={**WORLDS, **LEAKY})
