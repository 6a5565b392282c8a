"""Pictures of a run, drawn from the events of its ledger and nothing else: a sequence, and budgets over rounds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from labkit.calls import shown
from labkit.ledger import Event, Ledger
from labkit.workbook.words import SAY

__all__ = ["LANES", "Chart", "Diagram", "Step", "budgets", "diagram", "graph", "steps"]

LANES = ("user", "model", "application", "tool")
"""Who may speak in a sequence diagram, from left to right."""


@dataclass(frozen=True)
class Step:
    """A step of the sequence diagram: an arrow between two lanes, or a note on one (`target` is None)."""

    seq: int
    source: str
    target: str | None
    label: str
    state: str = "passed"


@dataclass(frozen=True)
class Diagram:
    """Mermaid text; JupyterLab draws it, whoever does not shows the text."""

    text: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/vnd.mermaid": self.text, "text/plain": self.text}


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite chart; JupyterLab draws it, whoever does not shows the same numbers as text."""

    spec: dict[str, Any]
    text: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": self.spec, "text/plain": self.text}


def steps(events: Iterable[Event]) -> list[Step]:
    """A run as arrows and notes between `LANES`."""
    return [_step(event) for event in events]


def diagram(events: Iterable[Event]) -> Diagram:
    """A run as a Mermaid sequence diagram; a `Ledger` that was read back from a file will do."""
    lines = ["sequenceDiagram", *(f"  participant {lane}" for lane in LANES)]
    for step in steps(events):
        arrow = "--x" if step.state == "stopped" else "->>"
        label = _plain(step.label)
        lines.append(f"  {step.source}{arrow}{step.target}: {label}" if step.target
                     else f"  Note over {step.source}: {label}")  # fmt: skip
    return Diagram("\n".join(lines))


def _plain(text: str) -> str:
    """Text that Mermaid takes for nothing but text."""
    return "".join(c if c.isalnum() or c in " _.,:()/" else f"#{ord(c)};" for c in text)


def graph(events: Iterable[Event]) -> Diagram:
    """A run as a Mermaid flowchart of calls: who asked whom and what went back, each arrow with its events.

    Whatever goes back from a tool is a line; what goes back without a tool having been entered for it is dotted.
    """
    told = tuple(events)
    opened = [event.round for event in told if event.kind == "round_opened"]
    tools = {tool: f"t{n}" for n, tool in enumerate(dict.fromkeys(e.tool for e in told if e.kind == "started"), 1)}
    calls: dict[tuple[int, int], list[Event]] = {}
    for event in told:
        if event.position is not None:
            calls.setdefault((event.round, event.position), []).append(event)
    lines = ["flowchart LR", '  user(["user"])', *(f'  r{n}["round {n}: the model"]' for n in opened)]
    lines += [f'  {own}[["{_plain(_short(tool, 24))}"]]' for tool, own in tools.items()]
    lines += [f"  user --> r{n}" for n in opened[:1]]
    for mine in calls.values():
        lines += _call(mine, tools, f"r{mine[0].round + 1}" if mine[0].round + 1 in opened else "over")
    lines += _over(told, opened, calls)
    return Diagram("\n".join([*lines, *([_ON_ANY_GROUND] if opened else [])]))


_ON_ANY_GROUND = "  linkStyle default stroke:#888888"
"""Arrows that are seen on a light page and on a dark one, whichever was there when they were drawn."""


def _call(mine: list[Event], tools: dict[str | None, str], back_to: str) -> list[str]:
    """The arrows of one request."""
    asked, seqs = mine[0], {event.kind: event.seq for event in reversed(mine)}
    name, own = f"{asked.round}.{asked.position}", f"q{asked.round}_{asked.position}"
    tool = next((tools[event.tool] for event in mine if event.kind == "started"), own)
    lines = [f'  r{asked.round} -->|"asks {asked.seq}"| {own}["{_plain(f"{name} {_short(asked.tool, 24)}")}"]']
    if "started" in seqs:
        lines.append(f'  {own} -->|"starts {seqs["started"]}"| {tool}')
    if tries := [str(event.seq) for event in mine if event.kind == "attempted"]:
        lines.append(f'  {tool} -->|"tries {", ".join(tries)}"| s{tool}[("its service")]')
    for event in mine:
        if event.kind == "delivered":
            source, arrow = (tool, "-->") if "returned" in seqs else (own, "-.->")
            lines.append(f'  {source} {arrow}|"{_plain(f"{name} {event.code} {event.seq}")}"| {back_to}')
    return lines


