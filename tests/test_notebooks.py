"""Lessons are clean files, and comparing their outputs can fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from labkit.workbook.notebooks import VIEW, check, execute, main

if TYPE_CHECKING:
    from collections.abc import Callable

LESSONS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))

ALTERED_CONSTANT = """\
from labkit import outcomes
outcomes.CODES["ok"] = outcomes.CODES["ok"]._replace(next_action="stop")
"""
"""A `sitecustomize` module: Python runs it at every start, so the kernel meets an altered package."""


def notebook(tmp_path: Path, *sources: str, **changes: Any) -> Path:
    """An executed-looking notebook with these code cells; `changes` go into the last one."""
    cells = [
        {"cell_type": "code", "id": f"c{place}", "metadata": {}, "execution_count": place + 1, "outputs": [],
         "source": source}
        for place, source in enumerate(sources)
    ]  # fmt: skip
    cells[-1].update(changes)
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def stored(**data: Any) -> list[dict[str, Any]]:
    return [{"output_type": "display_data", "metadata": {}, "data": data}]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_clean(lesson: Path) -> None:
    """Counts run from 1 to n; there is no widget state, no path, no long cell; the kernel is python3."""
    assert check(lesson) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"execution_count": None}, "execution count None, not 2"),
        ({"execution_count": 7}, "execution count 7, not 2"),
        ({"source": "x\n" * 11}, "11 lines, more than 10"),
        ({"source": "open('/home/ann/x')"}, "an absolute path in the source"),
        ({"outputs": stored(**{"text/plain": ["at /ho", "me/ann/x"]})}, "an absolute path in an output"),
        ({"outputs": stored(**{"text/plain": r"C:\Users\ann"})}, "an absolute path in an output"),
        ({"outputs": stored(**{"text/plain": "x", VIEW: {}})}, "a live widget view is stored"),
        ({"outputs": [{"output_type": "error", "ename": "KeyError", "traceback": []}]}, "ends in KeyError"),
        ({"metadata": {"execution": {}}}, "execution times are stored"),
        ({"id": "c0"}, "cell ids are missing or occur twice"),
    ],
)
def test_what_is_not_clean_is_named(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    """Each fault of a cell is found, alone, with its cell."""
    found = check(notebook(tmp_path, "1", "2", **changes))
    assert [text.removeprefix("cell 1: ") for text in found] == [fault]


def test_metadata_that_is_not_clean_is_named(tmp_path: Path) -> None:
    """Another kernel, widget state and an editor's own keys are found."""
    path = notebook(tmp_path, "1")
    made = json.loads(path.read_text())
    made["metadata"] = {"kernelspec": {"name": "mine"}, "widgets": {}, "toc": {}}
    path.write_text(json.dumps(made))
    assert check(path) == ["the kernel is not python3", "widget state is stored", "metadata nobody needs: toc"]


def test_what_is_no_fault_is_not_named(tmp_path: Path) -> None:
    """An address on the web, a fraction, a route and an empty cell are no fault."""
    outputs = stored(**{"text/plain": "https://example.org/home/x 1/2 /notices/D3"})
    assert check(notebook(tmp_path, "1", "2", outputs=outputs)) == []


PANEL = """\
import ipywidgets
class Panel(ipywidgets.VBox):
    def _repr_mimebundle_(self, **kwargs):
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": "twin", "text/html": "<p>twin</p>"}
"""


def test_a_panel_leaves_its_twin_and_a_lesson_run_twice_is_the_same_file(tmp_path: Path) -> None:
    """Only the twin is stored; executing again changes no byte; strict comparison passes, and can fail."""
    path = notebook(tmp_path, PANEL, "Panel()", "display(Panel())")
    assert execute(path) == []
    first = path.read_bytes()
    assert [output["data"] for cell in json.loads(first)["cells"] for output in cell["outputs"]] == [
        {"text/html": ["<p>twin</p>"], "text/plain": ["twin"]}
    ] * 2
    assert execute(path) == []
    assert path.read_bytes() == first
    assert strict(path) == []
    path.write_bytes(first.replace(b"<p>twin", b"<p>other", 1))  # in the source: both panels come out otherwise
    assert strict(path) == [1, 2]


def test_a_bare_widget_needs_a_tag(tmp_path: Path) -> None:
    """A widget without a twin stores nothing, so its cell must say that nothing is compared."""
    source = "import ipywidgets\nipywidgets.IntSlider()"
    assert execute(notebook(tmp_path, source)) == ["cell 0: a widget without a twin, and no tag nbval-ignore-output"]
    path = notebook(tmp_path, source, metadata={"tags": ["nbval-ignore-output"]})
    assert execute(path) == []
    assert json.loads(path.read_text())["cells"][0]["outputs"] == []
    assert strict(path) == []


def test_a_lesson_that_fails_is_left_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command names the failing lesson, exits 1 and does not write it."""
    path = notebook(tmp_path, "1 / 0")
    before = path.read_bytes()
    assert main([str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert path.read_bytes() == before
    assert main(["--check", str(path)]) == 0


def strict(path: Path, *, package: Path | None = None) -> list[int]:
    """The code cells, counted from 0, that strict nbval finds different in one notebook."""
    python_path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])]) if package else None
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "--nbval-cell-timeout=30", "-p", "no:cacheprovider", "-q", "-rf",
         "-c", os.devnull, f"--rootdir={path.parent}", str(path)],
        env=os.environ | ({"PYTHONPATH": python_path} if python_path else {}),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode in {0, 1}, told.stdout + told.stderr
    failed = [int(number) for number in re.findall(r"^FAILED .*::Cell (\d+)", told.stdout, re.MULTILINE)]
    assert (told.returncode == 1) == bool(failed), told.stdout
    return failed


def alter(copy: Path, wanted: Callable[[str], bool], old: str, new: str) -> int:
    """Replace `old` once, in the first stored output text that is wanted and has it; the number of its code cell."""
    made = json.loads(copy.read_text(encoding="utf-8"))
    for number, cell in enumerate(cell for cell in made["cells"] if cell["cell_type"] == "code"):
        for output in cell["outputs"]:
            holder = output.get("data", output)
            for key in ("text/html", "text/plain", "text"):
                text = "".join(holder.get(key, ""))
                if old in text and wanted(text):
                    holder[key] = text.replace(old, new, 1)
                    copy.write_text(json.dumps(made), encoding="utf-8")
                    return number
    pytest.fail(f"no stored output to alter: the lesson shows no {old!r}")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_an_altered_output_and_an_altered_ledger_row_are_found(lesson: Path, tmp_path: Path) -> None:
    """The cells with one altered character and with one altered event turn red, and no other cell does."""
    copy = Path(shutil.copy(lesson, tmp_path))
    ledger = alter(copy, lambda text: "requested" in text and "returned" in text, "started", "released")
    output = alter(copy, lambda text: "requested" not in text or "returned" not in text, "e", "3")
    assert strict(copy) == sorted({ledger, output})


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_an_altered_package_is_found(lesson: Path, tmp_path: Path) -> None:
    """One altered constant of the package turns the comparison red."""
    copy = Path(shutil.copy(lesson, tmp_path))
    (tmp_path / "sitecustomize.py").write_text(ALTERED_CONSTANT)
    assert strict(copy, package=tmp_path) != []
