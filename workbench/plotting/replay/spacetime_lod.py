"""Content of a window of a timeline: every operation if they are few, else an image of them.

A window's operations are found by bisection. The widest become bars; where that leaves any out,
they are painted into an image of one value for each pixel, so that nothing is lost from sight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import spacetime as kernel
from workbench.plotting.replay.timeline import FILLED, KINDS, Timeline, lane_centre
from workbench.programs.graph import RECV, SEND

LEVELS = 4
"""Shades of a kind in the image, by how much of the pixel is busy."""

MOST_BARS = 6000
"""Bars of a window: 90 B each, 540 KB for the page; finding 8,000 takes 59 ms, 2,200 takes 54."""

MOST_MESSAGES = 2000
"""Messages of a window: 56 B each, 110 KB for the page; from 800 on each is as faint as any."""

_MOST_CORNERS = 4000  # 16 B each, 64 KB for the page; on 1400 px three a column
_MOST_WAITS = 400  # 30 KB for the page; shorter ones can be zoomed to
_WAIT_COLUMNS = (
    *("left", "right", "top", "bottom", "rank", "late", "other", "sends", "call", "number"),
    *("activity", "culprit", "culprit_call", "culprit_number"),
)
_FEWEST_LETTERS = len("Send 1")
_LETTER_PX = 6.5  # width of a letter of 10 px
_SHORTEST_PX = 4.0  # a shorter line is a dot on the bars
_LANE_HEIGHT = 0.94  # of its share, where a rank has several
_ROOMY_PX = 5.0  # a lower rank has no gap to the next: a fifth of it is less than a pixel
_EDGED_PX = 5.0  # white edges of 0.7 px would take more than a quarter of a shorter bar
_CLEAR_MESSAGES = 200  # so many may cross without hiding what is below them

IntArray = NDArray[np.int64]
Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class View:
    """Columns of the figure's sources for one window."""

    bars: Columns  # a row for each operation drawn as a bar
    image: Columns  # one row; none if every operation is a bar
    messages: Columns  # a row for each one drawn
    path: Columns  # corners of the critical path
    lives: Columns  # time until the end of each rank, or band of ranks
    waits: Columns  # the longest waits, with their text
    labels: Columns  # names of calls, where bars and waits have room for them
    operations: int  # number in the window that take time
    messages_in_view: int  # number that pass the window

    @property
    def merged(self) -> bool:
        """Whether some operations are in the image alone."""
        return len(self.image["image"]) > 0


def visible(
    timeline: Timeline,
    x_range: tuple[float, float],  # ns
    y_range: tuple[float, float],  # ``timeline.ranks[k]`` is at k ± 0.5
    pixels: tuple[int, int],  # width, height
    *,
    most_bars: int = MOST_BARS,
    most_messages: int = MOST_MESSAGES,  # 0 draws none
) -> View:
    """Return the columns for a window: the widest operations as bars, the longest messages."""
    width, height = max(int(pixels[0]), 1), max(int(pixels[1]), 1)
    start, stop = round(x_range[0] * 1000), round(x_range[1] * 1000)
    stop = max(stop, start + 1)
    lowest, highest = min(y_range), max(y_range)
    shown = len(timeline.ranks)
    first = min(max(int(np.floor(lowest + 0.5)), 0), shown - 1)
    last = min(max(int(np.ceil(highest + 0.5)), first + 1), shown)
    rows = (last - first) * timeline.lanes
    row_px = height / max(highest - lowest, 1e-9) / timeline.lanes
    low, high = np.empty(rows, np.int64), np.empty(rows, np.int64)
    total = int(
        kernel.window(
            timeline.begin,
            timeline.latest,
            timeline.row_start,
            first * timeline.lanes,
            start,
            stop,
            low,
            high,
        )
    )
    window = _Window(timeline, start, stop, width, first, rows, row_px, low, high)
    if total <= most_bars:
        found, row, image = *window.wider_than(0, total), _no_image()
    else:
        found, row, image = window.merged(most_bars)
    seen = (start, stop, lowest, highest)
    scale = (width / (stop - start), row_px * timeline.lanes)
    messages, in_view = _messages(timeline, seen, scale, most_messages)
    bars = _bar_columns(timeline, found, row + first * timeline.lanes, row_px, scale[0])
    rows_seen = (first * timeline.lanes, last * timeline.lanes)
    waits = _waits(timeline, (start, stop), rows_seen, row_px)
    return View(
        bars=bars,
        image=image,
        messages=messages,
        path=_path(timeline, seen, scale),
        lives=_lives(timeline, first, last, row_px),
        waits=waits,
        labels=_labels(timeline, bars, waits, (start, stop), scale[0])
        if row_px > 2 * _LETTER_PX
        else {"x": [], "y": [], "text": []},
        operations=total,
        messages_in_view=in_view,
    )


