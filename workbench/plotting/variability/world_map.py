"""A machine of Aries routers drawn: whose jobs are where, and which links stall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    GlyphRenderer,
    LinearColorMapper,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure

from workbench.arrays import FloatArray, IntArray
from workbench.checks import whole
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.marks import Marks, hover
from workbench.plotting.topology.map import LOAD_PALETTE
from workbench.plotting.variability.run_steps import run_label
from workbench.topology.aries import COLUMNS, ROWS
from workbench.variability.world.machine import CLASSES

if TYPE_CHECKING:
    from workbench.variability.world.machine import WorldMachine
    from workbench.variability.world.run_scene import RunScene


NAMED_USERS = 4
"""Users with a colour and a mark of their own."""

LEAST_STALL, FULL_STALL = 0.05, 1.0
"""Shares of the time: of the links that are drawn the least, and the end of the scale."""

STALL = "share of the time that a link stalls"

_GAP = 1.4  # between groups, in rows or columns
_TALL = 1.5  # distance of rows over that of columns
_BEND = 0.12  # of a link's curve, as a share of its length
_MOST_LINKS = 150  # more of them hide the machine
_IDLE, _IO = "idle", "I/O routers"
_REST = "other users", _IDLE, _IO
_MARKS: tuple[tuple[str, str, float], ...] = (
    # marker, colour, size relative to a router's
    ("square", palette.BLACK, 1.0),
    ("circle", palette.ORANGE, 1.0),
    ("triangle", palette.SKY_BLUE, 1.1),
    ("diamond", palette.GREEN, 1.25),
    ("inverted_triangle", palette.PURPLE, 1.1),
    ("circle", palette.WAITING, 0.7),
    ("circle", palette.WHITE, 0.5),
    ("x", palette.CAPTION, 0.8),
)


@dataclass(frozen=True, eq=False)
class WorldMap:
    """The drawing of a machine and its marks."""

    figure: figure
    machine: WorldMachine
    links: ColumnDataSource  # those that stall most
    routers: tuple[Marks, ...]  # ours, four users', others', idle ones, I/O
    dots: tuple[GlyphRenderer, ...]  # the points of the routers
    x: FloatArray  # of each router
    y: FloatArray

    def show(
        self,
        scene: RunScene,
        step: int,
        first: Sequence[str] = (),  # users who get a mark of their own before others
    ) -> None:
        """Draw the jobs and stalls of a run at a step."""
        marked = marked_users(scene, first)
        owner, about = _owners(scene, marked)
        unused = [""] * (NAMED_USERS - len(marked))
        labels = [run_label(scene.run), *marked, *unused, *_REST]
        for place, (routers, label) in enumerate(zip(self.routers, labels, strict=True)):
            at = np.flatnonzero(owner == place)
            routers.update(
                {
                    "x": self.x[at],
                    "y": self.y[at],
                    "name": [_router_name(router) for router in at.tolist()],
                    "about": [about[router] for router in at.tolist()],
                }
            )
            gone = bool(scene.without) and label == scene.without
            routers.entry(label + ", left out" * gone if len(at) else "")
            colour = palette.WHITE if gone else _MARKS[place][1]
            self.dots[place].glyph.fill_color = colour
        self.show_step(scene, step)

    def show_step(self, scene: RunScene, step: int) -> None:
        """Draw the links between routers that stall most in a step."""
        machine = self.machine
        value = scene.stall[: machine.between, step]
        most = np.argsort(value)[::-1][:_MOST_LINKS]
        # The most stalled ones last, over the others.
        shown = most[value[most] >= LEAST_STALL][::-1]
        one, other = machine.source[shown], machine.target[shown]
        x0, y0, x1, y1 = self.x[one], self.y[one], self.x[other], self.y[other]
        share = np.minimum(value[shown] / FULL_STALL, 1.0)
        self.links.data = {
            "x0": x0.astype(np.float32),
            "y0": y0.astype(np.float32),
            "x1": x1.astype(np.float32),
            "y1": y1.astype(np.float32),
            "cx": ((x0 + x1) / 2 - _BEND * (y1 - y0)).astype(np.float32),
            "cy": ((y0 + y1) / 2 + _BEND * (x1 - x0)).astype(np.float32),
            "value": value[shown],
            "width": (0.5 + 2.0 * share).astype(np.float32),
            "one": one,
            "other": other,
        }
        left = f" without {scene.without}" if scene.without else ""
        self.figure.title.text = f"The machine in step {step}{left} (synthetic)"


def plot_run_scene(
    scene: RunScene, *, step: int = 0, first: Sequence[str] = (), height: int = 420
) -> figure:
    """Return the machine during a step of a run: whose jobs are where, and which links stall.

    Each box is a group of 16 by 6 routers, each mark a router. Curves are links that stall at least
    5 % of the time, the 150 that stall most.

    Args:
        scene: of ``workbench.variability.run_scene``.
        step: of the run.
        first: users who get a mark of their own before others; the next are those with most nodes.
        height: pixels.

    Raises:
        ParameterError: there is no such step.
    """
    step = whole(step, "step", 0, scene.steps - 1)
    drawn = world_map(scene.machine, height=height)
    drawn.show(scene, step, first)
    return drawn.figure


def describe_run_scene(scene: RunScene, *, step: int = 0) -> str:
    """Return a sentence on how many links stall in a step, and how much.

    Args:
        scene: of ``workbench.variability.run_scene``.
        step: of the run.

    Raises:
        ParameterError: there is no such step.
    """
    step = whole(step, "step", 0, scene.steps - 1)
    value = scene.stall[: scene.machine.between, step]
    at = int(np.argmax(value))
    kind = CLASSES[scene.machine.kind[at]]
    return (
        f"In step {step}, {int((value >= LEAST_STALL).sum())} of {len(value)} links stall at least "
        f"{100 * LEAST_STALL:g} % of the time; the worst, a {kind} link, {100 * value[at]:.0f} %."
    )


def marked_users(scene: RunScene, first: Sequence[str] = ()) -> list[str]:
    """Return the users who get a mark of their own, the given ones, then those with most nodes."""
    held: dict[str, int] = {}
    for user, nodes in zip(scene.users, scene.nodes, strict=True):
        held[user] = held.get(user, 0) + len(nodes)
    order = sorted(held, key=lambda user: -held[user])
    return list(dict.fromkeys([*(user for user in first if user in held), *order]))[:NAMED_USERS]


def world_map(machine: WorldMachine, *, height: int = 420) -> WorldMap:
    """Return a machine's groups without jobs and stalls; the source ``links`` has the stalls."""
    x, y, across, down = _places(machine.groups)
    fig = new_figure(
        title="",
        y_label="",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="machine",
        x_range=Range1d(-1.5, across),
        y_range=Range1d(-down, 3.0),
    )
    _frames(fig, machine, x, y)
    mapper = LinearColorMapper(palette=list(LOAD_PALETTE), low=0, high=FULL_STALL)
    links = ColumnDataSource(
        {name: [] for name in ("x0", "y0", "x1", "y1", "cx", "cy", "value", "width")}
        | {"one": [], "other": []},
        name="links",
    )
    lines = fig.quadratic(
        x0="x0",
        y0="y0",
        x1="x1",
        y1="y1",
        cx="cx",
        cy="cy",
        source=links,
        line_color={"field": "value", "transform": mapper},
        line_width="width",
        line_alpha=0.8,
        line_cap="round",
    )
    size = float(np.clip(420 / across, 2.0, 7.5))
    labels = ("the run", *(f"user {n}" for n in range(NAMED_USERS)), *_REST)
    routers, dots = [], []
    for label, (marker, colour, relative) in zip(labels, _MARKS, strict=True):
        marks = Marks(fig, {"x": [], "y": [], "name": [], "about": []}, x="x")
        edge = palette.CAPTION if label in _REST else colour
        px = size * relative
        dots.append(
            marks.points("y", colour, edge=edge, width=0.6, marker=marker, size=px, legend=label)
        )
        routers.append(marks)
    hover(fig, dots, [("", "@name"), ("", "@about")])
    hover(fig, [lines], [("link", "router @one to @other"), (STALL, "@value{0.000}")])
    legend_above(fig)
    fig.add_layout(_bar(mapper, STALL), "below")
    fig.axis.visible = False
    fig.grid.grid_line_color = None
    fig.toolbar.active_drag = None
    return WorldMap(fig, machine, links, tuple(routers), tuple(dots), x, y)


