"""Which network is the faster for a program, with a probability, on the same draws for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.models import PISCES, SNAPPR, LogGPS, NetworkModel
from workbench.named_options import named_options
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import ExecutionGraph
from workbench.simulate.fabric import Fabric, replay_on
from workbench.tasks import Task, task_of
from workbench.tolerance.sweep import Sweep
from workbench.tolerance.wires import L_WIRE_S, Wires, along_wires
from workbench.topology import Topology, parse_topology, topology_spec
from workbench.topology.metrics.links import D_SWITCH_S
from workbench.uq.carried_on import CarriedOn
from workbench.uq.carry.draws import (
    MACHINES,
    MachineOptions,
    count_and_seed,
    each_draw,
    machines_of,
    program_name,
    program_text,
    written,
)
from workbench.uq.osu import FitPosterior
from workbench.uq.pushed import PushedComparison

ComparedNetwork = Topology | Fabric | str
_Time = Callable[[LogGPS | NetworkModel], float]


@named_options(MachineOptions, MACHINES)
def compare(
    posterior: CarriedOn,
    program: ProgramLike,
    *networks: ComparedNetwork,
    placement: ArrayLike | None = None,
    l_wire_s: float = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    **options: Unpack[MachineOptions],
) -> PushedComparison:
    """Return a program's run time on several networks, and how probably each is the fastest.

    All networks get the same draws, so that what is unsure in the same way of all cancels.

    A fit of ``protocol`` gives hosts their overheads, and messages their rate. On a topology their
    latency is that of its wires and switches, which are taken as known, without contention
    (``workbench.tolerance.analyse_wires``). A ``Fabric`` is simulated with contention; one
    without a model of its own gets ports with the draw's bandwidth. A fit of ``SNAPPR`` or
    ``PISCES`` is the model of all ports itself, with the fitted credits in each lane.

    Args:
        posterior: of a fit, or a ``LogGPSPosterior``.
        program: what the ranks do.
        networks: two or more: topologies, specs of topologies such as ``fat-tree:4``, or fabrics.
        placement: int[ranks], the host of each rank; None puts rank r at host r.
        l_wire_s: latency of a wire of a topology, with a fit of ``protocol``.
        d_switch_s: latency of a switch there.
        options: as for ``makespan``.

    Raises:
        ParameterError: there are fewer than two networks, the program does not fit one, the fit is
            of another model, or an argument is not accepted.
        ConfigurationError: no lanes keep a fabric free of deadlock.
        JobError: it was stopped before the first draw.
    """
    found = [parse_topology(one) if isinstance(one, str) else one for one in networks]
    if len(found) < 2:
        raise ParameterError(
            f"there must be two networks to compare; got {len(found)}", key="networks"
        )
    graph = graph_of(program)
    hosts = np.arange(graph.num_ranks) if placement is None else np.asarray(placement)
    fitted: LogGPS | NetworkModel
    models: tuple[LogGPS | NetworkModel, ...]
    ports = posterior.result.model if isinstance(posterior, FitPosterior) else None
    if isinstance(posterior, FitPosterior) and isinstance(ports, SNAPPR | PISCES):
        fitted, models = ports, posterior.models(*count_and_seed(options))
    else:
        fitted, models = machines_of(posterior, options)
    wires, task = (l_wire_s, d_switch_s), task_of(options.get("task"))
    times = [_time_on(one, graph, hosts, fitted, wires, task) for one in found]
    plain, values = each_draw(lambda model: [time(model) for time in times], fitted, models, task)
    name = program_name(program, graph)
    places = "" if placement is None else f", placement={hosts.tolist()}"
    known = "".join(
        f", {key}={value!r}"
        for key, value, usual in (
            ("l_wire_s", l_wire_s, L_WIRE_S),
            ("d_switch_s", d_switch_s, D_SWITCH_S),
        )
        if value != usual
    )
    called = ", ".join(map(_network_text, networks))
    return PushedComparison(
        _names(found),
        np.array(values),
        "s",
        np.array(plain),
        posterior.origin(
            f"Run time of {name} on {len(found)} networks",
            f"{name}, {_described(found, fitted, wires)}",
            written(
                "posterior.compare", f"{program_text(program)}, {called}{places}{known}", options
            ),
        ),
    )


def _time_on(
    network: Topology | Fabric,
    graph: ExecutionGraph,
    hosts: NDArray[np.int64],
    fitted: LogGPS | NetworkModel,
    wires: tuple[float, float],  # latencies of a wire and of a switch, s
    task: Task,
) -> _Time:
    """Return the program's time in s on a network as a function of a drawn model."""
    if isinstance(network, Topology) and isinstance(fitted, LogGPS):
        l_wire_s, d_switch_s = wires
        between = Wires.of(network, graph.num_ranks, hosts, d_switch_s=d_switch_s)
        sweep = along_wires(Sweep(graph, fitted), between)

        def over_wires(model: LogGPS | NetworkModel) -> float:
            return sweep.replace(_machine(model)).makespan(l_wire_s)

        return over_wires
    if isinstance(network, Fabric):
        fabric = network
    else:
        fabric = Fabric(network, fitted if isinstance(fitted, SNAPPR | PISCES) else None)
    routes = fabric.routes

    def over_fabric(model: LogGPS | NetworkModel) -> float:
        host = model if isinstance(model, LogGPS) else None
        ports = fabric.ports
        if isinstance(model, SNAPPR):
            ports = model.replace(switch_credits=model.switch_credits * routes.lanes)
        elif isinstance(model, PISCES):
            ports = model.replace(link_credits=model.link_credits * routes.lanes)
        elif fabric.model is None:
            G = _machine(model).G
            if not G:
                raise ParameterError(
                    "G must be above 0, or a fabric's ports have no bandwidth; got 0: give the "
                    "fabric a model of its own",
                    key="posterior",
                )
            rate = 1.0 / G
            ports = ports.replace(link_bandwidth=rate, injection_bandwidth=rate)
            # A crossbar is shared by all ports of a switch; a NIC is a host's own.
            ports = ports.replace(nic_bandwidth=rate) if isinstance(ports, SNAPPR) else ports
        run = dataclasses.replace(fabric, model=ports, routing=routes)
        quiet = task.part()
        return replay_on(graph, run, host=host, placement=hosts, task=quiet).makespan_s

    return over_fabric


