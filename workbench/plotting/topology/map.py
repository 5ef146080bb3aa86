"""A topology drawn: its routers, and its links by class or by load."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    CustomJSHover,
    HoverTool,
    Legend,
    LegendItem,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.theme import LEGEND_STYLE
from workbench.plotting.topology.columns import (
    CLASS_COLOURS,
    DrawnLinks,
    bandwidth_text,
    checked_loads,
    drawn_links,
    link_columns,
    router_columns,
    thickness,
)
from workbench.plotting.topology.layout import TopologyLayout, topology_layout

if TYPE_CHECKING:
    from workbench.simulate.fabric import FabricReplay
    from workbench.topology import LinkLoads, Topology

_ROUTER = palette.CAPTION
# The light end of the map would vanish on white.
LOAD_PALETTE = palette.AMOUNTS[len(palette.AMOUNTS) - 212 : len(palette.AMOUNTS) - 14]
"""Of loads, from none to the largest."""


_TIPS = [("link", "@one – @other (@kind{custom})"), ("links", "@count"), ("load", "@load{0.00}")]
_NAMED_WIDTHS = 4  # chosen: with the names of the classes more do not fit in a line


@dataclass(frozen=True, eq=False)
class TopologyMap:
    """The drawing of a topology and its sources."""

    figure: figure
    links: ColumnDataSource  # a row for each that is drawn
    hottest: ColumnDataSource  # links that are marked
    routers: ColumnDataSource  # or nodes that stand for several
    classes: ColumnDataSource  # names of the classes of links, for tooltips
    mapper: LinearColorMapper  # from the load, or the class's index, to a colour
    bar: ColorBar  # of loads
    tip: HoverTool  # of links
    _layouts: list[TopologyLayout] = field(default_factory=list)

    def show(
        self,
        topology: Topology,
        load: ArrayLike | None = None,  # float64[links]; None colours by class
        *,
        full: float | None = None,  # end of the scale; None: the largest load
        title: str | None = None,  # None: the topology's name
        places: tuple[TopologyLayout, DrawnLinks] | None = None,  # if known
    ) -> None:
        """Draw another topology, or other loads."""
        if places is None:
            layout = topology_layout(topology)
            places = layout, drawn_links(topology, layout)
        layout, drawn = places
        values = checked_loads(topology, load)
        largest = 0.0 if values is None else float(values.max(initial=0.0))
        high = full or largest or 1.0
        links, hottest = link_columns(layout, drawn, values)
        if values is None:
            self.mapper.update(palette=list(CLASS_COLOURS), low=0.5, high=0.5 + len(CLASS_COLOURS))
        else:
            self.mapper.update(palette=list(LOAD_PALETTE), low=0.0, high=_just(high))
        self.links.data, self.hottest.data = links, hottest
        if layout not in self._layouts:
            # Names are long; where only loads have changed they need not travel again.
            self._layouts[:] = [layout]
            self.classes.data = {"name": list(topology.classes)}
            self.routers.data = router_columns(topology, layout)
            self.tip.tooltips = _TIPS + _bandwidth_tip(topology)
        self.bar.visible = values is not None
        self.figure.title.text = topology.name if title is None else title

    def rescale(self, full: float) -> None:
        """Set the load at the end of the colour scale, without drawing again."""
        if self.bar.visible:
            self.mapper.high = _just(full)


def plot_topology(
    topology: Topology,
    *,
    load: ArrayLike | None = None,
    full: float | None = None,
    height: int = 460,
) -> figure:
    """Return a drawing of a topology, with links coloured by class or by load.

    Above some two thousand routers, groups or neighbours share a node, and links between the same
    two nodes are merged. A router without hosts is hollow. Of unequal links the thicker one has
    more bandwidth, as the legend and the tips say.

    Args:
        topology: the network.
        load: float64[links], load of each link; the most loaded are marked. None colours by class.
        full: the load at which the scale ends, such as 1; links above it have a colour of their
            own. None takes the largest load.
        height: pixels.

    Raises:
        ParameterError: the number of loads is not the number of links.
    """
    drawn = topology_map(topology, load, height=height, classes=load is None)
    if load is not None and full is not None:
        drawn.rescale(full)
    return drawn.figure


def plot_fabric_replay(
    result: FabricReplay, *, full: float | None = None, height: int = 460
) -> figure:
    """Return the network of a program's run, its links coloured by their load.

    Args:
        result: of ``workbench.simulate.fabric.replay_on``.
        full: as for `plot_topology`.
        height: pixels.
    """
    fig = plot_topology(result.topology, load=result.link_utilisation, full=full, height=height)
    fig.title.text = (
        f"{result.graph.source} on {result.topology.name}, {result.routing} routing (simulated)"
    )
    return fig


def plot_link_loads(loads: LinkLoads, *, full: float | None = None, height: int = 460) -> figure:
    """Return a network with its links coloured by their expected load.

    Args:
        loads: of ``workbench.topology.link_loads``.
        full: as for `plot_topology`.
        height: pixels.
    """
    return plot_topology(loads.topology, load=loads.link, full=full, height=height)


def topology_map(
    topology: Topology,
    load: ArrayLike | None = None,  # float64[links]; None colours by class
    *,
    height: int = 460,
    classes: bool = False,  # name the classes of links below, once
    bar: bool = True,  # show the colour scale of loads
    rescaled: bool = False,  # often, in a panel: routers are on the layer that stays then
    load_title: str = "load of a link (of its bandwidth)",  # with unit
) -> TopologyMap:
    """Return the live form of `plot_topology`."""
    links, hottest, routers = ColumnDataSource(), ColumnDataSource(), ColumnDataSource()
    named = ColumnDataSource(data={"name": []})
    mapper = LinearColorMapper(
        palette=list(LOAD_PALETTE), low=0, high=1, high_color=palette.VERMILLION
    )
    fig = new_figure(
        title="",
        y_label="",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="topology",
        x_range=Range1d(-1.1, 1.1),
        y_range=Range1d(-1.12, 1.12),
    )
    colours = ColorBar(
        color_mapper=mapper,
        ticker=BasicTicker(desired_num_ticks=4),
        title=load_title,
        orientation="horizontal",
        height=8,
        padding=2,
        title_standoff=2,
        border_line_color=None,
        background_fill_color=None,
        major_label_text_font_size="10px",
        title_text_font_size="11px",
        title_text_font_style="normal",
    )
    of_class = CustomJSHover(args={"classes": named}, code="return classes.data.name[value]")
    tip = HoverTool(formatters={"@kind": of_class})
    drawn = TopologyMap(fig, links, hottest, routers, named, mapper, colours, tip)
    drawn.show(topology, load)
    ends = {"x0": "x0", "y0": "y0", "x1": "x1", "y1": "y1"}
    lines = fig.segment(
        **ends,
        source=links,
        line_color={"field": "value", "transform": mapper},
        line_width="width",
        line_alpha="alpha",
    )
    marked = fig.segment(
        **ends,
        source=hottest,
        line_color={"field": "value", "transform": mapper},
        line_width=4,
    )
    dots = fig.scatter(
        x="x",
        y="y",
        size="size",
        fill_color=_ROUTER,
        fill_alpha="filled",
        line_color=_ROUTER,
        line_width=0.6,
        source=routers,
        level="overlay" if rescaled else "glyph",
    )
    tip.renderers = [lines, marked]
    fig.add_tools(HoverTool(renderers=[dots], tooltips=[("", "@name"), ("", "@about")]), tip)
    if bar:
        fig.add_layout(colours, "below")
    if classes:
        _name_links(fig, topology)
    fig.axis.visible = False
    fig.grid.grid_line_color = None
    fig.toolbar.active_drag = None
    return drawn


def _just(full: float) -> float:
    """Return the end of a scale plus 1e-6 of it, so that rounding puts no full link beyond it."""
    return full * (1 + 1e-6)


def _bandwidth_tip(topology: Topology) -> list[tuple[str, str]]:
    """Return the line of a link's tip on its bandwidth; none where all links are alike."""
    if not topology.unequal:
        return []
    if np.isnan(topology.reference_bandwidth):
        return [("bandwidth", "@capacity{0.[00]} × a host's link")]
    unit = bandwidth_text(topology, 1.0)
    return [("bandwidth", f"@capacity{{0.[00]}} × {unit}")]


def _name_links(fig: figure, topology: Topology) -> None:
    """Name the colours of the classes, and the widths of unequal links, below the drawing."""
    items = []
    for place, name in enumerate(topology.classes[1:]):
        if not np.any(topology.link_class == place + 1):
            continue
        sample = fig.line(x=[np.nan], y=[np.nan], line_color=CLASS_COLOURS[place % 6], line_width=3)
        items.append(LegendItem(label=name, renderers=[sample]))
    kinds = np.unique(topology.capacity)
    if topology.unequal and len(kinds):
        shown = kinds[np.linspace(0, len(kinds) - 1, min(len(kinds), _NAMED_WIDTHS)).astype(int)]
        for capacity, times in zip(shown.tolist(), thickness(shown).tolist(), strict=True):
            sample = fig.line(x=[np.nan], y=[np.nan], line_color=_ROUTER, line_width=1.5 * times)
            label = bandwidth_text(topology, capacity)
            items.append(LegendItem(label=label, renderers=[sample]))
    legend = Legend(
        items=items,
        orientation="horizontal",
        border_line_color=None,
        label_text_font_size="11px",
        padding=2,
        margin=0,
        stylesheets=[LEGEND_STYLE],
    )
    fig.add_layout(legend, "below")
