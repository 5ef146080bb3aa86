"""One thing learnt from the fewest nodes, or two fewest: a round's surplus, or the algorithm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.predict.collective import predict_collective
from workbench.predict.library_rules import algorithms_of_label, candidates_of, run_instead
from workbench.predict.machine import MachineProfile
from workbench.predict.surplus import Surplus, learn_surplus
from workbench.uq.collectives import MeasuredCollective
from workbench.uq.collectives.measured import nodes_of


def surplus_of(
    machine: MachineProfile, measured: MeasuredCollective, algorithm: str | None = None
) -> Surplus:
    """Return the surplus of a round, learnt from a collective on its fewest nodes or two fewest.

    It is what the slowest of many ranks, unequal starts and the operating system add there. Where
    two numbers of nodes were measured and the times rise from one to the other more than is
    predicted, it grows with the nodes (``learn_surplus``). What it brings is in
    ``PredictionErrors.learning``: of Google's c2d-standard-2, whose only core its rank shares with
    the operating system, the median error on 64 nodes falls from 49 to 17 %, where the fewest alone
    leave 48. Ends of the interval for one rank a node are 3.9-fold apart instead of 4.4.

    With several ranks a node of which the messages of one were measured it never grows: their waits
    for one another grow too. On AWS hpc7g 4 and 8 nodes would have taken the error on 16 from 17 to
    83 %.

    Args:
        machine: of ``machine_of``.
        measured: a collective that was measured, of ``workbench.uq.collectives.read_measured``.
        algorithm: the algorithm that ran; None takes what the label of the data names, or else the
            library's rule or the fastest.

    Raises:
        ParameterError: as ``predict_collective``.
    """
    named = algorithms_of_label(measured.collective, measured.label) if measured.label else ()
    fewest = measured.on(nodes_of(measured.tests)[:2])
    times, rounds = np.empty(len(fewest.tests)), np.empty(len(fewest.tests))
    nodes = np.array([test.nodes for test in fewest.tests])
    sizes = np.array([test.block_bytes for test in fewest.tests])
    for count in np.unique(nodes).tolist():
        found = predict_collective(
            machine,
            measured.collective,
            count,
            sizes[nodes == count].tolist(),
            algorithm=algorithm or (named[0] if named else None),
        )
        times[nodes == count], rounds[nodes == count] = found.times, found.rounds
    may_grow = growth_known(machine.ranks_per_node, machine.crowd_measured)
    return learn_surplus(nodes, sizes, fewest.medians, times, rounds, may_grow=may_grow)


def growth_known(ranks_per_node: int, crowd_measured: bool) -> bool:
    """Return whether what grows with the nodes may be noise: not the waits of a node's ranks."""
    return ranks_per_node == 1 or crowd_measured


def learn_algorithms(
    machine: MachineProfile,
    collective: str,
    nodes: int,
    block_bytes: ArrayLike,
    measured: ArrayLike,
) -> dict[int, str]:
    """Return for each size the algorithm whose predicted time is nearest to the measured one.

    Args:
        machine: of ``machine_of``.
        collective: such as ``allreduce``.
        nodes: the number on which it was measured.
        block_bytes: int64[sizes].
        measured: s, float64[sizes].

    Raises:
        ParameterError: as ``predict_collective``.
    """
    ranks = nodes * machine.ranks_per_node
    found, tried = {}, candidates_of(collective, machine.library)
    sizes = np.asarray(block_bytes, np.int64).tolist()
    for size, real in zip(sizes, np.asarray(measured, np.float64).tolist(), strict=True):
        names = {run_instead(collective, one, ranks, size) for one in tried}
        times = {
            name: predict_collective(machine, collective, nodes, [size], algorithm=name).times[0]
            for name in sorted(names)
        }
        found[size] = min(times, key=lambda name: abs(np.log(times[name] / real)))
    return found
