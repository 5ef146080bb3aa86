"""Messages that a rank sends to itself, which pass no network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.programs.builder import ProgramBuilder
from workbench.programs.graph import ANY_SOURCE
from workbench.programs.program import COMPUTE, ICOLLECTIVE, IRECV, ISEND, RECV, SEND, WAIT, Program


def without_own_messages(program: Program, call_ns: int = 0) -> Program:
    """Return a program without the messages of ranks to themselves; a note has their number.

    A halo exchange sends them where it is periodic and there is one rank. An MPI library copies
    them, and no latency is added to them, where a model charges L. A rank that receives from any
    source keeps its own, for it is not known which of these receives take them.

    Args:
        program: as it was recorded.
        call_ns: work that stays in place of each call that sends or receives one, ns.

    Raises:
        ParameterError: the work is negative.
    """
    rank_of = np.repeat(np.arange(program.num_ranks), np.diff(program.rank_start))
    receives = np.isin(program.kind, (RECV, IRECV))
    from_any = rank_of[receives & (program.peer == ANY_SOURCE)]
    own = (np.isin(program.kind, (SEND, ISEND)) | receives) & (program.peer == rank_of)
    own &= ~np.isin(rank_of, from_any)
    if not own.any():
        return program
    builder = ProgramBuilder(program.num_ranks, source=program.source)
    for ranks in program.communicators[1:]:
        builder.communicator(ranks.tolist())
    for collective in program.collectives:
        builder.new_collective(collective)
    calls = {SEND: builder.send, RECV: builder.recv, ISEND: builder.isend, IRECV: builder.irecv}
    names = ("kind", "compute_ns", "size", "peer", "tag", "comm", "request", "collective")
    columns = [getattr(program, name).tolist() for name in names]
    lines = [0] * program.num_calls if program.line is None else program.line.tolist()
    waits, requests = program.waits, dict[tuple[int, int], int | None]()
    for rank, is_own, line, *values in zip(
        rank_of.tolist(), own.tolist(), lines, *columns, strict=True
    ):
        kind, work_ns, size, peer, tag, comm, request, collective = values
        builder.compute(rank, work_ns + call_ns * is_own)
        if kind in calls and not is_own:
            begun = calls[kind](rank, peer, size, tag, comm=comm, line=line)
            requests[rank, request] = begun
        elif kind == WAIT:
            asked = [requests.get((rank, one)) for one in waits[request]]
            builder.wait(rank, [one for one in asked if one is not None], line=line)
        elif kind == ICOLLECTIVE:
            requests[rank, request] = builder.begin_collective(rank, collective, line=line)
        elif kind not in calls and kind != COMPUTE:
            builder.join_collective(rank, collective, line=line)
    count = int((own & ~receives).sum())
    note = f"{count} messages of ranks to themselves pass no network and are left out."
    return replace(builder.build(), notes=(*program.notes, note), recorded=program.recorded)
