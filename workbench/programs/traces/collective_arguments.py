"""One rank's part in a collective, from its line of a liballprof-like trace."""

from __future__ import annotations

from workbench.programs.traces.calls import MOST_SIZE, Comm
from workbench.programs.traces.joint import ROOTED, Share
from workbench.programs.traces.lines import ArgumentReader, Places, TraceLine
from workbench.programs.traces.mpi_calls import Signature

IN_PLACE = frozenset({"1", "18446744073709551615", "-1"})
"""Addresses that are MPI_IN_PLACE: of Open MPI and of MPICH."""


def share_of(
    arguments: ArgumentReader, line: TraceLine, at: Places, signature: Signature, comm: Comm
) -> Share:
    """Return one rank's part in a collective, from its line."""
    operation, fields = signature.operation, line.fields
    root, here = 0, True
    if operation in ROOTED:
        root = arguments.number(line, at, "root")
        if not 0 <= root < len(comm.members):
            raise arguments.fail(
                line,
                f"the root of {line.name} must be 0 to {len(comm.members) - 1}; got {root}",
            )
        here = comm.places[arguments.rank] == root
    # arguments that mean something at the root alone may be anything elsewhere
    gives = operation != "scatter" or here
    gets = operation != "gather" or here
    if "buf" in at and fields[at["buf"]] in IN_PLACE:
        gives = False
    if "recvbuf" in at and fields[at["recvbuf"]] in IN_PLACE:
        gets = operation in ("gather", "allgather", "alltoall", "reduce_scatter") and gets
    send = recv = element = None
    if "sendcount" in at and gives:
        send = arguments.size(line, at, "sendcount", "sendtype")
    elif "count" in at and "type" in at:
        send = arguments.size(line, at, "count", "type")
        if send is not None:
            element = arguments.type_size(line, fields[at["type"]]) or None
    if "recvcount" in at and gets:
        recv = arguments.size(line, at, "recvcount", "recvtype" if "recvtype" in at else "type")
    variable = any(name.endswith("[]") for name in signature.arguments)
    sends = sizes_of_each(arguments, line, at, "sendcounts", "sendtype") if gives else None
    recvs = sizes_of_each(arguments, line, at, "recvcounts", "recvtype") if gets else None
    return Share(line.name, operation, root, send, recv, sends, recvs, variable, element)


def sizes_of_each(
    arguments: ArgumentReader, line: TraceLine, at: Places, counts: str, kind: str
) -> tuple[int, ...] | None:
    """Return the bytes of each rank of a v-variant, None where the line does not have them."""
    if counts not in at or line.fields[at[counts]] == "-":
        return None
    if kind not in at:
        kind = "type" if "type" in at else kind + "s"
    types = line.fields[at[kind]]
    if types == "-" or (kind.endswith("s") and "," not in types):
        return None  # MPI_Alltoallw: the line has only the address of its types
    sizes = [arguments.type_size(line, one) for one in types.split(";")]
    texts = line.fields[at[counts]].split(",")
    if len(sizes) not in (1, len(texts)):
        raise arguments.fail(line, f"{line.name} must have as many datatypes as counts")
    try:
        numbers = [int(text) for text in texts]
    except ValueError:
        raise arguments.fail(
            line, f"the counts of {line.name} must be numbers; got {','.join(texts)[:40]!r}"
        ) from None
    if len(sizes) == 1:
        sizes = sizes * len(numbers)
    found = tuple(number * size for number, size in zip(numbers, sizes, strict=True))
    if min(found) < 0 or max(found) > MOST_SIZE:
        raise arguments.fail(
            line,
            f"{line.name} must move 0 to {MOST_SIZE} bytes for each rank; got "
            f"{min(found)} to {max(found)}",
        )
    return found
