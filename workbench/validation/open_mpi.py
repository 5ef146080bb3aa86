"""Algorithms of collectives that Open MPI can be made to take."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

# Open MPI 4's number of each algorithm, ``ompi_info --param coll tuned --level 9``, and the
# schedule of ours that it follows where nothing sets a size of segments.
FORCED: Mapping[str, Mapping[str, tuple[int, str]]] = MappingProxyType(
    {
        "barrier": {"dissemination": (4, "dissemination")},
        "allreduce": {
            "reduce-bcast": (2, "reduce-bcast"),
            "recursive-doubling": (3, "recursive-doubling"),
            "ring": (4, "ring"),
            "rabenseifner": (6, "rabenseifner"),
            "segmented-ring": (5, "ring"),
        },
        "allgather": {
            "bruck": (2, "bruck"),
            "recursive-doubling": (3, "recursive-doubling"),
            "ring": (4, "ring"),
            "neighbour-exchange": (5, "neighbour-exchange"),
        },
        "alltoall": {
            "linear": (1, "linear"),
            "pairwise": (2, "pairwise"),
            "bruck": (3, "bruck"),
        },
        "bcast": {
            "linear": (1, "linear"),
            "chain": (3, "chain"),
            "binary": (5, "binary"),
            "binomial": (6, "binomial-doubling"),
            "scatter-allgather": (9, "scatter-allgather"),
        },
        "reduce": {
            "linear": (1, "linear"),
            "chains": (2, "chains:4"),
            "chain": (3, "chain"),
            "binomial": (5, "binomial"),
            "rabenseifner": (7, "rabenseifner"),
        },
    }
)
"""Algorithms of each collective: number in Open MPI, name here."""


def forced_algorithms(algorithms: Mapping[str, str]) -> dict[str, str]:
    """Return settings of Open MPI that force algorithms, by collective, under our names.

    ParameterError where Open MPI has no such algorithm, as far as is known here.
    """
    settings = {"coll_tuned_use_dynamic_rules": "1"} if algorithms else {}
    for collective, algorithm in algorithms.items():
        known = FORCED.get(collective, {})
        if algorithm not in known:
            raise ParameterError(
                f"the algorithm of {collective} must be one of {', '.join(known) or 'none'}, which "
                f"Open MPI can be made to take; got {algorithm!r}{did_you_mean(algorithm, known)}",
                key="algorithms",
            )
        settings[f"coll_tuned_{collective}_algorithm"] = str(known[algorithm][0])
    return settings
