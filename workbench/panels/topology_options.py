"""The entries of lists of topologies: families, real machines, other sizes of a family."""

from __future__ import annotations

from workbench.errors import ParameterError
from workbench.topology import FAMILIES
from workbench.topology.presets import PRESETS
from workbench.topology.propose import ProposedTopology, propose

MACHINE = "machine"
"""Entry of the real machines in the list of families."""

_NEAR, _SIZES = 0.6, 8
"""Share of the hosts that a member may be off, and most members of a list. Of the 68 lists for 17
families and 64, 256, 1024 and 4096 hosts, 20 have fewer than three members; with 0.3, 26."""


def family_options() -> list[tuple[str, str]]:
    """Return (title, name) of each topology family for a list, and an entry for machines."""
    known = [(about.title, name) for name, about in FAMILIES.items()]
    return [*known, ("a real machine", MACHINE)]


def machine_options() -> list[tuple[str, str]]:
    """Return the titles and names of the real machines."""
    return [(one.title.partition(",")[0], one.name) for one in PRESETS.values()]


def near_sizes(family: str, hosts: int) -> list[tuple[str, str]]:
    """Return (text, spec) of members of a family with about ``hosts`` hosts, for a list."""
    try:
        found = propose(hosts, families=[family], tolerance=_NEAR, most=_SIZES)
    except ParameterError:
        return []
    ordered = sorted(found, key=lambda one: (one.hosts, one.spec))
    return [(_said(one), one.spec) for one in ordered]


def _said(one: ProposedTopology) -> str:
    return f"{one.spec.partition(':')[2]}: {one.hosts:,} hosts, radix {one.radix}"
