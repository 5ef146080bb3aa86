"""Random small networks for kernels, as links and as the rows that kernels take."""

import numpy as np
from hypothesis import strategies as st


def rows(links, routers):
    """Return start, neighbour and capacity: each neighbour once, with the number of links."""
    count = np.zeros((routers, routers))
    for one, other in links:
        count[one, other] += 1
        count[other, one] += 1
    start = np.concatenate(([0], np.cumsum((count > 0).sum(axis=1)))).astype(np.int32)
    return start, np.nonzero(count)[1].astype(np.int32), count[count > 0]


@st.composite
def networks(draw, least=1, most=9, joined=False):
    """Draw a number of routers and links between them, some of them parallel."""
    routers = draw(st.integers(least, most))
    pairs = [(i, j) for i in range(routers) for j in range(i + 1, routers)]
    links = draw(st.lists(st.sampled_from(pairs), max_size=2 * routers)) if pairs else []
    if joined:
        links += [(draw(st.integers(0, router - 1)), router) for router in range(1, routers)]
    return routers, links