def _places(groups: int) -> tuple[FloatArray, FloatArray, float, float]:
    """Return the place of each router, and how far the drawing goes across and down."""
    columns = math.ceil(math.sqrt(groups)) if groups > 3 else groups
    router = np.arange(groups * ROWS * COLUMNS)
    group, within = np.divmod(router, ROWS * COLUMNS)
    wide, tall = COLUMNS + _GAP, (ROWS + _GAP) * _TALL
    x = group % columns * wide + within % COLUMNS
    y = -(group // columns * tall + within // COLUMNS * _TALL)
    return x.astype(float), y, columns * wide, math.ceil(groups / columns) * tall


def _frames(fig: figure, machine: WorldMachine, x: FloatArray, y: FloatArray) -> None:
    """Draw the frame and the name of each group."""
    first = np.arange(machine.groups) * ROWS * COLUMNS
    last = first + ROWS * COLUMNS - 1
    fig.quad(
        left=x[first] - 0.8,
        right=x[last] + 0.8,
        top=y[first] + 1.1,
        bottom=y[last] - 1.0,
        fill_color=None,
        line_color=palette.GRID,
    )
    fig.text(
        x=x[first] - 0.6,
        y=y[first] + 1.15,
        text=[f"group {group}" for group in range(machine.groups)],
        text_font_size="10px",
        text_color=palette.CAPTION,
        text_baseline="bottom",
        level="overlay",
    )


def _bar(mapper: LinearColorMapper, title: str) -> ColorBar:
    return ColorBar(
        color_mapper=mapper,
        ticker=BasicTicker(desired_num_ticks=4),
        formatter=NumeralTickFormatter(format="0[.]00"),
        title=title,
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


def _owners(scene: RunScene, marked: Sequence[str]) -> tuple[IntArray, list[str]]:
    """Return the place in ``_MARKS`` of each router, and who has how many of its nodes."""
    machine = scene.machine
    names = [*marked, *sorted({*scene.users} - {*marked})]
    held = np.zeros((1 + len(names), machine.routers), np.int64)
    for name, nodes in (("", scene.run_nodes), *zip(scene.users, scene.nodes, strict=True)):
        routers = machine.topology.host_router[nodes]
        row = 1 + names.index(name) if name else 0
        held[row] += np.bincount(routers, minlength=machine.routers)
    others, idle, io = range(1 + NAMED_USERS, len(_MARKS))
    owner = np.where(machine.io, io, idle)
    owner = np.where(held.any(axis=0), np.minimum(held.argmax(axis=0), others), owner)
    owner[held[0] > 0] = 0
    words = [run_label(scene.run), *names]
    about = [
        ", ".join(f"{words[n]}: {held[n, at]} nodes" for n in np.flatnonzero(held[:, at]))
        or (_IO if machine.io[at] else _IDLE)
        for at in range(machine.routers)
    ]
    return owner, about


def _router_name(router: int) -> str:
    group, within = divmod(router, ROWS * COLUMNS)
    row, column = divmod(within, COLUMNS)
    return f"router {router}: group {group}, row {row}, column {column}"
