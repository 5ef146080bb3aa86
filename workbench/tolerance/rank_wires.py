"""The wires and switches between a program's ranks, and the latency that they make.

A message that passes h switches takes (h + 1) wires and h switches (Shen et al., LLAMP, section
IV.2); wires are of classes (appendix H): hosts' own, within a group, between groups.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.simulate.picoseconds import LONGEST_PARAMETER, PS_PER_S
from workbench.topology import Topology
from workbench.topology.metrics.links import D_SWITCH_S
from workbench.topology.topology import routers_passed


class HasHosts(Protocol):
    """Anything that places ranks: a ``Placement``."""

    @property
    def hosts(self) -> IntArray:
        """The host of each rank, int64[ranks]."""


L_WIRE_S = 274e-9
"""Latency of a wire in LLAMP's study, after Zambre et al. 2019."""


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
        if placement is None:
            if ranks > topology.num_hosts:
                raise ParameterError(
                    f"{topology.name} has {topology.num_hosts} hosts for {ranks} ranks: take a "
                    "larger one, or place several ranks at a host",
                    key="placement",
                )
            hosts = np.arange(ranks)
        else:
            hosts = np.asarray(getattr(placement, "hosts", placement))
            if hosts.shape != (ranks,):
                raise ParameterError(
                    f"placement must have a host for each of {ranks} ranks; got shape "
                    f"{hosts.shape}",
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

    def latency_ps(self, l_wire_s: float | Mapping[str, float] = L_WIRE_S) -> IntArray:
        """Return L between two ranks, int64[ranks, ranks], ps; wires' latency may be by class."""
        return self.of_wires_ps(self.classes_ps(l_wire_s))

    def of_wires_ps(self, l_wire_ps: IntArray) -> IntArray:
        """Return L between two ranks, int64[ranks, ranks], ps; ``l_wire_ps`` is int64[classes]."""
        found: IntArray = self.wires.astype(np.int64) @ l_wire_ps + self._fixed_ps
        return found

    def means(self, l_wire_s: float | Mapping[str, float] = L_WIRE_S) -> tuple[float, float]:
        """Return the mean switches and the mean L in s between ranks of different hosts, or 0s."""
        apart = self.hops > 0
        if not apart.any():
            return 0.0, 0.0
        latency = float(self.latency_ps(l_wire_s)[apart].mean()) / PS_PER_S
        return float(self.hops[apart].mean()), latency

    def classes_ps(self, l_wire_s: float | Mapping[str, float]) -> IntArray:
        """Return the latency of a wire of each class, int64[classes], ps."""
        names = self.topology.classes
        if isinstance(l_wire_s, Mapping):
            if set(l_wire_s) != set(names):
                raise ParameterError(
                    f"l_wire_s must have a latency for each of {', '.join(names)}; got "
                    f"{', '.join(map(str, l_wire_s)) or 'none'}",
                    key="l_wire_s",
                )
            return latencies_ps(np.array([l_wire_s[name] for name in names], np.float64))
        return latencies_ps(np.full(len(names), l_wire_s, np.float64))

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
        switch, same = latencies_ps(np.array([self.d_switch_s, self.same_host_s], np.float64))
        hops = self.hops.astype(np.int64)
        fixed: IntArray = np.where(hops > 0, hops * switch, same)
        return fixed


def latencies_ps(seconds: FloatArray) -> IntArray:
    """Return latencies in whole ps, in the same shape."""
    most = LONGEST_PARAMETER / PS_PER_S
    if not (np.isfinite(seconds).all() and (seconds >= 0).all() and (seconds <= most).all()):
        raise ParameterError(
            f"latencies of wires and switches must be 0 to {most:.0f} s", key="l_wire_s"
        )
    whole: IntArray = np.rint(seconds * PS_PER_S).astype(np.int64)
    return whole
