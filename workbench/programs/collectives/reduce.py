"""Reduction to the root: the vectors of all ranks are combined, each broadcast run backwards."""

from __future__ import annotations

from workbench.programs.collectives import allreduce, bcast, gather_scatter
from workbench.programs.collectives.rounds import Algorithm, CollectiveCase, Rounds, mirror


def linear(case: CollectiveCase) -> Rounds:
    """Send from every other rank to the root, all at once."""
    return mirror(bcast.linear(case), reduce=True)


def knomial(case: CollectiveCase) -> Rounds:
    """Combine each rank's subtrees, the smallest first, and send the result up."""
    return mirror(bcast.knomial(case), reduce=True)


def binary(case: CollectiveCase) -> Rounds:
    """Combine the vectors of ranks 2r + 1 and 2r + 2 with rank r's, level by level."""
    return mirror(bcast.binary(case), reduce=True)


def chains(case: CollectiveCase) -> Rounds:
    """Combine along ``fanout`` chains of ranks, the first of which send to the root."""
    return mirror(bcast.chains(case), reduce=True)


def pipeline(case: CollectiveCase) -> Rounds:
    """Combine a segment with the rank's own and forward it while the next is received."""
    return mirror(bcast.pipeline(case), reduce=True)


def rabenseifner(case: CollectiveCase) -> Rounds:
    """Halve the vector in a reduce_scatter, then gather its pieces by a binomial tree."""
    yield from allreduce.halve(case)
    yield from gather_scatter.gather_pieces(case, allreduce.owners(case))


_OPEN_MPI = "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, 2007"

ALGORITHMS = (
    Algorithm("linear", "Every other rank sends to the root.", _OPEN_MPI, linear, order="always"),
    Algorithm(
        "binomial",
        "Pairs combine, then pairs of pairs, up to the root.",
        "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in "
        "MPICH, 2005, section 3.4",
        knomial,
        order="root 0",
    ),
    Algorithm(
        "knomial",
        "Groups of k combine, then k such groups, up to the root.",
        "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications "
        "in multiport message-passing systems, 1997; the k-port binomial tree",
        knomial,
        order="root 0",
        parameter="fanout",
        value=4,
    ),
    Algorithm(
        "binary",
        "Rank r combines what ranks 2r + 1 and 2r + 2 send with its own, level by level.",
        _OPEN_MPI,
        binary,
        order="never",
    ),
    Algorithm(
        "chains",
        "Several chains of ranks combine and forward the vector, the first of each to the root.",
        _OPEN_MPI,
        chains,
        order="root 0",
        parameter="fanout",
        value=4,
    ),
    Algorithm(
        "chain",
        "Every rank combines the whole vector with its own and forwards it.",
        _OPEN_MPI,
        pipeline,
        order="root 0",
    ),
    Algorithm(
        "pipeline",
        "Every rank combines segments with its own and forwards them while it receives others.",
        _OPEN_MPI,
        pipeline,
        split=lambda case: case.segments,
        order="root 0",
        parameter="segment_bytes",
        value=8192,
    ),
    Algorithm(
        "rabenseifner",
        "The vector is halved again and again between pairs, then gathered at the root.",
        "Rabenseifner, Optimization of collective reduction operations, 2004, section 3",
        rabenseifner,
        split=lambda case: case.power,
        few="binomial",  # as MPICH chooses for fewer elements (its reduce.c)
        order="always",
    ),
)
