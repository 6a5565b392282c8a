"""What single lessons show beside the rest: each section is a table computed from a view. No widget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.calls import shown
from labkit.outcomes import compact
from labkit.pairing import mispaired
from labkit.workbook.acceptance import CLAIMS
from labkit.workbook.broken import READINGS
from labkit.workbook.candidates import candidates, confirmed
from labkit.workbook.coverage import pages
from labkit.workbook.evidence import KINDS, Evidence, collect
from labkit.workbook.evidence import listed as witnesses
from labkit.workbook.fields import judged
from labkit.workbook.readers import READERS, in_force, stop_of
from labkit.workbook.texts import name_of, visible
from labkit.workbook.words import SAY
from labkit.worlds.owners import OWNERS

if TYPE_CHECKING:
    from labkit.ledger import Event
    from labkit.loop import Result
    from labkit.workbook.views import View

__all__ = ["LONG", "SECTIONS", "Section"]

MARK = "▮"
"""Stands in a text where reading stopped."""


class Section(NamedTuple):
    """A titled table of texts."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def filled(self) -> Sequence[tuple[str, ...]]:
        """The rows, or one that says that there are none."""
        return self.rows or [("–", *[""] * (len(self.columns) - 1))]


def reading(view: View) -> Section:
    """How far the argument text of each call was read, and what three readers make of it."""
    rows: list[tuple[str, ...]] = []
    gates = view.played.scenario.gates
    for result in _requested(view):
        tool = next((tool for tool in view.played.world.tools if tool.name == result.call.name), None)
        if tool:
            text, stop = result.call.arguments, stop_of(tool, result.call.arguments)
            rows += [
                (_place(result), SAY["text read"], _marked(text, stop and stop.position)),
                ("", SAY["stopped at"], str(stop or SAY["read whole"])),
                *(("", SAY[name], read(tool, text)) for name, read in READERS.items()),
                *(("", SAY["in force"], in_force(READINGS[name], tool, text)) for name in gates if name in READINGS),
            ]
    return Section(SAY["reading"], ("call", SAY["who reads"], SAY["makes of it"]), rows)


def _marked(text: Any, position: int | None) -> str:
    if position is None or not isinstance(text, str):
        return visible(text)
    start = max(0, position - 60)
    return f"{'…' if start else ''}{visible(text[start:position])}{MARK}{visible(text[position:], 60)}"


def memory(view: View) -> Section:
    """What was remembered of each id, and what the memory said to the next call under it."""
    rows, owned = [], set()
    for (round, position), events in view.requests.items():
        asked, outcome = events["requested"], events.get("outcome")
        scope = view.played.scenario.id_scope
        key = name_of(round, None) + "/" if scope == "response" else ""
        known = (round if scope == "response" else 0, asked.call_id)
        content = (events.get("started") or outcome or asked).digest or ""
        said = _verdict(events, known in owned)
        rows.append((name_of(round, position), visible(f"{key}{asked.call_id}", 24), content[:6], asked.subject or "",
                     SAY["id known" if known in owned else "id new"], SAY[said]))  # fmt: skip
        if "started" in events:
            owned.add(known)
    columns = ("call", SAY["remembered as"], SAY["content"], SAY["asks"], SAY["id before"], SAY["memory says"])
    return Section(SAY["memory"], columns, rows)


def _verdict(events: dict[str, Event], owned: bool) -> str:  # noqa: FBT001 - the fact itself
    outcome = events.get("outcome")
    if outcome is None or outcome.kind == "returned" or "started" in events:
        return "runs again" if owned else "runs"
    if outcome.kind == "replayed":
        return "same request"
    return "other content" if outcome.code == "id_conflict" else "owns nothing"


def reads(view: View) -> Section:
    """Every entry to the data, as the spy saw it; the spy keeps no time, so it is asked when the run is over."""
    spied, over = view.played.world.spy.reads, view.at == len(view.all)
    rows = [(str(n), read.reader, read.subject, ", ".join(read.records) or "–") for n, read in enumerate(spied, 1)]
    asked = (SAY["entry"], SAY["reader"], SAY["asks"], SAY["handed out"])
    return Section(SAY["reads"], asked, rows if over else [("…", SAY["at the end"], "", "")])


def deliveries(view: View) -> Section:
    """Every record that reached a model: whose it is, and whose model read it."""
    rows = []
    for result in _requested(view):
        delivered = view.requests[result.round, result.position].get("delivered")
        if delivered is None:
            continue
        for record in _records(result.outcome.data):
            if owner := OWNERS.get(record):
                word = "own" if owner in (delivered.subject, delivered.tenant) else "another's"
                who = visible(f"{delivered.subject} ({delivered.tenant})" if delivered.tenant else delivered.subject)
                rows.append((str(delivered.seq), _place(result), record, owner, who, SAY[word]))
    columns = ("#", "call", SAY["record"], SAY["owner"], SAY["delivered to"], SAY["whose"])
    return Section(SAY["deliveries"], columns, rows)