def _over(told: tuple[Event, ...], opened: list[int], calls: Iterable[tuple[int, int]]) -> list[str]:
    """How the run ended; nothing if it goes on."""
    ends = {event.kind: event for event in told if event.kind in ("answered", "stopped")}
    if not ends:
        return []
    end = ends.get("answered") or ends["stopped"]
    name = "answer" if end.kind == "answered" else f"stopped: {end.code}"
    asked = opened and opened[-1] in {round for round, _ in calls}
    spoken = [f'  r{n} -->|"{end.kind} {end.seq}"| over' for n in opened[-1:] if not asked]
    return [f'  over(["{_plain(name)}"])', *spoken]


def budgets(ledger: Ledger) -> Chart:
    """How much of each limit was used after each round, in percent; a limit of zero counts as used up."""
    used = _used(ledger)
    values = [{"round": round, "budget": f"{name} ({limit:g})", "used": _percent(spent, limit)}
              for round, spent_of in enumerate(used) for name, (spent, limit) in spent_of.items()]  # fmt: skip
    rows = [(str(n), *(f"{spent:g}/{limit:g}" for spent, limit in of.values())) for n, of in enumerate(used)]
    head = ("round", *(used[0] if used else ()))
    widths = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
    return Chart(_lines_chart(values), "\n".join(lines))


def _used(ledger: Ledger) -> list[dict[str, tuple[float, float]]]:
    """(spent, limit) of each budget at the end of each round, from round 0: nothing spent."""
    opened = [place for place, event in enumerate(ledger) if event.kind == "round_opened"]
    if not opened:
        return []
    limits = json.loads(ledger[opened[0]].summary or "{}")["limits"]
    found = []
    for end in [opened[0], *opened[1:], len(ledger)]:
        past = Ledger(ledger.events[:end])
        spent: dict[str, float] = {"rounds": past.counts["rounds"], "requests": past.requests,
                                   "executions": past.executions, "cost": float(past.cost)}  # fmt: skip
        spent |= {tool: past.executions_of(tool) for tool in limits["per_tool"]}
        if limits["deadline_s"] is not None:
            spent["deadline_s"] = past[-1].elapsed or 0.0 if end else 0.0
        of = limits | limits["per_tool"]
        found.append({name: (value, of[name]) for name, value in spent.items() if of.get(name) is not None})
    return found


def _percent(spent: float, limit: float) -> int:
    return round(100 * spent / limit) if limit else 100


def _lines_chart(values: list[dict[str, Any]]) -> dict[str, Any]:
    """Dashed lines under shaped points, so that budgets differ by more than their colour; one legend for both."""
    budget = {"field": "budget", "type": "nominal", "title": SAY["limit"], "sort": None,
              "legend": {"orient": "bottom", "columns": 3}}  # fmt: skip
    unnamed = budget | {"legend": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 420, "height": 220, "data": {"values": values},
        "encoding": {
            "x": {"field": "round", "type": "ordinal", "title": SAY["after round"], "axis": {"labelAngle": 0}},
            "y": {"field": "used", "type": "quantitative", "title": SAY["percent used"]},
            "tooltip": [budget, {"field": "used", "type": "quantitative"}],
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"stroke": unnamed, "strokeDash": unnamed}},
            {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {"color": budget, "shape": budget}},
        ],
    }  # fmt: skip


def _step(event: Event) -> Step:
    source, target, label = _STEPS.get(event.kind, ("application", None, "{kind} {code}"))
    words = {"round": event.round, "kind": event.kind, "code": event.code or "", "tool": _short(event.tool, 24)}
    text = label.format(call=_short(event.call_id, 16), **words).strip()
    return Step(event.seq, source, target, text, _state(event))


def _short(text: str | None, limit: int) -> str:
    return shown(text or "", limit)


def _state(event: Event) -> str:
    """How an event is marked: a refusal or fault differs from a success by its sign, not by its colour alone."""
    if event.kind == "replayed":
        return "replayed"
    if event.kind in ("rejected", "cancel_requested", "released", "late"):
        return "stopped"
    return "passed" if event.code in (None, "ok", "answered") else "stopped"


_STEPS: dict[str, tuple[str, str | None, str]] = {
    "round_opened": ("application", "model", "round {round}"),
    "requested": ("model", "application", "{tool} (id {call})"),
    "rejected": ("application", None, "{code}"),
    "replayed": ("application", None, "replayed: {code}"),
    "started": ("application", "tool", "start {tool}"),
    "attempted": ("tool", None, "attempt"),
    "returned": ("tool", "application", "{code}"),
    "late": ("tool", "application", "late: {code}"),
    "delivered": ("application", "model", "{code} for id {call}"),
    "answered": ("application", "user", "answer"),
}
"""Lanes and label of each kind of event; the others are notes on the application's lane."""
