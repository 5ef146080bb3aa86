"""Programs derived from a program: repeated, or with varied computation times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.programs.graph import MOST
from workbench.programs.program import WAIT, Program


def repeat(program: Program, times: int) -> Program:
    """Return a program whose ranks repeat all their calls ``times`` times.

    Args:
        program: what is repeated.
        times: how often, at least 1.

    Raises:
        ParameterError: ``times`` is less than 1, or there would be too many calls.
    """
    if times < 1 or times * program.num_calls > MOST:
        raise ParameterError(
            f"times must be at least 1 and give at most {MOST} calls; got {times} times "
            f"{program.num_calls} calls",
            key="times",
        )
    lengths = np.diff(program.rank_start)
    of_rank = [
        np.tile(np.arange(start, end), times)
        for start, end in zip(program.rank_start[:-1], program.rank_start[1:], strict=True)
    ]
    call = np.concatenate(of_rank)
    turn = np.concatenate([np.repeat(np.arange(times), length) for length in lengths])
    given = program.request.astype(np.int64) + 1
    given[program.kind == WAIT] = 0
    requests = _highest_by_rank(program, given)
    rank = np.repeat(np.arange(program.num_ranks), lengths)

    request = program.request[call]
    waits = program.kind[call] == WAIT
    begins = (request >= 0) & ~waits
    request[waits] += turn[waits] * (len(program.wait_start) - 1)
    request[begins] += turn[begins] * requests[rank[call[begins]]]
    collective = program.collective[call]
    joins = collective >= 0
    collective[joins] += turn[joins] * len(program.collectives)

    waiting = np.zeros(len(program.wait_start) - 1, np.int64)  # rank of each wait
    at_waits = np.flatnonzero(program.kind == WAIT)
    waiting[program.request[at_waits]] = rank[at_waits]
    per_wait = np.diff(program.wait_start)
    shift = np.repeat(requests[waiting], per_wait)
    turns = np.arange(times)[:, np.newaxis]
    return replace(
        program,
        rank_start=program.rank_start * times,
        kind=program.kind[call],
        compute_ns=program.compute_ns[call],
        size=program.size[call],
        peer=program.peer[call],
        tag=program.tag[call],
        comm=program.comm[call],
        request=request.astype(np.int32),
        collective=collective.astype(np.int32),
        wait_start=np.concatenate([[0], np.cumsum(np.tile(per_wait, times))]).astype(np.int64),
        wait_requests=(program.wait_requests + turns * shift).ravel().astype(np.int32),
        collectives=program.collectives * times,
        line=program.line[call] if program.line is not None else None,
    )


def jittered(
    program: Program, jitter: float, rng: np.random.Generator | int | None = None
) -> Program:
    """Return a program with each computation's time multiplied by its own factor ``1 ± jitter``.

    Args:
        program: what is varied.
        jitter: the largest relative deviation, from 0 to 1.
        rng: random generator or seed.

    Raises:
        ParameterError: ``jitter`` is below 0 or above 1.
    """
    times = factors(program.num_calls, jitter, rng)
    if jitter == 0:
        return program
    return replace(program, compute_ns=np.rint(program.compute_ns * times).astype(np.int64))


def factors(
    count: int, jitter: float, rng: np.random.Generator | int | None = None
) -> NDArray[np.float64]:
    """Return independent uniform factors ``1 ± jitter``, 0 <= jitter <= 1, float64[count]."""
    if not 0 <= jitter <= 1:
        raise ParameterError(f"jitter must be 0 to 1; got {jitter}", key="jitter")
    # Only sums and products of the doubles drawn: a seed gives the same factors everywhere.
    return 1 + jitter * (2 * np.random.default_rng(rng).random(count) - 1)


def _highest_by_rank(program: Program, values: NDArray[np.int64]) -> NDArray[np.int64]:
    highest = np.zeros(program.num_ranks, np.int64)
    rank = np.repeat(np.arange(program.num_ranks), np.diff(program.rank_start))
    np.maximum.at(highest, rank, values)
    return highest
