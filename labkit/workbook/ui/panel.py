"""The panel: change an input and there is a new scenario, a new run and a new view. Nothing on it can be stale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from labkit.workbook.pages import failed, lower, page, upper
from labkit.workbook.scenarios import BadScenario, Played, Scenario, make_scenario, play
from labkit.workbook.sections import SECTIONS
from labkit.workbook.ui.frame import Frame
from labkit.workbook.ui.groups import GROUPS
from labkit.workbook.views import View, visible
from labkit.workbook.words import SAY

__all__ = ["Panel", "panel"]


class Panel(Frame):
    """A live panel over scenarios."""

    def __init__(self, presets: Sequence[Scenario], show: tuple[str, ...], also: tuple[str, ...] = ()) -> None:
        self._presets, self._show, self._also = tuple(presets), show, also
        self._values: dict[str, Any] = {}
        self._played: Played | None = None
        self._wrong = ""
        titles = [(scenario.title, place) for place, scenario in enumerate(self._presets)]
        self.preset = widgets.Dropdown(options=titles, description=SAY["preset"], layout={"width": "auto"})
        self.reset = widgets.Button(description=SAY["as it is"], disabled=True, layout={"width": "auto"})
        self.reset.on_click(self._guarded(lambda _: self._load(self.preset.value)))
        self.inputs = widgets.VBox(layout={"overflow": "auto", "max_height": "560px"})
        self.upper, self.lower = widgets.HTML(), widgets.HTML()
        self.scrubber = widgets.IntSlider(
            0, 0, 0, description=SAY["event"], layout={"width": "auto", "max_width": "460px"}
        )
        self.preset.observe(self._guarded(lambda event: self._load(event["new"])), names="value")
        self.scrubber.observe(self._guarded(lambda event: self._draw()), names="value")
        left = widgets.VBox([self.preset, self.reset, self.inputs], layout={"flex": "1 1 280px", "max_width": "330px"})
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
        self._values = values = scenario.model_dump(mode="json")

        def apply(change: Callable[[dict[str, Any]], None]) -> None:
            if values is self._values:  # a change of a control that is gone comes too late
                self._set(change)

        self.inputs.children = [widget for group in self._show for widget in GROUPS[group](scenario, apply)]
        self._run()

    def _set(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply a control's change and run again."""

        def alter(values: dict[str, Any]) -> None:
            change(values)
            self._run()

        self._guarded(alter)(self._values)

    def _run(self) -> None:
        self._played = None
        changed = self._values != self._presets[self.preset.value].model_dump(mode="json")
        self.reset.disabled, self.reset.description = not changed, SAY["reset" if changed else "as it is"]
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
            view = View(self._played, self.scrubber.value, self._also)
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
        view = View(self._played, also=self._also)
        return view.text(), page(view)


def panel(*presets: Scenario, show: Sequence[str] = ("calls", "limits"), also: Sequence[str] = ()) -> Panel:
    """A panel that starts from the first of some scenarios.

    Args:
        presets: scenarios to choose from, by their titles.
        show: which controls, of `groups.GROUPS`: calls, raw, limits, every limit, principal, offer, ...
        also: which sections beside the rest, of `sections.SECTIONS`: reading, memory, reads, ...

    Raises:
        ValueError: no scenario, or controls or sections that do not exist.
    """
    if not presets:
        raise ValueError("a panel needs a scenario to start from")
    for kind, names, known in (("controls", show, GROUPS), ("sections", also, SECTIONS)):
        for name in names:
            if name not in known:
                raise ValueError(f"there are no {kind} {name!r}: choose from {', '.join(known)}")
    return Panel(presets, tuple(show), tuple(also))
