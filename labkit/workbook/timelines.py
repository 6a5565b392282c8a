"""When what happened: one or several runs on one axis of seconds, drawn from the events of their ledgers.

1. A run of one call has one lane, in which everything stands; a run of several has a lane for itself and one a call.
2. Bars say how long somebody waited for a call and how long its tool worked: two facts, which may end apart.
3. Marks differ by shape and colour and bear their word. One below another at one place: the same moment, in that order.
4. What no ledger can know, such as a connection given back, is handed in as `Seen` and marked as that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labkit.ledger import Event
from labkit.workbook.pictures import Chart
from labkit.workbook.texts import aligned, name_of, visible
from labkit.workbook.words import SAY

__all__ = ["Bar", "Lane", "Mark", "Seen", "lanes", "timeline"]

WIDTH, ROW, CHAR = 640, 17, 5.8
"""Pixels: of the plot, of a row in a lane, of a letter of a label."""


class Seen(NamedTuple):
    """What somebody saw outside of every ledger, at a tool or a service: in which lane, when, and what."""

    lane: str
    at: float
    what: str


class Mark(NamedTuple):
    """One thing that happened in a lane."""

    at: float
    kind: str
    label: str


class Bar(NamedTuple):
    """Something that lasted: `kind` is "waited" or "worked"; one that is `open` had no end by the end of the ledger."""

    kind: str
    start: float
    end: float
    label: str
    open: bool = False


@dataclass
class Lane:
    """What happened in one lane, in order."""

    name: str
    marks: list[Mark] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)


def lanes(runs: Mapping[str, Iterable[Event]], seen: Iterable[Seen] = (),
          began: Mapping[str, float] | None = None) -> list[Lane]:  # fmt: skip
    """Every run by lanes. The opening of rounds and the attempts of a tool are left out.

    Args:
        runs: events by the name of their run.
        seen: what was observed beside them.
        began: seconds on the common axis at which a run began; 0 for those that are not in it.

    Raises:
        ValueError: events without a time, or something seen in a lane that there is not.
    """
    starts, told = began or {}, {name: tuple(events) for name, events in runs.items()}
    if any(event.elapsed is None for events in told.values() for event in events):
        raise ValueError("a timeline needs times: give the host of the run a clock")
    shifts = {name: starts.get(name, 0.0) for name in told}
    end = max((shifts[name] + _at(event) for name, events in told.items() for event in events), default=0.0)
    found = {lane.name: lane for name, events in told.items() for lane in _lanes(name, events, shifts[name], end)}
    for one in seen:
        if one.lane not in found:
            raise ValueError(f"there is no lane {one.lane!r} to see anything in: {', '.join(found)}")
        marks = found[one.lane].marks
        place = next((n for n, mark in enumerate(marks) if mark.at > one.at), len(marks))
        marks.insert(place, Mark(one.at, "seen", one.what))
    return [*found.values()]


def _lanes(name: str, events: Sequence[Event], shift: float, end: float) -> list[Lane]:
    calls: dict[tuple[int, int], list[Event]] = {}
    for event in events:
        if event.position is not None:
            calls.setdefault((event.round, event.position), []).append(event)
    single = len(calls) == 1
    of_calls = {place: Lane(name if single else f"{name} {name_of(*place)}") for place in calls}
    whole = next(iter(of_calls.values())) if single else Lane(name)
    for event in events:
        lane = whole if event.position is None else of_calls[event.round, event.position]
        kind = _kind(event)
        if kind in MARKS:
            words = SAY[f"mark {kind}"].format(code=event.code, tool=visible(event.tool, 24))
            lane.marks.append(Mark(shift + _at(event), kind, words))
    for place, mine in calls.items():
        of_calls[place].bars += _bars(mine, shift, end)
    return [whole, *(lane for lane in of_calls.values() if lane is not whole)]


def _kind(event: Event) -> str:
    """The kind of an event; that the run was closed and that a call was answered by it are two."""
    return "answered so" if event.kind == "cancel_requested" and event.position is not None else event.kind


def _at(event: Event) -> float:
    return event.elapsed or 0.0


def _bars(events: Sequence[Event], shift: float, end: float) -> list[Bar]:
    """How long somebody waited for this call, and how long its tool worked."""
    times = {_kind(event): shift + _at(event) for event in reversed(events)}
    asked, outcome = times["requested"], min((times[kind] for kind in _SETTLES if kind in times), default=None)
    until = end if outcome is None else outcome
    bars = [Bar("waited", asked, until, SAY["bar waited"].format(seconds=f"{until - asked:g}"), outcome is None)]
    if "started" in times and "released" not in times:
        start, ended = times["started"], times.get("returned", times.get("late"))
        last = end if ended is None else ended
        words = "bar open" if ended is None else "bar worked" if last <= until else "bar unwaited"
        label = SAY[words].format(seconds=f"{last - start:g}", unwaited=f"{last - until:g}")
        bars.append(Bar("worked", start, last, label, ended is None))
    return [bar for bar in bars if bar.end > bar.start]


def timeline(runs: Mapping[str, Iterable[Event]], seen: Iterable[Seen] = (),
             began: Mapping[str, float] | None = None) -> Chart:  # fmt: skip
    """The runs as a picture that JupyterLab draws, and as text with the same facts. Arguments as those of `lanes`."""
    found = lanes(runs, seen, began)
    rows = [(f"{mark.at:g}", visible(lane.name, 30), MARKS[mark.kind].sign, mark.label)
            for lane in found for mark in lane.marks]  # fmt: skip
    rows.sort(key=lambda row: float(row[0]))
    head = ("s", SAY["lane"], "", SAY["what happened"])
    bars = [(visible(lane.name, 30), bar.label, f"({bar.start:g} – {'…' if bar.open else f'{bar.end:g}'})")
            for lane in found for bar in lane.bars]  # fmt: skip
    return Chart(_chart(found), "\n".join([*aligned([head, *rows]), *(aligned(bars) if bars else ())]))


def _chart(found: Sequence[Lane]) -> dict[str, Any]:
    marks = [(mark.at, mark.label) for lane in found for mark in lane.marks]
    marks += [(bar.end, bar.label) for lane in found for bar in lane.bars]
    last = max([WIDTH * at / (WIDTH - _wide(label)) for at, label in marks if at], default=1.0)
    bars, points, heads, edges, row = list[dict[str, Any]](), list[dict[str, Any]](), list[int](), list[int](), 0
    for lane in found:
        heads.append(row)
        for bar in lane.bars:
            bars.append({"lane": lane.name, "row": row, "kind": bar.kind, "from": bar.start, "to": bar.end,
                         "what": bar.label, "open": bar.open})  # fmt: skip
            row += 1
        for mark, place in zip(lane.marks, _places(lane.marks, WIDTH / last), strict=True):
            points.append({"lane": lane.name, "row": row + place, "at": mark.at, "kind": mark.kind,
                           "what": mark.label})  # fmt: skip
        row = max([row, *(point["row"] + 1 for point in points)]) + 1
        edges.append(row - 1)
    return _spec(found, bars, points, heads, edges[:-1], last, row)


def _places(marks: Sequence[Mark], scale: float) -> list[int]:
    """A row for each mark: below one of the same moment, and nowhere over another's word."""
    free, found, before = list[float](), list[int](), Mark(-1.0, "", "")
    for mark in marks:
        left, least = mark.at * scale - 6, found[-1] + 1 if found and mark.at == before.at else 0
        place = next((n for n in range(least, len(free)) if free[n] <= left), max(least, len(free)))
        free += [0.0] * (place + 1 - len(free))
        free[place], before = left + _wide(mark.label), mark
        found.append(place)
    return found


