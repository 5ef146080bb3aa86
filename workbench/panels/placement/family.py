"""The parameters of one family of topologies as controls, made from its description."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.number_field import NumberField
from workbench.panels.style import named
from workbench.topology import FAMILIES, Topology, TopologyParameter
from workbench.topology.families import BANDWIDTH

_MOST = 1_000_000  # chosen: each family has limits of its own far below
_EVEN = ("fat-tree", "k")
_LETTER_PX, _BOX_PX = 6.4, 68  # of a letter of 13 px; of the box and its margins
_WIDER_PX = {"numbers": 40, "word": 60}  # boxes with lists and with names
_BLANK = "auto"


class FamilyFields:
    """A control for each parameter of a family of ``FAMILIES``."""

    # An optional parameter is a text field: empty means the family's default.

    def __init__(self, family: str, changed: Callable[[], None]) -> None:
        self._family = family
        about = FAMILIES[family]
        self._parameters = {one.name: one for one in about.parameters}
        self._bandwidth = ""  # of a spec; without a control, as latencies do not depend on it
        first = [name for name in about.order if name in self._parameters]
        self._names = list(dict.fromkeys((*first, *self._parameters)))
        signature = inspect.signature(about.generator).parameters
        self._defaults = {name: _default_text(signature[name].default) for name in self._names}
        self.controls: dict[str, Any] = {name: self._control(name) for name in self._names}
        for control in self.controls.values():
            control.observe(lambda _: changed(), "value")

    @property
    def spec(self) -> str:
        """The topology's spec for ``parse_topology``, without default values."""
        parts = []
        for name, control in self.controls.items():
            text = _text(control.value)
            if text and (self._parameters[name].needed or text != self._defaults[name]):
                parts.append(f"{name}={text}")
        if self._bandwidth:
            parts.append(f"{BANDWIDTH.name}={self._bandwidth}")
        return f"{self._family}:{','.join(parts)}"

    def show(self, spec: str, made: Topology) -> None:
        """Show a member of the family by its spec; the controls report changes as usual."""
        given = self._given(spec.partition(":")[2])
        self._bandwidth = given.get(BANDWIDTH.name, "")
        for name, control in self.controls.items():
            about = self._parameters[name]
            text = self._defaults[name]
            if about.needed or name in given:
                text = str(made.parameters.get(name, text))
            if isinstance(control, widgets.Checkbox):
                control.value = text.lower() == "true"
            elif isinstance(control, NumberField):
                control.value = int(text)
            else:
                # As typed: the value that ``none`` stands for may not fit the next size.
                control.value = given.get(name, "") if about.optional else text

    def _given(self, rest: str) -> dict[str, str]:
        """Return the text of each parameter that a spec contains."""
        parts = [part.strip() for part in rest.split(",") if part.strip()]
        bare = [part for part in parts if "=" not in part]
        pairs = [part.partition("=") for part in parts if "=" in part]
        return {
            **dict(zip(FAMILIES[self._family].order, bare, strict=False)),
            **{name.strip(): value.strip() for name, _, value in pairs},
        }

    def _control(self, name: str) -> Any:
        about = self._parameters[name]
        words = f"{name}: {about.meaning}"
        width = int(_LETTER_PX * len(words)) + _BOX_PX + _WIDER_PX.get(about.kind, 0)
        options = named(words, f"{width}px")
        if about.kind == "flag":
            return inputs.Checkbox(value=False, indent=False, **options)
        if about.kind == "word":
            return inputs.Dropdown(options=about.choices, **options)
        if about.kind == "number" and not about.optional:
            step = 2 if (self._family, name) == _EVEN else 1
            start = int(about.start or self._defaults[name])
            # Only what is 0 by itself, a seed, may be 0.
            return NumberField(start, min(start, 1), _MOST, step=step, called=name, **options)
        return inputs.Text(
            value="" if about.optional else about.start,
            placeholder=_placeholder(about, self._defaults[name]),
            continuous_update=False,
            **options,
        )


def _placeholder(about: TopologyParameter, default: str) -> str:
    return default or _BLANK if about.optional else about.start


def _default_text(default: Any) -> str:
    """Return a default as in a spec; "" for none."""
    if default is None or default is inspect.Parameter.empty:
        return ""
    return _text(default)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
