"""The controls of one topology of the comparison: its family, parameters and size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.compare.state import UPLOADED, split_upload
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute
from workbench.panels.topology_options import MACHINE, family_options, machine_options
from workbench.plotting.theme import AS_DRAWN, SMALL
from workbench.plotting.topology.style import line_styles
from workbench.topology import FAMILIES
from workbench.topology.families import BANDWIDTH
from workbench.topology.presets import PRESETS

NONE = ""
_HOSTS = (
    "Hosts of each router, such as hosts=16; hosts=16,at=edge puts them at the routers with the "
    "fewest links, so that spines have none; empty: as in the file, or one at each router"
)


class Slot:
    """The controls of the topology at an index from 0."""

    def __init__(
        self, place: int, spec: str, changed: Callable[[], None], files: Sequence[str] = ()
    ) -> None:
        self._changed = changed
        self._mute = Mute()
        self.files = tuple(files)
        colour = line_styles()[place][0]
        self.family: Any = inputs.Dropdown(
            options=_families(self.files), layout=_wide(), tooltip="Family of the topology"
        )
        self.family.add_class("workbench-slot")
        self.parameters: Any = inputs.Text(continuous_update=False, layout=_wide())
        self.machine: Any = inputs.Dropdown(
            options=machine_options(),
            layout=_wide(),
        )
        self.sizes: Any = inputs.Dropdown(
            options=[("other sizes …", "")], layout=_wide(), tooltip="Sizes near the requested one"
        )
        self.about: Any = widgets.HTML()
        self.error = ErrorLine()
        bar = widgets.HTML(
            f'<div style="height:4px;background:{colour};border-radius:2px;{AS_DRAWN}"></div>',
            layout=widgets.Layout(width="98%"),
        )
        self.widget = widgets.VBox(
            [bar, self.family, self.parameters, self.machine, self.sizes, self.error, self.about],
            layout=widgets.Layout(width="auto", min_width="190px", flex="1 1 190px"),
        )
        self.show(spec)
        self.family.observe(lambda change: self._family_chosen(change["new"]), "value")
        self.parameters.observe(lambda _: self._tell(), "value")
        self.machine.observe(lambda _: self._tell(), "value")
        self.sizes.observe(lambda change: self._size_chosen(change["new"]), "value")

    @property
    def spec(self) -> str:
        """The spec for ``parse_topology``, or the name of a file; "" for none."""
        family = self.family.value
        if family == NONE:
            return NONE
        if family.startswith(f"{UPLOADED}:"):
            hosts = self.parameters.value.strip()
            return f"{family}:{hosts}" if hosts else str(family)
        if family == MACHINE:
            return str(self.machine.value)
        return f"{family}:{self.parameters.value.strip()}"

    def show(self, spec: str) -> None:
        """Show a topology by its spec, an uploaded file's or "", without calling back."""
        family, colon, rest = spec.partition(":")
        with self._mute:
            if not spec or family == UPLOADED:
                self.family.value, self.parameters.value = split_upload(spec)
            elif not colon and family.lower() in PRESETS:
                self.family.value = MACHINE
                self.machine.value = family.lower()
            elif family in FAMILIES:
                self.family.value = family
                self.parameters.value = rest
        self._lay_out()

    def offer_files(self, names: Sequence[str]) -> None:
        """Add uploaded graphs to the list."""
        self.files = tuple(names)
        self._mute.set(self.family, self.family.value, _families(self.files))

    def offer_sizes(self, specs: Sequence[tuple[str, str]]) -> None:
        """Add members of the family with similar sizes, as (text, spec)."""
        self._mute.set(self.sizes, "", [("other sizes …", ""), *specs])
        self._lay_out()

    def say_size(self, text: str) -> None:
        """Show the size of the topology."""
        self.about.value = f'<div style="{SMALL}">{text}</div>'

    def _family_chosen(self, family: str) -> None:
        if self._mute.on:
            return
        example = FAMILIES[family].example if family in FAMILIES else ""
        self._mute.set(self.parameters, example)
        self._lay_out()
        self._tell()

    def _size_chosen(self, spec: str) -> None:
        if spec and not self._mute.on:
            self.show(spec)
            self._tell()

    def _lay_out(self) -> None:
        family = self.family.value
        known = family in FAMILIES
        uploaded = family.startswith(f"{UPLOADED}:")
        _display(self.parameters, known or uploaded)
        _display(self.sizes, known and len(self.sizes.options) > 1)
        _display(self.machine, family == MACHINE)
        if uploaded:
            self.parameters.placeholder = "hosts as in the file"
            self.parameters.tooltip = _HOSTS
        if known:
            about = FAMILIES[family]
            all_of_them = (*about.parameters, BANDWIDTH)
            meanings = "; ".join(f"{one.name}: {one.meaning}" for one in all_of_them)
            self.parameters.placeholder = about.example
            self.parameters.tooltip = f"{about.about}. {meanings}"

    def _tell(self) -> None:
        if not self._mute.on:
            self._changed()


def _wide() -> Any:
    # Each its own: what hides one control must not hide the others.
    return widgets.Layout(width="98%", margin="1px 0")


def _display(control: Any, shown: bool) -> None:
    control.layout.display = "" if shown else "none"


def _families(files: Sequence[str]) -> list[tuple[str, str]]:
    mine = [(f"file: {name}", f"{UPLOADED}:{name}") for name in files]
    return [("– none –", NONE), *family_options(), *mine]
