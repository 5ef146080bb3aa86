"""From a program to its execution graph: calls become operations, collectives become schedules.

The rules are Schedgen's (Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010, section 4). Work
between two calls is a computation. A blocking call waits for the call before it, and the next call
waits for it. The call after a non-blocking call waits only until that one has started; the call
after a wait also waits until the operations of its requests have finished. A collective's first
operations wait for the call before, and the next call waits for its last ones; for a non-blocking
collective, its wait does. Only where several operations would wait for several is a computation of
0 ns inserted between them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.lowering import (
    BEGUN_EDGES,
    FIRST_LEFT,
    LEFT,
    NO_TEMPLATE,
    OPS,
    REQUEST_BEGUN_TWICE,
    REQUIRED,
    UNKNOWN_REQUEST,
    expand,
    group_by_awaited,
)
from workbench.errors import ParameterError, ProgramError
from workbench.programs import tags
from workbench.programs.collective_templates import TemplateKey, packed, template
from workbench.programs.collectives import DEFAULTS, find_algorithm
from workbench.programs.collectives.schedule import COMBINING, check_reduce_time
from workbench.programs.graph import MOST, Dependents, ExecutionGraph
from workbench.programs.program import (
    COLLECTIVE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    OPERATIONS,
    WAIT,
    Program,
    numbered_by_name,
)
from workbench.suggestions import did_you_mean

Arrays = tuple[NDArray[Any], ...]

_BYTES_PER_OP, _BYTES_PER_EDGE = 35, 12  # arrays of the graph, and the pairs while it is made


def lower(
    program: Program,
    algorithms: Mapping[str, str],  # by operation; default where left out
    per_call: Mapping[int, str],  # by index in ``program.collectives``, before ``algorithms``
    *,
    progress_cpu: int = 0,  # core of non-blocking collectives, 0 to 254; all else is on core 0
    reduce_ns_per_byte: float = 0.0,  # to combine a byte, 0 to 1e9; 0 omits the computations
) -> ExecutionGraph:
    """Return a program's execution graph, each collective as a schedule of messages."""
    if not 0 <= progress_cpu <= 254:
        raise ParameterError(
            f"progress_cpu must be 0 to 254; got {progress_cpu}", key="progress_cpu"
        )
    check_reduce_time(reduce_ns_per_byte)
    _check_indices(program)
    keys = _keys(program, algorithms, per_call, reduce_ns_per_byte)
    distinct = list(dict.fromkeys(keys)) or [
        ("barrier", DEFAULTS["barrier"], 1, 0, (), None, 0, 0.0)
    ]
    number = {key: at for at, key in enumerate(distinct)}
    made = [template(key) for key in distinct]
    first_part, templates = packed(made)
    of_collective = np.array([number[key] for key in keys], np.int64)
    spans = np.array([of.tags for of in made], np.int64)[of_collective]
    tag = tags.assign(program, spans)
    part, first_member = _joins(program, first_part, of_collective)
    calls_tag = tag.call
    joined = program.collective >= 0
    calls_tag[joined] = tag.collective[program.collective[joined]]
    calls = (
        program.rank_start,
        program.kind,
        program.compute_ns,
        program.size,
        program.peer,
        calls_tag,
        program.request,
        part,
        first_member,
        np.arange(program.num_calls, dtype=np.int32),
    )
    changed = Counter(made[at].note for at in of_collective if made[at].note)
    notes = tuple(f"{n} collective{'s' * (n > 1)}: {note}." for note, n in changed.items())
    return _expanded(program, calls, templates, progress_cpu, tag.notes + notes)


def _expanded(
    program: Program, calls: Arrays, templates: Arrays, progress_cpu: int, notes: tuple[str, ...]
) -> ExecutionGraph:
    """Return the graph: a first pass of the kernel counts, a second fills the arrays."""
    waits = (program.wait_start, program.wait_requests)
    members = np.concatenate(program.communicators)
    work = _work(program, calls[7], templates[0])
    op_start = np.zeros(program.num_ranks + 1, np.int64)
    counts = np.zeros(5, np.int64)
    n = required = begun = 0
    for writing in (False, True):
        ops = (
            np.empty(n, np.uint8),
            np.empty(n, np.int64),
            np.empty(n, np.int32),
            np.empty(n, np.uint32),
            np.zeros(n, np.uint8),
            np.empty(n, np.int32),
        )
        edges = np.empty((2, required), np.int32), np.empty((2, begun), np.int32)
        counts[:] = 0
        status, call = expand(
            calls,
            waits,
            templates,
            members,
            progress_cpu,
            work,
            counts,
            op_start,
            ops,
            *edges,
            writing,
        )
        if status in (UNKNOWN_REQUEST, REQUEST_BEGUN_TWICE):
            what = "waits for a request that was not started" if status == UNKNOWN_REQUEST else ""
            what = what or f"starts request {program.request[call]} a second time"
            raise ProgramError(f"{_where(program, call)} {what}")
        n, required, begun = (int(counts[at]) for at in (OPS, REQUIRED, BEGUN_EDGES))
        _check_room(n, required + begun)
    if counts[LEFT]:
        notes += (
            f"{counts[LEFT]} requests are never waited for, so nothing waits for their "
            f"operations; the first is of {_where(program, int(counts[FIRST_LEFT]))}.",
        )
    kind, size, peer, tag, cpu, call_of = ops
    names = program.call_names
    return ExecutionGraph(
        rank_start=op_start,
        kind=kind,
        size=size,
        peer=peer,
        tag=tag,
        cpu=cpu,
        nic=np.zeros(n, np.uint8),
        requires=_dependents(edges[0], n),
        irequires=_dependents(edges[1], n),
        source=program.source,
        line=None if program.line is None else program.line[call_of],
        notes=program.notes + notes,
        recorded=program.recorded,
        call_name=names[call_of],
        call_number=numbered_by_name(names, program.rank_start)[call_of],
    )


