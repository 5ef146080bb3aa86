"""Collectives over a small fat tree, simulated: spaces to record, and one to tune as it is.

Hosts have the LogGPS overheads of a machine, and its bandwidth is that of every link; messages are
fluid and share the links. Up to 12 ranks there is one on each host, else 12 hosts share them, as
in SHAMan, section 5.2.

Synthetic: a run has no noise of its own. A search of such a space states the noise that is
added, such as ``Replay(space, "normal", scale=0.05)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from workbench import machines
from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.models import SNAPPR, LogGPS
from workbench.programs.collectives import ALGORITHMS, DEFAULTS, schedule
from workbench.simulate.fabric import Fabric, replay_on
from workbench.suggestions import did_you_mean
from workbench.tasks import JobError, Task, task_of
from workbench.topology import fat_tree
from workbench.tune.recorded.files import Description, write_recording
from workbench.tune.recorded.run_table import RecordedMeasurement, RecordedTable
from workbench.tune.runners.replay import noise_factor
from workbench.tune.space.axes import Choices, Grid
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace
from workbench.tune.target import Computed

COLLECTIVES = ("allreduce", "bcast", "gather", "reduce")
SIZES = tuple(2**power for power in range(12, 21, 2))
"""The default message sizes in bytes: 4 KiB to 1 MiB."""

MACHINE = "azure-hb96v3-hdr"
"""The machine of the default LogGPS parameters."""

REDUCE_NS_PER_BYTE = 0.1
"""Time to combine a byte with another."""

HOSTS = 12
"""Hosts that ranks are put on, at most."""

SWITCH_PORTS = 4
"""Ports of a switch of the fat tree."""

LINK_LATENCY_S = 200e-9
"""Latency of a link between switches."""

START_S = 1.0
"""Time a benchmark takes to start, in every run."""

_SEGMENTS = tuple(sorted({round(512 * 2 ** (step / 2)) // 4 * 4 for step in range(23)}))
_FANOUTS = tuple(range(2, 25))  # with 24 a tree of 576 ranks, the most recorded, is two deep
_WARMUP = 200  # calls, SHAMan, section 5.2
_SMALL_BYTES = 8192  # the largest small message of the OSU benchmarks, LARGE_MESSAGE_SIZE
_CALLS_SMALL, _CALLS_LARGE = 1000, 100  # theirs too: COLL_LOOP_SMALL and COLL_LOOP_LARGE

_VALUES: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"segment_bytes": _SEGMENTS, "fanout": _FANOUTS}
)

_OF_LIBRARIES = ("binomial-doubling", "binary", "chains", "sequential")
"""Algorithms that measured libraries have; the shipped recordings were made without them."""


def simulated_space(collective: str) -> TuningSpace:
    """Return the space of a collective: its algorithms and their parameters."""
    if collective not in COLLECTIVES:
        raise ParameterError(
            f"collective must be one of {', '.join(COLLECTIVES)}; got {collective!r}"
            f"{did_you_mean(collective, COLLECTIVES)}",
            key="collective",
        )
    known = {k: v for k, v in ALGORITHMS[collective].items() if k not in _OF_LIBRARIES}
    axes: dict[str, Choices | Grid] = {"algorithm": Choices(tuple(known))}
    conditions = {}
    for parameter, values in _VALUES.items():
        takers = [one.name for one in known.values() if one.parameter == parameter]
        if takers:
            axes[parameter] = Grid(values)
            conditions[parameter] = f"algorithm in {takers!r}"
    defaults: dict[str, Any] = dict.fromkeys(axes)
    return TuningSpace(axes, (), conditions, {**defaults, "algorithm": DEFAULTS[collective]})


@dataclass(frozen=True, eq=False)
class SimulatedMachine:
    """Hosts and the network between them."""

    name: str  # of the machine, or its file
    host: LogGPS  # o, O and S are those of the hosts
    fabric: Fabric  # links of bandwidth 1 / G, half of L at each end

    @classmethod
    def of(cls, name: str = MACHINE) -> SimulatedMachine:
        """Return the machine of a name or a file."""
        host = machines.load(name).loggps
        model = SNAPPR(
            injection_bandwidth=1.0 / host.G,
            link_bandwidth=1.0 / host.G,
            injection_latency=0.5 * host.L,
            ejection_latency=0.5 * host.L,
            link_latency=LINK_LATENCY_S,
        )
        return cls(name, host, Fabric(fat_tree(k=SWITCH_PORTS), model, congestion="flow"))

    def time_s(self, collective: str, configuration: Configuration, ranks: int, size: int) -> float:
        """Return a collective's makespan in s; ``size`` in bytes, for a gather that of a part."""
        segment, fanout = configuration.get("segment_bytes"), configuration.get("fanout")
        plan = schedule(
            collective,
            str(configuration["algorithm"]),
            ranks,
            size=size,
            segment_bytes=None if segment is None else int(segment),
            fanout=None if fanout is None else int(fanout),
            reduce_ns_per_byte=0.0 if collective in ("bcast", "gather") else REDUCE_NS_PER_BYTE,
        )
        done = replay_on(
            plan.graph(), self.fabric, host=self.host, ranks_per_host=-(-ranks // HOSTS)
        )
        return float(done.makespan_s)


@dataclass(frozen=True)
class SimulatedCollective:
    """A collective that is simulated anew in each run, with noise: it costs no time on a machine.

    A search of its space in a minute::

        one = SimulatedCollective("reduce", 2**20)
        rules = {"stopping": ("time", {"seconds": 60}), "budget": 500}
        tune(one.space, Function(one.run), target=one.target, **rules)

    Attributes:
        collective: ``allreduce``, ``bcast``, ``gather`` or ``reduce``.
        size: bytes; of a gather those of a part.
        ranks: at least 2; up to 12 have a host each.
        calls: how often a run calls it.
        noise: relative spread of the runs' times.
        machine: a name of ``machines.names()``, or a file.

    Raises:
        ParameterError: a value is not accepted.
    """

    collective: str
    size: int
    ranks: int = 12
    calls: int = 1000
    noise: float = 0.05
    machine: str = MACHINE

    def __post_init__(self) -> None:
        simulated_space(self.collective)
        whole(self.size, "size", 1)
        whole(self.ranks, "ranks", 2)
        whole(self.calls, "calls", 1)
        number(self.noise, "noise", 0.0)

    @property
    def space(self) -> TuningSpace:
        """The algorithms and their parameters."""
        return simulated_space(self.collective)

    @property
    def default(self) -> Configuration:
        """The default configuration of the space."""
        return dict(self.space.default or {})

    @property
    def target(self) -> Computed:
        """The time of a call in µs, less being better."""
        return Computed(_no_output, unit="µs", name="latency")

    def call_us(self, configuration: Configuration) -> float:
        """Return the time of a call in µs, without noise.

        Args:
            configuration: one of the space.

        Raises:
            ParameterError: it is none of the space.
        """
        chosen = tuple(self.space.canonical(configuration).items())
        return 1e6 * _call_s(self.machine, self.collective, self.ranks, self.size, chosen)

    def run_s(self, configuration: Configuration) -> float:
        """Return the seconds of a run on the machine: its start and the calls, without noise.

        Args:
            configuration: one of the space.

        Raises:
            ParameterError: it is none of the space.
        """
        return START_S + 1e-6 * self.calls * self.call_us(configuration)

    def run(self, configuration: Configuration, rng: np.random.Generator) -> tuple[float, float]:
        """Return the time of a call in µs and the seconds of the run, both with its noise.

        Args:
            configuration: one of the space.
            rng: draws the noise.

        Raises:
            ParameterError: it is none of the space.
        """
        factor = noise_factor("normal", self.noise, rng)
        return self.call_us(configuration) * factor, self.run_s(configuration) * factor


def _no_output(output: object) -> float:
    raise ParameterError("a simulated run has a value of its own; there is no output to read")


@cache
def _call_s(
    machine: str, collective: str, ranks: int, size: int, chosen: tuple[tuple[str, Any], ...]
) -> float:
    """Return a call's time in s; ``chosen`` are the items of a configuration."""
    return _machine(machine).time_s(collective, dict(chosen), ranks, size)


@cache
def _machine(name: str) -> SimulatedMachine:
    return SimulatedMachine.of(name)


def record_simulated(
    folder: str | Path,
    *,
    ranks: int = 12,  # at least 2
    collectives: Sequence[str] = COLLECTIVES,
    sizes: Sequence[int] = SIZES,  # bytes
    machine: str = MACHINE,  # of the LogGPS parameters
    created_by: str = "record_simulated",  # the command, for the descriptor
    task: Task | None = None,  # gets each space's name before it; once stopped, nothing is written
) -> int:
    """Simulate every configuration of some collectives, write the runs, return their number."""
    ranks = whole(ranks, "ranks", 2)
    if not sizes or min(sizes) < 1:
        raise ParameterError(f"sizes must be at least 1 B; got {list(sizes)}", key="sizes")
    for key, given in (("collectives", collectives), ("sizes", sizes)):
        if len(set(given)) < len(given):
            raise ParameterError(f"{key} must each be given once; got {list(given)}", key=key)
    simulated, task = SimulatedMachine.of(machine), task_of(task)
    tables: list[RecordedTable] = []
    for collective in collectives:
        space = simulated_space(collective)
        runs = []
        for at, size in enumerate(sizes, len(tables) * len(sizes)):
            if task.stopping:
                raise JobError("it was stopped, and nothing is written; record it again")
            task.report(at, len(collectives) * len(sizes), f"{collective}/{size}")
            runs += _runs(collective, space, ranks, size, simulated)
        tables.append(RecordedTable(collective, space, ("time_us",), "time_us", tuple(runs)))
    description = Description(
        Path(folder).resolve().name,
        f"{', '.join(collectives)} on {ranks} ranks of {machine}, simulated",
        "synthetic",
        created_by,
        {
            "ranks": ranks,
            "sizes": list(sizes),
            "machine": machine,
            "hosts": f"{-(-ranks // HOSTS)} ranks a host; {simulated.host!r}",
            "fabric": f"{simulated.fabric.topology.name}, fluid messages, links of 1 / G, L / 2 at "
            f"each end, {1e9 * LINK_LATENCY_S:g} ns a link",
            "reduce_ns_per_byte": REDUCE_NS_PER_BYTE,
            "seconds": f"{START_S} s to start, then {_WARMUP} calls of warm-up and {_CALLS_SMALL} "
            f"timed ones up to {_SMALL_BYTES} B, {_CALLS_LARGE} above",
            "noise": "none; a search states the noise that it adds",
        },
        (
            "synthetic: no run on a machine stands behind it",
            "messages within a host cost their overheads and no time on the way",
            "the default is the workbench's own choice of algorithm, not an MPI library's",
        ),
    )
    write_recording(folder, description, tables)
    return sum(len(table.runs) for table in tables)


def _runs(
    collective: str, space: TuningSpace, ranks: int, size: int, machine: SimulatedMachine
) -> list[RecordedMeasurement]:
    times: dict[tuple[Any, ...], float] = {}
    found = []
    calls = _WARMUP + (_CALLS_SMALL if size <= _SMALL_BYTES else _CALLS_LARGE)
    for configuration in space.all():
        key = _effective(configuration, ranks, size)
        if key not in times:
            times[key] = machine.time_s(collective, configuration, ranks, size)
        took = times[key]
        found.append(
            RecordedMeasurement(
                0, configuration, size, START_S + calls * took, {"time_us": 1e6 * took}
            )
        )
    return found


def _effective(configuration: Configuration, ranks: int, size: int) -> tuple[Any, ...]:
    """Return the parameters that determine a schedule, the segment cut to the data it divides."""
    segment = configuration.get("segment_bytes")
    cut = size if configuration["algorithm"] == "pipeline" else -(-size // ranks)
    least = None if segment is None else min(int(segment), cut)
    return (configuration["algorithm"], least, configuration.get("fanout"))
