"""The `labkit` command.

1. A mistake in what was asked is one line on standard error and exit 2, never a traceback.
2. Nothing heavy is imported before the command that needs it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from labkit import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 1 (doctor found something) or 2 (cannot be done)."""
    parser = _parser()
    asked = parser.parse_args(argv)
    if asked.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        code: int = asked.act(asked)
    except Refused as problem:
        print(f"labkit {asked.command}: {_one_line(str(problem))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has seen enough, as in `labkit run FILE | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


class Refused(Exception):
    """What was asked cannot be done; the text says why, and what to do."""


def _run(asked: argparse.Namespace) -> int:
    try:
        text = _bytes_of(asked.file).decode("utf-8-sig")  # Windows PowerShell writes a mark before the text
    except OSError as problem:
        raise Refused(f"{asked.file}: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise Refused(f"{asked.file}: not UTF-8 text (byte {problem.start})") from None

    from labkit.workbook.scenarios import BadScenario, play, read_scenario

    try:
        played = play(read_scenario(text))
    except BadScenario as problem:
        raise Refused(str(problem)) from None
    report = json.dumps(played.report(), indent=2, ensure_ascii=False)
    # Half a surrogate pair has no UTF-8; written as \udXXX it is a valid escape in JSON.
    sys.stdout.buffer.write(report.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
    return 0


def _bytes_of(file: str) -> bytes:
    if file != "-":
        return Path(file).read_bytes()
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read()


def _lab(asked: argparse.Namespace) -> int:
    from labkit.workbook.lab import CannotOpen, open_lab

    try:
        return open_lab(asked.notebook, port=asked.port, browser=asked.browser)
    except CannotOpen as problem:
        raise Refused(str(problem)) from None


def _doctor(asked: argparse.Namespace) -> int:
    from labkit.workbook.doctor import examine

    return examine()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="labkit", description="A workbook about what to check before a model's tool call runs."
    )
    parser.add_argument("--version", action="version", version=f"labkit {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    text = "open the workbook in JupyterLab"
    lab = commands.add_parser("lab", help=text, description=f"{text[0].upper()}{text[1:]}, on this machine only.")
    lab.add_argument(
        "notebook", nargs="?", metavar="NOTEBOOK", help="a lesson ('01') or a file; first lesson if left out"
    )
    lab.add_argument("--port", type=_port, metavar="N", help="exactly this port; the first free one if left out")
    lab.add_argument("--no-browser", dest="browser", action="store_false", help="print the address, open nothing")
    lab.set_defaults(act=_lab)

    text = "run a scenario file and print what happened as one JSON object"
    run = commands.add_parser("run", help=text, description=f"{text[0].upper()}{text[1:]}.")
    run.add_argument("file", metavar="FILE", help="a scenario as JSON in UTF-8; - reads standard input")
    run.set_defaults(act=_run)

    text = "check this installation; name one fix for each problem"
    doctor = commands.add_parser("doctor", help=text, description=f"{text[0].upper()}{text[1:]}.")
    doctor.set_defaults(act=_doctor)
    return parser


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port (1 to 65535)")


def _one_line(text: str) -> str:
    """The text with every character that does not print (line ends, half surrogates) made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
