"""Worlds that leak, for lessons that break ownership on purpose. Nothing but a scenario's `world` names them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from labkit.outcomes import NotFound
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


LEAKY: dict[str, Opener] = {
    "notices_late": partial(notices.tools, over=_Late),
    "notices_after": partial(notices.tools, over=_After),
    "notices_told": partial(notices.tools, over=_Told),
    "notices_claimed": _claiming,
    "merchants_tenantless": partial(merchants.tools, over=_Tenantless),
}
"""Leaky worlds by name. The part before the underscore is the world each stands in for."""


def opened(*names: str) -> World:
    """Open worlds afresh, leaky ones among them. Raises ValueError for a name that no world has."""
    return open_world(*names, known={**WORLDS, **LEAKY})
