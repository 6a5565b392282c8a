"""All short orders of signals on one dispatcher are legal, or refused without a trace."""

from __future__ import annotations

import itertools

import pytest
from helpers import ALICE, broken, calls, guard

from labkit import Dispatcher, Outcome, Request


class Signals:
    """One or two calls on one dispatcher, driven by signals in any order."""

    def __init__(self, ids: str) -> None:
        self.guard: Dispatcher = guard()
        self.guard.open_round()
        self.waiting = [Request(call, 1, 0, ALICE) for call in calls(*ids)]
        self.requests: list[Request] = list(self.waiting)
        self.admitted = 0

    def would_wait(self, signal: str, which: int) -> bool:
        """True for a twin performed before its original: with one thread it would wait for ever."""
        request = self.requests[which]
        running = request.original is not None and request.original.outcome is None
        return signal == "perform" and running and request.outcome is None

    def give(self, signal: str, which: int) -> None:
        request = self.requests[which]
        if signal == "admit":
            self.requests[which] = self.guard.admit(request.call, self.admitted + 1)
            self.admitted += 1
        elif signal == "perform":
            self.guard.perform(request)
        elif signal == "settle":
            self.guard.settle(request, Outcome(request.call.id, "ok", '"from elsewhere"'))
        elif signal == "deliver":
            self.guard.deliver([request])
        elif signal == "close":
            self.guard.close("cancelled")
        else:
            self.guard.stop("cancelled")

    def finish(self) -> None:
        """End what was begun the way a caller would."""
        if not self.guard.stopped:
            begun = sorted((one for one in self.requests if one.position), key=lambda one: one.position)
            told = {event.position for event in self.guard.ledger if event.kind == "delivered"}
            for request in begun:
                self.guard.perform(request)
            for request in begun:
                if request.position not in told:
                    self.guard.deliver([request])
            self.guard.stop("cancelled")


PER_CALL = ("admit", "perform", "settle", "deliver")


def wrong_sequences(ids: str, length: int) -> list[str]:
    """Sequences after which a law is broken, or whose refusal left an event or was no clear error."""
    alphabet = [(signal, which) for which in range(len(ids)) for signal in PER_CALL] + [("close", 0), ("stop", 0)]
    wrong, seen = [], set()
    for size in range(1, length + 1):
        for sequence in itertools.product(alphabet, repeat=size):
            admits = [which for signal, which in sequence if signal == "admit"]
            if len(set(admits)) < len(admits) or admits[:1] == [1]:
                continue  # a request is admitted once, and the two calls are alike: the first comes first
            if any(sequence[:n] in seen for n in range(size)):
                continue  # its beginning is wrong already
            trial, fault = Signals(ids), ""
            for signal, which in sequence:
                if trial.would_wait(signal, which):
                    break
                before = len(trial.guard.ledger)
                try:
                    trial.give(signal, which)
                except (RuntimeError, ValueError):
                    fault += " recorded" * (len(trial.guard.ledger) != before)
            else:
                trial.finish()
                fault += " ".join(sorted(broken(trial.guard.ledger)))
            if fault:
                seen.add(sequence)
                wrong.append(f"{' '.join(f'{signal}{which + 1}' for signal, which in sequence)}: {fault}")
    return wrong


@pytest.mark.parametrize(("ids", "length"), [("a", 5), ("ab", 4), ("aa", 4)], ids=["one call", "two calls", "twins"])
def test_all_short_signal_sequences_are_legal_or_refused(ids: str, length: int) -> None:
    """Every short order of signals keeps the laws, or is refused with a clear error that records nothing."""
    wrong = wrong_sequences(ids, length)
    assert len(wrong) == 0, "\n".join([f"{len(wrong)} sequences, the shortest:", *wrong[:12]])
