"""How far a list was read is seen from its pages, whatever else came in the run."""

from __future__ import annotations

from typing import Any

from labkit.loop import Run
from labkit.workbook.coverage import Page, pages
from labkit.workbook.scenarios import make_scenario, play
from labkit.workbook.sections import SECTIONS
from labkit.workbook.views import View

SECOND, THIRD = "QToy", "QTo0"
"""Tokens of tenant A for what follows two and four merchants."""
FIRST_FOUR = [1001, 2001, 2002, 2003]


def call(own: str, token: str, size: int, name: str = "list_merchants") -> dict[str, Any]:
    return {"id": own, "name": name, "arguments": f'{{"page_token":{token},"page_size":{size}}}'}


def scenario(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One response with these calls, then an answer."""
    return {"world": ["merchants", "text"], "turns": [{"calls": calls}, {"answer": "Done."}]} | more


def run(*calls: dict[str, Any], **more: Any) -> Run:
    return play(make_scenario(scenario(*calls, **more))).run


def ids(page: Page) -> list[int]:
    return [item["merchantId"] for item in page.items]


def test_pages_follow_each_other_by_their_tokens() -> None:
    """Each page says which request it answers, what it was asked with, and what asks for the next."""
    first, second = pages(run(call("a", "null", 2), call("b", f'"{SECOND}"', 2)))
    assert ids(first) + ids(second) == FIRST_FOUR
    assert (first.round, first.position, first.asked, first.omitted, first.token) == (1, 1, None, 0, SECOND)
    assert (second.round, second.position, second.asked, second.omitted, second.token) == (1, 2, SECOND, 0, THIRD)


def test_an_empty_token_is_the_end() -> None:
    """A page with room for all fifty merchants has none after it."""
    (page,) = pages(run(call("a", "null", 50)))
    assert (len(page.items), page.token) == (50, "")


def test_only_what_came_is_a_page() -> None:
    """A refused, a missing and another tool's result are no pages, and neither is a result that is no object."""
    word = {"id": "w", "name": "upper", "arguments": '{"text":"tea"}'}
    look = {"id": "m", "name": "get_merchant", "arguments": '{"merchantId":1001}'}
    done = run(word, look, call("lost", '"QToy="', 2), call("a", "null", 2), call("b", f'"{SECOND}"', 2),
               limits={"executions": 4})  # fmt: skip
    assert [result.outcome.code for result in done.results] == [
        "ok", "ok", "not_found_or_not_accessible", "ok", "budget_exhausted",
    ]  # fmt: skip
    assert [(page.position, page.token) for page in pages(done)] == [(4, SECOND)]


def test_a_shortened_page_counts_what_was_left_out_and_its_token_leads_past_it() -> None:
    """One merchant takes 109 characters with its page, two take 191: of three, two are left out."""
    short = pages(run(call("a", "null", 3), tools={"list_merchants": {"result_chars": 190}}))[0]
    assert ids(short) == [1001]
    assert (short.omitted, short.token) == (2, "QToz")


def rows(at: int | None = None, **more: Any) -> list[tuple[str, ...]]:
    played = play(make_scenario(scenario(call("a", "null", 2), call("b", f'"{SECOND}"', 48), **more)))
    return list(SECTIONS["listed"](View(played, at, ("listed",))).rows)


def test_the_section_shows_pages_as_they_are_delivered() -> None:
    """A row for each page the model got; the end of the list is told in words."""
    first = ("1.1", "null", "2", "0", SECOND)
    last = ("1.2", SECOND, "48", "0", "empty: the end of the list")
    assert rows() == [first, last]
    told = [len(rows(at)) for at in range(13)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 2)
    assert rows(limits={"executions": 1}) == [first]
