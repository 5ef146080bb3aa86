"""Wire latency: how a program's time depends on the wires between its ranks.

Shen et al., LLAMP, section IV.2 and appendix H: over a topology L of a message that passes h
switches is (h + 1) l_wire + h d_switch, and l_wire takes L's place as the variable, or a latency
for each class of wires: hosts' own, within a group, between groups.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.simulate.picoseconds import LONGEST_PARAMETER, PS_PER_S
from workbench.tolerance.analysis import analyse
from workbench.tolerance.curve import PERCENT, LatencySensitivity
from workbench.tolerance.sweep import Sweep, SweepPoint
from workbench.topology import Topology
from workbench.topology.metrics.links import D_SWITCH_S
from workbench.topology.topology import routers_passed

if TYPE_CHECKING:
    import pandas as pd

L_WIRE_S = 274e-9
"""Latency of a wire in LLAMP's study, after Zambre et al. 2019."""

WireLatency = float | Mapping[str, float]
"""Latency of a wire, s, or one for each class by name."""

FEC_INTERVAL_S = (274e-9, 424e-9)
"""Latencies of a wire without and with complex forward error correction, of LLAMP's figure 11."""


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
    l_wire_s: WireLatency = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
) -> WireSensitivity:
    """Return a program's time over a topology and its slopes in the latency of the wires.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the wires take L's place.
        topology: the network.
        placement: int[ranks], the host of each rank, or a ``Placement``; None is dense.
        l_wire_s: latency of a wire, s, or one for each class by name.
        d_switch_s: latency of a switch, s.
        same_host_s: latency between two ranks of one host, s.

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
    percent: Sequence[float] = PERCENT,
    *,
    wire_class: str | None = None,
    l_wire_s: WireLatency = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
) -> dict[float, float]:
    """Return the largest wire latency in s with which a program is at most p percent slower.

    Exact to the picosecond, the clock's tick; inf where no wire is on any path. Arguments and
    errors are those of `wire_sensitivity`; ``l_wire_s`` is what is started from. With a
    ``wire_class`` only the latency of these wires is raised (appendix H), without one that of all,
    which must then start from one latency.
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
    percent: Sequence[float] = PERCENT,
    interval: tuple[float, float] = FEC_INTERVAL_S,
    l_wire_s: float = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
) -> LatencySensitivity:
    """Return how a program's time depends on the latency of its wires (LLAMP, figure 11).

    Arguments and errors are those of `wire_sensitivity`; ``l_wire_s`` is what is started from, and
    by ``percent`` more than there T may grow. The interval is of the latency of a wire, s: the
    paper's, for what stronger error correction adds. ``plot_tolerance`` draws several topologies in
    one figure.
    """
    packed, wires = _packed(program, model, topology, placement, d_switch_s, same_host_s)
    sweep = along_wires(packed, wires)
    base = model.replace(L=l_wire_s)
    found = analyse(sweep, base, percent=percent, interval=interval, contention=False)
    source = f"{sweep.graph.source} on {topology.name}"
    origin = Provenance(
        "simulated",
        f"{source}, LLAMP's semantics, no contention, switches of {d_switch_s * 1e9:g} ns, {model} "
        "without its L",
    )
    return replace(found, source=source, variable="l_wire", provenance=origin)


def topology_study(
    programs: Mapping[str, ProgramLike],
    model: LogGPS,
    topologies: Iterable[Topology],
    *,
    percent: Sequence[float] = PERCENT,
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
            sweep = along_wires(packed, wires)
            point = sweep.at(l_wire_s)
            hops, latency = wires.means(l_wire_s)
            row = {
                "program": name,
                "topology": topology.name,
                "mean_hops": hops,
                "mean_latency_ns": latency * 1e9,
                "T_ns": point.T * 1e9,
                "lambda_wire": point.lambda_L_right,
            }
            tolerance = sweep.tolerance(percent, l_wire_s)
            rows.append(row | {f"tolerance_ns_{p:g}": s * 1e9 for p, s in tolerance.items()})
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
    wire_class: str | None = None,  # whose latency varies; None: all
    l_wire_s: WireLatency = L_WIRE_S,  # of the other wires
    *,
    by_one: bool = False,  # vary what is added to ``l_wire_s`` instead
) -> Sweep:
    """Return the sweep over the latency of wires; where it is not given, it is the model's L."""
    source = packed.graph.rank_of(packed.send_ops)
    between = source, packed.graph.peer[packed.send_ops]
    chosen = wires.chosen(wire_class)
    kept = wires.classes_ps(l_wire_s) * (1 if by_one else 1 - chosen)
    return packed.along(
        wires.wires[between].astype(np.int64) @ chosen,
        constant_s=wires.of_wires_ps(kept)[between] / PS_PER_S,
    )


def _start(wires: Wires, wire_class: str | None, l_wire_s: WireLatency) -> float:
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


class HasHosts(Protocol):
    """Anything that places ranks: a ``Placement``."""

    @property
    def hosts(self) -> IntArray:
        """The host of each rank, int64[ranks]."""


