"""A JupyterLab server and a Chromium for the tests of the page a person sees."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.workbook.lab import write_settings

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
STATUS = "sessionContext?.session?.kernel?.status"
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """The browser. Where there is none the test is skipped, unless LABKIT_REQUIRE_BROWSER says it must run."""
    if CHROMIUM is None:
        if os.environ.get("LABKIT_REQUIRE_BROWSER"):
            pytest.fail("LABKIT_REQUIRE_BROWSER is set and there is no chromium on the path")
        pytest.skip("no chromium on the path: the page tests were not run")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not installed where no browser is wanted

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server over a copy of the lessons, quiet as `labkit lab` is; yields its address and the copy."""
    home = tmp_path_factory.mktemp("lab")
    copy = Path(shutil.copytree(NOTEBOOKS, home / "notebooks", ignore=shutil.ignore_patterns(".*")))
    write_settings(home / "settings")
    places = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
              "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
              "IPYTHONDIR": "ipython"}  # fmt: skip
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
               "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
               f"--ServerApp.root_dir={copy}", "--LabApp.expose_app_in_browser=True",
               "--LabApp.extension_manager=readonly"]  # fmt: skip
    log = home / "lab.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], stdout=out, stderr=out, start_new_session=True,
            env=os.environ | {name: str(home / place) for name, place in places.items()},
        )  # fmt: skip
    base = f"http://127.0.0.1:{port}"
    try:
        _wait_for(base, server, log)
        yield base, copy
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


def _wait_for(base: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"{base}/api/status", timeout=1)  # noqa: S310 - ours
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"JupyterLab did not come up: {log.read_text()}")


@pytest.fixture
def open_lesson(lab: tuple[str, Path], chromium: Any) -> Iterator[Callable[..., object]]:
    """Opens a lesson in JupyterLab, runs every cell and returns the page, which records what it must not do."""
    base, _ = lab
    pages = []

    def go(name: str) -> object:
        page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
        pages.append(page)
        page.set_default_timeout(60_000)
        page.external, page.console_errors = [], []
        page.on(
            "request",
            lambda r: r.url.startswith((base, "data:", "blob:", "ws://127.0.0.1")) or page.external.append(r.url),
        )
        page.on("console", lambda m: m.type == "error" and page.console_errors.append(m.text))
        page.goto(f"{base}/lab/tree/{name}?reset")
        page.wait_for_function("window.jupyterapp !== undefined")
        page.evaluate("() => window.jupyterapp.restored")
        page.locator(".jp-NotebookPanel").wait_for()
        page.wait_for_function(f"() => window.jupyterapp.shell.currentWidget?.{STATUS} === 'idle'")
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        return page

    yield go
    for page in pages:
        page.context.close()
