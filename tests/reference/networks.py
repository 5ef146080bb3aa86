"""Measures of networks by definition: every route, every division, every cycle; small ones only."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog

from tests.reference.graphs import distances, neighbours

Links = list[tuple[int, int]]


def hops(links: Links, routers: int) -> np.ndarray:
    """Return the links on a shortest route between every two routers, -1 where there is none."""
    return np.array([distances(routers, links, source) for source in range(routers)])


def shortest_routes(links: Links, routers: int, source: int, target: int) -> list[list[int]]:
    """Return every shortest route as its routers, one for each choice of parallel links."""
    away = hops(links, routers)
    near = neighbours(routers, links)

    def onward(here: int) -> list[list[int]]:
        if here == target:
            return [[here]]
        steps = [there for there in near[here] if away[there, target] == away[here, target] - 1]
        return [[here, *rest] for there in steps for rest in onward(there)]

    return onward(source) if away[source, target] >= 0 else []


def girth(links: Links, routers: int) -> int:
    """Return the links of the shortest cycle: the shortest way round each link, and it; or 0."""
    ways = []
    for place, (one, other) in enumerate(links):
        round_it = hops(links[:place] + links[place + 1 :], routers)[one, other]
        if round_it >= 0:
            ways.append(int(round_it) + 1)
    return min(ways, default=0)


def bisection(links: Links, hosts: list[int], difference: int) -> int:
    """Return the fewest links between two sides whose hosts differ by no more than that."""
    fewest = len(links)
    for side in itertools.product((0, 1), repeat=len(hosts)):
        excess = sum(count if at else -count for at, count in zip(side, hosts, strict=True))
        if abs(excess) <= difference:
            fewest = min(fewest, sum(side[one] != side[other] for one, other in links))
    return fewest


def simple_routes(links: Links, routers: int, source: int, target: int) -> list[tuple[int, ...]]:
    """Return every route without a router twice, as its channels: 2 i and 2 i + 1 are link i's."""
    out: list[list[tuple[int, int]]] = [[] for _ in range(routers)]
    for place, (one, other) in enumerate(links):
        out[one].append((2 * place, other))
        out[other].append((2 * place + 1, one))
    found = []

    def walk(here: int, seen: set[int], taken: tuple[int, ...]) -> None:
        if here == target:
            found.append(taken)
            return
        for channel, there in out[here]:
            if there not in seen:
                walk(there, seen | {there}, (*taken, channel))

    walk(source, {source}, ())
    return found


def throughput(links: Links, routers: int, demand: np.ndarray) -> float:
    """Return the most of all demands that fits at once: a variable for every route there is."""
    pairs = [(s, t) for s in range(routers) for t in range(routers) if s != t and demand[s, t] > 0]
    routes = [(pair, route) for pair in pairs for route in simple_routes(links, routers, *pair)]
    capacity = np.zeros((2 * len(links), len(routes) + 1))
    sent = np.zeros((len(pairs), len(routes) + 1))
    for column, (pair, route) in enumerate(routes):
        capacity[list(route), column] = 1
        sent[pairs.index(pair), column] = 1
    sent[:, -1] = [-demand[pair] for pair in pairs]
    goal = np.zeros(len(routes) + 1)
    goal[-1] = -1
    solved = linprog(goal, capacity, np.ones(len(capacity)), sent, np.zeros(len(sent)))
    return float(-solved.fun)
