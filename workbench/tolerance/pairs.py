"""Sensitivity to each pair of ranks: how a program's time depends on its messages.

Shen et al., LLAMP, appendix I: L and G become matrices over pairs of ranks (Bosque and Perez,
HLogGP, with o, g and the processors left alike), and lambda_L and lambda_G the derivatives of the
time by their entries: how many latencies, and how many bytes, of each pair a critical path holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.picoseconds import LONGEST_COST, LONGEST_PARAMETER, PS_PER_S
from workbench.tolerance.sweep import Sweep

if TYPE_CHECKING:
    import pandas as pd


# Paths that differ have the same sum by chance once in 1023 at most; 2**53 B times this fit int64.
_WEIGHTS_END = 1 << 10


@dataclass(frozen=True, eq=False)
class PairSensitivity(StoredResult):
    """Sensitivity of a program's time to the latency and gap per byte of each pair of ranks.

    The entries are those of one critical path. Where several are equally long each gives a
    subgradient, and ``unique`` is False if they differ, or may differ in bytes above S.

    Attributes:
        lambda_L: int64[ranks, ranks], sender by receiver: dT / dL of the pair, without a unit.
        lambda_G: int64[ranks, ranks], dT / dG of the pair, in bytes.
        T: the program's time, s.
        ops: int64[k], operations on the critical path, in the order of time.
        unique: whether all critical paths have these entries, so that they are derivatives.
        provenance: what was analysed.
    """

    lambda_L: IntArray = field(metadata={"axes": 2})
    lambda_G: IntArray = field(metadata={"axes": 2})
    T: float
    ops: IntArray
    unique: bool
    provenance: Provenance

    plot = Drawing("plot_pairs", package="workbench.tolerance")

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self.lambda_L)

    def symmetric(self) -> tuple[IntArray, IntArray]:
        """Return ``lambda_L`` and ``lambda_G`` by unordered pair: both directions in either entry.

        That is the derivative where L and G of i, j and of j, i are one number, as in appendix I.
        """
        return _folded(self.lambda_L), _folded(self.lambda_G)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair on the critical path, the largest lambda_L first.

        Columns: ``source``, ``destination``, ``lambda_L``, ``lambda_G_bytes``.
        """
        import pandas as pd

        source, destination = np.nonzero(self.lambda_L + self.lambda_G)
        frame = pd.DataFrame(
            {
                "source": source,
                "destination": destination,
                "lambda_L": self.lambda_L[source, destination],
                "lambda_G_bytes": self.lambda_G[source, destination],
            }
        )
        return frame.sort_values(
            ["lambda_L", "lambda_G_bytes"], ascending=False, kind="stable", ignore_index=True
        )

    def __repr__(self) -> str:
        pairs = int((self.lambda_L > 0).sum())
        alike = "" if self.unique else "; one of several critical paths"
        return (
            f"PairSensitivity({self.num_ranks} ranks, T {self.T * 1e6:.2f} µs, "
            f"{int(self.lambda_L.sum())} latencies and {int(self.lambda_G.sum())} bytes of "
            f"{pairs} pairs on the critical path{alike})"
        )


def pair_sensitivity(
    program: ProgramLike,
    model: LogGPS,
    *,
    L: float | ArrayLike | None = None,
    G: float | ArrayLike | None = None,
    match: NDArray[np.int32] | None = None,
) -> PairSensitivity:
    """Return a program's sensitivity to L and G of each pair of ranks (LLAMP, equation 7).

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: o and S, and L and G where they are not given.
        L: latency in s, one number or float64[ranks, ranks] by sender and receiver.
        G: gap per byte in s/B, one number or float64[ranks, ranks].
        match: int32[n], the other end of each message, if it is known.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: L or G has another shape, or is negative or too long.
    """
    sweep = Sweep(program, model, match=match)
    graph, ranks = sweep.graph, sweep.graph.num_ranks
    source, destination = graph.rank_of(sweep.send_ops), graph.peer[sweep.send_ops]
    beyond_first = np.maximum(graph.size[sweep.send_ops] - 1, 0)
    latency = _matrix("L", model.L if L is None else L, ranks)
    longest_s, longest_cost_s = LONGEST_PARAMETER / PS_PER_S, LONGEST_COST / PS_PER_S
    if latency.max(initial=0) > longest_s:
        raise ParameterError(f"L must be at most {longest_s:.0f} s; got {latency.max()}", key="L")
    costs = {"constant_s": latency[source, destination]}
    if G is not None:
        through = beyond_first * _matrix("G", G, ranks)[source, destination]
        if through.max(initial=0) > longest_cost_s:
            raise ParameterError(
                f"a message must take less than {longest_cost_s:.0f} s; one takes "
                f"{through.max():.3g} s: lower G",
                key="G",
            )
        costs["through_s"] = through
    # Latencies are constants, and x is what is added to them.
    at = sweep.along(**costs)
    counts, (point, path) = at.pairs(0.0), at.point_and_path(0.0)
    # Weights drawn once for all: paths that differ in some pair differ in a weighted sum too.
    weights = np.random.default_rng(0).integers(1, _WEIGHTS_END, (ranks, ranks))
    drawn = weights[source, destination]
    slopes = [sweep.along(by, **costs).at(0.0) for by in (drawn, drawn * beyond_first)]
    return PairSensitivity(
        lambda_L=counts.lambda_L,
        lambda_G=counts.lambda_G,
        T=point.T,
        ops=path.ops,
        unique=all(one.lambda_L_left == one.lambda_L_right for one in slopes),
        provenance=Provenance("simulated", f"{graph.source}, LLAMP's semantics, {model}"),
    )


def _matrix(name: str, value: float | ArrayLike, ranks: int) -> FloatArray:
    given = np.asarray(value, np.float64)
    if given.shape not in ((), (ranks, ranks)):
        raise ParameterError(
            f"{name} must be a number or one for each pair of {ranks} ranks, shape ({ranks}, "
            f"{ranks}); got shape {given.shape}",
            key=name,
        )
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ParameterError(f"{name} must be finite numbers of at least 0", key=name)
    return np.broadcast_to(given, (ranks, ranks))


def _folded(matrix: IntArray) -> IntArray:
    both: IntArray = matrix + matrix.T
    np.fill_diagonal(both, np.diagonal(matrix))
    return both