@dataclass(frozen=True, eq=False)
class Wires:
    """The wires and switches between a program's ranks."""

    topology: Topology
    hosts: IntArray  # (ranks,); ranks may share a host
    d_switch_s: float = D_SWITCH_S  # latency of a switch
    same_host_s: float = 0.0  # latency between two ranks of one host

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", self.topology.checked_hosts(self.hosts))
        if len(self.topology.link_latency):
            warnings.warn(
                f"{self.topology.name} states a latency for each link; here wires of a class have "
                "one latency, that of l_wire_s, which is taken instead",
                stacklevel=3,
            )
        _ = self._fixed_ps

    @classmethod
    def of(
        cls,
        topology: Topology,
        ranks: int,
        placement: ArrayLike | HasHosts | None = None,  # int[ranks], hosts; None: rank r at host r
        *,
        d_switch_s: float = D_SWITCH_S,
        same_host_s: float = 0.0,
    ) -> Wires:
        """Return the wires between the ranks of a program where they are placed."""
        if placement is None and ranks > topology.num_hosts:
            raise ParameterError(
                f"{topology.name} has {topology.num_hosts} hosts for {ranks} ranks: take a larger "
                "one, or place several ranks at a host",
                key="placement",
            )
        dense = np.arange(ranks)
        hosts = dense if placement is None else np.asarray(getattr(placement, "hosts", placement))
        if hosts.shape != (ranks,):
            raise ParameterError(
                f"placement must have a host for each of {ranks} ranks; got shape {hosts.shape}",
                key="placement",
            )
        return cls(topology, hosts, d_switch_s, same_host_s)

    @cached_property
    def wires(self) -> NDArray[np.uint8]:
        """Wires of each class between two ranks, uint8[ranks, ranks, classes]."""
        return self.topology.wires(self.hosts)

    @cached_property
    def hops(self) -> NDArray[np.uint8]:
        """Switches between two ranks, uint8[ranks, ranks]; 0 at the same host."""
        return routers_passed(self.wires)

    def latency_ps(self, l_wire_s: WireLatency = L_WIRE_S) -> IntArray:
        """Return L between two ranks, int64[ranks, ranks], ps; wires' latency may be by class."""
        return self.of_wires_ps(self.classes_ps(l_wire_s))

    def of_wires_ps(self, l_wire_ps: IntArray) -> IntArray:
        """Return L between two ranks, int64[ranks, ranks], ps; ``l_wire_ps`` is int64[classes]."""
        found: IntArray = self.wires.astype(np.int64) @ l_wire_ps + self._fixed_ps
        return found

    def means(self, l_wire_s: WireLatency = L_WIRE_S) -> tuple[float, float]:
        """Return the mean switches and the mean L in s between ranks of different hosts, or 0s."""
        apart = self.hops > 0
        if not apart.any():
            return 0.0, 0.0
        latency = float(self.latency_ps(l_wire_s)[apart].mean()) / PS_PER_S
        return float(self.hops[apart].mean()), latency

    def classes_ps(self, l_wire_s: WireLatency) -> IntArray:
        """Return the latency of a wire of each class, int64[classes], ps."""
        names = self.topology.classes
        if isinstance(l_wire_s, Mapping):
            if set(l_wire_s) != set(names):
                raise ParameterError(
                    f"l_wire_s must have a latency for each of {', '.join(names)}; got "
                    f"{', '.join(map(str, l_wire_s)) or 'none'}",
                    key="l_wire_s",
                )
            return _latencies_ps(np.array([l_wire_s[name] for name in names], np.float64))
        return _latencies_ps(np.full(len(names), l_wire_s, np.float64))

    def chosen(self, wire_class: str | None) -> IntArray:
        """Return 1 for the class of that name and 0 for the rest, int64[classes]; None: all 1."""
        names = self.topology.classes
        if wire_class is None:
            return np.ones(len(names), np.int64)
        if wire_class not in names:
            raise ParameterError(
                f"{self.topology.name} has wires of the classes {', '.join(names)}; got "
                f"{wire_class!r}",
                key="wire_class",
            )
        return np.array([name == wire_class for name in names], np.int64)

    @cached_property
    def _fixed_ps(self) -> IntArray:
        switch, same = _latencies_ps(np.array([self.d_switch_s, self.same_host_s], np.float64))
        hops = self.hops.astype(np.int64)
        fixed: IntArray = np.where(hops > 0, hops * switch, same)
        return fixed


def _latencies_ps(seconds: FloatArray) -> IntArray:
    """Return latencies in whole ps, in the same shape."""
    most = LONGEST_PARAMETER / PS_PER_S
    if not (np.isfinite(seconds).all() and (seconds >= 0).all() and (seconds <= most).all()):
        raise ParameterError(
            f"latencies of wires and switches must be 0 to {most:.0f} s", key="l_wire_s"
        )
    whole: IntArray = np.rint(seconds * PS_PER_S).astype(np.int64)
    return whole
