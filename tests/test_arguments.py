"""Argument text is strict JSON and what the tool's model says, or it is refused; nothing is repaired."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator

from labkit import BadArguments, read_object
from labkit import arguments as reader
from labkit.arguments import MAX_BYTES, MAX_CHARS, MAX_DEPTH, read_json, read_model
from labkit.calls import is_blank

DIGITS = "9" * 400
ESC = "\\"  # a backslash of JSON, so that no escape below is Python's


class Anything(BaseModel):
    value: Any


class Typed(BaseModel):
    number: int = 0
    real: float = 0.0
    yes: bool = False
    text: str = ""


class Counts(BaseModel):
    counts: dict[str, int]


def refused(text: object, model: type[BaseModel] | None = None) -> BadArguments:
    """What the reader says of a text that it refuses; every refusal is short and on one line."""
    with pytest.raises(BadArguments) as caught:
        read_object(text) if model is None else read_model(model, text)
    message = str(caught.value)
    assert 0 < len(message) <= 300
    assert message.isprintable()
    return caught.value


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


REFUSED: list[tuple[str, object, str]] = [
    ("no text but nothing", None, "not_text"), ("a ready object", {"a": 1}, "not_text"), ("bytes", b"{}", "not_text"),
    ("empty", "", "blank"), ("white space", " \t\r\n", "blank"), ("the word null", "null", "not_object"),
    ("a list", "[{}]", "not_object"), ("a number", "1", "not_object"), ("true", "true", "not_object"),
    ("encoded twice", json.dumps('{"a":1}'), "not_object"), ("a code fence", '```json\n{"a":1}\n```', "not_json"),
    ("a byte order mark", '\ufeff{"a":1}', "not_json"), ("a zero-width space before", "\u200b{}", "not_json"),
    ("a no-break space before", "\u00a0{}", "not_json"), ("U+0000 alone", "\0", "not_json"),
    ("text after it", '{"a":1} done', "trailing_text"), ("two objects", '{"a":1}{"a":1}', "trailing_text"),
    ("cut in a text", '{"a":"x', "incomplete"), ("cut in a word", '{"a":tru', "incomplete"),
    ("cut after a value", '{"a":1', "incomplete"), ("cut after a colon", '{"a":', "incomplete"),
    ("cut after a comma", '{"a":1,', "incomplete"), ("a comma too many", '{"a":1,}', "not_json"),
    ("single quotes", "{'a':1}", "not_json"), ("a bare key", "{a:1}", "not_json"),
    ("a comment", '{"a":1/* one */}', "not_json"), ("a leading zero", '{"a":01}', "not_json"),
    ("a plus sign", '{"a":+1}', "not_json"), ("hexadecimal", '{"a":0x1}', "not_json"),
    ("digits of another script", '{"a":١}', "not_json"), ("Python's True", '{"a":True}', "not_json"),
    ("NaN", '{"a":NaN}', "not_json"), ("Infinity", '{"a":Infinity}', "not_json"),
    ("minus Infinity", '{"a":-Infinity}', "not_json"), ("overflow", '{"a":1e999}', "not_finite"),
    ("overflow below zero, deep inside", '{"a":[{"b":-1e999}]}', "not_finite"),
    ("a raw line end in a text", '{"a":"x\ny"}', "not_json"), ("a raw tab in a text", '{"a":"x\ty"}', "not_json"),
    ("a duplicate key", '{"a":1,"a":1}', "duplicate_key"),
    ("a duplicate after unescaping", f'{{"a":1,"{ESC}u0061":2}}', "duplicate_key"),
    ("a duplicate by two spellings of a pair", f'{{"😀":1,"{ESC}ud83d{ESC}ude00":2}}', "duplicate_key"),
    ("a nested duplicate", '{"b":[{"a":1,"c":2,"a":3}]}', "duplicate_key"),
    ("half a pair, escaped", f'{{"a":"{ESC}ud800"}}', "surrogate"),
    ("half a pair, raw", '{"a":"\ud800"}', "surrogate"), ("half a pair in a key", f'{{"{ESC}udc00":1}}', "surrogate"),
    ("a pair the wrong way round", f'{{"a":"{ESC}ude00{ESC}ud83d"}}', "surrogate"),
    ("half a pair before a letter", f'{{"a":"{ESC}ud83dx"}}', "surrogate"),
    ("U+0000 in a text", f'{{"a":"{ESC}u0000"}}', "nul"), ("U+0000 in a key", f'{{"{ESC}u0000":1}}', "nul"),
    ("U+0000 deep inside", f'{{"a":[["x{ESC}u0000y"]]}}', "nul"),
    ("a level too many", nested(MAX_DEPTH + 1), "too_deep"),
    ("a list a level too deep", '{"a":' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "too_deep"),
    ("two thousand levels", "[" * 2_000 + "]" * 2_000, "too_deep"),
    ("a hundred thousand levels", "[" * 100_000 + "]" * 100_000, "too_long"),
    ("a character too many", '{"a":"' + "x" * (MAX_CHARS - 7) + '"}', "too_long"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_not_one_strict_object_is_refused(text: object, reason: str) -> None:
    """Each fault of the text has its reason, under any model and without one."""
    assert refused(text).reason == reason
    assert refused(text, Anything).reason == reason


READ: list[tuple[str, str, dict[str, Any]]] = [
    ("the empty object", "{}", {}),
    ("white space around it", ' \t\r\n{ "a" : 1 }\n', {"a": 1}),
    ("an empty key", '{"":0}', {"": 0}),
    ("a pair in escapes", f'{{"a":"{ESC}ud83d{ESC}ude00"}}', {"a": "😀"}),
    ("keys that differ only by normal form", '{"é":1,"e\u0301":2}', {"é": 1, "e\u0301": 2}),
    ("one key at two levels", '{"a":{"a":1}}', {"a": {"a": 1}}),
    ("four hundred digits", f'{{"a":{DIGITS},"b":-{DIGITS}}}', {"a": 10**400 - 1, "b": 1 - 10**400}),
    ("2 to the 53rd and one", '{"a":9007199254740993}', {"a": 2**53 + 1}),
    ("a number too small to tell from zero", '{"a":1e-999}', {"a": 0.0}),
    ("JSON in a text stays text", '{"a":"{}"}', {"a": "{}"}),
    ("null as a value", '{"a":null}', {"a": None}),
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_a_strict_object_is_read_as_it_stands(text: str, value: dict[str, Any]) -> None:
    """Nothing is rounded, unified, decoded again or left out."""
    assert read_object(text) == value


def test_the_limits_are_reached_and_not_one_more() -> None:
    """64 levels, 4,096 characters and 16 KiB are read: the largest text that each limit allows."""
    assert json.dumps(read_object(nested(MAX_DEPTH)), separators=(",", ":")) == nested(64)
    lists = '{"a":' + "[" * 63 + "]" * 63 + "}"
    assert json.dumps(read_object(lists), separators=(",", ":")) == lists
    assert read_object('{"a":"' + "x" * (4_096 - 8) + '"}') == {"a": "x" * 4_088}


def test_the_limit_in_bytes_holds_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were more characters allowed, 16 KiB of UTF-8 would still be the most that is read."""
    monkeypatch.setattr(reader, "MAX_CHARS", 100_000)
    fits = '{"a":"' + "😀" * 4_094 + '"}'
    assert len(fits.encode()) == MAX_BYTES
    assert read_object(fits) == {"a": "😀" * 4_094}
    assert refused(fits + " ").reason == "too_long"


