"""Wire latency: how a program's time depends on the wires between its ranks.

Shen et al., LLAMP, section IV.2 and appendix H: over a topology L of a message that passes h
switches is (h + 1) l_wire + h d_switch, and l_wire takes L's place as the variable, or a latency
for each class of wires: hosts' own, within a group, between groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tolerance.analysis import analyse
from workbench.tolerance.curve import LatencySensitivity
from workbench.tolerance.rank_wires import L_WIRE_S, HasHosts, Wires
from workbench.tolerance.sweep import Sweep, SweepPoint
from workbench.topology import Topology
from workbench.topology.metrics.links import D_SWITCH_S

if TYPE_CHECKING:
    import pandas as pd

FEC_INTERVAL_S = (274e-9, 424e-9)
"""Latencies of a wire without and with complex forward error correction, of LLAMP's figure 11."""


def wire_sweep(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    placement: ArrayLike | HasHosts | None = None,  # int[ranks], hosts; None: rank r at host r
    *,
    wire_class: str | None = None,  # whose latency varies; None: all
    l_wire_s: float | Mapping[str, float] = L_WIRE_S,  # of the other wires, one number or by class
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,  # latency between two ranks of one host
) -> Sweep:
    """Return the sweep whose variable is the latency of the wires instead of L.

    Give the latency in each call, such as ``at(274e-9)``: the default is the model's L.
    """
    packed, wires = _packed(program, model, topology, placement, d_switch_s, same_host_s)
    return along_wires(packed, wires, wire_class, l_wire_s)


@dataclass(frozen=True)
class WireSensitivity(StoredResult):
    """A program's time and its slopes in the latency of its wires.

    Attributes:
        T: the program's time, s.
        lambda_wire: slopes of T in the latency of all wires, to the left and to the right: how
            many wires one after the other a critical path holds.
        lambda_class: the same for the wires of each class.
        mean_latency_s: L of a message, the mean over all pairs of ranks at different hosts.
        mean_hops: switches of a message, the same mean.
    """

    T: float
    lambda_wire: tuple[int, int]
    lambda_class: Mapping[str, tuple[int, int]]
    mean_latency_s: float
    mean_hops: float

    def to_frame(self) -> pd.DataFrame:
        """Return the slopes in all wires and in each class: ``wires``, ``left``, ``right``."""
        import pandas as pd

        slopes = {"all": self.lambda_wire, **self.lambda_class}
        rows = [(name, *ends) for name, ends in slopes.items()]
        return pd.DataFrame(rows, columns=["wires", "left", "right"])


def wire_sensitivity(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    placement: ArrayLike | HasHosts | None = None,
    *,
    l_wire_s: float | Mapping[str, float] = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
) -> WireSensitivity:
    """Return a program's time over a topology and its slopes in the latency of the wires.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the wires take L's place.
        topology: the network.
        placement: int[ranks], the host of each rank, or a ``Placement``; None is dense.
        l_wire_s: latency of a wire, or one for each class by name.
        d_switch_s: latency of a switch.
        same_host_s: latency between two ranks of one host.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or a latency is not accepted.
    """
    packed, wires = _packed(program, model, topology, placement, d_switch_s, same_host_s)
    hops, latency = wires.means(l_wire_s)
    starts = wires.classes_ps(l_wire_s) / PS_PER_S
    everywhere = along_wires(packed, wires, None, l_wire_s, by_one=True).at(0.0)
    each = {
        name: along_wires(packed, wires, name, l_wire_s).at(start)
        for name, start in zip(topology.classes, starts, strict=True)
    }
    return WireSensitivity(
        T=everywhere.T,
        lambda_wire=_slopes(everywhere),
        lambda_class={name: _slopes(point) for name, point in each.items()},
        mean_latency_s=latency,
        mean_hops=hops,
    )


def wire_tolerance(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    placement: ArrayLike | HasHosts | None = None,
    percent: Sequence[float] = (1, 2, 5),
    *,
    wire_class: str | None = None,
    l_wire_s: float | Mapping[str, float] = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
) -> dict[float, float]:
    """Return the largest wire latency in s with which a program is at most p percent slower.

    Exact to the picosecond, the clock's tick; inf where no wire is on any path.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the wires take L's place.
        topology: the network.
        placement: int[ranks], the host of each rank, or a ``Placement``; None is dense.
        percent: how much slower than at ``l_wire_s`` is tolerated.
        wire_class: only the latency of these wires is raised (appendix H); None raises all, which
            must then start from one latency.
        l_wire_s: latency of a wire to start from, or one for each class by name.
        d_switch_s: latency of a switch.
        same_host_s: latency between two ranks of one host.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or an argument is not accepted.
    """
    packed, wires = _packed(program, model, topology, placement, d_switch_s, same_host_s)
    sweep = along_wires(packed, wires, wire_class, l_wire_s)
    return sweep.tolerance(percent, _start(wires, wire_class, l_wire_s))


