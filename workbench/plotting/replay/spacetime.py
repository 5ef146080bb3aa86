"""The space-time diagram of a replay: ranks downwards, time to the right, messages as lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting.axes import new_figure
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.replay.spacetime_glyphs import (
    add_bars,
    add_image,
    add_key,
    add_messages,
    add_path,
    add_waits,
    ask_for_windows,
    name_ranks,
)
from workbench.plotting.replay.spacetime_lod import MOST_BARS, MOST_MESSAGES, View, visible
from workbench.plotting.replay.style import caption, time_axis, time_text
from workbench.plotting.replay.timeline import (
    KIND_OF,
    KINDS,
    Timeline,
    path_of,
    timeline,
    work_intervals,
)

if TYPE_CHECKING:
    from workbench.simulate.replay_result import ReplayResult
    from workbench.simulate.root_causes import RootCauses

STILL_BARS = 12_000
"""Most operations drawn one by one in a static figure."""

_STILL_PX = 1600  # a static image is not redrawn after a zoom: it has extra pixels
_AROUND_PX = 100  # height of title, legend, axis and caption
_OVERSCAN = 0.25  # of the window, at both sides: a drag by less shows what is there already
_ROW_PX = 26  # bars of 21 px with names of 10
_ASKED = ("x0", "x1", "y0", "y1", "width", "height", "whole", "revision")
_NEAR = 0.02  # twice the margin beyond the ends of all that a zoom can reach

Window = tuple[float, float, float, float]
"""First and last time in ns, lowest and highest place."""


@dataclass(eq=False)
class SpacetimeFigure:
    """The diagram and its sources, which hold what the window shows and a little around it.

    A page with Python behind it writes its window into `asked` after a zoom, a pan or a change of
    size, at most every 80 ms; the receiver calls `look_as_asked`. What it writes is older
    than what Python has drawn since. So it says itself whether it shows all, and each time that
    Python makes it show all has a number, `revision`: a window from before that is no zoom.

    Attributes:
        figure: the figure.
        bars: a row for each operation that is drawn as a bar.
        image: what is too narrow or too much for bars, a value for each pixel.
        messages: a row for each message that is drawn.
        path: corners of the critical path.
        lives: for each rank the time until its end.
        waits: the longest waits, with what each waits for and why.
        labels: names of calls on bars and waits.
        asked: one row: ``x0``, ``x1`` in ns, ``y0``, ``y1``, ``width``, ``height`` in pixels,
            ``whole``: 1 where the window shows all, and the ``revision`` that the page had; empty
            as long as no page has written it.
        moved: one row, ``revision``: how often Python has made the page show all.
        timeline: the replay, sorted for drawing.
        pixels: width and height of the window.
        most_bars: how many operations are drawn one by one.
        most_messages: how many messages are drawn.
        critical: whether the critical path is drawn.
        window: first and last time in ns, lowest and highest place that the page shows; None
            while it shows all.
        view: what is drawn now.
        answered: the row of `asked` that was drawn last.
        drawn_of: replay, window and size in pixels of what is drawn now.
    """

    figure: figure
    bars: ColumnDataSource
    image: ColumnDataSource
    messages: ColumnDataSource
    path: ColumnDataSource
    lives: ColumnDataSource
    waits: ColumnDataSource
    labels: ColumnDataSource
    asked: ColumnDataSource
    moved: ColumnDataSource
    timeline: Timeline
    pixels: tuple[int, int]
    most_bars: int
    most_messages: int
    critical: bool
    window: Window | None = None
    view: View | None = None
    answered: tuple[float, ...] | None = None
    drawn_of: tuple[Timeline, Window | None, tuple[int, int]] | None = None

    def show(
        self,
        result: ReplayResult,
        *,
        ranks: Iterable[int] | None = None,
        causes: RootCauses | None = None,
    ) -> None:
        """Draw another replay; a page that has zoomed in stays where it is, if half of it exists.

        Args:
            result: with times.
            ranks: which ranks to show, from the top down; None for all.
            causes: the root causes of its waiting; None computes them.

        Raises:
            ParameterError: the replay kept no times, or there is no such rank.
        """
        before = self.timeline
        self.timeline = timeline(result, ranks, critical=self.critical, causes=causes)
        stays = (
            self.window is not None
            and np.array_equal(before.ranks, self.timeline.ranks)
            and self.timeline.makespan_ns >= 0.5 * (self.window[0] + self.window[1])
        )
        self.window = self.window if stays else None
        _set_ranges(self.figure, whole_window(self.timeline))
        if self.window is None:
            self._show_all()
        else:
            low, high, top, bottom = self.window
            self.figure.x_range.update(start=low, end=high)
            self.figure.y_range.update(start=bottom, end=top)
        _name(self.figure, result, self.timeline)
        self._draw()

    def show_window(
        self, x_range: tuple[float, float], y_range: tuple[float, float], pixels: tuple[int, int]
    ) -> None:
        """Draw what a window shows, and a quarter of its width on either side.

        Args:
            x_range: first and last time, ns.
            y_range: lowest and highest place; the k-th rank from the top, from 0, reaches from
                k - 0.5 to k + 0.5.
            pixels: width and height of the window.
        """
        window = (min(x_range), max(x_range), min(y_range), max(y_range))
        whole = whole_window(self.timeline)
        near = np.allclose(window, whole, rtol=0, atol=1e-6 * whole[1])
        self.window = None if near else window
        self.pixels = max(int(pixels[0]), 50), max(int(pixels[1]), 20)
        self._draw()

    def look_as_asked(self) -> bool:
        """Draw the window that the page has written; return False where it has written no other.

        The page's message may arrive twice. A window from before Python last
        made the page show all tells its size only.
        """
        row = tuple(float(self.asked.data[name][0]) for name in _ASKED if self._has(name))
        if len(row) < len(_ASKED) or row == self.answered:
            return False
        self.answered = row
        x0, x1, y0, y1, width, height, shows_all, revision = row
        whole = whole_window(self.timeline)
        first, last, top, bottom = self.window or whole
        if revision == self.moved.data["revision"][0]:
            first, last, top, bottom = whole if shows_all else (x0, x1, y0, y1)
            # All of an older replay: what is drawn now ends elsewhere.
            if shows_all and not np.allclose((x0, x1), whole[:2], rtol=0, atol=_NEAR * whole[1]):
                self._show_all()
        self.show_window((first, last), (top, bottom), (int(width), int(height)))
        return True

    def _show_all(self) -> None:
        """Make the page show all, wherever it has zoomed to meanwhile."""
        start, end, top, bottom = whole_window(self.timeline)
        self.figure.x_range.update(start=start, end=end)
        self.figure.y_range.update(start=bottom, end=top)
        # Last: a page that has this number has the ranges, too.
        self.moved.data = {"revision": [self.moved.data["revision"][0] + 1]}

    def _has(self, name: str) -> bool:
        return len(self.asked.data.get(name, ())) > 0

    def _draw(self) -> None:
        # After each replay the page tells its window, which mostly is the one that is drawn.
        drawn, wanted = self.drawn_of, (self.timeline, self.window, self.pixels)
        if drawn is not None and drawn[0] is wanted[0] and drawn[1:] == wanted[1:]:
            return
        self.drawn_of = wanted
        whole = whole_window(self.timeline)
        low, high, top, bottom = self.window or whole
        around = 0.0 if self.window is None else _OVERSCAN * (high - low)
        left, right = max(low - around, whole[0]), min(high + around, whole[1])
        view = visible(
            self.timeline,
            (left, max(right, left + 1e-3)),
            (top, bottom),
            (round(self.pixels[0] * max(right - left, 1e-3) / (high - low)), self.pixels[1]),
            most_bars=self.most_bars,
            most_messages=self.most_messages,
        )
        self.view = view
        part = f", part of {time_text(whole[1])}; double click shows all"
        self.figure.xaxis[0].axis_label = "time" + ("" if self.window is None else part)
        self.lives.data = view.lives
        self.image.data = view.image
        self.waits.data = view.waits
        self.bars.data = view.bars
        self.labels.data = view.labels
        self.messages.data = view.messages
        self.path.data = view.path


def plot_spacetime(
    result: ReplayResult,
    *,
    ranks: Iterable[int] | None = None,
    start_ns: float | None = None,
    end_ns: float | None = None,
    messages: bool = True,
    critical: bool = True,
    width: int | None = None,
    height: int | None = None,
) -> figure:
    """Return the space-time diagram of a replay, for a notebook or a file.

    Up to 12,000 operations are drawn one by one. Where the window holds more, the widest are, and
    the rest is an image: choose `ranks`, or a time, to tell them apart.

    Args:
        result: with times: ``replay(program, model, times=True)``.
        ranks: which ranks to show, from the top down; None for all.
        start_ns: first time shown, ns; None for 0.
        end_ns: last time shown, ns; None for the end.
        messages: draw the messages, the longest 2000 of them.
        critical: draw the critical path.
        width: pixels; None for the width of the page.
        height: pixels; None for what the ranks need.

    Raises:
        ParameterError: the replay kept no times, there is no such rank, or no time is shown.
    """
    drawn = spacetime_figure(
        result,
        ranks=ranks,
        messages=messages,
        critical=critical,
        width=width,
        height=height,
        most_bars=STILL_BARS,
    )
    whole = whole_window(drawn.timeline)
    first = whole[0] if start_ns is None else start_ns
    last = whole[1] if end_ns is None else end_ns
    if not last > first:
        raise ParameterError(
            f"end_ns must lie after start_ns; got {first:g} to {last:g} ns", key="end_ns"
        )
    if (first, last) != whole[:2]:
        drawn.figure.x_range.update(start=first, end=last)
        drawn.show_window((first, last), whole[2:], (_STILL_PX, drawn.pixels[1]))
    return drawn.figure


def spacetime_figure(
    result: ReplayResult,
    *,
    ranks: Iterable[int] | None = None,
    messages: bool = True,
    critical: bool = True,
    width: int | None = None,
    height: int | None = None,
    most_bars: int = MOST_BARS,
    causes: RootCauses | None = None,
) -> SpacetimeFigure:
    """Return the live form of `plot_spacetime`, which draws each window anew.

    Args:
        result: with times.
        ranks: which ranks to show, from the top down; None for all.
        messages: draw the messages.
        critical: draw the critical path.
        width: pixels; None for the width of the page.
        height: pixels; None for what the ranks need.
        most_bars: how many operations are drawn one by one.
        causes: the root causes of its waiting; None computes them.

    Raises:
        ParameterError: the replay kept no times, or there is no such rank.
    """
    sorted_once = timeline(result, ranks, critical=critical, causes=causes)
    tall = height or _AROUND_PX + min(max(_ROW_PX * len(sorted_once.ranks), 130), 480)
    fig = new_figure(
        title="",
        y_label="rank",
        height=tall,
        x_type="linear",
        y_type="linear",
        file_name="spacetime",
        x_range=Range1d(min_interval=0.01),
        y_range=Range1d(min_interval=1),
    )
    if width is not None:
        fig.update(width=width, sizing_mode="fixed")
    lives, waits, labels, image, bars, lines, path, asked = (ColumnDataSource() for _ in range(8))
    moved = ColumnDataSource(data={"revision": [0]})
    drawn = SpacetimeFigure(
        figure=fig,
        bars=bars,
        image=image,
        messages=lines,
        path=path,
        lives=lives,
        waits=waits,
        labels=labels,
        asked=asked,
        moved=moved,
        timeline=sorted_once,
        pixels=(width or _STILL_PX, tall - _AROUND_PX),
        most_bars=most_bars,
        most_messages=MOST_MESSAGES if messages else 0,
        critical=critical,
    )
    _set_ranges(fig, whole_window(sorted_once))
    time_axis(fig.xaxis[0])
    drawn._show_all()
    drawn._draw()
    add_image(fig, lives, image)
    add_waits(fig, waits, labels, sorted_once.call_names)
    add_bars(fig, bars, "line" if result.graph.line is not None else "op")
    add_messages(fig, lines, shown=messages)
    add_path(fig, path, shown=critical)
    add_key(fig, messages=messages, critical=critical)
    ask_for_windows(fig, asked, moved)
    _name(fig, result, sorted_once)
    return drawn


def describe_spacetime(result: ReplayResult, view: View | None = None) -> str:
    """Return sentences on the last rank to end, the critical path, and what the figure omits.

    Args:
        result: with times.
        view: what is drawn, to say what it leaves out; None says nothing of it.

    Raises:
        ParameterError: the replay kept no times.
    """
    begin, end = work_intervals(result)
    graph, finish = result.graph, np.asarray(result.finish_ps)
    last = int(np.argmax(finish))
    whole = int(finish[last])
    if whole <= 0:
        return "No rank takes any time."
    path = path_of(result)
    work = np.zeros(len(KINDS))
    spent = np.minimum(path.end - path.begin, (end - begin)[path.op])
    np.add.at(work, KIND_OF[graph.kind[path.op]], spent)
    share = [plain_percent(100 * part / max(whole, 1)) for part in (work[0], work[1] + work[2])]
    ranks = len(np.unique(graph.rank_of(path.op)))
    head = f"Rank {last} ends last, at" if (finish < whole).any() else "All ranks end at"
    text = (
        f"{head} {time_text(whole / 1000)}. The critical path has "
        f"{_count(len(np.unique(path.op)), 'operation')} on {_count(ranks, 'rank')}: {share[0]} of "
        f"its time is compute, {share[1]} overhead of messages, the rest latency and waiting."
    )
    if view is None:
        return text
    shown = len(view.messages["x0"])
    if view.merged:
        text += (
            f" {view.operations - len(view.bars['left']):,} of {view.operations:,} operations in "
            "the window are drawn as an image: zoom in to tell them apart."
        )
    if shown < view.messages_in_view:
        text += f" The longest {shown:,} of {view.messages_in_view:,} messages are drawn."
    return text


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def whole_window(shown: Timeline) -> Window:
    """Return the window that shows all of a replay: from 0 to its end, from the first rank on."""
    return 0.0, max(shown.makespan_ns, 1e-3), -0.5, len(shown.ranks) - 0.5


def _set_ranges(fig: figure, whole: Window) -> None:
    """Let a figure's reset tool show all of a replay."""
    start, end, top, bottom = whole
    margin = 0.01 * (end - start)
    fig.x_range.update(reset_start=start, reset_end=end, bounds=(start - margin, end + margin))
    fig.y_range.update(reset_start=bottom, reset_end=top, bounds=(top, bottom))


def _name(fig: figure, result: ReplayResult, shown: Timeline) -> None:
    """Write title, ranks and provenance of the replay."""
    count, of = len(shown.ranks), result.graph.num_ranks
    which = f"{count} ranks" if count == of else f"{count} of {of} ranks"
    fig.title.text = f"Space–time diagram: {result.graph.source}, {which}"
    name_ranks(fig, shown.ranks)
    caption(fig, result.provenance)
