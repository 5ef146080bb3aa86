"""The figures of the comparison: topologies, hops, latency over load, collectives, tolerance."""

from __future__ import annotations

import html
import math
from dataclasses import replace

import ipywidgets as widgets
from bokeh.layouts import column, row

from workbench.panels.compare.metrics import comparison_notes, hops_of, metric_rows, standings
from workbench.panels.compare.state import (
    COLLECTIVE_MODELS,
    SLOTS,
    WIRE_MACHINE,
    CompareState,
    Simulated,
    StaticComparison,
    collective_routing,
    ranks_of,
    routing_name,
)
from workbench.panels.compare.traffic import traffic_name
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.style import TEXT
from workbench.plotting import palette
from workbench.plotting.theme import AS_DRAWN, SMALL
from workbench.plotting.topology.collective_times import (
    CollectiveTimesFigure,
    collective_times,
    describe_collective_times,
)
from workbench.plotting.topology.columns import CLASS_COLOURS, drawing_note
from workbench.plotting.topology.hop_histogram import HopHistogram, hop_histogram
from workbench.plotting.topology.load_curves import (
    LoadCurve,
    LoadCurves,
    describe_load_curves,
    load_curves,
)
from workbench.plotting.topology.map import LOAD_PALETTE, TopologyMap, topology_map
from workbench.plotting.topology.metrics_table import describe_comparison, metrics_table
from workbench.plotting.topology.resilience import ResilienceCurves, resilience_curves
from workbench.plotting.topology.style import line_styles
from workbench.provenance import Provenance
from workbench.tolerance.figure_network import (
    WireTolerance,
    describe_wire_tolerance,
    wire_tolerance_figure,
)
from workbench.tolerance.wires import L_WIRE_S
from workbench.topology import Topology

_MAP_PX, _HOPS_PX, _FAILED_PX, _CURVES_PX = 290, 300, 260, 300  # chosen: a row a screen of 900
BASE_NS = L_WIRE_S * 1e9


