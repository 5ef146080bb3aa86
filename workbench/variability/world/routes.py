"""Ways over a machine of Aries routers: minimal ones, and detours by way of a random router.

Packets take minimal ways as the routing ``minimal`` does: at most one link between groups, then the
fewest links; where several links begin such a way, each takes its part, and of three parallel ones
each counts. What goes by way of a random router goes minimally there and on, as with ``valiant``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.arrays import FloatArray, IntArray
from workbench.topology.aries import COLUMN_LINKS, COLUMNS
from workbench.variability.world.machine import CLASSES, ROUTERS, WorldMachine

_ROW_FIRST = 1 / (1 + COLUMN_LINKS)
"""Share that goes along the row before the column: one link leads that way, three the other."""

_SAMPLES = 400_000  # half and double change a step's time by 0.04 % (``small``, milc-128)
_LEAST_SAMPLES = 200  # chosen: of a router; only the 3,264 of ``cori`` would get fewer, 122
_AT_ONCE = 100_000  # pairs: their ways take 100 MB


@dataclass(frozen=True, eq=False)
class WayLinks:
    """The links of minimal ways between pairs of routers, an entry a pair and a link."""

    pair: IntArray  # its place
    link: IntArray  # wide link
    share: FloatArray  # of what the pair sends
    first: NDArray[np.bool_]  # whether ways begin with the link
    origin: IntArray  # router where the ways came into the group that the link is in or leaves


def minimal_ways(machine: WorldMachine, source: IntArray, target: IntArray) -> WayLinks:
    """Return the links of all minimal ways between pairs of routers, and what they carry of it."""
    apart = source // ROUTERS != target // ROUTERS
    same, far = np.flatnonzero(~apart), np.flatnonzero(apart)
    parts = _local_ways(machine, source[same], target[same], same, np.ones(len(same)), True)
    if len(far):
        begin, end = source[far], target[far]
        gates = machine.gates[begin // ROUTERS, end // ROUTERS].astype(np.int64)
        leave, arrive = (ends[gates].astype(np.int64) for ends in (machine.source, machine.target))
        cost = _hops(begin[:, None], leave) + _hops(arrive, end[:, None])
        cost[gates < 0] = 99
        shortest = cost == cost.min(axis=1, keepdims=True)
        weight = shortest * _ways_begin(begin[:, None], leave)
        weight /= weight.sum(axis=1, keepdims=True)
        row, column = np.nonzero(shortest)
        pair, gate, share = far[row], gates[row, column], weight[row, column]
        begin, end = source[pair], target[pair]
        leave, arrive = leave[row, column], arrive[row, column]
        parts += _local_ways(machine, begin, leave, pair, share, True)
        parts.append(WayLinks(pair, gate, share, begin == leave, begin))
        parts += _local_ways(machine, arrive, end, pair, share, False)
    return WayLinks(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("pair", "link", "share", "first", "origin")
        )
    )


def _hops(one: NDArray[np.integer], other: NDArray[np.integer]) -> IntArray:
    """Return the links between routers of a group: 0, 1 or 2."""
    found: IntArray = (one % COLUMNS != other % COLUMNS).astype(np.int64)
    found += one // COLUMNS != other // COLUMNS
    return found


def _ways_begin(one: NDArray[np.integer], other: NDArray[np.integer]) -> FloatArray:
    """Return how many links begin ways to a router of the group; 2 for the router itself."""
    along_row, along_column = one % COLUMNS != other % COLUMNS, one // COLUMNS != other // COLUMNS
    found = along_row + COLUMN_LINKS * along_column
    return np.where(found == 0, 2.0, found)


def _local_ways(
    machine: WorldMachine,
    source: IntArray,
    target: IntArray,
    pair: IntArray,
    share: FloatArray,
    begins: bool,
) -> list[WayLinks]:
    """Return the links between routers of a group."""
    column, row = target % COLUMNS, target % ROUTERS // COLUMNS
    along_row = source % COLUMNS != column
    along_column = source // COLUMNS != target // COLUMNS
    both = along_row & along_column
    by_row, by_column = source - source % COLUMNS + column, target - column + source % COLUMNS
    row_first = np.where(both, _ROW_FIRST, 1.0)
    column_first = np.where(both, 1.0 - _ROW_FIRST, 1.0)
    parts = []

    def add(which: NDArray[np.bool_], link: NDArray[np.int32], part: FloatArray, at: bool) -> None:
        chosen = link[which].astype(np.int64)
        first = np.full(len(chosen), begins and at)
        parts.append(WayLinks(pair[which], chosen, (share * part)[which], first, source[which]))

    add(along_row, machine.row_link[source, column], row_first, True)
    add(along_column, machine.column_link[source, row], column_first, True)
    add(both, machine.column_link[by_row, row], row_first, False)
    add(both, machine.row_link[by_column, column], column_first, False)
    return parts


@dataclass(frozen=True, eq=False)
class Detours:
    """What routers load links by that send by way of random routers, for each byte they send.

    What stays in a group goes by way of a router of that group, other traffic by way of any router
    of another group than it starts from, and arrives from any other than it ends in. The network
    takes neither of the two groups; of many groups that is nearly the same.

    Within a group a byte visits each row link of the router that it starts from on average so many
    times, each row link of the others in that column, and likewise its column links and those of
    the others in that row.

    Attributes:
        near: float64[4], visits of row links of the router, row links of its column, column links
            of the router, column links of its row, by a byte that stays in the group.
        within: float64[4], the same by one that leaves the group, where it starts.
        onward: float64[4], the same where it arrives in another group.
        gates: int64[k], the links between groups.
        leave: sparse [k, groups], visits of these by a byte that leaves a group.
        arrive: sparse [routers, k], 1 where a link between groups leads to a router.
        back: int64[k], place of the opposite link.
        local: sparse [links, 4 routers], which link of rows or columns has which of its values.
        first: sparse [2 routers, links], share of each router's detours that begin with a link,
            those within the group, then the others.
        hops: float64[2 routers], links to a random router on average, likewise.
    """

    near: FloatArray
    within: FloatArray
    onward: FloatArray
    gates: IntArray
    leave: sparse.csr_array
    arrive: sparse.csr_array
    back: IntArray
    local: sparse.csr_array
    first: sparse.csr_array
    hops: FloatArray

    def bytes_on(self, sent: FloatArray, received: FloatArray) -> FloatArray:
        """Return what links carry of what routers send and receive by detours, [links, columns].

        Both are [2 routers, columns]: within the group, then between groups.
        """
        routers = len(sent) // 2
        out, into = (
            self.leave @ _in_groups(sent[routers:]),
            self.leave @ _in_groups(received[routers:]),
        )
        here, back = (
            _visits(bytes_of[:routers], self.near)
            + _visits(bytes_of[routers:], self.within)
            + _visits(self.arrive @ over, self.onward)
            for bytes_of, over in ((sent, out), (received, into))
        )
        # A way to a router is one from it, backwards.
        found: FloatArray = self.local @ np.concatenate((here, back)).reshape(4 * routers, -1)
        found[self.gates] += out + into[self.back]
        return found

    def weigh(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the links that a byte visits from and to each router by detours."""
        count = len(self.hops) // 2
        local = (self.local.T @ weight).reshape(4, count)
        found = []
        gates = weight[self.gates]
        for rows, columns, leaving in (
            (local[0], local[1], gates),
            (local[2], local[3], gates[self.back]),
        ):
            at_arrival = _weighed(rows, columns, self.onward)
            of_group = self.leave.T @ (leaving + self.arrive.T @ at_arrival)
            far = _weighed(rows, columns, self.within) + np.repeat(of_group, ROUTERS)
            found.append(np.concatenate((_weighed(rows, columns, self.near), far)))
        return found[0], found[1]


