"""What panels and twins say to a reader, by name: a second edition adds a second table.

Two kinds of words are elsewhere: a law is told in the first line of its docstring, and the engine's own terms
(kinds, codes, columns) stay as they are.
"""

from __future__ import annotations

__all__ = ["EVENT", "GATE", "SAY", "SYMBOL"]

GATE = {
    "request_budget": "requests",
    "call_id": "id",
    "allowlist": "allowlist",
    "arguments": "arguments",
    "authorization": "permission",
    "replay": "replay",
    "execution_budget": "budget",
}
"""Short labels of the gates, for chips."""

SYMBOL = {
    "passed": "✓", "stopped": "✗", "replayed": "↺", "not reached": "·", "broken guard": "!", "removed": "–",
    "ok": "✓", "not_found": "○", "rejected": "✗", "failed": "!", "cancelled": "■", "unknown": "?",
}  # fmt: skip
"""A sign beside each word of state, so that nothing hangs on colour."""

EVENT = {
    "round_opened": "the model is asked",
    "requested": "the model proposes",
    "rejected": "refused",
    "replayed": "answered from memory",
    "started": "admitted: one execution reserved",
    "attempted": "the tool tries its service",
    "returned": "the tool returned",
    "cancel_requested": "closed: nobody waits any longer",
    "released": "never entered: the execution is given back",
    "late": "came too late: recorded, not delivered",
    "delivered": "handed to the model",
    "answered": "the user has an answer",
    "stopped": "the run is over",
}
"""What an event means, in a reader's words."""

SAY = {
    "proposed": "What the model proposed",
    "strip": "What each gate decided",
    "counters": "What it cost",
    "results": "What the model reads",
    "ledger": "Event ledger",
    "sequence": "The run as a picture",
    "entered": "entered",
    "not entered": "not entered",
    "delivered": "delivered",
    "not delivered": "not delivered",
    "left": "{left} of {limit} left",
    "times": "the tool was entered {count} times",
    "time": "the tool was entered once",
    "never": "no tool was entered",
    "per request": "{count} of {requests} requests answered",
    "all requests": "one answer per request",
    "beside": "rejected {rejected} · replayed {replayed} · downstream attempts {attempts} · rounds {rounds}",
    "stop": "stopped: {stop}",
    "answer": "answer: {answer}",
    "no answer": "no answer",
    "coverage": "coverage: {coverage}",
    "laws kept": "audit: every law of the ledger holds",
    "laws broken": "✗ audit: {law} is broken. {sentence}",
    "data": "the data was entered {entries} times",
    "data once": "the data was entered once",
    "data never": "the data was never entered",
    "records": "records handed out: {records}",
    "now": "event {at} of {of}",
    "wrong": "This cannot be played: {error}",
    "broke": "The panel itself failed: {error}",
    "calls": "What the model proposes",
    "limits": "What the run may spend",
    "principal": "Who asks",
    "offer": "Which tools are offered",
    "guard": "The guard (break it on purpose)",
    "preset": "start from",
    "event": "event",
    "in place": "in place",
    "removed": "removed",
    "no gate": "no {gate}",
    "broken gate": "broken {gate}",
    "allowlist_tidied": "broken: tidies the name first",
    "allowlist_nearest": "broken: takes the nearest name",
    "choose": "choose …",
    "reveal": "Run it",
    "first": "Choose an answer to every question first.",
    "guess": "you said",
    "fact": "the ledger says",
    "score": "{right} of {all} right",
    "answers": "What happened",
    "question": "question",
    "why": "why",
    "cut": "… ({length:,} characters in all)",
}
"""Sentences by name, with the places to fill in."""
