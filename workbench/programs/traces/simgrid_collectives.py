"""The collectives of a SimGrid time-independent trace: their arguments, and how waits name them.

A wait names sender, receiver and tag of a message. The request of a non-blocking collective is
named by its tag, a negative one for each operation (SimGrid 4.0, src/smpi/include/private.hpp and
src/smpi/colls/smpi_nbc_impl.cpp); sender and receiver are then the rank itself, or what its number
looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from workbench.programs.graph import ANY_SOURCE
from workbench.programs.traces.joint import Share


class SimGridArguments(Protocol):
    """The reader of a line, as collectives need it; places count from the first argument."""

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""

    @property
    def num_arguments(self) -> int:
        """Number of arguments in the line."""

    def one(self, place: int, kind_at: int) -> int:
        """Return a count as bytes; its datatype may be missing."""

    def many(self, first: int, kind_at: int) -> tuple[int, ...]:
        """Return a count for each rank as bytes; their datatype may be missing."""

    def real(self, place: int) -> float:
        """Return an amount of work in floating-point operations."""

    def share(
        self,
        operation: str,
        root_at: int | None = None,
        *,
        send: int | None = None,
        recv: int | None = None,
        sends: tuple[int, ...] | None = None,
        recvs: tuple[int, ...] | None = None,
        variable: bool = False,
    ) -> Share:
        """Return this rank's part in a collective; a missing root is 0. For sizes see ``Share``."""


ReadShare = tuple[Share, float]
"""A rank's part and the operations it does afterwards, the reduction's own work."""


def _barrier(a: SimGridArguments) -> ReadShare:
    return a.share("barrier"), 0.0


def _bcast(a: SimGridArguments) -> ReadShare:
    return a.share("bcast", 1, send=a.one(0, 2)), 0.0


def _reduce(a: SimGridArguments) -> ReadShare:
    return a.share("reduce", 2, send=a.one(0, 3)), a.real(1)


def _allreduce(a: SimGridArguments) -> ReadShare:
    return a.share("allreduce", send=a.one(0, 2)), a.real(1)


def _scan(a: SimGridArguments) -> ReadShare:
    return a.share("scan", send=a.one(0, 2)), a.real(1)


def _exscan(a: SimGridArguments) -> ReadShare:
    return a.share("exscan", send=a.one(0, 2)), a.real(1)


def _alltoall(a: SimGridArguments) -> ReadShare:
    return a.share("alltoall", send=a.one(0, 2), recv=a.one(1, 3)), 0.0


def _allgather(a: SimGridArguments) -> ReadShare:
    return a.share("allgather", send=a.one(0, 2), recv=a.one(1, 3)), 0.0


def _gather(a: SimGridArguments) -> ReadShare:
    return a.share("gather", 2, send=a.one(0, 3), recv=a.one(1, 4)), 0.0


def _scatter(a: SimGridArguments) -> ReadShare:
    return a.share("scatter", 2, send=a.one(0, 3), recv=a.one(1, 4)), 0.0


def _gatherv(a: SimGridArguments) -> ReadShare:
    n = a.num_ranks
    send, recvs = a.one(0, n + 2), a.many(1, n + 3)
    return a.share("gather", n + 1, send=send, recvs=recvs, variable=True), 0.0


def _scatterv(a: SimGridArguments) -> ReadShare:
    n = a.num_ranks
    sends, recv = a.many(0, n + 2), a.one(n, n + 3)
    return a.share("scatter", n + 1, sends=sends, recv=recv, variable=True), 0.0


def _allgatherv(a: SimGridArguments) -> ReadShare:
    n = a.num_ranks
    # displacements may follow, and where they do without datatypes, the default is meant
    bare = n + 3 < a.num_arguments <= 2 * n + 1
    kinds = (a.num_arguments,) * 2 if bare else (n + 1, n + 2)
    send, recvs = a.one(0, kinds[0]), a.many(1, kinds[1])
    return a.share("allgather", send=send, recvs=recvs, variable=True), 0.0


def _alltoallv(a: SimGridArguments) -> ReadShare:
    n = a.num_ranks
    sends, recvs = a.many(1, 2 * n + 2), a.many(n + 2, 2 * n + 3)
    return a.share("alltoall", sends=sends, recvs=recvs, variable=True), 0.0


def _reduce_scatter(a: SimGridArguments) -> ReadShare:
    n = a.num_ranks
    return a.share("reduce_scatter", recvs=a.many(0, n + 1), variable=True), a.real(n)


COLLECTIVES: dict[str, Callable[[SimGridArguments], ReadShare]] = {
    "barrier": _barrier,
    "bcast": _bcast,
    "reduce": _reduce,
    "allreduce": _allreduce,
    "scan": _scan,
    "exscan": _exscan,
    "alltoall": _alltoall,
    "alltoallv": _alltoallv,
    "allgather": _allgather,
    "allgatherv": _allgatherv,
    "gather": _gather,
    "gatherv": _gatherv,
    "scatter": _scatter,
    "scatterv": _scatterv,
    "reducescatter": _reduce_scatter,
}
"""Reads one collective's line, by the name of its action in lower case."""

RoundKey = tuple[int, int, int]
"""Sender, receiver and tag, where a wildcard is its own number."""

_TAGS = {
    "reduce": "-112",
    "scatter": "-223",
    "scatterv": "-334",
    "gather": "-445",
    "allgather": "-556",
    "allgatherv": "-667",
    "barrier": "-778",
    "scan": "-888",
    "exscan": "-888",
    "reducescatter": "-889",
    "alltoallv": "-1000",
    "alltoall": "-1112",
    "gatherv": "-2223",
    "bcast": "-3334",
    "allreduce": "-4445",
}
_ALLTOALLW = "-1020"  # written as alltoallv
COLLECTIVE_KEYS: dict[str, RoundKey] = {
    **{tag: (ANY_SOURCE, ANY_SOURCE, int(tag)) for tag in _TAGS.values()},
    _ALLTOALLW: (ANY_SOURCE, ANY_SOURCE, int(_TAGS["alltoallv"])),
}
"""The key of a collective's requests, by the tag in a wait."""


def key_of_collective(name: str) -> RoundKey:
    """Return the key of a non-blocking collective's requests; ``name`` is the blocking one's."""
    return COLLECTIVE_KEYS[_TAGS[name]]


def waited_for(lines: Sequence[list[str]]) -> frozenset[RoundKey]:
    """Return the keys of the collectives that a wait of a rank may end, from its lines' words."""
    ends = [words for words in lines if words[1].lower() in ("wait", "waitall")]
    if any(words[1].lower() == "waitall" for words in ends):
        return frozenset(COLLECTIVE_KEYS.values())
    return frozenset(COLLECTIVE_KEYS[w[4]] for w in ends if len(w) > 4 and w[4] in COLLECTIVE_KEYS)
