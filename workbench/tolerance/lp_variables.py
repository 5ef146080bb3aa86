"""The variables of the linear program: what messages are charged, and values for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.graph import SEND, ExecutionGraph
from workbench.simulate.picoseconds import PS_PER_NS, PicosecondCosts

PS_PER_US = 10**6
"""Times are µs in the linear program, and whole ps in a replay."""

BYTES_PER_KB = 1000
"""Gaps are counted in µs/kB, that is ns/B, so that costs in µs have coefficients near one."""

PerVariable = float | Mapping[str, float] | ArrayLike
"""One number for all, numbers by name, or one for each in the order of their names."""


@dataclass(frozen=True, eq=False)
class MessageVariables:
    """Latencies and gaps per byte charged for each message, numbered in the order of the sends."""

    latency_names: tuple[str, ...]
    latency_s: NDArray[np.float64]  # (latencies,)
    term_start: NDArray[np.int64]  # (messages + 1,) first term of each message
    term_latency: NDArray[np.int32]  # (terms,) numbers of latency variables
    term_multiple: NDArray[np.float64]  # (terms,) how often each is charged
    constant_s: NDArray[np.float64]  # (messages,) known latency, charged besides
    gap_names: tuple[str, ...]
    gap_s: NDArray[np.float64]  # (gaps,) s/B
    message_gap: NDArray[np.int32]  # (messages,) number of each one's gap variable
    pairs: NDArray[np.int64] | None = None  # (2, pairs) senders and receivers; else None

    @classmethod
    def uniform(cls, graph: ExecutionGraph, model: LogGPS) -> Self:
        """Return one latency l and one gap per byte g for all messages, the model's L and G."""
        messages = int((graph.kind == SEND).sum())
        return cls(
            latency_names=("l",),
            latency_s=np.array([model.L]),
            term_start=np.arange(messages + 1),
            term_latency=np.zeros(messages, np.int32),
            term_multiple=np.ones(messages),
            constant_s=np.zeros(messages),
            gap_names=("g",),
            gap_s=np.array([model.G]),
            message_gap=np.zeros(messages, np.int32),
        )

    @classmethod
    def of_classes(
        cls,
        graph: ExecutionGraph,
        model: LogGPS,  # its G is used
        latency_s: Mapping[str, float],  # by class
        multiples: ArrayLike,  # float[messages, classes], links that a message crosses
        constant_s: ArrayLike = 0.0,  # float[messages] or one number, such as of switches
    ) -> Self:
        """Return latencies by class of link, charged for each link that a message crosses."""
        messages = int((graph.kind == SEND).sum())
        crossed = np.asarray(multiples, float)
        if crossed.shape != (messages, len(latency_s)):
            raise ParameterError(
                f"multiples must be {messages} messages by {len(latency_s)} classes; got shape "
                f"{crossed.shape}",
                key="multiples",
            )
        constant = np.asarray(constant_s, float)
        if constant.shape not in ((), (messages,)):
            raise ParameterError(
                f"constant_s must be one number or {messages}; got shape {constant.shape}",
                key="constant_s",
            )
        _check_numbers("multiples", crossed)
        _check_numbers("constant_s", constant)
        message, latency = np.nonzero(crossed)
        return cls(
            latency_names=tuple(f"l_{name}" for name in latency_s),
            latency_s=_check_numbers("latency_s", np.array(list(latency_s.values()), float)),
            term_start=np.searchsorted(message, np.arange(messages + 1)),
            term_latency=latency.astype(np.int32),
            term_multiple=crossed[message, latency],
            constant_s=np.broadcast_to(constant, messages).copy(),
            gap_names=("g",),
            gap_s=np.array([model.G]),
            message_gap=np.zeros(messages, np.int32),
        )

    @classmethod
    def of_pairs(
        cls,
        graph: ExecutionGraph,
        model: LogGPS,
        latency_s: ArrayLike | None = None,  # float[ranks, ranks], from row to column; None: L
        gap_s: ArrayLike | None = None,  # float[ranks, ranks], s/B; None: the model's G
    ) -> Self:
        """Return a latency and a gap per byte for each ordered pair of ranks with messages.

        This is HLogGP of Bosque et al., as in Shen et al., LLAMP, appendix I.
        """
        sends = np.flatnonzero(graph.kind == SEND)
        ranks = graph.num_ranks
        pairs, of_message = np.unique(
            graph.rank_of(sends).astype(np.int64) * ranks + graph.peer[sends], return_inverse=True
        )
        source, target = np.divmod(pairs, ranks)
        values = []
        for name, given, common in (
            ("latency_s", latency_s, model.L),
            ("gap_s", gap_s, model.G),
        ):
            matrix = np.full((ranks, ranks), common) if given is None else np.asarray(given, float)
            if matrix.shape != (ranks, ranks):
                raise ParameterError(
                    f"{name} must be {ranks} by {ranks} ranks; got shape {matrix.shape}", key=name
                )
            values.append(_check_numbers(name, matrix[source, target]))
        ends = [f"{i}_{j}" for i, j in zip(source.tolist(), target.tolist(), strict=True)]
        return cls(
            latency_names=tuple(f"l_{pair}" for pair in ends),
            latency_s=values[0],
            term_start=np.arange(len(sends) + 1),
            term_latency=of_message.astype(np.int32),
            term_multiple=np.ones(len(sends)),
            constant_s=np.zeros(len(sends)),
            gap_names=tuple(f"g_{pair}" for pair in ends),
            gap_s=values[1],
            message_gap=of_message.astype(np.int32),
            pairs=np.array([source, target]),
        )


