"""Panels in JupyterLab: controls alter a scenario, the engine runs it, the views show the run."""

from labkit.workbook.ui.ask import check, predict
from labkit.workbook.ui.panel import Panel, panel

__all__ = ["Panel", "check", "panel", "predict"]
