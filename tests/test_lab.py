"""`labkit lab` opens the first lesson, quietly, for whoever has the token and for nobody else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from labkit.workbook.notebooks import check

pytestmark = pytest.mark.browser

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def test_the_first_lesson_opens_and_nothing_else_happens(chromium: Any, tmp_path: Path) -> None:
    """The printed address shows the lesson; no toast, no dialog, nothing sent elsewhere; 403 without the token."""
    shutil.copytree(NOTEBOOKS, tmp_path / "notebooks", ignore=shutil.ignore_patterns(".*"))
    log = tmp_path / "lab.log"
    with log.open("w") as out:
        command = [sys.executable, "-m", "labkit", "lab", "--no-browser"]
        lab = subprocess.Popen(command, cwd=tmp_path, stdout=out, stderr=out, start_new_session=True)
    try:
        page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.set_default_timeout(60_000)
        external: list[str] = []
        errors: list[str] = []
        address = _address(lab, log)
        own = (address.split("/lab")[0], address.split("/lab")[0].replace("http", "ws"), "data:", "blob:")
        page.on("request", lambda r: r.url.startswith(own) or external.append(r.url))
        page.on("console", lambda m: m.type == "error" and errors.append(m.text))
        page.goto(address)
        page.locator(".jp-NotebookPanel h1", has_text="What happens between").wait_for()
        page.locator(".jp-Toolbar-kernelName", has_text="Python 3").first.wait_for()
        assert page.locator(".Toastify__toast").count() == 0
        assert page.locator(".jp-Dialog").count() == 0
        assert (external, errors) == ([], [])
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{own[0]}/api/contents", timeout=10)  # noqa: S310 - our own server
        _save_and_reopen(page, tmp_path / "notebooks" / "00_start.ipynb")
        page.context.close()
    finally:
        os.killpg(lab.pid, signal.SIGTERM)
        lab.wait(20)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".labkit", "lab.log", "notebooks"]


def _save_and_reopen(page: Any, file: Path) -> None:
    """A lesson that was run and saved keeps its twins: it reads well on the next day, without a kernel."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).first.click()
    page.locator(".jp-Notebook .lk-panel:has(.lk-view)").nth(1).wait_for()
    page.locator(".jp-Notebook .lk-asks").nth(1).wait_for()
    before = file.stat().st_mtime_ns
    page.keyboard.press("Control+s")
    for _ in range(100):
        if file.stat().st_mtime_ns != before:
            break
        page.wait_for_timeout(100)
    assert check(file) == []
    assert b"image/svg+xml" not in file.read_bytes()
    assert b"What each gate decided" in file.read_bytes()


def _address(lab: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(300):
        found = re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/\S*token=\w+", log.read_text())
        if found:
            return found[0]
        assert lab.poll() is None, log.read_text()
        try:
            lab.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"no address was printed: {log.read_text()}")
