"""Cells fitted by the workers of a Dask cluster, on this machine or on many.

Every worker must have the workbench installed and must reach the database: an SQLite file on a
disk that all of them share and that knows locks, or better a PostgreSQL address. A worker fits as
many cells at once as it has threads; the search is Python, so give it one.

On this machine:

    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1) as local, Client(local) as client:
        result = run(plan, "which-loss.db", cluster=client)

On the nodes of a Slurm machine, through dask-jobqueue:

    from dask_jobqueue import SLURMCluster
    with SLURMCluster(
        queue="batch", cores=32, processes=32, memory="64GB", walltime="01:00:00",
        job_script_prologue=["export OMP_NUM_THREADS=1"],
    ) as machine:
        machine.scale(jobs=4)
        with Client(machine) as client:
            result = run(plan, "postgresql://user@host/studies", cluster=client)
"""

from __future__ import annotations

import dataclasses
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError
from workbench.fit.store.stored_studies import read_progress
from workbench.jobs import StopFlag
from workbench.storage.database import absolute, locate
from workbench.study.cell import Cell, CellProgress, CellState
from workbench.study.fit_cell import fit_cell
from workbench.study.model_choice import ModelChoice

if TYPE_CHECKING:
    from distributed import Client

Task = tuple[Cell, ModelChoice]

_LOOK_S = 0.1
_READ_S = 1.0
_WATCH_S = 0.3
_PATIENCE_S = 10.0


def fit_on_cluster(
    tasks: Sequence[Task],
    trials: int,
    database: str | Path,  # every worker must reach it
    client: Client,
    stop: threading.Event,  # also ends running trials
    note: Callable[[CellProgress], None],  # called in this thread
) -> None:
    """Fit cells on a cluster until all end or ``stop``; Dask restarts cells of dead workers."""
    distributed = _distributed()
    if not isinstance(client, distributed.Client):
        raise ParameterError(
            f"cluster must be a dask.distributed.Client; got {type(client).__name__}; for a "
            "cluster object pass Client(cluster)",
            key="cluster",
        )
    flag = distributed.Event(f"workbench-stop-{uuid.uuid4().hex}", client=client)
    where = absolute(database)
    pending = {
        client.submit(
            _fit,
            dataclasses.asdict(cell),
            choice.plain(),
            trials,
            where,
            flag.name,
            key=f"{cell.name}-{uuid.uuid4().hex}",
        ): cell
        for cell, choice in tasks
    }
    try:
        read = time.monotonic()
        while pending:
            if stop.is_set():
                flag.set()
                client.cancel([*pending])
                _await_release([*pending.values()], trials, database, note)
                break
            for future in [future for future in pending if future.done()]:
                note(_ended(future, pending.pop(future), trials))
            if time.monotonic() - read >= _READ_S:
                _note_stored(list(pending.values()), trials, database, note)
                read = time.monotonic()
            time.sleep(_LOOK_S)
    finally:
        if client.status == "running":
            client.cancel([*pending])
            flag.set()


def _fit(
    cell: dict[str, Any], choice: Any, trials: int, database: str, flag: str
) -> dict[str, Any]:
    """Fit one cell on a worker."""
    stop, over = StopFlag(), threading.Event()
    watch = threading.Thread(target=_watch, args=(_task(), flag, stop, over), daemon=True)
    watch.start()
    try:
        progress = fit_cell(
            Cell(**cell), ModelChoice.coerce(choice), trials, database, stop, lambda _: None
        )
    finally:
        over.set()
    return {**dataclasses.asdict(progress), "cell": None}


def _task() -> tuple[Any, str]:
    """Return the worker and the key of the task that runs in this thread."""
    worker = _distributed().get_worker()
    return worker, worker.get_current_task()


def _watch(task: tuple[Any, str], name: str, stop: StopFlag, over: threading.Event) -> None:
    """Set ``stop`` when the study is stopped, or the scheduler has dropped this task."""
    worker, key = task
    try:
        with _distributed().Client(worker.scheduler.address, set_as_default=False) as client:
            flag = _distributed().Event(name, client=client)
            while not over.wait(_WATCH_S):
                wanted = worker.state.tasks.get(key)
                if flag.is_set() or wanted is None or wanted.state == "cancelled":
                    break
    # Whatever ends the connection to the scheduler ends the work that was done for it.
    except Exception:
        stop.set()
    stop.set()


def _ended(future: Any, cell: Cell, trials: int) -> CellProgress:
    if future.status == "finished":
        return CellProgress(**{**future.result(), "cell": cell})
    reason = "it was cancelled"
    if future.status == "error":
        error = future.exception()
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return CellProgress(cell, "failed", 0, trials, message=f"on the cluster: {reason}")


def _note_stored(
    cells: Sequence[Cell],
    trials: int,
    database: str | Path,
    note: Callable[[CellProgress], None],
    state: CellState = "running",
) -> None:
    stored = read_progress(database, [cell.name for cell in cells])
    for cell in cells:
        found = stored.get(cell.name)
        if found is not None and found.trials:
            note(CellProgress(cell, state, found.trials, trials, found.best_loss))


def _await_release(
    cells: Sequence[Cell],
    trials: int,
    database: str | Path,
    note: Callable[[CellProgress], None],
) -> None:
    """Wait until the workers have released the cells, and note the last state of each."""
    names = [cell.name for cell in cells]
    deadline = time.monotonic() + _PATIENCE_S
    while locate(database).held(names) and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    _note_stored(cells, trials, database, note, "stopped")


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