def test_twenty_megabytes_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text over the limit meets neither parser nor model."""

    def parse(*given: object, **options: object) -> NoReturn:
        pytest.fail("the text was parsed")

    monkeypatch.setattr(reader.jiter, "from_json", parse)
    text = '{"a":"' + "x" * 20_000_000 + '"}'
    assert refused(text).reason == "too_long"
    assert refused(text, Anything).reason == "too_long"


STRICT = [("number", '"1"'), ("number", "true"), ("number", "1.0"), ("number", "null"), ("real", '"1"'),
          ("real", "true"), ("yes", "1"), ("yes", '"true"'), ("text", "1"), ("text", "null"), ("text", '["a"]'),
          ("extra", "1"), ("Number", "1"), ("number ", "1")]  # fmt: skip


@pytest.mark.parametrize(("field", "written"), STRICT)
def test_types_are_kept_apart_and_only_declared_fields_are_taken(field: str, written: str) -> None:
    """A value of another type or a field of another name is refused by that name, never converted or dropped."""
    assert refused(f'{{"{field}":{written}}}', Typed).field == field


def test_a_model_cannot_loosen_the_contract() -> None:
    """Whatever a model's own configuration allows, extra fields and converted types are refused at every level."""

    class Inner(BaseModel):
        model_config = ConfigDict(extra="allow", strict=False)
        count: int = 0

    class Loose(BaseModel):
        model_config = ConfigDict(extra="ignore", strict=False)
        count: int = Field(default=0, strict=False)
        inner: Inner = Inner()

    faults = {'{"count":"1"}': "count", '{"x":1}': "x", '{"inner":{"x":1}}': "inner.x",
              '{"inner":{"count":"1"}}': "inner.count"}  # fmt: skip
    assert {text: refused(text, Loose).field for text in faults} == faults


