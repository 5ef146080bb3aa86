"""Tofu-D: a grid of units of twelve nodes, in six dimensions, as in Fugaku.

Ajima, Kawashima, Okamoto, Shida, Hirai, Shimizu, Hiramoto, Ikeda, Yoshikawa, Uchida, Inoue: The
Tofu Interconnect D, CLUSTER 2018, section II. Its topology is that of Ajima, Sumimoto, Shimizu:
Tofu: A 6D Mesh/Torus Interconnect for Exascale Computers, IEEE Computer 42, 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from workbench.errors import ParameterError
from workbench.topology.generator_checks import hosts_suffix, joined, refuse_larger, wholes
from workbench.topology.topology import TERMINAL, Topology, whole
from workbench.topology.torus import along, dimension_class, grid

UNIT = (2, 3, 2)
"""Nodes of a unit along its dimensions A, B and C; B is a ring."""

_DIMENSIONS = ("A", "B", "C", "X", "Y", "Z")


def tofu_d(shape: Sequence[int] | int, *, hosts: int = 1, mesh: bool = False) -> Topology:
    """Return the nodes of a job or of a whole machine with Tofu-D, 12·X·Y·Z of them.

    Units of 2 x 3 x 2 nodes (A, B, C) stand in a torus of X x Y x Z; each node is joined to the one
    in its place in the units around it. Of its ten links at most one leads along A and C, two along
    B, X, Y and Z. Along a dimension of two the ends are joined once. The diameter is
    3 + ⌊X/2⌋ + ⌊Y/2⌋ + ⌊Z/2⌋.

    Coordinates are A, B, C, X, Y, Z; nodes are numbered by these, A counting fastest, so that those
    of a unit follow each other. Each dimension is a class of its own.

    Args:
        shape: units along X, Y and Z, three numbers: of the job.
        hosts: hosts of a node.
        mesh: whether X, Y and Z are not closed, as those of a job on a part of the machine.

    Raises:
        ParameterError: an argument is none of these, or the network is too large.
    """
    units = wholes("shape", shape, 1, "the units along a dimension")
    hosts = whole("hosts", hosts, 1, "the hosts of a node")
    if len(units) != 3:
        raise ParameterError(
            f"shape must be three numbers, the units along X, Y and Z, as 4x3x2; got {len(units)}",
            key="shape",
        )
    sizes = (*UNIT, *units)
    nodes = prod(sizes)
    refuse_larger("Tofu-D", "shape", hosts=nodes * hosts, links=5 * nodes)
    blocks = [along(sizes, axis, mesh and axis > 2) for axis in range(len(sizes))]
    kind = "Tofu-D mesh" if mesh else "Tofu-D"
    parameters: dict[str, int | str] = {"shape": joined(units), "hosts": hosts}
    if mesh:
        parameters["mesh"] = "true"
    return Topology(
        name=f"{kind} {joined(units)}{hosts_suffix(hosts)}",
        num_routers=nodes,
        links=np.concatenate(blocks).astype(np.int32),
        link_class=dimension_class([len(block) for block in blocks]),
        classes=(TERMINAL, *_DIMENSIONS),
        host_router=np.repeat(np.arange(nodes, dtype=np.int32), hosts),
        group=np.full(nodes, -1, np.int32),
        parameters=parameters,
        family="tofu-d",
        coordinates=grid(sizes),
    )
