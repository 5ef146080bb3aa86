"""Loads of channels: against flows that are passed on one by one, on networks with twins."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples
from tests.kernels.networks import networks
from tests.reference.link_load import loads
from workbench.topology import Topology, channels
from workbench.topology.link_load import link_loads
from workbench.topology.twins import twins


@st.composite
def networks_with_twins(draw):
    """Draw a joined network in which each router of a smaller one stands up to three times."""
    routers, links = draw(networks(least=2, most=4, joined=True))
    first = np.cumsum([0, *(draw(st.integers(1, 3)) for _ in range(routers))])
    classes = [draw(st.integers(1, 2)) for _ in links]
    ends = [
        (a, b, one)
        for (here, there), one in zip(links, classes, strict=True)
        for a in range(first[here], first[here + 1])
        for b in range(first[there], first[there + 1])
    ]
    number = int(first[-1])
    return Topology(
        "drawn",
        number,
        [end[:2] for end in ends],
        [end[2] for end in ends],
        ("terminal", "local", "global"),
        np.arange(number),
        [-1] * number,
        family=draw(st.sampled_from(["custom", "dragonfly"])),
    )


@given(networks_with_twins(), st.integers(0, 99), st.sampled_from([1, 4]))
@examples(15)
def test_loads_are_those_of_all_minimal_routes(network, seed, often):
    rng = np.random.default_rng(seed)
    size = (network.num_routers,) * 2
    sent = rng.integers(0, 5, size) * (rng.integers(0, often, size) == 0).astype(float)
    np.fill_diagonal(sent, 0)
    expected = [float(value) for value in loads(network, sent).values()]
    # Sums of some dozens of terms.
    assert link_loads(network, sent).channel == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(networks_with_twins())
@examples(25)
def test_twins_have_the_same_links(network):
    ports = channels(network)
    found = twins(ports)
    weight = network.link_weight[ports.link]
    target = ports.target[: ports.between_routers]

    def links(router):
        mine = slice(ports.first[router], ports.first[router + 1])
        return sorted(zip(target[mine].tolist(), weight[mine].tolist(), strict=True))

    for one in range(network.num_routers):
        for other in range(network.num_routers):
            alike = found.class_of[one] == found.class_of[other]
            assert alike == (links(one) == links(other))
    for channel in range(ports.between_routers):
        bundle = found.bundle_of[channel]
        here, there = found.class_of[[ports.source[channel], target[channel]]]
        assert found.first[here] <= bundle < found.first[here + 1]
        assert found.target[bundle] == there
        assert found.weight[bundle] == weight[channel]
        assert (found.bundle_of == bundle).sum() == found.members[here] * found.channels[bundle]