def test_an_exact_integer_stays_exact_or_is_refused() -> None:
    """400 digits fit an integer field to the last one, and a field of finite numbers not at all."""
    exact = read_model(Typed, f'{{"number":{DIGITS}}}')
    assert isinstance(exact, Typed)
    assert exact.number == 10**400 - 1
    assert refused(f'{{"real":{DIGITS}}}', Typed).reason == "not_finite"


def test_a_validator_that_breaks_refuses_the_call_and_tells_nothing() -> None:
    """A bug in a tool's own model is no crash, and its words do not leave."""

    class Broken(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def fail(cls, value: int) -> NoReturn:
            raise KeyError("INTERNAL_CANARY")

    assert "CANARY" not in str(refused('{"number":1}', Broken))


LONG = "k" * 4_000
ECHOES = [(Typed, f'{{"{LONG}":1}}'), (Typed, f'{{"text":1,"number":"{LONG}"}}'), (Typed, f'{{"{LONG}'),
          (Counts, f'{{"counts":{{"{LONG}":""}}}}'), (Typed, f'["{LONG}"]'),
          (Typed, f'{{"number":{"9" * 4_000}.5}}')]  # fmt: skip


@pytest.mark.parametrize(("model", "text"), ECHOES)
def test_a_refusal_never_echoes_what_is_long(model: type[BaseModel], text: str) -> None:
    """Of a long key a beginning is shown, of a long value nothing; the field is as short."""
    wrong = refused(text, model)
    assert "k" * 100 not in f"{wrong} {wrong.field}"
    assert "999" not in str(wrong)


HIDDEN = ["\u202e", "\u2066", "\u200b", "\u2028", "\u0085", "\u00ad", "\u3164", "\ufe0f", "\U000e0041"]


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
def test_what_cannot_be_seen_in_a_key_is_made_visible(character: str) -> None:
    """A key that holds direction marks, controls or nothing to see is named with escapes."""
    wrong = refused(json.dumps({f"a{character}b": 1}, ensure_ascii=False), Typed)
    assert character not in f"{wrong} {wrong.field}"
    assert f"{ord(character):04x}" in str(wrong)


def test_several_faults_are_told_by_field_the_first_few_by_name() -> None:
    """Of six wrong fields the first are named and the rest are counted."""
    wrong = refused('{"number":"1","real":"1","yes":1,"text":1,"x":1,"y":1}', Typed)
    assert wrong.field == "number"
    assert [name in str(wrong) for name in ("number:", "real:", "yes:", "text:")] == [True, True, True, False]
    assert "3 more" in str(wrong)


PLACES = [('{"读书会":"报名" x}', 12), ('{"😀":"读" x}', 9), ('{"a":1,\n"读书":会}', 13), ('{"读":1}会', 7), ("读", 0),
          ('{"读":"a\tb"}', 7), ('{"读":"a\nb"}', 7), ('{"a":"读"\n\n,}', 11)]  # fmt: skip


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_the_place_of_a_fault_is_counted_in_characters(text: str, place: int) -> None:
    """The position is that of the offending character, however many bytes stand before it."""
    wrong = refused(text)
    assert wrong.position == place
    assert f"character {place + 1}" in str(wrong)


BLANK = ["", " ", "\t\r\n", "\u3000", "\u00a0", "\u2028", "\0", "\x1b", "\x7f", "\u0085", "\u200b\u200d", "\ufeff",
         "\u2060", "\u00ad", "\u202e", "\u061c", "\u115f", "\u3164", "\uffa0", "\u2800", "\u034f", "\u17b4",
         "\ufe0f", "\U000e0020", "\U000e0100", "\u180b", " \u200b\u3164 "]  # fmt: skip
SEEN = ["a", ".", "读", "😀", "0", "\u200ba\u200b", "é", "\u0640", "\ufffd", "_"]


def test_blank_is_what_a_reader_cannot_see() -> None:
    """White space, zero-width, control and filler characters are blank, alone or together; one mark is not."""
    assert [ascii(text) for text in BLANK if not is_blank(text)] == []
    assert [text for text in SEEN if is_blank(text)] == []


# Any JSON value within the limits: no U+0000, no half surrogates, no number that is not finite.
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4))
near_json = st.text(st.sampled_from(list('{}[]":,\\u0d8eE+-. tfn1aé读😀\0\n\ud800')), max_size=40)


