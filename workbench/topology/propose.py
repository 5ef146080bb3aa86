"""Members of each family near a number of hosts, with routers of at most a number of ports.

    propose(1000, radix=24)                                  # closest first
    matched(["fat-tree", "slim-fly", "torus"], hosts=1000)   # one of each, to be compared

Nothing is built: sizes come from closed formulas, so that a slider may ask at every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from math import log
from typing import TYPE_CHECKING

from workbench.errors import ParameterError
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.topology.family_sizes import MEMBERS, Member, SizeLimits
from workbench.topology.generator_checks import LARGEST
from workbench.topology.spec import parse_topology
from workbench.topology.topology import Topology, whole

if TYPE_CHECKING:
    import pandas as pd

_BAND = 0.1
"""Matches within this share count as equally close; then a family's convention decides."""

_RADIX_BAND = 0.12
"""The same for the ports of a router."""

_FARTHEST = {"hosts": 2.0, "radix": 1.5, "ports": 2.0}
"""The factor by which a match may be off; a family that has none as close is left out."""

_MOST_ROUTERS = 16
"""Routers for each host aimed at where the radix is matched: no hypercube of half a million."""

_STEPS = 6  # 12 come no nearer; 3 to 0.04 % of the ports, 1 to half of them

_PORTS_OF_HOST = 5
"""Ports in use for each host of a full fat tree of three tiers."""

ProposalKey = tuple[float, ...]


@dataclass(frozen=True)
class ProposedTopology(StoredResult):
    """A network that could be built, with its spec and its sizes.

    Attributes:
        family: name of its family.
        spec: what `parse_topology` makes it from.
        hosts: number of hosts.
        routers: number of routers.
        links: number of links between routers.
        radix: most ports of a router in use, hosts' among them.
        hosts_per_router: hosts of each router that has any.
    """

    family: str
    spec: str
    hosts: int
    routers: int
    links: int
    radix: int
    hosts_per_router: int

    @property
    def ports(self) -> int:
        """Ports of all routers in use, hosts' among them: what a network's cost grows with."""
        return 2 * self.links + self.hosts

    def to_frame(self) -> pd.DataFrame:
        """Return one row of the attributes."""
        import pandas as pd

        return pd.DataFrame([vars(self)])

    def build(self) -> Topology:
        """Return the network."""
        return parse_topology(self.spec)


def propose(
    hosts: int,
    radix: int | None = None,
    families: Iterable[str] | None = None,
    *,
    tolerance: float = 0.25,
    most: int = 3,
) -> list[ProposedTopology]:
    """Return members of each family with about the given number of hosts, closest first.

    How many hosts a router has is each family's convention, see `members`.

    Args:
        hosts: about how many.
        radix: the most ports of a router, those of hosts among them; None takes half as many
            again as the smallest fat tree of so many hosts has.
        families: words of ``FAMILIES``; None takes all.
        tolerance: how far the number of hosts may be off, as a share of ``hosts``.
        most: of each family.

    Raises:
        ParameterError: a family is unknown, or an argument is none of these.
    """
    hosts = _hosts(hosts)
    radix = usual_radix(hosts) if radix is None else radix
    radix = whole("radix", radix, 2, "the most ports of a router")
    most = whole("most", most, 1, "the proposals of each family")
    if not 0 <= tolerance < 1:
        raise ParameterError(
            f"tolerance must be a share from 0 to below 1; got {tolerance}", key="tolerance"
        )
    low, high = int((1 - tolerance) * hosts), int((1 + tolerance) * hosts)
    wanted = SizeLimits(hosts, max(low, 1), min(high, LARGEST), radix)
    found: list[tuple[ProposalKey, ProposedTopology]] = []
    for family in _families(families):
        fitting = [
            (_key(member, "hosts", hosts, hosts), member) for member in _fitting(family, wanted)
        ]
        found += [(key, _proposal(family, member)) for key, member in sorted(fitting)[:most]]
    return [proposal for _, proposal in sorted(found, key=lambda pair: pair[0])]


