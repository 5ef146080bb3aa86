"""How much of some traffic a network can carry at best: the maximum concurrent flow.

The throughput is the largest share of its bandwidth that every host can send at, all flows of the
traffic alike, when routes are chosen as well as can be and may be split (Shahrokhi, Matula 1990).
All links have the bandwidth of a host's link, each way, unless the topology states theirs
(`Topology.capacity`), and the hosts' own links are among them, so that it is at most 1: a host
cannot inject, or take, more than its link carries (Dally, Towles: Principles and Practices of
Interconnection Networks, 2004, section 3.3.1). Where hosts' links differ, the bandwidth is that of
the least of them, and traffic that only others send may exceed 1. Jyothi et al., SC 2016,
leave the hosts' links out to compare what networks have to spare; that is ``between_routers``. For
up to about 100 routers it is found exactly as a linear
program. Beyond that it lies between two bounds: routes that fit, as Garg and Könemann's method
finds them, and lengths of the channels that no routes can beat, by duality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, SimulationHalted, WorkbenchError
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.topology.link_load import link_loads
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.topology import Topology
from workbench.topology.traffic import Traffic, traffic

if TYPE_CHECKING:
    import pandas as pd

ThroughputMethod = Literal["auto", "exact", "bounds", "quick"]
METHODS: tuple[ThroughputMethod, ...] = get_args(ThroughputMethod)

LARGEST_EXACT = 120_000
"""Most variables, senders times channels, of a linear program that ``auto`` solves: Slim Fly q = 7
has 105,644, and takes 14 s under uniform traffic."""

EQUAL = 1e-9
"""Relative: a sum of 2**22 numbers is rounded by 2**22 eps, 9e-10, at most."""

LARGEST = 10_000
"""Most routers: their demands are a matrix of 800 MB."""

TOLERANCE, PHASES = 0.02, 400
"""Chosen: 2 % is less than networks differ by; some come to 3 or 4 % in 400 phases, see below."""

_CROSSED = 20_000  # variables: of 24,576 the crossover changes the optimum by 2e-10

# After 400 phases of longest matching, bounds of ``jellyfish(64, 6, hosts=2)`` and ``slim_fly(5)``
# are 3.3 and 4.0 % apart; with other numbers:
_FIRST_STEP = 0.1  # 0.05: 3.5 and 3.6 %; 0.2: 3.6 and 4.9 %
_LEAST_STEP = 0.002  # 0.0005 to 0.01 the same: the third of a gap that is a step is larger
_WINDOW = 4  # phases; 2: 3.3 and 3.6 %; 8: 2.6 and 3.4 %
_GROWTH = 1.5  # of the next window; 1.2: 4.4 and 4.4 %; 2: 3.4 and 5.1 %

_MOST_LABELS = 512  # chosen: 131,000 ranges take 0.05 s, those of 1024 labels 0.26 s
_WAIT_S = 0.05  # chosen: a later answer to a stop would be noticed


@dataclass(frozen=True)
class Throughput(StoredResult):
    """The share of their bandwidth that hosts can send at, exactly or between two bounds.

    Attributes:
        traffic: the pattern's name.
        lower: what is known to fit; at most 1 where a host sends, or gets, all it can.
        upper: what nothing exceeds.
        between_routers: both bounds without the hosts' own links, as Jyothi et al. define it; above
            1 a network has links to spare.
        distance_bound: the upper bound by distances: channels over what the shortest routes take.
        method: ``exact``, by linear program, or because both bounds agree; ``bounds``.
        phases: of Garg and Könemann's method; 0 where it was not needed.
    """

    traffic: str
    lower: float
    upper: float
    between_routers: tuple[float, float]
    distance_bound: float
    method: str
    phases: int = 0

    @property
    def exact(self) -> bool:
        """Whether it is known, to six digits at least, and not just between bounds."""
        return self.method == "exact" or self.lower == self.upper

    def to_frame(self) -> pd.DataFrame:
        """Return one row of the attributes."""
        import pandas as pd

        return pd.DataFrame([vars(self)])

    def __str__(self) -> str:
        if self.exact:
            return f"{self.lower:.3g}"
        return f"{self.lower:.3g} to {self.upper:.3g}"

    def __repr__(self) -> str:
        how = "exact" if self.exact else "lower and upper bound"
        return f"Throughput({self.traffic}: {self}, {how})"


def throughput(
    topology: Topology,
    pattern: str | Traffic = "longest-matching",
    *,
    method: ThroughputMethod = "auto",
    tolerance: float = TOLERANCE,
    phases: int = PHASES,
    task: Task | None = None,
) -> Throughput:
    """Return the largest share of their bandwidth at which hosts can send, at most 1.

    Args:
        topology: the network.
        pattern: a pattern's name, or traffic of this network.
        method: ``exact`` solves the linear program; ``bounds`` runs Garg and Könemann's method;
            ``quick`` takes the bounds that need no search, by even shares of the shortest routes
            and Valiant's, and by distances and cuts; ``auto`` is exact up to ``LARGEST_EXACT``
            variables.
        tolerance: of ``bounds``: the search ends when the upper is no more than this share above
            the lower one.
        phases: of ``bounds``: how often all demands are sent at most.
        task: gets the progress after each phase; once it is stopped, the bounds so far count, of
            which the linear program has none.

    Raises:
        ParameterError: the traffic is of another network, the network is too large, an argument is
            none of these, or traffic has no way.
        SimulationHalted: the task was stopped before there was a result.
    """
    if method not in METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(METHODS)}; got {method!r}"
            f"{did_you_mean(method, METHODS)}",
            key="method",
        )
    if not tolerance > 0:
        raise ParameterError(f"tolerance must be above 0; got {tolerance}", key="tolerance")
    sent = traffic(topology, pattern) if isinstance(pattern, str) else pattern
    if sent.topology is not topology and sent.topology != topology:
        raise ParameterError(
            f"traffic must be of {topology.name}; got that of {sent.topology.name}", key="pattern"
        )
    if topology.num_routers > LARGEST:
        raise ParameterError(
            f"throughput is found for at most {LARGEST} routers; {topology.name} has "
            f"{topology.num_routers}",
            key="topology",
        )
    matrix = sent.between_routers()
    limit = _host_limit(sent)

    def found(lower: float, upper: float, farthest: float, method: str, phases: int) -> Throughput:
        ends = min(lower, limit), min(upper, limit)
        return Throughput(sent.name, *ends, (lower, upper), farthest, method, phases)

    if not matrix.any():
        return found(math.inf, math.inf, math.inf, "exact", 0)
    task = task_of(task)
    problem = _Problem(RouterGraph.of(topology), matrix)
    lower = 1.0 / float(link_loads(topology, matrix, routing="mixed", task=task).channel.max())
    farthest = problem.distance_bound()
    upper = min(farthest, problem.router_bound(), problem.cut_bound(topology))
    if upper <= lower * (1 + EQUAL):
        return found(lower, lower, farthest, "exact", 0)
    if method == "exact" or (method == "auto" and problem.variables <= LARGEST_EXACT):
        best = problem.solve(task)
        return found(best, best, farthest, "exact", 0)
    done = 0
    if method != "quick":
        search = _Search(problem, lower, upper)
        while done < phases and search.upper > search.lower * (1 + tolerance):
            if not search.phase(task):
                break
            done += 1
            task.report(done, phases, f"{done} of {phases} phases")
        lower, upper = search.lower, search.upper
    return found(lower, max(upper, lower), farthest, "bounds", done)


def _host_limit(sent: Traffic) -> float:
    """Return the share of bandwidth at which some host's link is full, by sending or receiving."""
    n = sent.topology.num_hosts
    each = [np.bincount(ends, sent.rate, n) for ends in (sent.source, sent.target)]
    capacity = sent.topology.host_capacity
    busiest = max(float(((sent.everywhere + one) / capacity).max(initial=0.0)) for one in each)
    return 1.0 / busiest if busiest > 0 else math.inf


