"""Where reading stops is said by character, key and field; what other readers let through is shown beside it."""

from __future__ import annotations

import pytest

from labkit import BadArguments, read_object
from labkit.workbook.cases import lesson
from labkit.workbook.readers import READERS, alone, stop_of
from labkit.worlds import open_world

TOOLS = {tool.name: tool for tool in open_world("text", "notices", "merchants").tools}
CASES = lesson("02_arguments")
ESC = "\\"  # a backslash of JSON, so that no escape below is Python's


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"a":1,"b":[1e999]}', "b"), (f'{{"a":{{"x":"{ESC}u0000"}}}}', "a"), (f'{{"a{ESC}u0000":1}}', r"a\u0000"),
        ('{"a":1,"b":{"c":1,"c":2}}', "c"), (f'{{"q":1,"{ESC}u0071":2}}', "q"),
        ('{"deep":' + "[" * 64 + "]" * 64 + "}", "deep"), ("[1e999]", None), ('{"a":1', None),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field_where_the_text_was_read(text: str, field: str | None) -> None:
    """The key that came twice, or the outermost one that holds what is no value; none where no key was read."""
    with pytest.raises(BadArguments) as caught:
        read_object(text)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "position", "key", "field"),
    [
        ('{"query":"读书会 报', 15, "query", None),  # the text has 15 characters and wants more
        ('{"query":"b', 11, "query", None),
        ('{"query":"b",', 13, "query", None),
        ('{"query":"a","published_from":nul}', 33, "published_from", None),
        ('{"query":"\\"x\\": y", }', 21, "query", None),  # a key inside a text is no key
        ("", 0, None, None),
        ('{"query":"a","published_from":"2026-02-30"}', None, None, "published_from"),
        ('{"query":"a","query":"b"}', 21, "query", "query"),
    ],
)
def test_where_reading_stopped(text: str, position: int | None, key: str | None, field: str | None) -> None:
    """By index of the character and the last key before it; by field where all of the text was read."""
    stop = stop_of(TOOLS["search_notices"], text)
    assert stop is not None
    assert (stop.position, stop.key, stop.field) == (position, key, field)


def test_a_text_that_is_read_has_no_stop() -> None:
    """None, and every reader takes it."""
    text = '{"query":"a","published_from":null}'
    assert stop_of(TOOLS["search_notices"], text) is None
    assert all(read(TOOLS["search_notices"], text).startswith("✓") for read in READERS.values())


TAKEN = {  # what the two other readers take although it must not reach a tool: by hand, from their documentation
    "twice": "pydantic alone, standard library", "escaped twice": "pydantic alone, standard library",
    "nan": "pydantic alone, standard library", "overflow": "pydantic alone, standard library",
    "nul": "pydantic alone, standard library", "unseen": "pydantic alone, standard library", "zero": "pydantic alone",
    "half pair": "standard library", "compact": "standard library", "week": "standard library",
    "february": "", "cut": "", "time": "",
    "fence": "", "trailing": "", "quotes": "", "empty": "", "missing": "standard library", "user": "standard library",
    "true id": "standard library", "float id": "standard library", "spaces": "standard library",
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_what_other_readers_let_through(name: str) -> None:
    """Ours refuses each of these texts; strict pydantic alone and the standard library take some."""
    call = CASES[name].turns[0].calls[0]
    taken = [reader for reader, read in READERS.items() if read(TOOLS[call.name], call.arguments).startswith("✓")]
    assert ", ".join(taken) == TAKEN[name]


def test_the_model_beside_ours_is_strict_and_takes_no_extra_field() -> None:
    """It is good practice, so that what it lets through is no straw man."""
    for tool in TOOLS.values():
        config = alone(tool).model_config
        assert (config.get("strict"), config.get("extra")) == (True, "forbid")
