"""World merchants: records of two tenants, read through an outside directory, with internal fields in each."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, Field

from labkit.calls import Context, Tool
from labkit.outcomes import NotFound, TemporaryFailure
from labkit.worlds.spy import Spy

__all__ = ["MERCHANTS", "Merchant", "tools"]

ATTEMPTS = 2
"""Attempts at the outside service in one execution: one repeat bridges a passing fault, more would hide an outage."""
PER_TENANT = 50
"""Records of a tenant: five pages of ten."""


@dataclass(frozen=True)
class Merchant:
    """A record as it is stored. `tenant` and `internal_note` never leave; blank stays blank."""

    merchantId: int
    tenant: str
    name: str
    hours: str
    internal_note: str


def _generated(tenant: str, first: int, count: int) -> tuple[Merchant, ...]:
    return tuple(
        Merchant(first + n, tenant, f"样例商户 {tenant}{n:02} / Sample Merchant {tenant}{n:02}", "10:00–20:00",
                 f"INTERNAL_FIELD_CANARY {tenant}{n:02}")
        for n in range(1, count + 1)
    )  # fmt: skip


MERCHANTS = (
    Merchant(1001, "A", "测试茶铺 / Test Tea House", "09:00–18:00", "INTERNAL_FIELD_CANARY 1001"),
    *_generated("A", 2000, PER_TENANT - 1),
    Merchant(1002, "B", "", "", "INTERNAL_FIELD_CANARY 1002"),
    *_generated("B", 3000, PER_TENANT - 1),
)

Field_ = Literal["merchantId", "name", "hours"]


class Get(BaseModel):
    """`fields` only narrows; left out, all public fields come."""

    merchantId: int = Field(ge=1)
    fields: list[Field_] | None = None


class ListPage(BaseModel):
    """`page_token` is null or empty for the first page, then what the page before gave (as in AIP-158)."""

    page_token: str | None = Field(max_length=100)
    page_size: int = Field(ge=1, le=50)


class Public(BaseModel):
    """What may leave of a merchant."""

    merchantId: int = 0
    name: str = ""
    hours: str = ""


class Page(BaseModel):
    """An empty `next_page_token` is the end of the list."""

    items: list[Public]
    next_page_token: str


@dataclass
class Directory:
    """The outside service. Tenant is part of every query; a query is made at most `ATTEMPTS` times."""

    spy: Spy
    records: tuple[Merchant, ...] = field(default=MERCHANTS, repr=False)

    def of_tenant(
        self, context: Context, merchant_id: int | None = None, within: slice = slice(None)
    ) -> list[Merchant]:
        """The records of the principal's tenant, in the order of their ids, as far as they are asked for."""
        self._reach(context)
        mine = [record for record in self.records if self.belongs(record, context.principal.tenant)]
        found = [record for record in mine if merchant_id in (None, record.merchantId)][within]
        self.spy.note("merchants", context.principal.subject, tuple(str(record.merchantId) for record in found))
        return found

    def _reach(self, context: Context) -> None:
        """One attempt, and one more where it met a passing fault; each is recorded before it is made."""
        for left in reversed(range(ATTEMPTS)):
            try:
                context.attempted()
            except TemporaryFailure:
                if not left or context.remaining_s() == 0:
                    raise
            else:
                return

    def belongs(self, record: Merchant, tenant: str | None) -> bool:
        """The tenant filter: the first condition of every query."""
        return record.tenant == tenant

    def get(self, arguments: Get, context: Context) -> dict[str, object]:
        found = self.of_tenant(context, arguments.merchantId)
        if not found:
            raise NotFound
        wanted = Public.model_fields if arguments.fields is None else arguments.fields
        return {name: getattr(found[0], name) for name in wanted}

    def page(self, arguments: ListPage, context: Context) -> dict[str, object]:
        start = _offset(arguments.page_token, context.principal.tenant)
        end = start + arguments.page_size
        items = self.of_tenant(context, within=slice(start, end + 1))  # one more shows whether the list goes on
        token = _token(end, context.principal.tenant) if len(items) > arguments.page_size else ""
        return {"items": items[: arguments.page_size], "next_page_token": token}


def _token(offset: int, tenant: str | None) -> str:
    return urlsafe_b64encode(f"{tenant}:{offset}".encode()).decode()


def _offset(token: str | None, tenant: str | None) -> int:
    """Where a page begins. A token of another tenant, or of no page, is answered like any other unknown thing."""
    if not token:
        return 0
    try:
        owner, _, offset = urlsafe_b64decode(token.encode()).decode().rpartition(":")
    except ValueError:
        raise NotFound from None
    if owner != tenant or not offset.isdecimal() or _token(int(offset), tenant) != token:
        raise NotFound
    return int(offset)


def tools(spy: Spy, over: type[Directory] = Directory) -> tuple[Tool, ...]:
    """The world's tools over a fresh directory."""
    directory = over(spy)
    return (
        Tool("get_merchant", "1", Get, directory.get, "merchant:read", returns=Public),
        Tool("list_merchants", "1", ListPage, directory.page, "merchant:read", returns=Page),
    )
