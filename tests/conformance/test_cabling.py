"""The networks of real machines against their recorded cabling, link by link.

What is restated here was taken from the files named, which are not part of this project: how many
links there are, and a digest of which routers they join. The digest of links is the start of the
SHA-256 of one line for each, its two routers with a space between them, the lower first, the lines
in numerical order; parallel links have a line each.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from tests.cases import for_each
from workbench import topology

GROUP = 96

RECORDED = {
    # CODES: inter-edison, which lists each link from both ends; Damselfly's links-edison.txt has
    # the same, its groups 0 to 11 and 13 to 15 counted one after another.
    ("edison", "blue"): (2520, "4ee25b228eb25cb82353357f0e665edf"),
    # CODES: inter-theta.
    ("theta", "blue"): (1728, "2f7c4f0a68490508affe0f54827ab25a"),
    # CODES: intra-edison and intra-theta, which are the same, those of type 0 and of type 1.
    ("edison", "row"): (720, "408e39d22ad9266df143107d8e729648"),
    ("theta", "row"): (720, "408e39d22ad9266df143107d8e729648"),
    ("edison", "column"): (720, "ff2b883a997c4766776cbbd6df8ef15d"),
    ("theta", "column"): (720, "ff2b883a997c4766776cbbd6df8ef15d"),
    # Damselfly: links-edison.txt, of all groups, green and black.
    ("edison", "all rows"): (10800, "fe95ee68b0c205181a9a513727af187b"),
    ("edison", "all columns"): (10800, "82c66ac5688321d93b62537f00ed1965"),
}


def digest(links: NDArray[np.int32]) -> str:
    pairs = np.sort(links, axis=1)
    lines = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist()
    return hashlib.sha256("\n".join(f"{a} {b}" for a, b in lines).encode()).hexdigest()[:32]


@for_each("machine, links", RECORDED)
def test_the_links_of_a_machine_are_those_recorded(machine: str, links: str) -> None:
    made = topology.preset(machine)
    kind = {"all rows": "row", "all columns": "column"}.get(links, links)
    chosen = made.links[made.link_class == made.classes.index(kind)]
    parts = [chosen]
    if links in ("row", "column"):
        parts = [
            chosen[made.group[chosen[:, 0]] == group] - GROUP * group
            for group in range(made.parameters["g"])  # type: ignore[arg-type]
        ]
    for part in parts:
        assert (len(part), digest(part)) == RECORDED[machine, links]


def test_the_digest_sees_a_single_link() -> None:
    made = topology.preset("theta")
    links = made.links[made.link_class == made.classes.index("blue")].copy()
    links[0] = links[0] + [0, 1]
    assert digest(links) != RECORDED["theta", "blue"][1]


@for_each(
    "machine, groups, of_a_pair, ports",
    [("edison", 15, 24, {2: 360, 4: 1080}), ("theta", 9, 48, {4: 864})],
)
def test_the_optical_ports_in_use(
    machine: str, groups: int, of_a_pair: int, ports: dict[int, int]
) -> None:
    """Links-edison.txt has 4 of a router's 10 blue ports used, or 2 at the ends of the rows."""
    made = topology.preset(machine)
    blue = made.links[made.link_class == made.classes.index("blue")]
    used = np.bincount(blue.ravel(), minlength=made.num_routers)
    assert dict(zip(*np.unique(used, return_counts=True), strict=True)) == ports
    pairs, counts = np.unique(made.group[blue], axis=0, return_counts=True)
    assert len(pairs) == groups * (groups - 1) // 2
    assert set(counts) == {of_a_pair}


def test_the_places_of_hopper() -> None:
    """SST/macro: hopper_nodemap.txt names 6,528 nodes, two at each of 17 x 8 x 24 places."""
    made = topology.preset("hopper")
    assert made.num_hosts == 6528
    assert made.coordinates.max(axis=0).tolist() == [16, 7, 23]
    assert len(np.unique(made.coordinates, axis=0)) == 3264
    assert set(np.bincount(made.host_router)) == {2}
    # hopper_amm.ini: the links along x and z are twice those along y.
    assert np.bincount(made.link_class)[1:].tolist() == [2 * 3264, 3264, 2 * 3264]