def outcomes(read: Callable[[Any], Any], given: object) -> list[Any]:
    """What was read; nothing where it was refused, shortly."""
    try:
        return [read(given)]
    except BadArguments as wrong:
        if len(str(wrong)) > 300:
            raise AssertionError("a refusal is short") from wrong
        return []


@given(st.text() | near_json | st.builds(lambda value, end: json.dumps({"a": value})[:end], values, st.integers(0, 60)))
def test_any_text_is_read_as_json_reads_it_or_refused(text: str) -> None:
    """No text makes the reader raise anything but BadArguments, and what it reads is what the standard reader reads."""
    for found in outcomes(read_object, text) + outcomes(read_json, text.encode(errors="surrogatepass")):
        assert repr(found) == repr(json.loads(text))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    """No bytes make the reader of bytes raise anything but BadArguments."""
    for found in outcomes(read_json, raw):
        assert repr(found) == repr(json.loads(raw.decode("utf-8")))


@given(st.dictionaries(words, values, max_size=4), st.booleans())
def test_json_comes_back_with_its_types(value: dict[str, Any], escaped: bool) -> None:  # noqa: FBT001 - drawn
    """What was written is read with every type kept: 1, 1.0, true and "1" are four values."""
    text = json.dumps(value, ensure_ascii=escaped)
    if len(text) <= MAX_CHARS and len(text.encode()) <= MAX_BYTES:
        assert repr(read_object(text)) == repr(value)


@given(st.integers(min_value=300, max_value=320), st.sampled_from("123456789"))
def test_an_integer_fits_a_float_field_or_is_refused(digits: int, first: str) -> None:
    """An integer near the largest float becomes the nearest one, and never infinity."""
    text = first + "0" * digits
    read = outcomes(lambda text: read_model(Typed, text).real, f'{{"real":{text}}}')
    assert read == ([] if math.isinf(float(text)) else [float(text)])