def _check_room(ops: int, edges: int) -> None:
    """Refuse a graph that does not fit into memory, before it is allocated."""
    needed = ops * _BYTES_PER_OP + edges * _BYTES_PER_EDGE
    room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if max(ops, edges) > MOST or needed > room:
        raise ProgramError(
            f"a graph holds at most {MOST} operations and dependencies and must fit into memory, "
            f"{room / 1e9:.0f} GB; this program would have {ops} and {edges} and need "
            f"{needed / 1e9:.0f} GB: choose other algorithms, or fewer iterations or ranks"
        )


def _dependents(pairs: NDArray[np.int32], num_ops: int) -> Dependents:
    start, ops = np.zeros(num_ops + 1, np.int32), np.empty(pairs.shape[1], np.int32)
    group_by_awaited(pairs, start, ops)
    return Dependents(start, ops)


def _work(program: Program, part: NDArray[np.int64], op_start: NDArray[np.int64]) -> Arrays:
    """Return the kernel's working space: at least as much as the largest rank needs."""
    requests = calls = int(np.diff(program.rank_start).max())
    joins = np.flatnonzero(part != NO_TEMPLATE)
    joined = np.bincount(_rank_of(program, joins), np.diff(op_start)[part[joins]], 1)
    most_ops = 2 * calls + int(joined.max())  # work and a call, or what joins several to several
    return (
        np.empty((2, most_ops + 1), np.int64),
        np.full(most_ops + 1, -1, np.int64),
        np.empty(requests, np.int64),
        np.empty(requests, np.int64),
        np.zeros(requests, np.int8),
        np.empty(requests, np.int64),
    )


def _begins(program: Program) -> NDArray[np.bool_]:
    kind = program.kind
    begins: NDArray[np.bool_] = (kind == ISEND) | (kind == IRECV) | (kind == ICOLLECTIVE)
    return begins


def _keys(
    program: Program,
    algorithms: Mapping[str, str],
    per_call: Mapping[int, str],
    reduce_ns_per_byte: float,
) -> list[TemplateKey]:
    """Return the template key of each collective."""
    for operation, name in algorithms.items():
        if operation not in OPERATIONS:
            raise ParameterError(
                f"a collective must be one of {', '.join(OPERATIONS)}; got {operation!r}"
                f"{did_you_mean(operation, OPERATIONS)}",
                key="algorithms",
            )
        find_algorithm(operation, name)
    for place in per_call:
        if not 0 <= place < len(program.collectives):
            raise ParameterError(
                f"per_call must name collectives 0 to {len(program.collectives) - 1}; got {place}",
                key="per_call",
            )
    chosen = {**DEFAULTS, **algorithms}
    members = [len(ranks) for ranks in program.communicators]
    return [
        (
            c.operation,
            per_call[place] if place in per_call else chosen[c.operation],
            members[c.comm],
            c.size,
            c.sizes,
            c.element_bytes,
            c.root,
            reduce_ns_per_byte if c.operation in COMBINING else 0.0,
        )
        for place, c in enumerate(program.collectives)
    ]


