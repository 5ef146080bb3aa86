"""What a network costs and draws, by a price table that anyone may edit: an estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.named_options import named_fields
from workbench.suggestions import did_you_mean
from workbench.topology.topology import Topology


@dataclass(frozen=True)
class PriceTable:
    """Prices, power and lengths: assumptions to replace by quotations, in whatever currency.

    The form is that of Besta, Hoefler: Slim Fly, SC 2014, section VI: a router's price grows with
    its ports, a cable's with its length and bandwidth; within a cabinet cables are electrical,
    between cabinets optical. The figures are rounded from prices of about 2014, of FDR10 cables and
    routers; they are assumptions, for comparing networks and not for buying one.

    Attributes:
        router_fixed: the price line's value at no ports; below 0 in the default.
        router_per_port: what each port adds to a router's price.
        router_least_ports: the line holds from this number of ports in use; a router with fewer is
            priced as one with so many. 7 is the smallest router that the source prices, of a 3D
            torus with one host at each.
        electrical_fixed_per_gbit_s: price of an electrical cable of no length, per Gbit/s.
        electrical_per_m_gbit_s: price of its metre, per Gbit/s.
        optical_fixed_per_gbit_s: price of an optical cable of no length, per Gbit/s.
        optical_per_m_gbit_s: price of its metre, per Gbit/s.
        bandwidth_gbit_s: of a link; of one of capacity 1 where links are unequal.
        power_per_port_w: power that a port in use draws, W: four lanes of 0.7 W.
        host_cable_m: length of the cable to a host, m.
        cabinet_cable_m: length of a cable within a cabinet, m.
        cabinet_pitch_m: from a cabinet to the next, along and across rows, m.
        overhead_m: what a cable between cabinets is longer than the way along the rows, m.
        routers_per_cabinet: where a router has no group, so many in the routers' order share a
            cabinet; a group is a cabinet.
    """

    router_fixed: float = -890.0
    router_per_port: float = 350.0
    router_least_ports: int = 7
    electrical_fixed_per_gbit_s: float = 0.58
    electrical_per_m_gbit_s: float = 0.41
    optical_fixed_per_gbit_s: float = 2.75
    optical_per_m_gbit_s: float = 0.092
    bandwidth_gbit_s: float = 40.0
    power_per_port_w: float = 2.8
    host_cable_m: float = 1.0
    cabinet_cable_m: float = 1.0
    cabinet_pitch_m: float = 1.0
    overhead_m: float = 2.0
    routers_per_cabinet: int = 24

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = -math.inf if field.name == "router_fixed" else 0.0
            number(value, field.name, least)
        whole(self.routers_per_cabinet, "routers_per_cabinet", 1)
        whole(self.router_least_ports, "router_least_ports", 0)
        least = self.router_fixed + self.router_least_ports * self.router_per_port
        if least < 0:
            raise ParameterError(
                "a router of router_least_ports must have a price of at least 0: "
                f"{self.router_fixed:g} + {self.router_least_ports} × {self.router_per_port:g} = "
                f"{least:g}; raise router_least_ports, router_per_port or router_fixed",
                key="router_least_ports",
            )

    @named_fields
    def replace(self, **values: Any) -> PriceTable:
        """Return the table with other values.

        Args:
            values: by their names.

        Raises:
            ParameterError: there is no such value, or it is out of its range.
        """
        known = [field.name for field in fields(self)]
        for name in values:
            if name not in known:
                raise ParameterError(
                    f"a price table has {', '.join(known)}; got {name!r}"
                    f"{did_you_mean(name, known)}",
                    key=name,
                )
        return replace(self, **values)


@dataclass(frozen=True)
class Cost:
    """What a network costs and draws, as estimated by a price table.

    Attributes:
        routers: price of the routers with hosts or links.
        cables: price of all cables, the hosts' among them.
        power_w: power of the ports in use, W.
        electrical: number of electrical cables between routers.
        optical: number of optical ones.
        optical_m: their mean length, m; 0 where there is none.
        hosts: number of hosts.
        small_routers: number of routers with fewer ports in use than the price line holds for;
            they are priced as routers of ``prices.router_least_ports``.
        prices: the table.
    """

    routers: float
    cables: float
    power_w: float
    electrical: int
    optical: int
    optical_m: float
    hosts: int
    small_routers: int
    prices: PriceTable

    @property
    def note(self) -> str:
        """A clause on routers that are too small for the price line; empty if there are none."""
        if not self.small_routers:
            return ""
        least = self.prices.router_least_ports
        routers = "router" if self.small_routers == 1 else "routers"
        return f"{self.small_routers} {routers} priced as {least}-port ones"

    @property
    def total(self) -> float:
        """Price of routers and cables."""
        return self.routers + self.cables

    @property
    def per_host(self) -> float:
        """Price of routers and cables for each host."""
        return self.total / self.hosts if self.hosts else math.nan

    @property
    def power_per_host_w(self) -> float:
        """Power for each host, W."""
        return self.power_w / self.hosts if self.hosts else math.nan

    def __repr__(self) -> str:
        return (
            f"Cost({self.per_host:,.0f} and {self.power_per_host_w:.1f} W a host, estimated; "
            f"{self.electrical} electrical and {self.optical} optical cables"
            + (f"; {self.note})" if self.note else ")")
        )


def cost(topology: Topology, prices: PriceTable | None = None) -> Cost:
    """Return the cost and the power of a network by a price table.

    Cabinets stand in rows that form nearly a square, in the order of the groups; cables run along
    and across rows. A port of more bandwidth is priced, and draws power, as so many ports of
    capacity 1 (`Topology.capacity`).

    Args:
        topology: the network.
        prices: the price table; None takes the default one.
    """
    table = PriceTable() if prices is None else prices
    capacity, n = topology.capacity, topology.num_routers
    between = np.bincount(topology.links.ravel(), np.repeat(capacity, 2), n)
    ports = between + np.bincount(topology.host_router, topology.host_capacity, n)
    used = ports[ports > 0]
    priced = np.maximum(used, table.router_least_ports)
    cabinet = _cabinets(topology, table)
    one, other = cabinet[topology.links[:, 0]], cabinet[topology.links[:, 1]]
    width = max(1, math.ceil(math.sqrt(cabinet.max(initial=0) + 1)))
    steps = np.abs(one // width - other // width) + np.abs(one % width - other % width)
    optical = one != other
    lengths = steps[optical] * table.cabinet_pitch_m + table.overhead_m
    electrical = int((~optical).sum())
    per_gbit_s = (
        float(topology.host_capacity.sum()) * _electrical(table, table.host_cable_m)
        + float(capacity[~optical].sum()) * _electrical(table, table.cabinet_cable_m)
        + float(capacity[optical].sum()) * table.optical_fixed_per_gbit_s
        + float((lengths * capacity[optical]).sum()) * table.optical_per_m_gbit_s
    )
    return Cost(
        routers=float(len(used) * table.router_fixed + priced.sum() * table.router_per_port),
        cables=float(per_gbit_s * table.bandwidth_gbit_s),
        power_w=float(used.sum() * table.power_per_port_w),
        electrical=electrical,
        optical=len(lengths),
        optical_m=float(lengths.mean()) if len(lengths) else 0.0,
        hosts=topology.num_hosts,
        small_routers=int((used < table.router_least_ports).sum()),
        prices=table,
    )


def _electrical(table: PriceTable, length_m: float) -> float:
    return table.electrical_fixed_per_gbit_s + table.electrical_per_m_gbit_s * length_m


def _cabinets(topology: Topology, table: PriceTable) -> NDArray[np.int64]:
    """Return the cabinet of each router: its group, or by order where it has none."""
    cabinet = np.empty(topology.num_routers, np.int64)
    grouped = topology.group >= 0
    names, number = np.unique(topology.group[grouped], return_inverse=True)
    cabinet[grouped] = number
    alone = np.flatnonzero(~grouped)
    cabinet[alone] = len(names) + np.arange(len(alone)) // table.routers_per_cabinet
    return cabinet