def _records(data: Any) -> list[str]:
    """Ids of the records in a result, at any depth."""
    if isinstance(data, list):
        return [record for item in data for record in _records(item)]
    if not isinstance(data, dict):
        return []
    own = [str(data[name]) for name in ("id", "merchantId", "note_id") if name in data]
    return own[:1] + [record for item in data.values() for record in _records(item)]


def spending(view: View) -> Section:
    """What each model response and each request of the run spent, and the sum beside its limit."""
    limits, total = view.played.scenario.limits, [0, 0, 0, 0]
    rows = []
    for event in view.events:
        if event.kind == "round_opened":
            rows.append((name_of(event.round, None), SAY["response"], [1, 0, 0, 0]))
        elif event.kind == "requested":
            events = view.requests[event.round, event.position or 0]
            outcome, tries = events.get("outcome"), _count(view, event, "attempted")
            ran = _count(view, event, "started") - _count(view, event, "released")
            code = f"{outcome.code}{SAY['again'] if outcome.kind == 'replayed' else ''}" if outcome else "–"
            rows.append((name_of(event.round, event.position), code, [0, 1, ran, tries]))
    for _, _, spent in rows:
        total = [a + b for a, b in zip(total, spent, strict=True)]
    lines = [(name, what, *(str(n) if n else "·" for n in spent)) for name, what, spent in rows]
    allowed = (limits.rounds, limits.requests, limits.executions, None)
    sums = (f"{n} of {limit}" if limit is not None else str(n) for n, limit in zip(total, allowed, strict=True))
    columns = ("call", SAY["what came"], "rounds", "requests", "executions", "attempts")
    return Section(SAY["spending"], columns, [*lines, ("", SAY["sum"], *sums)])


def _count(view: View, event: Event, kind: str) -> int:
    place = (event.round, event.position, kind)
    return sum((other.round, other.position, other.kind) == place for other in view.events)


def messages(view: View) -> Section:
    """The conversation so far as the model got it, each result beside the request that it answers."""
    run = view.played.run
    faults = {found.message: found.kind for found in mispaired(run.messages, run.ledger)}
    rows: list[tuple[str, ...]] = []
    for place, message in enumerate(run.messages[: _so_far(view)]):
        calls = [f"{visible(call.name, 24)} (id {visible(call.id, 16)})" for call in message.calls]
        said = " + ".join([*calls, *([visible(message.text, 100)] if message.text else [])])
        pairs = faults.get(place, SAY["paired"]) if message.role == "tool" else ""
        rows.append((str(place), message.role, visible(message.call_id, 16), said, pairs))
    return Section(SAY["messages"], ("#", SAY["role"], SAY["for id"], SAY["text"], SAY["pairing"]), rows)


def _so_far(view: View) -> int:
    """How many messages there are: the user's, one for each response that has come, one for each delivery."""
    if view.at == len(view.all):
        return len(view.played.run.messages)
    asked = {event.round for event in view.events if event.kind == "requested"}
    return 1 + len(asked) + sum(event.kind in ("delivered", "answered") for event in view.events)


def hunted(view: View) -> Section:
    """What was planted inside and came out of this run, named in words (a clean page holds no marker), and where."""
    from labkit.workbook.hunt import MARKERS, hunt, texts  # noqa: PLC0415 - it reads pages, which are made of sections

    columns = (SAY["planted"], SAY["came out in"])
    if view.at < len(view.all):
        return Section(SAY["hunted"], columns, [("…", SAY["at the end"])])
    places: dict[str, list[str]] = {}
    for place, marker in hunt(view.played):
        places.setdefault(marker, []).append(place)
    searched = len(texts(view.played))
    rows = [(f"✗ {MARKERS[marker]}", SAY["in texts"].format(count=len(found), all=searched, places=", ".join(found)))
            for marker, found in places.items()]  # fmt: skip
    clean = (SAY["nothing planted"], SAY["texts searched"].format(count=searched))
    return Section(SAY["hunted"], columns, rows or [clean])


def fields(view: View) -> Section:
    """The fields of the merchants that the model reads, from the text as it was sent: must it be kept, may it leave?"""
    rows: list[tuple[str, ...]] = []
    for result in _requested(view):
        told = judged(result) if "delivered" in view.requests[result.round, result.position] else []
        plain = {verdict: [one.path for one in told if one.verdict == verdict] for verdict in ("kept", "missing")}
        rows += [(_place(result), SAY[verdict], ", ".join(names), "") for verdict, names in plain.items() if names]
        rows += [(_place(result), SAY[verdict], path or "–", visible(compact(value), 32))
                 for path, value, verdict in told if verdict not in plain]  # fmt: skip
    return Section(SAY["fields"], ("call", SAY["verdict"], SAY["field"], SAY["first value"]), rows)


