"""Cases that others wrote, kept outside the repository and read where `LABKIT_EXTERNAL_DATA` says.

Their licences and origins are their own, so they are never copied in; without them the tests are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from labkit import Call, Context, Dispatcher, Host, Limits, Principal, Response, Run, TemporaryFailure, Tool, drive
from labkit import scripted as script
from labkit.worlds import World, open_world

__all__ = ["Report", "each", "file", "rows"]

VARIABLE = "LABKIT_EXTERNAL_DATA"
WHY_SKIPPED = f"the cases are outside the repository: set {VARIABLE} to their folder"
_FOLDER = os.environ.get(VARIABLE)


def file(name: str) -> Path:
    """The external file of that name; skips the test that asks where there is no folder."""
    if not _FOLDER:
        pytest.skip(WHY_SKIPPED)
    return Path(_FOLDER, name)


def each(pattern: str) -> list[object]:
    """One test parameter for each external file that fits, or a skipped one that says why there is none.

    Raises FileNotFoundError if there is a folder but nothing in it fits: a wrong folder is no reason to skip.
    """
    if not _FOLDER:
        return [pytest.param(Path(), marks=pytest.mark.skip(reason=WHY_SKIPPED), id=pattern)]
    found = sorted(Path(_FOLDER).glob(pattern))
    if not found:
        raise FileNotFoundError(f"{VARIABLE}: nothing there fits {pattern}")
    return [pytest.param(path, id=path.stem) for path in found]


def rows(name: str) -> dict[str, dict[str, Any]]:
    """The rows of an external file of JSON lines, by id; none where there is no folder."""
    lines = Path(_FOLDER, name).read_text("utf-8").splitlines() if _FOLDER else []
    return {row["id"]: row for row in map(json.loads, lines)}


class Note(BaseModel):
    notice_id: str
    text: str


class Status(BaseModel):
    notice_id: str
    status: Literal["open", "closed"]


def _accepted(arguments: BaseModel, context: Context) -> str:
    return "done"


WRITING_TOOLS = (
    Tool("add_note", "1", Note, _accepted, writes=True),
    Tool("set_status", "1", Status, _accepted, writes=True),
)


@dataclass
class Report:
    """A reported call that went wrong elsewhere, set up on the real engine with three worlds.

    Attributes:
        given: what the row of `reports.jsonl` says about calls, context and budget.
        entered: names of the tools that were really entered, counted outside the engine.
        logged: exceptions that reached the guarded log.
        meanwhile: called whenever a tool has been entered, before it does anything.
    """

    given: dict[str, Any]
    world: World = field(default_factory=lambda: open_world("text", "notices", "merchants"))
    entered: list[str] = field(default_factory=list)
    logged: list[BaseException] = field(default_factory=list)
    meanwhile: Callable[[str], object] = lambda tool: None

    def playable(self) -> bool:
        """Whether `play` sets up all that the row says."""
        context = {"finish_reason", "user_id", "tenant_id", "tool_raises", "tool_returns"}
        calls = {key for call in self.given["calls"] for key in call}
        plain = self.given["context"].keys() <= context and self.given["budget"].keys() <= {"executions"}
        return plain and calls <= {"id", "name", "arguments", "round"}

    def principal(self) -> Principal:
        """Alice, unless the row says otherwise, with the right to read."""
        context = self.given["context"]
        return Principal(context.get("user_id", "u-alice"), context.get("tenant_id", "A"), self.world.read_permissions)

    def dispatcher(self, principal: Callable[[], Principal] | None = None, **limits: Any) -> Dispatcher:
        """A fresh run of the row, within the row's budget."""
        tools = [self._watched(tool) for tool in (*self.world.tools, *WRITING_TOOLS)]
        host = Host(tools, principal or self.principal, report=lambda reference, error: self.logged.append(error))
        return Dispatcher(host, Limits(**self.given["budget"] | limits))

    def calls(self) -> list[Call]:
        """The row's calls, in order."""
        return [Call(call["id"], call["name"], call["arguments"]) for call in self.given["calls"]]

    def responses(self) -> list[Response]:
        """One response for each round of the row."""
        rounds = [call.get("round", 1) for call in self.given["calls"]]
        pairs = zip(rounds, self.calls(), strict=True)
        return [Response([call for _, call in group]) for _, group in groupby(pairs, key=lambda pair: pair[0])]

    def play(self) -> Run:
        """Run the row's responses through the loop."""
        return drive(script(self.responses()), self.dispatcher())

    def _watched(self, tool: Tool) -> Tool:
        context = self.given["context"]
        faults = iter(_as_list(context.get("tool_raises", {}).get(tool.name)))
        changes = {name: _value(told) for name, told in context.get("tool_returns", {}).get(tool.name, {}).items()}

        def run(arguments: Any, entry: Context) -> object:
            self.entered.append(tool.name)
            self.meanwhile(tool.name)
            fault = next(faults, None)
            if fault is not None and "after the effect" not in fault:
                raise _exception(fault)
            result: Any = tool.run(arguments, entry)
            if fault is not None:
                raise _exception(fault)
            return vars(result) | changes if changes else result

        return replace(tool, run=run)


def _as_list(told: str | list[str | None] | None) -> Iterator[str | None]:
    yield from told if isinstance(told, list) else [told]


def _exception(told: str) -> Exception:
    kinds = {"ConnectionResetError": ConnectionResetError, "RuntimeError": RuntimeError,
             "TemporaryFailure": TemporaryFailure}  # fmt: skip
    return kinds[told.replace(":", " ").split()[0]](told)


def _value(told: dict[str, Any]) -> object:
    """A value that JSON cannot hold, or should not: a date, or a text repeated many times."""
    if "__date__" in told:
        return date.fromisoformat(told["__date__"])
    text, times = told["__repeat__"]
    return text * times