def _wide(label: str) -> float:
    """Pixels of a mark and its word."""
    return 24 + CHAR * len(label)


def _spec(found: Sequence[Lane], bars: list[dict[str, Any]], points: list[dict[str, Any]], heads: list[int],
          edges: list[int], last: float, rows: int) -> dict[str, Any]:  # fmt: skip
    names = json.dumps([visible(lane.name, 30) for lane in found])
    y = {"field": "row", "type": "quantitative", "title": None,
         "scale": {"domain": [-0.7, rows - 0.8], "reverse": True},
         "axis": {"values": heads, "labelExpr": f"{names}[indexof({heads}, datum.value)]", "grid": False,
                  "ticks": False, "domain": False, "labelFontSize": 12, "labelFontWeight": "bold"}}  # fmt: skip
    x = {"type": "quantitative", "title": SAY["seconds"], "scale": {"domain": [0, last], "nice": False},
         "axis": {"grid": True, "gridOpacity": 0.3}}  # fmt: skip
    told = [{"field": name, "type": "nominal"} for name in ("lane", "what")]
    over, at = x | {"field": "from"}, x | {"field": "at"}
    hues = {"field": "kind", "type": "nominal", "legend": None,
            "scale": {"domain": [*MARKS], "range": [mark.hue for mark in MARKS.values()]}}  # fmt: skip
    shapes = hues | {"scale": {"domain": [*MARKS], "range": [mark.shape for mark in MARKS.values()]}}
    word = {"type": "text", "align": "left", "baseline": "middle", "fontSize": 11, "color": {"expr": READABLE}}

    def bar(kind: str, thick: int, hue: str, opacity: float) -> dict[str, Any]:
        dash = {"condition": {"test": "datum.open", "value": [3, 3]}, "value": [1, 0]}
        return {"data": {"values": [one for one in bars if one["kind"] == kind]},
                "mark": {"type": "rule", "strokeWidth": thick, "color": hue, "opacity": opacity},
                "encoding": {"x": over, "x2": {"field": "to"}, "y": y, "strokeDash": dash,
                             "tooltip": told}}  # fmt: skip

    layers = [
        {"data": {"values": [{"row": edge} for edge in edges]}, "mark": {"type": "rule", "color": GREY, "opacity": 0.5},
         "encoding": {"y": y}},
        bar("waited", 9, GREY, 0.6), bar("worked", 5, BLUE, 1.0),
        {"data": {"values": bars}, "mark": word | {"dx": 7, "fontStyle": "italic"},
         "encoding": {"x": x | {"field": "to"}, "y": y, "text": {"field": "what"}}},
        {"data": {"values": points}, "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1},
         "encoding": {"x": at, "y": y, "color": hues, "shape": shapes, "tooltip": told}},
        {"data": {"values": points}, "mark": word | {"dx": 9},
         "encoding": {"x": at, "y": y, "text": {"field": "what"}}},
    ]  # fmt: skip
    return {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "width": WIDTH, "height": ROW * rows,
            "layer": layers}  # fmt: skip


