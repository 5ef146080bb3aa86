"""Panels and figures as plain data, recorded in a notebook's kernel and drawn without one.

A panel is its figures and sentences from the top down, without controls. One of its settings is
moved over some values, and what changes is recorded: properties of the figures' models, and texts.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
from bokeh.core.serialization import Serializer
from bokeh.embed import json_item
from bokeh.models import LayoutDOM

from workbench.errors import ParameterError
from workbench.panels.live_view import LiveView
from workbench.panels.panel import Panel
from workbench.panels.visible import visible_widgets
from workbench.site.moves import Move, move_of

FIGURE = "application/vnd.workbench.figure+json"
PANEL = "application/vnd.workbench.panel+json"

_SPOKEN = ('role="status"', 'role="note"')
_WAIT_S = 600.0  # chosen: half of what execute allows the cell; a panel takes seconds

_Key = tuple[str, str]
"""Id of a model and name of its property; both empty for a text."""


def figure_still(figure: LayoutDOM) -> dict[str, Any]:
    """Return a figure as BokehJS reads it."""
    return dict(json_item(figure))


def panel_still(panel: Panel[Any]) -> dict[str, Any]:
    """Return a panel's figures and sentences, and what its setting changes in them."""
    panel.wait(_WAIT_S)
    python = str(getattr(panel, "python", ""))
    move = move_of(panel)
    if move is None:
        return {"python": python, "parts": [part.still() for part in parts_of(panel)]}
    held = getattr(panel, move.setting)
    move.prepare(panel)
    panel.wait(_WAIT_S)
    played = _changes(panel, move) or _frames(panel, move)
    _set(panel, move, held)
    return {"python": python, **played}


def _play(panel: Panel[Any], move: Move) -> Iterator[int]:
    """Set the setting to one value after the other, and yield the position of each accepted one."""
    for at, value in enumerate(move.values):
        with contextlib.suppress(ParameterError):  # a program or a machine may not have this value
            _set(panel, move, value)
            yield at


def _set(panel: Panel[Any], move: Move, value: Any) -> None:
    setattr(panel, move.setting, value)
    move.follow(panel)
    panel.wait(_WAIT_S)


def _about(move: Move, accepted: list[int]) -> dict[str, Any]:
    """Return what a page says about a move, of which these values were accepted."""
    labels, start = move.labels(), 0
    if move.first in accepted:
        start = accepted.index(move.first)
    return {"name": move.name, "labels": [labels[at] for at in accepted], "start": start}


@dataclass(frozen=True)
class StillPart:
    """A figure of a panel, or a text below or above it."""

    view: LiveView | None
    html: str

    def still(self) -> dict[str, Any]:
        """Return the part as plain data."""
        if self.view is None:
            return {"html": self.html}
        return {"figure": figure_still(self.view.figure)}


def parts_of(panel: Panel[Any]) -> list[StillPart]:
    """Return the visible figures and sentences of a panel, without its controls and its tabs."""
    parts: list[StillPart] = []
    for widget in _outside_of_controls(panel.widget):
        if isinstance(widget, LiveView):
            if widget.titles():
                parts.append(StillPart(widget, ""))
        elif isinstance(widget, widgets.HTML) and widget.value:
            # What stands above the first figure is a label of a control unless it is spoken.
            below = any(part.view is not None for part in parts)
            if below or any(role in widget.value for role in _SPOKEN):
                parts.append(StillPart(None, widget.value))
    return parts


def _outside_of_controls(widget: Any) -> list[Any]:
    """Return the visible widgets, without those in tabs, in lists, and beside buttons."""
    inside: set[int] = set()
    shown = list(visible_widgets(widget))
    for one in shown:
        row = isinstance(one, widgets.HBox) and any(
            isinstance(each, widgets.Button) for each in one.children
        )
        if row or isinstance(one, (widgets.Tab, widgets.Accordion, widgets.GridBox)):
            inside |= {id(each) for each in visible_widgets(one)}
    return [one for one in shown if id(one) not in inside]


def _frames(panel: Panel[Any], move: Move) -> dict[str, Any]:
    """Return the whole panel at each value of its setting."""
    accepted, frames = [], []
    for at in _play(panel, move):
        accepted.append(at)
        frames.append([part.still() for part in parts_of(panel)])
    about = _about(move, accepted)
    return {"move": about, "parts": frames[about["start"]], "frames": frames}


def _changes(panel: Panel[Any], move: Move) -> dict[str, Any] | None:
    """Return what the setting changes in a panel; None where models of its figures come and go."""
    seen = [_Seen(part) for part in parts_of(panel)]
    accepted: list[int] = []
    parts: list[dict[str, Any]] = []
    for at in _play(panel, move):
        now = parts_of(panel)
        if len(now) != len(seen) or not all(map(_Seen.take, seen, now)):
            return None
        accepted.append(at)
        if not parts or at == move.first:
            parts = [part.still() for part in now]
    changes = [{"part": n, **change} for n, one in enumerate(seen) for change in one.changes()]
    return {"move": _about(move, accepted), "parts": parts, "changes": changes}


class _Seen:
    """A part of a panel while its setting moves: what it was, and what changed when."""

    def __init__(self, part: StillPart) -> None:
        self._view = part.view
        self._start: dict[_Key, Any] = {("", ""): part.html}
        self._changed: set[_Key] = {("", "")}
        self._taken: list[dict[_Key, Any]] = []
        if part.view is not None:
            self._models = {str(model.id): model for model in part.view.figure.references()}
            self._start = self._values({id: set() for id in self._models})
            self._changed = set()
            part.view.figure.document.on_change(self._note)

    def take(self, part: StillPart) -> bool:
        """Record the part as it is now, and return whether it consists of the same models."""
        if part.view is not self._view:
            return False
        if part.view is None:
            self._taken.append({("", ""): part.html})
            return True
        names: dict[str, set[str]] = {}
        for id, name in self._changed & self._start.keys():
            names.setdefault(id, set()).add(name)
        self._taken.append(self._values(names))
        # A model that is new would have to be made in the page.
        return {str(model.id) for model in part.view.figure.references()} == self._models.keys()

    def changes(self) -> list[dict[str, Any]]:
        """Return for each thing that changes its different values, and which it has when."""
        found = []
        for key in sorted(self._changed & self._start.keys()):
            values = [frame.get(key, self._start[key]) for frame in self._taken]
            texts = [json.dumps(value) for value in values]
            different = list(dict.fromkeys(texts))
            if len(different) > 1:
                about = {"model": key[0], "property": key[1]} if key[0] else {}
                at = [different.index(text) for text in texts]
                found.append({**about, "values": [json.loads(t) for t in different], "at": at})
        return found

    def _note(self, event: Any) -> None:
        model, name = getattr(event, "model", None), getattr(event, "attr", None)
        if model is not None and name is not None:
            self._changed.add((str(model.id), str(name)))

    def _values(self, names: dict[str, set[str]]) -> dict[_Key, Any]:
        """Return properties as a patch writes them, of some models by id; no names means all."""
        known, found = set(self._models.values()), {}
        for id, wanted in names.items():
            values = self._models[id].query_properties_with_values(
                lambda one, wanted=wanted: one.serialized and (not wanted or one.name in wanted)
            )
            for name, value in values.items():
                written = Serializer(references=known, deferred=False).encode(value)
                found[id, name] = written
        return found
