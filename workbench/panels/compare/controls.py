"""The controls of the comparison: topologies, matching, traffic, program."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import ipywidgets as widgets

from workbench import programs
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.compare.match import MATCHES, Sizes, matching
from workbench.panels.compare.slots import Slot
from workbench.panels.compare.state import (
    COLLECTIVE_MODELS,
    DEFAULT_LINKS,
    ROUTING_OPTIONS,
    SLOTS,
    UPLOADED,
    CompareState,
    split_upload,
)
from workbench.panels.compare.traffic import OWN, PATTERNS, traffic_name
from workbench.panels.error_line import ErrorLine, NoteLine
from workbench.panels.job_controls import error_text
from workbench.panels.machine_choice import MachineChoice
from workbench.panels.mute import Mute
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.program_sources import (
    AnyProgram,
    ProgramSource,
    files_of,
    source_of,
    source_of_session,
    without_files,
)
from workbench.panels.session.session import Files
from workbench.panels.slider import Even, Slider
from workbench.panels.style import choose, named, wrapping_row
from workbench.panels.topology_options import near_sizes
from workbench.panels.upload import Upload
from workbench.programs.collectives import ALGORITHMS
from workbench.topology import FAMILIES, Topology
from workbench.topology.demand import Demand, read_demand
from workbench.topology.files import read_topology
from workbench.topology.files.hosts import describe_hosts
from workbench.units import format_quantity

MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "CG, 256 ranks": ("cg", {"ranks": 256, "cells": 128, "iterations": 4, "rng": 0}),
    "3-D halo, 216 ranks": (
        "halo",
        {"ranks": 216, "cells": 32, "iterations": 4, "dims": 3, "neighbours": 26, "rng": 0},
    ),
    "training, 64 ranks": ("training", {"ranks": 64, "gradient_bytes": 1 << 26}),
}
"""Programs that are generated: the generator and its arguments."""

_MOST_NOTES = 3  # of an uploaded graph, so that they fit beside the pictures
CONTROLLED = (
    *("match", "amount", "traffic", "routing", "offered", "shade"),
    *("machine", "program", "collective", "model", "seed", "runs"),
)
"""The settings that can be read and set by name."""

_UPLOADS = ("upload", "upload_traffic", "replaces")
OPERATIONS = ("allreduce", "allgather", "alltoall")
FIRST_HOSTS, FIRST_LOAD = 1024, 0.7  # as FIRST's topologies have; one of LOADS
MOST_RUNS = 32
"""Most runs of each load, with other seeds."""
_LARGEST_UPLOAD = 64 << 20  # B: chosen, a list of some 5 million links


class CompareControls:
    """All controls; ``changed`` is called after a user's change."""

    def __init__(
        self,
        first: CompareState,
        changed: Callable[[], None],
        uploaded: Callable[[Mapping[str, Topology]], None],  # topologies by name
        offered: Callable[[float], None],  # what each host sends, as a share of its bandwidth
    ) -> None:
        self._changed, self._uploaded = changed, uploaded
        self._mute = Mute()
        uploads = [w for w in first.specs if w.startswith(f"{UPLOADED}:")]
        files = [split_upload(w)[0].partition(":")[2] for w in uploads]
        self.slots = tuple(Slot(at, first.specs[at], self._tell, files) for at in range(SLOTS))
        self._sources = {first.program.name: first.program}
        self.sizes: list[Sizes | None] = [None] * SLOTS
        self.match: Any = inputs.Dropdown(
            options=[(text, name) for name, (text, _) in MATCHES.items()],
            tooltip="Take the member of each family that matches; a slot may be changed afterwards",
            **named("Match on", "270px"),
        )
        self.amount: Any = NumberField(
            FIRST_HOSTS, 2, 2_000_000, disabled=True, **named("", "240px")
        )
        self.upload_error, self.program_error = ErrorLine(), ErrorLine()
        self.traffic_error = ErrorLine()
        self.upload = Upload(
            "Upload a graph",
            self._take_graph,
            self.upload_error,
            width="130px",
            tooltip="A list of links, GraphML, dot, or a file of Slurm, ibnetdiscover, ns-3, "
            "SimAI, BookSim, SST/macro or CODES",
            multiple=True,
        )
        self.upload_traffic = Upload(
            "Upload traffic",
            lambda files: self.take_traffic(*next(iter(files.items()))),
            self.traffic_error,
            width="120px",
            tooltip="A CSV of your own: hosts by hosts, or src,dst,weight",
            accept=".csv,.txt,.tsv",
        )
        self._demands: dict[str, Demand] = {}
        self._traffic_data: dict[str, bytes] = {}  # the files of the demands
        self._graph_files: dict[str, Files] = {}  # of uploaded topologies
        self.read = NoteLine()
        self.replaces: Any = inputs.Dropdown(
            tooltip="The column in which the uploaded graph is shown",
            **named("Show it in", "330px"),
        )
        self._asked_for = self._said = ""  # graph that has no column yet, and what was read of it
        self._ask("")
        self.traffic: Any = inputs.Dropdown(
            options=self._patterns(),
            value=first.traffic,
            **named("Traffic", "340px"),
        )
        self.routing: Any = inputs.Dropdown(
            options=[(text, name) for name, (text, _) in ROUTING_OPTIONS.items()],
            value=first.routing,
            **named("Routing", "290px"),
        )
        self.shade: Any = inputs.Dropdown(
            options=["load", "class"], value=first.shade, **named("Colour by", "140px")
        )
        sent = "What each host sends, as a share of its bandwidth"
        self.offered = Slider(
            Even(0.05, 1.0, 0.05, "Hosts send"),
            FIRST_LOAD,
            offered,
            name="Hosts send",
            tooltip=sent,
            typed_tooltip=sent,
            text_width="64px",
            width="300px",
        )
        self.offered.widget.layout.padding = "0 10px 0 0"
        self.program: Any = inputs.Dropdown(
            options=self._offered(), value=first.program.name, **named("Program", "280px")
        )
        self.collective: Any = inputs.Dropdown(
            options=_collectives(), value=first.collective, **named("Collective", "300px")
        )
        self.model: Any = inputs.Dropdown(
            options=[(one.text, name) for name, one in COLLECTIVE_MODELS.items()],
            value=first.model,
            tooltip="How messages of the collective share links; packets take longer to simulate",
            **named("Model", "250px"),
        )
        self.machine = MachineChoice(
            first.machine, first=((f"none: {DEFAULT_LINKS}", ""),), width="330px"
        )
        self.machine.on_choice(lambda _: self._tell())
        self.seed: Any = NumberField(first.seed, 0, 2**31 - 1, **named("seed", "100px"))
        self.runs: Any = NumberField(
            first.runs,
            1,
            MOST_RUNS,
            tooltip="Number of seeds for each load; whiskers show the least and the largest value",
            **named("runs a load", "150px"),
        )
        wide = widgets.Layout(width="100%", flex_flow="row wrap")
        self.widget = widgets.VBox(
            [
                wrapping_row(self.match, self.amount, self.upload, self.upload_traffic),
                self.upload_error,
                self.read,
                self.replaces,
                widgets.HBox([one.widget for one in self.slots], layout=wide),
                wrapping_row(self.traffic, self.routing),
                wrapping_row(self.offered.widget, self.shade),
                self.traffic_error,
            ]
        )
        self.simulated = (
            *(self.machine, self.collective, self.model, self.program),
            *(self.seed, self.runs),
        )
        for control in (
            self.traffic,
            self.routing,
            self.shade,
            self.program,
            self.collective,
            self.model,
            self.seed,
            self.runs,
        ):
            control.observe(lambda _: self._tell(), "value")
        self.match.observe(lambda _: self._match_chosen(), "value")
        self.amount.observe(lambda _: self._matched(), "value")
        self.replaces.observe(lambda change: self._column_chosen(change["new"]), "value")
        self.traffic.observe(lambda _: self.traffic_error.say(""), "value")

    @property
    def state(self) -> CompareState:
        """The state of the controls."""
        return CompareState(
            specs=tuple(one.spec for one in self.slots),
            program=self._source(self.program.value),
            traffic=self.traffic.value,
            routing=self.routing.value,
            shade=self.shade.value,
            collective=self.collective.value,
            model=self.model.value,
            seed=self.seed.value,
            runs=self.runs.value,
            own=self._demands.get(self.traffic.value),
            machine=self.machine.value,
        )

    @property
    def by_name(self) -> dict[str, Any]:
        """The controls by the names of settings; a topology's by its index."""
        return {name: getattr(self, name) for name in (*CONTROLLED, *_UPLOADS)} | {
            f"{part}_{at}": getattr(slot, part)
            for at, slot in enumerate(self.slots)
            for part in ("family", "parameters", "machine", "sizes")
        }

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        own = (self.upload_error, self.traffic_error, self.program_error)
        numbers = errors_of((self.seed, self.runs))
        slots = (slot.error for slot in self.slots)
        return [*slots, *own, self.amount.error, self.offered.error, *numbers]

    def show_specs(self, specs: tuple[str, ...]) -> None:
        """Set the spec of each slot."""
        for slot, spec in zip(self.slots, specs, strict=True):
            slot.show(spec)
        self._tell()

    def set(self, name: str, value: Any) -> None:
        """Set one of the other controls as the user would."""
        if name == "program":
            self.take_program(value)
        else:
            choose(getattr(self, name), name, value)

    def take_program(self, program: str | AnyProgram) -> None:
        """Set the program of the wire tolerance: a name, a program or a graph."""
        if not isinstance(program, str) or program not in dict(self._names()):
            source = source_of(program)
            self._sources[source.name] = source
            with self._mute:
                self.program.options = self._offered()
            program = source.name
            if self.program.value == program:
                # Another one of the same name.
                self._tell()
        self.program.value = program

    def take_files(self, files: Mapping[str, bytes]) -> None:
        """Show the graph of uploaded files, by name, in a free column; ask where none is free."""
        made = read_files(files)
        name = sorted(files)[0]
        spec = f"{UPLOADED}:{name}"
        self._keep_graph(spec, made, files)
        known = tuple(dict.fromkeys((*self.slots[0].files, name)))
        for slot in self.slots:
            slot.offer_files(known)
        shown = spec in [split_upload(slot.spec)[0] for slot in self.slots]
        free = next((slot for slot in self.slots if not slot.spec), None)
        if not shown and free is not None:
            free.show(spec)
        self._said = (
            f"read {name}: {made.num_routers:,} routers, {made.num_links:,} links; "
            f"{describe_hosts(made)}; hosts=N below its name sets others. "
        )
        self._said += " ".join(f"{note[0].upper()}{note[1:]}." for note in made.notes[:_MOST_NOTES])
        if len(made.link_bandwidth):
            ends = sorted({made.link_bandwidth.min(), made.link_bandwidth.max()})
            rates = " to ".join(format_quantity(float(end), "bandwidth") for end in ends)
            self._said += f" Its links have {rates}."
        else:
            self._said += (
                f" It states no bandwidths: all links are those of Machine, or {DEFAULT_LINKS} "
                "without one."
            )
        if shown or free is not None:
            self._ask("")
            self._show_graph()
        else:
            self._ask(spec)
            self.read.say(f"{self._said} All columns are taken: choose the one it replaces.")

    def _show_graph(self) -> None:
        """Draw the uploaded graph; what was read is said until the next change."""
        self._tell()
        self.read.say(self._said)

    def _ask(self, spec: str) -> None:
        """Ask for the column of a graph; with an empty spec nothing is asked."""
        self._asked_for = spec
        columns = [(f"{at + 1}: instead of {slot.spec}", at) for at, slot in enumerate(self.slots)]
        self._mute.set(self.replaces, -1, [("choose a column", -1), *columns])
        self.replaces.layout.display = "" if spec else "none"

    def _column_chosen(self, at: int) -> None:
        if at < 0 or self._mute.on:
            return
        self.slots[at].show(self._asked_for)
        self._ask("")
        self._show_graph()

    def take_traffic(self, name: str, content: bytes) -> None:
        """Load the links with the traffic of an uploaded CSV."""
        demand = read_demand(content, name=name)
        spec = f"{OWN}:{name}"
        self._demands[spec], self._traffic_data[spec] = demand, content
        self._mute.set(self.traffic, spec, self._patterns())
        self._tell()
        self.read.say("; ".join(demand.notes))

    def restore(self, name: str, value: Any) -> None:
        """Set one of ``CONTROLLED`` as it was; a match changes no topology then."""
        if name in ("match", "amount"):
            with self._mute:
                choose(getattr(self, name), name, value)
        elif name == "program" and value not in dict(self._offered()):
            raise ParameterError(f"no program is named {value!r} here", key="program")
        else:
            self.set(name, value)

    def own_files(self) -> dict[str, dict[str, Files]]:
        """Return the user's files among what is chosen: graphs, traffic and the program."""
        specs = [split_upload(slot.spec)[0] for slot in self.slots]
        traffic = self.traffic.value
        data = self._traffic_data.get(traffic)
        return {
            "topology": {one: self._graph_files[one] for one in specs if one in self._graph_files},
            "traffic": {} if data is None else {traffic: {traffic.partition(":")[2]: data}},
            "program": files_of([self.state.program]),
        }

    def take_own_files(self, use: str, name: str, files: Files) -> None:
        """Take files of a session, by the names that `own_files` gives them."""
        if use == "program":
            self._sources[name] = source_of_session(name, files, self._sources)
            self._mute.set(self.program, self.program.value, self._offered())
            return
        same = (
            self._graph_files.get(name) == files
            if use == "topology"
            else self._traffic_data.get(name) in files.values()
        )
        if same:
            return
        if name in (*self._demands, *self._graph_files):
            raise ParameterError(
                f"there is another {name!r} here; open the session in a new panel", key=use
            )
        if use == "topology":
            self._keep_graph(name, read_files(files), files)
            return
        ((file, content),) = files.items()
        self._demands[name], self._traffic_data[name] = read_demand(content, name=file), content
        self._mute.set(self.traffic, self.traffic.value, self._patterns())

    def not_held(self) -> list[str]:
        """Return sentences about what was given in Python, which a session cannot hold."""
        specs = [
            split_upload(slot.spec)[0]
            for slot in self.slots
            if slot.spec.startswith(f"{UPLOADED}:")
        ]
        given = [one.partition(":")[2] for one in specs if one not in self._graph_files]
        return [
            *(
                f"the topology {one!r} was given in Python: a session names it only"
                for one in given
            ),
            *without_files([self.state.program]),
        ]

    def _keep_graph(self, spec: str, made: Topology, files: Files) -> None:
        self._uploaded({spec: made})
        self._graph_files[spec] = dict(files)

    def _patterns(self) -> list[tuple[str, str]]:
        own = [(traffic_name(spec), spec) for spec in self._demands]
        return [*((text, name) for name, text in PATTERNS.items()), *own]

    def _take_graph(self, files: Files) -> None:
        if sum(map(len, files.values())) > _LARGEST_UPLOAD:
            raise ParameterError(
                f"files must have at most {_LARGEST_UPLOAD >> 20} MiB together", key="upload"
            )
        self.take_files(files)

    def take_sizes(self, sizes: Sequence[Sizes | None]) -> None:
        """Set the size of each slot's topology (None: empty), and offer similar ones."""
        if self.sizes == list(sizes):
            return
        self.sizes = list(sizes)
        for slot, size in zip(self.slots, sizes, strict=True):
            family = slot.spec.partition(":")[0]
            if size is not None and family in FAMILIES:
                slot.offer_sizes(near_sizes(family, size.hosts))

    def _match_chosen(self) -> None:
        """Start the match with the first topology's size, so that it stays as it is."""
        on = self.match.value
        text = MATCHES[on][1]
        self.amount.disabled = not on
        self.amount.forget()
        self.amount.description = text
        first = next((one for one in self.sizes if one is not None), None)
        if not on or first is None:
            return
        before = self.amount.value
        self.amount.typed.step = {"hosts": 64, "radix": 1, "ports": 512}[on]
        self.amount.value = self.amount.nearest(getattr(first, on))
        if self.amount.value == before:
            self._matched()

    def _matched(self) -> None:
        """Replace each topology by the nearest member of its family."""
        on = self.match.value
        if self._mute.on or not on:
            return
        self.upload_error.say("")
        families = {
            slot.spec.partition(":")[0] for slot in self.slots if slot.spec.partition(":")[1]
        } & set(FAMILIES)
        about = next((one.hosts for one in self.sizes if one is not None), FIRST_HOSTS)
        try:
            specs = matching(sorted(families), on, self.amount.value, about)
        except ParameterError as error:
            self.upload_error.say(error_text(error))
            return
        none = []
        for slot in self.slots:
            family = slot.spec.partition(":")[0]
            if family in specs:
                slot.show(specs[family])
            elif family in families:
                none.append(FAMILIES[family].title)
        if none:
            self.upload_error.say(f"none that matches: {', '.join(none)}")
        self._tell()

    def _tell(self) -> None:
        if not self._mute.on:
            self.read.say("")
            self._changed()

    def _names(self) -> list[tuple[str, str]]:
        return [(name, name) for name in (*MADE, *programs.list())]

    def _offered(self) -> list[tuple[str, str]]:
        own = [(name, name) for name in self._sources if name not in dict(self._names())]
        return [*self._names(), *own]

    def _source(self, name: str) -> ProgramSource:
        if name not in self._sources:
            self._sources[name] = program_source(name)
        return self._sources[name]


def program_source(name: str) -> ProgramSource:
    """Return the source of a program of `MADE` or a shipped one."""
    if name not in MADE:
        return source_of(name)
    generator, arguments = MADE[name]
    words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return ProgramSource(
        name,
        f"programs.generate.{generator}({words})",
        lambda: getattr(programs.generate, generator)(**arguments),
    )


def read_files(files: Mapping[str, bytes]) -> Topology:
    """Return the topology in an uploaded file, or in CODES' files together."""
    named_bytes = {PurePath(name.replace("\\", "/")).name: data for name, data in files.items()}
    if not named_bytes or "" in named_bytes:
        raise ParameterError("choose a file with a graph", key="upload")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in named_bytes.items():
            (Path(folder) / name).write_bytes(data)
        # CODES's .conf names the others.
        first = next((name for name in named_bytes if name.endswith(".conf")), min(named_bytes))
        return read_topology(Path(folder) / first)


def _collectives() -> list[tuple[str, str]]:
    return [
        (f"{operation}, {algorithm}", f"{operation}/{algorithm}")
        for operation in OPERATIONS
        for algorithm in ALGORITHMS[operation]
    ]
