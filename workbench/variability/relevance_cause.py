"""What predicts a deviation beside what causes it, where the causes are known.

world = generate("small", application="amg-128")
found = deviation(world.steps)
cause = counter_causes(found.counters, world.link_truth().by_class())
relevance_and_cause(found, cause).plot()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from workbench.variability.deviation import Deviation


LARGE = 0.5
"""Relevance from which a counter is said to predict."""

CAUSING = 0.1
"""Share of the delay from which a counter is said to cause: chosen."""

_BETWEEN = ("row", "column", "global")
_WAITS: Mapping[str, tuple[str, ...]] = {
    "RT_RB_STL": _BETWEEN,
    "RT_RB_2X_USG": _BETWEEN,
    "PT_CB_STL_RQ": ("endpoint",),
    "PT_CB_STL_RS": ("endpoint",),
    "PT_RB_STL_RQ": ("endpoint",),
    "PT_RB_STL_RS": ("endpoint",),
    "PT_RB_2X_USG": ("endpoint",),
}


@dataclass(frozen=True, eq=False, repr=False)
class RelevanceAndCause(StoredResult):
    """The relevance of counters beside the share of the delay that what they read causes.

    Attributes:
        counters: names.
        relevance: float64[counters], share of the folds in which the counter is needed.
        relevance_interval: float64[counters, 2], 95 %.
        cause: float64[counters], share of all delay that goes away without what the counter reads.
        group: int64[counters], of counters that go up and down together, or count waits for the
            same links: one of them says what all say, and which one is needed is chance.
        correlation: rank correlation of the two (Spearman); nan where one of them is constant.
        provenance: of the steps.
    """

    counters: tuple[str, ...]
    relevance: NDArray[np.float64]
    relevance_interval: NDArray[np.float64] = field(metadata={"axes": 2})
    cause: NDArray[np.float64]
    group: NDArray[np.int64]
    correlation: float
    provenance: Provenance

    plot = Drawing("plot_relevance_and_cause")

    @property
    def misleading(self) -> tuple[str, ...]:
        """Counters that are needed in half of the folds and cause less than a tenth.

        None of their group causes more.
        """
        causing = np.isin(self.group, self.group[self.cause >= CAUSING])
        return self._named((self.relevance >= LARGE) & ~causing, self.relevance)

    @property
    def overlooked(self) -> tuple[str, ...]:
        """Counters that cause a tenth or more.

        None of their group is needed in half of the folds.
        """
        relevant = np.isin(self.group, self.group[self.relevance >= LARGE])
        return self._named((self.cause >= CAUSING) & ~relevant, self.cause)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a counter, the most relevant first."""
        import pandas as pd

        return pd.DataFrame(
            {
                "counter": self.counters,
                "relevance": self.relevance,
                "relevance from": self.relevance_interval[:, 0],
                "relevance to": self.relevance_interval[:, 1],
                "causes (%)": 100 * self.cause,
                "group": self.group,
            }
        ).sort_values(
            ["relevance", "causes (%)"], ascending=False, kind="stable", ignore_index=True
        )

    def _named(self, chosen: NDArray[np.bool_], order: FloatArray) -> tuple[str, ...]:
        return tuple(self.counters[at] for at in np.argsort(-order, kind="stable") if chosen[at])

    def __repr__(self) -> str:
        return (
            f"RelevanceAndCause({len(self.counters)} counters; rank correlation "
            f"{self.correlation:.2f}; relevant without causing: "
            f"{', '.join(self.misleading) or 'none'}; causing without being relevant: "
            f"{', '.join(self.overlooked) or 'none'}; {self.provenance.origin})"
        )


def relevance_and_cause(found: Deviation, cause: Mapping[str, float]) -> RelevanceAndCause:
    """Return the relevance of counters ``by-run`` beside what is known to cause the delay.

    Args:
        found: of ``deviation``.
        cause: of counters, the share of all delay that goes away without what they read, such as
            from ``counter_causes``; those that are not named cause nothing.

    Raises:
        ParameterError: a counter is unknown, or a share is not from 0 to 1.
    """
    from scipy.stats import spearmanr

    for name, share in cause.items():
        if name not in found.counters:
            raise ParameterError(
                f"cause must name counters of the deviation; got {name!r}"
                f"{did_you_mean(name, found.counters)}",
                key="cause",
            )
        if not 0 <= share <= 1:
            raise ParameterError(
                f"the cause of {name} must be a share from 0 to 1; got {share!r}", key="cause"
            )
    shares = np.array([float(cause.get(name, 0.0)) for name in found.counters])
    relevance = found.relevance[0]
    constant = np.ptp(shares) == 0 or np.ptp(relevance) == 0
    return RelevanceAndCause(
        found.counters,
        relevance,
        found.relevance_interval[0],
        shares,
        _together(found),
        float("nan") if constant else float(spearmanr(relevance, shares).statistic),
        found.provenance,
    )


def _together(found: Deviation) -> NDArray[np.int64]:
    """Return groups of counters that go together or count waits for the same links."""
    group = found.group.copy()
    counting: dict[tuple[str, ...], int] = {}
    for at, name in enumerate(found.counters):
        if links := _WAITS.get(name):
            first = counting.setdefault(links, at)
            group[group == group[at]] = group[first]
    return group


def counter_causes(counters: Iterable[str], saved: Mapping[str, float]) -> dict[str, float]:
    """Return the share of the delay that the stalls a counter of table II counts cause.

    Stalls of the job's router tiles are those of links between routers, stalls of processor tiles
    those between nodes and routers. Flits, packets, placement and the counters of other routers
    (``IO_``, ``SYS_``) count no stall of the job's messages on their first and last router: 0.

    Args:
        counters: names.
        saved: share of the time that goes away where links of a class could carry everything, by
            ``row``, ``column``, ``global`` and ``endpoint``; ``LinkTruth.by_class`` has it.
    """
    kept = {name: max(0.0, float(share)) for name, share in saved.items()}
    total = sum(kept.values()) or 1.0
    return {
        name: sum(kept.get(kind, 0.0) for kind in _WAITS.get(name, ())) / total for name in counters
    }
