"""Opening the workbook: JupyterLab on this machine, quiet, with settings of its own.

1. It listens on 127.0.0.1 and asks for a token.
2. It fetches nothing: no news, no check for updates, no list of extensions.
3. What the reader changes in it (a theme, a key) is kept in `.labkit/`; their own JupyterLab is untouched.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["CannotOpen", "find_checkout", "open_lab"]

FIRST = Path("notebooks", "00_start.ipynb")
PORT = 8888

QUIET = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
"""Settings written once, where there are none yet: by plugin, as in the settings editor."""

OPTIONS = (
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.log_level=WARN",  # the address is still shown
    "--LabApp.log_level=WARN",
    "--KernelManager.transport_encryption=auto",  # else each kernel warns that it has none
    "--ContentsManager.pre_save_hook=labkit.workbook.notebooks.keep_clean",
    "--LabApp.extension_manager=readonly",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
)


class CannotOpen(Exception):
    """Why JupyterLab was not started, and what to do: one line."""


def open_lab(notebook: str | None = None, *, port: int | None = None, browser: bool = True) -> int:
    """Serve the workbook until the reader stops it; returns the exit code.

    Raises:
        CannotOpen: JupyterLab or the notebook is missing, or `port` is taken.
    """
    if find_spec("jupyterlab") is None:
        raise CannotOpen("JupyterLab is not installed: make lab, or pip install -c constraints.txt -e .")
    root, page = _find_notebook(notebook)
    if port is not None and not _is_free(port):
        raise CannotOpen(f"port {port} is taken: give another --port, or leave it out")
    home = (find_checkout() or root) / ".labkit"
    write_settings(home / "settings")
    os.environ |= {
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
    }
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(argv=[*OPTIONS, *_options(root, page, port=port, browser=browser)])
    return 0


def _options(root: Path, page: Path, *, port: int | None, browser: bool) -> list[str]:
    options = [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{page.relative_to(root).as_posix()}",
        f"--ServerApp.port={port or PORT}",
        f"--ServerApp.port_retries={0 if port else 50}",
        f"--ServerApp.open_browser={browser}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # JupyterLab refuses root otherwise; there is none on Windows
        options.append("--ServerApp.allow_root=True")
    return options


def find_checkout() -> Path | None:
    """The folder with the lessons: from here upward, else where the package was installed from."""
    here = Path.cwd()
    places = (here, *here.parents, Path(__file__).resolve().parents[2])
    return next((place for place in places if (place / FIRST).is_file()), None)


def _find_notebook(asked: str | None) -> tuple[Path, Path]:
    """The folder to serve and the notebook in it."""
    checkout = find_checkout()
    if asked is not None and Path(asked).is_file():
        page = Path(asked).resolve()
        inside = checkout is not None and page.is_relative_to(checkout)
        return (checkout if checkout is not None and inside else page.parent), page
    if checkout is None:
        raise CannotOpen(f"{FIRST.as_posix()} is not here: go to the folder that was cloned, and run this there")
    if asked is None:
        return checkout, checkout / FIRST
    found = sorted(page for page in (checkout / "notebooks").glob("*.ipynb") if page.name.startswith(asked))
    if len(found) != 1:
        raise CannotOpen(f"{asked}: no such notebook, and {len(found) or 'no'} lessons begin with it")
    return checkout, found[0]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        if sys.platform != "win32":  # a port just left is free; on Windows the option would take one in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def write_settings(folder: Path) -> None:
    for plugin, values in QUIET.items():
        file = folder / f"{plugin}.jupyterlab-settings"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
