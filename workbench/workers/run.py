"""Pieces of work done one by one, in processes, in threads or on a cluster."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from workbench import tasks
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.storage.database import absolute
from workbench.tasks import Task
from workbench.workers.processes import LOOK_S, do_in_processes
from workbench.workers.work import HELD, Answer, PiecedWork, WorkPiece, perform_by_name

Executor = Callable[[PiecedWork, Sequence[WorkPiece], Task], None]


def choose_executor(workers: int | None, cluster: Any, *, threads: bool = False) -> Executor:
    """Return a function that does pieces of work: on a cluster, in processes or in threads.

    ``workers`` is their number, by default that of the cores; with 1 the caller's thread works.
    """
    if cluster is not None:
        if workers is not None:
            raise ParameterError(
                "workers counts processes of this machine; with cluster= leave it out and scale "
                "the cluster",
                key="workers",
            )
        from workbench.workers.cluster import do_on_cluster

        return lambda work, pieces, task: do_on_cluster(work, pieces, cluster, task)
    count = tasks.cores() if workers is None else whole(workers, "workers", 1)
    if count == 1:
        return _one_by_one
    if threads:
        return lambda work, pieces, task: _in_threads(work, pieces, count, task)
    return lambda work, pieces, task: do_in_processes(work, pieces, count, task)


def do_pieces(
    work: PiecedWork, pieces: Sequence[WorkPiece], executor: Executor, task: Task
) -> None:
    """Do pieces until all end or a stop; look once more at those that others did meanwhile."""
    elsewhere: set[str] = set()

    def note(name: str, answer: Answer) -> None:
        (elsewhere.add if answer["message"] == HELD else elsewhere.discard)(name)
        work.note(name, answer)

    listened = PiecedWork(work.performer, work.database, note, work.stored)
    executor(listened, pieces, task)
    # The process that did a piece may have stopped meanwhile; it is continued here.
    again = [piece for piece in pieces if piece.name in elsewhere]
    if again and not task.stopping:
        executor(listened, again, task)


class Pace:
    """How long the rest takes, from what was finished since the first report of progress."""

    def __init__(self, done: int) -> None:
        self._began, self._before, self._paced = time.monotonic(), done, False

    def left_s(self, done: int, left: int) -> float:
        """Return the seconds that ``left`` takes now that ``done`` is; nan where unknown."""
        now, fresh = time.monotonic(), done - self._before
        elapsed = now - self._began
        if fresh and not self._paced:
            # The processes are up: from here on time goes into the work.
            self._paced, fresh = True, 0
            self._began, self._before = now, done
        return left * elapsed / fresh if fresh else math.nan


def _one_by_one(work: PiecedWork, pieces: Sequence[WorkPiece], task: Task) -> None:
    perform, database = perform_by_name(work.performer), absolute(work.database)
    for piece in pieces:
        if task.stopping:
            break
        note = partial(work.note, piece.name)
        note(perform(piece.order, database, task.part(note)))


def _in_threads(work: PiecedWork, pieces: Sequence[WorkPiece], count: int, task: Task) -> None:
    perform, database = perform_by_name(work.performer), absolute(work.database)
    inbox: queue.SimpleQueue[tuple[str, Answer] | Exception] = queue.SimpleQueue()
    given_up = threading.Event()

    def do(piece: WorkPiece) -> None:
        try:
            if not (task.stopping or given_up.is_set()):
                quiet = task.part()
                inbox.put((piece.name, perform(piece.order, database, quiet)))
        except Exception as error:
            inbox.put(error)

    with ThreadPoolExecutor(count, "workbench-piece") as pool:
        futures = [pool.submit(do, piece) for piece in pieces]
        try:
            while not all(future.done() for future in futures) or not inbox.empty():
                try:
                    answer = inbox.get(timeout=LOOK_S)
                except queue.Empty:
                    continue
                if isinstance(answer, Exception):
                    raise answer
                work.note(*answer)
        finally:
            given_up.set()
