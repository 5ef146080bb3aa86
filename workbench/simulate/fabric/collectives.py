"""What a collective takes on a fabric, against the size of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.collectives import schedule
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.program import replay_on
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of

Until = Literal["last", "root"]


def collective_times(
    fabric: Fabric,
    operation: str,
    algorithm: str | None = None,
    sizes: Sequence[int] = (64, 1024, 8192, 65536),
    *,
    ranks: int | None = None,
    root: int = 0,
    until: Until = "last",
    host: LogGPS | None = None,
    placement: str | ArrayLike = "block",
    rng: np.random.Generator | int | None = None,
    in_turn: bool = True,
    resolution_ns: float = 0.0,
    task: Task | None = None,
) -> dict[int, float]:
    """Return the simulated time of a collective for each size, s by bytes.

    All ranks begin at once, and the time is until the last of them, or the root, has ended. The
    messages are
    those of the algorithm in ``workbench.programs.collectives``; combining takes no time.

    Args:
        fabric: network, model, routing and congestion.
        operation: collective, such as ``allgather``, ``alltoall``, ``scatter`` or ``allreduce``.
        algorithm: algorithm, such as ``ring`` or ``binomial``; None takes the usual one.
        sizes: sizes in bytes: of the whole vector for bcast, reduce and allreduce, of one rank's
            part for gather, scatter and allgather, from one rank to another for alltoall.
        ranks: number of ranks, one a host; None takes all hosts.
        root: rank that gives or gets.
        until: ``last``: all ranks have ended; ``root``: the root has, and its messages have
            arrived, as Wilke et al. report a scatter (Euro-Par 2013, section 7).
        host: whose o, O and S hosts have; None takes messages at no cost, all of them eager.
        placement: as for ``replay_on``.
        rng: of the placement ``random``.
        in_turn: see ``replay_on``.
        resolution_ns: see ``replay_on``.
        task: gets the progress after each size; once it is stopped, the sizes done until then are
            returned, which are also its result so far.

    Raises:
        ParameterError: there is no such operation or algorithm, or it does not fit the fabric.
    """
    if not sizes:
        raise ParameterError("sizes must name at least one size in bytes", key="sizes")
    if until not in get_args(Until):
        raise ParameterError(
            f"until must be one of {', '.join(get_args(Until))}; got {until!r}"
            f"{did_you_mean(until, get_args(Until))}",
            key="until",
        )
    count = fabric.topology.num_hosts if ranks is None else ranks
    if placement == "random" and not isinstance(rng, np.random.Generator):
        # One placement for all sizes.
        rng = int(np.random.default_rng(rng).integers(2**32))
    task = task_of(task)
    quiet = task.part()
    times: dict[int, float] = {}
    task.partial_from(times.copy)
    for size in sizes:
        graph = schedule(operation, algorithm, count, size=size, root=root).graph()
        try:
            result = replay_on(
                graph,
                fabric,
                host=host,
                placement=placement,
                rng=rng,
                in_turn=in_turn,
                resolution_ns=resolution_ns,
                times=until == "root",
                task=quiet,
            )
        except SimulationHalted:
            break
        times[int(size)] = result.makespan_s if until == "last" else result.rank_s(root)
        task.report(len(times), len(sizes), f"{len(times)} of {len(sizes)} sizes")
    return times
