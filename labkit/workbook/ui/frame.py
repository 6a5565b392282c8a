"""What every panel has in common: the style, and keys that stay with the control they are pressed on."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import anywidget
import ipywidgets as widgets

__all__ = ["Frame"]

_HERE = files("labkit.workbook.ui")
STYLE = f"<style>{_HERE.joinpath('panel.css').read_text(encoding='utf-8')}</style>"
"""The one style sheet. It uses JupyterLab's own colours, so that light and dark themes both hold."""


class Keys(anywidget.AnyWidget):
    """Invisible; keeps JupyterLab's shortcuts away from a focused control of the panel it is in."""

    _esm = _HERE.joinpath("keys.js").read_text(encoding="utf-8")


class Frame(widgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A live view whose display carries a twin: the same content as HTML and as text, for readers without a kernel."""

    def __init__(self, children: Sequence[widgets.Widget]) -> None:
        super().__init__([widgets.HTML(STYLE), *children, Keys()])
        self.add_class("lk-panel")

    def twin(self) -> tuple[str, str]:
        """The content as plain text and as static HTML."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        text, html = self.twin()
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/plain": text, "text/html": html}
