"""Places of the ranks: each router with its hosts, the rank at each, and how critical it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import new_figure

_GAP = 0.5  # between groups, in widths of a router
_MOST_NUMBERED = 40  # routers: on 1000 px each is 25 px wide, three digits of 11 px
_MOST_NAMED = 40  # groups: as for routers, 25 px for each number
# A host of 23 px with a number of 11; title, axis and colour bar; half of a window 900 px high.
_ROW_PX, _AROUND_PX, _MOST_PX = 26, 138, 420
_INKS = {"white_text": palette.WHITE, "black_text": palette.BLACK}
_EMPTY = "empty"
_NO_GROUP = "none"


class HasNetwork(Protocol):
    """The attributes of a network that are drawn: ``workbench.topology.Topology``."""

    @property
    def name(self) -> str:
        """Its family and size."""

    @property
    def host_router(self) -> NDArray[Any]:
        """The router of each host, [hosts]."""

    @property
    def group(self) -> NDArray[Any]:
        """The group of each router, [routers]."""


class DrawablePlacement(Protocol):
    """The attributes of a placement that are drawn, as in ``placement.Placement``."""

    @property
    def hosts(self) -> NDArray[Any]:
        """The host of each rank, [ranks]."""

    @property
    def topology(self) -> Any:
        """The network, a `HasNetwork`."""

    @property
    def method(self) -> str:
        """How it was found."""


@dataclass(frozen=True, eq=False)
class PlacementMap:
    """The map of a placement and its source.

    Attributes:
        figure: the figure.
        source: a row for each cell: a rank, or a host of a used router that has none.
        mapper: turns the weight into a colour.
    """

    figure: figure
    source: ColumnDataSource
    mapper: LinearColorMapper

    def show(self, placement: DrawablePlacement, weights: ArrayLike) -> None:
        """Draw another placement.

        Args:
            placement: as in `plot_placement`.
            weights: as in `plot_placement`.

        Raises:
            ParameterError: there is not one weight for each rank.
        """
        columns, groups = map_columns(placement, weights)
        fig, network = self.figure, placement.topology
        self.mapper.update(high=max([1.0, *columns["weight"]]))
        # White or black, whichever reads on the cell.
        colours = self.mapper.palette
        inks = [
            palette.ink_on(str(colours[int(weight / self.mapper.high * (len(colours) - 1))]))
            for weight in columns["weight"]
        ]
        for column, ink in _INKS.items():
            rows = zip(columns["text"], inks, strict=True)
            columns[column] = [text if one == ink else "" for text, one in rows]
        self.source.data = columns
        tall = 1 + max(columns["y"])
        wide = 1 + max(columns["x"])
        fig.height = min(_AROUND_PX + _ROW_PX * int(tall), _MOST_PX)
        fig.x_range.update(start=-0.7, end=wide - 0.3)
        fig.y_range.update(start=tall - 0.4, end=-0.6)
        step = -(-len(groups) // _MOST_NAMED)
        named = dict(list(groups.items())[::step])
        fig.xaxis[0].ticker.ticks = list(named)
        fig.xaxis.major_label_overrides = named
        fig.title.text = f"Ranks placed by {placement.method}: {network.name}"


def plot_placement(placement: DrawablePlacement, weights: ArrayLike) -> figure:
    """Return a map: a column for each router that is used, its hosts down, the rank in each.

    Args:
        placement: a host for each rank, and the network.
        weights: float64[ranks], how many latencies of messages to or from each rank are
            on the critical path.

    Raises:
        ParameterError: there is not one weight for each rank.
    """
    return placement_map(placement, weights).figure


def placement_map(placement: DrawablePlacement, weights: ArrayLike) -> PlacementMap:
    """Return the live form of `plot_placement`.

    Args:
        placement: as in `plot_placement`.
        weights: as in `plot_placement`.

    Raises:
        ParameterError: there is not one weight for each rank.
    """
    source = ColumnDataSource()
    mapper = LinearColorMapper(palette=list(palette.AMOUNTS), low=0, high=1)
    fig = new_figure(
        title="",
        y_label="",
        height=_AROUND_PX,
        x_type="linear",
        y_type="linear",
        file_name="placement",
        x_range=Range1d(),
        y_range=Range1d(),
    )
    fig.xaxis.ticker = FixedTicker()  # once: for a new model Bokeh visits the whole document
    drawn = PlacementMap(fig, source, mapper)
    drawn.show(placement, weights)
    cells = fig.rect(
        x="x",
        y="y",
        width=0.92,
        height=0.88,
        source=source,
        fill_color={"field": "weight", "transform": mapper},
        fill_alpha="alpha",
        line_color=palette.FAINT,
    )
    # One glyph for each ink: with a colour for each row Bokeh 3.9 fails where rows become fewer,
    # since it lays out the texts of before once more with the colours of after.
    for column, ink in _INKS.items():
        fig.text(
            x="x",
            y="y",
            text=column,
            text_color=ink,
            source=source,
            text_align="center",
            text_baseline="middle",
            text_font_size="11px",
        )
    tips = [
        ("", "@rank"),
        ("", "host @host, router @router, group @group"),
        ("on the critical path", "@said"),
    ]
    fig.add_tools(HoverTool(renderers=[cells], tooltips=tips))
    bar = ColorBar(
        color_mapper=mapper,
        ticker=BasicTicker(min_interval=1, desired_num_ticks=4),
        title="latencies on the critical path of messages to or from a rank",
        title_standoff=2,
        major_label_text_font_size="11px",
        title_text_font_size="11px",
        title_text_font_style="normal",
        height=10,
        padding=2,
        border_line_color=None,
        background_fill_color=None,
    )
    # Below: beside a map of one row there is no room for a word.
    fig.add_layout(bar, "below")
    fig.toolbar.active_drag = None
    fig.toolbar_location = None
    fig.xaxis.axis_label = "group"
    fig.yaxis.visible = False
    fig.grid.grid_line_color = None
    fig.xaxis.axis_line_color = None
    fig.xaxis.major_tick_line_color = None
    return drawn


def map_columns(
    placement: DrawablePlacement, weights: ArrayLike
) -> tuple[dict[str, list[Any]], dict[float, str]]:
    """Return the columns of the map, and the name of each group by the middle of its columns."""
    network = placement.topology
    hosts = np.asarray(placement.hosts)
    weight = np.asarray(weights, float)
    if weight.shape != hosts.shape:
        raise ParameterError(
            f"weights must be one for each of {len(hosts)} ranks; got shape {weight.shape}",
            key="weights",
        )
    ranks_at: dict[int, list[int]] = {}
    for rank, host in enumerate(hosts.tolist()):
        ranks_at.setdefault(host, []).append(rank)
    routers = np.unique(network.host_router[hosts])
    columns: dict[str, list[Any]] = {
        name: [] for name in ("x", "y", "text", "rank", "host", "router", "group", "weight", "said")
    }
    columns["alpha"] = []
    numbered = len(routers) <= _MOST_NUMBERED
    middles: dict[str, list[float]] = {}
    x, before = -1.0, None
    for router in routers.tolist():
        group = int(network.group[router])
        name = str(group) if group >= 0 else _NO_GROUP
        x += 1 + (_GAP if before not in (None, group) else 0)
        before = group
        middles.setdefault(name, []).append(x)
        y = 0
        for host in np.flatnonzero(network.host_router == router).tolist():
            for rank in ranks_at.get(host, [-1]):
                value = float(weight[rank]) if rank >= 0 else 0.0
                row = (
                    *(x, float(y), str(rank) if numbered and rank >= 0 else ""),
                    *(f"rank {rank}" if rank >= 0 else _EMPTY, host, router, name),
                    *(value, f"{value:,.0f} latencies", 1.0 if rank >= 0 else 0.0),
                )
                for column, cell in zip(columns.values(), row, strict=True):
                    column.append(cell)
                y += 1
    return columns, {float(np.mean(at)): name for name, at in middles.items()}
