"""One collective from the arguments of all its ranks.

Arguments that are significant only at the root are taken from the root (MPI 4.0, chapter 6); the
others from the first rank that has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import ParameterError, ParseError
from workbench.programs.program import Collective

ROOTED = frozenset({"bcast", "reduce", "gather", "scatter"})
_CUT = frozenset({"bcast", "reduce", "allreduce"})


@dataclass(frozen=True, slots=True)
class Share:
    """The arguments of one rank's call of a collective; None is a size that it does not have."""

    name: str  # of the call, such as ``MPI_Gatherv``
    operation: str  # one of ``OPERATIONS``
    root: int = 0  # rank within the communicator
    send: int | None = None  # bytes that this rank gives; for one pair for alltoall
    recv: int | None = None  # bytes it gets; from one rank for gather, allgather and alltoall
    # bytes for each rank of the communicator where they differ
    sends: tuple[int, ...] | None = None
    recvs: tuple[int, ...] | None = None  # likewise
    variable: bool = False  # whether ranks may give or get different amounts
    element: int | None = None  # bytes of an element of ``send``


def agree(
    shares: Sequence[Share],
    lines: Sequence[int],
    comm: int,
    members: Sequence[int],
    files: Sequence[str],
) -> tuple[Collective, bool]:
    """Return the collective that all ranks' calls make together, and whether its size is known.

    ``lines`` are those of the calls in the ranks' files, ``members`` world ranks.
    """
    first = shares[0]
    for i, share in enumerate(shares):
        different = share.operation != first.operation
        if different or (first.operation in ROOTED and share.root != first.root):
            word = "" if different else f" with root {share.root}"
            other = "" if different else f" with root {first.root}"
            raise ParseError(
                f"all ranks of a communicator must call the same collective; got {share.name}"
                f"{word}, but {first.name}{other} in {files[members[0]]} line {lines[0]}",
                source=files[members[i]],
                line=lines[i],
            )
        for sizes in (share.sends, share.recvs):
            if sizes is not None and len(sizes) != len(shares):
                raise ParseError(
                    f"{share.name} must have one count for each of {len(shares)} ranks; got "
                    f"{len(sizes)}",
                    source=files[members[i]],
                    line=lines[i],
                )
    if first.operation in ROOTED and first.root >= len(shares):
        raise ParseError(
            f"the root of {first.name} must be 0 to {len(shares) - 1}; got {first.root}",
            source=files[members[0]],
            line=lines[0],
        )
    size, sizes = _sizes(shares, first)
    known = size is not None or sizes is not None
    if sizes is not None and all(s == sizes[0] for s in sizes):
        size, sizes = sizes[0], None
    root = first.root if first.operation in ROOTED else 0
    try:
        collective = Collective(
            first.operation, comm, size or 0, root, sizes or (), _element(shares, first)
        )
    except ParameterError as error:
        raise ParseError(str(error), source=files[members[0]], line=lines[0]) from None
    return collective, known


def _sizes(shares: Sequence[Share], first: Share) -> tuple[int | None, tuple[int, ...] | None]:
    """Return the size common to all, or one for each rank or pair; None where unknown."""
    operation, root = first.operation, shares[first.root % len(shares)]
    variable = any(share.variable for share in shares)
    if operation == "barrier":
        return 0, None
    if operation == "bcast":
        return _known([root.send, *(share.send for share in shares)]), None
    if operation == "gather":
        if not variable:
            return _known([root.recv, *(share.send for share in shares)]), None
        return None, root.recvs or _each([share.send for share in shares])
    if operation == "scatter":
        if not variable:
            return _known([root.send, *(share.recv for share in shares)]), None
        return None, root.sends or _each([share.recv for share in shares])
    if operation == "allgather":
        if not variable:
            return _known([x for s in shares for x in (s.send, s.recv)]), None
        counts = next((share.recvs for share in shares if share.recvs is not None), None)
        return None, counts or _each([share.send for share in shares])
    if operation == "alltoall" and variable:
        rows = [share.sends or share.recvs for share in shares]
        if any(row is None for row in rows):
            return None, None
        return None, tuple(size for row in rows if row is not None for size in row)
    if operation == "alltoall":
        return _known([x for s in shares for x in (s.send, s.recv)]), None
    if operation == "reduce_scatter":
        counts = next((share.recvs for share in shares if share.recvs is not None), None)
        return _known([share.recv for share in shares]), counts
    return _known([root.send, *(share.send for share in shares)]), None


def _element(shares: Sequence[Share], first: Share) -> int | None:
    """Return the bytes of an element of a vector that algorithms cut; None where unknown."""
    if first.operation not in _CUT:
        return None
    root = shares[first.root % len(shares)]
    # Of the rank whose size is taken: others may describe the same bytes by another datatype.
    return next((share.element for share in (root, *shares) if share.send is not None), None)


def _known(sizes: Sequence[int | None]) -> int | None:
    return next((size for size in sizes if size is not None), None)


def _each(sizes: Sequence[int | None]) -> tuple[int, ...] | None:
    """Return a size for each rank, 0 where a rank has none (in place); None if no rank has one."""
    if all(size is None for size in sizes):
        return None
    return tuple(size or 0 for size in sizes)
