"""Which algorithm a library takes, and what the names of its algorithms mean here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from workbench.errors import ParameterError
from workbench.machines import Library
from workbench.programs.collectives import ALGORITHMS, find_algorithm
from workbench.uq.collectives.models import known_algorithms

ELEMENT_BYTES = 4
"""Bytes of an element, where a library counts elements: a float or an int, as benchmarks send."""

_OPEN_MPI_MEANS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("bcast", "binomial"): "binomial-doubling",
        ("bcast", "chain"): "chains:4",
        ("reduce", "chain"): "chains:4",
        # Forced by a benchmark, these have no segments unless it sets their size.
        ("bcast", "pipeline"): "chain",
        ("reduce", "pipeline"): "chain",
        ("allreduce", "segmented-ring"): "ring",
        ("allreduce", "ring-segmented"): "ring",
    }
)
"""Algorithms of Open MPI, and of what is built on it, whose name has another meaning here."""

_LIKE_OPEN_MPI: tuple[Library, ...] = ("open-mpi", "fujitsu-mpi")

_FALLS_BACK: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("allreduce", "ring"): "recursive-doubling",
        ("allreduce", "segmented-ring"): "recursive-doubling",
        ("allreduce", "rabenseifner"): "recursive-doubling",
        ("reduce", "rabenseifner"): "binomial",
        ("bcast", "scatter-allgather"): "binomial",
        ("bcast", "scatter-doubling"): "binomial",
    }
)
"""What both libraries run instead where the vector has fewer elements than there are ranks."""


_NOT_AS_NAMED = frozenset(
    {
        ("bcast", "default-basic-linear"),
        ("allgather", "default-linear"),
        ("allreduce", "default-nonoverlapping"),
    }
)
"""Labels of Fujitsu MPI under which what it chooses runs, by the algorithms of Tofu-D's own.

The bcast's times are those of the default. Allgather and allreduce end with such a bcast, which no
algorithm here is: of 8 MiB and more on 64 nodes it takes a seventh to a tenth of what is predicted.
By gather or reduce and a bcast from here these are off by 108 and 43 % in the median, as are gtbc
and rdbc, which have no other name here either.
"""


class Stage(NamedTuple):
    """A collective that runs as a part of another one, after the stage before it."""

    collective: str
    algorithm: str  # empty: as the library chooses
    carries: Literal["nothing", "block", "all blocks"]  # its size, of the blocks of the whole


COMPOSED: Mapping[str, Mapping[str, tuple[Stage, ...]]] = MappingProxyType(
    {
        # Open MPI, coll_base_allgather.c, basic_linear.
        "allgather": {
            "gather-bcast": (Stage("gather", "", "block"), Stage("bcast", "", "all blocks"))
        },
        "gather": {
            # Open MPI, coll_base_gather.c: the root asks each rank in turn by an empty message.
            "linear-sync": (
                Stage("scatter", "sequential", "nothing"),
                Stage("gather", "sequential", "block"),
            ),
            # Fujitsu MPI's simple: to 256 B it takes 5 us more for each doubling of the nodes, 16,
            # 32 and 52 us at 8, 64 and 512 nodes (datasets/whole-machine/fugaku): ranks meet first.
            "meet-linear": (
                Stage("barrier", "dissemination", "nothing"),
                Stage("gather", "linear", "block"),
            ),
        },
        "allreduce": {
            # Open MPI, coll/basic: both stages are linear.
            "basic-linear": (
                Stage("reduce", "linear", "block"),
                Stage("bcast", "linear", "block"),
            ),
            # Open MPI, coll_base_allreduce.c.
            "nonoverlapping": (Stage("reduce", "", "block"), Stage("bcast", "", "block")),
        },
    }
)
"""Algorithms that libraries build of other collectives, by collective and name."""

_COMPOSED_LABELS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("allgather", "linear"): "gather-bcast",
        ("allgather", "basic-linear"): "gather-bcast",
        ("gather", "linear-sync"): "linear-sync",
        ("gather", "linear-synch"): "linear-sync",
        ("gather", "simple"): "meet-linear",
        ("allreduce", "basic-linear"): "basic-linear",
        ("allreduce", "nonoverlapping"): "nonoverlapping",
    }
)
"""Labels of libraries and benchmarks that mean a composed algorithm."""

_ALIASES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("allgather", "brucks"): "bruck",
        ("alltoall", "modified-bruck"): "bruck",
        ("alltoall", "bruck-log-mpi-0-1"): "bruck",
    }
)
"""Labels that mean an algorithm here, whose name is another."""

_SCATTER = MappingProxyType(
    {
        "scatter-allgather": "scatter-doubling",
        "scatter-allgather-ring": "scatter-allgather",
    }
)
"""Libraries, and PICO, name the one by recursive doubling without a suffix."""


def algorithms_of_label(collective: str, label: str) -> tuple[str, ...]:
    """Return the algorithms here that a benchmark's label of a forced algorithm may mean."""
    if (collective, label) in _NOT_AS_NAMED:
        return ()
    known = known_algorithms(collective, label)
    words = label.lower().replace("_", "-").removeprefix("default-")
    for ending in ("-ompi", "-mpich", "-over"):
        words = words.removesuffix(ending)
    if collective == "bcast" and words in _SCATTER:
        return (_SCATTER[words],)
    if other := _COMPOSED_LABELS.get((collective, words)) or _ALIASES.get((collective, words)):
        return (other,)
    meant = _OPEN_MPI_MEANS.get((collective, words))
    if meant is None or label.lower().endswith(("mpich", "over")):
        return known
    return (meant, *(one for one in known if one != meant))


