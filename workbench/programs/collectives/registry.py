"""The algorithms of each collective, and their lookup by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from workbench.errors import ParameterError
from workbench.programs.collectives import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    gather_scatter,
    reduce,
    reduce_scatter,
    scan,
)
from workbench.programs.collectives.rounds import Algorithm
from workbench.suggestions import did_you_mean


def _by_name(algorithms: Iterable[Algorithm]) -> Mapping[str, Algorithm]:
    return MappingProxyType({algorithm.name: algorithm for algorithm in algorithms})


ALGORITHMS: Mapping[str, Mapping[str, Algorithm]] = MappingProxyType(
    {
        "barrier": _by_name(barrier.ALGORITHMS),
        "bcast": _by_name(bcast.ALGORITHMS),
        "reduce": _by_name(reduce.ALGORITHMS),
        "allreduce": _by_name(allreduce.ALGORITHMS),
        "gather": _by_name(gather_scatter.GATHER),
        "scatter": _by_name(gather_scatter.SCATTER),
        "allgather": _by_name(allgather.ALGORITHMS),
        "alltoall": _by_name(alltoall.ALGORITHMS),
        "reduce_scatter": _by_name(reduce_scatter.ALGORITHMS),
        "scan": _by_name(scan.ALGORITHMS),
        "exscan": _by_name(scan.ALGORITHMS),
    }
)
"""The algorithms of each operation by name."""

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "barrier": "dissemination",
        "bcast": "binomial",
        "reduce": "binomial",
        "allreduce": "recursive-doubling",
        "gather": "binomial",
        "scatter": "binomial",
        "allgather": "ring",
        "alltoall": "linear",
        "reduce_scatter": "recursive-halving",
        "scan": "recursive-doubling",
        "exscan": "recursive-doubling",
    }
)
"""The default algorithm of each operation."""

_LEAST = {"fanout": 2, "segment_bytes": 1}  # a tree with fanout 1 is a chain
_MOST_DIGITS = 15  # chosen: petabytes; int64 holds any number of 18


def find_algorithm(operation: str, name: str | None = None) -> Algorithm:
    """Return an algorithm by its name.

    Args:
        operation: one of ``workbench.programs.program.OPERATIONS``.
        name: such as ``ring``, with the value of its parameter after a colon such as
            ``pipeline:8192``; case does not matter, nor do ``_`` and ``-`` differ. None is the
            operation's default.

    Raises:
        ParameterError: there is no such operation or algorithm, or its parameter is no number or
            too small.
    """
    if operation not in ALGORITHMS:
        raise ParameterError(
            f"operation must be one of {', '.join(ALGORITHMS)}; got {operation!r}"
            f"{did_you_mean(operation, ALGORITHMS)}",
            key="operation",
        )
    known = ALGORITHMS[operation]
    wanted, colon, value = str(name or DEFAULTS[operation]).strip().lower().partition(":")
    algorithm = known.get(wanted.replace("_", "-"))
    if algorithm is None:
        raise ParameterError(
            f"algorithm of {operation} must be one of {', '.join(known)}; got {name!r}"
            f"{did_you_mean(wanted, known)}",
            key="algorithm",
        )
    return with_value(algorithm, value) if colon else algorithm


def with_value(algorithm: Algorithm, value: str | int, parameter: str = "") -> Algorithm:
    """Return an algorithm with another parameter value; an empty ``parameter`` accepts any name."""
    if not algorithm.parameter or parameter not in ("", algorithm.parameter):
        given_parameter = f"{parameter}={value}" if parameter else f"{algorithm.name}:{value}"
        takes = algorithm.parameter or "nothing"
        raise ParameterError(
            f"algorithm {algorithm.name} takes {takes}; got {given_parameter}",
            key=parameter or "algorithm",
        )
    text, least = str(value), _LEAST[algorithm.parameter]
    plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not plain or int(text) < least:
        raise ParameterError(
            f"{algorithm.parameter} of {algorithm.name} must be a whole number of at least "
            f"{least}, of at most {_MOST_DIGITS} digits; got {text!r}",
            key=algorithm.parameter,
        )
    return replace(algorithm, value=int(text))
