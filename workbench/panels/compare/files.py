"""Exports of the comparison: the table, the figures as a page, and a topology as GraphML."""

from __future__ import annotations

import html
from collections.abc import Callable

from bokeh.layouts import column, row
from bokeh.models import Div, LayoutDOM

from workbench.errors import ParameterError
from workbench.panels.compare.metrics import comparison_frame, hops_of
from workbench.panels.compare.state import Simulated, StaticComparison, python_lines, routing_name
from workbench.panels.compare.traffic import traffic_name
from workbench.panels.compare.view import (
    BASE_NS,
    carried_sentence,
    collective_notes,
    collective_words,
    curves_origin,
    drawn_origin,
    table_of,
)
from workbench.plotting.embedding import standalone_html
from workbench.plotting.topology.collective_times import plot_collective_times
from workbench.plotting.topology.hop_histogram import plot_hops
from workbench.plotting.topology.load_curves import plot_load_curves
from workbench.plotting.topology.map import plot_topology
from workbench.plotting.topology.resilience import plot_resilience
from workbench.tolerance.figure_network import plot_wire_tolerance
from workbench.topology.files import to_graphml


def table_csv(compared: StaticComparison, found: Simulated, name: str | None) -> tuple[str, str]:
    """Return the file's stem and the table of metrics as CSV."""
    return "comparison", str(comparison_frame(compared, found).to_csv())


def page_html(compared: StaticComparison, found: Simulated, name: str | None) -> tuple[str, str]:
    """Return the file's stem and a page with drawings, table and figures, readable offline."""
    state, shown = compared.state, compared.shown
    specs = {one: entry.spec for one, (entry, _) in shown.items()}
    drawings = []
    for one, (entry, loads) in shown.items():
        shaded = state.shade == "load" and loads is not None
        fig = plot_topology(entry.topology, load=loads.link if shaded and loads else None, full=1.0)
        fig.title.text = one
        drawings.append(fig)
    curves = {one: found.curves[word] for one, word in specs.items() if word in found.curves}
    times = {one: found.times[word] for one, word in specs.items() if word in found.times}
    borne = {one: found.tolerances[w] for one, w in specs.items() if w in found.tolerances}
    parts: list[LayoutDOM] = [
        Div(text=html.escape(carried_sentence(compared))),
        row(drawings, sizing_mode="stretch_width"),
        Div(text=html.escape(drawn_origin(compared, 1.0))),
        Div(text=table_of(compared, found)),
        plot_hops({one: hops_of(entry.metrics) for one, (entry, _) in shown.items()}),
    ]
    broken = {one: found.resilience[w] for one, w in specs.items() if w in found.resilience}
    if broken:
        parts.append(plot_resilience(broken))
    if curves:
        how = f"{traffic_name(state.traffic)}, {routing_name(state.routing)}"
        title = f"Latency over load (simulated): {how}"
        parts.append(plot_load_curves(curves, title=title))
    if times:
        title = f"{state.operation.capitalize()} (simulated): {collective_words(state)}"
        parts.append(plot_collective_times(times, title=title))
        parts += [Div(text=html.escape(note)) for note in collective_notes(state)]
    if borne:
        title = f"Wire latency that {state.program.name} tolerates"
        parts.append(plot_wire_tolerance(borne, base_ns=BASE_NS, title=title))
    if curves or times or borne:
        parts.append(Div(text=html.escape(curves_origin(compared))))
    parts.append(Div(text=f"<pre>{html.escape(python_lines(compared, 1.0))}</pre>"))
    page = standalone_html(column(parts, sizing_mode="stretch_width"), "Topologies compared")
    return "comparison", page


def graphml(compared: StaticComparison, found: Simulated, name: str | None) -> tuple[str, str]:
    """Return the file's stem and a topology as GraphML; a ``name`` of None takes the first."""
    shown = compared.shown
    chosen = next(iter(shown), None) if name is None else name
    if chosen not in shown:
        raise ParameterError(f"name must be one of the topologies shown; got {name!r}", key="name")
    return chosen, to_graphml(shown[chosen][0].topology)


Maker = Callable[[StaticComparison, Simulated, str | None], tuple[str, str]]

FILES: dict[str, tuple[Maker, str]] = {
    ".csv": (table_csv, "the table of metrics"),
    ".html": (page_html, "a page with drawings, table and figures, readable offline"),
    ".graphml": (graphml, "the topology chosen here, with classes, groups and hosts"),
}
"""By suffix: the function that returns name and text, and a description of the file."""
