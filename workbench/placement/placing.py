"""Find places for a program's ranks, by any method, and compare the methods."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import IntArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.named_options import defaults_of, named_options
from workbench.placement.message_graph import MessageGraph
from workbench.placement.methods import (
    algorithm_3,
    block,
    by_metis,
    by_volume,
    round_robin,
    search,
    shuffled,
)
from workbench.placement.placement import Placement
from workbench.placement.problem import MOST_SLOTS, PlacementProblem
from workbench.programs.find_program import ProgramLike
from workbench.provenance import Provenance
from workbench.simulate.picoseconds import PS_PER_S, PicosecondCosts
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.tolerance.wires import L_WIRE_S, Wires
from workbench.topology import Topology
from workbench.topology.metrics.links import D_SWITCH_S
from workbench.topology.topology import routers_passed
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd


PlacementMethod = Literal[
    "block", "round-robin", "random", "volume", "metis", "algorithm-3", "search"
]
METHODS: tuple[PlacementMethod, ...] = get_args(PlacementMethod)
"""In order, dealt out, by chance, by bytes exchanged, METIS's, LLAMP's, annealing on paths."""

EVALUATIONS = 2000
"""The default number of mappings that ``search`` tries."""

_WITH_CHANCE = ("random", "volume", "metis", "search")


def place(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    *,
    method: PlacementMethod = "search",
    seed: int = 0,
    hosts: ArrayLike | None = None,
    ranks_per_host: int = 1,
    evaluations: int = EVALUATIONS,
    seconds: float | None = None,
    l_wire_s: float | Mapping[str, float] = L_WIRE_S,
    d_switch_s: float = D_SWITCH_S,
    same_host_s: float = 0.0,
    same_host_G: float | None = None,
    task: Task | None = None,
) -> Placement:
    """Return a host for each rank of a program, and the time predicted with it.

    ``algorithm-3`` begins with block placement. ``search`` begins with the best of block,
    round-robin, volume and metis, and is never worse than these.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the topology gives L.
        topology: the network.
        method: one of ``METHODS``.
        seed: seed of the random choices.
        hosts: int[n], the hosts that may be used, in the order of the allocation; None takes the
            first ones. Ranks can move to any of them.
        ranks_per_host: ranks per host.
        evaluations: placements that a search tries.
        seconds: time after which a search ends with the best so far, s; None is no limit.
        l_wire_s: latency of a wire, or one for each class by name.
        d_switch_s: latency of a switch.
        same_host_s: latency between two ranks of one host.
        same_host_G: gap per byte between two ranks of one host, in s/B; None takes the model's.
        task: gets the progress before each method; once it is stopped, searches end with what
            they have.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or an argument is not accepted.
    """
    found = place_each(
        program,
        model,
        topology,
        methods=(method,),
        seed=seed,
        hosts=hosts,
        ranks_per_host=ranks_per_host,
        evaluations=evaluations,
        seconds=seconds,
        l_wire_s=l_wire_s,
        d_switch_s=d_switch_s,
        same_host_s=same_host_s,
        same_host_G=same_host_G,
        task=task,
    )
    return next(found)


class PlaceOptions(TypedDict, total=False):
    """The arguments of ``place`` that do not depend on the method."""

    seed: int
    hosts: ArrayLike | None
    ranks_per_host: int
    evaluations: int
    seconds: float | None
    l_wire_s: float | Mapping[str, float]
    d_switch_s: float
    same_host_s: float
    same_host_G: float | None
    task: Task | None


@named_options(PlaceOptions, defaults_of(place))
def place_each(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    *,
    methods: Sequence[PlacementMethod] = METHODS,
    **options: Unpack[PlaceOptions],
) -> Iterator[Placement]:
    """Yield the placement that each method finds, as soon as it is found.

    Args:
        program: the program, prepared once for all methods; collectives that are still whole get
            the usual algorithms.
        model: o, G and S; the topology gives L.
        topology: the network.
        methods: which, in this order.
        **options: as for ``place``.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or an argument is not accepted.
    """
    given: dict[str, Any] = {**defaults_of(place), **options}
    del given["method"]
    seed, evaluations, seconds = (given.pop(name) for name in ("seed", "evaluations", "seconds"))
    task = given["task"] = task_of(given["task"])
    problem = _problem(MessageGraph(program, model), topology, **given)
    for number, method in enumerate(methods):
        task.report(number, len(methods), f"placing {problem.num_ranks} ranks: {method}")
        yield _placed(problem, method, seed, evaluations, seconds)


@named_options(PlaceOptions, defaults_of(place))
def place_all(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    *,
    methods: Sequence[PlacementMethod] = METHODS,
    **options: Unpack[PlaceOptions],
) -> dict[PlacementMethod, Placement]:
    """Return the placement that each method finds.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the topology gives L.
        topology: the network.
        methods: which.
        **options: as for ``place``.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or an argument is not accepted.
    """
    found = place_each(program, model, topology, methods=methods, **options)
    return dict(zip(methods, found, strict=True))


@named_options(PlaceOptions, defaults_of(place))
def compare_placements(
    program: ProgramLike,
    model: LogGPS,
    topology: Topology,
    *,
    methods: Sequence[PlacementMethod] = METHODS,
    **options: Unpack[PlaceOptions],
) -> pd.DataFrame:
    """Return the placement of each method, its time, and the effort of finding it.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o, G and S; the topology gives L.
        topology: the network.
        methods: which to compare.
        **options: as for ``place``.

    Returns:
        A row for each method, as ``frame_of``.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the program does not fit, or an argument is not accepted.
    """
    return frame_of(place_all(program, model, topology, methods=methods, **options).values())


def frame_of(placements: Iterable[Placement]) -> pd.DataFrame:
    """Return a row for each placement.

    Columns: ``method``, ``T_ns``, ``less_than_block_percent``, ``seconds``, ``evaluations`` and
    ``mean_hops``, the switches of a message, weighted by its bytes.

    Args:
        placements: what ``place`` returned.
    """
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "method": placement.method,
                "T_ns": placement.T * 1e9,
                "less_than_block_percent": 100 * placement.gain,
                "seconds": placement.seconds,
                "evaluations": placement.evaluations,
                "mean_hops": placement.mean_hops,
            }
            for placement in placements
        ]
    )


def _placed(
    problem: PlacementProblem,
    method: PlacementMethod,
    seed: int,
    evaluations: int,
    seconds: float | None,
) -> Placement:
    """Return the placement that one method finds, with its own time and evaluations only."""
    if method not in METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(METHODS)}; got {method!r}"
            f"{did_you_mean(method, METHODS)}",
            key="method",
        )
    evaluations = whole(evaluations, "evaluations", 0)
    seed = whole(seed, "seed", 0)
    if seconds is not None and not seconds >= 0:
        raise ParameterError(
            f"seconds must be at least 0, or None for no limit; got {seconds!r}", key="seconds"
        )
    # The pass that all methods share also loads the kernels, outside of the seconds.
    block_T_ps = problem.makespan_ps(block(problem))
    problem.terms()
    problem.evaluations = 0
    began = time.perf_counter()
    problem.deadline = None if seconds is None else began + seconds
    mapping, T_ps = _found(problem, method, np.random.default_rng(seed), evaluations)
    took = time.perf_counter() - began
    messages, hosts = problem.messages, problem.slots[mapping[: problem.num_ranks]]
    volume = problem.volume()[: problem.num_ranks, : problem.num_ranks]
    passed = routers_passed(problem.wires.topology.wires(hosts))
    return Placement(
        hosts=hosts,
        topology=problem.wires.topology,
        method=method,
        T=T_ps / PS_PER_S,
        block_T=block_T_ps / PS_PER_S,
        mean_hops=float((volume * passed).sum()) / max(int(volume.sum()), 1),
        seconds=took,
        evaluations=problem.evaluations,
        seed=seed if method in _WITH_CHANCE else None,
        provenance=Provenance(
            "simulated",
            f"{messages.graph.source} on {len(np.unique(problem.slots))} hosts of "
            f"{problem.wires.topology.name}, LLAMP's semantics, {_used(problem)}",
        ),
        alike=problem.G is None and len(_latencies(problem)) <= 1,
    )


def _latencies(problem: PlacementProblem) -> IntArray:
    """Return the different latencies between two places, ps, ascending."""
    between: IntArray = np.unique(problem.latency_ps[~np.eye(problem.num_slots, dtype=bool)])
    return between


def _used(problem: PlacementProblem) -> str:
    """Return the parameters in words: the model's L has no use, the network has its own."""
    model, between = problem.messages.model, _latencies(problem)
    ends = (
        [format_quantity(ps / PS_PER_S, "time") for ps in between[[0, -1]]] if len(between) else []
    )
    words = [f"{name} {model.text(name)}" for name in ("o", "G", "S")]
    return ", ".join([*words, *([f"L {' to '.join(dict.fromkeys(ends))}"] if ends else [])])


