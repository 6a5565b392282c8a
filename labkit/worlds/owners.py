"""Whose each record is: what only an onlooker may know, to tell a leak from an own record."""

from __future__ import annotations

from labkit.worlds.faq import FAQ
from labkit.worlds.merchants import MERCHANTS
from labkit.worlds.notices import NOTICES

__all__ = ["OWNERS"]

OWNERS: dict[str, str] = {
    **{notice.id: notice.owner for notice in NOTICES},
    **{str(merchant.merchantId): merchant.tenant for merchant in MERCHANTS},
    **{entry.id: entry.tenant for entry in FAQ},
}
"""Record id -> subject or tenant that owns it."""