def _visits(sent: FloatArray, visits: FloatArray) -> FloatArray:
    """Return what each row link, then each column link, of every router carries, [2 routers, k]."""
    grid = sent.reshape(-1, ROUTERS // COLUMNS, COLUMNS, sent.shape[1])
    own_row, other_row, own_column, other_column = visits
    row = (own_row - other_row) * grid + other_row * grid.sum(axis=1, keepdims=True)
    column = (own_column - other_column) * grid + other_column * grid.sum(axis=2, keepdims=True)
    return np.concatenate((row.reshape(sent.shape), column.reshape(sent.shape)))


def _weighed(row: FloatArray, column: FloatArray, visits: FloatArray) -> FloatArray:
    """Return the transposed ``_visits``, of sums of weights of each router's links, [routers]."""
    rows = row.reshape(-1, ROUTERS // COLUMNS, COLUMNS)
    columns = column.reshape(rows.shape)
    own_row, other_row, own_column, other_column = visits
    found: FloatArray = (own_row - other_row) * rows
    found += other_row * rows.sum(axis=1, keepdims=True)
    found += (own_column - other_column) * columns
    found += other_column * columns.sum(axis=2, keepdims=True)
    return found.ravel()


def _in_groups(values: FloatArray) -> FloatArray:
    """Return sums over the routers of each group, [groups, columns]."""
    found: FloatArray = values.reshape(-1, ROUTERS, values.shape[1]).sum(axis=1)
    return found


@cache
def detours_of(machine: WorldMachine) -> Detours:
    """Return a machine's detours: within a group by all its routers, else by many at random."""
    routers = machine.routers
    all_routers = np.arange(routers)
    shift = np.arange(1, ROUTERS)
    begin = np.repeat(all_routers, len(shift))
    end = begin // ROUTERS * ROUTERS + (begin + np.tile(shift, routers)) % ROUTERS
    near = _counted(machine, begin, end)
    others = routers - ROUTERS
    each = max(_LEAST_SAMPLES, _SAMPLES // routers) if others else 0
    rng = np.random.default_rng(0)
    begin = np.repeat(all_routers, each)
    # One is drawn in each of as many equal parts of the other groups.
    place = (np.tile(np.arange(each), routers) + rng.random(len(begin))) * others / max(each, 1)
    end = ((begin // ROUTERS + 1) * ROUTERS + place.astype(np.int64)) % routers
    far = _counted(machine, begin, end)
    gates = np.flatnonzero(machine.kind == CLASSES.index("global"))
    at = np.arange(len(gates))
    source, target = machine.source[gates], machine.target[gates]
    back = np.empty(len(gates), np.int64)
    back[np.lexsort((target, source))] = np.lexsort((source, target))
    leave = far.between[gates] / ROUTERS, (at, source // ROUTERS)
    return Detours(
        near.within / routers,
        far.within / routers,
        far.onward / max(float(far.between.sum()), 1e-300),
        gates,
        sparse.csr_array(leave, shape=(len(gates), machine.groups)),
        sparse.csr_array((np.ones(len(gates)), (target, at)), shape=(routers, len(gates))),
        back,
        _local_links(machine),
        sparse.csr_array(sparse.vstack((near.first, far.first))),
        np.concatenate((near.hops, far.hops)),
    )


@dataclass(frozen=True, eq=False)
class _Counted:
    """Sums over routers of their mean visits to links."""

    within: FloatArray  # [4], for each link of a kind, in the group of the router
    onward: FloatArray  # [4], in other groups
    between: FloatArray  # [links], of links between groups
    first: sparse.csr_array  # [routers, links], of the link that is visited first
    hops: FloatArray  # [routers]


def _counted(machine: WorldMachine, begin: IntArray, end: IntArray) -> _Counted:
    """Return visits by minimal ways between pairs, as many of each first router."""
    routers, links = machine.routers, len(machine.source)
    each = len(begin) // routers
    first = sparse.csr_array((routers, links))
    within, onward = np.zeros(4), np.zeros(4)
    between, hops = np.zeros(links), np.zeros(routers)
    is_global = machine.kind == CLASSES.index("global")
    for at in range(0, len(begin), _AT_ONCE):
        source = begin[at : at + _AT_ONCE]
        ways = minimal_ways(machine, source, end[at : at + _AT_ONCE])
        home, share = source[ways.pair], ways.share / each
        over = is_global[ways.link]
        late = ways.origin // ROUTERS != home // ROUTERS
        other = ways.origin != machine.source[ways.link]
        visit = 2 * machine.kind[ways.link] + other
        within += np.bincount(visit[~over & ~late], share[~over & ~late], 4)
        onward += np.bincount(visit[~over & late], share[~over & late], 4)
        between += np.bincount(ways.link[over], share[over], links)
        hops += np.bincount(home, share, routers)
        begins = ways.first
        entries = share[begins], (home[begins], ways.link[begins])
        first += sparse.csr_array(entries, shape=(routers, links))
    rows, columns = COLUMNS - 1, ROUTERS // COLUMNS - 1
    # Links of each kind that a byte may visit, from one router.
    ways_out = np.array([rows, rows * columns, columns, columns * rows])
    return _Counted(within / ways_out, onward / ways_out, between, first, hops)


def _local_links(machine: WorldMachine) -> sparse.csr_array:
    """Return the value of its source for ways that go out and of its target for ways that return.

    The columns are the row links of each router, its column links, and both once more for ways
    that return.
    """
    link = np.flatnonzero(machine.kind[: machine.between] < CLASSES.index("global"))
    at = machine.kind[link].astype(np.int64) * machine.routers
    shape = len(machine.source), 4 * machine.routers
    column = np.concatenate(
        (at + machine.source[link], 2 * machine.routers + at + machine.target[link])
    )
    entries = np.ones(2 * len(link)), (np.concatenate((link, link)), column)
    return sparse.csr_array(entries, shape=shape)
