"""The hunt: what was planted inside, looked for in every text that leaves a played run. No widget.

1. A text leaves if somebody else may read it: the model, the user, a client over HTTP, whoever gets the ledger, a
   reader of a panel, whoever prints a value. What the host's guarded log gets is not among them.
2. It finds what was planted as it was planted, or escaped as JSON and HTML do. A marker cut in two passes unseen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import unescape

from labkit.arguments import BadArguments, read_model
from labkit.bridges.http import problem_details
from labkit.bridges.otel import spans
from labkit.loop import Result
from labkit.workbook.pages import page
from labkit.workbook.scenarios import Played
from labkit.workbook.texts import name_of
from labkit.workbook.views import View

__all__ = ["MARKERS", "found_in", "hunt", "texts"]

MARKERS = {
    "INTERNAL_CANARY": "a word in every exception",
    "SELECT * FROM merchants": "the SQL of a query",
    "/srv/app/secret.key": "the path of a file",
    "10.0.0.9": "the address of a host",
    "INTERNAL_FIELD_CANARY": "what an internal field holds",
    "internal_note": "the name of an internal field",
    "-0000-0": "the telephone number of a place",
}
"""What `labkit.workbook.faults` and the worlds' internal fields hold, and what each is, in words."""


def hunt(played: Played, markers: Iterable[str] = tuple(MARKERS)) -> list[tuple[str, str]]:
    """Each place whose text holds a marker, with that marker; empty if nothing got out."""
    wanted = tuple(markers)
    return [(place, marker) for place, text in texts(played).items() for marker in found_in(text, wanted)]


def found_in(text: str, markers: Iterable[str] = tuple(MARKERS)) -> list[str]:
    """The markers that a text holds, in any case of letters, escaped or not."""
    plain = "\n".join((text, unescape(_ESCAPE.sub(_character, text)))).casefold()
    return [marker for marker in markers if marker.casefold() in plain]


def texts(played: Played) -> dict[str, str]:
    """Every text that leaves a played run, by the place where it leaves."""
    run, view = played.run, View(played)
    found = {name: text for result in run.results for name, text in _of_result(played, result).items()}
    found |= {f"message {n} ({message.role})": message.text for n, message in enumerate(run.messages)}
    return found | {
        "answer": run.answer or "",
        "ledger as JSONL": run.ledger.to_jsonl(),
        "ledger as CSV": run.ledger.table().to_csv(index=False),
        "spans": json.dumps(spans(run.ledger)),
        "report": json.dumps(played.report()),
        "panel as text": view.text(),
        "panel as HTML": page(view),
        "diagram": view.diagram().text,
        "repr of run": repr(run),
    }


def _of_result(played: Played, result: Result) -> dict[str, str]:
    """What leaves for one request: to the model, over HTTP, and where its outcome or its exception is printed."""
    outcome, place = result.outcome, name_of(result.round, result.position)
    body = outcome.body or "" if outcome.code == "ok" else json.dumps(problem_details(outcome))
    found = {f"result {place}": result.text, f"HTTP body {place}": body, f"repr {place}": repr(outcome)}
    tool = next((tool for tool in played.world.tools if tool.name == result.call.name), None)
    if tool and outcome.code == "invalid_arguments":
        try:
            read_model(tool.arguments, result.call.arguments)
        except BadArguments as wrong:
            found[f"exception {place}"] = f"{wrong} {wrong!r}"
    return found


_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def _character(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 16))
