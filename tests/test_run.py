"""`labkit run` prints what happened as one JSON object, or says in one line why the file is no scenario."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CALL = {"id": "1", "name": "length", "arguments": '{"text":"Java"}'}


def labkit(*args: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "labkit", *args], input=given, capture_output=True, check=False)


def as_bytes(**values: object) -> bytes:
    return json.dumps({"world": "text", "turns": [{"calls": [CALL]}]} | values).encode()


NO_SCENARIO: dict[str, bytes] = {
    "nothing": b"", "white space": b" \n", "garbage": b"%PDF-1.7 \x00\x01\x02", "binary": bytes(range(256)),
    "not UTF-8": b'{"world":"text","turns":[],"title":"\xff"}', "half a pair in bytes": b'"\xed\xa0\x80"',
    "UTF-16": as_bytes().decode().encode("utf-16"), "a list": b"[]",
    "null": b"null", "NaN": b'{"world":"text","turns":[],"limits":{"deadline_s":NaN}}',
    "overflow": b'{"world":"text","turns":[],"limits":{"cost":1e999}}',
    "a duplicate key": b'{"world":"text","world":"text","turns":[]}', "two values": as_bytes() * 2,
    "cut off": as_bytes()[:-3], "deeply nested": b"[" * 100_000 + b"]" * 100_000,
    "nested in a call": b'{"world":"text","turns":[{"calls":[{"id":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}]}",
    "twenty megabytes": b'{"world":"' + b"x" * 20_000_000 + b'","turns":[]}',
    "five thousand digits": b'{"world":"text","turns":[],"limits":{"rounds":' + b"9" * 5_000 + b"}}",
    "a long key with line ends": as_bytes(**{"\n" * 5_000: 1}), "an odd limit": as_bytes(limits={"rounds": -1}),
    "an unknown gate": as_bytes(gates=["speed"]), "gates out of order": as_bytes(gates=["replay"]),
    "no gates": as_bytes(gates=[]),
}  # fmt: skip


@pytest.mark.parametrize("given", NO_SCENARIO.values(), ids=NO_SCENARIO)
def test_run_exits_2_with_one_line_for_what_is_no_scenario(given: bytes) -> None:
    """Whatever the file holds, standard error has one short line and standard output nothing."""
    told = labkit("run", "-", given=given)
    line = told.stderr.decode("utf-8")
    assert (told.returncode, told.stdout, line.count("\n")) == (2, b"", 1)
    assert line.startswith("labkit run: ")
    assert len(line) < 400


REPORT = ["stop", "answer", "results", "counts", "coverage", "violations", "ledger"]
RESULT = ["round", "position", "call_id", "tool", "status", "code", "next_action", "replayed", "field", "text"]
COUNTS = ["rounds", "requested", "rejected", "replayed", "admitted", "executed", "attempts", "delivered"]


def test_run_prints_exactly_the_keys_of_the_page(tmp_path: Path) -> None:
    """The report, its results and its counts have the documented keys in the documented order, from file or input."""
    given = as_bytes(turns=[{"calls": [CALL, CALL]}, {"answer": "四"}])
    file = tmp_path / "s.json"
    file.write_bytes(given)
    told = labkit("run", str(file))
    report = json.loads(told.stdout)
    assert (told.returncode, told.stderr, report["answer"]) == (0, b"", "四")
    assert (list(report), list(report["counts"])) == (REPORT, COUNTS)
    assert [list(result) for result in report["results"]] == [RESULT, RESULT]
    assert labkit("run", "-", given=given).stdout == told.stdout


@pytest.mark.parametrize(
    "rest", [{"turns": []}, {"limits": {"rounds": 0}}, {"turns": [{"calls": [CALL | {"id": None}]}]}]
)
def test_run_exits_0_however_the_run_ends(rest: dict[str, object]) -> None:
    """A run that comes to nothing is a result like any other."""
    told = labkit("run", "-", given=as_bytes(**rest))
    assert (told.returncode, told.stderr) == (0, b"")
    assert json.loads(told.stdout)["stop"] != "answered"


def test_run_reads_a_file_that_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Windows PowerShell writes such a mark; it is no part of the scenario."""
    file = tmp_path / "scenario.json"
    file.write_bytes(b"\xef\xbb\xbf" + as_bytes())
    told = subprocess.run([sys.executable, "-m", "labkit", "run", str(file)], capture_output=True, check=False)
    assert (told.returncode, told.stderr) == (0, b"")
