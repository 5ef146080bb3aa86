"""The mean course of a program's steps over its runs, and how closely each run follows it.

found = mean_behaviour(read_steps("steps.csv"))
found.agreement                         # of each run with the mean of the others
found.plot()                            # figures 3 and 7 of Bhatele et al. (2020)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.variability.step_means import means_of
from workbench.variability.tables.steps import StepTable

if TYPE_CHECKING:
    import pandas as pd


BAND = (10.0, 90.0)
"""Percentiles of the runs between which ``low_s`` and ``high_s`` lie."""


@dataclass(frozen=True, eq=False, repr=False)
class MeanBehaviour(StoredResult):
    """Mean over the runs of each step's time and of what each counter rose by in it.

    Attributes:
        runs: number of runs.
        number: int64[steps], of each step, as its makers count.
        mean_s: float64[steps], s.
        low_s: float64[steps], s, exceeded by 90 % of the runs.
        high_s: float64[steps], s, exceeded by 10 %.
        agreement: float64[runs], Spearman's rank correlation of a run's steps with the mean of the
            other runs; nan where one of them is constant.
        counters: names.
        counter_mean: float64[counters, steps].
        counter_agreement: float64[counters], the same correlation of a counter's mean with
            ``mean_s``; nan where one of them is constant.
        provenance: of the steps.
        notes: of the steps.
    """

    runs: int
    number: NDArray[np.int64]
    mean_s: FloatArray
    low_s: FloatArray
    high_s: FloatArray
    agreement: FloatArray
    counters: tuple[str, ...]
    counter_mean: NDArray[np.float64] = field(metadata={"axes": 2})
    counter_agreement: FloatArray
    provenance: Provenance
    notes: tuple[str, ...] = ()

    plot = Drawing("plot_mean_steps")

    def to_frame(self) -> pd.DataFrame:
        """Return a row a step: ``step``, mean, low and high time in s, the counters' means."""
        import pandas as pd

        columns = {
            "step": self.number,
            "mean (s)": self.mean_s,
            "10 % (s)": self.low_s,
            "90 % (s)": self.high_s,
        }
        return pd.DataFrame(columns | dict(zip(self.counters, self.counter_mean, strict=True)))

    def __repr__(self) -> str:
        return (
            f"MeanBehaviour({self.runs} runs of {len(self.number)} steps, "
            f"{self.provenance.origin}; rank correlation of a run's steps with the mean of the "
            f"others {np.nanmedian(self.agreement):.2f} in the median)"
        )


def mean_behaviour(steps: StepTable) -> MeanBehaviour:
    """Return the mean course of the steps (Bhatele et al. 2020, III-B and figure 7).

    Args:
        steps: of at least 2 runs of one program with one input.

    Raises:
        ParameterError: there are fewer than 2 runs or 3 steps.
    """
    if len(steps) < 2 or steps.steps < 3:
        raise ParameterError(
            f"steps must be of at least 2 runs and 3 steps; got {len(steps)} and {steps.steps}",
            key="steps",
        )
    # A step that no run has would have no mean.
    there = np.flatnonzero(np.isfinite(steps.time_s).any(axis=0))
    time_s, every = steps.time_s[:, there], np.arange(len(steps))
    mean, others = (each[..., 0] for each in means_of(time_s[:, :, None], every))
    counter_mean = means_of(steps.values[:, there], every)[0].T
    low, high = np.nanpercentile(time_s, BAND, axis=0)
    return MeanBehaviour(
        len(steps),
        np.array(steps.numbers, np.int64)[there],
        mean,
        low,
        high,
        np.array([_rank_correlation(*pair) for pair in zip(time_s, others, strict=True)]),
        steps.counters,
        counter_mean,
        np.array([_rank_correlation(one, mean) for one in counter_mean]),
        steps.provenance,
        steps.notes,
    )


def _rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's rank correlation, nan where one is constant or has fewer than 3 values."""
    from scipy.stats import spearmanr

    both = np.isfinite(one) & np.isfinite(other)
    one, other = one[both], other[both]
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(spearmanr(one, other).statistic)