@dataclass(frozen=True, eq=False)
class VariableValues:
    """Values of the variables, rounded as in replays."""

    latency_ps: NDArray[np.float64]  # (latencies,)
    gap_whole: NDArray[np.int64]  # (gaps,) ps/B where that is whole, else -1
    gap_ps: NDArray[np.float64]  # (gaps,) ps/B
    o_ps: int

    @classmethod
    def of(
        cls,
        charged: MessageVariables,
        model: LogGPS,
        L: PerVariable | None = None,  # s
        G: PerVariable | None = None,  # s/B
        o: float | None = None,  # s; None: the model's
    ) -> Self:
        """Return the variables' own values, or those given in their place."""
        latency_s = _chosen("L", charged.latency_names, charged.latency_s, L)
        gap_s = _chosen("G", charged.gap_names, charged.gap_s, G)
        # There are few different values, even where each pair of ranks has its own.
        different, which = np.unique(latency_s, return_inverse=True)
        latency_ps = [PicosecondCosts.of(model.replace(L=float(x))).L for x in different]
        gaps, which_gap = np.unique(gap_s, return_inverse=True)
        costs = [PicosecondCosts.of(model.replace(G=float(x))).G for x in gaps]
        return cls(
            latency_ps=np.array(latency_ps, float)[which],
            gap_whole=np.array([cost.whole for cost in costs], np.int64)[which_gap],
            gap_ps=np.array([cost.real for cost in costs])[which_gap],
            o_ps=PicosecondCosts.of(model if o is None else model.replace(o=o)).o,
        )

    def bounds(self) -> NDArray[np.float64]:
        """Return the lower bounds of l, g and o in the linear program's units."""
        return np.concatenate(
            [self.latency_ps / PS_PER_US, self.gap_ps / PS_PER_NS, [self.o_ps / PS_PER_US]]
        )

    def rounding_ps(
        self, bytes_after_first: NDArray[np.int64], charged: MessageVariables
    ) -> NDArray[np.float64]:
        """Return the amount that replays' rounding adds to each (s-1)G, float64[messages], ps."""
        exact = bytes_after_first * self.gap_ps[charged.message_gap]
        whole = self.gap_whole[charged.message_gap] >= 0
        return np.where(whole, 0.0, np.rint(exact) - exact)


def _chosen(
    what: str,
    names: tuple[str, ...],
    base: NDArray[np.float64],
    given: PerVariable | None,
) -> NDArray[np.float64]:
    if given is None:
        return base
    if isinstance(given, Mapping):
        values = base.copy()
        for name, value in given.items():
            if name not in names:
                raise ParameterError(f"{what} has {listed(names)}; got {name!r}", key=what)
            values[names.index(name)] = value
    else:
        array = np.asarray(given, float)
        if array.shape not in ((), base.shape):
            raise ParameterError(
                f"{what} must be one number or {len(base)}; got shape {array.shape}", key=what
            )
        values = np.broadcast_to(array, base.shape).copy()
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ParameterError(f"{what} must be finite and at least 0; got {given}", key=what)
    return values


def listed(names: tuple[str, ...]) -> str:
    """Return names for an error message, at most the first eight."""
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def _check_numbers(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ParameterError(f"{name} must be finite and at least 0; got {values}", key=name)
    return values
