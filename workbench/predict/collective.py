"""Times of a collective on a whole machine, predicted from messages between two of its nodes.

machine = machine_of(read_point_to_point("fugaku_p2p.csv"), topology="torus:8x8x8")
predict_collective(machine, "gather", 512, (16384, 131072), algorithm="binomial").to_frame()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.checks import number, whole, whole_each
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.predict.library_rules import (
    COMPOSED,
    Stage,
    candidates_of,
    chosen_by,
    predicted_name,
    run_instead,
)
from workbench.predict.machine import CORE_PART, MachineProfile
from workbench.predict.prediction_errors import Variant
from workbench.predict.published_spread import (
    INTERVAL_PERCENT,
    PublishedSpread,
    SystemKind,
    kind_of,
    published_spread,
)
from workbench.predict.round_times import AlgorithmTime, algorithm_time
from workbench.predict.surplus import Surplus
from workbench.predict.tofu_shapes import UNKNOWN_SHAPE, plausible_shapes
from workbench.programs.collectives import ALGORITHMS, schedule
from workbench.result import Drawing, StoredResult
from workbench.simulate import replay
from workbench.suggestions import did_you_mean
from workbench.units import format_quantity
from workbench.uq.collectives.models import MOST_NODES, WHOLE_VECTOR

if TYPE_CHECKING:
    import pandas as pd

ChosenBy = Literal["name", "library", "least time"]

COLLECTIVES = (
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
)
"""Collectives that are predicted."""

_MOST_BYTES = 2**40  # chosen: blocks of 2**17 nodes stay below the 2**62 B of a schedule
_LEAST_SHARE = 0.01  # of a time, from which that of combining is said: predictions err by more
SLOWEST = "the time is that of the slowest rank, after all have started together"
BLOCKS = "sizes are those of a block, as OSU's benchmarks count: what a rank sends to one other"


@dataclass(frozen=True, eq=False, repr=False)
class CollectivePrediction(StoredResult):
    """Times of a collective at several sizes on some nodes of a machine.

    Attributes:
        system: name of the machine.
        collective: such as ``gather``.
        nodes: their number.
        ranks_per_node: ranks on each.
        topology: spec of the network; empty where it is unknown.
        block_bytes: int64[sizes]: what a rank sends to one other, or the whole vector of an
            allreduce, bcast or reduce.
        times: float64[sizes], s.
        rounds: float64[sizes], rounds that follow one another.
        algorithms: of each size.
        chosen_by: how each was chosen: its name was given, the library's rule, or the least time.
        assumed: what is assumed, a sentence each.
        combining: float64[sizes], s of the times in which data are combined and copied.
        kind: what decides how far such predictions are off.
        variant: what was known: messages alone, or a surplus of a round too, of one number of
            nodes or of two.
        shapes: float64[2, sizes], the least and the most of the times over the plausible shapes of
            the job, s; the times themselves where the shape does not matter or is known.
    """

    system: str
    collective: str
    nodes: int
    ranks_per_node: int
    topology: str
    block_bytes: NDArray[np.int64]
    times: NDArray[np.float64]
    rounds: NDArray[np.float64]
    algorithms: tuple[str, ...]
    chosen_by: tuple[ChosenBy, ...]
    assumed: tuple[str, ...]
    combining: NDArray[np.float64]
    kind: SystemKind
    variant: Variant
    shapes: NDArray[np.float64] = field(metadata={"axes": 2})

    plot = Drawing("plot_collective_prediction")

    def _check(self) -> None:
        count = len(self.algorithms)
        self._check_lengths(dict.fromkeys(("block_bytes", "times", "rounds", "combining"), count))
        if len(self.chosen_by) != count:
            raise ParameterError("chosen_by must have as many entries as algorithms", key="times")

    @property
    def algorithm(self) -> str:
        """The algorithms in words: one name, or names with the sizes at which they change."""
        if len(set(self.algorithms)) == 1:
            return self.algorithms[0]
        words = []
        for at, name in enumerate(self.algorithms):
            if not at or name != self.algorithms[at - 1]:
                words.append(f"{name} from {self.block_bytes[at]} B")
        return ", ".join(words)

    @property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of an interval of the times made to hold 90 %, each float64[sizes], s.

        As far as published times of other systems were from what was predicted in the same way,
        over the plausible shapes of the job; ``spread`` has its coverage on systems left out.
        """
        return self.spread.low * self.shapes[0], self.spread.high * self.shapes[1]

    @property
    def spread(self) -> PublishedSpread:
        """How far published times were from what was predicted, and how many such ends held."""
        return published_spread(self.kind, self.variant)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a size: bytes, time and its interval, algorithm, what chose it.

        ``90 % from`` and ``to`` are the ends of ``interval``; how many times of systems left out
        such an interval holds, is in ``spread``.
        """
        import pandas as pd

        low, high = self.interval
        return pd.DataFrame(
            {
                "block bytes": self.block_bytes,
                "time (µs)": 1e6 * self.times,
                f"{INTERVAL_PERCENT} from (µs)": 1e6 * low,
                "to (µs)": 1e6 * high,
                "algorithm": self.algorithms,
                "chosen by": self.chosen_by,
                "rounds": self.rounds.astype(np.int64),
            }
        )

    def __repr__(self) -> str:
        low, high = (end / self.times for end in self.interval)
        return (
            f"CollectivePrediction({self.collective} on {self.nodes} nodes of {self.system}, "
            f"{len(self.times)} sizes, {self.algorithm}, {1e6 * self.times.min():.3g} to "
            f"{1e6 * self.times.max():.3g} us, interval of {INTERVAL_PERCENT} {low.min():.2g} to "
            f"{high.max():.2g} times that, {len(self.assumed)} assumptions)"
        )


def predict_collective(
    machine: MachineProfile,
    collective: str,
    nodes: int,
    block_bytes: Sequence[int],
    *,
    algorithm: str | None = None,
    surplus: Surplus | None = None,
) -> CollectivePrediction:
    """Return the times of a collective on the first nodes of a machine, rank 0 the root.

    Args:
        machine: of ``machine_of``.
        collective: collective, such as ``gather``. One of ``COLLECTIVES``.
        nodes: number of nodes.
        block_bytes: sizes: what a rank sends to one other, or the whole vector of an allreduce,
            bcast or reduce. PICO prints the bytes of all blocks of a rank instead.
        algorithm: of ``workbench.programs.collectives``, or one of several collectives such as an
            allgather's ``gather-bcast``; None takes the machine's library's rule, and where none is
            known the algorithm that is predicted to be fastest.
        surplus: added to each round, such as ``surplus_of`` finds on few nodes; None adds nothing.

    Raises:
        ParameterError: an argument is not accepted, the topology has too few hosts, or the
            algorithm has too many messages.
    """
    check_collective(collective)
    whole(nodes, "nodes", 1, MOST_NODES)
    sizes = whole_each(block_bytes, "block_bytes", 0, _MOST_BYTES)
    if not sizes:
        raise ParameterError("block_bytes must hold a size; got none", key="block_bytes")
    if surplus is not None:
        number(surplus.seconds, "surplus.seconds", unit="s")
    if algorithm is not None:
        algorithm = predicted_name(collective, algorithm)
    if machine.topology == UNKNOWN_SHAPE:
        return _over_shapes(machine, collective, nodes, sizes, algorithm, surplus)
    names: list[str] = []
    choices: list[ChosenBy] = []
    found: list[AlgorithmTime] = []
    for size in sizes:
        name, choice, time = _chosen(machine, collective, algorithm, nodes, size)
        names.append(name)
        choices.append(choice)
        found.append(time)
    rounds = np.array([one.rounds for one in found])
    times = np.array([one.seconds for one in found])
    if surplus is not None:
        times = surplus.added(times, rounds, nodes)
    combining = np.array([one.combining for one in found])
    at = int(np.argmax(combining))
    share = _share(names[at], sizes[at], times[at], combining[at])
    return CollectivePrediction(
        machine.name,
        collective,
        nodes,
        machine.ranks_per_node,
        machine.topology,
        np.array(sizes, np.int64),
        times,
        rounds,
        tuple(names),
        tuple(choices),
        (
            *_assumed(machine, algorithm, share),
            *((f"surplus: {surplus.words}",) if surplus is not None else ()),
            *_meanings(collective),
            *_instead(algorithm, names),
        ),
        combining,
        kind_of(machine.ranks_per_node, machine.own_messages, machine.crowd_measured),
        _variant_of(surplus),
        np.array([times, times]),
    )


def compare_algorithms(
    machine: MachineProfile, collective: str, nodes: int, block_bytes: Sequence[int]
) -> dict[str, CollectivePrediction]:
    """Return the prediction of each algorithm of a collective, by name.

    Args:
        machine: of ``machine_of``.
        collective: one of ``COLLECTIVES``.
        nodes: their number.
        block_bytes: sizes of a block.

    Raises:
        ParameterError: as ``predict_collective``.
    """
    check_collective(collective)
    return {
        name: predict_collective(machine, collective, nodes, block_bytes, algorithm=name)
        for name in ALGORITHMS[collective]
    }


def replay_collective(
    model: LogGPS, collective: str, algorithm: str, ranks: int, block_bytes: int
) -> float:
    """Return the time in s of a collective replayed message by message, one rank a node.

    The replay has LogGPS's straight lines and no links. Where a machine's curves are such lines it
    agrees with ``predict_collective``, which takes milliseconds where a replay takes seconds.

    Args:
        model: LogGPS parameters, such as ``machine.loggps()``.
        collective: such as ``gather``.
        algorithm: of ``workbench.programs.collectives``.
        ranks: their number.
        block_bytes: size of a block.

    Raises:
        ParameterError: an argument is not accepted.
    """
    plan = schedule(collective, algorithm, ranks, size=block_bytes)
    return float(replay(plan.graph(), model).makespan_s)


def check_collective(collective: str) -> None:
    """Refuse a collective that is not predicted."""
    if collective not in COLLECTIVES:
        raise ParameterError(
            f"collective must be one of {', '.join(COLLECTIVES)}; got {collective!r}"
            f"{did_you_mean(collective, COLLECTIVES)}",
            key="collective",
        )


def _variant_of(surplus: Surplus | None) -> Variant:
    if surplus is None:
        return "two nodes"
    return "surplus" if len(surplus.nodes) == 1 else "surplus of two"


def _over_shapes(
    machine: MachineProfile,
    collective: str,
    nodes: int,
    sizes: Sequence[int],
    algorithm: str | None,
    surplus: Surplus | None,
) -> CollectivePrediction:
    """Return the prediction on the most compact shape, with the times on all plausible ones."""
    specs = plausible_shapes(nodes)
    found = [
        predict_collective(
            machine.on(spec), collective, nodes, sizes, algorithm=algorithm, surplus=surplus
        )
        for spec in specs
    ]
    each = np.array([one.times for one in found])
    covered = f"{specs[0]}, and for the interval {', '.join(specs[1:]) or 'no other'}"
    return replace(
        found[0],
        topology=specs[0],
        assumed=(*found[0].assumed, f"shape of the job: {covered}"),
        shapes=np.array([each.min(axis=0), each.max(axis=0)]),
    )


def _chosen(
    machine: MachineProfile, collective: str, algorithm: str | None, nodes: int, size: int
) -> tuple[str, ChosenBy, AlgorithmTime]:
    """Return the algorithm that runs, what chose it, and its time."""
    ranks = nodes * machine.ranks_per_node
    name, choice = algorithm, "name"
    if name is None:
        name, choice = chosen_by(machine.library, collective, ranks, size), "library"
    if name is None:
        name, time = _fastest(machine, collective, nodes, size)
        return name, "least time", time
    if stages := COMPOSED.get(collective, {}).get(name):
        return name, "name", _in_turn(machine, stages, nodes, size)
    name = run_instead(collective, name, ranks, size)
    time = algorithm_time(machine, collective, name, nodes, size)
    return name, "name" if choice == "name" else "library", time


def _in_turn(
    machine: MachineProfile, stages: tuple[Stage, ...], nodes: int, size: int
) -> AlgorithmTime:
    """Return the time of collectives that follow one another."""
    sizes = {"nothing": 0, "block": size, "all blocks": size * nodes * machine.ranks_per_node}
    parts = [
        _chosen(machine, one.collective, one.algorithm or None, nodes, sizes[one.carries])[2]
        for one in stages
    ]
    return AlgorithmTime(
        sum(part.seconds for part in parts),
        sum(part.rounds for part in parts),
        sum(part.combining for part in parts),
    )


def _fastest(
    machine: MachineProfile, collective: str, nodes: int, size: int
) -> tuple[str, AlgorithmTime]:
    """Return the algorithm that takes the least time, of those that libraries run."""
    ranks = nodes * machine.ranks_per_node
    tried = candidates_of(collective, machine.library)
    names = {run_instead(collective, one, ranks, size) for one in tried}
    found = {name: _chosen(machine, collective, name, nodes, size)[2] for name in sorted(names)}
    best = min(found, key=lambda name: found[name].seconds)
    return best, found[best]


def _share(name: str, size: int, time: float, combining: float) -> str:
    """Return how much of a time combining takes, for the sentence about a core."""
    if combining < _LEAST_SHARE * time:
        return ""
    return (
        f": {1e6 * combining:,.0f} of {1e6 * time:,.0f} us of {name} with "
        f"{format_quantity(size, 'bytes')}"
    )


def _assumed(machine: MachineProfile, algorithm: str | None, share: str) -> tuple[str, ...]:
    """Return what is assumed; the library does not matter where an algorithm is named."""
    return tuple(
        sentence + (share if sentence.startswith(f"{CORE_PART}:") else "")
        for sentence in machine.assumed
        if algorithm is None or not sentence.startswith("library:")
    )


def _meanings(collective: str) -> tuple[str, ...]:
    """Return what the time means, and the sizes where benchmarks count them differently."""
    return (SLOWEST,) if collective in WHOLE_VECTOR else (SLOWEST, BLOCKS)


def _instead(algorithm: str | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence where another algorithm runs than the one that was named."""
    other = sorted({name for name in names if algorithm is not None and name != algorithm})
    return tuple(
        f"{algorithm} cuts the vector into more pieces than it has elements at the smallest sizes: "
        f"{name} runs instead, as in Open MPI and MPICH"
        for name in other
    )
