"""The figures of the replay panel: space-time diagram, breakdowns side by side, communication."""

from __future__ import annotations

import html
from dataclasses import replace

import ipywidgets as widgets
from bokeh.layouts import row

from workbench.html_table import html_table
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.loggps_choice import short_model
from workbench.panels.replay.state import ShownReplay, describe_comparison
from workbench.panels.style import TEXT
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.replay.breakdown import (
    BreakdownFigure,
    breakdown_figure,
    describe_breakdown,
)
from workbench.plotting.replay.communication import (
    CommunicationFigure,
    communication_figure,
    describe_communication,
)
from workbench.plotting.replay.message_sizes import (
    MessageSizesFigure,
    describe_message_sizes,
    message_sizes_figure,
)
from workbench.plotting.replay.spacetime import SpacetimeFigure, spacetime_figure
from workbench.plotting.replay.style import caption, time_text
from workbench.plotting.theme import SMALL
from workbench.programs import ExecutionGraph
from workbench.provenance import Provenance
from workbench.simulate.replay_result import ReplayResult
from workbench.simulate.root_causes import RootCauses, root_causes_frame, root_causes_table
from workbench.simulate.waiting import CAUSE_TEXTS, CAUSES, waiting_causes

_CELL = "padding:0 14px 0 0;font-size:12px"
_ROW_PX = 24  # of a rank: chosen, its bars can be pointed at
_COMMUNICATION_PX = 330  # chosen: the matrix about square with its axes and colours
# Of the diagram: chosen, 5 ranks at least; 13 ranks fit, the controls above it in a screen of 900.
_LEAST_PX, _MOST_PX, _AROUND_PX = 230, 430, 105


class ReplayView:
    """The figures of a replay and a pinned one; ``height`` in px, None fits the ranks."""

    def __init__(self, shown: ShownReplay, *, height: int | None = None) -> None:
        self._height = height
        self.spacetime: SpacetimeFigure = spacetime_figure(
            shown.result, height=self._height_for(shown), causes=shown.causes
        )
        self.view = LiveView(self.spacetime.figure, layout=widgets.Layout(width="100%"))
        self.view.on_window(self.spacetime.asked, self._window_asked)
        self.breakdown: BreakdownFigure = breakdown_figure(shown.result, height=230)
        self.pinned: BreakdownFigure = breakdown_figure(shown.result, height=230)
        self.pinned.figure.visible = False
        self.pinned.source.name = "pinned"
        self.breakdown_view = LiveView(
            row(self.pinned.figure, self.breakdown.figure, sizing_mode="stretch_width"),
            layout=widgets.Layout(width="100%"),
        )
        self.downloads = Downloads(self.spacetime.figure)
        self.breakdown_downloads = Downloads(self.breakdown_view.figure)
        self.headline, self.description = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [self.headline, self.view, self.breakdown_view, self.description],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )
        self._drawn = shown.result

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return self.view, self.breakdown_view

    def show(self, shown: ShownReplay, pinned: ShownReplay | None) -> None:
        """Draw another replay, and the pinned one to compare it with."""
        with self.view.one_patch():
            if shown.result is not self._drawn:
                self.spacetime.figure.height = self._height_for(shown)
                self.spacetime.show(shown.result, causes=shown.causes)
        self._drawn = shown.result
        both = [("A", pinned, self.pinned)] if pinned is not None else []
        both.append(("B", shown, self.breakdown))
        top_ns = max(one.result.makespan_ns for _, one, _ in both)
        with self.breakdown_view.one_patch():
            self.pinned.figure.visible = pinned is not None
            for letter, one, drawn in both:
                drawn.show(one.result, top_ns=top_ns)
                # The parameters stand below the diagram; here is room for half of them.
                caption(drawn.figure, _short(one.result.provenance))
                if pinned is not None:
                    drawn.figure.title.text = f"{letter}: {time_text(one.result.makespan_ns)}"
        self.headline.value = _headline(shown, pinned)
        self.description.value = _describe(shown.result, shown.causes)

    def _window_asked(self) -> None:
        with self.view.one_patch():
            self.spacetime.look_as_asked()

    def _height_for(self, shown: ShownReplay) -> int:
        ranks = shown.result.graph.num_ranks
        tall = min(max(_ROW_PX * ranks + _AROUND_PX, _LEAST_PX), _MOST_PX)
        return self._height or tall


