"""Links of more or less bandwidth than the hosts': global against local, tapered trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.checks import above_zero
from workbench.errors import ParameterError
from workbench.topology.topology import Topology


def with_bandwidths(topology: Topology, bandwidths: Sequence[float] | float) -> Topology:
    """Return a topology whose classes of links have bandwidths of their own.

    In a spec it is ``bandwidth``, as in ``dragonfly:9,4,2,2,bandwidth=1x2``: the links between
    groups have twice the bandwidth of the hosts' and of those within a group.

    Args:
        topology: the network.
        bandwidths: for each class of links between routers, in the order of ``classes``, or one
            for all: how many times the bandwidth of a host's link.

    Raises:
        ParameterError: there are not as many as classes, or one is not above 0.
    """
    given = (bandwidths,) if isinstance(bandwidths, int | float) else tuple(bandwidths)
    classes = topology.classes[1:]
    for one in given:
        above_zero(one, "bandwidth")
    if len(given) not in (1, len(classes)):
        raise ParameterError(
            f"bandwidth must be one number, or one for each class of links of {topology.name}, "
            f"{', '.join(classes)}; got {len(given)}",
            key="bandwidth",
        )
    of_class = np.array(given * (len(classes) // len(given)), float)
    said = "x".join(f"{one:g}" for one in given)
    return replace(
        topology,
        name=f"{topology.name}, links of {said} bandwidth",
        parameters=dict(topology.parameters) | {"bandwidth": said},
        link_bandwidth=of_class[topology.link_class - 1],
        host_bandwidth=np.ones(topology.num_hosts),
        relative=True,
    )