def analyse_wires(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    placement: ArrayLike | HasHosts | None = None,
    *,
    percent: Sequence[float] = (1, 2, 5),
    interval: tuple[float, float] = FEC_INTERVAL_S,
    l_wire_s: float = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
) -> LatencySensitivity:
    """Return how a program's time depends on the latency of its wires (LLAMP, figure 11).

    ``plot_tolerance`` draws several topologies in one figure.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the wires take L's place.
        topology: the network.
        placement: int[ranks], the host of each rank, or a ``Placement``; None is dense.
        percent: how much slower than at ``l_wire_s`` is tolerated.
        interval: first and last latency of a wire of the curve, s; the default is the paper's, for
            what stronger error correction adds.
        l_wire_s: latency of a wire to start from.
        d_switch_s: latency of a switch.
        same_host_s: latency between two ranks of one host.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or an argument is not accepted.
    """
    sweep = wire_sweep(
        program, model, topology, placement, d_switch_s=d_switch_s, same_host_s=same_host_s
    )
    found = analyse(
        sweep, model.replace(L=l_wire_s), percent=percent, interval=interval, contention=False
    )
    source = f"{sweep.graph.source} on {topology.name}"
    described = (
        f"{source}, LLAMP's semantics, no contention, switches of {d_switch_s * 1e9:g} ns, {model} "
        "without its L"
    )
    return replace(
        found,
        source=source,
        variable="l_wire",
        provenance=Provenance("simulated", described),
    )


def topology_study(
    programs: Mapping[str, ProgramLike],
    model: LogGPS,
    topologies: Iterable[Topology],
    *,
    percent: Sequence[float] = (1, 2, 5),
    l_wire_s: float = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
) -> pd.DataFrame:
    """Return programs' tolerance of wire latency on topologies, as LLAMP's figures 10 and 11.

    Each program is placed densely: rank r at host r.

    Args:
        programs: by name, such as one program with several algorithms of its collectives.
        model: o, G and S.
        topologies: the networks.
        percent: how much slower than at ``l_wire_s`` is tolerated.
        l_wire_s: latency of a wire to start from.
        d_switch_s: latency of a switch.

    Returns:
        A row for each program and topology: ``program``, ``topology``, ``mean_hops``,
        ``mean_latency_ns``, ``T_ns``, ``lambda_wire`` (to the right), and for each percentage
        ``tolerance_ns_1`` and so on, the largest latency of a wire.

    Raises:
        ProgramError: a program cannot run to its end.
        ParameterError: a program does not fit, or an argument is not accepted.
    """
    import pandas as pd

    networks = tuple(topologies)
    rows: list[dict[str, Any]] = []
    for name, program in programs.items():
        packed = Sweep(program, model)
        for topology in networks:
            wires = Wires.of(topology, packed.graph.num_ranks, d_switch_s=d_switch_s)
            sweep = along_wires(packed, wires, None, l_wire_s)
            point = sweep.at(l_wire_s)
            hops, latency = wires.means(l_wire_s)
            rows.append(
                {
                    "program": name,
                    "topology": topology.name,
                    "mean_hops": hops,
                    "mean_latency_ns": latency * 1e9,
                    "T_ns": point.T * 1e9,
                    "lambda_wire": point.lambda_L_right,
                    **{
                        f"tolerance_ns_{p:g}": s * 1e9
                        for p, s in sweep.tolerance(percent, l_wire_s).items()
                    },
                }
            )
    return pd.DataFrame(rows)


def _packed(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    placement: ArrayLike | HasHosts | None,
    d_switch_s: float,
    same_host_s: float,
) -> tuple[Sweep, Wires]:
    """Return a packed program, and the wires between its ranks."""
    packed = Sweep(program, model)
    latencies = {"d_switch_s": d_switch_s, "same_host_s": same_host_s}
    return packed, Wires.of(topology, packed.graph.num_ranks, placement, **latencies)


def along_wires(
    packed: Sweep,
    wires: Wires,
    wire_class: str | None,
    l_wire_s: float | Mapping[str, float],
    *,
    by_one: bool = False,
) -> Sweep:
    """Return the sweep over the latency of some wires, or over what is added to all."""
    source = packed.graph.rank_of(packed.send_ops)
    between = source, packed.graph.peer[packed.send_ops]
    chosen = wires.chosen(wire_class)
    kept = wires.classes_ps(l_wire_s) * (1 if by_one else 1 - chosen)
    return packed.along(
        wires.wires[between].astype(np.int64) @ chosen,
        constant_s=wires.of_wires_ps(kept)[between] / PS_PER_S,
    )


def _start(wires: Wires, wire_class: str | None, l_wire_s: float | Mapping[str, float]) -> float:
    """Return the latency that the wires which are meant have at first, in s."""
    starts = set(wires.classes_ps(l_wire_s)[wires.chosen(wire_class) == 1].tolist())
    if len(starts) > 1:
        raise ParameterError(
            "all wires together must start from one latency; name a wire_class, or give l_wire_s "
            "as one number",
            key="l_wire_s",
        )
    return float(starts.pop() / PS_PER_S)


def _slopes(point: SweepPoint) -> tuple[int, int]:
    return point.lambda_L_left, point.lambda_L_right