def found(view: View) -> Section:
    """The places that came out of each call, the table entry of each, and whether it is the one that was confirmed."""
    rows, wanted = [], confirmed(view.played.scenario)
    for result in _requested(view):
        if result.call.name not in ("search_places", "get_place") or result.outcome.body is None:
            continue
        if "delivered" in view.requests[result.round, result.position]:
            for one in candidates(result):
                why = shown((one.evidence or SAY["no entry"]).rpartition("。 ")[2], 36)
                held = SAY["the confirmed" if one.place_id == wanted else "not confirmed"]
                rows.append((_place(result), one.place_id, visible(one.where), str(one.merchant or "–"), why, held))
            if not candidates(result):
                rows.append((_place(result), "–", "", "", "", ""))
    columns = ("call", SAY["place"], SAY["where it is"], SAY["merchant"], SAY["evidence"], SAY["user's id"])
    width = len(columns) if wanted else -1  # nothing is compared where nothing was confirmed
    return Section(SAY["found"], columns[:width], [row[:width] for row in rows])


def listed(view: View) -> Section:
    """Every page that the model got: the token it was asked with, what it holds, and the token it brought."""
    rows: list[tuple[str, ...]] = []
    for page in pages(view.played.run):
        if "delivered" in view.requests.get((page.round, page.position), {}):
            asked = "null" if page.asked is None else visible(page.asked, 24) or '""'
            token = visible(page.token, 24) or SAY["list ends"]
            rows.append((name_of(page.round, page.position), asked, str(len(page.items)), str(page.omitted), token))
    columns = ("call", SAY["asked with"], SAY["items"], SAY["left out"], SAY["next token"])
    return Section(SAY["listed"], columns, rows)


def ends(view: View) -> Section:
    """Of each call: when a cancel was requested, the waiting ended, the tool ended, the execution was given back."""
    asked = next((event for event in view.events if event.kind == "cancel_requested" and not event.position), None)
    rows = []
    for place, events in view.requests.items():
        outcome, late = events.get("outcome"), events.get("late")
        back, entered = events.get("released"), "started" in events and "released" not in events
        ended = _when(late or (outcome if outcome and outcome.kind == "returned" else None))
        rows.append((name_of(*place), _when(asked) or SAY["no cancel"], _when(outcome) or SAY["not yet"],
                     ended or SAY["not yet" if entered else "never entered"],
                     SAY["released"].format(event=_when(back)) if back else
                     SAY["stays spent" if entered else "nothing reserved"]))  # fmt: skip
    columns = ("call", SAY["cancel requested"], SAY["nobody waits"], SAY["tool ended"], SAY["given back"])
    return Section(SAY["ends"], columns, rows)


def _when(event: Event | None) -> str:
    """Number, time and outcome of an event; nothing for none."""
    if event is None:
        return ""
    time = "" if event.elapsed is None else f"{event.elapsed:g} s "
    return f"#{event.seq} {time}{'late: ' if event.kind == 'late' else ''}{event.code or ''}".strip()


def evidence(view: View) -> Section:
    """The five kinds of evidence for each claim of the answer; the spy keeps no time, so they are told at the end."""
    run, spy = view.played.run, view.played.world.spy
    if view.at < len(view.all):
        return Section(SAY["claims"], (SAY["claim"], "…"), [("…", SAY["at the end"])])
    said = [claim for claim in CLAIMS.values() if claim.says in (run.answer or "")]
    columns = [map(_shown, collect(claim, run, spy)) for claim in said]
    rows = list(zip(KINDS, *columns, strict=True)) if said else []
    return Section(SAY["claims"], (SAY["claim"], *(visible(claim.says, 40) for claim in said)), rows)


def _shown(found: Evidence) -> str:
    sign = {"yes": "✓", "no": "✗", "unknown": "?"}[found.verdict]
    return f"{sign} {witnesses(found.where)}".strip()


def _requested(view: View) -> list[Result]:
    return [result for result in view.played.run.results if (result.round, result.position) in view.requests]


def _place(result: Result) -> str:
    return name_of(result.round, result.position)


SECTIONS: dict[str, Callable[[View], Section]] = {
    section.__name__: section
    for section in (reading, memory, reads, deliveries, spending, messages, hunted, fields, listed, found, ends,
                    evidence)
}  # fmt: skip
"""Sections by name, for `panel(..., also=...)`."""
LONG = frozenset({"messages", "spending"})
"""Sections that grow with the run: they stand below the ledger, so that inputs and ledger stay in one window."""
