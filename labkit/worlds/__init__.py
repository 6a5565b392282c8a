"""Sample data a lesson can hold in the head: each world has its records, its reader, a spy, and its tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labkit.calls import Tool
from labkit.worlds import faq, merchants, notes, notices, places, text
from labkit.worlds.spy import Spy

__all__ = ["WORLDS", "Spy", "World", "open_world"]

Opener = Callable[[Spy], tuple[Tool, ...]]
WORLDS: dict[str, Opener] = {
    "text": text.tools,
    "notices": notices.tools,
    "notes": notes.tools,
    "merchants": merchants.tools,
    "places": places.tools,
    "faq": faq.tools,
}
"""Each world by name: a function that opens it afresh, reporting its reads to the spy."""


@dataclass(frozen=True)
class World:
    """One or more worlds opened together: their tools, and the spy that counts entries to their data."""

    names: tuple[str, ...]
    tools: tuple[Tool, ...]
    spy: Spy

    @property
    def read_permissions(self) -> frozenset[str]:
        """Every permission that some tool which only reads asks for."""
        return frozenset(tool.permission for tool in self.tools if tool.permission and not tool.writes)


def open_world(*names: str, known: Mapping[str, Opener] = WORLDS) -> World:
    """Open worlds afresh. Raises ValueError for a name that is not in `known`, or twice the same."""
    for place, name in enumerate(names):
        if name not in known:
            raise ValueError(f"there is no world {name!r}: choose from {', '.join(WORLDS)}")
        if name in names[:place]:
            raise ValueError(f"the world {name!r} is named twice")
    spy = Spy()
    return World(tuple(names), tuple(tool for name in names for tool in known[name](spy)), spy)
