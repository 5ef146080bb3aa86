"""What a sweep is given, turned into whole picoseconds and whole numbers once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.programs.graph import CALC, ExecutionGraph
from workbench.simulate.picoseconds import LONGEST_PARAMETER, PS_PER_S


def picoseconds(latency_s: float) -> int:
    """Return a latency in whole picoseconds, by its decimal digits."""
    if not 0 <= latency_s < float("inf"):
        raise ParameterError(
            f"a latency must be finite and at least 0 s; got {latency_s!r}", key="L"
        )
    return round(Decimal(repr(float(latency_s))) * PS_PER_S)


def times_ps(name: str, values_s: ArrayLike | None, messages: int) -> IntArray | None:
    """Return a time for each message, int64[messages], in whole ps; None where none are given."""
    if values_s is None:
        return None
    ps = np.rint(np.asarray(values_s, np.float64) * PS_PER_S)
    if ps.shape != (messages,) or not ((ps >= 0) & (ps <= LONGEST_PARAMETER)).all():
        raise ParameterError(
            f"{name} must have a time of 0 to {LONGEST_PARAMETER / PS_PER_S:.0f} s for each of "
            f"{messages} messages; got shape {ps.shape}",
            key=name,
        )
    return ps.astype(np.int64)


def whole_numbers(name: str, values: ArrayLike | None, messages: int) -> IntArray | None:
    """Return a whole number for each message, int64[messages]; None where none are given."""
    if values is None:
        return None
    numbers = np.asarray(values)
    if numbers.shape != (messages,) or not _whole(numbers):
        raise ParameterError(
            f"{name} must have a whole number of at least 0 for each of {messages} messages; got "
            f"shape {numbers.shape}",
            key=name,
        )
    return numbers.astype(np.int64)


def class_counts(
    multiples: ArrayLike, latencies_s: ArrayLike | Mapping[int, float], messages: int
) -> tuple[IntArray, IntArray]:
    """Return each message's latencies by class, int64[messages, classes], and their sum, int64 ps.

    ``multiples`` is int[messages, classes], or int[messages], the one class of each.
    """
    if isinstance(latencies_s, Mapping):
        latencies_s = [latencies_s.get(c, 0.0) for c in range(max(latencies_s, default=-1) + 1)]
    values = np.asarray(latencies_s, np.float64)
    counts = np.asarray(multiples)
    if counts.ndim == 1 and counts.shape == (messages,) and _whole(counts):
        if counts.max(initial=0) >= len(values):
            raise ParameterError(
                f"latencies must have one for each class up to {int(counts.max())}; got "
                f"{len(values)}",
                key="latencies",
            )
        counts = counts[:, None] == np.arange(len(values))
    if counts.shape != (messages, len(values)) or not (counts.dtype == bool or _whole(counts)):
        raise ParameterError(
            f"multiples must be {messages} messages x {len(values)} classes of whole numbers of at "
            f"least 0; got shape {counts.shape}",
            key="multiples",
        )
    latencies_ps = [picoseconds(value) for value in values.tolist()]
    each = np.array([min(ps, 2 * LONGEST_PARAMETER) for ps in latencies_ps], np.int64)
    if (counts.astype(np.float64) @ each.astype(np.float64)).max(initial=0.0) > LONGEST_PARAMETER:
        raise ParameterError(
            f"latencies of classes must add up to {LONGEST_PARAMETER / PS_PER_S:.0f} s at most for "
            "each message",
            key="latencies",
        )
    whole = counts.astype(np.int64)
    return whole, whole @ each


def checked_match(graph: ExecutionGraph, match: NDArray[Any]) -> NDArray[np.int32]:
    """Return a matching that joins each send with a receive and back, int32[n]."""
    joined = np.asarray(match)
    ops = np.flatnonzero(graph.kind != CALC)
    fits = joined.shape == (graph.num_ops,) and np.issubdtype(joined.dtype, np.integer)
    if fits and len(ops):
        others = joined[ops]
        fits = bool(others.min() >= 0 and others.max() < graph.num_ops)
        fits = fits and bool(
            (joined[others] == ops).all() and (graph.kind[others] + graph.kind[ops] == 3).all()
        )
    if not fits:
        raise ParameterError(
            "match must name the receive of each send and the send of each receive; leave it out "
            "to have them matched in order",
            key="match",
        )
    return joined.astype(np.int32, copy=False)


def _whole(numbers: NDArray[Any]) -> bool:
    if numbers.dtype.kind not in "iuf":
        return False
    return bool(((numbers >= 0) & (numbers < 2**31) & (numbers == np.floor(numbers))).all())