def usual_radix(hosts: int) -> int:
    """Return the default number of a router's ports for a number of hosts.

    Half as many again as those of the smallest full fat tree, so that every family that scales
    has a member.

    Args:
        hosts: how many.
    """
    k = next(k for k in count(2, 2) if k**3 // 4 >= hosts)
    return max(3 * k // 2, 8)


def matched(
    families: Iterable[str] | None = None,
    *,
    hosts: int | None = None,
    radix: int | None = None,
    ports: int | None = None,
    about: int = 1000,
    limit: int | None = None,
) -> list[ProposedTopology]:
    """Return the member of each family that is closest in one respect, to compare like with like.

    Matched on hosts, networks serve the same machine; on radix, they are made of the same routers;
    on ports in use, which price and power of a network grow with, they cost about the same. Of
    members as close, within 10 %, the one that keeps the family's convention is taken. A family
    whose closest member is off by a factor of 2, or 1.5 in the radix, is left out.

    Args:
        families: words of ``FAMILIES``; None takes all.
        hosts: to be matched.
        radix: to be matched, and not exceeded.
        ports: of all routers in use, `ProposedTopology.ports`, to be matched.
        about: how many hosts are aimed at where the radix is matched.
        limit: the most ports of a router where another respect is matched; None takes
            `usual_radix`.

    Raises:
        ParameterError: not one of hosts, radix and ports is given, or a family is unknown.
    """
    given = {"hosts": hosts, "radix": radix, "ports": ports}
    chosen = [(key, value) for key, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise ParameterError(
            f"networks are matched on one of {', '.join(given)}; got "
            f"{', '.join(key for key, _ in chosen) or 'none'}",
            key="hosts",
        )
    key, value = chosen[0]
    value = _hosts(value) if key == "hosts" else whole(key, value, 2, f"the {key} to match")
    about = _hosts({"hosts": value, "radix": about, "ports": -(-value // _PORTS_OF_HOST)}[key])
    limit = usual_radix(about) if limit is None else limit
    limit = whole("limit", limit, 2, "the most ports of a router")
    best = []
    for family in _families(families):
        if key == "hosts":
            members = _fitting(
                family, SizeLimits(value, value // 2, min(2 * value, LARGEST), limit)
            )
        elif key == "radix":
            members = _of_radix(family, value, about)
        else:
            members = _of_ports(family, value, limit)
        near = [m for m in members if _off(m, key, value) <= log(_FARTHEST[key])]
        if near:
            closest = min(near, key=lambda m: _key(m, key, value, about))
            best.append(_proposal(family, closest))
    return best


def _hosts(hosts: int) -> int:
    hosts = whole("hosts", hosts, 1, "about how many hosts there are")
    if hosts > LARGEST:
        raise ParameterError(f"hosts must be at most {LARGEST}; got {hosts}", key="hosts")
    return hosts


def _families(families: Iterable[str] | None) -> list[str]:
    chosen = list(MEMBERS) if families is None else list(dict.fromkeys(families))
    for family in chosen:
        if family not in MEMBERS:
            raise ParameterError(
                f"families must be of {', '.join(MEMBERS)}; got {family!r}"
                f"{did_you_mean(family, MEMBERS)}",
                key="families",
            )
    return chosen


def _fitting(family: str, wanted: SizeLimits) -> Iterator[Member]:
    """Yield the members of a family that are within the wanted limits and can be built."""
    for member in MEMBERS[family](wanted):
        if (
            wanted.low <= member.hosts <= wanted.high
            and member.radix <= wanted.radix
            and member.links <= LARGEST
        ):
            yield member


def _of_radix(family: str, radix: int, about: int) -> Iterator[Member]:
    """Yield members of a family of any number of hosts, but not of very many routers."""
    most = min(_MOST_ROUTERS * about, LARGEST)
    for member in _fitting(family, SizeLimits(about, 1, LARGEST, radix)):
        if member.routers <= most:
            yield member


def _of_ports(family: str, ports: int, limit: int) -> Iterator[Member]:
    """Yield members of a family with about ``ports`` ports in use, by varying the hosts."""
    hosts = -(-ports // _PORTS_OF_HOST)
    for _ in range(_STEPS):
        members = list(
            _fitting(family, SizeLimits(hosts, hosts // 4, min(4 * hosts, LARGEST), limit))
        )
        if not members:
            return
        yield from members
        nearest = min(members, key=lambda m: _key(m, "hosts", hosts, hosts))
        moved = min(max(round(hosts * ports / _measure(nearest, "ports")), 1), LARGEST)
        if moved == hosts:
            return
        hosts = moved


def _measure(member: Member, key: str) -> int:
    values = {
        "hosts": member.hosts,
        "radix": member.radix,
        "ports": 2 * member.links + member.hosts,
    }
    return values[key]


def _off(member: Member, key: str, value: int) -> float:
    return abs(log(_measure(member, key) / value))


def _key(member: Member, key: str, value: int, about: int) -> ProposalKey:
    """Return the sort key of a member, smallest for the closest."""
    if key == "radix":
        return (
            int(_off(member, key, value) / _RADIX_BAND),
            int(_off(member, "hosts", about) / log(2)),
            member.rank,
            -member.radix,
            _off(member, "hosts", about),
        )
    off = _off(member, key, value)
    return int(off / _BAND), member.rank, off, member.routers, -member.radix


def _proposal(family: str, member: Member) -> ProposedTopology:
    return ProposedTopology(
        family=family,
        spec=f"{family}:{member.parameters}",
        hosts=member.hosts,
        routers=member.routers,
        links=member.links,
        radix=member.radix,
        hosts_per_router=member.per_router,
    )
