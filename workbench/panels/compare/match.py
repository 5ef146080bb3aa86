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
    "hosts": ("hosts", "about so many hosts"),
    "radix": ("router radix", "ports of a router"),
    "ports": ("cost: ports in use", "ports of all routers"),
}
"""What topologies can be matched on: what the list says, and what the number beside it is."""


class Sizes(NamedTuple):
    """The sizes of a topology that others can be matched on.

    Attributes:
        hosts: number of hosts.
        radix: most ports of a router in use.
        ports: of all routers in use, hosts' among them.
    """

    hosts: int
    radix: int
    ports: int

    @classmethod
    def of(cls, metrics: TopologyMetrics) -> Sizes:
        """Return the sizes of a topology.

        Args:
            metrics: of it.
        """
        return cls(metrics.hosts, metrics.radix, 2 * metrics.links + metrics.hosts)


def matching(families: Sequence[str], on: str, amount: int, about: int) -> dict[str, str]:
    """Return the word of the member of each family that matches; families without are left out.

    Args:
        families: words of families.
        on: one of `MATCHES`, not the first.
        amount: hosts, radix or ports to be matched.
        about: how many hosts are aimed at where another respect is matched.

    Raises:
        ParameterError: the amount is not accepted.
    """
    if on not in MATCHES or not on:
        raise ParameterError(
            f"topologies are matched on one of {', '.join(m for m in MATCHES if m)}; got {on!r}",
            key="match",
        )
    hosts, radix, ports = (amount if on == name else None for name in ("hosts", "radix", "ports"))
    found = matched(list(families), hosts=hosts, radix=radix, ports=ports, about=about)
    return {one.family: one.word for one in found}
