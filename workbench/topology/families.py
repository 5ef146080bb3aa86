"""The families of topologies: their generators, and what a shell or a panel must know of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from workbench.topology.aries import aries
from workbench.topology.complete import fully_connected
from workbench.topology.dragonfly import dragonfly
from workbench.topology.dragonfly_links import WIRINGS
from workbench.topology.dragonfly_plus import dragonfly_plus
from workbench.topology.fat_tree import fat_tree
from workbench.topology.hammingmesh import hammingmesh
from workbench.topology.hypercube import hypercube
from workbench.topology.hyperx import hyperx
from workbench.topology.jellyfish import jellyfish
from workbench.topology.polarfly import polarfly
from workbench.topology.slim_fly import slim_fly
from workbench.topology.spectralfly import spectralfly
from workbench.topology.star import star
from workbench.topology.tofu_d import tofu_d
from workbench.topology.topology import Topology
from workbench.topology.torus import torus
from workbench.topology.xgft import xgft
from workbench.topology.xpander import xpander

ValueKind = Literal["number", "numbers", "ratios", "flag", "word"]


class TopologyParameter(NamedTuple):
    """One parameter of a family.

    Attributes:
        name: as the generator has it.
        meaning: a few words for a control or a line of help.
        start: what a control shows first, as text in a topology's spec; empty for the default.
        kind: of its value: ``number``, ``numbers`` (with x between them), ``ratios`` (likewise, not
            necessarily whole), ``flag`` or ``word``.
        needed: whether it has no default.
        optional: whether it may be ``none``.
        choices: the words it may be; none for other kinds.
    """

    name: str
    meaning: str
    start: str = ""
    kind: ValueKind = "number"
    needed: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()


class Family(NamedTuple):
    """One family of topologies.

    Attributes:
        generator: makes one.
        order: what numbers without a letter mean, in their order.
        title: its name in words.
        about: one line on what it is.
        example: parameters that make one, as after the colon of a topology's spec.
        parameters: of the generator, in the order of its signature.
    """

    generator: Callable[..., Topology]
    order: tuple[str, ...]
    title: str
    about: str
    example: str
    parameters: tuple[TopologyParameter, ...]


BANDWIDTH = TopologyParameter(
    "bandwidth", "bandwidth of each class of links, in hosts' links", "", "ratios", optional=True
)
"""A parameter of a spec of any family; see `with_bandwidths`."""

_HOSTS = TopologyParameter("hosts", "hosts of a router", "1")
_BALANCED = TopologyParameter("hosts", "hosts of a router; half of its links", optional=True)
_SEED = TopologyParameter("seed", "seed of the random draw", "1")
_WIRING = TopologyParameter("wiring", "port to group", WIRINGS[0], "word", choices=WIRINGS)
_LINKS = TopologyParameter("links", "links between two groups", "1", optional=True)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "fat-tree": Family(
            fat_tree,
            ("k",),
            "fat tree",
            "three tiers of equal switches, full or tapered",
            "8",
            (
                TopologyParameter("k", "ports of a switch", "8", needed=True),
                TopologyParameter("taper", "hosts for each uplink", "1"),
            ),
        ),
        # The order is that of Shen et al., LLAMP, section IV.2.
        "dragonfly": Family(
            dragonfly,
            ("g", "a", "p", "h"),
            "dragonfly",
            "groups of fully connected routers, every two groups connected",
            "9,4,2,2",
            (
                TopologyParameter("a", "routers of a group", "4", needed=True),
                TopologyParameter("p", "hosts of a router", "2", needed=True),
                TopologyParameter("h", "global ports of a router", "2", optional=True),
                TopologyParameter("g", "groups", "9", optional=True),
                _WIRING,
                _LINKS,
            ),
        ),
        "torus": Family(
            torus,
            ("dims",),
            "torus",
            "a grid of any dimension with wraparound links; a mesh without them",
            "8x8x8",
            (
                TopologyParameter(
                    "dims", "routers along each dimension", "8x8x8", "numbers", needed=True
                ),
                _HOSTS,
                TopologyParameter("mesh", "without wraparound links", "false", "flag"),
                TopologyParameter("multiplicity", "parallel links", "1", "numbers", optional=True),
            ),
        ),
        "tofu-d": Family(
            tofu_d,
            ("shape",),
            "Tofu-D",
            "units of 2x3x2 nodes in a torus of three more dimensions, as in Fugaku",
            "4x3x2",
            (
                TopologyParameter(
                    "shape", "units along X, Y and Z", "4x3x2", "numbers", needed=True
                ),
                _HOSTS,
                TopologyParameter("mesh", "X, Y and Z not closed", "false", "flag"),
            ),
        ),
        "hypercube": Family(
            hypercube,
            ("n",),
            "hypercube",
            "2ⁿ routers, connected if their numbers differ in one bit",
            "6",
            (TopologyParameter("n", "dimensions", "6", needed=True), _HOSTS),
        ),
        "hyperx": Family(
            hyperx,
            ("sizes",),
            "HyperX",
            "a grid whose rows are fully connected in every dimension; flattened butterfly",
            "8x8",
            (
                TopologyParameter(
                    "sizes", "routers along each dimension", "8x8", "numbers", needed=True
                ),
                TopologyParameter("hosts", "hosts of a router", "8"),
                TopologyParameter("multiplicity", "parallel links", "1", "numbers", optional=True),
            ),
        ),
        "xgft": Family(
            xgft,
            ("m", "w", "parallel"),
            "extended fat tree",
            "a tree of any height with any numbers of children and parents",
            "8x8x4,1x4x4",
            (
                TopologyParameter("m", "children on each level", "8x8x4", "numbers", needed=True),
                TopologyParameter("w", "parents on each level", "1x4x4", "numbers", needed=True),
                TopologyParameter("parallel", "parallel links", "1", "numbers", optional=True),
            ),
        ),
        "aries": Family(
            aries,
            ("g",),
            "Cray XC (Aries)",
            "groups of 6 rows of 16 routers, connected along rows and columns and between groups",
            "4",
            (
                TopologyParameter("g", "groups of 96 routers", "4", needed=True),
                TopologyParameter("blue", "links between two groups", "", optional=True),
                TopologyParameter("hosts", "hosts of a router", "4"),
            ),
        ),
        "dragonfly-plus": Family(
            dragonfly_plus,
            ("g", "leaves", "spines", "p", "h"),
            "Dragonfly+",
            "groups of leaves and spines, connected by the spines",
            "9,4,4,4,2",
            (
                TopologyParameter("leaves", "leaf routers of a group", "4", needed=True),
                TopologyParameter("spines", "spine routers of a group", "4", needed=True),
                TopologyParameter("p", "hosts of a leaf", "4", needed=True),
                TopologyParameter("h", "global ports of a spine", "2", optional=True),
                TopologyParameter("g", "groups", "9", optional=True),
                _WIRING,
                _LINKS,
            ),
        ),
        "fully-connected": Family(
            fully_connected,
            ("n",),
            "fully connected",
            "a link between every two routers",
            "16",
            (TopologyParameter("n", "routers", "16", needed=True), _HOSTS),
        ),
        "star": Family(
            star,
            ("n",),
            "star",
            "routers round a hub without hosts",
            "16",
            (
                TopologyParameter("n", "routers round the hub", "16", needed=True),
                _HOSTS,
                TopologyParameter("multiplicity", "links to the hub", "1"),
            ),
        ),
        "slim-fly": Family(
            slim_fly,
            ("q", "hosts"),
            "Slim Fly",
            "MMS graphs: diameter two, with nearly the largest possible number of routers",
            "7",
            (TopologyParameter("q", "a prime power", "7", needed=True), _BALANCED),
        ),
        "polarfly": Family(
            polarfly,
            ("q", "hosts"),
            "PolarFly",
            "points of a finite plane, connected if orthogonal: diameter two",
            "11",
            (TopologyParameter("q", "a prime power", "11", needed=True), _BALANCED),
        ),
        "spectralfly": Family(
            spectralfly,
            ("p", "q", "hosts"),
            "SpectralFly",
            "LPS graphs: the largest spectral gap that their degree allows",
            "11,7",
            (
                TopologyParameter("p", "a prime, links less 1", "11", needed=True),
                TopologyParameter("q", "another prime, above 2√p", "7", needed=True),
                _BALANCED,
            ),
        ),
        "jellyfish": Family(
            jellyfish,
            ("n", "r", "hosts"),
            "Jellyfish",
            "a random graph whose routers all have the same number of links",
            "98,11",
            (
                TopologyParameter("n", "routers", "98", needed=True),
                TopologyParameter("r", "links of a router", "11", needed=True),
                _BALANCED,
                _SEED,
            ),
        ),
        "xpander": Family(
            xpander,
            ("d", "lift", "hosts"),
            "Xpander",
            "a random lift of the fully connected network",
            "11,8",
            (
                TopologyParameter("d", "links of a router", "11", needed=True),
                TopologyParameter("lift", "routers of a meta-node", "8", needed=True),
                _BALANCED,
                _SEED,
            ),
        ),
        "hammingmesh": Family(
            hammingmesh,
            ("a", "b", "x", "y", "radix"),
            "HammingMesh",
            "boards that are meshes, in rows and columns connected by switches",
            "2,2,8,8",
            (
                TopologyParameter("a", "columns of a board", "2", needed=True),
                TopologyParameter("b", "rows of a board", "2", needed=True),
                TopologyParameter("x", "boards of a row", "8", needed=True),
                TopologyParameter("y", "boards of a column", "8", needed=True),
                TopologyParameter("radix", "ports of a switch", "64"),
                TopologyParameter("hosts", "hosts of an accelerator", "1"),
            ),
        ),
    }
)
"""The families, by their name in a spec of `parse_topology`."""
