"""A recorded master and workers on LogGP, where arrivals decide whom the master answers.

The work that a trace holds after each task goes with the task, to whoever gets it: the first tasks
go to the traced workers, every later one to the worker whose result the master has just taken. A
trace alone cannot say this of any program; it holds where each receive from any source is answered.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

from workbench.models import LogGPS
from workbench.programs.graph import ANY_SOURCE
from workbench.programs.program import COLLECTIVE, COMPUTE, RECV, SEND, Program


@dataclass
class Task:
    """What a worker does from a task's arrival to its next receive."""

    before_s: float  # work before the receive
    answers: list[tuple[float, int]]  # work before each send to the master, s, and its bytes


def calls_of(program: Program, rank: int) -> list[tuple[int, float, int, int]]:
    """Return a rank's calls: kind, work before it in s, bytes, peer."""
    own = slice(program.rank_start[rank], program.rank_start[rank + 1])
    columns = (program.kind, program.compute_ns * 1e-9, program.size, program.peer)
    return list(zip(*(column[own].tolist() for column in columns), strict=True))


def tasks_of(program: Program) -> list[Task]:
    """Return the tasks in the order in which the master, rank 0, sends them."""
    by_worker: dict[int, list[Task]] = {}
    for worker in range(1, program.num_ranks):
        by_worker[worker] = tasks = []
        for kind, work_s, size, _ in calls_of(program, worker)[1:]:
            if kind == RECV:
                tasks.append(Task(work_s, []))
            elif kind == SEND:
                tasks[-1].answers.append((work_s, size))
    sends = [peer for kind, _, _, peer in calls_of(program, 0) if kind == SEND]
    return [by_worker[worker].pop(0) for worker in sends]


def run_s(program: Program, model: LogGPS) -> float:
    """Return the run time from the end of a first barrier by dissemination, and that barrier, s."""
    first, *calls = calls_of(program, 0)
    if first[0] != COLLECTIVE or not all(
        kind in (SEND, COMPUTE) or (kind == RECV and peer == ANY_SOURCE)
        for kind, _, _, peer in calls
    ):
        raise ValueError("not a master that receives from any source")
    barrier_s = math.ceil(math.log2(program.num_ranks)) * (2 * model.o + model.L)
    waiting = iter(tasks_of(program))
    free_s = [barrier_s] * program.num_ranks
    arriving: list[tuple[float, int]] = []  # when, and from whom
    now, answered = barrier_s, None
    for kind, work_s, size, peer in calls:
        now += work_s
        if kind == RECV:
            arrival, answered = heapq.heappop(arriving)
            now = max(now, arrival) + model.o
            continue
        if kind == COMPUTE:
            continue
        now += model.o
        worker, task = peer if answered is None else answered, next(waiting)
        there = max(free_s[worker] + task.before_s, now + model.L + (size - 1) * model.G) + model.o
        for own_s, answer in task.answers:
            there += own_s + model.o
            heapq.heappush(arriving, (there + model.L + (answer - 1) * model.G, worker))
        free_s[worker] = there
    return max(now, *free_s)
