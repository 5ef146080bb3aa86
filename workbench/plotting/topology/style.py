"""Common style of all figures of a comparison of topologies: colour, dash and marker of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.marks import MarkColumns, Marks, Tips, hover

_COLOURS = (palette.BLUE, palette.VERMILLION, palette.GREEN, palette.PURPLE)
"""Of the topologies of a comparison, in their order, in all its figures."""


def line_styles() -> list[tuple[str, str, str]]:
    """Return colour, dash and marker of each topology of a comparison."""
    return list(zip(_COLOURS, palette.DASHES[:4], palette.MARKERS[:4], strict=True))


def topology_lines(
    fig: figure,
    empty: MarkColumns,
    x: str,
    y: str,
    *,
    width: float,  # of a line, px
    size: float,  # of a point, px
    tips: Tips,
) -> tuple[Marks, ...]:
    """Draw an empty line with points for each topology of a comparison."""
    lines, points = [], []
    for colour, dash, marker in line_styles():
        line = Marks(fig, empty, x=x)
        line.line(y, colour, dash=dash, width=width, legend=marker)
        points.append(line.points(y, colour, edge="white", marker=marker, size=size, legend=marker))
        lines.append(line)
    hover(fig, points, tips)
    return tuple(lines)


@dataclass(frozen=True, eq=False)
class TopologyLines:
    """A comparison of topologies, a line each; the legend has an item for each line."""

    figure: figure
    lines: tuple[Marks, ...]  # in the order of the colours; empty if unused

    def draw(self, names: Iterable[str], columns: Callable[[str], MarkColumns]) -> None:
        """Draw the lines and name them; an unused one gets `columns("")` and is hidden."""
        given = iter(names)
        for line in self.lines:
            name = next(given, "")
            line.update(columns(name))
            line.entry(name)
