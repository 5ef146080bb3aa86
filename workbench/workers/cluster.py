"""Pieces of work done by the workers of a Dask cluster, on this machine or on many.

Every worker must have the workbench installed and must reach the database: an SQLite file on a
disk that all of them share and that knows locks, or better a PostgreSQL address. A worker does as
many pieces at once as it has threads; what it does is Python, so give it one.

On this machine:

    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1) as local, Client(local) as client:
        result = study.run(plan, "which-loss.db", cluster=client)
        runs = uq.evaluate_design(design, "runs.db", cluster=client)

On the nodes of a Slurm machine, through dask-jobqueue:

    from dask_jobqueue import SLURMCluster
    with SLURMCluster(
        queue="batch", cores=32, processes=32, memory="64GB", walltime="01:00:00",
        job_script_prologue=["export OMP_NUM_THREADS=1"],
    ) as machine:
        machine.scale(jobs=4)
        with Client(machine) as client:
            result = study.run(plan, "postgresql://user@host/studies", cluster=client)
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError
from workbench.storage.database import absolute, locate
from workbench.tasks import Task
from workbench.workers.work import PATIENCE_S, Answer, PiecedWork, WorkPiece, ended, perform_by_name

if TYPE_CHECKING:
    from distributed import Client

_LOOK_S = 0.1  # chosen: a piece, such as a fit of 2000 trials, takes seconds or more
_READ_S = 1.0  # chosen: bars move once a second; each look reads the store that workers write to
_WATCH_S = 0.3  # chosen: how late a worker notices Stop; each look asks the scheduler for a flag


def do_on_cluster(
    work: PiecedWork,  # every worker must reach its database
    pieces: Sequence[WorkPiece],
    client: Client,
    task: Task,  # its stop also ends what is being done
) -> None:
    """Do pieces on a cluster until all end or a stop; Dask restarts those of dead workers."""
    distributed = _distributed()
    if not isinstance(client, distributed.Client):
        raise ParameterError(
            f"cluster must be a dask.distributed.Client; got {type(client).__name__}; for a "
            "cluster object pass Client(cluster)",
            key="cluster",
        )
    flag = distributed.Event(f"workbench-stop-{uuid.uuid4().hex}", client=client)
    where = absolute(work.database)
    pending = {
        client.submit(
            _do,
            work.performer,
            dict(piece.order),
            where,
            flag.name,
            key=f"{piece.name}-{uuid.uuid4().hex}",
        ): piece.name
        for piece in pieces
    }
    try:
        read = time.monotonic()
        while pending:
            if task.stopping:
                flag.set()
                client.cancel([*pending])
                _await_release(work, [*pending.values()])
                break
            for future in [future for future in pending if future.done()]:
                work.note(pending.pop(future), _ended(future))
            if time.monotonic() - read >= _READ_S:
                _note_stored(work, list(pending.values()), "running")
                read = time.monotonic()
            time.sleep(_LOOK_S)
    finally:
        if client.status == "running":
            client.cancel([*pending])
            flag.set()


def _do(performer: str, order: Mapping[str, Any], database: str, flag: str) -> Answer:
    """Do a piece on a worker."""
    task, over = Task(), threading.Event()
    worker = _distributed().get_worker()
    key = worker.get_current_task()
    watch = threading.Thread(target=_watch, args=(worker, key, flag, task, over), daemon=True)
    watch.start()
    try:
        return perform_by_name(performer)(order, database, task)
    finally:
        over.set()


def _watch(worker: Any, key: str, name: str, task: Task, over: threading.Event) -> None:
    """Stop the task when the study is stopped, or the scheduler has dropped this key."""
    try:
        with _distributed().Client(worker.scheduler.address, set_as_default=False) as client:
            flag = _distributed().Event(name, client=client)
            while not over.wait(_WATCH_S):
                wanted = worker.state.tasks.get(key)
                if flag.is_set() or wanted is None or wanted.state == "cancelled":
                    break
    # Whatever ends the connection to the scheduler ends the work that was done for it.
    except Exception:
        task.stop()
    task.stop()


def _ended(future: Any) -> Answer:
    if future.status == "finished":
        answer: Answer = future.result()
        return answer
    reason = "it was cancelled"
    if future.status == "error":
        error = future.exception()
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return ended("failed", f"on the cluster: {reason}")


def _note_stored(work: PiecedWork, names: Sequence[str], state: str) -> None:
    for name, answer in work.stored(names).items():
        work.note(name, {**answer, **ended(state)})


def _await_release(work: PiecedWork, names: Sequence[str]) -> None:
    """Wait until the workers have released the pieces, and note the last state of each."""
    deadline = time.monotonic() + PATIENCE_S
    while locate(work.database).held(names) and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    _note_stored(work, names, "stopped")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ParameterError(
            "cluster= needs Dask, which is not installed; pip install distributed, or leave "
            "cluster out to use the cores of this machine",
            key="cluster",
        ) from error
    return distributed