def named_algorithm(library: Library, collective: str, name: str) -> str:
    """Return the algorithm that a name means: a library's, a benchmark's label, or one from here.

    Args:
        library: of the machine; where it is built on Open MPI, that one's names come first.
        collective: such as ``bcast``.
        name: such as ``binomial``, ``default-basic-linear`` or ``pipeline:8192``.

    Raises:
        ParameterError: no algorithm is called that.
    """
    words = name.strip().lower().replace("_", "-")
    if words in COMPOSED.get(collective, {}):
        return words
    known = words.partition(":")[0] in ALGORITHMS.get(collective, {})
    if known and (":" in words or library not in _LIKE_OPEN_MPI):
        return find_algorithm(collective, words).label
    labels = algorithms_of_label(collective, words)
    return predicted_name(collective, labels[0] if labels else name)


def predicted_name(collective: str, name: str) -> str:
    """Return the full name of an algorithm of ``workbench.programs.collectives`` or of stages."""
    composed = COMPOSED.get(collective, {})
    words = name.strip().lower().replace("_", "-")
    if words in composed:
        return words
    try:
        return find_algorithm(collective, name).label
    except ParameterError as error:
        if not composed:
            raise
        raise ParameterError(
            f"{error}; or, of several collectives, {', '.join(composed)}", key="algorithm"
        ) from error


def run_instead(collective: str, algorithm: str, ranks: int, size: int) -> str:
    """Return the algorithm that runs where one is asked for: another for very short vectors."""
    if algorithm in COMPOSED.get(collective, {}):
        return algorithm
    name = find_algorithm(collective, algorithm).name
    if size // ELEMENT_BYTES >= ranks:
        return algorithm
    return _FALLS_BACK.get((collective, name), algorithm)


def chosen_by(library: Library, collective: str, ranks: int, size: int) -> str | None:
    """Return the algorithm that a library takes by its documented rule; None where none is known.

    Open MPI: the fixed decisions of ``coll/tuned`` in releases up to 4.0. MPICH: Thakur,
    Rabenseifner, Gropp 2005, and its release 3.
    """
    rules = _RULES.get(library, {})
    rule = rules.get(collective)
    return None if rule is None else rule(ranks, size)


def candidates_of(collective: str, library: Library = "unknown") -> tuple[str, ...]:
    """Return the algorithms among which the fastest is sought, of those a library may run."""
    if (own := _RUN_BY.get((library, collective))) is not None:
        return own
    left_out = _NOT_RUN.get(collective, ())
    return tuple(name for name in ALGORITHMS[collective] if name not in left_out)


_RUN_BY: Mapping[tuple[Library, str], tuple[str, ...]] = MappingProxyType(
    # Its other gathers, basic_linear and linear_sync, are slower at every size that is published.
    {("fujitsu-mpi", "gather"): ("binomial", "meet-linear")}
)
_NOT_RUN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    # What pays only by segments, whose size would be a guess, and what benchmarks force only.
    {
        "allreduce": ("segmented-ring",),
        "bcast": ("pipeline", "linear", "chain", "chains"),
        "reduce": ("pipeline", "linear", "chain", "chains"),
        "gather": ("sequential",),
    }
)


def _power_of_two(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def _open_mpi_allgather(ranks: int, size: int) -> str:
    if ranks * size < 50_000:
        return "recursive-doubling" if _power_of_two(ranks) else "bruck"
    return "ring" if ranks % 2 else "neighbour-exchange"


def _open_mpi_alltoall(ranks: int, size: int) -> str:
    if size < 200 and ranks > 12:
        return "bruck"
    return "linear" if size < 3000 else "pairwise"


def _mpich_allgather(ranks: int, size: int) -> str:
    total = ranks * size
    if total < 524_288 and _power_of_two(ranks):
        return "recursive-doubling"
    return "bruck" if total < 81_920 else "ring"


def _mpich_alltoall(ranks: int, size: int) -> str:
    if size <= 256 and ranks >= 8:
        return "bruck"
    return "linear" if size <= 32_768 else "pairwise"


def _mpich_bcast(ranks: int, size: int) -> str:
    if size < 12_288 or ranks < 8:
        return "binomial"
    middling = size < 524_288 and _power_of_two(ranks)
    return "scatter-doubling" if middling else "scatter-allgather"


def _mpich_reduce_scatter(ranks: int, size: int) -> str:
    return "recursive-halving" if ranks * size < 524_288 else "pairwise"


_Rule = Callable[[int, int], str]
_RULES: Mapping[str, Mapping[str, _Rule]] = MappingProxyType(
    {
        "open-mpi": {
            "allreduce": lambda ranks, size: "recursive-doubling" if size < 10_000 else "ring",
            "allgather": _open_mpi_allgather,
            "alltoall": _open_mpi_alltoall,
            "gather": lambda ranks, size: "binomial" if size < 6000 else "linear",
            "scatter": lambda ranks, size: "binomial",
            "reduce_scatter": lambda ranks, size: (
                "recursive-halving" if ranks * size <= 65_536 else "ring"
            ),
            "barrier": lambda ranks, size: "dissemination",
        },
        "mpich": {
            "allreduce": lambda ranks, size: (
                "recursive-doubling" if size <= 2048 else "rabenseifner"
            ),
            "allgather": _mpich_allgather,
            "alltoall": _mpich_alltoall,
            "bcast": _mpich_bcast,
            "gather": lambda ranks, size: "binomial",
            "scatter": lambda ranks, size: "binomial",
            "reduce": lambda ranks, size: "binomial" if size <= 2048 else "rabenseifner",
            "reduce_scatter": _mpich_reduce_scatter,
        },
    }
)
"""Sizes are those of a block: of the vector of an allreduce, bcast or reduce."""
