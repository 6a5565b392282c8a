"""`labkit doctor`: is this installation able to run the workbook?

1. Each check is one function that returns a fact, or raises `Wrong` with a problem and one fix.
2. Every check runs, whatever the ones before it found.
3. The last two start a real kernel and speak to it as a browser would.
"""

from __future__ import annotations

import queue
import sys
import time
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CHECKS", "Wrong", "examine"]

PATIENCE_S = 30.0
"""Seconds a kernel may take to start or to answer: a cold disk is slow, a dead kernel is for ever."""

INSTALL = "make clean and make lab, or pip install --force-reinstall -c constraints.txt -e ."


class Wrong(Exception):
    """A check found a problem; `fix` is the one thing to do about it."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


def examine() -> int:
    """Print a line for every check; returns 0 if all is well, else 1."""
    sound = True
    for name, check in CHECKS:
        try:
            line = f"ok   {name}: {check()}"
        except Wrong as problem:
            sound, line = False, f"FIX  {name}: {problem}: {problem.fix}"
        except Exception as fault:  # noqa: BLE001 - a broken installation may raise anything; the rest is still checked
            sound, line = False, f"FIX  {name}: {type(fault).__name__}: {fault}: {INSTALL}"
        print(" ".join(line.split("\n")), flush=True)
    return 0 if sound else 1


def python() -> str:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 11):  # noqa: UP036 - pip holds to it, a copied folder does not
        raise Wrong(found, "make clean, then make lab PYTHON=python3.11")
    return found


def package(name: str) -> str:
    """It can be imported, and is not older than the version the workbook was tested with."""
    try:
        found = version(name)
        import_module(name)
    except (PackageNotFoundError, ImportError) as fault:
        raise Wrong(f"cannot be imported ({fault})", INSTALL) from None
    tested = _tested_versions().get(name, found)
    if _numbers(found) < _numbers(tested):
        raise Wrong(f"{found} is older than {tested}", INSTALL)
    return found if found == tested else f"{found} (tested with {tested})"


def widget_front_end() -> str:
    """The part of ipywidgets that runs in the browser is installed and not switched off."""
    from jupyter_core.paths import jupyter_path
    from jupyterlab_server.config import get_page_config

    name = "@jupyter-widgets/jupyterlab-manager"
    folders = jupyter_path("labextensions")
    if not any(Path(folder, name, "package.json").is_file() for folder in folders):
        raise Wrong(f"{name} is not installed", "pip install --force-reinstall jupyterlab_widgets")
    if name in get_page_config(folders).get("disabledExtensions", ()):
        raise Wrong(f"{name} is disabled", f"jupyter labextension enable {name}")
    return f"{name} is installed"


def kernel() -> str:
    """The kernel named python3 starts, computes, and is this very Python."""
    with _kernel() as client:
        if _value(client, "1 + 1") != "2":
            raise Wrong("the kernel does not compute 1 + 1", INSTALL)
        prefix = _value(client, "__import__('sys').prefix")
    if prefix != repr(sys.prefix):
        raise Wrong(f"python3 is another Python, in {prefix}", f"{sys.executable} -m ipykernel install --sys-prefix")
    return "python3 starts and computes"


def widget_round_trip() -> str:
    """A slider announces itself, takes a value from outside, and its observer runs."""
    with _kernel() as client:
        asked = client.execute(
            "import ipywidgets\nseen = []\nslider = ipywidgets.IntSlider()\n"
            "slider.observe(lambda change: seen.append(change.new), 'value')"
        )
        opened = _wait(client, asked, lambda message: _is_slider(message["content"]), "comm_open")
        update = {"method": "update", "state": {"value": 7}, "buffer_paths": []}
        content = {"comm_id": opened["content"]["comm_id"], "data": update}
        client.shell_channel.send(client.session.msg("comm_msg", content))
        if _value(client, "seen") != "[7]":
            raise Wrong("the slider's observer did not run", "pip install --force-reinstall ipywidgets comm")
    return "a slider's value reaches its observer"


PACKAGES = ("jupyterlab", "ipywidgets", "anywidget", "ipykernel", "pydantic", "jiter", "pandas")

CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("Python", python),
    *((name, partial(package, name)) for name in PACKAGES),
    ("widget front end", widget_front_end),
    ("kernel", kernel),
    ("widget round trip", widget_round_trip),
)


def _tested_versions() -> dict[str, str]:
    """What constraints.txt pins, by name; empty where the package was installed without its folder."""
    file = Path(__file__).resolve().parents[2] / "constraints.txt"
    lines = file.read_text(encoding="utf-8").split() if file.is_file() else []
    return {name: pin for name, _, pin in (line.partition("==") for line in lines)}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int("".join(takewhile(str.isdigit, part)) or 0) for part in text.split("."))


@contextmanager
def _kernel() -> Iterator[Any]:
    """A client of a fresh kernel, which ends with the block."""
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import start_new_kernel

    fix = f"{sys.executable} -m ipykernel install --sys-prefix"
    try:
        manager, client = start_new_kernel(PATIENCE_S, "python3", stderr=DEVNULL)
    except NoSuchKernel:
        raise Wrong("no kernel is named python3", fix) from None
    except RuntimeError as fault:
        raise Wrong(f"the kernel does not start ({fault})", fix) from None
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.context.destroy()


def _value(client: Any, expression: str) -> str:
    """The repr of an expression in the kernel."""
    reply = client.execute("", user_expressions={"it": expression}, reply=True, timeout=PATIENCE_S)
    told = reply["content"]["user_expressions"]["it"]
    return str(told["data"]["text/plain"] if told["status"] == "ok" else told["evalue"])


def _is_slider(content: dict[str, Any]) -> bool:
    state = content["data"].get("state", {})
    return bool(content["target_name"] == "jupyter.widget" and state.get("_model_name") == "IntSliderModel")


def _wait(client: Any, asked: str, wanted: Callable[[dict[str, Any]], bool], kind: str) -> dict[str, Any]:
    """The first broadcast of this kind, caused by the request `asked`, that is wanted."""
    until = time.monotonic() + PATIENCE_S
    while (left := until - time.monotonic()) > 0:
        try:
            message: dict[str, Any] = client.get_iopub_msg(timeout=left)
        except queue.Empty:
            break
        if message["parent_header"].get("msg_id") != asked:
            continue
        if message["msg_type"] == "error":
            raise Wrong(message["content"]["evalue"], INSTALL)
        if message["msg_type"] == kind and wanted(message):
            return message
    raise Wrong(f"the kernel sent no {kind}", "pip install --force-reinstall ipywidgets comm")
