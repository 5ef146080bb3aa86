"""The list of machines that panels share: one's own first, then the shipped ones.

A machine that is kept while panels are open (*Use this machine*) appears in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

from workbench import datasets, machines
from workbench.measure import OSUCurve
from workbench.panels import inputs
from workbench.panels.mute import Mute
from workbench.panels.style import named

_open: WeakSet[MachineChoice] = WeakSet()


class MachineChoice(inputs.Dropdown):
    """A list of machines, after entries of the panel's own.

    A machine's file is added to the list as its name is set.
    """

    def __init__(
        self,
        value: str,
        *,
        first: Sequence[tuple[str, str]] = (),  # text and value
        label: str = "Machine",
        width: str = "280px",
    ) -> None:
        self._first, self._files = tuple(first), [value] if is_file(value) else []
        self._uploads: dict[str, str] = {}
        self._muted = Mute()
        super().__init__(options=self._offered(value), value=value, **named(label, width))
        _open.add(self)

    def on_choice(self, handler: Callable[[str], None]) -> None:
        """Call the handler with the machine once another one is chosen."""

        def heard(change: Any) -> None:
            if not self._muted.on:
                handler(change["new"])

        self.observe(heard, "value")

    def offer_file(self, value: object) -> None:
        """Add a machine's file to the list; what is no file's name changes nothing."""
        file = str(value)
        if is_file(file) and file not in self._files:
            machines.load(file)  # the error of a bad file, before it is offered
            self._files = [*self._files, file]
            self.refresh()

    def add(self, name: str, text: str) -> None:
        """Offer a machine that only this panel has, such as an uploaded curve."""
        self._uploads[name] = text
        self.refresh()

    @property
    def names(self) -> list[str]:
        """The machines of the list."""
        return [name for _, name in self.options]

    def refresh(self) -> None:
        """Offer what there is by now."""
        self._muted.set(self, self.value, self._offered(self.value))

    def _offered(self, chosen: str) -> list[tuple[str, str]]:
        found = {name: (text, name) for text, name in self._first}
        found |= {name: (text, name) for name, text in self._uploads.items()}
        found |= {file: (Path(file).name, file) for file in self._files}
        for name in machines.names():
            mine = f"{name} (my machine)" if name in machines.own() else name
            found.setdefault(name, (mine, name))
        # What is chosen stays, even where its file has gone.
        found.setdefault(chosen, (chosen, chosen))
        return [*found.values()]


def is_file(machine: str) -> bool:
    """Return whether a machine is named by its file."""
    return machine.endswith((".json", ".ini"))


def offer_everywhere() -> None:
    """Offer a machine that was kept in every open panel."""
    for choice in list(_open):
        choice.refresh()


def curve_of(machine: str) -> OSUCurve:
    """Return the measured messages of a machine in a list."""
    return machines.load(machine).curve


def curve_expression(machine: str) -> str:
    """Return the Python expression of `curve_of`."""
    if machine in datasets.list() and machine not in machines.own():
        return f'datasets.load("{machine}")'
    return f'machines.load("{machine}").curve'