class Look(NamedTuple):
    """How a mark is drawn: shape and colour, and the sign that stands for it in text."""

    shape: str
    hue: str
    sign: str


GREY, BLUE, GREEN, ORANGE, RED, PURPLE = "#8a8a8a", "#4a8fd8", "#2f9e58", "#d9770f", "#e0525e", "#9673d8"
"""Mid tones, which stand out from a light page as from a dark one."""
READABLE = "background && luminance(background) < 0.4 ? 'white' : 'black'"
"""Colour of the words, by the background that the page's theme gives: a theme colours axes, but no text of ours."""
STAR = "M0,-1.2L0.3,-0.4L1.1,-0.4L0.5,0.1L0.7,0.9L0,0.4L-0.7,0.9L-0.5,0.1L-1.1,-0.4L-0.3,-0.4Z"
HOUSE = "M0,-1L0.9,-0.1L0.9,0.9L-0.9,0.9L-0.9,-0.1Z"
SALTIRE = "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z"
MARKS = {
    "requested": Look("circle", GREY, "●"),
    "rejected": Look(SALTIRE, RED, "✗"),
    "replayed": Look("wedge", PURPLE, "↺"),
    "started": Look("triangle-right", BLUE, "▶"),
    "returned": Look("square", GREEN, "■"),
    "cancel_requested": Look("cross", RED, "✚"),
    "answered so": Look("triangle-left", ORANGE, "◀"),
    "released": Look("triangle-down", PURPLE, "▼"),
    "late": Look("diamond", RED, "◆"),
    "delivered": Look("triangle-up", GREEN, "▲"),
    "answered": Look(HOUSE, GREEN, "⌂"),
    "stopped": Look("M-1.1,-0.3L1.1,-0.3L1.1,0.3L-1.1,0.3Z", GREY, "▬"),
    "seen": Look(STAR, ORANGE, "★"),
}
"""Every kind of mark, by the kind of its event."""
_SETTLES = ("rejected", "replayed", "returned", "answered so")
