"""Cases that others wrote: JSON texts, calendar days, and tool calls that went wrong in other projects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import external
import pytest

from labkit import BadArguments, read_object
from labkit.arguments import read_json, read_model
from labkit.worlds.notices import Search

# What RFC 8259 allows and the contract, "Gates: arguments", does not.
OUR_LIMITS = {
    "y_object_duplicated_key": "no duplicate keys",
    "y_object_duplicated_key_and_value": "no duplicate keys, equal or not",
    "y_object_escaped_null_in_key": "no U+0000",
    "y_string_null_escape": "no U+0000",
}
# What RFC 8259 leaves open (names with i_) and the contract accepts: exact integers, and numbers that round to zero.
OPEN_AND_READ = {
    "i_number_double_huge_neg_exp",
    "i_number_real_underflow",
    "i_number_too_big_neg_int",
    "i_number_too_big_pos_int",
    "i_number_very_big_negative_int",
}


def text_of(raw: bytes) -> str | None:
    """The bytes as text; None where they are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("path", external.each("jsontestsuite/n_*.json"))
def test_what_is_not_json_is_refused(path: Path) -> None:
    """Neither the reader of bytes nor the reader of argument text takes a text that is not JSON."""
    raw = path.read_bytes()
    with pytest.raises(BadArguments):
        read_json(raw)
    text = text_of(raw)
    if text is not None:
        with pytest.raises(BadArguments):
            read_object(text)


@pytest.mark.parametrize("path", external.each("jsontestsuite/y_*.json"))
def test_what_is_json_is_read_exactly_unless_a_named_limit_forbids_it(path: Path) -> None:
    """A JSON value is read as it stands, and as arguments only if it is an object."""
    raw = path.read_bytes()
    text = raw.decode("utf-8")
    if path.stem in OUR_LIMITS:
        for reader, given in ((read_json, raw), (read_object, text)):
            with pytest.raises(BadArguments):
                reader(given)
        return
    value = json.loads(text)
    assert repr(read_json(raw)) == repr(value)
    if isinstance(value, dict):
        assert repr(read_object(text)) == repr(value)
    else:
        with pytest.raises(BadArguments) as refused:
            read_object(text)
        assert refused.value.reason == "not_object"


def test_the_named_limits_are_about_files_that_exist() -> None:
    """No exception outlives the case that it was made for."""
    folder = external.file("jsontestsuite")
    assert [name for name in {*OUR_LIMITS, *OPEN_AND_READ} if not (folder / f"{name}.json").exists()] == []


@pytest.mark.parametrize("path", external.each("jsontestsuite/i_*.json"))
def test_what_json_leaves_open_is_decided(path: Path) -> None:
    """Overflow, half surrogates, a byte order mark, bad UTF-8 and 500 levels are refused; exact integers are read."""
    raw = path.read_bytes()
    if path.stem in OPEN_AND_READ:
        assert repr(read_json(raw)) == repr(json.loads(raw))
        return
    with pytest.raises(BadArguments):
        read_json(raw)
    text = text_of(raw)
    if text is not None:
        with pytest.raises(BadArguments):
            read_object(text)


def day_cases() -> list[dict[str, Any]]:
    (group,) = json.loads(external.file("jsonschema_date/date.json").read_text("utf-8"))
    cases: list[dict[str, Any]] = group["tests"]
    return cases


def takes_day(value: object) -> bool:
    """Whether `search_notices` takes the value as `published_from`, and reads exactly that day."""
    try:
        found = read_model(Search, json.dumps({"query": "x", "published_from": value}))
    except BadArguments:
        return False
    assert isinstance(found, Search)
    return found.published_from is None or found.published_from.isoformat() == value


def test_a_calendar_day_is_what_the_json_schema_suite_says() -> None:
    """`published_from` agrees with the suite's format `date` on each of its texts."""
    texts = [case for case in day_cases() if isinstance(case["data"], str)]
    assert len(texts) == 75
    assert [case for case in texts if takes_day(case["data"]) != case["valid"]] == []


def test_what_is_no_text_is_no_day_except_null() -> None:
    """The suite's format ignores other types; the tool's strict contract takes null and refuses the rest."""
    others = [case["data"] for case in day_cases() if not isinstance(case["data"], str)]
    assert len(others) == 6
    assert [value for value in others if takes_day(value)] == [None]