class _Problem:
    """Demands between routers, float64[routers, routers], sorted by sender."""

    def __init__(self, graph: RouterGraph, matrix: FloatArray) -> None:
        self.graph = graph
        self.matrix = matrix
        rows, columns = np.nonzero(matrix)
        self.sources = np.unique(rows).astype(np.int32)
        self.first = np.searchsorted(rows, np.append(self.sources, graph.num_routers))
        self.first = self.first.astype(np.int64)
        self.target = columns.astype(np.int32)
        self.demand: FloatArray = matrix[rows, columns]

    @property
    def variables(self) -> int:
        """Variables of the linear program: flows of each sender on each channel."""
        return len(self.sources) * len(self.graph.capacity)

    def distance_bound(self) -> float:
        """Return the number of channels over the demands' channels on shortest routes."""
        from kernels import allpairs as kernel

        n = self.graph.num_routers
        hops = np.empty((n, n), np.uint8)
        kernel.distances(self.graph.start, self.graph.neighbour, hops)
        senders = np.repeat(self.sources, np.diff(self.first))
        taken = float(self.demand @ hops[senders, self.target])
        return float(self.graph.capacity.sum()) / taken

    def router_bound(self) -> float:
        """Return the least of any router's links over the demand it sends or receives."""
        most = np.maximum(self.matrix.sum(axis=0), self.matrix.sum(axis=1))
        busy = most > 0
        return float((self.graph.degree[busy] / most[busy]).min())

    def cut_bound(self, topology: Topology) -> float:
        """Return the least of links over crossing demand, for cuts by groups or by a coordinate."""
        least = math.inf
        links = self.graph.matrix()
        for label in (topology.group, *topology.coordinates.T):
            place = np.unique(label, return_inverse=True)[1]
            if 1 < place.max(initial=0) + 1 <= _MOST_LABELS:
                least = min(least, _range_bound(place, links, self.matrix))
        return least

    def solve(self, task: Task) -> float:
        """Return the optimum of the linear program.

        Variables are each sender's flow on each channel and the throughput t; at each other router
        inflow minus outflow is t times the demand.
        """
        import highspy
        from scipy import sparse

        graph, senders = self.graph, len(self.sources)
        n, m = graph.num_routers, len(graph.capacity)
        channel = np.arange(m)
        entering = sparse.csr_array(
            (
                np.concatenate((np.ones(m), -np.ones(m))),
                (np.concatenate((graph.neighbour, graph.tail)), np.concatenate((channel, channel))),
            ),
            shape=(n, m),
        )
        others = [np.delete(np.arange(n), source) for source in self.sources]
        wanted = [self.matrix[s, rest] for s, rest in zip(self.sources, others, strict=True)]
        balance = sparse.hstack(
            (
                sparse.block_diag([entering[rest] for rest in others]),
                sparse.csr_array(-np.concatenate(wanted)[:, None]),
            )
        )
        together = sparse.hstack([sparse.eye_array(m)] * senders + [sparse.csr_array((m, 1))])
        rows = sparse.vstack((balance, together)).tocsc()
        held = np.zeros(balance.shape[0])
        cost = np.zeros(rows.shape[1])
        cost[-1] = -1.0
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = rows.shape[1], rows.shape[0]
        model.col_cost_ = cost
        model.col_lower_ = np.zeros(len(cost))
        model.col_upper_ = np.full(len(cost), highspy.kHighsInf)
        model.row_lower_ = np.concatenate((held, np.full(m, -highspy.kHighsInf)))
        model.row_upper_ = np.concatenate((held, graph.capacity))
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = rows.indptr
        model.a_matrix_.index_ = rows.indices
        model.a_matrix_.value_ = rows.data
        return -_optimum(model, task)


