"""The panel: change an input and there is a new scenario, a new run and a new view. Nothing on it can be stale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from labkit.workbook.pages import failed, lower, page, upper
from labkit.workbook.scenarios import BadScenario, Played, Scenario, make_scenario, play
from labkit.workbook.ui.controls import GROUPS, controls
from labkit.workbook.ui.frame import Frame
from labkit.workbook.views import View, visible
from labkit.workbook.words import SAY

__all__ = ["Panel", "panel"]


class Panel(Frame):
    """A live panel over scenarios."""

    def __init__(self, presets: Sequence[Scenario], show: tuple[str, ...]) -> None:
        self._presets, self._show = tuple(presets), show
        self._values: dict[str, Any] = {}
        self._played: Played | None = None
        self._wrong = ""
        titles = [(scenario.title, place) for place, scenario in enumerate(self._presets)]
        self.preset = widgets.Dropdown(options=titles, description=SAY["preset"], layout={"width": "auto"})
        self.inputs = widgets.VBox(layout={"overflow": "auto", "max_height": "560px"})
        self.upper, self.lower = widgets.HTML(), widgets.HTML()
        self.scrubber = widgets.IntSlider(
            0, 0, 0, description=SAY["event"], layout={"width": "auto", "max_width": "460px"}
        )
        self.preset.observe(self._guarded(lambda event: self._load(event["new"])), names="value")
        self.scrubber.observe(self._guarded(lambda event: self._draw()), names="value")
        left = widgets.VBox([self.preset, self.inputs], layout={"flex": "1 1 260px", "max_width": "320px"})
        right = widgets.VBox([self.upper, self.scrubber, self.lower],
                             layout={"flex": "4 1 420px", "min_width": "0"})  # fmt: skip
        left.add_class("lk-controls")
        columns = widgets.HBox([left, right])
        columns.add_class("lk-columns")
        super().__init__([columns])
        self._load(0)

    @property
    def played(self) -> Played | None:
        """The run that is shown; None while the inputs are no scenario."""
        return self._played

    def _load(self, place: int) -> None:
        scenario = self._presets[place]
        self._values = scenario.model_dump(mode="json")
        self.inputs.children = controls(scenario, self._show, self._set)
        self._run()

    def _set(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply a control's change and run again."""

        def apply(values: dict[str, Any]) -> None:
            change(values)
            self._run()

        self._guarded(apply)(self._values)

    def _run(self) -> None:
        self._played = None
        written = [value for turn in self._values["turns"] for call in turn["calls"] for value in call.values()]
        for value in written:
            if isinstance(value, BadScenario):
                raise value
        self._played = play(make_scenario(self._values))
        length = len(self._played.run.ledger)
        with self.hold_sync():
            self.scrubber.max = length
            if self.scrubber.value == length:
                self._draw()
            self.scrubber.value = length

    def _draw(self) -> None:
        if self._played is not None:
            view = View(self._played, self.scrubber.value)
            self.upper.value, self.lower.value = upper(view), lower(view)

    def _fail(self, sentence: str) -> None:
        self._played, self._wrong = None, sentence
        self.upper.value, self.lower.value = failed(sentence), ""

    def _guarded(self, handler: Callable[[Any], None]) -> Callable[[Any], None]:
        """A handler whose failure is shown where its result would be."""

        def run(event: Any) -> None:
            try:
                handler(event)
            except BadScenario as error:
                self._fail(SAY["wrong"].format(error=visible(str(error), 300)))
            except Exception as error:  # noqa: BLE001 - whatever it is, the reader must see it
                self._fail(SAY["broke"].format(error=visible(f"{type(error).__name__}: {error}", 300)))

        return run

    def twin(self) -> tuple[str, str]:
        if self._played is None:
            return self._wrong, failed(self._wrong)
        view = View(self._played)
        return view.text(), page(view)


def panel(*presets: Scenario, show: Sequence[str] = ("calls", "limits")) -> Panel:
    """A panel that starts from the first of some scenarios.

    Args:
        presets: scenarios to choose from, by their titles.
        show: which controls, of `controls.GROUPS`: principal, offer, calls, limits, gate NAME.

    Raises:
        ValueError: no scenario, or a group of controls that does not exist.
    """
    unknown = [group for group in show if group not in GROUPS]
    if not presets or unknown:
        raise ValueError(
            f"there are no controls {unknown[0]!r}" if unknown else "a panel needs a scenario to start from"
        )
    return Panel(presets, tuple(show))
