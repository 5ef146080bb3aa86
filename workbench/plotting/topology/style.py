"""Common style of all figures of a comparison of topologies: colour, dash and marker of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from workbench.plotting import palette

_COLOURS = (palette.BLUE, palette.VERMILLION, palette.GREEN, palette.PURPLE)
"""Of the topologies of a comparison, in their order, in all its figures."""


def line_styles() -> list[tuple[str, str, str]]:
    """Return colour, dash and marker of each topology of a comparison."""
    return list(zip(_COLOURS, palette.DASHES[:4], palette.MARKERS[:4], strict=True))


@dataclass(frozen=True, eq=False)
class TopologyLines:
    """A comparison of topologies, a line each; the legend has an item for each line."""

    figure: figure
    sources: tuple[ColumnDataSource, ...]  # in the order of the colours; empty if unused

    def draw(self, names: Iterable[str], columns: Callable[[str], Mapping[str, Any]]) -> None:
        """Draw the lines and name them; an unused one gets `columns("")` and is hidden."""
        given = iter(names)
        for source, item in zip(self.sources, self.figure.legend[0].items, strict=True):
            name = next(given, "")
            source.data = columns(name)
            item.update(visible=bool(name), label={"value": name or "–"})
