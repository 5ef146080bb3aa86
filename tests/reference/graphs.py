"""What a graph is like, slowly and by definition, from its links alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

Links = Sequence[tuple[int, int]]


def neighbours(routers: int, links: Links) -> list[list[int]]:
    """Return the routers that each one is joined to, once for each link."""
    found: list[list[int]] = [[] for _ in range(routers)]
    for one, other in links:
        found[one].append(other)
        found[other].append(one)
    return found


def distances(routers: int, links: Links, source: int) -> list[int]:
    """Return the links on a shortest route to each router, -1 where there is none."""
    joined = neighbours(routers, links)
    far = [-1] * routers
    far[source] = 0
    waiting = deque([source])
    while waiting:
        here = waiting.popleft()
        for there in joined[here]:
            if far[there] < 0:
                far[there] = far[here] + 1
                waiting.append(there)
    return far


def girth(routers: int, links: Links) -> int:
    """Return the links of a shortest ring, 0 where there is none.

    A link that leads to a router already reached closes a walk through the source; the shortest of
    these over all sources is a shortest ring.
    """
    joined = neighbours(routers, links)
    shortest = 0
    for source in range(routers):
        far, came = {source: 0}, {source: -1}
        waiting = deque([source])
        while waiting:
            here = waiting.popleft()
            for there in joined[here]:
                if there not in far:
                    far[there], came[there] = far[here] + 1, here
                    waiting.append(there)
                elif came[here] != there:
                    closed = far[here] + far[there] + 1
                    shortest = min(shortest or closed, closed)
    return shortest


def second_eigenvalue(routers: int, links: Links) -> float:
    """Return the second largest eigenvalue of the adjacency matrix."""
    adjacency = np.zeros((routers, routers))
    for one, other in links:
        adjacency[one, other] += 1
        adjacency[other, one] += 1
    return float(np.linalg.eigvalsh(adjacency)[-2])


def is_one_to_one(routers: int, links: Links) -> bool:
    """Return whether no two routers have more than one link, and none one to itself."""
    pairs = {tuple(sorted(link)) for link in links}
    return len(pairs) == len(links) and all(one != other for one, other in pairs)