class CompareView:
    """The figures and tables of a comparison."""

    def __init__(self, first: Topology) -> None:
        self.maps: tuple[TopologyMap, ...] = tuple(
            topology_map(first, height=_MAP_PX, bar=False, rescaled=True) for _ in range(SLOTS)
        )
        for place, one in enumerate(self.maps):
            one.figure.title.text_color = line_styles()[place][0]
            one.figure.min_border = 2
        self.hops: HopHistogram = hop_histogram({}, height=_HOPS_PX)
        self.failed: ResilienceCurves = resilience_curves({}, height=_FAILED_PX)
        self.curves: LoadCurves = load_curves({}, height=_CURVES_PX)
        self.times: CollectiveTimesFigure = collective_times({}, height=_CURVES_PX)
        self.wires: WireTolerance = wire_tolerance_figure({}, base_ns=BASE_NS, height=_CURVES_PX)
        drawings = row([one.figure for one in self.maps], sizing_mode="stretch_width")
        curves = row(
            self.curves.figure, self.times.figure, self.wires.figure, sizing_mode="stretch_width"
        )
        wide = widgets.Layout(width="100%")
        self.map_view = LiveView(drawings, layout=wide)
        distances = column(self.hops.figure, self.failed.figure, sizing_mode="stretch_width")
        self.hops_view = LiveView(distances, layout=widgets.Layout(flex="1 1 340px", width="auto"))
        self.curves_view = LiveView(curves, layout=wide)
        self.map_downloads = Downloads(drawings)
        self.curve_downloads = Downloads(curves)
        self.sentence = self._note = ""
        self.headline, self.key, self.table = (widgets.HTML() for _ in range(3))
        self.description = widgets.HTML()
        # As wide as its columns; where the figures have no room beside it they stand below.
        self.table.layout = widgets.Layout(
            flex="0 1 auto", width="auto", max_width="100%", overflow="auto"
        )
        self.upper = widgets.VBox([self.headline, self.map_view, self.key], layout=wide)
        self.middle = widgets.HBox(
            [self.table, self.hops_view],
            layout=widgets.Layout(flex_flow="row wrap", width="100%"),
        )
        self.lower = widgets.VBox([self.curves_view, self.description], layout=wide)

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return self.map_view, self.hops_view, self.curves_view

    def show(self, compared: StaticComparison, offered: float) -> None:
        """Draw the topologies and their loads; ``offered`` is a share of the hosts' bandwidth."""
        state = compared.state
        shaded = state.shade == "load"
        with self.map_view.one_patch():
            for place, drawn in enumerate(self.maps):
                entry, loads = compared.entries[place], compared.loads[place]
                drawn.figure.visible = entry is not None
                if entry is None:
                    continue
                name = compared.names[place]
                drawn.show(
                    entry.topology,
                    loads.link if shaded and loads is not None else None,
                    full=1 / offered,
                    title=name,
                    places=(entry.layout, entry.drawn),
                )
        shown = compared.shown
        with self.hops_view.one_patch():
            self.hops.show({name: hops_of(entry.metrics) for name, (entry, _) in shown.items()})
        sentence = self.sentence = carried_sentence(compared)
        head, colon, tail = html.escape(sentence).partition(":")
        self.headline.value = f'<div role="status" style="{TEXT}"><b>{head}</b>{colon}{tail}</div>'
        notes = [
            f"{name} {note}"
            for name, (entry, _) in shown.items()
            if (note := drawing_note(entry.topology, entry.layout, entry.drawn))
        ]
        self._note = f'<div style="{SMALL}">{html.escape("; ".join(notes))}</div>' if notes else ""
        if shaded:
            self.offer(offered)
        else:
            self.key.value = _classes(compared) + self._note

    def offer(self, load: float) -> None:
        """Show the loads of links at another offered load, without drawing again."""
        with self.map_view.one_patch():
            for drawn in self.maps:
                drawn.rescale(1 / load)
        self.curves.mark.update(location=load, visible=True)
        if any(drawn.bar.visible for drawn in self.maps):
            self.key.value = _key(load) + self._note

    def show_simulated(self, compared: StaticComparison, found: Simulated) -> None:
        """Write the table, and draw the results of the simulations so far."""
        self.table.value = table_of(compared, found)
        names = {name: entry.spec for name, (entry, _) in compared.shown.items()}
        bounds = {
            name: loads.saturation if loads is not None else math.nan
            for name, (_, loads) in compared.shown.items()
        }
        empty = LoadCurve([], [], [], [])
        curves = {
            name: replace(one, bound=bounds[name])
            for name, spec in names.items()
            for one in (found.curves.get(spec, empty),)
        }
        times = {name: found.times.get(spec, {}) for name, spec in names.items()}
        tolerances = {
            name: found.tolerances[spec] for name, spec in names.items() if spec in found.tolerances
        }
        state = compared.state
        with self.hops_view.one_patch():
            self.failed.show({name: found.resilience.get(spec) for name, spec in names.items()})
        with self.curves_view.one_patch():
            self.curves.show(
                curves,
                title="Latency over load (simulated)\n"
                f"{traffic_name(state.traffic)}, {routing_name(state.routing)}",
            )
            self.times.show(
                times,
                title=f"{state.operation.capitalize()}, {ranks_of(compared)} ranks (simulated)\n"
                + collective_words(state),
            )
            self.wires.show(
                tolerances,
                base_ns=BASE_NS,
                names=list(names),
                title=f"Wire latency a program tolerates\n{state.program.name}",
            )
        known = {name: one for name, one in times.items() if one}
        ran = {name: one for name, one in curves.items() if one.columns().size}
        sentences = [
            describe_load_curves(ran) if ran else "",
            describe_collective_times(known, state.operation) if known else "",
            describe_wire_tolerance(tolerances, state.program.name, BASE_NS) if tolerances else "",
        ]
        text = " ".join(html.escape(one) for one in sentences if one)
        notes = "".join(
            f'<div style="{SMALL}">{html.escape(note)}</div>'
            for note in (*collective_notes(state), *found.notes)
        )
        self.description.value = f'<div role="status" style="{TEXT}">{text}</div>{notes}'