def _joins(
    program: Program, first_part: NDArray[np.int64], of_collective: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each call its part in a collective, and where its communicator's ranks begin."""
    part = np.full(program.num_calls, NO_TEMPLATE, np.int64)
    first_member = np.zeros(program.num_calls, np.int64)
    if not program.collectives:
        return part, first_member
    calls = np.flatnonzero(program.collective >= 0)
    joined = program.collective[calls]
    comm = np.array([c.comm for c in program.collectives], np.int64)
    members = np.array([len(ranks) for ranks in program.communicators], np.int64)
    start = np.cumsum(members) - members
    rank = _rank_of(program, calls)
    place = _place_in_communicator(program, comm[joined], rank)
    if (place < 0).any():
        call = int(calls[np.argmax(place < 0)])
        raise ProgramError(
            f"{_where(program, call)} calls {_what(program, int(program.collective[call]))}, but "
            "does not belong to its communicator"
        )
    counts = np.bincount(joined, minlength=len(comm))
    short = np.flatnonzero(counts < members[comm])
    if not len(short):
        # As many calls as ranks, so all call once unless some call twice.
        seats = np.cumsum(members[comm]) - members[comm]
        taken = np.bincount(seats[joined] + place, minlength=int(members[comm].sum()))
        twice = np.flatnonzero(taken[seats[joined] + place] > 1)
        if len(twice):
            call = int(calls[twice[-1]])
            what = _what(program, int(program.collective[call]))
            raise ProgramError(f"{_where(program, call)} calls {what} a second time")
    else:
        raise _incomplete(program, int(short[0]), calls[joined == short[0]])
    part[calls] = first_part[of_collective[joined]] + place
    first_member[calls] = start[comm[joined]]
    return part, first_member


def _place_in_communicator(
    program: Program, comm: NDArray[np.int64], rank: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return each rank's place in a communicator, -1 where it does not belong to it."""
    if not comm.any():  # all in the communicator of all ranks, in its order
        return rank
    of_comm = [np.full(len(ranks), at) for at, ranks in enumerate(program.communicators)]
    ranks = program.num_ranks
    key = np.concatenate(of_comm) * ranks + np.concatenate(program.communicators)
    place = np.concatenate([np.arange(len(members)) for members in program.communicators])
    order = np.argsort(key)
    wanted = comm * ranks + rank
    at = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
    return np.where(key[at] == wanted, place[at], -1)


def _incomplete(program: Program, number: int, calls: NDArray[np.intp]) -> ProgramError:
    """Return the error of a collective that some ranks of its communicator do not call."""
    members = program.communicators[program.collectives[number].comm]
    missing = np.setdiff1d(members, _rank_of(program, calls))
    named = ", ".join(map(str, missing[:8].tolist())) + (", …" if len(missing) > 8 else "")
    ranks = f"rank {named} does" if len(missing) == 1 else f"ranks {named} do"
    caller = f"{_where(program, int(calls[0]))} calls it, but " if len(calls) else ""
    return ProgramError(
        f"{_what(program, number)} must be called by all {len(members)} ranks of its "
        f"communicator; {caller}{ranks} not",
        operations=tuple(
            f"{_where(program, int(call))}: {_what(program, number)}" for call in calls
        ),
    )


def _rank_of(program: Program, calls: NDArray[np.intp]) -> NDArray[np.int64]:
    return np.searchsorted(program.rank_start, calls, side="right").astype(np.int64) - 1


def _where(program: Program, call: int) -> str:
    rank = int(np.searchsorted(program.rank_start, call, side="right")) - 1
    if program.line is not None:
        return f"rank {rank}, line {program.line[call]}"
    return f"rank {rank}, call {call - int(program.rank_start[rank])}"


def _what(program: Program, number: int) -> str:
    collective = program.collectives[number]
    return f"collective {number} ({collective.operation}, communicator {collective.comm})"


def _check_indices(program: Program) -> None:
    """Refuse indices out of range, which the kernel would follow unchecked."""
    waits = program.request[program.kind == WAIT]
    joins = (program.kind == COLLECTIVE) | (program.kind == ICOLLECTIVE)
    begins = np.flatnonzero(_begins(program))
    per_rank = np.diff(np.searchsorted(begins, program.rank_start))
    sound = {
        "kind": program.kind.max(initial=0) <= ICOLLECTIVE,
        "compute_ns": program.compute_ns.min(initial=0) >= 0,
        "request of a wait": _all_within(waits, len(program.wait_start) - 1),
        "request": _all_within(
            program.request[begins], np.repeat(per_rank, per_rank) if len(begins) else 1
        ),
        "wait_requests": program.wait_requests.min(initial=0) >= 0,
        "wait_start": len(program.wait_start) > 0
        and program.wait_start[0] == 0
        and bool((np.diff(program.wait_start) >= 0).all())
        and program.wait_start[-1] == len(program.wait_requests),
        "collective": _all_within(program.collective[joins], len(program.collectives))
        and not (~joins & (program.collective >= 0)).any(),
        "comm": _all_within(program.comm, len(program.communicators))
        and all(0 <= c.comm < len(program.communicators) for c in program.collectives),
    }
    for name, fine in sound.items():
        if not fine:
            raise ParameterError(
                f"{name} of a program refers to something that does not exist; use ProgramBuilder",
                key=name,
            )


def _all_within(numbers: NDArray[Any], limit: NDArray[np.int64] | int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