@dataclass(frozen=True, eq=False)
class _Window:
    """The bars of some rows between two times."""

    timeline: Timeline
    start: int
    stop: int
    width: int
    first: int
    rows: int
    row_px: float
    low: IntArray
    high: IntArray

    def wider_than(self, least_ps: int, room: int) -> tuple[IntArray, IntArray]:
        """Return the bars of at least `least_ps` in the window, at most `room`, and their rows."""
        t, found, row = self.timeline, np.empty(room, np.int64), np.empty(room, np.int64)
        count = kernel.wide_bars(
            t.begin,
            t.end,
            t.widest,
            self.low,
            self.high,
            self.start,
            self.stop,
            least_ps,
            found,
            row,
        )
        return found[:count], row[:count]

    def merged(self, room: int) -> tuple[IntArray, IntArray, Columns]:
        """Return the widest bars, at most `room`, their rows, and the image of all."""
        t, width = self.timeline, self.width
        together = max(1, int(np.ceil(1 / self.row_px)))
        bands = -(-self.rows // together)
        busy = np.zeros((bands, width, len(KINDS)), np.float32)
        widths = np.zeros(kernel.WIDTHS, np.int64)
        seen = (self.low, self.high)
        times = (self.start, self.stop)
        per_ps = width / (times[1] - times[0])
        kernel.count_widths(t.begin, t.end, t.widest, *seen, *times, per_ps, widths)
        few = np.cumsum(widths[::-1])[::-1] <= room
        # Bars of the last place are one group: if they are too many, all are painted.
        least = max(int(np.argmax(few)), 1) if few.any() else 2 * width
        least_ps = int(np.ceil(least / per_ps))
        kernel.raster(t.begin, t.end, t.kind, *seen, together, *times, least_ps, busy)
        rows = np.full(bands, together, np.float32)
        rows[-1] = self.rows - (bands - 1) * together
        codes = np.empty((bands, width), np.uint8)
        kernel.encode(busy, rows, LEVELS, codes)
        top = self.first - 0.5
        if self.row_px * t.lanes >= _ROOMY_PX and together == 1:
            # Four fifths of a rank's height, as `FILLED` says, with half of the gap on each side.
            lanes = np.repeat(codes, 4, axis=0).reshape(-1, 4 * t.lanes, width)
            codes = np.pad(lanes, ((0, 0), (t.lanes, 0), (0, 0))).reshape(-1, width)
            top -= (1 - FILLED) / 2
        image = {
            "image": [codes],
            "x": [self.start / 1000],
            "y": [top],
            "dw": [(self.stop - self.start) / 1000],
            "dh": [bands * together / t.lanes],
        }
        return *self.wider_than(least_ps, room), image


def _no_image() -> Columns:
    return {"image": [], "x": [], "y": [], "dw": [], "dh": []}


def _bar_columns(
    timeline: Timeline, found: IntArray, row: IntArray, row_px: float, per_ps: float
) -> Columns:
    graph, op = timeline.graph, timeline.op[found]
    place = row // timeline.lanes
    filled = FILLED if row_px * timeline.lanes >= _ROOMY_PX else 1.0
    centre = lane_centre(row, timeline.lanes, filled)
    half = filled / timeline.lanes / 2 * (_LANE_HEIGHT if timeline.lanes > 1 else 1.0)
    rank = timeline.ranks[place]
    mate = timeline.mate[op]
    tag = graph.tag[op]
    line = graph.line[op] if graph.line is not None else op - graph.rank_start[rank]
    begin, end = timeline.begin[found], timeline.end[found]
    names, numbers = graph.call_name, graph.call_number
    return {
        "left": begin / 1000,
        "right": end / 1000,
        "top": centre - half,
        "bottom": centre + half,
        "kind": timeline.kind[found],
        "edge": ((end - begin) * per_ps >= _EDGED_PX).astype(np.float32),
        "op": op,
        "rank": rank.astype(np.int32),
        "call": np.zeros(len(op), np.uint8) if names is None else names[op],
        "number": np.zeros(len(op), np.int32) if numbers is None else numbers[op],
        "line": line.astype(np.int32),
        "size": graph.size[op].astype(np.float64),
        "peer": graph.peer[op],
        "mate": np.where(mate >= 0, graph.rank_of(mate), -1).astype(np.int32),
        "tag": tag,
        "posted": np.where(graph.kind[op] == RECV, timeline.start_ps[op] / 1000, np.nan),
        "released": np.where(timeline.synchronous[op], timeline.end_ps[op] / 1000, np.nan),
    }


def _waits(
    timeline: Timeline, times: tuple[int, int], rows: tuple[int, int], row_px: float
) -> Columns:
    """Return the longest waits in a window: what each waits for, and what caused most of it."""
    causes, graph, place = timeline.causes, timeline.graph, timeline.causes_row
    if causes is None:
        return {name: np.zeros(0) for name in _WAIT_COLUMNS}
    gaps = causes.gaps
    seen = np.minimum(gaps.begin, times[1]) - np.maximum(gaps.start, times[0])
    at = np.flatnonzero((seen > 0) & (place >= rows[0]) & (place < rows[1]))
    at = np.sort(at[np.argsort(-seen[at], kind="stable")[:_MOST_WAITS]])
    filled = FILLED if row_px * timeline.lanes >= _ROOMY_PX else 1.0
    centre, half = lane_centre(place[at], timeline.lanes, filled), filled / timeline.lanes / 2
    other = timeline.mate[gaps.awaited[at]]
    ends, culprit = gaps.ends[at], causes.culprit[at]
    names, numbers = timeline.calls
    return {
        "left": gaps.start[at] / 1000,
        "right": gaps.begin[at] / 1000,
        "top": centre - half,
        "bottom": centre + half,
        "rank": gaps.core[at] // graph.num_cpus,
        "late": gaps.late[at] / 1000,
        "other": np.where(gaps.awaited[at] >= 0, graph.rank_of(other), -1),
        "sends": (graph.kind[other] == SEND).astype(np.uint8),
        "call": names[ends].astype(np.uint8),
        "number": np.where(gaps.op[ends] >= 0, numbers[ends], 0).astype(np.int32),
        "activity": causes.activity[at],
        "culprit": np.where(culprit >= 0, gaps.core[culprit] // graph.num_cpus, -1),
        "culprit_call": names[culprit].astype(np.uint8),
        "culprit_number": numbers[culprit].astype(np.int32),
    }


def _labels(
    timeline: Timeline, bars: Columns, waits: Columns, times: tuple[int, int], scale: float
) -> Columns:
    """Return the names of calls for the messages and waits in a window that have room for them."""
    columns: Columns = {"x": [], "y": [], "text": []}
    for shown in (bars, waits):
        left = np.maximum(shown["left"], times[0] / 1000)
        right = np.minimum(shown["right"], times[1] / 1000)
        roomy = (right - left) * 1000 * scale > _LETTER_PX * _FEWEST_LETTERS
        for k in np.flatnonzero(roomy).tolist():
            name = f"{timeline.call_names[shown['call'][k]]} {shown['number'][k]}"
            fits = (right[k] - left[k]) * 1000 * scale > _LETTER_PX * len(name)
            if fits and shown["number"][k] and ("kind" not in shown or shown["kind"][k]):
                columns["x"].append((left[k] + right[k]) / 2)
                columns["y"].append((shown["top"][k] + shown["bottom"][k]) / 2)
                columns["text"].append(name)
    return columns


def _messages(
    timeline: Timeline,
    seen: tuple[int, int, float, float],
    scale: tuple[float, float],
    most: int,
) -> tuple[Columns, int]:
    """Return the longest messages that pass a window, and the number of all that pass it."""
    t = timeline
    low = int(np.searchsorted(t.reach, seen[0], "right"))
    high = int(np.searchsorted(t.depart, seen[1], "left"))
    long = np.empty(max(high - low, 0) if most else 0, np.float32)
    lengths = np.zeros(kernel.LENGTHS, np.int64)
    kernel.message_lengths(t.depart, t.arrive, t.y_from, t.y_to, low, *seen, *scale, long, lengths)
    few = np.cumsum(lengths[::-1])[::-1] <= most
    least = float(np.argmax(few)) if few.any() else kernel.LENGTHS - 1.0
    found = low + np.flatnonzero(long >= max(least, _SHORTEST_PX))[:most]
    send = t.send[found]
    alpha = min(0.6, max(0.15, 0.6 * _CLEAR_MESSAGES / max(len(found), 1)))
    return {
        "x0": t.depart[found] / 1000,
        "x1": t.arrive[found] / 1000,
        "y0": t.y_from[found],
        "y1": t.y_to[found],
        "size": t.graph.size[send].astype(np.float64),
        "sender": t.graph.rank_of(send),
        "receiver": t.graph.rank_of(t.mate[send]),
        "tag": t.graph.tag[send],
        "alpha": np.full(len(found), alpha, np.float32),
    }, int(lengths.sum())


def _path(
    timeline: Timeline, seen: tuple[int, int, float, float], scale: tuple[float, float]
) -> Columns:
    """Return the corners of the critical path in a window, thinned to one per pixel."""
    ns, y = timeline.path_ns, timeline.path_y
    low = max(int(np.searchsorted(ns, seen[0] / 1000)) - 1, 0)
    high = int(np.searchsorted(ns, seen[1] / 1000, "right")) + 1
    ns, y = ns[low:high], y[low:high]
    turns = np.ones(len(ns), bool)  # a step that follows another on its rank has no corner
    turns[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    ns, y = ns[turns], y[turns]
    if len(ns) > _MOST_CORNERS:
        pixel = np.floor(ns * 1000 * scale[0])
        drawn = np.ones(len(ns), bool)
        drawn[1:-1] = (np.diff(pixel[:-1]) > 0) | (np.diff(y[:-1]) != 0)
        ns, y = ns[drawn], y[drawn]
        every = -(-len(ns) // _MOST_CORNERS)
        ns, y = ns[::every], y[::every]
    return {"x": ns, "y": y}


def _lives(timeline: Timeline, first: int, last: int, row_px: float) -> Columns:
    """Return the end of each rank in a window, or of each band of ranks as high as a pixel."""
    rank_px = row_px * timeline.lanes
    together = max(1, int(np.ceil(1 / rank_px)))
    starts = np.arange(first, last, together)
    half = FILLED / 2 if rank_px >= _ROOMY_PX else 0.5
    return {
        "right": np.maximum.reduceat(timeline.finish_ns[:last], starts),
        "top": starts - half,
        "bottom": np.minimum(starts + together, last) - 1 + half,
    }
