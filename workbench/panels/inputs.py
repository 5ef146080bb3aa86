"""Controls of ipywidgets that take what the page sends in the thread of the kernel's loop.

A control whose value came in another thread could lose it to a panel that changes the control's
options at that moment. A slider that is moved faster than its panel draws skips values.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.panels.kernel import on_loop


class _OnLoop(widgets.Widget):  # type: ignore[misc]
    """A control of whose messages each is handled in its turn."""

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a state from the page."""
        take = super().set_state
        on_loop(lambda: take(sync_data), replaces=(self.model_id, *sync_data))


class Button(_OnLoop, widgets.Button):  # type: ignore[misc]
    """A button."""

    def click(self) -> None:
        """Run what is to be done at a click."""
        click = super().click
        on_loop(click)


class Accordion(_OnLoop, widgets.Accordion):  # type: ignore[misc]
    """Parts of which one is open."""


class Checkbox(_OnLoop, widgets.Checkbox):  # type: ignore[misc]
    """A choice between yes and no."""


class Combobox(_OnLoop, widgets.Combobox):  # type: ignore[misc]
    """A text with suggestions."""


class Dropdown(_OnLoop, widgets.Dropdown):  # type: ignore[misc]
    """A choice of one option."""


class FloatText(_OnLoop, widgets.FloatText):  # type: ignore[misc]
    """A number."""


class IntSlider(_OnLoop, widgets.IntSlider):  # type: ignore[misc]
    """A position on a scale."""


class Tab(_OnLoop, widgets.Tab):  # type: ignore[misc]
    """Parts of which one is open."""


class Text(_OnLoop, widgets.Text):  # type: ignore[misc]
    """A line of text."""


class Textarea(_OnLoop, widgets.Textarea):  # type: ignore[misc]
    """Lines of text."""


class ToggleButtons(_OnLoop, widgets.ToggleButtons):  # type: ignore[misc]
    """A choice of one option, all in sight."""