def _range_bound(place: NDArray[np.intp], links: Any, demand: FloatArray) -> float:
    """Return the least of links over demand, into and out of any range of places."""
    from scipy import sparse

    n, places = len(place), int(place.max()) + 1
    member = sparse.csr_array((np.ones(n), (place, np.arange(n))), shape=(places, n))
    first, end = np.triu_indices(places + 1, 1)
    free = _leaving((member @ links @ member.T).toarray(), first, end)
    between_parts = (member @ demand) @ member.T
    most = np.maximum(_leaving(between_parts, first, end), _leaving(between_parts.T, first, end))
    # Differences of sums: what is left of nothing is rounding.
    crossed = most > EQUAL * between_parts.sum()
    return float((free[crossed] / most[crossed]).min(initial=math.inf))


def _leaving(amount: FloatArray, first: NDArray[np.intp], end: NDArray[np.intp]) -> FloatArray:
    """Return the amount from each range of places, ``first`` up to ``end``, to the other places."""
    total = np.pad(amount.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    inside = total[end, end] - total[first, end] - total[end, first] + total[first, first]
    found: FloatArray = total[end, -1] - total[first, -1] - inside
    return found


def _optimum(model: Any, task: Task) -> float:
    """Return the least value of a linear program, by HiGHS's interior points."""
    import highspy

    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("solver", "ipm")
    # To a vertex only where that is quick: it can take longer than the rest.
    highs.setOptionValue("run_crossover", "on" if model.num_col_ <= _CROSSED else "off")
    highs.HandleUserInterrupt = True
    highs.passModel(model)
    highs.startSolve()
    while not highs.wait(_WAIT_S)[0]:
        if task.stopping:
            highs.cancelSolve()
    status = highs.getModelStatus()
    if task.stopping and status != highspy.HighsModelStatus.kOptimal:
        raise SimulationHalted("stopped before the throughput was known")
    if status != highspy.HighsModelStatus.kOptimal:
        raise WorkbenchError(
            f"HiGHS ended with {highs.modelStatusToString(status)!r}: take method='bounds'"
        )
    return float(highs.getInfo().objective_function_value)


class _Search:
    """Garg and Könemann's method, with bounds that hold at any time.

    Each phase sends every demand once on cheap routes. The flow since the window began, over the
    fullest channel, is the lower bound; new windows discard poor first phases.
    """

    def __init__(self, problem: _Problem, lower: float, upper: float) -> None:
        self.problem = problem
        self.lower = lower
        self.upper = upper
        self._length: FloatArray = 1.0 / problem.graph.capacity
        self._load = np.zeros(len(self._length))
        self._phases = 0
        self._window = float(_WINDOW)
        self._step = _FIRST_STEP

    def phase(self, task: Task) -> bool:
        """Send every demand once more, and return False if stopped before the end."""
        from kernels import concurrent_flow as kernel

        graph, problem = self.problem.graph, self.problem
        paid = kernel.send_phase(
            graph.start,
            graph.neighbour,
            graph.tail,
            graph.capacity,
            problem.sources,
            problem.first,
            problem.target,
            problem.demand,
            self._step,
            self._length,
            self._load,
            task.stop_event.cell,
        )
        if paid < 0:
            return False
        if not math.isfinite(paid):
            raise ParameterError("there must be a route for all traffic", key="topology")
        self._phases += 1
        fullest = float((self._load / graph.capacity).max())
        self.lower = max(self.lower, self._phases / fullest)
        # Lengths only grow: routes cost no less now than what was paid.
        self.upper = min(self.upper, float(self._length @ graph.capacity) / paid)
        self._length /= self._length.max()
        if self._phases >= self._window:
            self._window *= _GROWTH
            self._phases = 0
            self._load[:] = 0.0
            between = self.upper / self.lower - 1
            self._step = max(min(self._step, between / 3), _LEAST_STEP)
        return True
