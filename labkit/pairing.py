"""Which messages of a conversation are not the true results of their requests: the ledger is believed, nothing else.

1. An assistant message with calls is a round, and the tool messages up to the next one are its results. Rounds are
   recognised by the ids and arguments of their calls; what fits nowhere is taken in order.
2. A request is a call that conversation and ledger both have: one id at one place of one round. The result of a call
   that only one of them has is missing, and a message for it is unknown.
3. The true result is what the ledger delivered: the code, and the body to the letter, as `result_text` writes them.
   A refusal's words and field, and how much was left out of a body, are not in the ledger and cannot be compared.
4. True results are found first, wherever they stand, and each message has at most one fault. Equal results under
   one id may change places: nobody could tell, and nobody is misled.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from labkit.calls import Call
from labkit.ledger import Ledger, bounded, digest, measured
from labkit.loop import Message
from labkit.outcomes import Outcome, result_text

__all__ = ["Mispairing", "mispaired"]

Kind = Literal["missing", "swapped", "duplicated", "unknown", "altered", "out_of_order"]
Content = tuple[str | None, str | None]
"""Code and digest of the body: what the ledger keeps of a result."""


class Mispairing(NamedTuple):
    """A message that is not the true result of its request, or a call without a result.

    Attributes:
        kind: `out_of_order`: a true result, after that of a later request or behind a message that is no result.
            `swapped`: the id of a request that lacks its result, with the content of another request of the run.
            `altered`: the id of a request that lacks its result, with the content of no request.
            `duplicated`: one more result for an id whose requests in this round all have one.
            `unknown`: an id that no request of this round has.
            `missing`: a call, and no message to answer it.
        round, position: the round it stands in, and the request there that it claims to answer, by the ledger's
            numbers. The round is 0 if the ledger has no such round, the position of an unknown message always.
        call_id: what the message claims; for `missing`, what the call claimed.
        message: index in the conversation; None for `missing`.
    """

    kind: Kind
    round: int
    position: int
    call_id: Any
    message: int | None


class Asked(NamedTuple):
    """A request in the ledger: its id, the digest of its arguments, what was delivered."""

    call_id: str | None
    arguments: str | None
    content: Content | None


class Told(NamedTuple):
    """A round in the conversation: its index, the calls by position, the results by index."""

    start: int
    calls: dict[int, Call]
    results: dict[int, Message]


def mispaired(messages: Sequence[Message], ledger: Ledger) -> list[Mispairing]:
    """Every faulty message, in order of the conversation, then every missing result, in request order.

    Empty for `Run.messages` beside `Run.ledger`, and for what a model is shown during the run. Call it before you
    send on a conversation that something else has handled. The cost is linear in messages and events.

    Raises:
        TypeError: a message that is no `Message`, or has calls that are no `Call`.
    """
    rounds, asked = _told(messages), _asked(ledger)
    said = {n: tuple(map(_named, told.calls.values())) for n, told in enumerate(rounds) if told.calls}
    known = {n: tuple(request[:2] for request in requests.values()) for n, requests in asked.items()}
    numbers = _matched(dict.fromkeys(said), dict.fromkeys(known), _matched(said, known))
    contents = {request.content for requests in asked.values() for request in requests.values()}
    faults: list[Mispairing] = []
    for n, told in enumerate(rounds):
        faults += _faults(numbers.get(n, 0), told, asked[numbers[n]] if n in numbers else {}, contents)
    for number in asked.keys() - set(numbers.values()):
        faults += _faults(number, Told(0, {}, {}), asked[number], contents)
    return sorted(faults, key=lambda fault: (fault.message is None, fault.message or 0, fault.round, fault.position))


def _told(messages: Sequence[Message]) -> list[Told]:
    """The rounds of a conversation; the first is what stands before any call."""
    rounds = [Told(0, {}, {})]
    for index, message in enumerate(messages):
        if not isinstance(message, Message) or not all(isinstance(call, Call) for call in message.calls):
            raise TypeError(f"message {index} of the conversation is no Message, or has calls that are no Calls")
        if message.role == "tool":
            rounds[-1].results[index] = message
        elif message.role == "assistant" and message.calls:
            rounds.append(Told(index, dict(enumerate(message.calls, 1)), {}))
    return rounds


def _asked(ledger: Ledger) -> dict[int, dict[int, Asked]]:
    """The requests of a run by round and position, in request order."""
    events = ledger.events
    requested = {(e.round, e.position or 0): e for e in events if e.kind == "requested"}
    delivered = {(e.round, e.position or 0): (e.code, e.content) for e in events if e.kind == "delivered"}
    rounds: dict[int, dict[int, Asked]] = defaultdict(dict)
    for place in sorted(requested):
        event = requested[place]
        rounds[event.round][place[1]] = Asked(event.call_id, event.digest, delivered.get(place))
    return rounds


def _faults(number: int, told: Told, asked: Mapping[int, Asked],
            contents: Collection[Content | None]) -> Iterator[Mispairing]:  # fmt: skip
    """What is wrong in one round."""
    ids = {n: _claim(call.id) for n, call in told.calls.items() if n in asked and asked[n].call_id == bounded(call.id)}
    claims = {index: _claim(message.call_id) for index, message in told.results.items()}
    said = {index: (claims[index], _content(message.text)) for index, message in told.results.items()}
    true = _matched(said, {n: (claim, asked[n].content) for n, claim in ids.items()})
    answers = _matched(claims, ids, true)
    owners = {claim: n for n, claim in reversed(ids.items())}
    latest = 0
    for place, (index, message) in enumerate(told.results.items(), told.start + 1):
        claim, content = said[index]
        position = answers.get(index) or owners.get(claim, 0)
        kind: Kind | None = "duplicated" if position else "unknown"
        if index in true:
            kind = None if index == place and position > latest else "out_of_order"
            latest = max(latest, position)
        elif index in answers:
            kind = "swapped" if content in contents else "altered"
        if kind:
            yield Mispairing(kind, number, position, message.call_id, index)
    for n in (told.calls.keys() | asked.keys()) - set(answers.values()):
        yield Mispairing("missing", number, n, told.calls[n].id if n in told.calls else asked[n].call_id, None)


def _matched(said: Mapping[int, Hashable], asked: Mapping[int, Hashable],
             pairs: Mapping[int, int] = MappingProxyType({})) -> dict[int, int]:  # fmt: skip
    """`pairs`, and what they leave of equals, each once: from both ends inwards, place by place, then anywhere.

    So one change moves nothing but what it touches, also where things are alike.
    """
    found, taken = dict(pairs), set(pairs.values())
    mine = deque((key, thing) for key, thing in said.items() if key not in pairs)
    theirs = deque((key, thing) for key, thing in asked.items() if key not in taken)
    while mine and theirs and mine[0][1] == theirs[0][1]:
        found[mine.popleft()[0]] = theirs.popleft()[0]
    while mine and theirs and mine[-1][1] == theirs[-1][1]:
        found[mine.pop()[0]] = theirs.pop()[0]
    if len(mine) == len(theirs):
        found |= {key: other for (key, thing), (other, its) in zip(mine, theirs, strict=True) if thing == its}
    spare, taken = defaultdict[Hashable, deque[int]](deque), set(found.values())
    for key, thing in theirs:
        if key not in taken:
            spare[thing].append(key)
    for key, thing in mine:
        if key not in found and spare[thing]:
            found[key] = spare[thing].popleft()
    return found


def _named(call: Call) -> tuple[str | None, str]:
    """A call as the ledger names it when it is requested."""
    return bounded(call.id), measured(call.arguments)[0].hex()


def _claim(claimed: object) -> Hashable:
    """An id of any type as something to compare: 1, True and "1" differ."""
    return claimed if isinstance(claimed, str) else (type(claimed), bounded(claimed))


def _content(text: str) -> Content:
    """What `result_text` put into a text: code and digest of the body. Any other text has the code "".

    Inside JSON text a quotation mark is always escaped, so the first `,"data":` is the one after the head.
    """
    with suppress(AttributeError, KeyError, RecursionError, TypeError, ValueError):  # the text may be anything
        head, data, rest = str.partition(text, ',"data":')
        said = json.loads(head + "}" if data else head)
        omitted, size, body = said.get("omitted", 0), said.get("size", 0), rest[:-1] if data else None
        outcome = Outcome(None, said["code"], body, said.get("message"), said.get("field"), omitted=omitted, size=size)
        # `result_text` remembers what it wrote, and to its memory true is 1
        if type(omitted) is type(size) is int and result_text(outcome) == text:
            return outcome.code, None if body is None else digest(body.encode()).hex()
    return "", None
