"""Predictions held against the published collectives of real systems.

found = evaluate_predictions(["fugaku", "lassen"])
found.to_frame()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.predict.collective import COLLECTIVES, predict_collective
from workbench.predict.learning import growth_known, learn_algorithms
from workbench.predict.library_rules import algorithms_of_label
from workbench.predict.machine import MachineProfile
from workbench.predict.node_groups import NodeGroups
from workbench.predict.prediction_errors import VARIANTS, PredictionCase, PredictionErrors
from workbench.predict.shipped import (
    measured_machine,
    shipped_groups,
    shipped_systems,
)
from workbench.predict.surplus import Surplus, learn_surplus
from workbench.tasks import JobError, Task, task_of
from workbench.uq.collectives import CollectiveTest, MeasuredCollective
from workbench.uq.collectives.measured import nodes_of

_Groups = Mapping[int, NodeGroups]


def evaluate_predictions(
    tables: Sequence[str] | None = None,
    *,
    task: Task | None = None,
) -> PredictionErrors:
    """Predict the published collectives of systems from their point-to-point data.

    Args:
        tables: names of shipped systems, such as lassen,fugaku; None takes all.
        task: gets the progress before each collective; once it is stopped, the collectives that are
            finished are returned.

    Raises:
        DatasetError: there is no such system.
        JobError: it was stopped before the first collective was finished.
    """
    task = task_of(task)
    catalogue = shipped_systems()
    names = catalogue.names if tables is None else tables
    machines = {name: measured_machine(name) for name in names}
    jobs = [
        (name, machine, one)
        for name, (machine, times) in machines.items()
        for one in times
        if one.collective in COLLECTIVES
    ]
    groups = {name: shipped_groups(name) for name in names}
    parts: list[_Part] = []
    for done, (name, machine, one) in enumerate(jobs):
        if task.stopping:
            break
        what = f"{one.collective} {one.label} on {name}"
        task.report(done, len(jobs), f"{done} of {len(jobs)} done; {what}")
        title = catalogue[name].title.partition(" on ")[2].partition(",")[0]
        parts.append(_evaluate(name, title, machine, one, groups[name]))
    if not parts:
        raise JobError("the evaluation was stopped before its first collective; run it again")
    return PredictionErrors(
        tuple(part.case for part in parts),
        np.repeat(np.arange(len(parts)), [len(part.measured) for part in parts]),
        np.concatenate([part.nodes for part in parts]),
        np.concatenate([part.block_bytes for part in parts]),
        np.concatenate([part.measured for part in parts]),
        np.concatenate([part.predicted for part in parts], axis=1),
        np.concatenate([part.uncrowded for part in parts]),
        tuple(name for part in parts for name in part.algorithms),
        tuple(name for part in parts for name in part.learnt),
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """The tests of one case, in the order of their nodes."""

    case: PredictionCase
    nodes: NDArray[np.int64]
    block_bytes: NDArray[np.int64]
    measured: FloatArray
    predicted: FloatArray
    uncrowded: FloatArray
    algorithms: tuple[str, ...]
    learnt: tuple[str, ...]


def _evaluate(
    table: str,
    system: str,
    machine: MachineProfile,
    measured: MeasuredCollective,
    groups: _Groups,
) -> _Part:
    """Return the predictions of a collective, by each variant."""
    collective, label = measured.collective, measured.label
    nodes = np.array([test.nodes for test in measured.tests], np.int64)
    sizes = np.array([test.block_bytes for test in measured.tests], np.int64)
    real = measured.medians
    known = algorithms_of_label(collective, label) if label else ()
    algorithm = known[0] if known else ""
    predicted = np.full((len(VARIANTS), len(real)), np.nan)
    uncrowded = np.full(len(real), np.nan)
    names, learnt = [""] * len(real), [""] * len(real)
    counts = nodes_of(measured.tests)
    surplus = Surplus(float("nan"), (counts[0],))
    of_two = surplus
    if algorithm or not label:
        rounds = np.ones(len(real))
        for count in counts:
            mine = np.flatnonzero(nodes == count)
            placed = _placed(machine, measured.tests[mine[0]], groups)
            found = predict_collective(
                placed, collective, count, sizes[mine].tolist(), algorithm=algorithm or None
            )
            predicted[0, mine], rounds[mine] = found.times, found.rounds
            if machine.crowd_measured:
                uncrowded[mine] = predict_collective(
                    placed.uncrowded(),
                    collective,
                    count,
                    sizes[mine].tolist(),
                    algorithm=algorithm or None,
                ).times
            for at, name in zip(mine, found.algorithms, strict=True):
                names[at] = name
        tests = np.array([nodes, sizes, real, predicted[0], rounds])
        surplus = learn_surplus(*tests[:, nodes == counts[0]])
        may_grow = growth_known(machine.ranks_per_node, machine.crowd_measured)
        of_two = learn_surplus(*tests, may_grow=may_grow)
        for row, one in ((2, surplus), (3, of_two)):
            more = nodes > one.nodes[-1]
            predicted[row, more] = one.added(predicted[0, more], rounds[more], nodes[more])
        if not label:
            _learn(machine, measured, groups, predicted[1], learnt)
    case = PredictionCase(
        table,
        system,
        collective,
        label,
        algorithm,
        machine.ranks_per_node,
        counts[0],
        surplus.seconds,
        of_two.grows,
        machine.own_messages,
        machine.crowd_measured,
    )
    return _Part(case, nodes, sizes, real, predicted, uncrowded, tuple(names), tuple(learnt))


def _learn(
    machine: MachineProfile,
    measured: MeasuredCollective,
    groups: _Groups,
    predicted: FloatArray,
    learnt: list[str],
) -> None:
    """Predict more nodes by the algorithm that is nearest on the fewest; fill the last two."""
    collective, real = measured.collective, measured.medians
    nodes = np.array([test.nodes for test in measured.tests], np.int64)
    sizes = np.array([test.block_bytes for test in measured.tests], np.int64)
    first = np.flatnonzero(nodes == nodes.min())
    placed = _placed(machine, measured.tests[first[0]], groups)
    chosen = learn_algorithms(placed, collective, int(nodes.min()), sizes[first], real[first])
    for at in np.flatnonzero(nodes > nodes.min()):
        name = chosen.get(int(sizes[at]))
        if name is None:
            continue
        placed = _placed(machine, measured.tests[at], groups)
        found = predict_collective(
            placed, collective, int(nodes[at]), [int(sizes[at])], algorithm=name
        )
        predicted[at], learnt[at] = found.times[0], name


def _placed(machine: MachineProfile, test: CollectiveTest, groups: _Groups) -> MachineProfile:
    """Return the machine on the torus of a test, or with the groups of its nodes, if known."""
    if test.shape is None:
        return machine.placed(groups[test.nodes]) if test.nodes in groups else machine
    return machine.on(f"torus:{'x'.join(map(str, test.shape))}")
