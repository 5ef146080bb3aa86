"""Networks of real machines, each with where its shape is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.aries import aries
from workbench.topology.topology import Topology
from workbench.topology.torus import torus
from workbench.topology.xgft import xgft


@dataclass(frozen=True)
class Preset:
    """A real machine's network.

    Attributes:
        name: its spec, as `preset` and `parse_topology` take it.
        title: the machine, where it was and what its network is.
        source: where the shape is published.
        note: what is left out or assumed.
        make: makes the topology.
    """

    name: str
    title: str
    source: str
    note: str
    make: Callable[[], Topology]

    def build(self) -> Topology:
        """Return the topology under the machine's name."""
        made = self.make()
        return replace(made, name=f"{self.title.partition(',')[0]} ({made.name})")


_CRAY = "Faanes et al., Cray Cascade, SC 2012, for the group"

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        one.name: one
        for one in (
            Preset(
                "hopper",
                "Hopper, Cray XE6 of NERSC, Gemini torus",
                "17x8x24 routers of two nodes, two links along x and z and one along y: hopper_amm."
                "ini and hopper_nodemap.txt of SST/macro; Wilke et al., Euro-Par 2013, section 5; "
                "Alverson, Roweth, Kaplan, The Gemini System Interconnect, HOTI 2010",
                "all 6,528 places for nodes, service nodes among them",
                lambda: torus((17, 8, 24), hosts=2, multiplicity=(2, 1, 2)),
            ),
            Preset(
                "edison",
                "Edison, Cray XC30 of NERSC, Aries dragonfly",
                "15 groups, 24 links between each two: inter-edison and intra-edison of CODES, and "
                f"links-edison.txt of Damselfly, which name every link; {_CRAY}",
                "all 5,760 places for nodes, service nodes among them",
                lambda: aries(15, blue=24),
            ),
            Preset(
                "theta",
                "Theta, Cray XC40 of ALCF, Aries dragonfly",
                "9 groups, 48 links between each two: inter-theta and intra-theta of CODES, which "
                f"name every link; {_CRAY}",
                "all 3,456 places for nodes, service nodes among them, of the groups recorded",
                lambda: aries(9, blue=48),
            ),
            Preset(
                "cori",
                "Cori, Cray XC40 of NERSC, Aries dragonfly",
                "34 groups: Bhatele et al., The Case of Performance Variability on Dragonfly-based "
                f"Systems, IPDPS 2020, section II-A; {_CRAY}",
                "how many links join two groups is not said there: this has 24, which is what "
                "the ports allow in whole rounds of the rows; all 13,056 places for nodes",
                lambda: aries(34),
            ),
            Preset(
                "summit",
                "Summit, IBM AC922 of OLCF, EDR InfiniBand fat tree",
                "4,608 nodes in 256 racks with two leaf switches each: EE Times, Inside the Summit "
                "Supercomputer, 2018; 36-port switches of 18 nodes: summit-fattree.conf of CODES; "
                "full bisection: An Evaluation of the CORAL Interconnects, SC 2019, abstract",
                "one of the two rails, compute nodes only; which leaves share a pod is not "
                "said there: this has 16 pods of 16 leaves",
                lambda: xgft((18, 16, 16), (1, 18, 16)),
            ),
            Preset(
                "sierra",
                "Sierra, IBM AC922 of LLNL, EDR InfiniBand tapered fat tree",
                "4,320 nodes in 240 racks: Linux.com, HPC Advances with Perlmutter and Sierra "
                "Supercomputers, 2018; a 2:1 taper between racks and aggregation switches: An "
                "Evaluation of the CORAL Interconnects, SC 2019, abstract",
                "one of the two rails, compute nodes only; which leaves share a pod is not "
                "said there: this has 15 pods of 16 leaves",
                lambda: xgft((18, 16, 15), (1, 9, 16)),
            ),
        )
    }
)
"""The machines, by name."""


def presets() -> tuple[str, ...]:
    """Return the names of the machines there are."""
    return tuple(PRESETS)


def preset(name: str) -> Topology:
    """Return the network of a real machine.

    Args:
        name: one of `presets()`.

    Raises:
        ParameterError: there is no such machine here.
    """
    if name.lower() not in PRESETS:
        raise ParameterError(
            f"a machine must be one of {', '.join(PRESETS)}; got {name!r}"
            f"{did_you_mean(name, PRESETS)}",
            key="topology",
        )
    return PRESETS[name.lower()].build()
