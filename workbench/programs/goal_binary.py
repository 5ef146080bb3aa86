"""LogGOPSim's binary GOAL in and out, in the layout of its ``txt2bin``.

Little endian and packed: magic number 4223 (8 bytes), number of ranks (4), highest cpu and nic (1
each), then for each rank where its data begin and end, counted from behind the magic number (8
each), then the ranks themselves, see ``kernels/goal/binary.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.goal import binary as layout
from kernels.graphs import Edges, Operations
from workbench.errors import ParseError
from workbench.programs.goal_text import CHUNK_BYTES, check_writable
from workbench.programs.graph import MOST, Dependents, ExecutionGraph
from workbench.programs.graph_arrays import dependents_of, operations_of

Bytes = NDArray[np.uint8]

MAGIC = (4223).to_bytes(8, "little")
SPENT = (2342).to_bytes(8, "little")
"""What LogGOPSim's option ``--save-mem`` leaves in the place of the magic number."""

_WORDS = {
    layout.OUTSIDE: "must lie within the file, which ends before it",
    layout.TOO_SHORT: "is too short for its stated number of operations",
    layout.BAD_KIND: "must be of kind 1 (send), 2 (recv) or 3 (calc)",
    layout.BAD_SIZE: f"must have a size below {2**63}",
    layout.BAD_PEER: f"must have a peer of at most {MOST}",
    layout.BAD_PLACE: "points outside its rank for the operations that wait for it",
    layout.BAD_OP: "is waited for by an operation that its rank does not have",
    layout.OVERLAP: "has operations that share their lists of dependencies",
}
_OF_A_RANK = (layout.OUTSIDE, layout.TOO_SHORT, layout.OVERLAP)


def is_binary(content: Bytes) -> bool:
    """Return whether bytes begin as LogGOPSim's binary GOAL does, a spent one included."""
    return content[:8].tobytes() in (MAGIC, SPENT)


def parse_binary(data: Bytes, source: str) -> ExecutionGraph:
    """Return the graph of a binary GOAL file; dependency counts are redone, differences noted."""
    if data[:8].tobytes() == SPENT:
        raise ParseError(
            "this binary GOAL was used up by LogGOPSim's --save-mem; make it again with txt2bin",
            source=source,
        )
    num_ranks = int.from_bytes(data[8:12].tobytes(), "little") if len(data) >= layout.HEADER else 0
    if not 1 <= num_ranks <= (len(data) - layout.HEADER) // layout.TABLE_ENTRY:
        raise ParseError(
            f"a binary GOAL of {len(data)} bytes must have at least 1 rank and room for all in its "
            f"table; it says {num_ranks}; the file may be cut short",
            source=source,
        )
    place, count, edges = (np.zeros(num_ranks, np.int64) for _ in range(3))
    found = np.zeros(layout.N_FOUND, np.int64)
    _refuse_status(layout.survey(data, num_ranks, place, count, edges, found), found, source)
    num_ops, num_edges = int(count.sum()), int(edges.sum())
    if layout.RECORD * num_ops + layout.NUMBER * num_edges > len(data):
        raise ParseError("the ranks' data must not overlap", source=source)
    if max(num_ops, num_edges) > MOST:
        raise ParseError(f"a graph holds at most {MOST} operations", source=source)
    return _filled(data, place, count, num_edges, found, source)


def _filled(
    data: Bytes,
    place: NDArray[np.int64],
    count: NDArray[np.int64],
    num_edges: int,
    found: NDArray[np.int64],
    source: str,
) -> ExecutionGraph:
    n = int(count.sum())
    rank_start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    columns: dict[str, Any] = {
        "kind": np.empty(n, np.uint8),
        "size": np.empty(n, np.int64),
        "peer": np.empty(n, np.int32),
        "tag": np.empty(n, np.uint32),
        "cpu": np.empty(n, np.uint8),
        "nic": np.empty(n, np.uint8),
    }
    # Either list may turn out to be the longer one.
    lists = [(np.zeros(n + 1, np.int32), np.empty(num_edges, np.int32)) for _ in range(2)]
    status = layout.fill(
        data,
        place,
        Operations(rank_start, **columns),
        Edges(*lists[0], *lists[1]),
        np.zeros(n, np.int32),
        found,
    )
    _refuse_status(status, found, source)
    requires, irequires = (Dependents(start, ops[: start[-1]].copy()) for start, ops in lists)
    return ExecutionGraph(
        rank_start=rank_start,
        requires=requires,
        irequires=irequires,
        source=source,
        notes=_notes(data, columns, found),
        **columns,
    )


def _refuse_status(status: int, found: NDArray[np.int64], source: str) -> None:
    if status == layout.FINE:
        return
    rank, op = int(found[layout.RANK]), int(found[layout.OP])
    what = f"rank {rank}" if status in _OF_A_RANK else f"operation {op} of rank {rank}"
    raise ParseError(
        f"{what} {_WORDS[status]}; the file is damaged or not from txt2bin", source=source
    )


def _notes(data: Bytes, columns: dict[str, Any], found: NDArray[np.int64]) -> tuple[str, ...]:
    notes = []
    if found[layout.MENDED_CALCS]:
        notes.append(
            f"{int(found[layout.MENDED_CALCS])} computations have a peer, tag or nic, which have "
            "no meaning and were ignored"
        )
    if found[layout.MENDED_COUNTS]:
        notes.append(
            f"{int(found[layout.MENDED_COUNTS])} operations state a wrong number of dependencies; "
            "it was recounted"
        )
    if found[layout.MENDED_ROOTS]:
        notes.append("the list of operations without dependencies is wrong; it was rebuilt")
    for name, stated in (("cpu", int(data[12])), ("nic", int(data[13]))):
        highest = int(columns[name].max(initial=0))
        if stated != highest:
            notes.append(f"the file states {stated} as its highest {name}; it is {highest}")
    return tuple(notes)


def binary_chunks(graph: ExecutionGraph) -> Iterator[Bytes]:
    """Yield a graph as LogGOPSim's binary, in pieces of some 16 MB that end with a rank."""
    check_writable(graph)
    degree = graph.in_degree()
    arrays = (operations_of(graph), dependents_of(graph))
    lengths = np.empty(graph.num_ranks, np.int64)
    layout.measure(*arrays, degree, lengths)
    ends = layout.HEADER - layout.COOKIE + layout.TABLE_ENTRY * graph.num_ranks + np.cumsum(lengths)
    header = MAGIC + graph.num_ranks.to_bytes(4, "little")
    header += bytes([graph.num_cpus - 1, graph.num_nics - 1])
    header += np.column_stack([ends - lengths, ends]).astype("<u8").tobytes()
    yield np.frombuffer(header, np.uint8)
    first = 0
    while first < graph.num_ranks:
        many = max(1, int(np.searchsorted(np.cumsum(lengths[first:]), CHUNK_BYTES, side="right")))
        chunk = np.empty(int(lengths[first : first + many].sum()), np.uint8)
        layout.write(*arrays, degree, first, first + many, chunk)
        yield chunk
        first += many