def _found(
    problem: PlacementProblem, method: PlacementMethod, rng: np.random.Generator, evaluations: int
) -> tuple[IntArray, int]:
    if method == "algorithm-3":
        return algorithm_3(problem, block(problem))
    if method == "search":
        drawn = rng.spawn(1)[0]
        starts = (
            *(block(problem), round_robin(problem)),
            *(by_volume(problem, rng), by_metis(problem, drawn)),
        )
        timed = [problem.makespan_ps(start) for start in starts]
        return search(problem, starts[int(np.argmin(timed))], rng, evaluations)
    if method == "volume":
        mapping = by_volume(problem, rng)
    elif method == "metis":
        mapping = by_metis(problem, rng)
    elif method == "random":
        mapping = shuffled(problem, rng)
    else:
        mapping = block(problem) if method == "block" else round_robin(problem)
    return mapping, problem.makespan_ps(mapping)


def _problem(
    messages: MessageGraph,
    topology: Topology,
    *,
    hosts: ArrayLike | None,
    ranks_per_host: int,
    l_wire_s: float | Mapping[str, float],
    d_switch_s: float,
    same_host_s: float,
    same_host_G: float | None,
    task: Task,
) -> PlacementProblem:
    ranks = messages.graph.num_ranks
    ranks_per_host = whole(ranks_per_host, "ranks_per_host", 1, MOST_SLOTS)
    if hosts is None:
        needed = -(-ranks // ranks_per_host)
        used = np.arange(min(needed, topology.num_hosts))
        slots = np.repeat(used, ranks_per_host)[:ranks]
    else:
        used = topology.checked_hosts(hosts)
        if len(np.unique(used)) < len(used):
            raise ParameterError("hosts must each be named once", key="hosts")
        slots = np.repeat(used, ranks_per_host)
    if len(slots) < ranks:
        raise ParameterError(
            f"there must be a place for each of {ranks} ranks; {topology.name} has {len(used)} "
            f"hosts to use with {ranks_per_host} a host: take a larger one, more hosts, or "
            "more ranks_per_host",
            key="hosts",
        )
    if len(slots) > MOST_SLOTS:
        raise ParameterError(
            f"ranks can be placed on at most {MOST_SLOTS} slots; got {len(slots)}", key="hosts"
        )
    wires = Wires(topology, slots, d_switch_s, same_host_s)
    gap = None
    if same_host_G is not None:
        # A LogGPS refuses what is no gap per byte, and the costs what the clock cannot hold.
        largest = int(messages.beyond_first.max(initial=0)) + 1
        PicosecondCosts.of(messages.model.replace(G=same_host_G)).check_sizes(0, largest, 0)
        gap = np.where(slots[:, None] == slots[None, :], same_host_G, messages.model.G)
    return PlacementProblem(messages, wires, wires.latency_ps(l_wire_s), gap, task=task)
