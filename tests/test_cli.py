"""The command says what is wrong in one line, and never shows a traceback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from labkit import __version__
from labkit.cli import main
from labkit.workbook import doctor, lab

SMALLEST = {"world": "text", "turns": [{"answer": "hello"}]}


def labkit(*args: str, given: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "labkit", *args], input=given, capture_output=True, cwd=cwd, check=False
    )


def refusal(told: subprocess.CompletedProcess[bytes], command: str) -> str:
    """The one line on standard error of a command that could not be done."""
    assert (told.returncode, told.stdout) == (2, b"")
    line = told.stderr.decode()
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert line.startswith(f"labkit {command}: ")
    return line


def test_without_a_command_the_help_is_shown_and_the_exit_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing asked is nothing done."""
    assert main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert all(command in shown.err for command in ("lab", "run", "doctor"))


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """`labkit --version` names the program and its version."""
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"labkit {__version__}\n"


@pytest.mark.parametrize(
    "line",
    [
        "fly",
        "run",
        "run a b",
        "doctor x",
        "lab --port 0",
        "lab --port 65536",
        "lab --port ٣",
        f"lab --port {'9' * 5000}",
    ],
)
def test_arguments_that_make_no_sense_exit_2_with_the_usage(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be understood is refused before anything starts."""
    with pytest.raises(SystemExit, match=r"^2$"):
        main(line.split())
    assert capsys.readouterr().err.startswith("usage: labkit")


def test_run_plays_a_scenario_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    """`labkit run FILE` and `labkit run -` print the same single JSON object."""
    file = tmp_path / "s.json"
    file.write_text(json.dumps(SMALLEST), encoding="utf-8")
    from_file, from_stdin = labkit("run", str(file)), labkit("run", "-", given=file.read_bytes())
    assert (from_file.returncode, from_stdin.returncode, from_file.stderr) == (0, 0, b"")
    assert json.loads(from_file.stdout) == json.loads(from_stdin.stdout)
    assert json.loads(from_file.stdout)["stop"] == "answered"


def test_run_prints_half_a_surrogate_pair_as_an_escape() -> None:
    """What has no UTF-8 still makes valid JSON, and comes back as it was."""
    call = {"id": "\ud800", "name": "length", "arguments": "{}"}
    told = labkit("run", "-", given=json.dumps({"world": "text", "turns": [{"calls": [call]}]}).encode())
    assert told.returncode == 0
    assert "\ud800" in [result["call_id"] for result in json.loads(told.stdout.decode("utf-8"))["results"]]


@pytest.mark.parametrize("given", [b"", b"[]", b"{", b'{"world": "text"}', b'{"world": "text", "turns": [], "x": 1}'])
def test_run_refuses_what_is_no_scenario_in_one_line(given: bytes) -> None:
    """A file that is no scenario is the only thing that makes `run` fail."""
    refusal(labkit("run", "-", given=given), "run")


def test_run_refuses_what_it_cannot_read_in_one_line(tmp_path: Path) -> None:
    """A missing file, a folder and bytes that are not UTF-8 are each named."""
    assert "No such file" in refusal(labkit("run", str(tmp_path / "no\nsuch")), "run")
    assert "directory" in refusal(labkit("run", str(tmp_path)), "run")
    assert "byte 1" in refusal(labkit("run", "-", given=b'"\xff"'), "run")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no broken pipe")
def test_run_ends_quietly_when_nobody_reads_on() -> None:
    """`labkit run FILE | head` is no fault."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        told = subprocess.run([sys.executable, "-m", "labkit", "run", "-"], input=json.dumps(SMALLEST).encode(),
                              stdout=nobody, stderr=subprocess.PIPE, check=False)  # fmt: skip
    assert (told.returncode, told.stderr) == (0, b"")


def test_lab_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without lessons, with an unknown lesson, or without JupyterLab there is one line and nothing starts."""
    monkeypatch.setattr(lab, "FIRST", Path("notebooks", "none.ipynb"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lab.CannotOpen, match="go to the folder"):
        lab.open_lab()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / lab.FIRST).touch()
    with pytest.raises(lab.CannotOpen, match="99: no such notebook"):
        lab.open_lab("99")
    monkeypatch.setattr(lab, "find_spec", lambda _name: None)
    with pytest.raises(lab.CannotOpen, match="JupyterLab is not installed"):
        lab.open_lab()


def test_lab_refuses_a_port_that_is_taken(tmp_path: Path) -> None:
    """The port asked for is the port used, or none."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / lab.FIRST).touch()
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert f"port {port} is taken" in refusal(labkit("lab", "--port", str(port), cwd=tmp_path), "lab")
    assert not (tmp_path / ".labkit").exists()


def test_lab_keeps_a_setting_the_reader_changed(tmp_path: Path) -> None:
    """Quiet settings are written once and never again."""
    lab.write_settings(tmp_path)
    (file,) = tmp_path.rglob("*.jupyterlab-settings")
    assert json.loads(file.read_text()) == {"fetchNews": "false", "checkForUpdates": False}
    file.write_text("{}")
    lab.write_settings(tmp_path)
    assert file.read_text() == "{}"


def test_doctor_finds_this_installation_sound(capfd: pytest.CaptureFixture[str]) -> None:
    """Every check passes where the tests run, a real kernel and a widget included."""
    assert main(["doctor"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == len(doctor.CHECKS)
    assert all(line.startswith("ok   ") for line in lines)


def test_doctor_names_one_fix_per_problem_and_checks_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A problem, and even a fault in a check, is one line; the checks after it still run."""
    checks = [("a", lambda: doctor.package("labkit_nowhere")), ("b", lambda: 1 / 0), ("c", doctor.python)]
    monkeypatch.setattr(doctor, "CHECKS", checks)
    assert main(["doctor"]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("FIX  a: cannot be imported")
    assert second.startswith("FIX  b: ZeroDivisionError")
    assert third.startswith("ok   c: 3.")


def test_doctor_compares_with_the_tested_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older than tested is a problem; newer is told and passes."""
    monkeypatch.setattr(doctor, "_tested_versions", lambda: {"pydantic": "999.0"})
    with pytest.raises(doctor.Wrong, match="older than 999"):
        doctor.package("pydantic")
    monkeypatch.setattr(doctor, "_tested_versions", lambda: {"pydantic": "2.0rc1"})
    assert doctor.package("pydantic").endswith("(tested with 2.0rc1)")
