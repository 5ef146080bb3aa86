"""Members of families that are matched on hosts, radix or cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.errors import ParameterError
from workbench.topology import TopologyMetrics
from workbench.topology.propose import matched

NOTHING = ""
MATCHES: Mapping[str, tuple[str, str]] = {
    NOTHING: ("nothing (as typed)", ""),
    "hosts": ("hosts", "number of hosts"),
    "radix": ("router radix", "ports of a router"),
    "ports": ("cost: ports in use", "ports of all routers"),
}
"""The quantities to match topologies on: the entry in the list, and the label of the number."""


class Sizes(NamedTuple):
    """The sizes on which topologies are matched."""

    hosts: int
    radix: int  # most ports in use of a router
    ports: int  # in use of all routers, hosts' ports included

    @classmethod
    def of(cls, metrics: TopologyMetrics) -> Sizes:
        """Return the sizes in a topology's metrics."""
        return cls(metrics.hosts, metrics.radix, 2 * metrics.links + metrics.hosts)


def matching(families: Sequence[str], on: str, amount: int, about: int) -> dict[str, str]:
    """Return the spec of each family's member that matches ``amount``, where there is one."""
    if on not in MATCHES or not on:
        raise ParameterError(
            f"topologies are matched on one of {', '.join(m for m in MATCHES if m)}; got {on!r}",
            key="match",
        )
    hosts, radix, ports = (amount if on == name else None for name in ("hosts", "radix", "ports"))
    found = matched(list(families), hosts=hosts, radix=radix, ports=ports, about=about)
    return {one.family: one.spec for one in found}
