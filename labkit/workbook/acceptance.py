"""The acceptance list of the merchant query: named checks over played runs, each with a verdict and its witnesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from labkit.loop import Result
from labkit.outcomes import CODES, Code, compact, refusal, result_text
from labkit.workbook.evidence import (
    KINDS,
    Claim,
    Found,
    Verdict,
    Witness,
    asked_with,
    collect,
    events_of,
    last_of,
    unbacked,
    weakest,
    witnesses,
)
from labkit.workbook.questions import Question
from labkit.workbook.scenarios import Played
from labkit.worlds.merchants import MERCHANTS

__all__ = ["ACCEPTANCE", "CLAIMS", "Accepted", "accept", "evidence_count", "evidence_of", "turns_red"]

NOT_FOUND: Code = "not_found_or_not_accessible"
ADMITS = ("do not know", "cannot be reached", "不知道", "查不到")
DENIES = ("no shop", "does not exist", "没有找到", "不存在")
"""Words by which an answer admits that something is not known, or denies that there is something."""
FAILED = {code for code, row in CODES.items() if row.status == "failed"}


def _facts(played: Played) -> Found:
    """Name and hours of 1001: all five kinds of evidence for both."""
    found = [one for claim in (NAME, HOURS) for one in collect(claim, played.run, played.world.spy)]
    verdict = weakest(one.verdict for one in found)
    shown = [one for one in found if one.verdict == verdict]
    first = shown[0]
    why = "five kinds of evidence, twice" if verdict == "yes" else f"{first.kind}: {first.why}"
    return verdict, tuple(witness for one in shown for witness in one.where), why


def _told(played: Played) -> Found:
    """A tool failed: its result says so, and so does the answer. What never entered the data found nothing."""
    run = played.run
    delivered = [event for event in run.ledger if event.kind == "delivered"]
    served = [event for event in delivered if event.code in ("ok", NOT_FOUND)]
    failed = [event for event in delivered if event.code in FAILED]
    if served and not played.world.spy.entries:
        return "no", witnesses(served), f"{served[0].code}, and the data was never entered"
    if not failed:
        return "unknown", (), "no tool failed"
    if run.answer is None:
        return "yes", (*witnesses(failed), *last_of(run, "stopped")), f"no answer pretends: {run.stop}"
    where = (*witnesses(failed), Witness("message", len(run.messages) - 1))
    if any(words in run.answer for words in DENIES) or unbacked(run):
        return "no", where, "the answer tells of something else"
    admitted = any(words in run.answer for words in ADMITS)
    return "yes" if admitted else "unknown", where, "the answer says so" if admitted else "read the answer"


def _illegal(played: Played, wanted: object) -> Found:
    """The first call asks with this id: refused at that field, and the tool not entered for it."""
    first = _first(played, wanted)
    if first is None:
        return "unknown", (), f"{compact(wanted)} was not asked for"
    if entered := events_of(first, played.run, "started"):
        return "no", witnesses(entered), f"the tool was entered with {compact(wanted)}"
    right = (first.outcome.code, first.outcome.field) == ("invalid_arguments", "merchantId")
    refused = witnesses(events_of(first, played.run, "rejected"))
    return "yes" if right else "no", refused, f"{first.outcome.code}, {first.outcome.field}"


def _hidden(played: Played, wanted: int, *, stored: bool) -> Found:
    """The first call asks for an id of another tenant, or of nothing: the one answer for both, nothing handed out."""
    run, reads, first = played.run, played.world.spy.reads, _first(played, wanted)
    told = events_of(first, run, "delivered") if first else []
    owners = [record.tenant for record in MERCHANTS if record.merchantId == wanted]
    if first is None or not told or bool(owners) is not stored or told[0].tenant in owners:
        return "unknown", (), f"{wanted} was not asked for" if first is None else f"{wanted} is the asker's own"
    where = (*witnesses(told), *(Witness("read", n) for n in range(1, len(reads) + 1)))
    if handed := [record for read in reads for record in read.records]:
        return "no", where, f"the data handed out {handed[0]}"
    same = result_text(first.outcome) == result_text(refusal(first.call.id, NOT_FOUND))
    if not same or not reads:
        return "no", where, f"{first.outcome.code}, and the data was entered {len(reads)} times"
    return "yes", where, "words for both, nothing handed out"


def _first(played: Played, wanted: object) -> Result | None:
    """The first request of a run, if it asks for this id."""
    for result in played.run.results[:1]:
        if compact(asked_with(result.call.arguments).get("merchantId")) == compact(wanted):
            return result
    return None


def _backed(played: Played) -> Found:
    """Every number of the answer was given or delivered. Words without a number that nothing stands behind: unknown."""
    run = played.run
    if run.answer is None:
        return "yes", last_of(run, "stopped"), "nothing was claimed"
    where: tuple[Witness, ...] = (Witness("message", len(run.messages) - 1),)
    if loose := unbacked(run):
        return "no", where, f"no result has {', '.join(loose)}"
    bare = not run.results and not any(words in run.answer for words in ADMITS)
    return "unknown" if bare else "yes", where, "nothing was asked: read the answer" if bare else "all was delivered"


class Accepted(NamedTuple):
    """What came of an item of the acceptance list."""

    item: str
    run: str
    verdict: Verdict
    where: tuple[Witness, ...]
    why: str


ACCEPTANCE: dict[str, tuple[str | None, Callable[[Played], Found]]] = {
    "name and hours of 1001": ("hours", _facts),
    "a failed tool is told": ("down", _told),
    "illegal id 0": ("zero", partial(_illegal, wanted=0)),
    'illegal id "1001"': ("as text", partial(_illegal, wanted="1001")),
    "foreign id 1002": ("foreign", partial(_hidden, wanted=1002, stored=True)),
    "missing id 9999": ("missing", partial(_hidden, wanted=9999, stored=False)),
    "nothing without evidence": (None, _backed),
}
"""Item -> the run it looks at, by name (None: each of them), and the check."""


def accept(runs: Mapping[str, Played]) -> list[Accepted]:
    """Execute the acceptance list over played runs, by name. An item whose run was not played is unknown."""
    return [_accepted(item, name, check, runs) for item, (name, check) in ACCEPTANCE.items()]


def _accepted(item: str, name: str | None, check: Callable[[Played], Found], runs: Mapping[str, Played]) -> Accepted:
    """Of several runs the first with the weakest verdict is told."""
    looked = {one: check(runs[one]) for one in ([name] if name else runs) if one in runs}
    if not looked:
        return Accepted(item, name or "", "unknown", (), "not played")
    verdict = weakest(found[0] for found in looked.values())
    one = next(one for one, found in looked.items() if found[0] == verdict)
    return Accepted(item, one, *looked[one])


NAME = Claim("测试茶铺 / Test Tea House", "get_merchant", {"merchantId": 1001}, "1001")
HOURS = Claim("09:00–18:00", "get_merchant", {"merchantId": 1001}, "1001")
CLAIMS: dict[str, Claim] = {
    "name": NAME,
    "hours": HOURS,
    "holidays": Claim("10:00–16:00", "search_faq", {}, "F1"),
    "unreachable": Claim("cannot be reached", "get_merchant", {"merchantId": 1001}, "1001", "dependency_temporary"),
    "1001 not seen": Claim("no shop 1001", "get_merchant", {"merchantId": 1001}, "1001", NOT_FOUND),
    "1002 not seen": Claim("no shop 1002", "get_merchant", {"merchantId": 1002}, "1002", NOT_FOUND),
    "9999 not seen": Claim("no shop 9999", "get_merchant", {"merchantId": 9999}, "9999", NOT_FOUND),
}
"""What the answers of the merchant lesson claim."""


def evidence_of(text: str, claim: Claim, kind: str, why: str = "") -> Question:
    """A question about one kind of evidence for a claim."""

    def fact(played: Played) -> str:
        return collect(claim, played.run, played.world.spy)[KINDS.index(kind)].verdict

    return Question(text, ("yes", "no", "unknown"), fact, why)


def evidence_count(text: str, claim: Claim, *options: int, why: str = "") -> Question:
    """A question about how many of the five kinds of evidence for a claim are there."""

    def fact(played: Played) -> str:
        return str([one.verdict for one in collect(claim, played.run, played.world.spy)].count("yes"))

    return Question(text, tuple(map(str, options)), fact, why)


def turns_red(text: str, good: Mapping[str, Played], run: str, *options: str, why: str = "") -> Question:
    """A question about which items refuse a run in the place of a good one: their names, or `none`."""

    def fact(played: Played) -> str:
        return ", ".join(one.item for one in accept({**good, run: played}) if one.verdict == "no") or "none"

    return Question(text, options, fact, why)