def collective_words(state: CompareState) -> str:
    """Return algorithm, model and routing of the collective."""
    routing = routing_name(collective_routing(state))
    return f"{state.algorithm}, {COLLECTIVE_MODELS[state.model].about}, {routing}"


def collective_notes(state: CompareState) -> tuple[str, ...]:
    """Return notes on the model and routing of the collective's times."""
    taken, name = collective_routing(state), routing_name(state.routing)
    if taken == state.routing:
        return ()
    return (
        f"The collective runs with {taken} routing, not {name}: the fluid model has no queues, "
        f"which {name} depends on. Choose packets to simulate it.",
    )


def table_of(compared: StaticComparison, found: Simulated) -> str:
    """Return the table of metrics with its notes as HTML."""
    colours = {name: line_styles()[place][0] for place, name in enumerate(compared.names) if name}
    notes = "".join(
        f'<div style="{SMALL};max-width:640px;white-space:normal">{html.escape(note)}.</div>'
        for note in comparison_notes(compared)
    )
    return metrics_table(metric_rows(compared, found), colours) + notes


def carried_sentence(compared: StaticComparison) -> str:
    """Return the sentence on the topology that carries the most of the traffic."""
    state, known = compared.state, standings(compared)
    sent = traffic_name(state.traffic)
    routing = f"{routing_name(state.routing)} routing"
    if compared.shown and not known:
        return f"The load of these networks under {sent} traffic with {routing} is not known."
    return describe_comparison(known, sent, routing)


def drawn_origin(compared: StaticComparison, offered: float) -> str:
    """Return the provenance of the drawings' colours, for exported pictures."""
    state = compared.state
    if state.shade != "load":
        return "computed: drawn from the definitions of the topologies; colours: classes of links."
    return (
        f"computed: mean loads of links when every host sends {100 * offered:.0f} % of what it "
        f"can, {traffic_name(state.traffic)} traffic, {routing_name(state.routing)} routing, no "
        "queues; nothing is simulated or measured."
    )


def curves_origin(compared: StaticComparison) -> str:
    """Return the provenance of the curves, for exported pictures."""
    state = compared.state
    runs = f"seed {state.seed}" + (f", mean of {state.runs} runs" if state.runs > 1 else "")
    title = (
        f"latency over load with {traffic_name(state.traffic)} traffic, "
        f"{routing_name(state.routing)} routing, packets, {runs}; {state.operation} of "
        f"{ranks_of(compared)} ranks with {collective_words(state)} routing; latency of wires with "
        f"{state.program.name}, LLAMP's semantics, no contention, o, G and S of "
        f"{state.machine or WIRE_MACHINE}; {state.links}"
    )
    return Provenance("simulated", title).caption() + "."


def _key(load: float) -> str:
    """Return the legend of the links' loads as HTML."""
    stops = ",".join(LOAD_PALETTE[:: len(LOAD_PALETTE) // 8])
    patch = (
        '<span style="display:inline-block;width:120px;height:9px;vertical-align:middle;'
        f'background:linear-gradient(to right,{stops});{AS_DRAWN}"></span>'
    )
    over = f'<b style="color:{palette.VERMILLION};{AS_DRAWN}">━</b>'
    return (
        f'<div style="{SMALL}">Mean load of a link when every host sends {100 * load:.0f} % of '
        f"what it can: 0 {patch} 1, just full &nbsp; {over} more than it can carry. Thick: the "
        "most loaded, where they are few. Hollow: routers without hosts.</div>"
    )


def _classes(compared: StaticComparison) -> str:
    """Return the legend of the link classes as HTML, by topology."""
    parts = []
    for name, (entry, _) in compared.shown.items():
        marks = " ".join(
            f'<b style="color:{CLASS_COLOURS[at % len(CLASS_COLOURS)]};{AS_DRAWN}">━</b> '
            f"{html.escape(one)}"
            for at, one in enumerate(entry.topology.classes[1:])
        )
        parts.append(f"{html.escape(name)}: {marks}")
    return f'<div style="{SMALL}">{" &nbsp; ".join(parts)}</div>'
