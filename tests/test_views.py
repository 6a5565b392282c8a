"""What a reader is shown is computed from the ledger, says the same in every form, and interprets nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from labkit.workbook.cases import LESSONS, lesson
from labkit.workbook.pages import lower, page, svg, upper
from labkit.workbook.scenarios import Scenario, make_scenario, play
from labkit.workbook.views import View, visible

EVERY = [pytest.param(scenario, id=f"{name}: {key}") for name in LESSONS for key, scenario in lesson(name).items()]
JAVA = '{"text":"Java"}'


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += f" {data} "


def one_call(**call: object) -> Scenario:
    """A scenario of one call to length, altered as given."""
    turn = {"calls": [{"id": "1", "name": "length", "arguments": JAVA} | call]}
    return make_scenario({"title": "one call", "world": "text", "turns": [turn, {"answer": "4"}]})


@pytest.mark.parametrize("scenario", EVERY)
def test_text_and_html_carry_the_same_rows(scenario: Scenario) -> None:
    """Each cell of each table is found in the plain text and in the static page."""
    view = View(play(scenario))
    text, words = view.text(), Page(page(view)).words
    for row in [*view.proposed, *view.results, *view.ledger]:
        for cell in filter(None, row):
            assert cell in text
            assert cell in words
    for _, chips in view.strip:
        assert all(str(chip) in text and str(chip) in words for chip in chips)
    for line in view.summary:
        assert line in text
        assert line in words


@pytest.mark.parametrize("scenario", EVERY)
def test_at_each_event_the_view_shows_what_had_happened_by_then(scenario: Scenario) -> None:
    """A scrubbed view holds the first events and counts only them; outcomes appear with their event."""
    played = play(scenario)
    length = len(played.run.ledger)
    for at in {*range(0, length, max(1, length // 12)), length - 1, length}:
        view = View(played, at)
        kinds = [event.kind for event in played.run.ledger.events[:at]]
        assert [row[4] for row in view.ledger] == kinds
        assert {c.name: c.value for c in view.counters} == {
            "requested": kinds.count("requested"), "admitted": kinds.count("started"),
            "executed": kinds.count("started") - kinds.count("released"), "delivered": kinds.count("delivered"),
        }  # fmt: skip
        assert len(view.results) == kinds.count("delivered")
        assert len(view.strip) == kinds.count("requested")
        assert len(view.steps) == at


def test_the_strip_says_where_each_call_stopped() -> None:
    """Passed, stopped here with its code, not reached; then entered and delivered."""
    scenario = make_scenario({
        "world": "text", "limits": {"executions": 1},
        "turns": [{"calls": [{"id": "1", "name": "length", "arguments": JAVA},
                             {"id": "1", "name": "length", "arguments": JAVA},
                             {"id": "1", "name": "length", "arguments": '{"text":"SQL"}'},
                             {"id": "2", "name": "length", "arguments": JAVA}]}, {"answer": "4"}],
    })  # fmt: skip
    strip = [" ".join(map(str, chips)) for _, chips in View(play(scenario)).strip]
    begin = "✓ requests ✓ id ✓ allowlist ✓ arguments ✓ permission"
    assert strip == [
        f"{begin} ✓ replay ✓ budget ✓ entered ✓ delivered",
        f"{begin} ↺ replayed · budget · not entered ✓ delivered",
        f"{begin} ✗ replay: id_conflict · budget · not entered ✓ delivered",
        f"{begin} ✓ replay ✗ budget: budget_exhausted (executions) · not entered ✓ delivered",
    ]


def test_a_call_that_no_gate_saw_says_why() -> None:
    """A cut-off response stops before the first gate; its strip names the code."""
    turn = {"calls": [{"id": "1", "name": "length", "arguments": JAVA}], "complete": False}
    view = View(play(make_scenario({"world": "text", "turns": [turn, {"answer": "4"}]})))
    chips = [str(chip) for chip in view.strip[0][1]]
    assert chips[:2] == ["· requests", "· id"]
    assert "✗ incomplete_response" in chips


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", r"a\u202eb"), ("z\u200bw", r"z\u200bw"), ("line\nend", r"line\u000aend"), ("报名", "报名"),
        ("\ud800", r"\ud800"), (None, ""), (7, "7"), ({"a": [1]}, "{'a': [1]}"),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_written_out(text: object, shown: str) -> None:
    """Bidi, zero-width, control characters and half surrogates appear as escapes; words stay words."""
    assert visible(text) == shown


def test_long_text_is_cut_and_counted() -> None:
    """Two million characters take a line, and the reader is told how many there were."""
    assert visible("好" * 2_000_000) == "好" * 160 + "… (2,000,000 characters in all)"


@pytest.mark.parametrize("field", ["id", "name", "arguments"])
def test_no_markup_of_a_model_reaches_the_page(field: str) -> None:
    """Tags, attributes and entities in a call are text in HTML and SVG, in the live parts and in the twin."""
    evil = "<img src=x onerror=alert(1)></td><script>alert(1)</script>&lt;\"'"
    view = View(play(one_call(**{field: evil})))
    for html in (page(view), upper(view), lower(view), svg(view.steps)):
        found = Page(html)
        assert found.tags.isdisjoint({"img", "script"})
        assert not any(name.startswith("on") for name in found.attributes)
    assert evil[:20] in Page(page(view)).words


def test_mermaid_is_drawn_from_the_ledger_and_holds_no_syntax_of_a_model() -> None:
    """One line an event between four lanes; what could be syntax is an entity code."""
    view = View(play(one_call(name="x\nend;->>tool: #boom%%")))
    head, body = view.diagram().text.split("\n")[:5], view.diagram().text.split("\n")[5:]
    assert head == ["sequenceDiagram", *(f"  participant {lane}" for lane in ("user", "model", "application", "tool"))]
    assert len(body) == len(view.steps)
    assert all(re.fullmatch(r"  (Note over )?\w+(--?[x>]>?\w+)?: ([\w ,.:()/]|#\d+;)*", line) for line in body)


def test_no_chip_is_lost_in_the_twin_where_rows_are_of_unequal_length() -> None:
    """A call that no gate saw has a chip more than the others: every row keeps its last one in the text."""
    calls = [{"id": "1", "name": "length", "arguments": JAVA}]
    turns = [{"calls": calls}, {"calls": calls, "complete": False}, {"answer": "4"}]
    text = View(play(make_scenario({"world": "text", "turns": turns}))).text()
    assert text.count("✓ delivered") == 2
