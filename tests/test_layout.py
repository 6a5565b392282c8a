"""The layout holds: who imports whom, how long files are, what `import labkit` costs."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "labkit"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

ENGINE = ("calls", "outcomes", "arguments", "ledger", "gates", "dispatch", "loop")
BELOW = ("calls", "outcomes")
USED = ("", *ENGINE)  # the engine, and the public names in labkit/__init__.py

# Module or package, without "labkit." -> what it may import of ours, with everything under that name.
# The longest name that fits a module decides. A package may always import from itself.
ALLOWED: dict[str, tuple[str, ...]] = {
    "calls": (),
    "outcomes": (),
    "arguments": BELOW,
    "ledger": BELOW,
    "gates": (*BELOW, "arguments", "ledger"),
    "dispatch": (*BELOW, "arguments", "ledger", "gates"),
    "loop": (*BELOW, "arguments", "ledger", "gates", "dispatch"),
    "laws": (*BELOW, "arguments", "ledger", "gates"),
    "pairing": (*BELOW, "ledger", "loop"),
    "conditions": (*BELOW, "gates"),
    "journal": USED,
    "worlds": (*BELOW, "arguments"),
    "workbook": (),
    "workbook.words": (),
    "workbook.texts": (*BELOW, "workbook.words"),
    "workbook.readers": (*USED, "workbook.texts", "workbook.words"),
    "workbook.broken": (*USED, "workbook.readers"),
    "workbook.coverage": USED,
    "workbook.fields": (*USED, "worlds"),
    "workbook.leaky": (*USED, "worlds", "workbook.fields"),
    "workbook.faults": USED,
    "workbook.mappings": USED,
    "workbook.parts": (),
    "workbook.scenarios": (
        *USED,
        "laws",
        "conditions",
        "worlds",
        "workbook.broken",
        "workbook.leaky",
        "workbook.faults",
        "workbook.mappings",
        "workbook.parts",
    ),
    "workbook.timelines": (*USED, "workbook.pictures", "workbook.texts", "workbook.words"),
    "workbook.interleave": (*USED, "workbook.pictures"),
    "workbook.races": (*USED, "laws", "worlds", "workbook.interleave"),
    "workbook.cases": (*USED, "workbook.scenarios"),
    "workbook.questions": (*USED, "workbook.scenarios"),
    "workbook.pictures": (*USED, "workbook.words"),
    "workbook.candidates": (*USED, "workbook.scenarios"),
    "workbook.evidence": (*USED, "worlds"),
    "workbook.acceptance": (*USED, "worlds", "workbook.evidence", "workbook.questions", "workbook.scenarios"),
    "workbook.sections": (
        *USED,
        "pairing",
        "worlds",
        "workbook.broken",
        "workbook.candidates",
        "workbook.coverage",
        "workbook.acceptance",
        "workbook.evidence",
        "workbook.fields",
        "workbook.readers",
        "workbook.hunt",
        "workbook.texts",
        "workbook.views",
        "workbook.words",
    ),
    "workbook.hunt": (
        *USED,
        "bridges",
        "workbook.scenarios",
        "workbook.texts",
        "workbook.pages",
        "workbook.views",
    ),
    "workbook.views": (
        *USED,
        "laws",
        "workbook.leaky",
        "workbook.scenarios",
        "workbook.pictures",
        "workbook.sections",
        "workbook.texts",
        "workbook.words",
    ),
    "workbook.pages": (
        "workbook.pictures",
        "workbook.sections",
        "workbook.texts",
        "workbook.views",
        "workbook.words",
    ),
    "workbook.ui": (
        *USED,
        "worlds",
        "workbook.broken",
        "workbook.leaky",
        "workbook.scenarios",
        "workbook.sections",
        "workbook.texts",
        "workbook.questions",
        "workbook.views",
        "workbook.pages",
        "workbook.words",
    ),
    "workbook.lab": (),
    "workbook.doctor": (),
    "workbook.notebooks": ("workbook.lab",),
    "checks": (*USED, "laws", "worlds", "workbook.scenarios", "workbook.cases"),
    "classroom": ("checks",),
    "bridges": USED,
    "cli": ("", "workbook", "checks", "classroom"),
    "__main__": ("cli",),
    "": (*ENGINE, "laws", "pairing"),  # labkit/__init__.py
}


def imports_of(module: str, path: Path) -> set[str]:
    """Names of ours that a module imports, at its top or inside a function; without "labkit."."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            # `from labkit import ledger` imports a module, `from labkit.ledger import Ledger` a name in one
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names]
        else:
            continue
        found |= {name.removeprefix("labkit").removeprefix(".") for name in names if name.split(".")[0] == "labkit"}
    return found


def within(module: str, name: str) -> bool:
    return module == name or module.startswith(f"{name}.") or (name == "" and module == "")


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_place_allows(module: str) -> None:
    """The direction of imports is the table above, read from the syntax tree."""
    own = module.removeprefix("labkit").removeprefix(".")
    place = max((name for name in ALLOWED if within(own, name)), key=len, default=None)
    assert place is not None, f"{module} has no place in the table"
    allowed = (*ALLOWED[place], *([place] if place else []))
    assert {name for name in imports_of(module, MODULES[module]) if not any(within(name, a) for a in allowed)} == set()


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    """An import counts in each spelling, also relative and inside a function."""
    file = tmp_path / "x.py"
    file.write_text(
        "import labkit.loop\nfrom labkit import ledger\ndef f():\n  from .calls import Call\n  import json\n"
    )
    if {"labkit.ledger", "labkit.calls"} <= MODULES.keys():
        assert imports_of("labkit.x", file) == {"loop", "ledger", "calls"}


@pytest.mark.parametrize("path", [*MODULES.values(), *sorted((ROOT / "tests").rglob("*.py"))], ids=lambda p: p.name)
def test_a_file_is_under_300_lines(path: Path) -> None:
    """A file can be read in one sitting."""
    assert len(path.read_text(encoding="utf-8").splitlines()) < 300


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank line, comment or docstring."""
    source = path.read_text(encoding="utf-8")
    strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    words = {n for s in strings if isinstance(s, ast.Constant) for n in range(s.lineno, s.end_lineno + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {n for t in tokens if t.type not in NO_CODE for n in range(t.start[0], t.end[0] + 1)}
    return len(code - words)


NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def test_the_engine_is_under_1050_lines_of_code() -> None:
    """All seven modules of the engine are there, and short: words that explain it are not counted."""
    assert sum(code_lines(PACKAGE / f"{name}.py") for name in ENGINE) < 1050


def test_lines_of_code_are_counted(tmp_path: Path) -> None:
    """A docstring, a comment and a blank line are no code; every line of a call over lines is."""
    file = tmp_path / "x.py"
    file.write_text('"""Says what."""\n\n# why\nx = max(\n    1,\n    2,\n)\n')
    assert code_lines(file) == 4


def test_importing_labkit_loads_nothing_heavy() -> None:
    """An application that only guards calls pays for no notebook, no data frame and no event loop."""
    heavy = ("asyncio", "pandas", "numpy", "ipywidgets")
    code = f"import sys, labkit; print([name for name in {heavy!r} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
