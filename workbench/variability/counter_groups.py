"""Counters that go up and down together, which no analysis can tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray

TOGETHER = 0.9
"""Least rank correlation, up to its sign, of all pairs of counters in a group."""

_MOST_SAMPLES = 5000  # 300 find the groups of emulated-link that all 4800 find


def groups_of(
    deviations: FloatArray,  # from the mean, [runs, steps, counters]
    timed: NDArray[np.bool_],  # [runs, steps], the samples
) -> NDArray[np.int64]:
    """Return the group of each counter, int64[counters], from 0 in the order of the counters."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from scipy.stats import rankdata

    samples = np.nan_to_num(deviations[timed], nan=0.0)
    samples = samples[:: max(1, len(samples) // _MOST_SAMPLES)]
    count = samples.shape[1]
    if count == 1:
        return np.zeros(1, np.int64)
    ranks = rankdata(samples, axis=0)
    ranks -= ranks.mean(axis=0)
    size = np.sqrt((ranks**2).sum(axis=0))
    together = np.abs(ranks.T @ ranks) / np.maximum(np.outer(size, size), 1e-300)
    apart = np.clip(1 - together, 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform((apart + apart.T) / 2, checks=False), "complete")
    label = fcluster(tree, 1 - TOGETHER, "distance")
    _, first = np.unique(label, return_index=True)
    order = {int(label[at]): place for place, at in enumerate(sorted(first))}
    return np.array([order[int(one)] for one in label], np.int64)
