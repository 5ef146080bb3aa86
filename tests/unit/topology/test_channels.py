"""Links and hosts as channels: their order, their ends, and the way back."""

from __future__ import annotations

import numpy as np

from tests.cases import for_each
from workbench import topology


@for_each(
    "word",
    [
        "torus:4x3x2,multiplicity=2x1x3",
        "dragonfly:5,2,2,2",
        "star:3,hosts=2,multiplicity=2",
        "fully-connected:1,hosts=3",
        "aries:2,blue=10",
        "fat-tree:4",
    ],
)
def test_the_channels_of_a_network(word: str) -> None:
    made = topology.parse_topology(word)
    found = topology.channels(made)
    between, hosts = 2 * made.num_links, made.num_hosts
    assert found.between_routers == between
    for of_channels in (found.source, found.target, found.link_class):
        assert len(of_channels) == between + 2 * hosts
    source, target = found.source[:between], found.target[:between]
    # By router, by the router at the other end, and parallel links in their order.
    order = np.lexsort((found.link, target, source))
    np.testing.assert_array_equal(order, np.arange(between))
    for router in range(made.num_routers):
        own = source[found.first[router] : found.first[router + 1]]
        assert len(own) == made.degree[router]
        assert set(own) <= {router}
    ends = np.sort(np.column_stack((source, target)), axis=1)
    np.testing.assert_array_equal(ends, np.sort(made.links, axis=1)[found.link])
    np.testing.assert_array_equal(found.link_class[:between], made.link_class[found.link])
    back = found.opposite
    np.testing.assert_array_equal(back[back], np.arange(between))
    np.testing.assert_array_equal(found.link[back], found.link)
    np.testing.assert_array_equal(source[back], target)
    np.testing.assert_array_equal(found.target[found.ejection], np.arange(hosts))
    np.testing.assert_array_equal(found.source[found.ejection], made.host_router)
    np.testing.assert_array_equal(found.source[found.injection], np.arange(hosts))
    np.testing.assert_array_equal(found.target[found.injection], made.host_router)
    assert set(found.link_class[between:]) == {0}
