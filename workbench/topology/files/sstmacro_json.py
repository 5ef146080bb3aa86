"""SST/macro's JSON of any network, for ``topology.name = file``.

``switches`` and ``nodes`` are objects by name; each has ``outports``, objects by port with the
``destination`` and the ``inport`` there. SST/macro numbers switches and nodes in the order of their
names, as bytes, and so are they here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import ParameterError
from workbench.jsonfile import parse_json
from workbench.topology.files.assembly import SHOWN, Assembly, Place
from workbench.topology.topology import Topology

_WHAT = "SST/macro's topology file"


def parse_sstmacro_json(content: str | bytes, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of an SST/macro topology file; None takes the file's nodes as hosts."""
    values = parse_json(content, _WHAT, source=source)
    place = Place(source)
    switches, nodes = (_object(values, key, place) for key in ("switches", "nodes"))
    both = next(iter(switches.keys() & nodes.keys()), None)
    if both is not None:
        raise place.error(f"names must differ; {both[:SHOWN]!r} is a switch and a node")
    read = Assembly(source)
    number = {name: read.router(name, place) for name in sorted(switches, key=_bytes)}
    at: dict[str, int] = {}
    taken: dict[tuple[int, int], set[int]] = {}
    links: dict[tuple[int, int], int] = {}
    for name, router in number.items():
        for port, outport in _object(switches[name], "outports", place, name).items():
            to = outport.get("destination") if isinstance(outport, dict) else None
            if not isinstance(to, str) or not (to in number or to in nodes):
                raise place.error(
                    f"port {port[:SHOWN]!r} of {name[:SHOWN]!r} must have a destination that "
                    f"is a switch or a node; got {str(to)[:SHOWN]!r}"
                )
            if to in nodes:
                if at.setdefault(to, router) != router:
                    raise place.error(f"node {to[:SHOWN]!r} must be at one switch; it is at two")
                continue
            links[router, number[to]] = links.get((router, number[to]), 0) + 1
            inport = outport.get("inport")
            used = taken.setdefault((number[to], router), set())
            if not isinstance(inport, int) or inport in used:
                raise place.error(
                    f"port {port[:SHOWN]!r} of {name[:SHOWN]!r} must have an inport of its own, "
                    f"a whole number; got {str(inport)[:SHOWN]!r}"
                )
            used.add(inport)
    names = list(number)
    for (one, other), count in links.items():
        back = links.get((other, one), 0)
        if back != count:
            raise place.error(
                f"links must lead both ways; {count} lead from {names[one][:SHOWN]!r} to "
                f"{names[other][:SHOWN]!r}, {back} back"
            )
        for _ in range(count if one <= other else 0):
            read.link(one, other, place)
    for node in sorted(nodes, key=_bytes):
        if node not in at:
            raise place.error(f"node {node[:SHOWN]!r} must be the destination of a switch's port")
    made = read.topology(hosts=0 if hosts is None else hosts, ordered=True)
    if hosts is not None:
        return made
    ordered = sorted(nodes, key=_bytes)
    return replace(
        made,
        host_router=np.array([at[node] for node in ordered], np.int32),
        host_names=tuple(ordered),
    )


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _object(values: Any, key: str, place: Place, of: str = "") -> dict[str, Any]:
    found = values.get(key) if isinstance(values, dict) else None
    if not isinstance(found, dict):
        raise place.error(f"{of[:SHOWN] or _WHAT} must have {key!r}, an object by name")
    return found


def to_sstmacro_json(topology: Topology, *, average_hops: int | None = None) -> str:
    """Return a topology as SST/macro's JSON, from which `parse_sstmacro_json` makes an equal graph.

    A switch's ports are numbered link by link, those of its hosts last. Names are kept where they
    are in their order as bytes, by which SST/macro numbers switches and nodes. Classes, groups,
    coordinates, bandwidths and latencies are not among what the file can hold.

    Args:
        topology: any.
        average_hops: what SST/macro takes for all distances where it needs a guess; None takes the
            mean number of links between routers, rounded up.

    Raises:
        ParameterError: there is no route between two routers, so that there is no mean.
    """
    routers = topology.num_routers
    if average_hops is None:
        pairs = max(routers * (routers - 1), 1)
        average_hops = -(-int(topology.router_hops.sum(dtype=np.int64)) // pairs)
    if average_hops < 0:
        raise ParameterError(
            f"average_hops must be at least 0; got {average_hops}", key="average_hops"
        )
    # Names of one length, so that their order is that of the numbers.
    switch = [f"switch{router:0{len(str(routers - 1))}}" for router in range(routers)]
    width = len(str(max(topology.num_hosts - 1, 0)))
    node = [f"node{host:0{width}}" for host in range(topology.num_hosts)]
    own = [list(topology.router_names) or switch, list(topology.host_names) or node]
    if not set(own[0]) & set(own[1]) and all(one == sorted(one, key=_bytes) for one in own):
        switch, node = own
    ports: list[dict[str, dict[str, object]]] = [{} for _ in range(routers)]
    for one, other in topology.links.tolist():
        here, there = len(ports[one]), len(ports[other])
        ports[one][str(here)] = {"destination": switch[other], "inport": there}
        ports[other][str(there)] = {"destination": switch[one], "inport": here}
    nodes: dict[str, object] = {}
    for host, router in enumerate(topology.host_router.tolist()):
        port = len(ports[router])
        ports[router][str(port)] = {"destination": node[host], "inport": 0}
        nodes[node[host]] = {"outports": {"0": {"destination": switch[router], "inport": port}}}
    switches = {name: {"outports": own} for name, own in zip(switch, ports, strict=True)}
    values = {"avg_num_hops": average_hops, "switches": switches, "nodes": nodes}
    return json.dumps(values, indent=1) + "\n"
