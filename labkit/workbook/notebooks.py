"""Lessons as files: run again in a fresh kernel, written clean, and checked.

1. A stored output is what a reader without a kernel sees, and what strict nbval compares.
2. A live widget view is never stored. A panel sends its twin (HTML and text) in the same bundle, and
   that is kept; a bare widget has nothing to keep, so its cell carries the tag `nbval-ignore-output`.
3. The same lesson run twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

from labkit.workbook.lab import find_checkout

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check", "execute", "keep_clean", "main"]

LONGEST_CELL = 10
"""Lines of a code cell: what can be read together with its result on a small screen."""
TIMEOUT_S = 60
"""Seconds for one cell."""

VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}

_ABSOLUTE = re.compile(
    r"(?<![\w.:/])/(?:home|Users|root|tmp|var|usr|opt|mnt|srv|work|private)/[\w.-]"
    r"|(?<!\w)[A-Za-z]:\\+(?:Users|Windows|Program)"
)


def check(path: Path) -> list[str]:
    """Every way in which a notebook is not clean, each with its cell; empty if it is.

    Cells are counted from 0 over all cells, as in the file. Raises OSError, and ValueError for
    a file that is not JSON.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    faults = []
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        faults.append("the kernel is not python3")
    if "widgets" in notebook["metadata"]:
        faults.append("widget state is stored")
    if extra := sorted(notebook["metadata"].keys() - METADATA.keys() - {"widgets"}):
        faults.append(f"metadata nobody needs: {', '.join(extra)}")
    ids = [cell.get("id") for cell in notebook["cells"]]
    if None in ids or len(set(ids)) < len(ids):
        faults.append("cell ids are missing or occur twice")
    count = 0
    for place, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and source.strip():
            count += 1
            faults += [f"cell {place}: {fault}" for fault in _code_faults(cell, source, count)]
        if _ABSOLUTE.search(source):
            faults.append(f"cell {place}: an absolute path in the source")
    return faults


def _code_faults(cell: dict[str, Any], source: str, count: int) -> list[str]:
    faults = []
    if cell["execution_count"] != count:
        faults.append(f"execution count {cell['execution_count']}, not {count}")
    if len(source.splitlines()) > LONGEST_CELL:
        faults.append(f"{len(source.splitlines())} lines, more than {LONGEST_CELL}")
    if "execution" in cell["metadata"]:
        faults.append("execution times are stored")
    for output in cell["outputs"]:
        if VIEW in output.get("data", {}):
            faults.append("a live widget view is stored")
        if output["output_type"] == "error" and "raises-exception" not in cell["metadata"].get("tags", ()):
            faults.append(f"ends in {output['ename']}")
        if any(_ABSOLUTE.search(text) for text in _texts(output)):
            faults.append("an absolute path in an output")
    return faults


def _texts(value: Any) -> list[str]:
    """Every text in a JSON value; a list of lines is one text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ["".join(value)]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


def execute(path: Path) -> list[str]:
    """Run a notebook from top to bottom, write it clean, and return what is still wrong with it.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed; the file is left as it was.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":  # a cell that is empty is not run, and keeps nothing
            cell.execution_count, cell.outputs = None, []
    NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,  # else what is printed may be stored in pieces, differently each time
    ).execute(stderr=DEVNULL)
    faults = _clean(notebook)
    nbformat.write(notebook, path)
    return faults + check(path)


def _clean(notebook: Any) -> list[str]:
    """Take out what is only for a live page; name the cells whose widget leaves nothing behind."""
    faults = []
    notebook.metadata = METADATA
    for place, cell in enumerate(notebook.cells):
        for leftover in ("execution", "collapsed", "scrolled", "trusted"):
            cell.metadata.pop(leftover, None)
        if cell.cell_type != "code":
            continue
        kept = []
        for output in cell.outputs:
            live = output.get("data", {}).pop(VIEW, None) is not None
            if live and output.data.keys() <= {"text/plain"}:  # a bare widget: its repr says nothing to a reader
                if "nbval-ignore-output" not in cell.metadata.get("tags", ()):
                    faults.append(f"cell {place}: a widget without a twin, and no tag nbval-ignore-output")
                continue
            kept.append(output)
        cell.outputs = kept
    return faults


def keep_clean(model: dict[str, Any], **_: object) -> None:
    """A pre-save hook for Jupyter: what JupyterLab saves keeps the twins, and nothing that is only for a live page.

    Otherwise a lesson that was saved shows "model not found" in place of its panels on the next day.
    """
    if model["type"] != "notebook":
        return
    model["content"]["metadata"] = METADATA
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            data.pop(VIEW, None)
            if "text/vnd.mermaid" in data:
                data.pop("image/svg+xml", None)


def main(argv: Sequence[str] | None = None) -> int:
    """Re-execute or check lessons; returns 0 if all are clean, 1 if not, 2 if there are none."""
    parser = argparse.ArgumentParser(prog="python -m labkit.workbook.notebooks", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="run nothing: list what is not clean")
    parser.add_argument("notebook", nargs="*", type=Path, help="notebooks; every lesson if left out")
    asked = parser.parse_args(argv)
    checkout = find_checkout()
    paths = asked.notebook or sorted((checkout / "notebooks").glob("*.ipynb") if checkout else ())
    if not paths:
        print("no lessons here", file=sys.stderr)
        return 2
    clean = True
    for path in paths:
        faults = check(path) if asked.check else _execute_and_report(path)
        clean = clean and not faults
        print(f"{path.name}: {'clean' if not faults else f'{len(faults)} to mend'}", flush=True)
        print("".join(f"  {fault}\n" for fault in faults), end="", flush=True)
    return 0 if clean else 1


def _execute_and_report(path: Path) -> list[str]:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    try:
        return execute(path)
    except (CellExecutionError, CellTimeoutError) as fault:
        return [f"not written: {fault}"]


if __name__ == "__main__":
    sys.exit(main())
