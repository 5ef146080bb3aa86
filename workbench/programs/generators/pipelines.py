"""Programs that pass work on: from a master to its workers, and round a ring."""

from __future__ import annotations

import heapq

import numpy as np

from workbench.checks import number, whole
from workbench.programs.builder import ProgramBuilder
from workbench.programs.generators.tiling import factors, jittered, repeat
from workbench.programs.graph import ANY_SOURCE
from workbench.programs.program import Program

_TASK, _RESULT, _STOP = 0, 1, 2  # tags; any that differ would do
_STOP_BYTES = 4  # an int of MPI


def master_worker(
    ranks: int = 16,
    *,
    tasks: int = 128,
    task_bytes: int = 4096,
    result_bytes: int = 1024,
    task_ns: int = 100_000,
    master_ns: int = 1_000,
    jitter: float = 0.5,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return a master-worker program: rank 0 sends the next task to the first idle worker.

    The master receives results from any source. Which worker gets which task has to be settled
    beforehand: as it would be if messages took no time. The master does not wait for its sends
    before the end, so that nothing can wait in a circle, whatever the network.

    Args:
        ranks: the master and its workers, at least 2.
        tasks: how many.
        task_bytes: size of a task's message in bytes.
        result_bytes: size of a result's message in bytes.
        task_ns: time of a task in ns.
        master_ns: time that the master takes for a result in ns.
        jitter: each task takes ``task_ns`` multiplied by a uniform ``1 ± jitter``.
        rng: random generator or seed, of the jitter.

    Raises:
        ParameterError: an argument is too small, or the jitter is not 0 to 1.
    """
    whole(ranks, "ranks", 2)
    whole(tasks, "tasks", 0)
    number(master_ns, "master_ns", 0)
    number(task_ns, "task_ns", 0)
    durations = np.rint(task_ns * factors(tasks, jitter, rng)).astype(np.int64).tolist()
    workers = range(1, ranks)
    given: list[list[int]] = [[] for _ in range(ranks)]  # durations, worker by worker
    running: list[tuple[int, int]] = []  # when a worker finishes, which
    for worker, duration in zip(workers, durations, strict=False):
        given[worker].append(duration)
        heapq.heappush(running, (duration, worker))
    waiting = iter(durations[len(running) :])
    next_of: list[int] = []  # the worker that gets a task after each result, 0 for none
    while running:
        now, worker = heapq.heappop(running)
        duration = next(waiting, -1)
        next_of.append(worker if duration >= 0 else 0)
        if duration >= 0:
            given[worker].append(duration)
            heapq.heappush(running, (now + duration, worker))

    builder = ProgramBuilder(ranks, source=f"master_worker {ranks}")
    sent = [builder.isend(0, worker, task_bytes, _TASK) for worker in workers[:tasks]]
    for worker in next_of:
        builder.recv(0, ANY_SOURCE, result_bytes, _RESULT)
        builder.compute(0, master_ns)
        if worker:
            sent.append(builder.isend(0, worker, task_bytes, _TASK))
    sent += [builder.isend(0, worker, _STOP_BYTES, _STOP) for worker in workers]
    builder.wait(0, sent)
    for worker in workers:
        for duration in given[worker]:
            builder.recv(worker, 0, task_bytes, _TASK)
            builder.compute(worker, duration)
            builder.send(worker, 0, result_bytes, _RESULT)
        builder.recv(worker, 0, _STOP_BYTES, _STOP)
    return builder.build()


def ring_pipeline(
    ranks: int = 16,
    *,
    segments: int = 32,
    segment_bytes: int = 65536,
    segment_ns: int = 20_000,
    overlap: bool = False,
    iterations: int = 1,
    jitter: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return a pipeline: segments go once round a ring of ranks, and each rank works on each.

    Rank 0 posts the receives of all segments that come back before it sends the first, so that
    nothing can wait in a circle.

    Args:
        ranks: how many, at least 2.
        segments: how many in an iteration.
        segment_bytes: size of a segment in bytes.
        segment_ns: time that a rank takes for a segment in ns.
        overlap: whether the next segment is received while one is worked on.
        iterations: how often all segments go round.
        jitter: each computation takes its time multiplied by a uniform ``1 ± jitter``.
        rng: random generator or seed, of the jitter.

    Raises:
        ParameterError: an argument is too small, or the jitter is not 0 to 1.
    """
    whole(ranks, "ranks", 2)
    whole(segments, "segments", 1)
    builder = ProgramBuilder(ranks, source=f"ring_pipeline {ranks}")
    back = [builder.irecv(0, ranks - 1, segment_bytes) for _ in range(segments)]
    for _ in range(segments):
        builder.compute(0, segment_ns)
        builder.send(0, 1, segment_bytes)
    builder.wait(0, back)
    for rank in range(1, ranks):
        ahead = builder.irecv(rank, rank - 1, segment_bytes) if overlap else -1
        for segment in range(segments):
            if overlap:
                builder.wait(rank, [ahead])
                if segment + 1 < segments:
                    ahead = builder.irecv(rank, rank - 1, segment_bytes)
            else:
                builder.recv(rank, rank - 1, segment_bytes)
            builder.compute(rank, segment_ns)
            builder.send(rank, (rank + 1) % ranks, segment_bytes)
    return jittered(repeat(builder.build(), iterations), jitter, rng)