def _machine(model: LogGPS | NetworkModel) -> LogGPS:
    """Return LogGPS parameters, which a model must be here."""
    if not isinstance(model, LogGPS):
        raise TypeError(type(model).__name__)
    return model


def _names(networks: list[Topology | Fabric]) -> tuple[str, ...]:
    """Return a name for each network: its topology, with the routing or a number where needed."""
    names = [one.topology.name if isinstance(one, Fabric) else one.name for one in networks]
    names = [
        f"{name}, {one.routing_name} routing"
        if isinstance(one, Fabric) and names.count(name) > 1
        else name
        for name, one in zip(names, networks, strict=True)
    ]
    return tuple(
        name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, name in enumerate(names)
    )


def _network_text(network: ComparedNetwork) -> str:
    """Return a network as Python code has it: its spec, or ``fabric``."""
    if isinstance(network, str):
        return repr(network)
    if isinstance(network, Fabric):
        return "fabric"
    try:
        return repr(topology_spec(network))
    except ParameterError:  # of no family
        return "topology"


def _described(
    networks: list[Topology | Fabric], fitted: LogGPS | NetworkModel, wires: tuple[float, float]
) -> str:
    """Return words for a caption: which contention, wires and congestion were simulated."""
    parts = []
    if isinstance(fitted, LogGPS) and any(isinstance(one, Topology) for one in networks):
        parts.append(
            f"no contention, wires of {wires[0] * 1e9:g} ns, switches of {wires[1] * 1e9:g} ns"
        )
    used = dict.fromkeys(one.congestion for one in networks if isinstance(one, Fabric))
    if not isinstance(fitted, LogGPS) and any(isinstance(one, Topology) for one in networks):
        used.setdefault("packet" if isinstance(fitted, SNAPPR) else "packet-flow")
    if used:
        parts.append(f"{' and '.join(map(str, used))} congestion on fabrics")
    return "; ".join(parts)
