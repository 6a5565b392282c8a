"""Panels in JupyterLab: controls alter a scenario, the engine runs it, the views show the run."""

from labkit.workbook.ui.ask import check, predict
from labkit.workbook.ui.grid import Grid, spends
from labkit.workbook.ui.panel import Panel, panel

__all__ = ["Grid", "Panel", "check", "panel", "predict", "spends"]
