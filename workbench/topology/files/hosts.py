"""The hosts of a graph from a file: as the file says, or as its reader does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.files.assembly import ASSUMED, MOST_HOSTS_OF_ROUTER
from workbench.topology.generator_checks import LARGEST
from workbench.topology.topology import Topology, whole

HostsAt = Literal["all", "edge"]


def with_hosts(topology: Topology, hosts: int, at: str = "all") -> Topology:
    """Return a topology with this many hosts at each router, or each with the fewest links."""
    hosts = whole("hosts", hosts, 0, "the hosts of a router")
    if hosts > MOST_HOSTS_OF_ROUTER:
        raise ParameterError(
            f"hosts must be at most {MOST_HOSTS_OF_ROUTER}; got {hosts}", key="hosts"
        )
    known = get_args(HostsAt)
    if at not in known:
        raise ParameterError(
            f"at must be one of {', '.join(known)}; got {at!r}{did_you_mean(at, known)}", key="at"
        )
    degree = topology.degree
    routers = np.flatnonzero(degree == degree.min() if at == "edge" else degree >= 0)
    if len(routers) * hosts > LARGEST:
        raise ParameterError(
            f"a topology must have at most {LARGEST} hosts; got {len(routers) * hosts}", key="hosts"
        )
    chosen = np.repeat(routers, hosts).astype(np.int32)
    rates = np.unique(topology.host_bandwidth)
    others = {key: value for key, value in topology.parameters.items() if key != "hosts"}
    return replace(
        topology,
        host_router=chosen,
        parameters=others,
        # Where all hosts had links of one bandwidth, those set have it too.
        host_bandwidth=np.full(len(chosen), rates[0]) if len(rates) == 1 else np.zeros(0),
        host_names=(),
    )


def hosts_set(text: str) -> dict[str, Any]:
    """Return the arguments of ``with_hosts`` in a text such as ``hosts=16,at=edge``."""
    arguments: dict[str, Any] = {"hosts": 1}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in ("hosts", "at"):
            raise ParameterError(
                f"a graph from a file takes hosts=N and at=all or at=edge; got {part!r}",
                key="hosts",
            )
        arguments[key] = int(value) if value.isdecimal() else value
    return arguments


def describe_hosts(topology: Topology) -> str:
    """Return where the hosts of a graph are, and whether that was assumed."""
    counts = np.bincount(topology.host_router, minlength=topology.num_routers)
    having = counts[counts > 0]
    if topology.parameters.get("hosts") == ASSUMED:
        return f"it names no hosts: one at each of its {topology.num_routers:,} routers is assumed"
    if not len(having):
        return "no router has hosts"
    least, most = int(having.min()), int(having.max())
    each = f"{least}" if least == most else f"{least} to {most}"
    without = topology.num_routers - len(having)
    rest = f", none at {without:,} (spines)" if without else ""
    return f"{each} hosts at each of {len(having):,} routers{rest}"
