"""What happened: an append-only list of events, its indexes, and the laws it must keep.

1. Events are only appended. What is kept of one is a tuple of plain values, so nothing can change it
   and the garbage collector has nothing to walk.
2. Every counter is an index of the events, written by `append` alone: `Ledger(events)` equals the ledger.
3. Argument values never enter, only a digest and a summary of their shape. The digest shows sameness;
   it does not hide a value that can be guessed.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel

from labkit.calls import Limits, Offer, Who, shown
from labkit.outcomes import Code, compact

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Event", "Kind", "Ledger", "StopReason"]

Kind = Literal["round_opened", "requested", "rejected", "replayed", "started", "attempted", "returned",
               "cancel_requested", "released", "late", "delivered", "answered", "stopped"]  # fmt: skip
StopReason = Literal["answered", "needs_user", "rounds_exhausted", "requests_exhausted", "executions_exhausted",
                     "deadline_exceeded", "cost_exhausted", "terminal_error", "cancelled", "model_failed",
                     "no_progress"]  # fmt: skip
MAX_CLAIM = 128
"""Characters kept of an id or a name that nothing has checked yet."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        seq: place in the ledger, from 1.
        round, position: the model response and the place in it, from 1; together they name a request.
            Position is None for what concerns the whole round or run.
        call_id: what the call claimed as its id; never used as a name, ids may repeat.
        tool, version, permission, cost: the tool that was named and its declaration, if there is one.
        gate: the gate that settled the call, if one did.
        code: code of the outcome; in `stopped`, the stop reason.
        subject, tenant, permissions: the principal in force.
        digest: of the argument text; once the arguments are read, of their canonical text.
        summary: shape of the arguments; in `round_opened`, the limits and id scope.
        content: digest of the result that came, was replayed or was delivered.
        elapsed: seconds since the run began, if the host gave a clock.
    """

    seq: int
    run_id: str
    kind: Kind
    round: int
    position: int | None = None
    call_id: str | None = None
    tool: str | None = None
    version: str | None = None
    permission: str | None = None
    cost: float | None = None
    gate: str | None = None
    code: Code | StopReason | None = None
    subject: str | None = None
    tenant: str | None = None
    permissions: tuple[str, ...] = ()
    digest: str | None = None
    summary: str | None = None
    content: str | None = None
    elapsed: float | None = None


Row = tuple[Any, ...]
"""What is kept of an event: kind, gate, elapsed, code, content, then what names the call and says what it asks:
round, position, call id, `Offer`, `Who`, digest, summary."""
NO_CALL: tuple[Offer, Who] = ((None, None, None, None), (None, None, ()))
"""In place of an offer and a principal in events that concern no call."""


class Ledger:
    """The append-only list of one run's events.

    Raises:
        ValueError: events that do not follow on from each other, or of an unknown kind.
    """

    def __init__(self, events: Iterable[Event] = (), run_id: str = "run-1") -> None:
        self.run_id = run_id
        self._rows: list[Row] = []
        self._counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._reserved: dict[Offer, int] = {}
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        place = len(self._rows) + 1
        self.run_id = event.run_id if place == 1 else self.run_id
        if event.kind not in KINDS:
            raise ValueError(f"event {place}: no such kind: {event.kind!r}")
        if (event.seq, event.run_id) != (place, self.run_id):
            raise ValueError(f"event {event.seq} of {event.run_id} cannot be event {place} of {self.run_id}")
        self.append(_row(event))

    def append(self, row: Row) -> None:
        """Add one event and bring every index up to date. Only the dispatcher calls this."""
        self._rows.append(row)
        kind = row[0]
        self._counts[kind] += 1
        if kind in ("started", "released"):
            self._reserved[row[8]] = self._reserved.get(row[8], 0) + (1 if kind == "started" else -1)

    def deliver(self, settled: Row, elapsed: float | None) -> None:
        """Add `delivered` for an outcome that was recorded as `settled`."""
        self.append(("delivered", None, elapsed) + settled[3:])  # noqa: RUF005 - twice as fast as unpacking

    @property
    def executions(self) -> int:
        """Executions reserved and not given back."""
        return self._counts["started"] - self._counts["released"]

    @property
    def requests(self) -> int:
        """Calls that arrived, whatever came of them."""
        return self._counts["requested"]

    @property
    def cost(self) -> Fraction:
        """Exact cost of the executions, in units of `Tool.cost`."""
        return sum((exact(offer[3] or 0) * n for offer, n in self._reserved.items()), Fraction())

    def count(self, kind: Kind) -> int:
        """How many events of a kind there are."""
        return self._counts[kind]

    def executions_of(self, tool: str) -> int:
        """Executions of one tool."""
        return sum(count for offer, count in self._reserved.items() if offer[0] == tool)

    @property
    def counts(self) -> dict[str, int]:
        """The counters that always appear together. `executed` are the calls that entered their tool."""
        of = self._counts
        return {"rounds": of["round_opened"], "requested": of["requested"], "rejected": of["rejected"],
                "replayed": of["replayed"], "admitted": of["started"], "executed": self.executions,
                "attempts": of["attempted"], "delivered": of["delivered"]}  # fmt: skip

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Event]:
        return (_event(place, self.run_id, row) for place, row in enumerate(self._rows, 1))

    def __getitem__(self, place: int) -> Event:
        """The event at `place`, counted from 0 as in any sequence."""
        index = range(len(self._rows))[place]
        return _event(index + 1, self.run_id, self._rows[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def to_jsonl(self) -> str:
        """The events as JSON lines (UTF-8 safe: half surrogates stay escaped)."""
        return "".join(json.dumps(asdict(event)) + "\n" for event in self)

    @classmethod
    def from_jsonl(cls, text: str) -> Ledger:
        """Read back what `to_jsonl` wrote. Raises ValueError naming the line that is no event."""
        ledger = cls()
        for number, line in enumerate(filter(None, text.split("\n")), 1):
            try:
                record = json.loads(line)
                ledger._add(Event(**record | {"permissions": tuple(record["permissions"])}))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise ValueError(f"line {number} is no event: {error}") from None
        return ledger

    def table(self) -> pd.DataFrame:
        """The events as a pandas DataFrame, one row each, safe to write as CSV."""
        import pandas as pd

        columns = list(Event.__dataclass_fields__)
        rows = [{name: harmless(value) for name, value in asdict(event).items()} for event in self]
        return pd.DataFrame(rows, columns=columns, dtype=object)


def harmless(value: object) -> object:
    """A text made safe for a table: line ends written out, an apostrophe before what a spreadsheet would run."""
    if not isinstance(value, str):
        return value
    text = shown(value, len(value)) if _BREAKS.search(value) else value
    return f"'{text}" if value.startswith(tuple("=+-@\t\r")) else text


_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def asked(row: Row) -> tuple[Offer, tuple[str | None, ...], bytes]:
    """What makes two calls the same, out of the row of a start: tool, subject and tenant, arguments."""
    return row[8], row[9][:2], row[10]


def exact(number: float) -> Fraction:
    """A number as it is written: ten times 0.1 is 1."""
    return Fraction(str(number))


def digest(raw: bytes) -> bytes:
    """Eight bytes that show whether two contents are the same."""
    return blake2b(raw, digest_size=8).digest()


def measured(arguments: object) -> tuple[bytes, str]:
    """Digest and summary of arguments that nothing has read yet."""
    if type(arguments) is str:
        return digest(arguments.encode("utf-8", "surrogatepass")), _characters(len(arguments))
    kind = type(arguments).__name__
    return digest(f"{kind} {bounded(arguments)}".encode("utf-8", "surrogatepass")), kind


@lru_cache(maxsize=1024)  # one text for all events that need it
def _characters(count: int) -> str:
    return f"{count} characters"


def bounded(claimed: object) -> str | None:
    """A claimed id or name of any type and size: as it is if it is short text, else cut, with everything visible."""
    if isinstance(claimed, str):
        return claimed if len(claimed) <= MAX_CLAIM else shown(claimed, MAX_CLAIM)
    try:
        return None if claimed is None else shown(reprlib.repr(claimed), MAX_CLAIM)
    except Exception:  # noqa: BLE001 - an object that cannot even be shown
        return type(claimed).__name__


def shape(checked: BaseModel) -> str:
    """Fields and types of read arguments, without their values: `query: text, published_from: null`."""
    return _shape(type(checked), tuple(map(type, checked.__dict__.values())))


@lru_cache(maxsize=1024)
def _shape(model: type[BaseModel], types: tuple[type, ...]) -> str:
    words = {str: "text", int: "integer", float: "number", bool: "boolean", type(None): "null", dict: "object"}
    named = zip(model.model_fields, types, strict=True)
    return ", ".join(f"{name}: {words.get(kind, kind.__name__)}" for name, kind in named)


def settings_text(limits: Limits, id_scope: str) -> str:
    """What a run is bound to, as the text kept in `round_opened`."""
    return compact({"limits": limits.as_dict(), "id_scope": id_scope})


def _event(seq: int, run_id: str, row: Row) -> Event:
    offer: Offer
    who: Who
    kind, gate, elapsed, code, content, round, position, call_id, offer, who, mark, summary = row
    return Event(seq, run_id, kind, round, position, call_id, *offer, gate, code, *who,
                 mark and mark.hex(), summary, content and content.hex(), elapsed)  # fmt: skip


def _row(event: Event) -> Row:
    exact(event.cost or 0)  # raises ValueError for what is no finite number
    content, mark = (bytes.fromhex(text) if text else None for text in (event.content, event.digest))
    return (event.kind, event.gate, event.elapsed, event.code, content, event.round, event.position, event.call_id,
            (event.tool, event.version, event.permission, event.cost),
            (event.subject, event.tenant, tuple(event.permissions)), mark, event.summary)  # fmt: skip