class CommunicationView:
    """Bytes between ranks and message sizes; redrawn only for another program."""

    def __init__(self) -> None:
        self.description = widgets.HTML()
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self.widget = widgets.VBox([self._place, self.description])
        self._figures: tuple[CommunicationFigure, MessageSizesFigure] | None = None
        self._drawn: ExecutionGraph | None = None

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return tuple(self._place.children)

    def show(self, graph: ExecutionGraph) -> None:
        """Draw a program's messages unless they are drawn already."""
        if graph is self._drawn:
            return
        self._drawn = graph
        if self._figures is None:
            matrix = communication_figure(graph, height=_COMMUNICATION_PX)
            sizes = message_sizes_figure(graph, height=_COMMUNICATION_PX)
            self._figures = matrix, sizes
            both = row(matrix.figure, sizes.figure, sizing_mode="stretch_width")
            self._place.children = [LiveView(both, layout=widgets.Layout(width="100%"))]
        else:
            with self.views[0].one_patch():
                for one in self._figures:
                    one.show(graph)
        text = "<br>".join(
            html.escape(sentence)
            for sentence in (describe_communication(graph), describe_message_sizes(graph))
        )
        self.description.value = f'<div role="status" style="{TEXT}">{text}</div>'


def _describe(result: ReplayResult, causes: RootCauses | None) -> str:
    """Return the sentences on the time breakdown, the causes of waiting and the recording."""
    blocks = [f'<div role="status">{html.escape(describe_breakdown(result))}</div>']
    if causes is not None:
        blocks += [_waiting_table(result, causes), _causes_table(result, causes)]
    recorded = result.graph.recorded
    if recorded is not None:
        sentences = recorded.sentences(result.makespan_s)
        blocks += [f"<div>{html.escape(sentence)}</div>" for sentence in sentences]
    return f'<div style="{TEXT}">{"".join(blocks)}</div>'


def _waiting_table(result: ReplayResult, causes: RootCauses) -> str:
    """Return an HTML table of causes of waiting: all ranks, and the one waiting longest."""
    table = waiting_causes(result, causes.gaps)
    if not table["waiting_ns"].sum():
        return ""
    longest = table.iloc[int(table["waiting_ns"].to_numpy().argmax())]
    columns = (("all ranks", table.sum()), (f"rank {longest['rank']:.0f}", longest))
    rows = []
    for cause in CAUSES:
        if not table[f"{cause}_ns"].sum():
            continue
        cells = (
            f"{time_text(float(values[f'{cause}_ns']))} "
            f"({plain_percent(100 * float(values[f'{cause}_ns'] / values['waiting_ns']))})"
            for _, values in columns
        )
        rows.append((CAUSE_TEXTS[cause], *cells))
    head = ("waiting", *(name for name, _ in columns))
    return html_table(rows, head, cell_style=_CELL)


def _causes_table(result: ReplayResult, causes: RootCauses) -> str:
    """Return an HTML table of whose work before which calls made ranks wait."""
    table = root_causes_frame(result, causes)
    if table.empty:
        return ""
    head = ("what made ranks wait", "all ranks", "")
    return html_table(root_causes_table(table), head, cell_style=_CELL)


def _short(provenance: Provenance) -> Provenance:
    return replace(provenance, title=provenance.title.partition(", LogGPS(")[0])


def _headline(shown: ShownReplay, pinned: ShownReplay | None) -> str:
    result = shown.result
    about = (
        f"<b>{time_text(result.makespan_ns)}</b> until the last of {result.graph.num_ranks} ranks "
        f"ends; {result.graph.num_ops:,} operations, replayed in "
        f"{time_text(result.seconds * 1e9)}."
    )
    lines = [f'<div role="status" style="{TEXT}">{about}']
    if pinned is not None:
        lines.append(f"<br><b>{html.escape(describe_comparison(pinned, shown))}</b>")
        for letter, one in (("A", pinned), ("B", shown)):
            parameters = short_model(one.state.model)
            named = f"{letter}: {one.title}"
            if one.state.machine:
                named += f" ({parameters})"
            lines.append(f'<div style="{SMALL}">{html.escape(named)}</div>')
    return "".join([*lines, "</div>"])
